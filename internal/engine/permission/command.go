package permission

import (
	"path"

	"scorel/internal/engine/permission/shellparse"
)

// tightens reports whether a rule that denies or asks covers a simple command. It
// sees through paths of programs, quoting and the options before a subcommand of
// git; what is uncertain is compared as it was written.
func (r rule) tightens(words []shellparse.Word) bool {
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

// permits reports whether an allow rule covers a simple command: the words that it
// names are literal and the same, and what follows cannot turn the command into
// another one.
func (r rule) permits(words []shellparse.Word) bool {
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

// leavesOut returns why a rule that names the first words of a command does not cover it, ""
// where it does not name them.
func (r rule) leavesOut(words []shellparse.Word) string {
	if r.form != command || !r.prefix || len(words) < len(r.words) {
		return ""
	}
	for i, w := range r.words {
		if !words[i].Literal || words[i].Text != w {
			return ""
		}
	}
	does := "the rule " + r.text + " does not cover "
	p, _ := programOf(words[0].Text)
	for _, w := range words[len(r.words):] {
		switch {
		case !w.Literal:
			part := w.Unknown
			if part == "" {
				part = w.Text
			}
			return does + "what cannot be known from the line, and " + quoted(part) + " could be an option, or part of a script that runs or writes something"
		case p.refuses(w.Text):
			return does + quoted(w.Text) + ", which can run a program or write a file; a rule has to name it"
		}
	}
	return does + "this: it could run another program or write a file; a rule has to name that"
}

// keepsMeaning reports whether a command stays what its first named words say,
// whatever follows them: options that run other programs or write files are
// refused, and so is a command that starts another one unless that is named too.
func keepsMeaning(words []shellparse.Word, named int) bool {
	if inner := shellparse.Unwrap(words); inner != nil {
		return namesInner(words, named, inner)
	}
	return runsNothing(words, named)
}

// namesInner accepts "timeout 60 go test" for a rule that names at least go.
func namesInner(words []shellparse.Word, named int, inner []shellparse.Inner) bool {
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
