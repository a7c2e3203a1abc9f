package plain

import "testing"

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
