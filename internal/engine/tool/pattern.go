package tool

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
)

// pattern is what Grep looks for: the same set of lines for both engines.
type pattern struct {
	re   *regexp.Regexp
	rg   string // for ripgrep; empty when ripgrep would read it wrongly
	must []byte // is in every match; empty when that is not known
}

// match reports whether there is a match in b. Most of what is searched has none,
// and to look for a fixed text first is ten times as fast.
func (p *pattern) match(b []byte) bool {
	return bytes.Contains(b, p.must) && p.re.Match(b)
}

// fixed returns the longest text that every match of an expression contains.
func fixed(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return fixed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return fixed(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if s := fixed(sub); len(s) > len(longest) {
				longest = s
			}
		}
		return longest
	}
	return ""
}

func hexRune(r rune) string { return strconv.FormatInt(int64(r), 16) }

// compilePattern reads an RE2 expression and writes it again, once for Go and
// once for ripgrep, so that nothing is left that they read differently: letters
// that differ in case become classes, \d and \w ASCII ranges, and no class holds
// a line ending, a NUL or U+FFFD (as which Go sees invalid bytes). At the ends of
// a line CR and a byte order mark are passed over.
func compilePattern(src string, fold bool) (pattern, error) {
	flags := syntax.Perl &^ syntax.OneLine
	if fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(src, flags)
	if err != nil {
		var serr *syntax.Error
		if errors.As(err, &serr) {
			return pattern{}, fmt.Errorf("the pattern is not valid RE2: %s: %q. Escape special characters with a backslash", serr.Code, serr.Expr)
		}
		return pattern{}, fmt.Errorf("the pattern is not valid RE2: %w", err)
	}
	var forGo, forRg printer
	forRg.rust = true
	forGo.expr(tree)
	forRg.expr(tree)
	if forGo.err != nil {
		return pattern{}, forGo.err
	}
	re, err := regexp.Compile(forGo.String())
	if err != nil {
		return pattern{}, fmt.Errorf("the pattern is too large: %w", err)
	}
	p := pattern{re: re, rg: forRg.String(), must: []byte(fixed(tree))}
	if _, _, wrong := boundaryBeforeLine(tree); wrong {
		p.rg = ""
	}
	return p, nil
}

// boundaryBeforeLine reports whether an expression has a word boundary, the begin of a
// line, and the second after the first, as in \B^. ripgrep 13 finds too few lines
// by such an expression: the mark that may stand at the begin of a line makes it
// forget that the boundary was met before it.
func boundaryBeforeLine(re *syntax.Regexp) (boundary, line, wrong bool) {
	switch re.Op {
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true, false, false
	case syntax.OpBeginLine:
		return false, true, false
	}
	for _, sub := range re.Sub {
		b, l, w := boundaryBeforeLine(sub)
		wrong = wrong || w || re.Op == syntax.OpConcat && boundary && l
		boundary, line = boundary || b, line || l
	}
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat: // what follows itself
		wrong = wrong || boundary && line
	}
	return boundary, line, wrong
}

// printer writes an expression in the words that mean the same everywhere.
type printer struct {
	strings.Builder
	rust bool
	err  error
}

func (p *printer) expr(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		p.class(nil)
	case syntax.OpEmptyMatch:
		p.WriteString(`(?:)`)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			p.literal(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		p.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		p.class([]rune{0, unicode.MaxRune})
	case syntax.OpBeginLine:
		p.WriteString(`(?:(?m:^)\x{feff}?)`)
	case syntax.OpEndLine:
		p.WriteString(`(?:\r?(?m:$))`)
	case syntax.OpBeginText, syntax.OpEndText:
		p.fail(`\A and \z are not supported: matching is line by line, ^ and $ are the ends of a line`)
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		word := `\b`
		if re.Op == syntax.OpNoWordBoundary {
			word = `\B`
		}
		if p.rust {
			word = `(?-u:` + word + `)`
		}
		p.WriteString(word)
	case syntax.OpCapture:
		p.group(re.Sub[0], "")
	case syntax.OpStar:
		p.group(re.Sub[0], lazy("*", re))
	case syntax.OpPlus:
		p.group(re.Sub[0], lazy("+", re))
	case syntax.OpQuest:
		p.group(re.Sub[0], lazy("?", re))
	case syntax.OpRepeat:
		times := fmt.Sprintf("{%d,%d}", re.Min, re.Max)
		if re.Max < 0 {
			times = fmt.Sprintf("{%d,}", re.Min)
		}
		p.group(re.Sub[0], lazy(times, re))
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			p.expr(sub)
		}
	case syntax.OpAlternate:
		p.WriteString(`(?:`)
		for i, sub := range re.Sub {
			if i > 0 {
				p.WriteByte('|')
			}
			p.expr(sub)
		}
		p.WriteByte(')')
	default:
		p.fail("the pattern uses an operator that is not supported")
	}
}

func lazy(times string, re *syntax.Regexp) string {
	if re.Flags&syntax.NonGreedy != 0 {
		return times + "?"
	}
	return times
}

func (p *printer) fail(text string) {
	if p.err == nil {
		p.err = errors.New(text)
	}
}

func (p *printer) group(re *syntax.Regexp, times string) {
	p.WriteString(`(?:`)
	p.expr(re)
	p.WriteString(`)` + times)
}

func (p *printer) literal(r rune, fold bool) {
	if r == '\n' {
		p.fail(`\n is not supported: matching is line by line`)
	}
	if fold && unicode.SimpleFold(r) != r {
		set := []rune{r, r}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			set = append(set, f, f)
		}
		p.class(set)
		return
	}
	switch {
	case r == 0 || r == unicode.ReplacementChar || 0xd800 <= r && r <= 0xdfff:
		p.class(nil)
	case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == ' '):
		p.WriteRune(r)
	default:
		p.WriteString(`\x{` + hexRune(r) + `}`)
	}
}

// class writes the ranges without what no line may match.
func (p *printer) class(ranges []rune) {
	var b strings.Builder
	for i := 0; i+1 < len(ranges); i += 2 {
		from, to := ranges[i], ranges[i+1]
		for _, hole := range [...][2]rune{{0, 0}, {'\n', '\n'}, {0xd800, 0xdfff}, {unicode.ReplacementChar, unicode.ReplacementChar}} {
			if hole[1] < from || hole[0] > to {
				continue
			}
			if from < hole[0] {
				b.WriteString(`\x{` + hexRune(from) + `}-\x{` + hexRune(hole[0]-1) + `}`)
			}
			from = hole[1] + 1
		}
		if from <= to {
			b.WriteString(`\x{` + hexRune(from) + `}-\x{` + hexRune(to) + `}`)
		}
	}
	switch {
	case b.Len() > 0:
		p.WriteString(`[` + b.String() + `]`)
	case p.rust:
		p.WriteString(`[a&&b]`)
	default:
		p.WriteString(`[^\x{0}-\x{10ffff}]`)
	}
}
