package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shown writes tokens in short, one for each.
func shown(tokens []Token) string {
	var all []string
	for _, t := range tokens {
		s := map[Kind]string{Paragraph: "p", Heading: "h", Rule: "hr", HTML: "html", Code: "code", CodeLine: "|", CodeEnd: "/code", Table: "table", Row: "row", TableEnd: "/table", Quote: ">", Item: "item", End: "/", Blank: "_"}[t.Kind]
		switch t.Kind {
		case Item:
			s += fmt.Sprintf("%c%d", t.List.Mark, t.List.Number)
			if t.List.First {
				s += "!"
			}
		case Heading:
			s += fmt.Sprint(t.Level)
		case Row:
			s += fmt.Sprintf("%q", t.Cells)
		}
		if t.Text != "" {
			s += fmt.Sprintf("%q", t.Text)
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

func TestTokensOfBlocks(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\n\nc":                       `p"a\nb" _ p"c"`,
		"1. a\n2. b\n\n3) c":              `item.1! p"a" / item.2 p"b" _ / item)3! p"c" /`,
		"- a\n\ntext\n- b":                `item-0! p"a" _ / p"text" item-0! p"b" /`,
		"- a\n\t- b\n\n\t\tc":             `item-0! p"a" item-0! p"b" _ p"c" / /`,
		"> a\n> ```go\n> \tx\n> ```":      `> p"a" code"go" |"\tx" /code /`,
		"| a | b |\n|---|---|\n| 1 |":     `table row["a" "b"] row["1" ""] /table`,
		"Title\n=====\n# Other #\n***":    `h1"Title" h1"Other" hr`,
		"<div>\n*a*\n\nb":                 `html"<div>\n*a*" _ p"b"`,
		"    one\n\n\ttwo\nthree":         `code |"one" | |"two" /code p"three"`,
		"- ":                              `item-0! /`,
		strings.Repeat("> ", 20) + "deep": strings.Repeat("> ", maxDepth) + `p"` + strings.Repeat("> ", 20-maxDepth) + `deep"` + strings.Repeat(" /", maxDepth),
	} {
		if got := shown(Tokens(in)); got != want {
			t.Errorf("%q:\n%s, want\n%s", in, got, want)
		}
	}
}

func TestForkChangesNothing(t *testing.T) {
	const before, after = "- a\n  - b", "\n| x | y |\n|---|---|\n| 1 | 2 |"
	var p Parser
	p.Feed(before, false)
	f := p.Fork()
	f.Feed("# other\n```\ntext", false)
	f.End()
	p.Feed(after, false)
	p.End()
	if got, want := shown(p.Take()), shown(Tokens(before+"\n"+after)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSpansOfLinksAndImages(t *testing.T) {
	spans := Spans("[![a](https://x.example/p.png)](https://y.example) and [b *c*](/d)")
	i := slices.IndexFunc(spans, func(s Span) bool { return s.Role == ImageOpen })
	if i < 0 || spans[i].URL != "https://x.example/p.png" || spans[i].Outer != "https://y.example" {
		t.Errorf("%+v", spans)
	}
	i = slices.IndexFunc(spans, func(s Span) bool { return s.Text == "c" })
	if i < 0 || spans[i].Style != Linked|Emphasis || spans[i].URL != "/d" {
		t.Errorf("%+v", spans)
	}
}

func FuzzTokensAreBalanced(f *testing.F) {
	f.Add("- a\n  1. b\n> c\n| a |\n|---|\n| **b** |\n```x\n# y")
	f.Fuzz(func(t *testing.T, text string) {
		open := 0
		for _, token := range Tokens(text) {
			switch token.Kind {
			case Quote, Item, Code, Table:
				open++
			case End, CodeEnd, TableEnd:
				open--
			}
			if open < 0 {
				t.Fatal("more is closed than was open")
			}
			Spans(token.Text)
		}
		if open != 0 {
			t.Fatalf("%d are open at the end", open)
		}
	})
}
