package background

import (
	"bytes"
	"regexp"
	"testing"
)

// BenchmarkOutput takes in 32 KiB of lines, as a pipe brings them: kept only, and
// watched by a monitor that never matches, and by one that always does.
func BenchmarkOutput(b *testing.B) {
	chunk := bytes.Repeat([]byte("a line of some ordinary words\n"), 32<<10/30)
	for _, c := range []struct{ name, pattern string }{{"kept", ""}, {"watched", "ERROR|panic:"}, {"matching", "ordinary"}} {
		b.Run(c.name, func(b *testing.B) {
			t := &task{}
			if c.pattern != "" {
				t.monitors = []*monitor{{pattern: regexp.MustCompile(c.pattern)}}
			}
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = t.Write(chunk)
			}
		})
	}
}
