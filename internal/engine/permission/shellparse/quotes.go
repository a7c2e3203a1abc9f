package shellparse

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxMisread bounds how often a source is read again because of its single quotes: once for
// each that stands in the text of another.
const maxMisread = 32

// parsed reads a source as bash does. Inside of double quotes, of here-documents and of
// arithmetic a single quote in "${x:-'…'}" quotes nothing, and in arithmetic none does at all
// (POSIX 2.2.3 and 2.6.2; bash 5.2, tried): what is between them is expanded. The parser takes
// it for text. So such quotes are read as digits, which mean nothing, at the same place.
func parsed(src string) (*syntax.File, error) {
	for range maxMisread {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
		if err != nil {
			return nil, err
		}
		quotes := misread(file)
		if len(quotes) == 0 {
			return file, nil
		}
		b := []byte(src)
		for _, at := range quotes {
			if at >= uint(len(b)) || b[at] != '\'' && b[at] != '$' {
				return nil, errors.New("where a single quote ends is not certain")
			}
			b[at] = '0'
		}
		src = string(b)
	}
	return nil, errors.New("single quotes stand in each other too often")
}

// quoting is what single quotes mean at a place.
type quoting int

const (
	theyQuote  quoting = iota
	inQuotes           // inside of double quotes or a here-document: not in the word of ${x:-word}
	theyAreNot         // in such a word, and in arithmetic: text
)

// misread returns where the single quotes stand that quote nothing for bash.
func misread(file *syntax.File) (at []uint) {
	around := []quoting{theyQuote}
	documents := map[*syntax.Word]bool{} // bodies of here-documents
	arithmetic := map[syntax.Node]bool{} // indexes and slices
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		now := around[len(around)-1]
		switch n := n.(type) {
		case *syntax.SglQuoted:
			if now == theyAreNot && !inert(n.Value) {
				at = append(at, n.Left.Offset(), n.Right.Offset())
				if n.Dollar {
					at = append(at, n.Left.Offset()+1)
				}
			}
		case *syntax.CmdSubst, *syntax.ProcSubst:
			now = theyQuote
		case *syntax.DblQuoted:
			now = max(now, inQuotes)
		case *syntax.Word:
			if documents[n] {
				now = inQuotes
			}
		case *syntax.Redirect:
			if n.Hdoc != nil {
				documents[n.Hdoc] = true
			}
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.CStyleLoop:
			now = theyAreNot
		case *syntax.Assign:
			if n.Index != nil {
				arithmetic[n.Index] = true
			}
		case *syntax.ArrayElem:
			if n.Index != nil {
				arithmetic[n.Index] = true
			}
		case *syntax.ParamExp:
			now = inParam(n, now, arithmetic)
		}
		if arithmetic[n] {
			now = theyAreNot
		}
		around = append(around, now)
		return true
	})
	return at
}

// inert reports whether a text is the same with quotes around it and without, but for these.
func inert(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r < 0x80 && !strings.ContainsRune(" _.,:/@+=%-", r)
	})
}

// inParam returns what single quotes mean in the word of a parameter expansion, and notes
// what of it is arithmetic.
func inParam(p *syntax.ParamExp, now quoting, arithmetic map[syntax.Node]bool) quoting {
	if p.Index != nil {
		arithmetic[p.Index] = true
	}
	if p.Slice != nil {
		for _, x := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if x != nil {
				arithmetic[x] = true
			}
		}
	}
	if now == theyQuote || p.Exp == nil {
		return theyQuote
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
		syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return theyAreNot
	}
	return theyQuote // of patterns and of messages
}
