package shellparse

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Started returns the commands that a step would start by itself, for rules that deny or
// ask: those of [Unwrap], what runners of packages and the options and programs of other
// languages start, and what a shell reads from its input where the text tells that. It
// looks widely: not all that it gives need run.
func Started(s Step) []Inner {
	var out []Inner
	for _, text := range s.Evaluates {
		out = append(out, Inner{Source: `: "` + strings.ReplaceAll(text, `"`, `\"`) + `"`})
	}
	if len(s.Words) == 0 {
		return out
	}
	out = append(out, Unwrap(s.Words)...)
	for _, in := range append(runner(s.Words), programs(s)...) {
		in.Guess = in.Guess || len(in.Words) == 0 || in.Words[0].Unknown == ""
		out = append(out, in)
	}
	for _, w := range s.Words[1:] {
		if in, ok := setting(w); ok && starts(s.Words[0].Text) {
			out = append(out, in)
		}
	}
	out = append(out, callbacks(s.Words)...)
	out = append(out, fedBy(s)...)
	if readsCommands(s.Words[0].Text) {
		for _, text := range s.Input {
			out = append(out, Inner{Source: text})
		}
		for _, w := range s.Words[1:] {
			if w.Prints != "" {
				out = append(out, Inner{Source: w.Prints})
			}
		}
	}
	if first := s.Words[0]; first.Prints != "" { // $(echo rm) x
		out = append(out, Inner{Source: strings.TrimSpace(first.Prints + " " + Step{Words: s.Words[1:]}.Text())})
	}
	return out
}

// callbacks returns what builtins are told to run.
func callbacks(words []Word) []Inner {
	switch words[0].Text {
	case "mapfile", "readarray", "compgen", "complete":
		out := sources(words[1:], "C")
		for _, in := range sources(words[1:], "W") { // expanded as a list of words
			if words[0].Text == "compgen" || words[0].Text == "complete" {
				in.Source = `: "` + strings.ReplaceAll(in.Source, `"`, `\"`) + `"`
				out = append(out, in)
			}
		}
		return out
	case "bind":
		return sources(words[1:], "x")
	case "alias":
		var out []Inner
		for _, w := range words[1:] {
			if _, value, ok := strings.Cut(w.Text, "="); ok {
				out = append(out, Inner{Source: value, Unknown: w.Unknown})
			}
		}
		return out
	case "hash":
		if len(words) > 2 && words[1].Text == "-p" {
			return []Inner{{Words: words[2:3]}}
		}
	}
	return nil
}

// fedBy says of a command that does what its input or a file that it is given says where
// that cannot be known.
func fedBy(s Step) []Inner {
	var out []Inner
	name := path.Base(s.Words[0].Text)
	if name == "xargs" {
		return xargs(s)
	}
	if readsCommands(name) {
		if why := feeds(s.Words[1:]); why != "" {
			out = append(out, Inner{Unknown: why})
		}
	}
	if s.Fed != "" && obeysInput(s.Words) {
		out = append(out, Inner{Unknown: s.Fed})
	}
	return out
}

func feeds(words []Word) string {
	for _, w := range words {
		if w.Feeds != "" {
			return w.Feeds
		}
	}
	return ""
}

// xargs returns the command of xargs with what it adds: words that it reads, where the mark
// of -I stands or at the end.
func xargs(s Step) []Inner {
	inner := Unwrap(s.Words)
	mark := ""
	for i, w := range s.Words {
		switch {
		case strings.HasPrefix(w.Text, "-I") && len(w.Text) > 2:
			mark = w.Text[2:]
		case w.Text == "-I" && i+1 < len(s.Words):
			mark = s.Words[i+1].Text
		case w.Text == "-i" || w.Text == "--replace":
			mark = "{}"
		case strings.HasPrefix(w.Text, "--replace="):
			mark = strings.TrimPrefix(w.Text, "--replace=")
		}
	}
	var out []Inner
	for _, in := range inner {
		if len(in.Words) == 0 || in.Guess {
			continue
		}
		if mark != "" {
			out = append(out, Inner{Words: replaced(in.Words, mark, mark)})
			continue
		}
		added := []Word{{Text: "", Unknown: "what xargs reads"}}
		if s.Fed == "" && len(s.Input) > 0 {
			added = nil
			for _, text := range s.Input {
				for _, field := range strings.Fields(text) {
					added = append(added, Word{Text: field, Literal: true, Single: true, Operand: !strings.HasPrefix(field, "-")})
				}
			}
		}
		out = append(out, Inner{Words: append(append([]Word(nil), in.Words...), added[:min(len(added), maxFields)]...)})
	}
	return out
}

// RunsInput reports whether a command does what its standard input says: its words say
// nothing then about what runs.
func RunsInput(words []Word) bool {
	if len(words) == 0 {
		return false
	}
	for _, in := range Unwrap(words) {
		if in.Source == "" && (len(in.Words) == 0 || RunsInput(in.Words)) {
			return true
		}
	}
	switch path.Base(words[0].Text) {
	case "xargs", "parallel", "entr":
		return true
	}
	return obeysInput(words)
}

// obeysInput is RunsInput of a command itself, not of what it starts.
func obeysInput(words []Word) bool {
	switch path.Base(words[0].Text) {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash":
		in := interpreter(words[1:])
		return len(in) == 1 && in[0].Source == "" && len(in[0].Words) == 0
	case "at", "batch":
		return true
	case "parallel":
		return !slices.ContainsFunc(words[1:], func(w Word) bool { return !strings.HasPrefix(w.Text, "-") && !digits(w.Text) })
	case "make", "gmake":
		return hasWord(words, "-f-", "-", "--file=-", "--makefile=-", "/dev/stdin")
	case "python", "python2", "python3", "tclsh", "wish", "expect", "node", "deno", "bun", "perl", "ruby", "php", "lua", "psql", "mysql", "sqlite3", "ed", "ex", "m4", "bc", "dc", "gdb", "irb":
		return len(words) == 1 || hasWord(words, "-", "-i", "/dev/stdin")
	case "source", ".":
		return hasWord(words, "/dev/stdin")
	}
	return false
}

func hasWord(words []Word, any ...string) bool {
	for _, w := range words[1:] {
		if has(any, w.Text) {
			return true
		}
	}
	return false
}

// readsCommands reports whether a program takes commands from its input, or from a file
// that it is given.
func readsCommands(name string) bool {
	switch path.Base(name) {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash", "source", ".", "at", "batch", "parallel", "ssh", "su", "xargs", "newgrp":
		return true
	}
	return false
}

// runner returns what programs start that are no wrappers for rules that allow: runners of
// packages, Git, and interpreters of other languages.
func runner(words []Word) []Inner {
	rest := words[1:]
	behindWord := func(names ...string) []Inner {
		for i, w := range rest {
			if has(names, w.Text) {
				return wrapper{}.everywhere(rest[i+1:])
			}
		}
		return nil
	}
	switch name := path.Base(words[0].Text); name {
	case "npx", "bunx", "uvx", "pipx", "cross-env", "dotenv", "env-cmd", "hyperfine", "concurrently", "nodemon", "watchexec", "npm-run-all", "ssh-agent":
		return append(sources(rest, "c", "--call", "--exec"), eachWord(rest)...)
	case "npm", "pnpm", "yarn", "bun":
		return append(sources(rest, "c", "--call"), behindWord("exec", "x", "dlx", "run")...)
	case "uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba", "mise", "asdf", "direnv", "bundle", "rbenv", "pyenv", "nix", "nix-shell", "devbox":
		return append(sources(rest, "c", "--run", "--command"), behindWord("run", "exec", "tool", "-c")...)
	case "git":
		return gitStarts(rest)
	case "sed", "gsed":
		return append(matches(rest, sedRuns()), sedFlags(rest)...)
	case "vi", "vim", "nvim", "view", "ex", "gvim", "gdb", "lldb":
		return matches(rest, editorRuns())
	}
	if strings.HasPrefix(path.Base(words[0].Text), "ld-") || path.Base(words[0].Text) == "ld.so" { // the loader, which runs the program that it is given
		return wrapper{}.everywhere(rest)
	}
	if speaks(words[0].Text) {
		return calls(words[0].Text, rest)
	}
	return nil
}

// speaks reports whether a program is the interpreter of another language.
func speaks(name string) bool {
	switch strings.TrimRight(path.Base(name), "0123456789.") {
	case "awk", "gawk", "mawk", "nawk", "perl", "python", "ruby", "node", "php", "lua", "deno", "tclsh", "wish", "expect":
		return true
	}
	return false
}

// programs returns what programs in other languages hand to a shell that a step gives to their
// interpreter as input.
func programs(s Step) []Inner {
	if !speaks(s.Words[0].Text) || !obeysInput(s.Words) {
		return nil
	}
	var out []Inner
	for _, text := range s.Input {
		out = append(out, calls(s.Words[0].Text, []Word{{Text: text}})...)
	}
	return out
}

// calls returns what programs in a language hand to a shell.
func calls(language string, texts []Word) []Inner {
	out := matches(texts, callsShell())
	for _, in := range out { // print "…" | "sh"
		if words := strings.Fields(in.Source); len(words) > 0 && readsCommands(words[0]) {
			out = append(out, Inner{Unknown: in.Source})
			break
		}
	}
	switch strings.TrimRight(path.Base(language), "0123456789.") {
	case "perl", "ruby", "php":
		out = append(out, matches(texts, backquotes())...)
	}
	return out
}

// sedFlags returns what sed runs by the flag e of a substitution: what is put in, of which the
// text that it stands in is not known.
func sedFlags(words []Word) []Inner {
	var out []Inner
	for _, w := range words {
		text := w.Text
		for i := 0; i+1 < len(text) && len(out) < maxTails; i++ {
			by := text[i+1]
			if text[i] != 's' || by == '\\' || by == '\n' || by == ' ' || isLetter(by) {
				continue
			}
			parts := split3(text[i+2:], by)
			if len(parts) == 3 && strings.Contains(flagsOf(parts[2]), "e") {
				out = append(out, Inner{Source: parts[1]}, Inner{Unknown: text})
			}
		}
	}
	return out
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// split3 cuts a text at the first two places where a character stands without a backslash.
func split3(text string, by byte) []string {
	var out []string
	from := 0
	for i := 0; i < len(text) && len(out) < 2; i++ {
		switch text[i] {
		case '\\':
			i++
		case by:
			out = append(out, text[from:i])
			from = i + 1
		}
	}
	return append(out, text[from:])
}

// flagsOf returns the flags that a text begins with.
func flagsOf(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, "0123456789eEgiImMp"))]
}

// eachWord returns the tails of words and each that is a line by itself.
func eachWord(words []Word) []Inner {
	out := wrapper{}.everywhere(words)
	for _, w := range words[:min(len(words), maxTails)] {
		if strings.Contains(w.Text, " ") {
			out = append(out, Inner{Source: w.Text})
		}
	}
	return out
}

// gitStarts returns what Git starts by its own words: aliases of -c, foreach, run and exec.
func gitStarts(words []Word) []Inner {
	out := sources(words, "x", "--exec", "--upload-pack", "--receive-pack", "--open-files-in-pager", "--extcmd")
	if !slices.ContainsFunc(words, func(w Word) bool { return w.Text == "rebase" || w.Text == "difftool" }) {
		for i := range out { // -x is not a command elsewhere
			out[i].Unknown = ""
		}
	}
	if i := slices.IndexFunc(words, func(w Word) bool { return w.Text == "clone" || w.Text == "grep" }); i >= 0 {
		option := map[string]string{"clone": "u", "grep": "O"}[words[i].Text]
		out = append(out, sources(words[i+1:], option)...)
	}
	for i, w := range words {
		if _, command, ok := strings.Cut(w.Text, "=!"); ok {
			out = append(out, Inner{Source: command})
		}
		if _, command, ok := strings.Cut(w.Text, "ext::"); ok {
			out = append(out, Inner{Source: command})
		}
		switch w.Text {
		case "foreach", "run":
			out = append(out, Inner{Source: Step{Words: words[i+1:]}.Text(), Unknown: hidden(words[i+1:])})
			out = append(out, wrapper{}.everywhere(words[i+1:])...)
		case "-c", "--config":
			if i+1 < len(words) {
				if _, value, ok := strings.Cut(words[i+1].Text, "="); ok {
					out = append(out, Inner{Source: strings.TrimPrefix(value, "!")})
				}
			}
		}
	}
	return out
}

var (
	// callsShell finds what a program of another language hands to a shell.
	callsShell = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:system|popen|exec|execSync|spawnSync|run|call|check_call|check_output|shell_exec|passthru|getoutput|Popen)\s*\(?\s*\[?\s*(?:"([^"]*)"|'([^']*)'|` + "`([^`]*)`" + `)|"([^"]*)"\s*\|\s*getline|\|\s*"([^"]*)"`)
	})
	// backquotes finds what Perl, Ruby and PHP run between backquotes and in qx{…}.
	backquotes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("`([^`]*)`" + `|(?:qx|%x)\s*[^\w\s]([^)}\]|/!'"]*)`)
	})
	// editorRuns finds what editors and debuggers are told to run.
	editorRuns = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^\+?|[|:])\s*(?:sil\w*\s+)?!\s*(.+)|^shell\s+(.+)|system\(\s*["']([^"']*)`)
	})
	// sedRuns finds the commands that sed runs.
	sedRuns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[;{\n0-9$/!,])\s*e\s*([^\n]+)`) })
)

func matches(words []Word, find *regexp.Regexp) []Inner {
	var out []Inner
	for _, w := range words {
		for _, m := range find.FindAllStringSubmatch(w.Text, maxTails) {
			for _, text := range m[1:] {
				if text != "" {
					out = append(out, Inner{Source: text})
				}
			}
		}
	}
	return out
}

// printed returns what the steps from the first on print, where their words tell it: the
// arguments of echo and printf, and what cat takes from its input.
func printed(steps []Step) string {
	var lines []string
	for _, s := range steps {
		if len(s.Words) == 0 {
			continue
		}
		args := s.Words[1:]
		switch path.Base(s.Words[0].Text) {
		case "echo":
			for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") && strings.Trim(args[0].Text[1:], "neE") == "" {
				args = args[1:]
			}
			lines = append(lines, escapes(Step{Words: args}.Text()))
		case "printf":
			if len(args) > 0 && strings.Contains(args[0].Text, "%") {
				args = args[1:]
			}
			lines = append(lines, escapes(Step{Words: args}.Text()))
		case "cat", "tee":
			lines = append(lines, s.Input...)
		}
	}
	text := strings.Join(lines, "\n")
	return text[:min(len(text), MaxSource)]
}
