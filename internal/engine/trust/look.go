package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"scorel/internal/engine/command"
	"scorel/internal/engine/config"
	"scorel/protocol/display"
)

const (
	maxLines  = 10       // of what an item does, where not all of it must be seen
	maxBeats  = 45       // of these of heartbeats: all tasks, and what is wrong
	maxLine   = 200      // bytes of one of these
	maxRuns   = 50       // lines of what runs: all are shown, or the item cannot be trusted
	maxRun    = 2000     // bytes of one of these
	maxBlanks = 3        // blanks in a row that are shown as they are
	maxNamed  = 100      // files that a hook command may name
	maxDirs   = 16       // folders in which what it names is looked for
	maxTries  = 20_000   // names that are looked for in all
	maxHooked = 32 << 10 // bytes of a hook command
)

// blanks are so many in a row that what follows could be out of sight.
var blanks = regexp.MustCompile(`[\p{Z}\t]{` + strconv.Itoa(maxBlanks+1) + `,}`)

// inSight shortens blanks after which something could be hidden.
func inSight(line string) string {
	line = strings.ReplaceAll(strings.ReplaceAll(line, "\r\n", "\n"), "\n", " ↵ ") // a blank would hide that a comment ends
	return blanks.ReplaceAllStringFunc(strings.ToValidUTF8(line, "\ufffd"), func(s string) string {
		return fmt.Sprintf(" [%d blanks] ", utf8.RuneCountInString(s))
	})
}

// whole returns lines of what runs as people see them; false where they are too many or too
// long for that.
func whole(lines []string) (out []string, ok bool) {
	for _, l := range lines {
		l = display.Literal(inSight(l))
		if len(l) > maxRun {
			return nil, false
		}
		out = append(out, l)
	}
	return out, len(out) <= maxRuns
}

// tooMuch is why an item cannot be trusted whose commands cannot all be shown.
var tooMuch = fmt.Sprintf("has commands that are too long or too many to be shown (%d bytes, %d lines)", maxRun, maxRuns)

// clip bounds what is shown of an item.
func clip(lines []string) []string { return clipTo(maxLines, lines) }

// clipTo is clip with so many lines at most.
func clipTo(most int, lines []string) []string {
	var out []string
	for _, l := range lines {
		if len(out) == most {
			out[most-1] = "…"
			break
		}
		if l = inSight(l); len(l) > maxLine {
			n := maxLine
			for !utf8.RuneStart(l[n]) {
				n--
			}
			l = l[:n] + "…"
		}
		out = append(out, l)
	}
	return out
}

// shellLines returns the lines of a template that a shell would run: those with
// !`…`, and those that begin with !, but for images. What is taken for one too
// often is only asked for.
func shellLines(data []byte) []string {
	var out []string
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		_, runs := command.ShellLine(string(line))
		if runs || bytes.Contains(line, []byte("!`")) || bytes.HasPrefix(line, []byte("```!")) ||
			(bytes.HasPrefix(line, []byte("!")) && !bytes.HasPrefix(line, []byte("!["))) {
			out = append(out, string(line))
		}
	}
	return out
}

// skillEntry returns the line of a SKILL.md's frontmatter that names its entry, ""
// when it has none. It looks for the word and a colon wherever they stand, and
// for the forms in which YAML can write a key otherwise (escapes in quotes, "? "),
// so that none is missed. What is taken for one too often is only asked for.
func skillEntry(data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != "---" {
		return ""
	}
	open := "" // a line that ends after the word: the colon may be on the next one
	for line := range bytes.Lines(rest) {
		text := strings.TrimSpace(string(line))
		switch {
		case text == "---" || text == "...":
			return ""
		case text == "" || text[0] == '#':
			continue
		case open != "" && text[0] == ':':
			return open
		case text[0] == '?', strings.Contains(text, `\`) && strings.Contains(text, `":`):
			return text // a key in a form in which any word can be written
		}
		open = ""
		for at := text; ; {
			_, after, found := strings.Cut(at, "entry")
			if !found {
				break
			}
			if after = strings.TrimLeft(after, " \t'\""); after == "" {
				open = text
			} else if after[0] == ':' {
				return text
			}
			at = after
		}
	}
	return "" // the frontmatter does not end: there is none
}

// hookCommands returns the commands of [[hooks]].
func hookCommands(data []byte) []string {
	var f struct {
		Hooks []struct {
			Command string `toml:"command"`
		} `toml:"hooks"`
	}
	if config.Bounded(config.File{Data: data}) != nil || toml.Unmarshal(data, &f) != nil {
		return nil // no configuration, so no hooks
	}
	var out []string
	for _, h := range f.Hooks {
		if h.Command != "" {
			out = append(out, h.Command)
		}
	}
	return out
}

// namer finds the files that hook commands name.
type namer struct {
	*project
	tries int
}

// filesIn returns the files of the project that a shell command names by path,
// taking too many rather than too few: every word, every part of a quoted one,
// what follows a variable or a substitution that may give the project's folder, and all of
// these in the folders that the command names, to which it may change; of such a folder also
// what an interpreter starts that is given the folder. What wildcards match is not among
// them: most of that is data. It returns false where there is too much to say.
func (p *namer) filesIn(command string) ([]string, bool) {
	if len(command) > maxHooked {
		return nil, false
	}
	found, dirs := map[string]bool{}, []string{""}
	var names []string
	for _, word := range words(command) {
		names = append(names, word)
		if i := strings.LastIndexByte(word, '$'); i >= 0 {
			if _, after, ok := strings.Cut(word[i:], "/"); ok {
				names = append(names, after)
			}
		}
		if rest := strings.TrimLeft(word, "/"); rest != word { // it may follow $(pwd)
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		if dir, ok := p.inside("", name); ok && len(dirs) < maxDirs && !slices.Contains(dirs, dir) {
			if info, err := os.Stat(filepath.Join(p.dir, dir)); err == nil && info.IsDir() {
				dirs = append(dirs, dir)
			}
		}
	}
	for _, dir := range dirs {
		list := names
		if dir != "" {
			list = append(names[:len(names):len(names)], entries[:]...)
		}
		for _, name := range list {
			file, ok := p.inside(dir, name)
			if !ok {
				continue
			}
			if p.tries++; p.tries > maxTries {
				return nil, false
			}
			info, err := os.Stat(filepath.Join(p.dir, file))
			if errors.Is(err, fs.ErrNotExist) {
				info, err = os.Lstat(filepath.Join(p.dir, file)) // a symlink that leads nowhere may lead somewhere later
			}
			if err != nil || info.IsDir() {
				continue
			}
			if found[file] = true; len(found) > maxNamed {
				return nil, false
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), true
}

// entries are the files that interpreters start when they are given a folder.
var entries = [...]string{"index.js", "index.mjs", "index.cjs", "index.ts", "package.json", "__main__.py"}

// inside returns a name in a folder of the project relative to the project, and
// false when it is none of its files.
func (p *namer) inside(dir, name string) (string, bool) {
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(p.dir, name)
		if err != nil || dir != "" {
			return "", false
		}
		name = rel
	}
	name = filepath.Join(dir, name)
	return name, filepath.IsLocal(name) && name != "."
}

// words splits a shell command at what may be between words, once with quotes
// kept together and once without.
func words(command string) []string {
	var out []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	quote := byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(command):
			i++
			word.WriteByte(command[i])
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && separates(c):
			flush()
		default:
			word.WriteByte(c)
		}
	}
	flush()
	out = append(out, strings.FieldsFunc(command, func(r rune) bool {
		return r == '\'' || r == '"' || r == '\\' || (r < utf8.RuneSelf && separates(byte(r)))
	})...)
	return out
}

func separates(c byte) bool { return strings.IndexByte(" \t\r\n;&|()<>`=,:", c) >= 0 }
