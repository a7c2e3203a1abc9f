package shellparse

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word reads one word. Substitutions in it become steps of their own; what it
// does besides giving text is put into *ask.
func (w *walker) word(word *syntax.Word, ask *string) Word {
	if word == nil {
		return Word{}
	}
	r := wordReader{walker: w, ask: ask, out: Word{Literal: true}, operand: true}
	for i, part := range word.Parts {
		r.alone = len(word.Parts) == 1
		r.part(part, i == 0)
	}
	r.out.Text = r.text.String()
	if r.bracket && strings.Contains(r.out.Text, "]") {
		r.out.Literal, r.glob = false, true
	}
	if r.brace && (strings.Contains(r.out.Text, ",") || strings.Contains(r.out.Text, "..")) {
		r.out.Literal = false
	}
	r.out.Operand = r.operand && r.prefix != "" && r.prefix[0] != '-' && r.prefix[0] != '{'
	if len(word.Parts) == 1 {
		if p, ok := word.Parts[0].(*syntax.CmdSubst); ok && w.printsHashes(p) {
			r.out.Operand = true
		}
	}
	r.out.Single = r.out.Literal || (r.operand && !r.glob && !r.brace)
	if r.out.Literal {
		r.out.Operand = !strings.HasPrefix(r.out.Text, "-")
	}
	return r.out
}

type wordReader struct {
	*walker
	ask     *string
	out     Word
	text    strings.Builder
	prefix  string // the certain text in front, as far as it is needed
	fuzzy   bool   // something uncertain came already
	alone   bool   // the part is the whole word
	glob    bool   // an unquoted wildcard came
	operand bool   // nothing that splits into several words came
	brace   bool   // an unquoted brace came
	bracket bool   // an unquoted opening bracket came
}

func (r *wordReader) add(s string) {
	if !r.fuzzy && r.prefix == "" && s != "" {
		r.prefix = s
	}
	r.text.WriteString(s)
}

// uncertain adds text that bash replaces by something else.
func (r *wordReader) uncertain(s string) {
	r.fuzzy = true
	r.out.Literal = false
	r.text.WriteString(s)
}

func (r *wordReader) part(part syntax.WordPart, first bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		r.lit(p.Value, first)
	case *syntax.SglQuoted:
		if p.Dollar {
			r.uncertain(unescapeANSI(p.Value))
			r.operand = false
			return
		}
		r.add(p.Value)
	case *syntax.DblQuoted:
		if p.Dollar { // translated, so it may become anything
			r.out.Literal, r.operand = false, false
		}
		for _, in := range p.Parts {
			r.quoted(in)
		}
	default:
		r.expansion(part)
		r.operand = false // unquoted: it may split
	}
}

// quoted reads a part inside double quotes, which stays one word.
func (r *wordReader) quoted(part syntax.WordPart) {
	lit, ok := part.(*syntax.Lit)
	if !ok {
		if p, ok := part.(*syntax.ParamExp); ok && many(p) {
			r.operand = false
		}
		if p, ok := part.(*syntax.CmdSubst); ok {
			if text, ok := r.document(p); ok {
				r.whole = true
				r.nested(p.Stmts)
				r.whole = false
				r.add(text)
				return
			}
		}
		r.expansion(part)
		return
	}
	var b strings.Builder
	for i := 0; i < len(lit.Value); i++ {
		c := lit.Value[i]
		if c == '\\' && i+1 < len(lit.Value) {
			switch next := lit.Value[i+1]; next {
			case '$', '`', '"', '\\':
				b.WriteByte(next)
				i++
				continue
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(c)
	}
	r.add(b.String())
}

// lit reads an unquoted literal with its escapes.
func (r *wordReader) lit(s string, first bool) {
	if strings.Contains(s, "<(") || strings.Contains(s, ">(") {
		note(r.ask, "a word has what may start a command")
		r.hide(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\\':
			i++
			if i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case '*', '?', '[':
			if c == '[' {
				r.bracket = true
			} else {
				r.out.Literal, r.glob = false, true
			}
			if b.Len() == 0 {
				r.fuzzy = true
			}
		case '{':
			r.brace = true
			if b.Len() == 0 {
				r.fuzzy = true
			}
		case '~':
			switch {
			case first && i == 0:
				// A quoted character before the first slash stops the expansion.
				r.out.Literal, r.out.Tilde = false, r.alone || strings.Contains(s, "/")
			case i > 0 && (s[i-1] == '=' || s[i-1] == ':'):
				r.out.Literal = false
			}
		}
		b.WriteByte(c)
	}
	r.add(b.String())
}

// many reports whether an expansion in double quotes can give several words or
// none, as "$@" does.
func many(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Names != 0 || p.Index != nil {
		return true
	}
	return p.Param.Value == "@"
}

// prints walks the statements of a substitution and notes what they print.
func (r *wordReader) prints(list []*syntax.Stmt) {
	from := len(r.steps)
	r.nested(list)
	if text := printed(r.steps[from:]); text != "" {
		r.out.Prints = text
	}
}

func (r *wordReader) expansion(part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.ParamExp:
		if p.Short || (p.Param != nil && r.source(p) == "${"+p.Param.Value+"}") {
			name := ""
			if p.Param != nil {
				name = p.Param.Value
			}
			r.uncertain("$" + name)
		} else {
			r.uncertain(r.source(p))
		}
		r.param(p, r.ask)
	case *syntax.CmdSubst:
		r.uncertain(r.source(p))
		if p.TempFile || p.ReplyVar {
			note(r.ask, "a substitution runs commands in the shell itself")
		}
		r.prints(p.Stmts)
	case *syntax.ProcSubst:
		r.uncertain(r.source(p))
		r.prints(p.Stmts)
	case *syntax.ArithmExp:
		r.uncertain(r.source(p))
		r.arithmetic(p.X, r.ask)
	case *syntax.ExtGlob:
		r.uncertain(r.source(p))
		note(r.ask, "an extended glob is read differently with and without extglob")
	default:
		r.uncertain(r.source(part))
		note(r.ask, "a word has a part that is not known")
	}
}

// unescapeANSI decodes the escapes of $'…' as far as a rule may need it.
func unescapeANSI(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'a':
			b.WriteByte(7)
		case 'b':
			b.WriteByte(8)
		case 'e', 'E':
			b.WriteByte(27)
		case 'f':
			b.WriteByte(12)
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte(11)
		case 'x':
			i += number(&b, s[i+1:], 16, 2)
		case 'u':
			i += number(&b, s[i+1:], 16, 4)
		case 'U':
			i += number(&b, s[i+1:], 16, 8)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i += number(&b, s[i:], 8, 3) - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// number writes the character whose number stands in front of s in at most most
// digits and says how many there were.
func number(b *strings.Builder, s string, base, most int) int {
	n := 0
	for n < len(s) && n < most {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	if n == 0 {
		return 0
	}
	v, err := strconv.ParseUint(s[:n], base, 32)
	switch {
	case err != nil:
	case most <= 3 && v < 256:
		b.WriteByte(byte(v))
	default:
		b.WriteRune(rune(v))
	}
	return n
}
