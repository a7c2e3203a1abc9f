package cell

import (
	"slices"
	"strings"
	"testing"
)

func TestAStyleGoesOnInTheNextLineOnlyAsFarAsItIsOn(t *testing.T) {
	for _, c := range []struct{ line, on string }{
		{"plain", ""},
		{"\x1b[31mred", "\x1b[31m"},
		{"\x1b[31mred\x1b[39m and \x1b[1mbold", "\x1b[1m"},
		{"\x1b[1;31mboth\x1b[22m", "\x1b[31m"},
		{"\x1b[38;5;200mmany\x1b[48;2;1;2;3mcolours", "\x1b[38;5;200;48;2;1;2;3m"},
		{"\x1b[4:3mcurly\x1b[4:0m", ""},
		{"\x1b[31m\x1b[32m\x1b[97m", "\x1b[97m"},
		{"\x1b[1m\x1b[0;3m", "\x1b[3m"},
		{"\x1b[7m\x1b[m", ""},
		{"\x1b[31;38;9m", "\x1b[31m"},
		{"\x1b[2Kx\x1b[3", ""},
	} {
		if got := style(c.line); got != c.on {
			t.Errorf("%q leaves %q on, want %q", c.line, got, c.on)
		}
	}
	if got := style("\x1b[38:" + strings.Repeat("1:", 1000) + "2m"); got != "" {
		t.Errorf("a colour of 2,000 bytes goes on: %q", got)
	}
	many := strings.Repeat("\x1b[32mword\x1b[39m ", 500)
	for _, l := range Wrap(many, 10) {
		if len(l) > 80 {
			t.Fatalf("a line of 10 cells has %d bytes", len(l))
		}
	}
	got := Wrap("\x1b[1mone \x1b[31mtwo three", 7)
	if want := []string{"\x1b[1mone \x1b[31mtwo" + Reset, "\x1b[1;31mthree" + Reset}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
