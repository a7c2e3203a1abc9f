package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"scorel/internal/engine/permission/shellparse"
)

// maxNamed is how many files that the words of a line may name are looked up for rules
// about files; a line with more is asked for.
const maxNamed = 500

// tightenNamed applies the rules about files that deny or ask to what the words of a step
// name: those for Read to each word, those for Write to what is named to a program that
// writes or removes what it is given. Like rules that deny commands it is no wall: a
// program can be told of a file in other ways.
func (p *Policy) tightenNamed(at *places, step shellparse.Step) (Verdict, bool) {
	of := func(r rule) bool { return r.form == file }
	if !slices.ContainsFunc(p.deny, of) && !slices.ContainsFunc(p.ask, of) || len(step.Words) == 0 || namesNoFiles(step.Words[0].Text) {
		return Verdict{}, false
	}
	writes := writesOperands(step.Words)
	var question Verdict
	for _, w := range step.Words {
		for _, name := range names(w) {
			for _, abs := range at.absolute(name) {
				if at.named++; at.named > maxNamed {
					return ask("", "The command names more files than can be compared with the rules about files."), true
				}
				real := at.resolve(abs).Abs
				covers := func(r rule) bool {
					if r.form != file || r.kind == Write && !writes {
						return false
					}
					kind := Read
					if r.kind == Write {
						kind = Write
					}
					return r.forFile(kind, abs, true) || r.forFile(kind, real, true) || r.mayMatch(w, abs)
				}
				if r, ok := find(p.deny, covers); ok {
					return denied(r), true
				}
				if r, ok := find(p.ask, covers); ok && question.Decision == "" {
					question = asked(r)
				}
			}
		}
	}
	return question, question.Decision != ""
}

// namesNoFiles lists commands whose words are text, or a folder to go to.
func namesNoFiles(name string) bool {
	switch name {
	case "echo", "printf", "cd", "true", "false", ":", "exit", "return", "break", "continue", "sleep", "seq", "export", "unset", "set", "kill":
		return true
	}
	return false
}

// writesOperands reports whether a program writes, moves or removes what it is given.
func writesOperands(words []shellparse.Word) bool {
	switch path.Base(words[0].Text) {
	case "rm", "mv", "cp", "tee", "dd", "truncate", "touch", "ln", "install", "chmod", "chown", "chgrp", "mkdir", "rmdir", "unlink", "shred", "rsync", "scp",
		"patch", "split", "tar", "unzip", "zip", "gzip", "gunzip", "bzip2", "xz", "zstd", "ed", "ex", "vi", "vim", "nano", "mkfifo", "mknod", "setfacl", "rename":
		return true
	case "git":
		at := gitSubcommand(words)
		return at < len(words) && slices.Contains([]string{"rm", "mv", "checkout", "restore", "clean", "apply"}, words[at].Text)
	}
	p, ok := programOf(words[0].Text)
	return ok && slices.ContainsFunc(words[1:], func(w shellparse.Word) bool { return p.refuses(w.Text) })
}

// names returns the paths that a word may hold: the word itself, what is after a sign
// in it, and the pieces of one without spaces.
func names(w shellparse.Word) []string {
	text := strings.TrimPrefix(w.Text, "file://")
	for _, front := range [...]string{"$PWD/", "${PWD}/"} {
		if rest, ok := strings.CutPrefix(text, front); ok {
			text = "./" + rest
		}
	}
	var out []string
	add := func(name string) {
		if name != "" && len(name) <= 4096 && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if !strings.HasPrefix(text, "-") {
		add(text)
	} else if len(text) > 2 && text[1] != '-' {
		add(text[2:])
	}
	for i := 0; i < len(text); i++ {
		if strings.IndexByte("=:,@", text[i]) >= 0 {
			add(text[i+1:])
		}
	}
	if !strings.ContainsAny(text, " \t\n") {
		for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("=:,@{}()'\"`;|&<>", r) }) {
			if !strings.HasPrefix(piece, "-") {
				add(piece)
			}
		}
	}
	if i := strings.IndexAny(text, "*?["); i >= 0 {
		add(strings.TrimSuffix(text[:strings.LastIndexByte(text[:i], '/')+1], "/"))
	}
	return out
}

// absolute returns the paths that a name may mean, in each folder in which the step may run.
func (at *places) absolute(name string) []string {
	if name = at.expand(name); path.IsAbs(name) {
		return []string{path.Clean(name)}
	}
	var out []string
	for _, dir := range at.dirs {
		out = append(out, path.Join(dir, name))
	}
	return out
}

// mayMatch reports whether a wildcard in a word may stand for what the rule covers: the
// rule names one file, or ends in the name of one.
func (r rule) mayMatch(w shellparse.Word, abs string) bool {
	if w.Literal || !strings.ContainsAny(abs, "*?[") {
		return false
	}
	glob, base := path.Base(abs), escaped(path.Base(r.glob))
	if base == "" || strings.HasPrefix(base, ".") != strings.HasPrefix(glob, ".") {
		return false
	}
	if full := escaped(r.glob); full != "" {
		ok, err := doublestar.Match(abs, full)
		return ok && err == nil
	}
	if strings.Trim(glob, "*") == "" {
		return false // a rule about a name anywhere does not deny every use of *
	}
	ok, err := doublestar.Match(glob, base)
	return ok && err == nil
}
