package tasks_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAConversationFarLongerThanTheWindowIsCompactedAndGoesOn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Window: 20_000}, `{"if":{"kind":"compact"},"do":[{"text":"a summary"}]}`, `{"do":[{"text":"fine"}]}`)
	e := w.Open(w.Connect(false), w.Endless())
	view := hosttest.Call[*protocol.ContextView](t, e.C, e.ID, &protocol.GetContext{})
	if view.OlderMessages == 0 || view.OlderMessages+len(view.Messages) < 200 || len(view.Messages) > 70 || view.Tokens < 400_000 {
		t.Errorf("%d messages, %d before them, %d tokens", len(view.Messages), view.OlderMessages, view.Tokens)
	}
	if end := e.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("%+v", end)
	}
	all := w.Bodies()
	if len(all) != 1 || !strings.Contains(string(all[0]), "a summary") {
		t.Errorf("%d requests: %.300s", len(all), all)
	}
	w.Judged()
}

func TestAConversationFarLongerThanTheWindowIsNotSentWhereNothingIsCompacted(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Window: 20_000, Tables: "[compaction]\nauto = false\n"}, `{"if":{"kind":"compact"},"do":[{"text":"a summary"}]}`, `{"again":true,"do":[{"text":"fine"}]}`)
	e := w.Open(w.Connect(false), w.Endless())
	end := e.Say("go on")
	if end.Terminal != protocol.TerminalPromptTooLong || end.Error == nil || !strings.Contains(end.Error.Message, "/compact") {
		t.Errorf("%+v %+v", end, end.Error)
	}
	if n := len(w.Bodies()); n != 0 {
		t.Errorf("%d requests", n)
	}
	hosttest.Call[*protocol.Compacted](t, e.C, e.ID, &protocol.CompactSession{})
	if end := e.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("after a compaction: %+v", end)
	}
}
