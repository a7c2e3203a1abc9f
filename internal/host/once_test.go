package host_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// caller is a client that sends calls as they are, with ids of its own.
type caller struct {
	w    *world
	key  protocol.ClientID
	conn *host.Conn
}

func (w *world) caller() *caller {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	c := &caller{w: w, key: protocol.ClientIDOf(key)}
	c.connect()
	return c
}

// connect connects anew, as after a lost connection or a restart of the host.
func (c *caller) connect() {
	c.w.t.Helper()
	conn, err := c.w.host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: c.key, ClientName: "test"}, protocol.GrantControl)
	if err != nil {
		c.w.t.Fatal(err)
	}
	c.conn = conn
	c.w.t.Cleanup(func() { _ = conn.Close() })
}

func (c *caller) call(call protocol.Call) protocol.Reply {
	c.w.t.Helper()
	r, err := c.conn.Call(context.Background(), call)
	if err != nil {
		c.w.t.Fatal(err)
	}
	return r
}

func asText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func newCall(id protocol.SessionID, r protocol.Request) protocol.Call {
	return protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: id, Request: r}
}

func TestARequestActsOnceHoweverOftenItIsSent(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	c := w.caller()
	call := newCall(e.id, &protocol.SendMessage{Content: text("once")})
	replies := make([]string, 8)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			r, err := c.conn.Call(context.Background(), call)
			if err != nil {
				t.Error(err)
			}
			replies[i] = asText(t, r)
		})
	}
	wg.Wait()
	e.end()
	for _, r := range append(replies, asText(t, c.call(call))) {
		if r != replies[0] {
			t.Errorf("answers differ: %s and %s", replies[0], r)
		}
	}
	if n := len(e.messages()); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
	other := call
	other.Request = &protocol.SendMessage{Content: text("another")}
	if r := c.call(other); r.Err == nil || r.Err.Code != protocol.CodeInvalidRequest {
		t.Errorf("another request under the same id: %+v", r)
	}
	// The same id of another client is another request.
	if r := w.caller().call(call); r.Err != nil {
		t.Errorf("another client: %v", r.Err)
	}
}

func TestARequestThatFailedMayBeTriedAgain(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	c := w.caller()
	call := newCall(e.id, &protocol.SetLabel{TargetEventID: "evt_0000000000000000"})
	for range 2 {
		if r := c.call(call); r.Err == nil || r.Err.Code != protocol.CodeInvalidEventID {
			t.Errorf("a label for nothing: %+v", r)
		}
	}
}

func TestARequestWhoseAnswerWasLostActsOnceAlsoOverARestart(t *testing.T) {
	w := newWorld(t, setting{}, `{"if":{"kind":"compact"},"again":true,"do":[{"text":"so far"}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	first := e.messages()
	page := call[*protocol.Events](t, e.c, e.id, &protocol.GetPath{})
	user := page.Events[len(page.Events)-1].ID
	project := call[*protocol.Project](t, e.c, "", &protocol.RegisterProject{WorkDir: w.project})
	c := w.caller()
	label := "here"
	made, cloned := protocol.NewSessionID(time.Now(), rand.Reader), protocol.NewSessionID(time.Now(), rand.Reader)
	for name, sent := range map[string]protocol.Call{
		"send":    newCall(e.id, &protocol.SendMessage{Content: text("two")}),
		"label":   newCall(e.id, &protocol.SetLabel{TargetEventID: user, Label: &label}),
		"info":    newCall(e.id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &label}}),
		"compact": newCall(e.id, &protocol.CompactSession{}),
		"branch":  newCall(e.id, &protocol.BranchTo{LeafEventID: user}),
		"rewind":  newCall(e.id, &protocol.RewindTo{}),
		"create":  newCall(made, &protocol.CreateSession{ProjectID: project.ProjectID, Meta: protocol.Meta{WorkDir: w.project}}),
		"clone":   newCall(cloned, &protocol.CloneSession{FromSessionID: e.id, FromEventID: user}),
	} {
		before := c.call(sent)
		if before.Err != nil {
			t.Fatalf("%s: %v", name, before.Err)
		}
		w.restart()
		c.connect()
		lines := len(w.log(sent.SessionID))
		sent.Repeat = true
		after := c.call(sent)
		if after.Err != nil {
			t.Fatalf("%s, repeated: %v", name, after.Err)
		}
		if s, ok := before.Data.(*protocol.Sent); ok {
			before.Data = &protocol.Sent{EventID: s.EventID, ItemID: s.ItemID} // the turn is over
		}
		if name != "create" && name != "clone" && asText(t, after) != asText(t, before) {
			t.Errorf("%s: answered %s, and %s when it was repeated", name, asText(t, before), asText(t, after))
		}
		if n := len(w.log(sent.SessionID)); n != lines {
			t.Errorf("%s: %d lines more when it was repeated", name, n-lines)
		}
	}
	if len(first) != 2 {
		t.Errorf("%d messages at first", len(first))
	}
	// A deletion that is repeated finds nothing, and that is what was wanted.
	gone := newCall(made, &protocol.DeleteSession{})
	if r := c.call(gone); r.Err != nil {
		t.Fatal(r.Err)
	}
	w.restart()
	c.connect()
	gone.Repeat = true
	if r := c.call(gone); r.Err != nil {
		t.Errorf("a repeated deletion: %v", r.Err)
	}
}

func TestAClientReadsOnlyPayloadsThatItMadeOrThatItsSessionNames(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	ref := call[*protocol.BlobRef](t, e.c, "", &protocol.PutBlob{UploadID: "u", Data: []byte("secret"), Last: true})
	get := &protocol.GetBlob{SHA256: ref.SHA256, Length: 100}
	if part := call[*protocol.BlobPart](t, e.c, "", get); string(part.Data) != "secret" {
		t.Errorf("its own payload: %q", part.Data)
	}
	other := w.connect(false)
	refused(t, other, "", get, protocol.CodeForbidden)
	refused(t, other, e.id, get, protocol.CodeForbidden)
	call[*protocol.Sent](t, e.c, e.id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("see"),
		{Type: protocol.BlockFile, Name: "a.txt", MediaType: "text/plain", Blob: ref.SHA256}}})
	e.end()
	if part := call[*protocol.BlobPart](t, other, e.id, get); string(part.Data) != "secret" {
		t.Errorf("a payload that the session names: %q", part.Data)
	}
}
