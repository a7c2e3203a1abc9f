package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/discovery"
	"scorel/internal/text/frontmatter"
	"scorel/internal/text/promptsafe"
)

// Bounds of templates.
const (
	MaxFile        = 64 << 10 // bytes of one
	maxTemplates   = 1000     // of a session
	maxShell       = 20       // shell lines of one
	maxDescription = 500      // characters
	maxHint        = 200      // characters
	maxTools       = 100      // names in allowed-tools
	maxName        = 64       // bytes of a file's or folder's
	maxFolders     = 200      // in folders of commands
	MaxDepth       = 3        // folders in a folder of commands
)

// Template is a slash command in a Markdown file. Its name is the file's, after those of
// the folders that it is in: git/commit.md is git:commit.
type Template struct {
	Name         string
	Description  string
	ArgumentHint string
	Model        string   // that the turn of its message runs with; "" is the session's
	Tools        []string // allowed-tools, as written: what the turn of its message may do without a question
	Path         string   // of the file, absolute
	Place        discovery.Place
	Shell        bool   // it has shell lines
	Problem      string // why it cannot be used, as a sentence; "" when it can
}

// Trusted is the name by which trust knows the file, "" for what it does not know.
func (t Template) Trusted() string {
	if t.Place.Name == "" {
		return ""
	}
	return t.Place.Name + "/" + filepath.Base(t.Path)
}

// Templates finds templates. The zero value is not usable; see [NewTemplates].
type Templates struct {
	own   string // Scorel's own folder
	noun  string // what people call one
	cache *discovery.Cache[Template]
}

// NewTemplates makes a finder of slash commands; own is Scorel's own folder.
func NewTemplates(own string) *Templates {
	return &Templates{own, "command", discovery.NewCache[Template](nil)}
}

// NewJobTemplates makes a finder of the templates from which jobs are made, which are files
// of the same form without shell lines.
func NewJobTemplates(own string) *Templates {
	return &Templates{own, "job template", discovery.NewCache[Template](nil)}
}

// ValidName reports whether something can be the name of a command.
func ValidName(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; !wordy(c) && (i == 0 || c != '-' && c != '.') {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

// look reads a template as far as it is listed.
func (f *Templates) look(p discovery.Place, file string) Template {
	t := Template{Name: strings.TrimSuffix(file, ".md"), Path: filepath.Join(p.Dir, file), Place: p}
	real, err := p.Resolve(file, f.own)
	if err == nil {
		var got Template
		dir, base := filepath.Split(real)
		got, err = f.cache.Get(dir, base, func() (Template, error) {
			c, err := discovery.Read(dir, base, MaxFile)
			if err != nil {
				return Template{}, err
			}
			return parseWith(fields(p), c.Data), nil
		})
		got.Name, got.Path, got.Place = t.Name, t.Path, p
		t = got
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Problem = t.Path + " is gone."
	case err != nil:
		t.Problem = fmt.Sprintf("%s %s.", t.Path, err)
	case t.Problem != "":
		t.Problem = filepath.Dir(t.Path) + "/" + filepath.Base(t.Path) + ": " + t.Problem
	}
	return t
}

// fields returns what reads the fields of the templates of a place: of another program's
// as loosely as that does.
func fields(p discovery.Place) func([]byte) (*frontmatter.Document, error) {
	if p.Foreign() {
		return frontmatter.ParseLenient
	}
	return frontmatter.Parse
}

// parse reads the fields of a template, and what is wrong with it.
func parse(data []byte) Template { return parseWith(frontmatter.Parse, data) }

func parseWith(read func([]byte) (*frontmatter.Document, error), data []byte) (t Template) {
	d, err := read(quoteHint(data))
	if err != nil {
		t.Problem = sentence(err)
		return t
	}
	for _, f := range []struct {
		name string
		to   *string
	}{{"description", &t.Description}, {"argument-hint", &t.ArgumentHint}, {"model", &t.Model}} {
		if v, ok := d.Field(f.name); ok {
			if *f.to, err = v.Value.Text(); err != nil {
				t.Problem = sentence(err)
				return t
			}
		}
	}
	for _, name := range []string{"allowed-tools", "allowed_tools"} {
		if v, ok := d.Field(name); ok {
			if t.Tools, err = v.Value.List(); err != nil {
				t.Problem = sentence(err)
				return t
			}
			t.Tools = t.Tools[:min(len(t.Tools), maxTools)]
		}
	}
	if t.Description == "" {
		for line := range strings.Lines(d.Body) {
			if line = strings.Trim(line, "# \t\r\n"); line != "" {
				t.Description = line
				break
			}
		}
	}
	t.Description, t.ArgumentHint = clip(t.Description, maxDescription), clip(t.ArgumentHint, maxHint)
	n := 0
	for _, p := range parts(d.Body) {
		if p.shell {
			n++
		}
	}
	t.Shell = n > 0
	if strings.TrimSpace(d.Body) == "" {
		t.Problem = "it has no text after its fields."
	}
	if n > maxShell {
		t.Problem = fmt.Sprintf("it has %d shell lines, at most %d are run.", n, maxShell)
	}
	return t
}

// With returns the template with the fields that its file has with this content.
func (t Template) With(data []byte) Template {
	got := parseWith(fields(t.Place), data)
	got.Name, got.Path, got.Place = t.Name, t.Path, t.Place
	if got.Problem != "" {
		got.Problem = t.Path + ": " + got.Problem
	}
	return got
}

// quoteHint puts a hint that begins with a square bracket into quotes: people write
// "argument-hint: [file] [line]" without, which would begin a list in YAML.
func quoteHint(data []byte) []byte {
	const field = "\nargument-hint:"
	text := string(data)
	end := strings.Index(text, "\n---")
	at := strings.Index(text, field)
	if !strings.HasPrefix(text, "---") || at < 0 || at > end {
		return data
	}
	at += len(field)
	value, _, _ := strings.Cut(text[at:], "\n")
	hint := strings.TrimSpace(value)
	if !strings.HasPrefix(hint, "[") {
		return data
	}
	return []byte(text[:at] + " '" + strings.ReplaceAll(hint, "'", "''") + "'" + text[at+len(value):])
}

// clip makes one line of a text, of at most n characters.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(promptsafe.Clean(s)), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Body is the text of a template.
type Body struct{ parts []part }

// part is a piece of text, or a shell command.
type part struct {
	shell bool
	text  string
}

// ReadBody returns the text of a template from its file's content.
func ReadBody(data []byte) (Body, error) { return readBody(frontmatter.Parse, data) }

// ReadBody returns the text of the template from the content that its file has now.
func (t Template) ReadBody(data []byte) (Body, error) { return readBody(fields(t.Place), data) }

func readBody(read func([]byte) (*frontmatter.Document, error), data []byte) (Body, error) {
	d, err := read(quoteHint(data))
	if err != nil {
		return Body{}, err
	}
	return Body{parts(d.Body)}, nil
}

// ShellLine returns the command of a line of a template that begins with !; false for other
// lines, and for an image: ![text](place), ![text][name], ![[file]]. With a blank after [ or [[
// and without a place it is a test of the shell.
func ShellLine(line string) (command string, ok bool) {
	text := strings.TrimSpace(line)
	command, ok = strings.CutPrefix(text, "!")
	if !ok || strings.HasPrefix(command, "`") || strings.TrimSpace(command) == "" {
		return "", false
	}
	if rest, bracket := strings.CutPrefix(command, "["); bracket {
		rest = strings.TrimPrefix(rest, "[")
		if !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "\t") || strings.Contains(rest, "](") || strings.Contains(rest, "][") {
			return "", false
		}
	}
	return command, true
}

// parts takes a text apart: a line that begins with ! is a shell command (see [ShellLine]), and
// so is what is in !`…` within a line.
func parts(body string) (out []part) {
	var b strings.Builder
	shell := func(command string) {
		if b.Len() > 0 {
			out = append(out, part{false, b.String()})
			b.Reset()
		}
		out = append(out, part{true, strings.TrimSpace(command)})
	}
	for line := range strings.Lines(body) {
		if command, ok := ShellLine(line); ok {
			shell(command)
			if strings.HasSuffix(line, "\n") {
				b.WriteByte('\n')
			}
			continue
		}
		for {
			before, rest, found := strings.Cut(line, "!`")
			command, after, closed := strings.Cut(rest, "`")
			if !found || !closed || strings.TrimSpace(command) == "" {
				break
			}
			b.WriteString(before)
			shell(command)
			line = after
		}
		b.WriteString(line)
	}
	if b.Len() > 0 {
		out = append(out, part{false, b.String()})
	}
	return out
}

// Shell reports whether it has shell commands.
func (b Body) Shell() bool {
	return slices.ContainsFunc(b.parts, func(p part) bool { return p.shell })
}

// Run runs a shell command of a template and gives what is to stand in its place.
type Run func(ctx context.Context, command string) (string, error)

// Expand returns the text that a template becomes: with its arguments, and what its
// shell commands gave in their places. Run is called for one after the other, and
// not at all when one of them cannot take the arguments.
func (b Body) Expand(ctx context.Context, a Args, run Run) (string, error) {
	commands := make([]string, len(b.parts))
	used := false
	for i, p := range b.parts {
		var err error
		if p.shell {
			commands[i], err = a.shell(p.text)
			used = used || commands[i] != p.text
		}
		if err != nil {
			return "", err
		}
	}
	var out strings.Builder
	for i, p := range b.parts {
		if p.shell {
			text, err := run(ctx, commands[i])
			if err != nil {
				return "", err
			}
			out.WriteString(text)
			continue
		}
		text, took, err := a.expand(p.text, a.plain)
		if err != nil {
			return "", err
		}
		used = used || took
		out.WriteString(text)
		if out.Len() > MaxText {
			return "", errLong
		}
	}
	text := strings.TrimSpace(out.String())
	if !used && a.Raw != "" {
		text += "\n\nARGUMENTS: " + a.Raw
	}
	if len(text) > MaxText {
		return "", errLong
	}
	return text, nil
}

// sentence makes a sentence of an error.
func sentence(err error) string {
	s := strings.TrimRight(err.Error(), ".")
	return s + "."
}
