package shellparse

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is a text that a source gives to a variable.
type value struct {
	text string
	glob bool // a wildcard that a loop goes through
}

// variables is what a source tells of the values of variables, wherever in it they are
// used: all that are given anywhere count. What is not set by the source comes from the
// environment of the user and is not known.
type variables struct {
	values map[string][]value
	first  map[string]uint // where the source sets it first
	open   map[string]bool // it may be given what the source does not tell
	counts map[string]bool // it may be given a number that the source does not tell
	wild   bool            // any may be
	// integer variables are those whose values bash calculates: its own, and declared ones
	integer map[string]bool
	params  []string // $0 and what follows
	fixed   bool     // params are what they are
}

// survey reads what the source does to variables.
func (w *walker) survey(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				w.sets(a)
			}
			w.setsByName(n)
		case *syntax.DeclClause:
			for _, a := range n.Args {
				if a.Name != nil && declares(n, 'i') {
					w.vars.integer[a.Name.Value] = true
				}
				switch {
				case a.Name != nil && !a.Naked:
					w.sets(a)
				case a.Name == nil && a.Value != nil && strings.Trim(a.Value.Lit(), "xrgp") != "-":
					w.vars.wild = true
				}
			}
		case *syntax.ForClause:
			w.setsInLoop(n)
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				w.vars.open[n.Param.Value] = true
			}
		case *syntax.BinaryArithm:
			if word, ok := n.X.(*syntax.Word); ok && strings.HasSuffix(n.Op.String(), "=") {
				w.vars.counts[word.Lit()] = true
			}
		case *syntax.UnaryArithm:
			if word, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.Inc || n.Op == syntax.Dec) {
				w.vars.counts[word.Lit()] = true
			}
		case *syntax.FuncDecl:
			w.vars.fixed = false
		}
		return true
	})
}

// sets notes an assignment.
func (w *walker) sets(a *syntax.Assign) {
	name := a.Name.Value
	if _, ok := w.vars.first[name]; !ok {
		w.vars.first[name] = a.Pos().Offset()
	}
	switch {
	case a.Array != nil || a.Index != nil || a.Append:
		w.vars.open[name] = true
	case a.Value == nil:
		w.gives(name, value{})
	case calculated(a.Value):
		w.vars.counts[name] = true
	default:
		whole := w.parts([]fields{{}}, quotedParts(a.Value), true)
		if whole == nil {
			w.vars.open[name] = true
		}
		for _, f := range whole {
			f = f.end()
			switch {
			case len(f.done) > 1 || len(f.done) == 1 && f.done[0].Unknown != "":
				w.vars.open[name] = true
			case len(f.done) == 0:
				w.gives(name, value{})
			default:
				w.gives(name, value{text: f.done[0].Text})
			}
		}
	}
}

// calculated reports whether a word is the result of a calculation.
func calculated(word *syntax.Word) bool {
	parts := word.Parts
	if len(parts) == 1 {
		if in, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = in.Parts
		}
	}
	if len(parts) != 1 {
		return false
	}
	_, ok := parts[0].(*syntax.ArithmExp)
	return ok
}

// quotedParts returns the parts of a word that bash does not split.
func quotedParts(word *syntax.Word) []syntax.WordPart {
	var out []syntax.WordPart
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.DblQuoted:
			out = append(out, p.Parts...)
		case *syntax.Lit: // its escapes are those of unquoted text
			out = append(out, &syntax.SglQuoted{Value: unescapeUnquoted(p.Value)})
		default:
			out = append(out, part)
		}
	}
	return out
}

func unescapeUnquoted(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			if i++; i == len(s) || s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (w *walker) gives(name string, v value) {
	if slices.Contains(w.vars.values[name], v) {
		return
	}
	if len(w.vars.values[name]) >= maxValues {
		w.vars.open[name] = true
		return
	}
	w.vars.values[name] = append(w.vars.values[name], v)
}

func (w *walker) setsInLoop(c *syntax.ForClause) {
	l, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		return
	}
	name := l.Name.Value
	if _, ok := w.vars.first[name]; !ok {
		w.vars.first[name] = l.Pos().Offset()
	}
	if c.Select || len(l.Items) == 0 {
		w.vars.open[name] = true
		return
	}
	for _, item := range l.Items {
		for _, list := range w.become(item) {
			for _, word := range list {
				if word.Unknown != "" || word.Tilde {
					w.vars.open[name] = true
					continue
				}
				w.gives(name, value{word.Text, !word.Literal})
			}
		}
	}
}

// setsByName notes what builtins do to variables that they are given by name.
func (w *walker) setsByName(c *syntax.CallExpr) {
	args := c.Args
	for len(args) > 1 && (args[0].Lit() == "builtin" || args[0].Lit() == "command") {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	switch args[0].Lit() {
	case "set", "shift":
		w.vars.fixed = false
	case "eval", "source", ".", "declare", "typeset", "local", "export", "readonly", "let":
		w.vars.wild = true
	case "printf":
		if len(args) < 3 || !strings.HasPrefix(args[1].Lit(), "-") {
			return
		}
		fallthrough
	case "read", "mapfile", "readarray", "getopts", "wait", "unset":
		for _, arg := range args[1:] {
			name := arg.Lit()
			if name == "" {
				w.vars.wild = true
			}
			name, _, _ = strings.Cut(name, "[")
			w.vars.open[name] = true
		}
		w.vars.open["REPLY"], w.vars.open["MAPFILE"] = true, true
	}
}

// known returns all values that a variable may have at a place of the source; false when
// that cannot be told.
func (v *variables) known(name string, at uint) ([]value, bool) {
	first, set := v.first[name]
	if v.wild || v.open[name] || v.counts[name] || !set || at < first || len(v.values[name]) == 0 {
		return nil, false
	}
	return v.values[name], true
}

// calculates reports whether bash may find more than a number when it calculates with a
// variable: what it finds is evaluated, and can hold a substitution. One that the source
// does not set is the user's.
func (v *variables) calculates(name string) bool {
	if v.wild || v.open[name] {
		return true
	}
	return slices.ContainsFunc(v.values[name], func(one value) bool { return one.text != "" && !digits(one.text) })
}

// paramPieces returns what an expansion of a variable may become.
func (w *walker) paramPieces(p *syntax.ParamExp, quoted bool) []piece {
	shown := w.source(p)
	plain := p.Param != nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil && p.Flags == nil && p.Index == nil &&
		len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
	if plain {
		shown = "$" + p.Param.Value
	}
	soft := []piece{{fields: []string{shown}, soft: true}}
	unknown := []piece{{fields: []string{shown}, unknown: w.source(p)}}
	switch {
	case p.Length && p.Param != nil:
		return soft
	case !plain:
		return unknown
	}
	name := p.Param.Value
	switch name {
	case "?", "$", "#", "!":
		return soft
	case "HOME", "PWD":
		if _, set := w.vars.first[name]; !set {
			return soft
		}
	case "@", "*":
		if !w.vars.fixed {
			return unknown
		}
		rest := w.vars.params[min(1, len(w.vars.params)):]
		if quoted && name == "@" {
			return []piece{{fields: rest, many: true}}
		}
		return []piece{{fields: []string{strings.Join(rest, " ")}, split: !quoted, glob: !quoted}}
	}
	if i, err := strconv.Atoi(name); err == nil {
		switch {
		case !w.vars.fixed:
			return unknown
		case i < 0 || i >= len(w.vars.params):
			return []piece{{fields: []string{""}, split: !quoted}}
		}
		return []piece{{fields: w.vars.params[i : i+1], split: !quoted, glob: !quoted}}
	}
	values, ok := w.vars.known(name, p.Pos().Offset())
	if !ok {
		return unknown
	}
	var out []piece
	for _, v := range values {
		out = append(out, piece{fields: []string{v.text}, split: !quoted && !v.glob, glob: !quoted || v.glob})
	}
	return out
}
