package fuzzy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func listOf(paths ...string) *List {
	var b Builder
	for _, p := range paths {
		b.Add(p)
	}
	return b.List()
}

func TestTheBetterMatchComesFirst(t *testing.T) {
	tests := []struct {
		why, query string
		paths      []string // best first; all match
	}{
		{"a match in the name beats one in the folders", "main", []string{"z/very/far/away/main.go", "main/a.go"}},
		{"the whole name beats a part of it", "go.mod", []string{"a/go.mod", "go.mod.orig"}},
		{"the name without its ending beats a longer name", "conn", []string{"internal/host/conn.go", "connect.go"}},
		{"the beginning of a name beats its middle", "list", []string{"a/b/listing.go", "relist.go"}},
		{"letters side by side beat letters apart", "abc", []string{"folder/xabc.go", "axbxc.go"}},
		{"beginnings of words beat letters inside", "hf", []string{"host_files_and_more.go", "xhfx/bhaaf.go"}},
		{"a capital begins a word", "fb", []string{"someFooBar.go", "someofoobar.go"}},
		{"the shorter path wins among equals", "doc", []string{"a/doc.go", "abc/doc.go", "abc/def/doc.go"}},
		{"a slash asks for folders", "cli/main", []string{"internal/ui/cli/main.go", "client/domain.go"}},
		{"every word counts, in any order", "test conn", []string{"host/conn_test.go", "test/host/conn.go"}},
		{"case does not matter", "README", []string{"readme.md", "a/ReadMe.md"}},
		{"letters beyond ASCII have cases, too", "ÜBER", []string{"über.txt", "Überblick.md"}},
	}
	for _, tt := range tests {
		mixed := slices.Clone(tt.paths)
		slices.Reverse(mixed)
		got, more := listOf(append(mixed, "no/match/0")...).Find(tt.query, 10)
		if !slices.Equal(got, tt.paths) || more {
			t.Errorf("%s: %q gives %q, not %q", tt.why, tt.query, got, tt.paths)
		}
	}
}

func TestAnEmptyQueryGivesWhatIsNearTheRoot(t *testing.T) {
	l := listOf("a/b/c.go", "z.go", "a/b.go", "README.md", "a/a.go")
	got, more := l.Find("  ", 4)
	if want := []string{"z.go", "README.md", "a/a.go", "a/b.go"}; !slices.Equal(got, want) || !more {
		t.Errorf("%q %v", got, more)
	}
}

func TestTheBestAreTheSameHoweverManyAreWanted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var paths []string
	for range 3000 {
		p := ""
		for range 3 + rng.IntN(12) {
			p += string("abcde_/."[rng.IntN(8)])
		}
		paths = append(paths, p)
	}
	l := listOf(paths...)
	for _, query := range []string{"", "a", "ab", "a/b", "abc", "a b"} {
		all, more := l.Find(query, len(paths))
		if more {
			t.Errorf("%q: more than all", query)
		}
		for _, n := range []int{1, 2, 50, 200} {
			got, more := l.Find(query, n)
			if want := all[:min(n, len(all))]; !slices.Equal(got, want) || more != (len(all) > n) {
				t.Errorf("%q: the best %d are %q %v, not %q", query, n, got, more, want)
			}
		}
	}
}

// TestWhatMatchesIsFoundAndNothingElse holds Find against the definition: all
// letters of each word in their order.
func TestWhatMatchesIsFoundAndNothingElse(t *testing.T) {
	path := rapid.StringMatching(`[abAB/._é-]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfNDistinct(path, 0, 20, rapid.ID[string]).Draw(t, "paths")
		query := rapid.StringMatching(`[abAB/. é]{0,6}`).Draw(t, "query")
		got, more := listOf(paths...).Find(query, 100)
		var want []string
		for _, p := range paths {
			fits := true
			for _, term := range strings.Fields(strings.ToLower(query)) {
				rest := strings.ToLower(p)
				for _, r := range term {
					_, after, ok := strings.Cut(rest, string(r))
					fits = fits && ok
					rest = after
				}
			}
			if fits {
				want = append(want, p)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || more {
			t.Fatalf("%q in %q gives %q, not %q", query, paths, got, want)
		}
	})
}

func TestWhatWasAddedSoFarIsAListThatSaysThatItIsCut(t *testing.T) {
	var b Builder
	b.Add("a.go")
	early := b.SoFar()
	b.Add("b.go")
	late := b.List()
	if got, _ := early.Find("go", 5); !slices.Equal(got, []string{"a.go"}) || !early.Cut() {
		t.Errorf("so far %q, cut %v", got, early.Cut())
	}
	if got, _ := late.Find("go", 5); !slices.Equal(got, []string{"a.go", "b.go"}) || late.Cut() {
		t.Errorf("in the end %q, cut %v", got, late.Cut())
	}
}

func TestAListIsBounded(t *testing.T) {
	var b Builder
	for i := range MaxPaths {
		if !b.Add(fmt.Sprint(i)) {
			t.Fatalf("path %d was not taken", i)
		}
	}
	if b.Add("one more") {
		t.Error("one more was taken")
	}
	l := b.List()
	if got, _ := l.Find("one more", 1); l.Len() != MaxPaths || !l.Cut() || got != nil {
		t.Errorf("%d paths, cut %v, %q", l.Len(), l.Cut(), got)
	}
	var other Builder
	long := strings.Repeat("x", MaxBytes/2)
	for _, taken := range []bool{true, true, false} {
		if other.Add(long) != taken {
			t.Errorf("half of the bytes: taken %v", !taken)
		}
	}
}

func FuzzFindTakesAnyQuery(f *testing.F) {
	f.Add("a/b.go", "ab")
	f.Add("\xff/é", "É \x00")
	f.Fuzz(func(t *testing.T, path, query string) {
		got, _ := listOf(path, "a/b").Find(query, 2)
		for _, p := range got {
			if p != path && p != "a/b" {
				t.Errorf("found %q", p)
			}
		}
		if all, _ := listOf(path).Find(path, 1); path == strings.ToLower(path) && !strings.ContainsAny(path, " \t\n\v\f\r\u0085\u00a0") && strings.ToValidUTF8(path, "") == path && len(all) != 1 && len(strings.Fields(path)) == 1 {
			t.Errorf("%q does not find itself", path)
		}
	})
}

// BenchmarkFind searches a tree of 200,000 files.
func BenchmarkFind(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("internal host session model runtime tool permission sandbox client server handler request response config parser lexer token stream buffer event queue store index search render view layout button icon page route test util helper error types")
	var builder Builder
	for i := range 200_000 {
		p := ""
		for range 2 + rng.IntN(6) {
			p += words[rng.IntN(len(words))] + "/"
		}
		builder.Add(fmt.Sprintf("%s%s_%s%d.go", p, words[rng.IntN(len(words))], words[rng.IntN(len(words))], i%1000))
	}
	l := builder.List()
	for _, query := range []string{"", "s", "session", "hostreq", "internal/host/req", "zzz", "sess store test"} {
		b.Run("query="+query, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Find(query, 50)
			}
		})
	}
}
