package line

import "testing"

func TestNoteIsOneLineWithABlankAfterTheMark(t *testing.T) {
	for line, want := range map[string][2]string{
		"# run make first": {"project", "run make first"},
		"##  short please": {"user", "short please"},
		"# ":               {"project", ""},
		"#1 is open":       {},
		"#!/bin/sh":        {},
		"### Heading":      {},
		"#":                {},
		" # x":             {},
		"# A plan\nstep 1": {},
		`\# a heading`:     {},
		"x # y":            {},
	} {
		scope, note, ok := noteLine(line)
		if scope != want[0] || note != want[1] || ok != (want[0] != "") {
			t.Errorf("%q: %q %q %v", line, scope, note, ok)
		}
	}
	for line, want := range map[string]string{`\# x`: "# x", "//x": "/x", "/x": "/x", `\x`: `\x`, "x": "x"} {
		if got := unescaped(line); got != want {
			t.Errorf("%q is sent as %q", line, got)
		}
	}
}
