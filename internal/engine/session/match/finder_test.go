package match

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// BenchmarkFinder looks for words through lines as logs have them.
func BenchmarkFinder(b *testing.B) {
	line := []byte(`{"type":"message","id":"evt_0f3k2m9s1d8v7a6t","parentId":"evt_9d8v7a6t0f3k2m9s","seq":4711,"sessionId":"ses_06f3k2m9s1d8v7a6t0f3k2m9s1","clientId":"host","ts":1800000004711,"message":{"role":"tool_result","toolCallId":"call_12","toolName":"Read","content":[{"type":"text","text":"  472\tif err := read(\"name\"); err != nil {\n\t\treturn err\n\t}\n The function in line 12 returns before the file is closed.\n"}],"isError":false}}` + "\n")
	data := bytes.Repeat(line, 1<<20/len(line))
	for _, word := range []string{"restoration", "seen", "quetzal", "überall", "日本"} {
		for _, anyCase := range []bool{true, false} {
			name := word
			if !anyCase {
				name += " exact"
			}
			b.Run(name, func(b *testing.B) {
				f := newFinder(word, anyCase)
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					if f.in(data) {
						b.Fatal("it stands there")
					}
				}
			})
		}
	}
}

func TestAFinderFindsWhatAComparisonLetterByLetterFinds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := []rune("aaabbBcé日_\u212a")
	text := func(n int) string {
		var s strings.Builder
		for range n {
			s.WriteRune(letters[rnd.IntN(len(letters))])
		}
		return s.String()
	}
	rows := 0
	for range 20000 {
		word, in := text(1+rnd.IntN(14)), ""
		for range rnd.IntN(4) {
			in += text(rnd.IntN(30))
			if rnd.IntN(2) == 0 {
				in += strings.ToUpper(word)
			} else {
				in += strings.ToValidUTF8(word[:rnd.IntN(len(word))], "") // it begins and does not go on
			}
		}
		f := newFinder(word, true)
		if f.grams != nil {
			rows++
		}
		var got, want []int
		f.each([]byte(in), func(start, end int) int { got = append(got, start); return end })
		for at := 0; at < len(in); {
			if n, ok := stands(in[at:], f.pattern); ok {
				want = append(want, at)
				at += n
				continue
			}
			_, n := utf8.DecodeRuneInString(in[at:])
			at += n
		}
		if f.grams == nil { // of places that overlap the others may give more
			if (len(got) > 0) != (len(want) > 0) {
				t.Fatalf("%q in %q: at %v, want %v", word, in, got, want)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: at %v, want %v", word, in, got, want)
		}
	}
	if rows < 1000 {
		t.Errorf("%d words were looked for by their grams", rows)
	}
}

// stands reports whether a text begins with a folded pattern, and in how many bytes.
func stands(text string, pattern []rune) (int, bool) {
	n := 0
	for _, want := range pattern {
		r, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || fold(r) != want {
			return 0, false
		}
		n += size
	}
	return n, true
}
