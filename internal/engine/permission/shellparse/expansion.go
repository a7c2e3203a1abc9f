package shellparse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param looks at what a parameter expansion does besides giving a value.
func (w *walker) param(p *syntax.ParamExp, ask *string) {
	if s := w.source(p); strings.Contains(s, "<(") || strings.Contains(s, ">(") { // which the parser takes for text
		note(ask, "an expansion has what may start a command")
		w.hide(s)
	}
	if p.Excl || p.Names != 0 {
		note(ask, "an expansion looks up a variable by name")
		if p.Param != nil && p.Names == 0 && w.vars.calculates(p.Param.Value) {
			w.hide(w.source(p))
		}
	}
	if p.NestedParam != nil || p.Flags != nil || p.Width || p.IsSet || len(p.Modifiers) > 0 {
		note(ask, "it uses an expansion that is not known")
	}
	if p.Index != nil {
		if word, ok := p.Index.(*syntax.Word); !ok || (word.Lit() != "@" && word.Lit() != "*") {
			w.arithmetic(p.Index, ask)
		}
	}
	if p.Slice != nil {
		w.arithmetic(p.Slice.Offset, ask)
		w.arithmetic(p.Slice.Length, ask)
	}
	if p.Repl != nil {
		w.word(p.Repl.Orig, ask)
		w.word(p.Repl.With, ask)
	}
	if p.Exp == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		note(ask, "an expansion sets a variable")
	case syntax.OtherParamOps:
		note(ask, "an expansion evaluates the value of a variable")
		if p.Exp.Word == nil || p.Exp.Word.Lit() == "P" {
			w.hide(w.source(p))
		}
	}
	w.word(p.Exp.Word, ask)
}

// arithmetic accepts numbers and operators alone: a name in arithmetic is
// evaluated again, and its value can hold a command substitution.
func (w *walker) arithmetic(x syntax.ArithmExpr, ask *string) {
	switch a := x.(type) {
	case nil:
	case *syntax.Word:
		if !digits(a.Lit()) {
			note(ask, "it calculates with variables")
		}
		w.calculates(a)
		w.word(a, ask)
	case *syntax.ParenArithm:
		w.arithmetic(a.X, ask)
	case *syntax.UnaryArithm:
		if a.Op == syntax.Inc || a.Op == syntax.Dec {
			note(ask, "a calculation sets a variable")
		}
		w.arithmetic(a.X, ask)
	case *syntax.BinaryArithm:
		w.arithmetic(a.X, ask)
		w.arithmetic(a.Y, ask)
	default:
		note(ask, "it uses a calculation that is not known")
	}
}

func (w *walker) redirect(r *syntax.Redirect, step *Step) {
	if r.N != nil && !digits(r.N.Value) {
		note(&step.Ask, "a redirection sets a variable")
	}
	target := w.word(r.Word, &step.Ask)
	out := Redirect{Effect: Writes, Target: target}
	if r.Op == syntax.RdrInOut { // both
		step.Redirects = append(step.Redirects, Redirect{Effect: Reads, Target: target})
	}
	switch r.Op {
	case syntax.RdrIn:
		out.Effect = Reads
		if target.Prints != "" {
			step.Input = append(step.Input, target.Prints)
		}
		if len(step.Words) == 1 && step.Words[0].Text == "exec" && (r.N == nil || r.N.Value == "0") { // what runs later reads from there
			w.hide(step.Source)
		}
		for _, list := range w.become(r.Word) {
			for _, word := range list {
				note(&step.Fed, word.Feeds)
			}
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
	case syntax.Hdoc, syntax.DashHdoc:
		out = Redirect{Effect: Descriptor}
		w.heredoc(r, &step.Ask)
		if r.Hdoc != nil {
			step.Input = append(step.Input, w.source(r.Hdoc))
			for _, part := range r.Hdoc.Parts {
				if _, ok := part.(*syntax.Lit); !ok {
					w.feed(step, w.pieces(part, true, false), w.source(part))
				}
			}
		}
	case syntax.WordHdoc:
		out = Redirect{Effect: Descriptor}
		step.Input = append(step.Input, target.Text)
		if text, ok := w.exactInput(r); ok {
			step.Input = append(step.Input, text)
		} else {
			note(&step.Fed, w.source(r.Word))
		}
	case syntax.DplIn, syntax.DplOut:
		fd := strings.TrimSuffix(target.Text, "-")
		if target.Literal && (target.Text == "-" || digits(fd)) {
			out = Redirect{Effect: Descriptor}
		} else if r.Op == syntax.DplIn {
			note(&step.Ask, "a redirection duplicates what is not a number")
		}
	default:
		note(&step.Ask, "it uses a redirection that is not known")
	}
	if out.Effect != Descriptor && (strings.HasPrefix(target.Text, "/dev/tcp") || strings.HasPrefix(target.Text, "/dev/udp")) {
		note(&step.Ask, "a redirection opens a network connection")
	}
	step.Redirects = append(step.Redirects, out)
}

// heredoc accepts text without expansions after a plain delimiter, outside of
// substitutions: the rest is where shells differ.
func (w *walker) heredoc(r *syntax.Redirect, ask *string) {
	if !plainDelimiter(w.source(r.Word)) || w.inner > 0 && !w.whole {
		note(ask, "where a here-document ends is not certain")
	}
	if r.Hdoc == nil {
		return
	}
	for _, part := range r.Hdoc.Parts {
		if _, ok := part.(*syntax.Lit); !ok {
			note(ask, "a here-document contains expansions")
			break
		}
	}
	w.word(r.Hdoc, ask)
}

func plainDelimiter(s string) bool {
	switch {
	case len(s) > 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0]:
		s = s[1 : len(s)-1]
	case len(s) > 1 && s[0] == '\\':
		s = s[1:]
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return s != ""
}
