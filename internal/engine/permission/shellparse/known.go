package shellparse

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is known: the lists of words that one command may become, the words of
// one list, the values of a variable, substitutions in each other, and braces that a word
// opens: to split them takes time that grows with their square. What is beyond is not
// known.
const (
	maxVariants = 16
	maxFields   = 1000
	maxValues   = 16
	maxDeep     = 20
	maxBraces   = 100
)

// piece is what one part of a word may become: one text, or several fields.
type piece struct {
	fields  []string
	split   bool   // it ends at spaces, as an unquoted expansion does
	many    bool   // each field is one word, as of "$@"
	glob    bool   // wildcards in it count
	tilde   bool   // it begins with a tilde that bash replaces
	soft    bool   // not literal, though nothing in it is hidden from the reader
	unknown string // the part as it was written, whose text cannot be known
	feeds   string // a process substitution in it whose text cannot be known
}

// fields is a list of words being built.
type fields struct {
	done []Word
	last Word
	open bool // last is a word, even when it is empty
}

func (f fields) add(text string, p piece) fields {
	if !f.open {
		f.open = true
		f.last = Word{Literal: true, Single: true, Operand: p.unknown == "" && !strings.HasPrefix(text, "-")}
	} else if f.last.Text == "" {
		f.last.Operand = p.unknown == "" && !strings.HasPrefix(text, "-")
	}
	f.last.Text += text
	f.last.Tilde = f.last.Tilde || p.tilde
	if p.unknown != "" || p.tilde || p.soft || p.glob && strings.ContainsAny(text, "*?[") {
		f.last.Literal = false
	}
	if f.last.Unknown == "" {
		f.last.Unknown = p.unknown
	}
	if f.last.Feeds == "" {
		f.last.Feeds = p.feeds
	}
	return f
}

func (f fields) end() fields {
	if f.open {
		f.done = append(slices.Clip(f.done), f.last)
		f.last, f.open = Word{}, false
	}
	return f
}

func (f fields) append(p piece) fields {
	switch {
	case p.many:
		for i, text := range p.fields {
			if i > 0 {
				f = f.end()
			}
			f = f.add(text, p)
		}
	case p.split && p.unknown == "":
		text := p.fields[0]
		parts := strings.Fields(text)
		if text != strings.TrimLeft(text, " \t\n") {
			f = f.end()
		}
		for i, part := range parts {
			if i > 0 {
				f = f.end()
			}
			f = f.add(part, p)
		}
		if len(parts) > 0 && text != strings.TrimRight(text, " \t\n") {
			f = f.end()
		}
	default:
		f = f.add(p.fields[0], p)
	}
	return f
}

// become returns the lists of words that bash may make of a word, as far as the source
// tells: braces, variables that the source sets, substitutions that print a known text.
func (w *walker) become(word *syntax.Word) [][]Word {
	if word == nil {
		return nil
	}
	whole := []fields{{}}
	copied := &syntax.Word{Parts: slices.Clone(word.Parts)}
	words := []*syntax.Word{copied}
	opened := bracesOf(copied)
	if opened > maxBraces {
		return [][]Word{{w.unknownWord(word)}}
	}
	if opened > 0 && syntax.SplitBraces(copied) {
		var ok bool
		if words, ok = braces(copied); !ok {
			return [][]Word{{w.unknownWord(word)}}
		}
	}
	for _, one := range words {
		if whole = w.parts(whole, one.Parts, false); whole == nil {
			return [][]Word{{w.unknownWord(word)}}
		}
		for i := range whole {
			whole[i] = whole[i].end()
		}
	}
	out := make([][]Word, len(whole))
	for i, f := range whole {
		out[i] = f.done
	}
	return out
}

func (w *walker) unknownWord(word *syntax.Word) Word {
	text := w.source(word)
	return Word{Text: text, Unknown: text}
}

// bracesOf counts the braces that a word opens outside of quotes.
func bracesOf(word *syntax.Word) (n int) {
	for _, p := range word.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	return n
}

// parts adds what the parts of a word may become to each of the lists. It returns nil when
// there are more than are compared.
func (w *walker) parts(whole []fields, parts []syntax.WordPart, quoted bool) []fields {
	for i, part := range parts {
		if in, ok := part.(*syntax.DblQuoted); ok && !quoted {
			if len(in.Parts) == 0 {
				whole = each(whole, []piece{{fields: []string{""}}})
			}
			whole = w.parts(whole, in.Parts, true)
		} else {
			whole = each(whole, w.pieces(part, quoted, i == 0))
		}
		if whole == nil {
			return nil
		}
	}
	return whole
}

func each(whole []fields, pieces []piece) []fields {
	if len(whole)*len(pieces) > maxVariants {
		return nil
	}
	var out []fields
	for _, f := range whole {
		for _, p := range pieces {
			with := f.append(p)
			if len(with.done) > maxFields {
				return nil
			}
			out = append(out, with)
		}
	}
	return out
}

// pieces returns what one part of a word may become.
func (w *walker) pieces(part syntax.WordPart, quoted, first bool) []piece {
	one := func(p piece, text string) []piece {
		p.fields = []string{text}
		return []piece{p}
	}
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			return one(piece{}, unescapeQuoted(p.Value))
		}
		r := wordReader{walker: w, ask: new(string), out: Word{Literal: true}, operand: true}
		if r.lit(p.Value, first); r.text.Len() == 0 {
			return []piece{{many: true}} // an empty side of a brace is no word
		}
		return one(piece{glob: true, tilde: r.out.Tilde, soft: strings.HasPrefix(p.Value, "~") && first}, r.text.String())
	case *syntax.SglQuoted:
		if p.Dollar {
			return one(piece{}, unescapeANSI(p.Value))
		}
		return one(piece{}, p.Value)
	case *syntax.ParamExp:
		return w.paramPieces(p, quoted)
	case *syntax.CmdSubst:
		if text, ok := w.exact(p.Stmts); ok && !p.TempFile && !p.ReplyVar {
			return one(piece{split: !quoted, glob: !quoted}, strings.TrimRight(text, "\n"))
		}
		if w.printsHashes(p) {
			return one(piece{soft: true}, w.source(p))
		}
		return one(piece{unknown: w.source(p)}, w.source(p))
	case *syntax.ProcSubst:
		feeds := ""
		if _, ok := w.exact(p.Stmts); !ok {
			feeds = w.source(p)
		}
		return one(piece{soft: true, feeds: feeds}, w.source(p))
	case *syntax.ExtGlob:
		return one(piece{soft: true, glob: true}, w.source(p))
	}
	return one(piece{unknown: w.source(part)}, w.source(part))
}

// unescapeQuoted reads a literal in double quotes with its escapes.
func unescapeQuoted(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// braces expands the braces of a word; false when that gives too many words.
func braces(word *syntax.Word) ([]*syntax.Word, bool) {
	out := []*syntax.Word{{}}
	for _, part := range word.Parts {
		brace, ok := part.(*syntax.BraceExp)
		if !ok {
			for _, o := range out {
				o.Parts = append(o.Parts, part)
			}
			continue
		}
		if brace.Sequence {
			return nil, false
		}
		var elems []*syntax.Word
		for _, elem := range brace.Elems {
			in, ok := braces(elem)
			if elems = append(elems, in...); !ok || len(elems)*len(out) > maxFields {
				return nil, false
			}
		}
		var next []*syntax.Word
		for _, o := range out {
			for _, e := range elems {
				next = append(next, &syntax.Word{Parts: append(slices.Clone(o.Parts), e.Parts...)})
			}
		}
		out = next
	}
	return out, true
}

// become notes what the words of a step become, where that is more than they say.
func (s *Step) become(lists [][][]Word) {
	changed, total := false, 1
	for i, alternatives := range lists {
		total = min(total*max(len(alternatives), 1), maxVariants+1)
		if len(alternatives) == 1 && len(alternatives[0]) == 1 && alternatives[0][0].Text == s.Words[i].Text {
			s.Words[i].Unknown, s.Words[i].Feeds = alternatives[0][0].Unknown, alternatives[0][0].Feeds
			continue
		}
		changed = true
	}
	if !changed {
		return
	}
	if total > maxVariants {
		note(&s.Unknown, s.Text())
		return
	}
	s.Becomes = [][]Word{nil}
	for _, alternatives := range lists {
		var next [][]Word
		for _, have := range s.Becomes {
			for _, more := range alternatives {
				if len(have)+len(more) > maxFields {
					note(&s.Unknown, s.Text())
					s.Becomes = nil
					return
				}
				next = append(next, append(slices.Clone(have), more...))
			}
		}
		s.Becomes = next
	}
}
