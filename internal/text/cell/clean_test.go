package cell

import (
	"strings"
	"testing"
)

func TestMarksThatAreTooManyAreLeftOut(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"usual marks", "e\u0301a\u0300\u0323", "e\u0301a\u0300\u0323"},
		{"a family", "👩\u200d👩\u200d👧\u200d👦!", "👩\u200d👩\u200d👧\u200d👦!"},
		{"a tower", "e" + strings.Repeat("\u0301", 1000) + "f\u0301", "e" + strings.Repeat("\u0301", maxMarks/2) + "f\u0301"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := Clean(strings.Repeat("👩\u200d", 1000)); len(got) > 200 {
		t.Errorf("a chain of joined characters has %d bytes", len(got))
	}
}
