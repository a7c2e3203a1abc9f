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
		quotes, err := misread(src, file)
		if err != nil || len(quotes) == 0 {
			return file, err
		}
		b := []byte(src)
		for _, at := range quotes {
			if at >= uint(len(b)) || b[at] != '\'' {
				return nil, errUncertain
			}
			b[at] = '0'
		}
		src = string(b)
	}
	return nil, errUncertain
}

// errUncertain says that bash may take something for quotes, or for none, where the parser
// does not.
var errUncertain = errors.New("bash may read its quotes otherwise than they look; write it without quotes in ${…}")

// quoting is what single quotes mean at a place.
type quoting int

const (
	theyQuote  quoting = iota
	theyMay            // in a pattern or a message of ${…} in double quotes: they do, and $'…' is uncertain
	inQuotes           // inside of double quotes or a here-document: not in the word of ${x:-word}
	theyAreNot         // in such a word, and in arithmetic: text
)

// misread returns where the single quotes stand that quote nothing for bash. The error is
// errUncertain: bash puts what $'…' means into ${…} in double quotes before it reads that, and
// looks for the end of $${…} as if it were an expansion, which it is not.
func misread(src string, file *syntax.File) (at []uint, err error) {
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
			switch {
			case now == theyQuote || inert(n.Value):
			case n.Dollar:
				err = errUncertain
			case now == theyAreNot:
				at = append(at, n.Left.Offset(), n.Right.Offset())
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
			if end := int(n.End().Offset()); n.Short && n.Param != nil && n.Param.Value == "$" && end < len(src) && (src[end] == '{' || src[end] == '(') {
				err = errUncertain
			}
			now = inParam(n, now, arithmetic)
		}
		if arithmetic[n] {
			now = theyAreNot
		}
		around = append(around, now)
		return true
	})
	return at, err
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
	switch {
	case now == theyQuote || now == theyMay:
		return now
	case p.Exp == nil:
		return theyMay
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
		syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return theyAreNot
	}
	return theyMay
}
