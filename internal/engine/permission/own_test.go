package permission

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func TestWhatActsOnlyOnWhatWasAllowedIsAskedForByARuleAlone(t *testing.T) {
	act := Action{Tool: "TaskStop", Kind: Exec, Own: true}
	for _, c := range []struct {
		mode  Mode
		layer Layer
		want  protocol.Decision
	}{
		{Default, Layer{}, protocol.DecisionAllow},
		{DontAsk, Layer{}, protocol.DecisionAllow},
		{Plan, Layer{}, protocol.DecisionDeny},
		{Default, Layer{Scope: ScopeUser, Ask: []string{"TaskStop"}}, protocol.DecisionAsk},
		{Default, Layer{Scope: ScopeUser, Deny: []string{"TaskStop"}}, protocol.DecisionDeny},
	} {
		if v := compile(t, c.mode, c.layer).Judge(act); v.Decision != c.want {
			t.Errorf("in mode %s with %+v: %+v", c.mode, c.layer, v)
		}
	}
}

func TestAQuestionSaysThatACommandWouldRunOn(t *testing.T) {
	a := bash("make watch")
	a.Background = true
	const says = "in the background"
	if v := compile(t, Default).Judge(a); v.Decision != protocol.DecisionAsk || !strings.Contains(v.Reason, says) {
		t.Errorf("%+v", v)
	}
	if v := compile(t, Default).Judge(bash("make watch")); strings.Contains(v.Reason, says) {
		t.Errorf("%+v", v)
	}
}
