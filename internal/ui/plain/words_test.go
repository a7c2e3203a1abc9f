package plain

import (
	"testing"

	"scorel/protocol"
)

func TestWhatIsLeftOutIsCountedInOneForm(t *testing.T) {
	for _, c := range []struct {
		n          int
		what, want string
	}{{1, "line", "… 1 more line"}, {2, "line", "… 2 more lines"}, {1200, "byte", "… 1200 more bytes"}} {
		if got := More(c.n, c.what); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.n, c.what, got, c.want)
		}
	}
}

func TestACompactionThatGainedNothingSaysSo(t *testing.T) {
	for want, c := range map[string]protocol.Compacted{
		"Compacted: 17,704 → 900 tokens": {TokensBefore: 17704, TokensAfter: 900},
		"Compacted, but the summary is no smaller than what it stands for: 7,704 → 7,737 tokens": {TokensBefore: 7704, TokensAfter: 7737},
	} {
		if got := Compacted(&c); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
