package shell

import (
	"path"
	"regexp"
	"strings"
)

// Started gives the commands that a step would start by itself, for rules that deny or
// ask: those of [Unwrap], what runners of packages and the options and programs of other
// languages start, and what a shell reads from its input where the text tells that. It
// looks widely: not all that it gives need run.
func Started(s Step) []Inner {
	if len(s.Words) == 0 {
		return nil
	}
	out := append([]Inner(nil), Unwrap(s.Words)...)
	for _, in := range runner(s.Words) {
		in.Guess = true
		out = append(out, in)
	}
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

// readsCommands reports whether a program takes commands from its input, or from a file
// that it is given.
func readsCommands(name string) bool {
	switch path.Base(name) {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash", "source", ".", "at", "batch", "parallel", "ssh", "su", "xargs", "newgrp":
		return true
	}
	return false
}

// runner gives what programs start that are no wrappers for rules that allow: runners of
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
		return matches(rest, sedRuns)
	}
	switch base := strings.TrimRight(path.Base(words[0].Text), "0123456789."); base {
	case "awk", "gawk", "mawk", "nawk", "perl", "python", "ruby", "node", "php", "lua", "deno":
		return matches(rest, callsShell)
	}
	return nil
}

// eachWord gives the tails of words and each that is a line by itself.
func eachWord(words []Word) []Inner {
	out := wrapper{}.everywhere(words)
	for _, w := range words[:min(len(words), maxTails)] {
		if strings.Contains(w.Text, " ") {
			out = append(out, Inner{Source: w.Text})
		}
	}
	return out
}

// gitStarts gives what Git starts by its own words: aliases of -c, foreach, run and exec.
func gitStarts(words []Word) []Inner {
	out := sources(words, "x", "--exec", "--upload-pack", "--receive-pack", "--open-files-in-pager", "--extcmd")
	for i, w := range words {
		if _, command, ok := strings.Cut(w.Text, "=!"); ok {
			out = append(out, Inner{Source: command})
		}
		if _, command, ok := strings.Cut(w.Text, "ext::"); ok {
			out = append(out, Inner{Source: command})
		}
		switch w.Text {
		case "foreach", "run":
			out = append(out, Inner{Source: Step{Words: words[i+1:]}.Text()})
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
	callsShell = regexp.MustCompile(`(?:system|popen|exec|execSync|spawnSync|run|call|check_call|check_output|shell_exec|passthru|getoutput|Popen)\s*\(?\s*\[?\s*(?:"([^"]*)"|'([^']*)'|` + "`([^`]*)`" + `)|"([^"]*)"\s*\|\s*getline|\|\s*"([^"]*)"`)
	// sedRuns finds the commands that sed runs.
	sedRuns = regexp.MustCompile(`(?:^|[;{\n0-9$/!,])\s*e\s*([^\n]+)`)
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

// printed gives what the steps from the first on print, where their words tell it: the
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

func escapes(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(s)
}
