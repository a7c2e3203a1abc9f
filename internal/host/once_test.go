package host_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/host"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
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
		// Who asks for something else by the same name has mixed up their names, however
		// long ago that was: what they ask for now is neither done nor said to be.
		if name == "compact" { // there was nothing to compact, and so nothing was done
			continue
		}
		w.restart()
		c.connect()
		changed := "changed"
		sent.Request = map[string]protocol.Request{"send": &protocol.SendMessage{Content: text("three")}, "label": &protocol.SetLabel{TargetEventID: user, Label: &changed},
			"info":   &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &changed}},
			"branch": &protocol.BranchTo{LeafEventID: page.Events[0].ID}, "rewind": &protocol.RewindTo{TargetEventID: &user},
			"create": &protocol.CreateSession{ProjectID: project.ProjectID, Meta: protocol.Meta{WorkDir: w.project, Name: changed}},
			"clone":  &protocol.CloneSession{FromSessionID: e.id, Name: changed}}[name]
		if r := c.call(sent); r.Err == nil || r.Err.Code != protocol.CodeInvalidRequest || !strings.Contains(string(r.Err.Details), "requestId") {
			t.Errorf("%s: another request of the same name is answered with %s", name, asText(t, r))
		}
		if n := len(w.log(sent.SessionID)); n != lines {
			t.Errorf("%s: %d lines more by another request of the same name", name, n-lines)
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

// caused gives the events of the log that completed a request.
func (w *world) caused(call protocol.Call) (ids []protocol.EventID) {
	for _, e := range w.log(call.SessionID) {
		if e.Cause != nil && e.Cause.RequestID == call.RequestID {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// twice sends a request, loses its answer with the host, and repeats it: at the next
// host and, there, behind more other results than are remembered.
func (c *caller) twice(w *world, sent protocol.Call) (before, after protocol.Reply) {
	w.t.Helper()
	before = c.call(sent)
	if before.Err != nil {
		w.t.Fatalf("%s: %v", sent.Request.Spec().Name, before.Err)
	}
	w.restart()
	c.connect()
	sent.Repeat = true
	after = c.call(sent)
	for range 257 {
		c.call(newCall(sent.SessionID, &protocol.Cancel{TurnID: "trn_0000000000000000"}))
	}
	third := c.call(sent)
	if asText(w.t, third) != asText(w.t, after) {
		w.t.Errorf("%s: answered %s, and behind 257 others %s", sent.Request.Spec().Name, asText(w.t, after), asText(w.t, third))
	}
	return before, after
}

func TestRequestsAboutQueuesActOnceOverARestart(t *testing.T) {
	w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, turn := w.busy()
	e.followUp("a", "b")
	c := w.caller()
	for name, r := range map[string]protocol.Request{
		"steer":     &protocol.Steer{TurnID: turn, Content: text("steered")},
		"follow_up": &protocol.FollowUp{Content: text("followed")},
		"send":      &protocol.SendMessage{Content: text("sent")},
	} {
		sent := newCall(e.id, r)
		before := c.call(sent)
		again := sent
		again.Repeat = true
		after := w.killed()
		d := &caller{w: after, key: c.key}
		d.connect()
		lines := len(after.log(e.id))
		reply := d.call(again)
		want := before.Data.(*protocol.Sent)
		if got, ok := reply.Data.(*protocol.Sent); !ok || got.ItemID != want.ItemID || len(after.log(e.id)) != lines {
			t.Errorf("%s: answered %s, and %s when it was repeated; %d lines more", name, asText(t, before), asText(t, reply), len(after.log(e.id))-lines)
		}
	}
	q := w.open(w.connect(false), e.id).queue(protocol.QueueFollowUp)
	sent := newCall(e.id, &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: append(q.Items[:1:1], protocol.QueueItem{Content: text("new")})})
	if before, after := c.twice(w, sent); asText(t, before) != asText(t, after) || len(w.caused(sent)) != 1 {
		t.Errorf("rewrite_queue: %s, %s, %d events", asText(t, before), asText(t, after), len(w.caused(sent)))
	}
}

func TestAResumeThatIsRepeatedDoesNotResumeWhatWasPausedSince(t *testing.T) {
	w := newWorld(t, allowed(), wait, `{"if":{"user":"^hang"},"again":true,"do":[{"hang":true}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e, turn := w.busy()
	call[*protocol.Sent](t, e.c, e.id, &protocol.Steer{Content: text("hang")})
	e.followUp("later")
	call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn})
	e.end() // both queues are paused
	e.events = nil
	c := w.caller()
	resume := newCall(e.id, &protocol.ResumeQueue{})
	if r := c.call(resume); r.Err != nil {
		t.Fatal(r.Err)
	}
	second := e.until(ofType(protocol.TypeRuntimeStart)).TurnID
	call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: second})
	e.end()
	if !e.queue(protocol.QueueFollowUp).Paused {
		t.Fatalf("the queue is not paused: %+v", e.s.Live.Queues)
	}
	w.restart()
	c.connect()
	resume.Repeat = true
	if r := c.call(resume); r.Err != nil {
		t.Error(r.Err)
	}
	a := w.open(w.connect(false), e.id)
	if !a.queue(protocol.QueueFollowUp).Paused || a.s.Live.Running {
		t.Errorf("the repeat resumed it: %+v", a.s.Live.Queues)
	}
	if n := len(w.caused(resume)); n != 1 {
		t.Errorf("%d events name the request", n)
	}
	// One that found nothing to resume does not act later either.
	empty := w.begin(false)
	idle := newCall(empty.id, &protocol.ResumeQueue{})
	if r := c.call(idle); r.Err != nil || len(w.caused(idle)) != 1 {
		t.Errorf("resumed nothing: %+v, %d events", r, len(w.caused(idle)))
	}
}

func TestAModeThatIsRepeatedDoesNotUndoALaterOne(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	c := w.caller()
	first := newCall(e.id, &protocol.SetMode{Mode: "acceptEdits"})
	c.call(first)
	call[*protocol.Done](t, e.c, e.id, &protocol.SetMode{Mode: "plan"})
	w.restart()
	c.connect()
	first.Repeat = true
	if r := c.call(first); r.Err != nil {
		t.Error(r.Err)
	}
	if a := w.open(w.connect(false), e.id); a.s.Live.Mode != "plan" {
		t.Errorf("the mode is %q", a.s.Live.Mode)
	}
}

func TestAnAnswerThatIsRepeatedIsTheSameAnswer(t *testing.T) {
	w := newWorld(t, setting{attended: true}, runTwice, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.begin(true)
	e.send("run")
	q := e.asked(1)
	c := w.caller()
	answer := newCall(e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
	if r := c.call(answer); r.Err != nil {
		t.Fatal(r.Err)
	}
	e.end()
	w.restart()
	c.connect()
	answer.Repeat = true
	if r := c.call(answer); r.Err != nil {
		t.Errorf("repeated: %v", r.Err)
	}
	if n := len(w.caused(answer)); n != 1 {
		t.Errorf("%d decisions", n)
	}
}

func TestARewindThatIsRepeatedRestoresFilesUnlessTheConversationHasGoneOn(t *testing.T) {
	for _, gone := range []bool{false, true} {
		w := newWorld(t, setting{overrides: host.Overrides{Mode: "acceptEdits"}},
			`{"if":{"user":"one"},"do":[{"call":"Write","id":"c1","input":{"path":"a.txt","content":"first"}}]}`, `{"do":[{"text":"done"}]}`,
			`{"if":{"user":"anew"},"do":[{"call":"Write","id":"c2","input":{"path":"a.txt","content":"first"}}]}`, `{"do":[{"text":"done"}]}`)
		e := w.begin(false)
		e.say("one")
		c := w.caller()
		// The host is killed between the event and the files: they are as they were.
		rewind := newCall(e.id, &protocol.RewindTo{RestoreFiles: true})
		if r := c.call(rewind); r.Err != nil {
			t.Fatal(r.Err)
		}
		if !gone {
			w.file("a.txt", "first")
			w.chmod("a.txt", 0o644) // as the agent left it
		}
		if gone {
			e.say("anew")
		}
		w.restart()
		c.connect()
		rewind.Repeat = true
		r := c.call(rewind)
		moved, ok := r.Data.(*protocol.Moved)
		if !ok || moved.LeafID != "" || (len(moved.Removed) == 1) == gone {
			t.Errorf("gone on %v: %s", gone, asText(t, r))
		}
		_, err := os.Stat(filepath.Join(w.project, "a.txt"))
		if (err == nil) != gone {
			t.Errorf("gone on %v: the file is there: %v", gone, err == nil)
		}
		if n := len(w.caused(rewind)); n != 1 {
			t.Errorf("%d rewinds", n)
		}
	}
}

// TestARequestIsCarriedOutThoughItsConnectionEnds loses the connection while the disk
// is slow, and repeats the request on the next one while it is still slow.
func TestARequestIsCarriedOutThoughItsConnectionEnds(t *testing.T) {
	gate := disktest.NewGate(disk.OS())
	s := setting{fs: gate}
	w := newWorld(t, s, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	c := w.caller()
	gate.HoldSyncs()
	sent := newCall(e.id, &protocol.SendMessage{Content: text("once")})
	ctx, lost := context.WithCancel(context.Background())
	first := make(chan protocol.Reply, 1)
	go func() { // ends when the connection is lost
		r, err := c.conn.Call(ctx, sent)
		if err != nil {
			t.Error(err)
		}
		first <- r
	}()
	gate.AwaitWaiting(1)
	lost()
	if r := <-first; r.Err == nil {
		t.Fatalf("it was answered before it was stored: %+v", r)
	}
	c.connect()
	for range 300 { // what is being carried out is not forgotten for what has been
		c.call(newCall(e.id, &protocol.Cancel{TurnID: "trn_0000000000000000"}))
	}
	sent.Repeat = true
	again := make(chan protocol.Reply, 1)
	go func() { again <- c.call(sent) }() // ends when the disk is quick
	gate.Release(-1)
	if r := <-again; r.Err != nil {
		t.Error(r.Err)
	}
	e.end()
	if got := e.users(); len(got) != 1 {
		t.Errorf("messages: %q", got)
	}
}
