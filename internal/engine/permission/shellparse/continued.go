package shellparse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// continues reports whether the lines of a source that end with a backslash go on for bash and
// for this parser alike. Bash takes a backslash and the line end away before it looks for words,
// so that they may stand in the middle of $( or of the end of a here-document, and does not so in
// a comment. They are certain where they are text, in single quotes and in a here-document with a
// quoted end, and after a blank, in front of which no comment has begun; not in another
// here-document, or after it. Up to the first that is not certain the two agree, so that what the
// parser has found tells which are text.
func continues(src string, file *syntax.File) bool {
	const end = "\\\n"
	if !strings.Contains(src, end) {
		return true
	}
	var texts [][2]int // where nothing is taken away
	open := len(src)   // where the first here-document begins that is expanded
	span := func(n syntax.Node) [2]int { return [2]int{int(n.Pos().Offset()), int(n.End().Offset())} }
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			if !n.Dollar {
				texts = append(texts, span(n))
			}
		case *syntax.Redirect:
			switch from, to := int(n.Word.Pos().Offset()), int(n.Word.End().Offset()); {
			case n.Op != syntax.Hdoc && n.Op != syntax.DashHdoc:
			case strings.Contains(src[from:to], end): // in its end itself
				open = min(open, from)
			case !strings.ContainsAny(src[from:to], "'\"\\"):
				open = min(open, to)
			case n.Hdoc != nil:
				texts = append(texts, span(n.Hdoc))
			}
		}
		return true
	})
	isText := func(at int) bool {
		for _, t := range texts {
			if at >= t[0] && at < t[1] {
				return true
			}
		}
		return false
	}
	for at := 0; ; at += len(end) {
		i := strings.Index(src[at:], end)
		if i < 0 {
			return true
		}
		if at += i; at > open {
			return false
		}
		if isText(at) {
			continue
		}
		line := src[strings.LastIndexByte(src[:at], '\n')+1 : at]
		if line == "" || line[len(line)-1] != ' ' && line[len(line)-1] != '\t' || strings.Contains(line, "#") {
			return false
		}
	}
}
