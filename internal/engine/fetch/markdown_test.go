package fetch

import (
	"context"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"scorel/internal/text/promptsafe"
)

var update = flag.Bool("update", false, "write the golden files")

func mustURL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPagesBecomeTheTextThatIsWritten(t *testing.T) {
	pages, err := filepath.Glob("testdata/pages/*.html")
	if err != nil || len(pages) < 4 {
		t.Fatal(pages, err)
	}
	for _, name := range pages {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []Format{Markdown, Text} {
			title, text := convert(t.Context(), string(src), mustURL(t, "https://example.com/dir/page"), f)
			got := "Title: " + title + "\n\n" + text + "\n"
			golden := strings.TrimSuffix(name, ".html") + "." + string(f) + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs from %s:\n%s", name, golden, got)
			}
		}
	}
}

func TestAPageCannotMakeALinkToAScript(t *testing.T) {
	for _, src := range []string{
		`<a href="javascript:alert(1)">x</a>`, `<a href=" JaVaScRiPt:alert(1)">x</a>`, "<a href=\"java\nscript:alert(1)\">x</a>",
		`<a href="&#106;avascript:alert(1)">x</a>`, `<a href="data:text/html,x">x</a>`, `<a href="vbscript:x">x</a>`,
		`[x](javascript:alert(1))`, `[x]<b></b>(javascript:alert(1))`, `[x]<!-- -->(javascript:alert(1))`, `[x]: javascript:alert(1)`,
		`&lt;javascript:alert(1)&gt;`, `<b>&lt;</b>javascript:alert(1)>`, `<img src="javascript:alert(1)" alt="x">`,
		`<img alt="](javascript:alert(1))" src="/x">`, `<base href="javascript:alert(1)//"><a href="x">y</a>`,
		`<a href="https://example.com/)](javascript:alert(1))">x</a>`, `<table><tr><td>[x]</td><td>(javascript:1)</td></table>`,
		`<a href="/x">[y](javascript:alert(1))</a>`, "[x](<javascript:alert(1)>)", `<svg><a href="javascript:x">y</a></svg>`,
	} {
		_, text := convert(t.Context(), src, mustURL(t, "https://example.com/"), Markdown)
		if bad := scriptLink(text); bad != "" {
			t.Errorf("%s becomes %q, with %q", src, text, bad)
		}
	}
}

// scriptLink returns what in a text of Markdown, outside code, leads to a script.
func scriptLink(text string) string {
	var prose strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		l := strings.TrimLeft(line, "> -0123456789.")
		if fence != "" {
			if strings.HasPrefix(l, fence) {
				fence = ""
			}
			continue
		}
		if ticks := len(l) - len(strings.TrimLeft(l, "`")); ticks >= 3 {
			fence = l[:ticks]
			continue
		}
		prose.WriteString(line)
	}
	const scripts = `(?i)(\]\(|\]:\s*|[^\\]<)\s*<?\s*(javascript|vbscript|data):`
	return regexp.MustCompile(scripts).FindString(withoutSpans(prose.String()))
}

// withoutSpans takes the code spans out of prose: what stands between a run of
// backticks and the next run of as many, in one paragraph
// (https://spec.commonmark.org/0.31.2/#code-spans).
func withoutSpans(prose string) string {
	var out strings.Builder
	for i := 0; i < len(prose); {
		if prose[i] == '\\' && i+1 < len(prose) {
			out.WriteString(prose[i : i+2])
			i += 2
			continue
		}
		if prose[i] != '`' {
			out.WriteByte(prose[i])
			i++
			continue
		}
		open := len(prose[i:]) - len(strings.TrimLeft(prose[i:], "`"))
		end := closing(prose[i+open:], open)
		if end < 0 {
			out.WriteString(prose[i : i+open])
			i += open
			continue
		}
		i += open + end
	}
	return out.String()
}

// closing returns the place after the next run of n backticks, -1 when the
// paragraph has none.
func closing(s string, n int) int {
	paragraph, _, _ := strings.Cut(s, "\n\n")
	for i := 0; i < len(paragraph); {
		run := len(paragraph[i:]) - len(strings.TrimLeft(paragraph[i:], "`"))
		if run == n {
			return i + run
		}
		i += max(run, 1)
	}
	return -1
}

func TestHiddenElementsAreLeftOut(t *testing.T) {
	for _, src := range []string{
		`<p hidden>SECRET</p>`, `<div style="display:none"><div>x</div>SECRET</div>`, `<b style="visibility: HIDDEN">SECRET</b>`,
		`<span style="opacity:0">SECRET</span>`, `<span style="font-size: 0">SECRET</span>`, `<i aria-hidden="TRUE">SECRET</i>`,
		`<script>SECRET</script>`, `<style>SECRET</style>`, `<!-- SECRET -->`, `<template><p>SECRET</p></template>`,
		`<noscript>SECRET</noscript>`, `<p hidden>SECRET<p>shown`, `<x-y hidden>SECRET</x-y>`, `<pre><span hidden>SECRET</span></pre>`,
		`<table><tr hidden><td>SECRET</td></tr></table>`, `<title>SECRET</title>`, `<iframe>SECRET</iframe>`, `<svg><text>SECRET</text></svg>`,
		`<select><option>SECRET</select>`, `<a href="x" hidden>SECRET</a>`, `<xmp hidden>SECRET</xmp>`, `<main hidden>SECRET</main>`,
	} {
		_, text := convert(t.Context(), src+"<p>seen", mustURL(t, "https://example.com/"), Markdown)
		if strings.Contains(text, "SECRET") || !strings.Contains(text, "seen") {
			t.Errorf("%s becomes %q", src, text)
		}
	}
	_, text := convert(t.Context(), `<span style="opacity:0.5;font-size:10px">seen</span><p hidden="until-found">found`, nil, Markdown)
	if text != "seen\n\nfound" {
		t.Errorf("what is visible is left out: %q", text)
	}
}

func TestUnseenCharactersAreTakenOut(t *testing.T) {
	in := "a\x1b[31mb\u202ec\u200bd\U000e0041e\r\nf\rg\x00h\u0085i\ufeffj 👩\u200d👧 ok"
	if got, want := promptsafe.Clean(in), "a[31mbcde\nf\nghij 👩\u200d👧 ok"; got != want {
		t.Errorf("clean: %q, want %q", got, want)
	}
}

func TestTheMainPartIsPreferredWhenItHoldsText(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, c := range []struct{ src, has, hasNot string }{
		{"<nav>menu</nav><main>" + long + "</main><footer>foot</footer>", "word", "menu"},
		{"<nav>menu</nav><div role=main><div>" + long + "</div>last</div><footer>foot</footer>", "last", "foot"},
		{"<nav>menu</nav><main></main><p>" + long, "menu", "none"},
		{"<nav>menu</nav><article>" + long + "<article>comment</article></article>", "comment", "menu"},
		{"<nav>menu</nav><article>" + long + "</article><article>" + long + "two</article>", "two", "none"},
		{"<nav>menu</nav><main>" + long + "<script>var x = '</main>'</script>end", "end", "menu"},
		{"<nav>menu</nav><main>shell</main><p>" + long, "menu", "none"},
	} {
		_, text := convert(t.Context(), c.src, nil, Markdown)
		if !strings.Contains(text, c.has) || strings.Contains(text, c.hasNot) {
			t.Errorf("%.60s becomes %q", c.src, text)
		}
	}
}

// bombs are pages that are much larger inside than outside.
func bombs(n int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, n/len(s)) }
	var marks strings.Builder
	for i := range 500 {
		marks.WriteString("<b x=" + string(rune('a'+i%26)) + "><a href=/" + strings.Repeat("y", 1000) + ">")
	}
	return map[string]string{
		"deep divs": fill("<div>"), "deep lists": fill("<ul><li>x"), "deep quotes": fill("<blockquote>x"), "deep tables": fill("<table><tr><td>x"),
		"paragraphs": fill("<p>x"), "marks": marks.String() + fill("<p>x"), "cells": "<table><tr>" + fill("<td>"), "rows": "<table>" + fill("<tr><td>x<td>y"),
		"links": fill("<a href=x>y</a>"), "ends": strings.Repeat("<ul><li>", 300) + fill("</b></i></ol></td>"), "hidden": fill("<p hidden>"),
		"one tag": "<p " + fill("a=b "), "one comment": "<!--" + fill("x"), "entities": fill("&NotEqualTilde;"), "open code": fill("<code>x"),
		"code": fill("<pre>`"), "base": "<base href='/" + strings.Repeat("z", 2000) + "/'>" + fill("<a href=x>y</a>"), "brackets": fill("<"),
		"headings": fill("<h1>x"), "titles": fill("<title>x"), "mains": fill("<main>x"), "words": fill("x "), "ticks": fill("`"),
	}
}

func TestBombsStayBounded(t *testing.T) {
	for name, src := range bombs(bombSize) {
		for _, f := range []Format{Markdown, Text} {
			_, text := convert(t.Context(), src, mustURL(t, "https://example.com/"+strings.Repeat("d", 1000)+"/"), f)
			if len(text) > maxShown+200 {
				t.Errorf("%s: %d bytes of text", name, len(text))
			}
		}
	}
}

func TestACancelledConversionEndsEarlyAndSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, text := convert(ctx, strings.Repeat("<p>x", 10_000), nil, Markdown); !strings.HasSuffix(text, cutMark) {
		t.Errorf("the text ends with %q", text[max(0, len(text)-100):])
	}
}

func FuzzConvert(f *testing.F) {
	pages, _ := filepath.Glob("testdata/pages/*.html")
	for _, name := range pages {
		if src, err := os.ReadFile(name); err == nil {
			f.Add(string(src))
		}
	}
	for _, src := range bombs(300) {
		f.Add(src)
	}
	f.Add("[x]<b>(</b>javascript:1)<table><td>]<td>(data:x<pre>```\n</pre>")
	f.Fuzz(func(t *testing.T, src string) {
		for _, format := range []Format{Markdown, Text} {
			title, text := convert(t.Context(), src, mustURL(t, "https://example.com/a/b"), format)
			if len([]rune(title)) > maxTitle+1 || strings.ContainsAny(title, "\n\x00\x1b") {
				t.Fatalf("title %q", title)
			}
			if len(text) > maxShown+200 || promptsafe.Clean(text) != text {
				t.Fatalf("%q is not clean or too long", text)
			}
			if bad := scriptLink(text); format == Markdown && bad != "" {
				t.Fatalf("%q becomes %q, with %q", src, text, bad)
			}
		}
	})
}

func BenchmarkConvert1MiB(b *testing.B) {
	src, err := os.ReadFile("testdata/pages/reference.html")
	if err != nil {
		b.Fatal(err)
	}
	body := string(src)
	body = body[strings.Index(body, "<h1>"):strings.Index(body, "</main>")]
	page := strings.Repeat(body, 1<<20/len(body))
	base := mustURL(b, "https://example.com/")
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		convert(b.Context(), page, base, Markdown)
	}
}
