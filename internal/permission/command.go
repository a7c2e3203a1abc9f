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
// another one. A command that starts other commands is covered only by a rule
// that gives all its words.
func (r rule) permits(words []shell.Word) bool {
	if r.form != command || len(words) < len(r.words) || (!r.prefix && len(words) != len(r.words)) {
		return false
	}
	for i, w := range r.words {
		if !words[i].Literal || words[i].Text != w {
			return false
		}
	}
	if !r.prefix {
		return true
	}
	return shell.Unwrap(words) == nil && keepsMeaning(words)
}

// keepsMeaning says whether the arguments leave a command what its first words
// say, for programs whose options run other programs or write files.
func keepsMeaning(words []shell.Word) bool {
	switch words[0].Text {
	case "git":
		return gitKeepsMeaning(words)
	case "find", "fd", "fdfind", "rg", "tar", "sort", "go", "rsync", "scp", "curl", "wget", "sed", "awk", "tree", "diff", "make", "man", "zip", "unzip", "npm", "cargo", "gh":
		// An uncertain word could become an option that the rule did not mean.
		for _, w := range words[1:] {
			if !w.Operand && !w.Literal {
				return false
			}
		}
	}
	return runsNothing(words)
}

// runsNothing refuses options that start a program, or write a file, of the
// caller's choice.
func runsNothing(words []shell.Word) bool {
	long := func(names ...string) bool {
		for _, w := range words[1:] {
			name, _, _ := strings.Cut(w.Text, "=")
			if has(names, name) {
				return true
			}
		}
		return false
	}
	// short finds a letter in a cluster of short options.
	short := func(letters string) bool {
		for _, w := range words[1:] {
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
		bundle := len(words) > 1 && !strings.HasPrefix(words[1].Text, "-") && strings.ContainsAny(words[1].Text, "IF")
		return !bundle && !short("IF") && !long("--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script")
	case "sort":
		return !short("o") && !long("--compress-program", "--output")
	case "go":
		return !long("-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool", "-o", "--o", "-overlay", "--overlay",
			"-modfile", "--modfile", "-C", "--C", "-ldflags", "--ldflags", "-gccgoflags", "--gccgoflags")
	case "rsync":
		return !short("e") && !long("--rsh", "--rsync-path")
	case "scp":
		return !short("So")
	case "man":
		return !short("PH") && !long("--pager", "--html")
	case "npm":
		return !long("--script-shell", "--prefix")
	case "cargo":
		return !long("--config")
	}
	return true
}
