package dialog

import (
	"strings"
	"testing"
)

func TestNoRuleOfAnAnswerHidesBetweenTwoLongOnes(t *testing.T) {
	long := func(letter string) string { return "Bash(echo " + strings.Repeat(letter, 4000) + ")" }
	label := "Always allow " + long("a") + ", Bash(rm -rf EVIL), " + long("b") + " in this project"
	for _, width := range []int{95, 60} {
		c := choices{most: 2}
		got := strings.Join(c.shorten(label, width, "…"), " ")
		for _, want := range []string{"Bash(ec", "Bash(rm -rf EVIL)", "Bash(echo b", "in this project"} {
			if !strings.Contains(got, want) {
				t.Errorf("in %d cells: %q has no %q", width, got, want)
			}
		}
		if !c.left {
			t.Error("it does not say that something is left out")
		}
	}
	many := "Allow " + strings.Repeat("Bash(make "+strings.Repeat("x", 30)+"), ", 40) + "Bash(rm -rf EVIL) for this session"
	c := choices{most: 2}
	if got := strings.Join(c.shorten(many, 95, "…"), " "); !strings.Contains(got, "41 rules, of which not all fit here for this session") {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"Allow Bash(make test) for this session", "Allow " + long("a") + " for this session"} {
		c := choices{most: 2}
		if got := c.shorten(text, 60, "…"); len(got) > 2 || !strings.HasSuffix(got[len(got)-1], "for this session") {
			t.Errorf("%q", got)
		}
	}
}
