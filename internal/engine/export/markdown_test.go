package export

import (
	"strings"
	"testing"
)

func TestMarkdownThatModelsWrite(t *testing.T) {
	for in, want := range map[string]string{
		"one\ntwo\n\nthree":                      "<p>one\ntwo</p>\n<p>three</p>\n",
		"# A *b*":                                "<h3>A <em>b</em></h3>\n",
		"**a _b_** and ~~c~~":                    "<p><strong>a <em>b</em></strong> and <del>c</del></p>\n",
		"snake_case_name and 2*3*4":              "<p>snake_case_name and 2<em>3</em>4</p>\n",
		"a * b * c **":                           "<p>a * b * c **</p>\n",
		"`a <b>` ``c ` d``":                      "<p><code>a &lt;b&gt;</code> <code>c ` d</code></p>\n",
		"`open":                                  "<p>`open</p>\n",
		"```go\nx := \"<\"\n```\nafter":          "<pre class=\"code\" title=\"go\"><code>x := &#34;&lt;&#34;</code></pre>\n<p>after</p>\n",
		"```\nnever closed":                      "<pre class=\"code\"><code>never closed</code></pre>\n",
		"- a\n- b\n  - c\n\n    d\n- e":          "<ul>\n<li>a</li>\n<li><p>b</p>\n<ul>\n<li><p>c</p>\n<p>d</p>\n</li>\n</ul>\n</li>\n<li>e</li>\n</ul>\n",
		"3. a\n4. b":                             "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n",
		"- [ ] a\n- [x] b":                       "<ul>\n<li>☐ a</li>\n<li>☑ b</li>\n</ul>\n",
		"text\n1. a\n2. b":                       "<p>text</p>\n<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n",
		"> a\n> > b\nlazy":                       "<blockquote>\n<p>a</p>\n<blockquote>\n<p>b\nlazy</p>\n</blockquote>\n</blockquote>\n",
		"| a | b |\n|---|:-:|\n| 1 | `x\\|y` |":  "<div class=\"wide\"><table>\n<thead><tr><th>a</th><th>b</th></tr>\n</thead>\n<tbody>\n<tr><td>1</td><td><code>x|y</code></td></tr>\n</tbody></table></div>\n",
		"a | b":                                  "<p>a | b</p>\n",
		"---":                                    "<hr>\n",
		"[a](https://x.example/(y))":             `<p><a href="https://x.example/(y)" rel="noopener noreferrer">a</a> <span class="target">(https://x.example/(y))</span></p>` + "\n",
		"[a](https://x.example \"t\")":           `<p><a href="https://x.example" rel="noopener noreferrer">a</a> <span class="target">(https://x.example)</span></p>` + "\n",
		"see https://x.example/a_b_c.":           `<p>see <a href="https://x.example/a_b_c" rel="noopener noreferrer">https://x.example/a_b_c</a>.</p>` + "\n",
		"[https://a.example](https://b.example)": `<p><a href="https://b.example" rel="noopener noreferrer">https://a.example</a> <span class="target">(https://b.example)</span></p>` + "\n",
		"[x](javascript:alert(1))":               `<p>x <span class="target">(javascript:alert(1))</span></p>` + "\n",
		"<b>raw</b> \\*x\\*":                     "<p>&lt;b&gt;raw&lt;/b&gt; *x*</p>\n",
		"a  \nb\\\nc":                            "<p>a<br>\nb<br>\nc</p>\n",
		"![a *b*](https://x.example/p.png)":      `<p><span class="note">[picture: a b] https://x.example/p.png</span></p>` + "\n",
		"[![a](https://x.example/p.png)](https://y.example)":          `<p><a href="https://y.example" rel="noopener noreferrer"><span class="note">[picture: a] https://x.example/p.png</span></a> <span class="target">(https://y.example)</span></p>` + "\n",
		"*see [a **b**](https://x.example) and* <mailto:a@b.example>": `<p><em>see <a href="https://x.example" rel="noopener noreferrer">a <strong>b</strong></a> <span class="target">(https://x.example)</span> and</em> <a href="mailto:a@b.example" rel="noopener noreferrer">mailto:a@b.example</a></p>` + "\n",
		"***a** b*":                 "<p><em><strong>a</strong> b</em></p>\n",
		"Title\n---":                "<h4>Title</h4>\n",
		"a &lt; b &#x1b;[31m":       "<p>a &lt; b [U+001B][31m</p>\n",
		"- a\n\n\tb\n\n\t\tcode\tc": "<ul>\n<li><p>a</p>\n<p>b</p>\n<pre class=\"code\"><code>code\tc</code></pre>\n</li>\n</ul>\n",
		"```\n\ttab\n```":           "<pre class=\"code\"><code>\ttab</code></pre>\n",
		"    indented\n\n    code":  "<pre class=\"code\"><code>indented\n\ncode</code></pre>\n",
	} {
		if got := markdownHTML(in); got != want {
			t.Errorf("%q gives\n%s\nwant\n%s", in, got, want)
		}
	}
}

// TestMarkdownRendersTextsThatMakeRenderersSlow takes milliseconds; a renderer
// that goes with the square of the length, or that nests without bound, does not
// come to the end of it.
func TestMarkdownRendersTextsThatMakeRenderersSlow(t *testing.T) {
	for _, piece := range []string{"[", "![", "[a](", "*", "**a ", "_a_", "`", "``a` ", "> ", "- ", "1. ", "<", "<a ", "\\", "~~a ", "| a ", "|-", "#", "http://", "***a** ", "    - a\n", "> - > - ", "[[]", "*a_"} {
		text := strings.Repeat(piece, maxMarkdown/len(piece))
		out := markdownHTML(text)
		if len(out) > 100*len(text) {
			t.Errorf("%q grows from %d to %d bytes", piece, len(text), len(out))
		}
	}
}

func FuzzMarkdownGivesBalancedTags(f *testing.F) {
	for _, s := range hostile("http://attacker.example") {
		f.Add(s)
	}
	f.Add("- a\n  1. b\n> c\n| a |\n|---|\n| **b** |\n```x\n# y")
	f.Fuzz(func(t *testing.T, in string) {
		if len(in) > 10_000 {
			return
		}
		out := markdownHTML(in)
		var open []string
		for i := 0; i < len(out); i++ {
			if out[i] != '<' {
				continue
			}
			end := strings.IndexByte(out[i:], '>')
			if end < 0 {
				t.Fatalf("a tag is not closed in %q", out)
			}
			name, _, _ := strings.Cut(out[i+1:i+end], " ")
			switch {
			case name == "br" || name == "hr":
			case strings.HasPrefix(name, "/"):
				if len(open) == 0 || open[len(open)-1] != name[1:] {
					t.Fatalf("%s closes %q in %q", name, open, out)
				}
				open = open[:len(open)-1]
			default:
				open = append(open, name)
			}
			i += end
		}
		if len(open) > 0 {
			t.Fatalf("%q are open in %q", open, out)
		}
	})
}
