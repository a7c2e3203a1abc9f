package shellparse

import (
	"path"
	"strings"
)

// Inner is a command that another command starts: its words, or the source that
// it hands to a shell. Both empty: it starts something that cannot be told.
type Inner struct {
	Words  []Word
	Source string
	Guess  bool     // it may be no command at all
	Params []string // of Source: $0 and what follows, where that is known
	// Unknown is the part that decides what is started, of which the source does not tell
	// what it is; "" when there is none.
	Unknown string
}

// wrapper returns how a command that starts another one takes its arguments.
type wrapper struct {
	values  string   // short options that take a value
	long    []string // long options that take a value in the next word
	flags   []string // long options that take none
	skip    int      // operands before the command
	assigns bool     // NAME=value may be before the command
	dash    bool     // a dash alone is an option
	join    bool     // the rest is joined and given to a shell
}

// wrapperOf knows the commands that start another one after their options. The
// options are those of GNU coreutils 9, util-linux 2.40, sudo 1.9, OpenSSH 9 and
// strace 6.
func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "env":
		return wrapper{values: "uCa", long: []string{"unset", "chdir", "argv0"}, flags: []string{"ignore-environment", "null", "debug"}, assigns: true, dash: true}, true
	case "sudo", "doas":
		return wrapper{values: "CDghpRrTtUua", long: []string{"user", "group", "host", "prompt", "chdir", "chroot", "role", "type", "command-timeout", "close-from", "other-user"},
			flags: []string{"preserve-env", "non-interactive", "set-home", "login", "shell", "stdin", "background", "askpass", "reset-timestamp"}, assigns: true}, true
	case "pkexec":
		return wrapper{long: []string{"user"}}, true
	case "xargs":
		return wrapper{values: "adEILnPs", long: []string{"arg-file", "delimiter", "max-args", "max-procs", "max-lines", "max-chars", "replace", "eof"},
			flags: []string{"null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty"}}, true
	case "timeout":
		return wrapper{values: "ks", long: []string{"kill-after", "signal"}, flags: []string{"foreground", "preserve-status", "verbose"}, skip: 1}, true
	case "nice":
		return wrapper{values: "n", long: []string{"adjustment"}}, true
	case "ionice":
		return wrapper{values: "cnpPu", long: []string{"class", "classdata"}, flags: []string{"ignore"}}, true
	case "nohup", "builtin", "fakeroot", "proxychains", "proxychains4", "rlwrap", "unbuffer", "busybox", "toybox", "dbus-run-session", "eatmydata":
		return wrapper{}, true
	case "command":
		return wrapper{}, true
	case "exec":
		return wrapper{values: "a"}, true
	case "setsid":
		return wrapper{flags: []string{"ctty", "fork", "wait"}}, true
	case "stdbuf":
		return wrapper{values: "ioe", long: []string{"input", "output", "error"}}, true
	case "time":
		return wrapper{values: "fo", long: []string{"format", "output"}, flags: []string{"append", "portability", "verbose", "quiet"}}, true
	case "strace", "ltrace":
		return wrapper{values: "abeEIoOpPsSuUX", long: []string{"output", "trace", "user", "attach", "env", "string-limit"}, flags: []string{"follow-forks", "summary"}}, true
	case "taskset", "chrt":
		return wrapper{values: "TPD", skip: 1}, true
	case "chroot":
		return wrapper{long: []string{"userspec", "groups"}, skip: 1}, true
	case "flock":
		return wrapper{values: "wE", long: []string{"timeout", "wait", "conflict-exit-code"}, skip: 1}, true
	case "unshare", "nsenter":
		return wrapper{values: "tSGRw", long: []string{"target", "setuid", "setgid", "root", "wd"}}, true
	case "setpriv", "systemd-run", "firejail", "numactl", "perf", "valgrind", "xvfb-run", "gdb", "entr", "catchsegv", "cpulimit", "torsocks",
		"prlimit", "setarch", "linux32", "linux64", "i386", "i486", "i586", "i686", "x86_64", "aarch64", "uname26", "choom", "uclampset", "bwrap", "nsjail", "capsh",
		"chpst", "setuidgid", "softlimit", "gosu", "su-exec", "sshpass", "chronic", "ifne", "faketime", "torify", "tsocks", "dumb-init", "tini", "systemd-inhibit",
		"caffeinate", "proot", "fakechroot", "coproc", "start-stop-daemon", "daemonize", "screen", "tmux", "xterm", "expect":
		return wrapper{values: "-"}, true
	case "watch":
		return wrapper{values: "nq", long: []string{"interval", "equexit"}, flags: []string{"differences", "beep", "color", "errexit", "chgexit", "no-title", "precise", "exec"}, join: true}, true
	case "parallel":
		return wrapper{values: "-", join: true}, true
	case "ssh":
		return wrapper{values: "BbcDEeFIiJLlmOopQRSWw", skip: 1, join: true}, true
	case "eval":
		return wrapper{join: true}, true
	}
	return wrapper{}, false
}

// Unwrap returns the commands that the command in words would start by itself: what
// is after sudo or in find -exec, the source of sh -c, and so on. It returns
// nil for a command that starts no other. Where the place of the inner command
// is not certain, all places are given.
func Unwrap(words []Word) []Inner {
	if len(words) == 0 {
		return nil
	}
	name := path.Base(words[0].Text)
	switch name {
	case "find":
		return find(words[1:])
	case "fd", "fdfind":
		return behind(words[1:], "-x", "-X", "--exec", "--exec-batch")
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash":
		return interpreter(words[1:])
	case "su", "runuser", "script", "sg", "newgrp":
		if in := sources(words[1:], "c", "--command", "--session-command"); in != nil {
			return in
		}
		return wrapper{}.everywhere(words[1:])
	case "trap":
		if len(words) > 1 {
			return []Inner{{Source: words[1].Text, Unknown: words[1].Unknown}}
		}
		return nil
	case "flock":
		if in := sources(words[1:], "c", "--command"); in != nil {
			return in
		}
	case "env":
		if in := split(words[1:]); in != nil {
			return in
		}
	case "command":
		if len(words) > 1 && (words[1].Text == "-v" || words[1].Text == "-V") {
			return nil
		}
	}
	w, ok := wrapperOf(name)
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") {
		w, ok = wrapper{values: "-"}, true
	}
	if !ok {
		return nil
	}
	if w.values == "-" && !w.join {
		return append(w.inner(words[1:]), sources(words[1:], "c", "--command")...)
	}
	return w.inner(words[1:])
}

// inner finds the command after the options and operands of a wrapper.
func (w wrapper) inner(words []Word) []Inner {
	skip := w.skip
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case w.values == "-" || (!word.Literal && !word.Operand && !word.Tilde):
			return w.everywhere(words[i:])
		case word.Text == "-" && w.dash:
		case word.Text == "--":
			if skip == 0 {
				return w.rest(words[i+1:])
			}
		case strings.HasPrefix(word.Text, "--"):
			name, _, value := strings.Cut(word.Text[2:], "=")
			switch {
			case value || has(w.flags, name):
			case has(w.long, name):
				i++
			default:
				return w.everywhere(words[i+1:])
			}
		case strings.HasPrefix(word.Text, "-") && len(word.Text) > 1:
			if at := strings.IndexAny(word.Text[1:], w.values); w.values != "" && at >= 0 && at == len(word.Text)-2 {
				i++
			}
		case w.assigns && strings.Contains(word.Text, "=") && word.Text[0] != '=':
		case skip > 0:
			skip--
		default:
			return w.rest(words[i:])
		}
	}
	return nil
}

func (w wrapper) rest(words []Word) []Inner {
	for w.assigns && len(words) > 0 && strings.Contains(words[0].Text, "=") {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		return nil
	case w.join:
		return []Inner{{Source: Step{Words: words}.Text(), Unknown: hidden(words)}}
	}
	return []Inner{{Words: words}}
}

// hidden returns the first part of words that cannot be known.
func hidden(words []Word) string {
	for _, w := range words {
		if w.Unknown != "" {
			return w.Unknown
		}
	}
	return ""
}

// maxTails is how many places of a command are tried, so that nested wrappers stay cheap.
const maxTails = 32

// everywhere gives each tail of words: the command begins at one of them.
func (w wrapper) everywhere(words []Word) []Inner {
	var out []Inner
	front := true // no word so far can be the command
	for i, word := range words[:min(len(words), maxTails)] {
		for _, in := range w.rest(words[i:]) {
			in.Guess = !front
			if in.Guess {
				in.Unknown = ""
			}
			out = append(out, in)
		}
		front = front && (strings.HasPrefix(word.Text, "-") || strings.Contains(word.Text, "=") || digits(word.Text) || starts(word.Text))
	}
	return append(out, Inner{})
}

// starts reports whether a word is itself the name of a command that starts others.
func starts(name string) bool {
	_, ok := wrapperOf(path.Base(name))
	return ok
}

// find returns the commands of find -exec and its like. Deleting is what rm does.
func find(words []Word) []Inner {
	var out []Inner
	for i := 0; i < len(words); i++ {
		switch words[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(words) && words[end].Text != ";" && words[end].Text != "+" {
				end++
			}
			out = append(out, Inner{Words: replaced(words[i+1:end], "{}", "{}")})
			i = end
		case "-delete":
			out = append(out, Inner{Words: []Word{{Text: "rm", Literal: true, Operand: true}}})
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			out = append(out, Inner{})
		default:
			if !words[i].Literal && !words[i].Operand && !words[i].Tilde {
				out = append(out, Inner{})
			}
		}
	}
	return out
}

func behind(words []Word, options ...string) []Inner {
	for i, w := range words {
		if has(options, w.Text) {
			return []Inner{{Words: replaced(words[i+1:], "{}", "{}")}}
		}
	}
	return nil
}

// replaced marks the words that hold a mark which the command replaces.
func replaced(words []Word, mark, why string) []Word {
	out := append([]Word(nil), words...)
	for i := range out {
		if mark != "" && strings.Contains(out[i].Text, mark) && out[i].Unknown == "" {
			out[i].Unknown = why
		}
	}
	return out
}

// sources finds what is after a short option or a long one (or a beginning of it),
// also attached and joined to others.
func sources(words []Word, short string, long ...string) []Inner {
	var out []Inner
	for i, w := range words {
		value, found, unknown := "", false, w.Unknown
		switch name, v, has := strings.Cut(w.Text, "="); {
		case strings.HasPrefix(w.Text, "--"):
			for _, l := range long {
				if len(name) > 2 && strings.HasPrefix(l, name) {
					value, found = v, true
				}
			}
			if !found || has {
				break
			}
			value = ""
		case strings.HasPrefix(w.Text, "-"):
			_, value, found = strings.Cut(w.Text[1:], short)
		}
		switch {
		case !found:
			continue
		case value == "" && i+1 < len(words):
			value, unknown = words[i+1].Text, words[i+1].Unknown
		}
		out = append(out, Inner{Source: value, Unknown: unknown})
		if len(out) >= maxTails {
			break
		}
	}
	return out
}

// split returns the command in the value of env -S, with what follows it.
func split(words []Word) []Inner {
	for i, w := range words {
		value, found := "", false
		switch name, v, _ := strings.Cut(w.Text, "="); {
		case w.Text == "--":
			return nil
		case strings.HasPrefix(w.Text, "--"):
			found, value = len(name) > 2 && strings.HasPrefix("--split-string", name), v
		case strings.HasPrefix(w.Text, "-"):
			at := strings.IndexAny(w.Text[1:], "uCS") // what follows u and C is their value
			if found = at >= 0 && w.Text[1+at] == 'S'; found {
				value = w.Text[at+2:]
			}
		case !strings.Contains(w.Text, "="):
			if i == 0 || !takesNext(words[i-1].Text) {
				return nil
			}
		}
		if !found {
			continue
		}
		rest := words[i+1:]
		if value == "" && len(rest) > 0 {
			value, rest = rest[0].Text, rest[1:]
		}
		return []Inner{{Source: strings.TrimSpace("env " + value + " " + Step{Words: rest}.Text()), Unknown: hidden(words[i:])}}
	}
	return nil
}

// takesNext reports whether an option of env has its value in the next word.
func takesNext(option string) bool {
	if strings.HasPrefix(option, "--") {
		return has([]string{"--unset", "--chdir", "--argv0"}, option)
	}
	at := strings.IndexAny(option, "uCa")
	return strings.HasPrefix(option, "-") && at >= 0 && at == len(option)-1
}

// interpreter looks at the arguments of a shell. A script that is named is no
// inner command; a source is, and so is whatever comes from standard input.
func interpreter(words []Word) []Inner {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case !w.Literal && !w.Operand && !w.Tilde:
			return []Inner{{Unknown: w.Unknown}}
		case w.Text == "-" || w.Text == "--":
			if i+1 < len(words) {
				return nil
			}
		case w.Text == "--rcfile" || w.Text == "--init-file" || w.Text == "-O" || w.Text == "+O" || w.Text == "-o" || w.Text == "+o":
			i++
		case strings.HasPrefix(w.Text, "--") && w.Text != "--command":
		case (strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "c")) || w.Text == "--command":
			for j, arg := range words[i+1:] {
				if !strings.HasPrefix(arg.Text, "-") && !strings.HasPrefix(arg.Text, "+") {
					in := Inner{Source: arg.Text, Unknown: arg.Unknown}
					if params := words[i+1+j+1:]; hidden(params) == "" {
						in.Params = []string{"bash"}
						for k, p := range params {
							if k == 0 {
								in.Params = nil
							}
							in.Params = append(in.Params, p.Text)
						}
					}
					return []Inner{in}
				}
			}
			return []Inner{{}}
		case strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "+"):
			if strings.Contains(w.Text, "s") {
				return []Inner{{}}
			}
		case w.Unknown != "": // a script
			return []Inner{{Unknown: w.Unknown}}
		default:
			return nil
		}
	}
	return []Inner{{}}
}

func has(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
