package session

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"scorel/internal/engine/session/health"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// world is a store on a file system in memory, and a writer of events.
type world struct {
	mem   *disktest.Mem
	fs    disk.FS // mem, or something laid over it
	rand  io.Reader
	id    protocol.SessionID
	seq   protocol.Seq
	store *Store

	packed []byte // a bundle, for tests of imports
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{mem: disktest.NewMem(), rand: rand.NewChaCha8([32]byte{1})}
	w.fs = w.mem
	w.mem.Put("/home/.profile", nil) // the home folder is durable, what is in ours is not
	w.restart(t)
	return w
}

// restart makes a store again, as a new process would.
func (w *world) restart(t testing.TB) {
	t.Helper()
	var err error
	w.store, err = OpenStore(Config{FS: w.fs, Dir: "/home/.scorel", Now: w.now, Rand: w.rand})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) now() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) }

func (w *world) header() protocol.Header {
	return protocol.Header{DeviceID: protocol.DeviceIDOf([]byte("d")), Meta: protocol.Meta{Name: "first", Model: "a/b"}}
}

func (w *world) create(t testing.TB) *Log {
	t.Helper()
	log, err := w.store.Create(t.Context(), w.header())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	w.id = log.ID()
	return log
}

func (w *world) open(t testing.TB) (*Log, health.Report) {
	t.Helper()
	log, report, err := w.store.Open(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log, report
}

// event makes the next event.
func (w *world) event(parent protocol.EventID, body protocol.Body) protocol.Event {
	w.seq++
	ev := protocol.NewEvent(body)
	ev.ID, ev.ParentID, ev.Seq = protocol.NewEventID(w.rand), parent, w.seq
	ev.SessionID, ev.ClientID, ev.TS = w.id, protocol.HostClient, 1_800_000_000_000+int64(w.seq)
	return ev
}

func (w *world) user(parent protocol.EventID, text string) protocol.Event {
	return w.event(parent, &protocol.MessageBody{Message: protocol.UserText(text)})
}

func (w *world) assistant(parent protocol.EventID, text string, calls ...string) protocol.Event {
	m := protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text(text)}, Provider: "p", Model: "m",
		StopReason: protocol.StopEndTurn, Usage: &protocol.Usage{InputTokens: 3, OutputTokens: 4}}
	for _, c := range calls {
		m.Content = append(m.Content, protocol.ToolUse(c, "Read", []byte(`{"path":"a"}`)))
		m.StopReason = protocol.StopToolUse
	}
	return w.event(parent, &protocol.MessageBody{Message: m})
}

func (w *world) result(parent protocol.EventID, call string) protocol.Event {
	return w.event(parent, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: call, ToolName: "Read",
		Content: []protocol.Block{protocol.Text("the file")}}})
}

func (w *world) rewind(leaf protocol.EventID, target *protocol.EventID) protocol.Event {
	return w.event(leaf, &protocol.Rewind{TargetEventID: target})
}

func (w *world) logName() string { return "/home/.scorel/sessions/" + string(w.id) + ".jsonl" }

func isErr(err, target error) bool { return errors.Is(err, target) }

func ctx() context.Context { return context.Background() }
