package spelling

import "testing"

func TestDistanceCountsChangedLetters(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1},
		{"kitten", "sitting", 3}, {"read.go", "raed.go", 2}, {"main.go", "main_test.go", 5},
	} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != got {
			t.Errorf("Distance(%q, %q) = %d, want %d both ways", c.a, c.b, got, c.want)
		}
	}
}
