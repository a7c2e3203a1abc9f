package permission

import (
	"path"
	"slices"
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// style is how a program reads its options.
type style string

const (
	// getopt is getopt_long(3): any beginning of a long option stands for it, also after
	// operands; short ones may be joined, with a value at the end.
	getopt style = "beginnings"
	// exact takes long options as they are.
	exact style = "whole"
	// anyCase is curl's: beginnings, in capitals too, and after --expand-.
	anyCase style = "beginnings, any case"
	// goFlags is that of Go's package flag: one dash or two, whole.
	goFlags style = "whole, one dash or two"
	// nopt is npm's: beginnings, after any number of dashes.
	nopt style = "beginnings, one dash or two"
)

// program returns which options of a program an allow rule does not cover unless it names
// them: those that run another program, or write a file of the caller's choice, or take
// what is done from another file or folder.
type program struct {
	name   string // several, separated by spaces
	style  style
	short  string   // letters of short options
	values string   // letters of short options that take a value: what follows in the word is that
	long   []string // without dashes
	fine   []string // whole long options that are the beginning of one in long
	words  func(words []shellparse.Word, named int) bool
	also   string // what words refuses, for people
	runs   string // the options, of these and beside them, whose value says what is run
}

// tarLetters are the short options of tar that run a program, or write or obey a file.
const tarLetters = "IFTg"

// programs is the one table of such options, of GNU coreutils 9, tar 1.35, sed 4.9, make
// 4.4, curl 8, wget 1.24, ripgrep 14, Go 1.26, npm 10, OpenSSH 9, man-db 2.12, cargo 1.80
// and Git 2.39 to 2.51. docs/permissions.md prints it.
var programs = []program{
	{name: "awk gawk mawk nawk", style: getopt, short: "fiEoldpDeW", values: "vF", long: []string{"file", "include", "exec", "load", "pretty-print", "profile", "dump-variables", "debug", "source"},
		words: awkProgram, also: "a program with `system`, `getline`, `@`, `>` or `|`, or one that is not literal"},
	{name: "cargo", style: exact, short: "CZ", long: []string{"config", "manifest-path", "artifact-dir", "out-dir", "target-dir"}},
	{name: "curl", style: anyCase, short: "oOJKDcQT", values: "AbCdeEFHhkmPrtuUwxXyYz", long: []string{"upload-file", "output", "output-dir", "remote-name", "remote-name-all", "remote-header-name", "config",
		"dump-header", "cookie-jar", "trace", "trace-ascii", "stderr", "libcurl", "hsts", "alt-svc", "etag-save", "ssl-sessions", "engine", "quote", "netrc-file", "unix-socket", "abstract-unix-socket"},
		words: curlWriteOut, also: "`-w` that writes files or reads its format from one"},
	{name: "fd fdfind", style: exact, short: "xX", values: "EgtedSoc", long: []string{"exec", "exec-batch"}, runs: "-x -X --exec --exec-batch"},
	{name: "file", style: getopt, short: "C", values: "efFmP", long: []string{"compile"}},
	{name: "find", style: exact, words: findActions, also: "`-exec`, `-execdir`, `-ok`, `-okdir`, `-delete`, `-fprint`, `-fprint0`, `-fprintf`, `-fls`"},
	{name: "gh", style: exact, short: "we", long: []string{"web", "editor"}},
	{name: "git", style: getopt, long: gitLong, fine: []string{"text"}, words: gitKeepsMeaning,
		also: "options before the subcommand; `-c` `-u` of clone, `-u` of fetch, pull and ls-remote, `-O` of grep, `-o` of format-patch and archive, `-x` of rebase and difftool, `-c` of init, `-S` of commit, tag, merge, cherry-pick and revert; `ext::` and `fd::` as address; the subcommand itself where it is an alias, and one word more behind bisect, config, difftool, submodule and others that run commands"},
	{name: "go", style: goFlags, long: []string{"exec", "toolexec", "vettool", "fix", "o", "overlay", "modfile", "C", "ldflags", "gcflags", "asmflags", "gccgoflags", "pkgdir", "outputdir",
		"coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace", "test.coverprofile", "test.cpuprofile", "test.memprofile", "test.blockprofile", "test.mutexprofile",
		"test.trace", "test.outputdir", "test.gocoverdir"}},
	{name: "less more", style: getopt, short: "oOkT", values: "bhjpPtxyz", long: []string{"log-file", "LOG-FILE", "lesskey-file", "lesskey-src", "lesskey-content", "tag-file"},
		words: plusWords, also: "words that begin with `+`"},
	{name: "make gmake", style: getopt, short: "fCIE", values: "jloW", long: []string{"file", "makefile", "directory", "include-dir", "eval"}, words: assigns, also: "`NAME=value`", runs: "-f --file --makefile --eval"},
	{name: "man", style: getopt, short: "PHXCp", values: "eELmMrRsS", long: []string{"pager", "html", "config-file", "preprocessor", "gxditview"}, runs: "-P -H -C --pager --html --config-file"},
	{name: "npm pnpm", style: nopt, short: "Cc", long: []string{"prefix", "dir", "script-shell", "shell", "node-options", "userconfig", "globalconfig", "call", "git", "editor", "viewer", "browser",
		"init-module", "onload-script", "node-gyp", "python", "logs-dir", "cache", "tmp"}},
	{name: "npx bunx", style: nopt, short: "c", long: []string{"call", "script-shell", "shell", "node-options", "prefix", "userconfig", "globalconfig"}},
	{name: "rg", style: exact, long: []string{"pre", "hostname-bin"}, runs: "--pre --hostname-bin"},
	{name: "rsync", style: exact, short: "eTM", values: "Bf@", long: []string{"rsh", "rsync-path", "log-file", "write-batch", "only-write-batch", "read-batch", "temp-dir", "partial-dir", "backup-dir",
		"files-from", "remote-option", "config", "daemon", "dparam"}, runs: "-e --rsh --rsync-path"},
	{name: "scp sftp", style: exact, short: "SoFDb", values: "cilPXJ", runs: "-S -o -F -D"},
	{name: "sed gsed", style: getopt, short: "if", values: "el", long: []string{"in-place", "file"}, words: sedScript, also: "scripts with `e`, `r`, `R`, `w`, `W`, the flags `e` and `w` of `s`, and what is not literal"},
	{name: "shuf", style: getopt, short: "o", values: "in", long: []string{"output"}},
	{name: "sort", style: getopt, short: "oT", values: "ktS", long: []string{"compress-program", "output", "temporary-directory"}, runs: "--compress-program"},
	{name: "split", style: getopt, values: "abClnt", long: []string{"filter"}, runs: "--filter"},
	{name: "ssh", style: exact, short: "oFSEID", values: "BbceiJLlmOpQRWw", also: "a command for the other machine", runs: "-o -F"},
	{name: "tar bsdtar", style: getopt, short: tarLetters, values: "bCfHKLNVX", long: []string{"to-command", "checkpoint-action", "use-compress-program", "rsh-command", "rmt-command", "info-script",
		"new-volume-script", "files-from", "listed-incremental", "volno-file", "index-file"}, fine: []string{"checkpoint", "to-stdout"}, words: tarBundle, also: "the same letters without a dash in the first word", runs: "-I -F --to-command --checkpoint-action --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script"},
	{name: "tree", style: exact, short: "oR", values: "LPIHT"},
	{name: "uniq xxd", style: getopt, short: "r", values: "fswclos", words: secondOperand, also: "a second operand, which is written"},
	{name: "wget", style: getopt, short: "eoaOPi", values: "ABDItTUQRwXl", long: []string{"execute", "config", "use-askpass", "output-document", "output-file", "append-output", "directory-prefix",
		"input-file", "save-cookies", "warc-file", "warc-cdx", "warc-dedup", "warc-tempdir", "hsts-file", "rejected-log", "post-file", "body-file", "load-cookies"}},
	{name: "yarn", style: exact, long: []string{"cwd", "use-yarnrc", "script-shell", "modules-folder", "cache-folder", "global-folder", "preferred-cache-folder"}},
	{name: "yq", style: exact, short: "is", values: "opIv", long: []string{"inplace", "split-exp", "split-exp-file"}},
	{name: "zip", style: getopt, short: "TO", values: "btnixP", long: []string{"unzip-command", "test", "output-file", "out", "temp-path", "logfile-path"}, runs: "-TT --unzip-command"},
}

// programOf returns the row of a program.
func programOf(name string) (program, bool) {
	name = path.Base(name)
	for _, p := range programs {
		for one := range strings.FieldsSeq(p.name) {
			if one == name {
				return p, true
			}
		}
	}
	return program{}, false
}

// runsNothing refuses options after the named words that the table lists for the
// program, and words that could become such an option.
func runsNothing(words []shellparse.Word, named int) bool {
	p, ok := programOf(words[0].Text)
	if !ok {
		return true
	}
	for _, w := range words[named:] {
		if !w.Operand && !w.Literal {
			return false
		}
		if w.Text == "--" {
			break
		}
		if p.refuses(w.Text) {
			return false
		}
	}
	return p.words == nil || p.words(words, named)
}

// refuses reports whether a word is, or could be, one of the options of the row.
func (p program) refuses(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	long, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	double := strings.HasPrefix(word, "--")
	switch p.style {
	case goFlags:
		return slices.Contains(p.long, long)
	case nopt:
		return (double || len(long) > 1) && p.begins(long) || !double && p.cluster(word[1:])
	case anyCase:
		if double {
			return p.begins(strings.TrimPrefix(strings.ToLower(long), "expand-"))
		}
	case exact:
		if double {
			return slices.Contains(p.long, long)
		}
	default:
		if double {
			return p.begins(long)
		}
	}
	return p.cluster(word[1:])
}

// optionSources returns what is after the options of the table, as commands that rules
// which deny or ask look into: most are names of programs or lines for a shell. What make
// is told to evaluate or to read is a language of its own and cannot be known.
func optionSources(words []shellparse.Word) []shellparse.Inner {
	if len(words) == 0 {
		return nil
	}
	p, ok := programOf(words[0].Text)
	if !ok {
		return nil
	}
	var out []shellparse.Inner
	add := func(value, unknown string) {
		if value != "" {
			out = append(out, shellparse.Inner{Source: value, Guess: true, Unknown: unknown})
		}
		if i := strings.IndexAny(value, "= "); i >= 0 { // exec=…, ProxyCommand=…
			out = append(out, shellparse.Inner{Source: value[i+1:], Guess: true})
		}
	}
	maker := strings.HasPrefix(p.name, "make ")
	for i, w := range words[1:] {
		name, value, assigned := strings.Cut(w.Text, "=")
		if maker && assigned && !strings.HasPrefix(name, "-") {
			name = strings.TrimRight(name, ":?+")
			if add(value, ""); name == "SHELL" || name == ".SHELLFLAGS" || name == "MAKEFLAGS" || name == "MAKEFILES" {
				out = append(out, shellparse.Inner{Unknown: w.Text})
			}
			continue
		}
		if !p.refuses(w.Text) {
			continue
		}
		next := shellparse.Word{}
		if i+2 < len(words) {
			next = words[i+2]
		}
		var value2 shellparse.Word // the value in a word of its own
		attached := value
		if !assigned {
			if value2 = next; !strings.HasPrefix(w.Text, "--") && p.style != goFlags {
				attached = strings.TrimLeft(w.Text[2:], " ")
			}
		}
		runs := p.runsValue(w.Text)
		unknown := ""
		if runs {
			if unknown = w.Unknown; unknown == "" && attached == "" || strings.TrimLeft(name, "-") == "TT" {
				unknown = value2.Unknown
			}
		}
		add(attached, unknown)
		if tt, ok := strings.CutPrefix(w.Text, "-TT"); ok {
			add(tt, "")
		}
		add(value2.Text, "")
		if unknown != "" && attached == "" {
			out = append(out, shellparse.Inner{Unknown: unknown})
		}
		if maker && runs {
			given := attached
			if given == "" {
				given = value2.Text
			}
			if strings.Contains(w.Text, "ev") || given == "-" || strings.HasPrefix(given, "/dev/") || strings.HasPrefix(given, "<(") {
				out = append(out, shellparse.Inner{Unknown: strings.TrimSpace(w.Text + " " + value2.Text)})
			}
		}
	}
	return out
}

// runsValue reports whether the value of an option says what is run.
func (p program) runsValue(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	for option := range strings.FieldsSeq(p.runs) {
		switch {
		case name == option, strings.HasPrefix(name, "--") && len(name) > 2 && p.style != exact && strings.HasPrefix(option, name):
			return true
		case len(option) == 2 && !strings.HasPrefix(name, "--") && strings.HasPrefix(name, "-") && strings.Contains(name, option[1:]):
			return true
		}
	}
	return false
}

// begins reports whether a name is the beginning of one of the long options.
func (p program) begins(name string) bool {
	return name != "" && !slices.Contains(p.fine, name) && slices.ContainsFunc(p.long, func(long string) bool { return strings.HasPrefix(long, name) })
}

// cluster reports whether joined short options hold one of the row.
func (p program) cluster(letters string) bool {
	for i := 0; i < len(letters); i++ {
		if strings.IndexByte(p.short, letters[i]) >= 0 {
			return true
		}
		if strings.IndexByte(p.values, letters[i]) >= 0 {
			return false
		}
	}
	return false
}

// findActions refuses the actions of find that run something or write.
func findActions(words []shellparse.Word, named int) bool {
	for _, w := range words[named:] {
		switch w.Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls":
			return false
		}
	}
	return true
}

// plusWords refuses commands that less runs at its start.
func plusWords(words []shellparse.Word, named int) bool {
	return !slices.ContainsFunc(words[named:], func(w shellparse.Word) bool { return strings.HasPrefix(w.Text, "+") || !w.Literal })
}

// assigns refuses variables of make: one can be the program that a recipe calls, and
// SHELL always is.
func assigns(words []shellparse.Word, named int) bool {
	return !slices.ContainsFunc(words[named:], func(w shellparse.Word) bool { return strings.Contains(w.Text, "=") && !strings.HasPrefix(w.Text, "-") })
}

// tarBundle refuses the letters of the row in the first word without a dash.
func tarBundle(words []shellparse.Word, named int) bool {
	if named > 1 || len(words) < 2 || strings.HasPrefix(words[1].Text, "-") {
		return true
	}
	return !strings.ContainsAny(words[1].Text, tarLetters)
}

// curlWriteOut refuses formats of -w that write files, or that are read from one.
func curlWriteOut(words []shellparse.Word, named int) bool {
	for i, w := range words {
		format, found := "", false
		switch name, value, has := strings.Cut(strings.ToLower(w.Text), "="); {
		case i < named:
			continue
		case strings.HasPrefix(name, "--w") || strings.HasPrefix(name, "--expand-w"):
			format, found = value, true
			if !has && i+1 < len(words) {
				format = words[i+1].Text
			}
		case len(name) > 1 && name[0] == '-' && name[1] != '-' && strings.Contains(name, "w"):
			_, format, _ = strings.Cut(w.Text, "w")
			if found = true; format == "" && i+1 < len(words) {
				format = words[i+1].Text
			}
		}
		if found && (strings.HasPrefix(format, "@") || strings.Contains(format, "output{")) {
			return false
		}
	}
	return true
}

// secondOperand refuses a second operand.
func secondOperand(words []shellparse.Word, named int) bool {
	n := 0
	for i, w := range words[1:] {
		if w.Operand {
			if n++; n > 1 && i+1 >= named {
				return false
			}
		}
	}
	return true
}
