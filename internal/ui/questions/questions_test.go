package questions

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/protocol"
	"scorel/protocol/display"
)

func TestChoicesShowTheRuleThatTheyWrite(t *testing.T) {
	p := &protocol.PermissionRequest{PermissionID: "prm_1", Suggestions: []protocol.Suggestion{
		{Label: "Allow once", Scope: "once"}, {Label: "Allow Bash(ls) here", Rule: "Bash(ls)"}, {Label: "Always", Rule: "Bash(ls)\x1b[2J"}}}
	all := Choices(p)
	if !all[0].Once || all[0].Rule != "" || all[1].Rule != "" || !strings.HasPrefix(all[2].Rule, "Bash(ls)") || strings.Contains(all[2].Rule, "\x1b") {
		t.Errorf("%+v", all)
	}
	if r := all[2].Request; r.Choice != 2 || r.PermissionID != "prm_1" {
		t.Errorf("the third answer is %+v", r)
	}
	if r := Deny(p, "no"); r.Choice != -1 || r.Reason != "no" {
		t.Errorf("the denial is %+v", r)
	}
}

func TestWhatIsAllowedIsSeenToTheLastCharacter(t *testing.T) {
	args, err := json.Marshal(map[string]string{"command": "rm a\u200db 3\u28004", "path": "x\ufe0f.go"})
	if err != nil {
		t.Fatal(err)
	}
	p := &protocol.PermissionRequest{ToolName: "Bash", Args: args, Suggestions: []protocol.Suggestion{
		{Label: "Allow Bash(rm a\u200db)", Rule: "Bash(rm a\u200db)"}, {Label: "Always", Rule: "Bash(rm 3\u28004)"}}}
	all := Choices(p)
	if all[0].Label != "Allow Bash(rm a[U+200D]b)" || all[0].Rule != "" || all[1].Rule != "Bash(rm 3[U+2800]4)" {
		t.Errorf("%+v", all)
	}
	if got := display.Summary("Bash", args); got != "rm a[U+200D]b 3[U+2800]4" {
		t.Errorf("the command is %q", got)
	}
	if got := Title(&protocol.PermissionRequest{ToolName: "Write", Args: args}); got != "Edit x[U+FE0F].go?" {
		t.Errorf("a path is asked about as %q", got)
	}
	if got := display.Summary("Task", json.RawMessage("{\"description\":\"a \u2764\ufe0f\"}")); got != "a \u2764\ufe0f" {
		t.Errorf("prose is shown as %q", got)
	}
}

func TestNumberTakesAReasonForADenialAlone(t *testing.T) {
	for text, want := range map[string]struct {
		n      int
		reason string
		ok     bool
	}{"1": {1, "", true}, " 2 ": {2, "", true}, "0": {0, "", true}, "0 not now": {0, "not now", true}, "1 please": {ok: false}, "-1": {ok: false}, "yes": {ok: false}, "": {ok: false}} {
		if n, reason, ok := Number(text); ok != want.ok || ok && (n != want.n || reason != want.reason) {
			t.Errorf("%q: %d %q %v", text, n, reason, ok)
		}
	}
}

func TestPlanChoicesAreWhatALineAnswers(t *testing.T) {
	for _, c := range PlanChoices() {
		if got := Plan(c.Key).Decision; got != c.Decision {
			t.Errorf("%s means %s, want %s", c.Key, got, c.Decision)
		}
	}
	if a := Plan("smaller steps"); a.Decision != protocol.PlanRevise || a.Feedback != "smaller steps" {
		t.Errorf("%+v", a)
	}
}
