package history

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// damaged stores a talk, harms the lines of its log, and builds from what is left.
func damaged(t *testing.T, s *talk, harm func(lines [][]byte) [][]byte) Context {
	t.Helper()
	dir := t.TempDir()
	store, err := session.OpenStore(session.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(t.Context(), protocol.Header{})
	if err != nil {
		t.Fatal(err)
	}
	var events []protocol.Event
	for _, ev := range s.log.events {
		ev.SessionID = log.ID()
		events = append(events, ev)
	}
	slices.SortFunc(events, func(a, b protocol.Event) int { return int(a.Seq) - int(b.Seq) })
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "sessions", string(log.ID())+".jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := harm(bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")))
	if err := os.WriteFile(name, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	log, report, err := store.Open(t.Context(), log.ID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	if report.Summary() == "" {
		t.Error("the damage is not in the report")
	}
	b, err := New(Config{Log: log.Index()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Build(t.Context(), log.Index().Leaf(), window)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// worked is a turn with two calls; lines counts its lines from 1, after the header.
func worked() *talk {
	s := newTalk()
	s.user("look")            // 1
	s.say("I look", "a", "b") // 2
	s.result("a", "first")    // 3
	s.result("b", "second")   // 4
	s.say("seen")             // 5
	s.user("go on")           // 6
	return s
}

func sentAs(t *testing.T, c Context, want ...string) {
	t.Helper()
	if got := brief(c.Messages); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("the model is sent\n%s\nand not\n%s", got, strings.Join(want, "\n"))
	}
}

func reminderOf(text string) string { return "<system-reminder>⏎" + text + "⏎</system-reminder>" }

func TestAResultThatCannotBeReadIsCalledLost(t *testing.T) {
	c := damaged(t, worked(), func(l [][]byte) [][]byte {
		l[4] = bytes.Replace(l[4], []byte("second"), []byte("sec\x00\x00d"), 1)
		return l
	})
	sentAs(t, c, "user: look", "assistant: I look Read(a) Read(b)", "result a: first", "result b (error): "+damagedResult+"⏎⏎"+reminderOf(unreadableNote), "assistant: seen", "user: go on")
	if len(c.Unread) != 1 {
		t.Errorf("unread are %v", c.Unread)
	}
}

func TestAMessageThatWasChangedIsSentWithAMark(t *testing.T) {
	c := damaged(t, worked(), func(l [][]byte) [][]byte {
		l[5] = bytes.Replace(l[5], []byte("seen"), []byte("sewn"), 1)
		return l
	})
	sentAs(t, c, "user: look", "assistant: I look Read(a) Read(b)", "result a: first", "result b: second", "assistant: sewn", "user: "+reminderOf(changedNote), "user: go on")
}

func TestMissingMessagesLeaveANoteInTheirPlace(t *testing.T) {
	c := damaged(t, worked(), func(l [][]byte) [][]byte {
		l[4] = []byte(`{"type":"message","id":"evt_`)
		return l
	})
	sentAs(t, c, "user: look", "assistant: I look Read(a) Read(b)", "result a: first", "result b (error): "+damagedResult+"⏎⏎"+reminderOf(missingNote), "assistant: seen", "user: go on")
}

func TestAConversationThatLostItsBeginningSaysSo(t *testing.T) {
	c := damaged(t, worked(), func(l [][]byte) [][]byte {
		l[1] = []byte(`{"type":"message","id":"evt_`)
		return l
	})
	if got := brief(c.Messages); !strings.HasPrefix(got, "user: "+reminderOf(missingNote)+"\n") {
		t.Errorf("the model is sent\n%s", got)
	}
}

func TestOfAChangedAnswerNothingSignedIsSent(t *testing.T) {
	s := newTalk()
	s.user("look")
	m := answerOf("seen")
	m.Content = append([]protocol.Block{{Type: protocol.BlockThinking, Thinking: "hm", Signature: "signed"}}, m.Content...)
	s.message(m)
	s.user("go on")
	c := damaged(t, s, func(l [][]byte) [][]byte {
		l[2] = bytes.Replace(l[2], []byte("seen"), []byte("sewn"), 1)
		return l
	})
	sentAs(t, c, "user: look", "assistant: sewn", "user: "+reminderOf(changedNote), "user: go on")
}
