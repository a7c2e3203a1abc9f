package permission

import (
	"path"
	"strings"

	"scorel/internal/permission/shell"
)

// tightens says whether a rule that denies or asks covers a simple command. It
// sees through paths of programs, quoting and the options before a subcommand of
// git; what is uncertain is compared as it was written.
func (r rule) tightens(words []shell.Word) bool {
	if r.form != command {
		return false
	}
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	if r.covers(texts) {
		return true
	}
	if base := path.Base(texts[0]); base != texts[0] {
		texts[0] = base
		if r.covers(texts) {
			return true
		}
	}
	if texts[0] != "git" {
		return false
	}
	sub := gitSubcommand(words)
	return sub > 1 && sub < len(texts) && r.covers(append([]string{"git"}, texts[sub:]...))
}

func (r rule) covers(texts []string) bool {
	if len(texts) < len(r.words) || (!r.prefix && len(texts) != len(r.words)) {
		return false
	}
	for i, w := range r.words {
		if texts[i] != w {
			return false
		}
	}
	return true
}

// permits says whether an allow rule covers a simple command: the words that it
// names are literal and the same, and what follows cannot turn the command into
// another one.
func (r rule) permits(words []shell.Word) bool {
	if r.form != command || len(words) < len(r.words) || (!r.prefix && len(words) != len(r.words)) {
		return false
	}
	for i, w := range r.words {
		if !words[i].Literal || words[i].Text != w {
			return false
		}
	}
	return !r.prefix || keepsMeaning(words, len(r.words))
}

// keepsMeaning says whether a command stays what its first named words say,
// whatever follows them: options that run other programs or write files are
// refused, and so is a command that starts another one unless that is named too.
func keepsMeaning(words []shell.Word, named int) bool {
	if inner := shell.Unwrap(words); inner != nil {
		return namesInner(words, named, inner)
	}
	switch words[0].Text {
	case "git":
		return gitKeepsMeaning(words, named)
	case "find", "fd", "fdfind", "rg", "tar", "sort", "go", "rsync", "scp", "curl", "wget", "sed", "awk", "tree", "diff", "make", "man", "zip", "unzip", "npm", "cargo", "gh":
		// An uncertain word could become an option that the rule did not mean.
		for _, w := range words[named:] {
			if !w.Operand && !w.Literal {
				return false
			}
		}
	}
	return runsNothing(words, named)
}

// namesInner accepts "timeout 60 go test" for a rule that names at least go.
func namesInner(words []shell.Word, named int, inner []shell.Inner) bool {
	switch path.Base(words[0].Text) {
	case "find", "fd", "fdfind", "xargs", "parallel", "entr":
		return false // the arguments come from elsewhere, or the command does not end the line
	}
	if len(inner) != 1 || len(inner[0].Words) == 0 {
		return false
	}
	at := len(words) - len(inner[0].Words)
	return at < named && keepsMeaning(inner[0].Words, named-at)
}

// runsNothing refuses options behind the named words that start a program, or
// write a file, of the caller's choice.
func runsNothing(words []shell.Word, named int) bool {
	rest := words[named:]
	long := func(names ...string) bool {
		for _, w := range rest {
			name, _, _ := strings.Cut(w.Text, "=")
			if has(names, name) {
				return true
			}
		}
		return false
	}
	// begun is long for programs that take the beginning of a long option for the
	// whole one, as those do that use getopt_long(3).
	begun := func(names ...string) bool {
		for _, w := range rest {
			name, _, _ := strings.Cut(w.Text, "=")
			for _, bad := range names {
				if len(name) > 2 && strings.HasPrefix(bad, name) {
					return true
				}
			}
		}
		return false
	}
	// short finds a letter in a cluster of short options.
	short := func(letters string) bool {
		for _, w := range rest {
			if len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.ContainsAny(w.Text[1:], letters) {
				return true
			}
		}
		return false
	}
	switch words[0].Text {
	case "rg":
		return !long("--pre", "--hostname-bin")
	case "tar":
		bundle := named == 1 && len(rest) > 0 && !strings.HasPrefix(rest[0].Text, "-") && strings.ContainsAny(rest[0].Text, "IFT")
		return !bundle && !short("IFT") && !begun("--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--info-script",
			"--new-volume-script", "--files-from")
	case "sort":
		return !short("o") && !begun("--compress-program", "--output")
	case "find":
		return !long("-fprint", "-fprint0", "-fprintf", "-fls")
	case "make":
		// A variable can be the program that a recipe calls, and SHELL always is.
		for _, w := range rest {
			if strings.Contains(w.Text, "=") && !strings.HasPrefix(w.Text, "-") {
				return false
			}
		}
		return !short("fCIE") && !begun("--file", "--makefile", "--directory", "--include-dir", "--eval")
	case "zip":
		return !short("T") && !begun("--test", "--unzip-command")
	case "curl":
		return !short("oOKDc") && !long("--output", "--output-dir", "--remote-name", "--remote-name-all", "--config", "--dump-header", "--cookie-jar", "--trace",
			"--trace-ascii", "--stderr", "--libcurl", "--hsts", "--alt-svc", "--etag-save", "--ssl-sessions")
	case "wget":
		return !short("eoaO") && !begun("--execute", "--config", "--use-askpass", "--output-document", "--output-file", "--append-output")
	case "tree":
		return !short("o")
	case "go":
		return !long("-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool", "-o", "--o", "-overlay", "--overlay",
			"-modfile", "--modfile", "-C", "--C", "-ldflags", "--ldflags", "-gccgoflags", "--gccgoflags")
	case "rsync":
		return !short("e") && !long("--rsh", "--rsync-path")
	case "scp":
		return !short("So")
	case "man":
		return !short("PH") && !begun("--pager", "--html")
	case "npm":
		return !begun("--script-shell", "--prefix", "--node-options", "--userconfig", "--globalconfig")
	case "cargo":
		return !long("--config")
	}
	return true
}
