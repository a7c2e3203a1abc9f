package permission

import (
	"fmt"
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
// writes or removes what it is given. Where no sandbox holds them and no rule allows the whole
// tool, protected files that are named to a program which is not known to only read them are
// asked for, as for Write. Like rules that deny commands it is no wall: a program can be told of
// a file in other ways.
func (p *Policy) tightenNamed(tool string, at *places, step shellparse.Step) (Verdict, bool) {
	of := func(r rule) bool { return r.form == file }
	if len(step.Words) == 0 || namesNoFiles(step.Words[0].Text) {
		return Verdict{}, false
	}
	writes := writesOperands(step.Words)
	guarded := (writes || !step.Test && !leavesOperands(step.Words)) && !p.confined && p.mode != Bypass &&
		!slices.ContainsFunc(p.allow, func(r rule) bool { return r.forTool(tool) })
	if !guarded && !slices.ContainsFunc(p.deny, of) && !slices.ContainsFunc(p.ask, of) {
		return Verdict{}, false
	}
	var question Verdict
	reads := len(step.Words) // the word with what it runs
	if runsFile(step.Words) {
		reads = 1
	}
	denies := func(w shellparse.Word, abs string, guarded bool) (Verdict, bool) {
		to := at.resolve(abs)
		real := to.Abs
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
		if guarded && to.Protected && question.Decision == "" {
			question = ask("", fmt.Sprintf("%s is a protected file, and no sandbox keeps commands from it: its content is run or trusted later.", real))
		}
		return Verdict{}, false
	}
	tooMany := ask("", "The command names more files than can be compared with the rules about files.")
	for i, w := range step.Words {
		for _, name := range names(w) {
			for _, abs := range at.absolute(name) {
				if at.named++; at.named > maxNamed {
					return tooMany, true
				}
				if v, ok := denies(w, abs, guarded && i > 0 && i != reads); ok {
					return v, true
				}
			}
		}
	}
	found, all := at.matched(step)
	for _, abs := range found {
		if v, ok := denies(shellparse.Word{Text: abs, Literal: true}, abs, guarded); ok {
			v.Reason = fmt.Sprintf("A wildcard stands for %s, which the rule %s denies; name the files that are meant.", abs, v.Rule)
			return v, true
		}
	}
	if !all && question.Decision == "" {
		question = tooMany
	}
	return question, question.Decision != ""
}

// maxMatches is how many files the wildcards of a line may stand for that are compared with
// the rules about files, with the folders that are looked through for them; a line with more is
// asked for.
const maxMatches = 2000

// matched returns the files that the wildcards in the words of a step stand for now, and whether
// these are all.
func (at *places) matched(step shellparse.Step) (found []string, all bool) {
	if at.names == nil || !slices.ContainsFunc(step.Words, hasWildcard) {
		return nil, true
	}
	of := strings.Join(at.dirs, "\x00")
	for _, w := range step.Words {
		if of += "\x00" + w.Text; hasWildcard(w) {
			of += "\x01" // the same words in quotes are no wildcards
		}
	}
	if of == at.wild.of {
		return at.wild.found, at.wild.all
	}
	all = true
	lists := step.Becomes
	if lists == nil {
		lists = [][]shellparse.Word{step.Words}
	}
	for _, words := range lists {
		for _, w := range words {
			if !hasWildcard(w) || strings.HasPrefix(w.Text, "-") {
				continue
			}
			for _, abs := range at.absolute(w.Text) {
				all = at.glob("/", strings.Split(strings.TrimPrefix(abs, "/"), "/"), &found) && all
			}
		}
	}
	at.wild.of, at.wild.found, at.wild.all = of, found, all
	return found, all
}

func hasWildcard(w shellparse.Word) bool {
	return !w.Literal && strings.ContainsAny(w.Text, "*?[")
}

// glob adds the paths below a folder that a pattern, of which each part is one name, stands for,
// as bash finds them, and reports whether these are all.
func (at *places) glob(dir string, parts []string, found *[]string) (all bool) {
	for len(parts) > 0 && !strings.ContainsAny(parts[0], "*?[") {
		dir, parts = path.Join(dir, parts[0]), parts[1:]
	}
	if len(parts) == 0 {
		if at.wild.count++; at.wild.count > maxMatches {
			return false
		}
		*found = append(*found, dir)
		return true
	}
	if at.wild.count++; at.wild.count > maxMatches {
		return false
	}
	names, all := at.names(dir)
	for _, name := range names {
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(parts[0], ".") {
			continue
		}
		ok, err := doublestar.Match(parts[0], name)
		if err != nil {
			return false
		}
		if ok && !at.glob(path.Join(dir, name), parts[1:], found) {
			return false
		}
	}
	return all
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

// leavesOperands reports whether a program is known to leave the files as they are that it is
// given, unless [writesOperands] knows better of its options.
func leavesOperands(words []shellparse.Word) bool {
	name := words[0].Text
	if dir := path.Dir(name); dir == "/bin" || dir == "/usr/bin" {
		name = path.Base(name)
	}
	switch name { // with another folder it is another program
	case "git":
		at := gitSubcommand(words)
		return at == len(words) || gitLeavesFiles(words[at].Text)
	case "ag", "awk", "b2sum", "base64", "basename", "bat", "cat", "cksum", "cmp", "column", "comm", "cut", "date", "df", "diff", "dirname", "du", "egrep", "eza",
		"fd", "fdfind", "fgrep", "file", "find", "fmt", "fold", "gawk", "getfacl", "grep", "head", "hexdump", "join", "jq", "less", "ls", "lsattr", "mawk", "md5sum",
		"more", "nl", "od", "paste", "pwd", "readlink", "realpath", "rev", "rg", "sed", "sha1sum", "sha256sum", "sha512sum", "sort", "stat", "strings", "sum", "tac",
		"tail", "test", "[", "tr", "tree", "type", "uniq", "wc", "which", "xxd", "yq", "zcat", "zgrep":
		return true
	}
	return false
}

// runsFile reports whether the first argument of a program is a file that it runs.
func runsFile(words []shellparse.Word) bool {
	if len(words) < 2 || strings.HasPrefix(words[1].Text, "-") {
		return false
	}
	switch path.Base(words[0].Text) {
	case "bash", "sh", "dash", "zsh", "ksh", "python", "python2", "python3", "node", "ruby", "perl", "php", "lua", "tsx", "ts-node":
		return true
	}
	return false
}

// names returns the paths that a word may hold: the word itself, what is after a sign
// in it, and the pieces of one without spaces.
func names(w shellparse.Word) []string {
	text := strings.TrimPrefix(w.Text, "file://")
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
