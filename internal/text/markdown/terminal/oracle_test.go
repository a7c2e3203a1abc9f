package terminal

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// said is what goldmark finds in a text as we would show it, without blanks and marks of
// bullets and quotes.
func said(src []byte) string {
	var b strings.Builder
	doc := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Parser().Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if in {
				b.Write(n.Segment.Value(src))
			}
		case *ast.String:
			if in {
				b.Write(n.Value)
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if in {
				for i := range n.Lines().Len() {
					s := n.Lines().At(i)
					b.Write(s.Value(src))
				}
			}
		case *ast.ListItem:
			if list := n.Parent().(*ast.List); in && list.IsOrdered() {
				at := 0
				for i := n.PreviousSibling(); i != nil; i = i.PreviousSibling() {
					at++
				}
				fmt.Fprintf(&b, "%d%c", list.Start+at, list.Marker)
			}
		case *ast.Link:
			if !in {
				fmt.Fprintf(&b, "(%s)", n.Destination)
			}
		case *ast.ThematicBreak:
			if in {
				b.WriteString("────────────────────────────────────────")
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \n\t", r) {
			return -1
		}
		return r
	}, b.String())
}

// differ are examples of the specification that are shown otherwise on purpose: links by
// reference, HTML, entities, and what is escaped (which goldmark keeps as it is written).
func differ(example string) bool {
	for _, s := range []string{"]:", "<", "&", "\\"} {
		if strings.Contains(example, s) {
			return true
		}
	}
	return false
}

func TestBlocksAndEmphasisAreThoseOfCommonMark(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Markdown, Section string
		Example           int
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	th, tried := testTheme(), 0
	for _, c := range cases {
		if differ(c.Markdown) || strings.HasPrefix(c.Section, "Link") || c.Section == "Images" {
			continue
		}
		tried++
		want := said([]byte(c.Markdown))
		got := strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \n\t•▎", r) {
				return -1
			}
			return r
		}, stripped(Lines(th, 200, c.Markdown)))
		if got != want {
			t.Errorf("%s, example %d: %q\n is %q\nwant %q", c.Section, c.Example, c.Markdown, got, want)
		}
	}
	if tried < 350 {
		t.Errorf("%d examples were tried", tried)
	}
}

func stripped(lines []string) string {
	s := strings.Join(lines, "\n")
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			j := strings.IndexByte(s[i:], 'm')
			if strings.HasPrefix(s[i:], "\x1b]") {
				j = strings.Index(s[i:], "\x1b\\") + 1
			}
			i += j + 1
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
