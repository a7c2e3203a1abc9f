package demo

import (
	"strings"
	"testing"
)

func TestPromptsAreUnderstoodThisFar(t *testing.T) {
	for prompt, want := range map[string]wish{
		"Fix the failing test.":                 repair,
		"Can you repair it?":                    repair,
		"Make the tests pass":                   repair,
		"A check fails. Find the fault.":        repair,
		"why does make fail?":                   test,
		"Run the tests":                         test,
		"What is in this folder?":               look,
		"Explain the code":                      look,
		"hi":                                    talk,
		"What can you do?":                      talk,
		"Now add a comment at the top":          talk,
		"How do I become a good guitar player?": talk,
	} {
		if got := talk.then(prompt); got != want {
			t.Errorf("%q is %v, want %v", prompt, got, want)
		}
	}
	if test.then("go on") != test || repair.then("Go on.") != repair || talk.then("continue, please") != repair {
		t.Error("to go on is not to go on with what was wished")
	}
}

func TestReportsOfSeveralStylesAreRead(t *testing.T) {
	for name, output := range map[string]string{
		"words":  "ok    one\nFAIL  adds up\n      expected: 3\n      got:      4\nok two\n3 checks, 1 failed\n",
		"tap":    "1..3\nok 1 - one\nnot ok 2 - adds up\nexpected: 3\nactual: 4\nok 3 - two\n",
		"colons": "PASS: one\nFAILED: adds up\n\twant: 3\n\tgot: 4\nPASS: two\n",
		"marks":  "✓ one\n✗ adds up\n  Expected: 3\n  Received: 4\n✓ two\n",
	} {
		r := parseReport(output)
		if len(r.failed) != 1 || len(r.passed) != 2 {
			t.Errorf("%s: %+v", name, r)
			continue
		}
		if c := r.failed[0]; c.name != "adds up" || c.expected != "3" || c.got != "4" {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestAnOptionInTheNameOfACheckKeepsItsDashes(t *testing.T) {
	if r := parseReport("FAIL  --min is kept\n"); r.first().name != "--min is kept" {
		t.Errorf("%+v", r)
	}
}

func TestEditsAreUniqueAndLeadFromOneTextToTheOther(t *testing.T) {
	from := "a\nx=1\nb\nx=1\nc\nx=1\n"
	for _, to := range []string{"a\nx=2\nb\nx=1\nc\nx=1\n", "a\nx=2\nb\nx=3\nc\nx=4\n", "a\nx=1\nb\nx=1\nc\nx=2\n"} {
		edits := editsFrom(from, to)
		got, ok := apply(from, edits)
		if !ok || got != to {
			t.Errorf("%+v give %q, %v; want %q", edits, got, ok, to)
		}
		if back, ok := undo(to, edits); !ok || back != from {
			t.Errorf("%+v taken back give %q, %v", edits, back, ok)
		}
	}
}

func TestMutationsChangeOneTokenOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"if ((a > b)); then":        "if ((a >= b)); then",
		"[[ -z $x ]] || exit 1":     "[[ -n $x ]] || exit 1",
		"[ $a -gt 3 ]":              "[ $a -ge 3 ]",
		"x=$((x + 1))":              "x=$((x - 1))",
		"sort -n file":              "sort -nr file",
		"wc -w <file":               "wc -l <file",
		"echo ${file##*/}":          "echo ${file%%*/}",
		"while read x && true; do":  "while read x || true; do",
		"for ((i = 1; i < n; i++))": "for ((i = 0; i < n; i++))",
		"echo \"${word,,}\"":        "echo \"${word^^}\"",
		"list | head -n 3":          "list | tail -n 3",
	} {
		found := false
		for _, m := range mutations(0, line) {
			found = found || m.text == want
			if m.text == line || strings.Contains(m.text, "\n") {
				t.Errorf("%q gives %q", line, m.text)
			}
		}
		if !found {
			t.Errorf("%q does not give %q", line, want)
		}
	}
	if m := mutations(0, "# if a > b then 3"); len(m) > 0 {
		t.Errorf("a comment gives %v", m)
	}
}
