package display

import (
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

func TestProactiveModeIsSaidInAFewWords(t *testing.T) {
	at := time.Date(2026, 3, 4, 14, 3, 25, 0, time.Local)
	for _, c := range []struct {
		a          *protocol.Automation
		line, text string
	}{
		{nil, "", "proactive mode is off"},
		{&protocol.Automation{State: protocol.AutomationStandby, EverySeconds: 30, NextTickAt: at.UnixMilli()}, "proactive: next 14:03:25", "a turn begins 30s after"},
		{&protocol.Automation{State: protocol.AutomationStandby, EverySeconds: 90, Files: true}, "proactive", "1m30s after the end of the one before, and when something else changes a file"},
		{&protocol.Automation{State: protocol.AutomationSleeping, EverySeconds: 30, Until: at.UnixMilli()}, "asleep until 14:03:25", "the model sleeps until"},
		{&protocol.Automation{State: protocol.AutomationStandby, EverySeconds: 30, NextTickAt: at.UnixMilli(), Why: "it\nis late"}, "proactive: waits", "because it"},
	} {
		if got := Proactive(c.a); got != c.line {
			t.Errorf("%+v is %q, want %q", c.a, got, c.line)
		}
		if c.a != nil && ProactiveNext(c.a, at) == "" {
			t.Errorf("nothing is said of when %+v goes on", c.a)
		}
		if got := strings.Join(ProactiveText(c.a, at), "; "); !strings.Contains(got, c.text) || strings.Contains(got, "\n") {
			t.Errorf("%+v is %q, want %q in it", c.a, got, c.text)
		}
	}
}
