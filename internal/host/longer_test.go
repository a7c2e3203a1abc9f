package host_test

import (
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

// endless writes the log of a conversation of 2 MB and gives its id.
func (w *world) endless() protocol.SessionID {
	w.t.Helper()
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	log, err := protocol.Header{Version: 1, SessionID: id, Meta: protocol.Meta{WorkDir: w.project}}.AppendLine(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	leaf := protocol.EventID("")
	for i := range 200 {
		m := protocol.UserText("What comes next?")
		if i%2 == 1 {
			m = protocol.Message{Role: protocol.RoleAssistant, Provider: "p", Model: "m", StopReason: protocol.StopEndTurn,
				Content: []protocol.Block{protocol.Text(strings.Repeat("and so on ", 2000))}}
		}
		ev := protocol.NewEvent(&protocol.MessageBody{Message: m})
		ev.ID, ev.ParentID, ev.Seq, ev.SessionID, ev.ClientID = protocol.NewEventID(rand.Reader), leaf, protocol.Seq(i+1), id, protocol.HostClient
		if log, err = ev.AppendLine(append(log, '\n')); err != nil {
			w.t.Fatal(err)
		}
		leaf = ev.ID
	}
	w.write(filepath.Join(w.home, ".scorel", "sessions", string(id)+".jsonl"), string(log)+"\n")
	return id
}

func TestAConversationFarLongerThanTheWindowIsCompactedAndGoesOn(t *testing.T) {
	w := newWorld(t, setting{window: 20_000}, `{"if":{"kind":"compact"},"do":[{"text":"a summary"}]}`, `{"do":[{"text":"fine"}]}`)
	e := w.open(w.connect(false), w.endless())
	view := call[*protocol.ContextView](t, e.c, e.id, &protocol.GetContext{})
	if view.OlderMessages == 0 || view.OlderMessages+len(view.Messages) < 200 || len(view.Messages) > 70 || view.Tokens < 400_000 {
		t.Errorf("%d messages, %d before them, %d tokens", len(view.Messages), view.OlderMessages, view.Tokens)
	}
	if end := e.say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("%+v", end)
	}
	all := w.bodies()
	if len(all) != 1 || !strings.Contains(string(all[0]), "a summary") {
		t.Errorf("%d requests: %.300s", len(all), all)
	}
	w.judged()
}

func TestAConversationFarLongerThanTheWindowIsNotSentWhereNothingIsCompacted(t *testing.T) {
	w := newWorld(t, setting{window: 20_000, tables: "[compaction]\nauto = false\n"}, `{"if":{"kind":"compact"},"do":[{"text":"a summary"}]}`, `{"again":true,"do":[{"text":"fine"}]}`)
	e := w.open(w.connect(false), w.endless())
	end := e.say("go on")
	if end.Terminal != protocol.TerminalPromptTooLong || end.Error == nil || !strings.Contains(end.Error.Message, "/compact") {
		t.Errorf("%+v %+v", end, end.Error)
	}
	if n := len(w.bodies()); n != 0 {
		t.Errorf("%d requests", n)
	}
	call[*protocol.Compacted](t, e.c, e.id, &protocol.CompactSession{})
	if end := e.say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("after a compaction: %+v", end)
	}
}
