package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/platform/sandbox/sandboxtest"
)

func TestSearchNamesWhatItCouldNotRead(t *testing.T) {
	rg := engines(t)["ripgrep"]
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		b := benchIn(t, dir)
		b.tree("a.txt", "needle\n", "b.txt", "needle\n", "closed/c.txt", "needle\n")
		for _, name := range []string{"b.txt", "closed"} {
			if err := os.Chmod(filepath.Join(b.root, name), 0); err != nil {
				t.Fatal(err)
			}
		}
		defer os.Chmod(filepath.Join(b.root, "closed"), 0o700)
		for _, b.env.Ripgrep = range []string{"", rg} {
			for _, mode := range []string{"files", "content", "count"} {
				if got := b.ok("Grep", in{"pattern": "needle", "mode": mode}); !strings.HasPrefix(got, "a.txt") || !strings.HasSuffix(got, "\n[Could not be read: b.txt, closed.]") {
					t.Errorf("%q, %s: %q", b.env.Ripgrep, mode, got)
				}
			}
			if got := b.ok("Glob", in{"pattern": "**/*.txt"}); got != "a.txt\nb.txt\n[Could not be read: closed.]" {
				t.Errorf("%q: %q", b.env.Ripgrep, got)
			}
			b.env.Withheld = func(_, file string) bool { return strings.HasSuffix(file, "b.txt") || strings.Contains(file, "closed") }
			if got := b.ok("Grep", in{"pattern": "needle"}); strings.Contains(got, "b.txt") || strings.Contains(got, "closed") {
				t.Errorf("%q tells of withheld files: %q", b.env.Ripgrep, got)
			}
			b.env.Withheld = nil
		}
	})
}

func TestGrepSearchesUTF16AndLongLines(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		b.tree("wide.txt", "\xfe\xff\x00n\x00e\x00e\x00d\x00l\x00e\x00\n", "long.txt", strings.Repeat("x", 5<<20)+"needle\n",
			"longer.txt", strings.Repeat("x", scanLine+1000)+"needle\n")
		if got := b.ok("Grep", in{"pattern": "needle"}); got != "wide.txt\nlong.txt\n[Only the first 16 MiB of long lines were searched in: longer.txt.]" {
			t.Errorf("%q", got)
		}
		if got := b.ok("Grep", in{"pattern": "needle", "mode": "content", "path": "wide.txt"}); got != "wide.txt:1:needle" {
			t.Errorf("%q", got)
		}
	})
}

func TestSearchQuotesNamesThatWouldBeReadAsSomethingElse(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		b.tree("a\x1b[2J\nb.txt", "needle\n")
		want := `"a\x1b[2J\nb.txt"`
		if got := b.ok("Glob", in{"pattern": "*.txt"}); got != want {
			t.Errorf("%q", got)
		}
		for mode, rest := range map[string]string{"files": "", "count": ":1", "content": ":1:needle"} {
			if got := b.ok("Grep", in{"pattern": "needle", "mode": mode}); got != want+rest {
				t.Errorf("%s: %q", mode, got)
			}
		}
	})
}

func TestSearchThatReachesItsTimeShowsWhatItFound(t *testing.T) {
	b := newBench(t)
	var files []string
	for i := range 400 {
		files = append(files, fmt.Sprintf("f%03d.txt", i), strings.Repeat("filler\n", 50_000)+"needle\n")
	}
	b.tree(files...)
	p, err := b.prepare("Grep", in{"pattern": "ne+dle"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := p.(*grepCall)
	for c.root.limit = time.Millisecond; ; c.root.limit *= 2 { // until the listing fits, and not the search
		r, err := c.Run(t.Context(), nil)
		if err != nil {
			if !strings.Contains(err.Error(), "search a smaller folder") {
				t.Fatal(err)
			}
			continue
		}
		if text := r.Content[0].Text; !c.root.gaps.late || !strings.HasPrefix(text, "f") || !strings.Contains(text, "[This is not complete: the search took more than ") {
			t.Errorf("late %v: %.300q", c.root.gaps.late, text)
		}
		return
	}
}
