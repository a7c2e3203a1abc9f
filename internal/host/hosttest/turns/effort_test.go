package turns_test

import (
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// efforts returns how much each request of the model wants it to think.
func efforts(w *hosttest.World) (out []string) {
	for _, r := range w.Server.Requests() {
		out = append(out, hosttest.Between(string(r.Body), `"reasoning_effort":"`, `"`))
	}
	return out
}

func TestUltrathinkRaisesTheLevelForOneTurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{API: "openai-completions", Tables: "reasoning = true\n", Attended: true, Overrides: host.Overrides{Thinking: "low"}},
		`{"if":{"user":"hard"},"do":[{"call":"Glob","id":"c1","input":{"pattern":"*"}}]}`, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	var notices []string
	for _, text := range []string{"easy", "this is hard: ultrathink", "what does `ultrathink` do?"} {
		if end := e.Say(text); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("%q: %+v", text, end)
		}
		for _, ev := range e.Events {
			if n, ok := ev.Body.(*protocol.Notice); ok {
				notices = append(notices, text+" → "+n.Text)
			}
		}
	}
	if got := strings.Join(efforts(w), " "); got != "low high high low" {
		t.Errorf("the levels of the requests are %s", got)
	}
	if got := strings.Join(notices, "|"); got != "this is hard: ultrathink → ultrathink: the thinking level is high for this turn." {
		t.Errorf("notices %q", got)
	}
	if meta := e.S.Live.Meta; meta.ThinkingLevel != "" {
		t.Errorf("the session's level became %q", meta.ThinkingLevel)
	}
}
