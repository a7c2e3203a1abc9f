package shellparse

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// calculates looks at a word that bash calculates with: a name in it is replaced by its
// value, and that is evaluated again.
func (w *walker) calculates(word *syntax.Word) {
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			w.named(p.Value, word)
		case *syntax.SglQuoted:
			w.named(p.Value, word)
		case *syntax.DblQuoted:
			w.calculates(&syntax.Word{Parts: p.Parts})
		case *syntax.ParamExp:
			if p.Param != nil && w.vars.calculates(p.Param.Value) {
				w.hide(w.source(p))
			}
		}
	}
}

// named looks at a text in a word that bash calculates with.
func (w *walker) named(text string, word *syntax.Word) {
	w.evaluated(text)
	if name, _, _ := strings.Cut(text, "["); name != "" && !digits(name) && w.vars.calculates(name) {
		w.hide(w.source(word))
	}
}

// looksUp looks at a word that names a variable, whose subscript is evaluated.
func (w *walker) looksUp(word *syntax.Word) {
	for _, list := range w.become(word) {
		for _, one := range list {
			w.evaluated(one.Text)
			if one.Unknown != "" {
				w.hide(one.Unknown)
			}
		}
	}
}

// byName looks at what builtins are given as the name of a variable.
func (w *walker) byName(words []Word) {
	for len(words) > 1 && (words[0].Text == "builtin" || words[0].Text == "command") {
		words = words[1:]
	}
	behind := "" // only the word after this option is a name
	switch words[0].Text {
	case "read", "mapfile", "readarray", "getopts", "unset", "declare", "typeset", "local", "export", "readonly", "let":
	case "test", "[", "printf":
		behind = "-v"
	case "wait":
		behind = "-p"
	default:
		return
	}
	for i, word := range words[1:] {
		if behind != "" && !(words[i].Text == behind || words[0].Text != "printf" && words[i].Text == "-R") {
			if rest, ok := strings.CutPrefix(word.Text, behind); ok && words[0].Text == "printf" {
				w.evaluated(rest)
			}
			continue
		}
		w.evaluated(word.Text)
		if word.Unknown != "" {
			w.hide(word.Unknown)
		}
	}
}

// feed notes parts of an input whose text cannot be known.
func (w *walker) feed(step *Step, pieces []piece, source string) {
	if slices.ContainsFunc(pieces, func(p piece) bool { return p.unknown != "" }) || len(pieces) != 1 {
		note(&step.Fed, source)
		return
	}
	step.Input = append(step.Input, pieces[0].fields...)
}

// harmlessAssign reports whether a variable in front of a command is set to a value that
// only has it print plainly.
func harmlessAssign(a *syntax.Assign) bool {
	if a.Append || a.Index != nil || a.Array != nil || a.Name == nil || a.Value == nil {
		return false
	}
	switch value := a.Value.Lit(); a.Name.Value {
	case "GIT_PAGER", "PAGER", "MANPAGER":
		return value == "cat"
	case "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT":
		return value == "0"
	case "NO_COLOR":
		return value == "1"
	case "LC_ALL", "LANG":
		return value == "C" || value == "C.UTF-8"
	}
	return false
}

// runsFile lists variables that name a file which a shell runs.
func runsFile(name string) bool {
	return name == "BASH_ENV" || name == "ENV" || strings.HasPrefix(name, "BASH_FUNC_")
}

// runsValue lists variables whose value is a command.
func runsValue(name string) bool {
	switch name {
	case "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE", "SSH_ASKPASS", "SUDO_ASKPASS", "RSYNC_RSH", "TAR_OPTIONS", "MAKEFLAGS",
		"GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND":
		return true
	}
	return strings.HasPrefix(name, "GIT_CONFIG_VALUE_") || name == "GIT_CONFIG_PARAMETERS"
}

// environment looks at a variable that decides what programs run.
func (w *walker) environment(a *syntax.Assign) {
	if a.Name == nil || a.Value == nil {
		return
	}
	name := a.Name.Value
	if !runsFile(name) && !runsValue(name) {
		return
	}
	whole := w.parts([]fields{{}}, quotedParts(a.Value), true)
	if whole == nil {
		w.hide(w.source(a))
	}
	for _, f := range whole {
		text, unknown := "", ""
		if f = f.end(); len(f.done) > 0 {
			text, unknown = f.done[0].Text, f.done[0].Unknown
		}
		switch {
		case unknown != "" || runsFile(name) && text != "" && text != "/dev/null":
			w.hide(w.source(a))
		case text != "":
			w.evaluates = append(w.evaluates, "$("+text+")")
		}
	}
}

// setting returns what NAME=value in front of a command means for what it runs.
func setting(word Word) (Inner, bool) {
	name, value, ok := strings.Cut(word.Text, "=")
	switch {
	case !ok || value == "" || !runsFile(name) && !runsValue(name):
		return Inner{}, false
	case runsFile(name) && value == "/dev/null":
		return Inner{}, false
	case runsFile(name) || word.Unknown != "":
		return Inner{Unknown: word.Text}, true
	}
	return Inner{Source: value, Guess: true}, true
}
