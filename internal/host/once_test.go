package host_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

func TestARequestActsOnceHoweverOftenItIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	c := w.Caller()
	call := hosttest.NewCall(e.ID, &protocol.SendMessage{Content: hosttest.Text("once")})
	replies := make([]string, 8)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			r, err := c.Conn.Call(context.Background(), call)
			if err != nil {
				t.Error(err)
			}
			replies[i] = hosttest.AsText(t, r)
		})
	}
	wg.Wait()
	e.End()
	for _, r := range append(replies, hosttest.AsText(t, c.Call(call))) {
		if r != replies[0] {
			t.Errorf("answers differ: %s and %s", replies[0], r)
		}
	}
	if n := len(e.Messages()); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
	other := call
	other.Request = &protocol.SendMessage{Content: hosttest.Text("another")}
	if r := c.Call(other); r.Err == nil || r.Err.Code != protocol.CodeInvalidRequest {
		t.Errorf("another request under the same id: %+v", r)
	}
	// The same id of another client is another request.
	if r := w.Caller().Call(call); r.Err != nil {
		t.Errorf("another client: %v", r.Err)
	}
}

func TestARequestThatFailedMayBeTriedAgain(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	c := w.Caller()
	call := hosttest.NewCall(e.ID, &protocol.SetLabel{TargetEventID: "evt_0000000000000000"})
	for range 2 {
		if r := c.Call(call); r.Err == nil || r.Err.Code != protocol.CodeInvalidEventID {
			t.Errorf("a label for nothing: %+v", r)
		}
	}
}

func TestARequestWhoseAnswerWasLostActsOnceAlsoOverARestart(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"if":{"kind":"compact"},"again":true,"do":[{"text":"so far"}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	first := e.Messages()
	page := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetPath{})
	user := page.Events[len(page.Events)-1].ID
	project := hosttest.Call[*protocol.Project](t, e.C, "", &protocol.RegisterProject{WorkDir: w.Project})
	c := w.Caller()
	label := "here"
	made, cloned := protocol.NewSessionID(time.Now(), rand.Reader), protocol.NewSessionID(time.Now(), rand.Reader)
	for name, sent := range map[string]protocol.Call{
		"send":    hosttest.NewCall(e.ID, &protocol.SendMessage{Content: hosttest.Text("two")}),
		"label":   hosttest.NewCall(e.ID, &protocol.SetLabel{TargetEventID: user, Label: &label}),
		"info":    hosttest.NewCall(e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &label}}),
		"compact": hosttest.NewCall(e.ID, &protocol.CompactSession{}),
		"branch":  hosttest.NewCall(e.ID, &protocol.BranchTo{LeafEventID: user}),
		"rewind":  hosttest.NewCall(e.ID, &protocol.RewindTo{}),
		"create":  hosttest.NewCall(made, &protocol.CreateSession{ProjectID: project.ProjectID, Meta: protocol.Meta{WorkDir: w.Project}}),
		"clone":   hosttest.NewCall(cloned, &protocol.CloneSession{FromSessionID: e.ID, FromEventID: user}),
	} {
		before := c.Call(sent)
		if before.Err != nil {
			t.Fatalf("%s: %v", name, before.Err)
		}
		w.Restart()
		c.Connect()
		lines := len(w.Log(sent.SessionID))
		sent.Repeat = true
		after := c.Call(sent)
		if after.Err != nil {
			t.Fatalf("%s, repeated: %v", name, after.Err)
		}
		if s, ok := before.Data.(*protocol.Sent); ok {
			before.Data = &protocol.Sent{EventID: s.EventID, ItemID: s.ItemID} // the turn is over
		}
		if name != "create" && name != "clone" && hosttest.AsText(t, after) != hosttest.AsText(t, before) {
			t.Errorf("%s: answered %s, and %s when it was repeated", name, hosttest.AsText(t, before), hosttest.AsText(t, after))
		}
		if n := len(w.Log(sent.SessionID)); n != lines {
			t.Errorf("%s: %d lines more when it was repeated", name, n-lines)
		}
		// Who asks for something else by the same name has mixed up their names, however
		// long ago that was: what they ask for now is neither done nor said to be.
		if name == "compact" { // there was nothing to compact, and so nothing was done
			continue
		}
		w.Restart()
		c.Connect()
		changed := "changed"
		sent.Request = map[string]protocol.Request{"send": &protocol.SendMessage{Content: hosttest.Text("three")}, "label": &protocol.SetLabel{TargetEventID: user, Label: &changed},
			"info":   &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &changed}},
			"branch": &protocol.BranchTo{LeafEventID: page.Events[0].ID}, "rewind": &protocol.RewindTo{TargetEventID: &user},
			"create": &protocol.CreateSession{ProjectID: project.ProjectID, Meta: protocol.Meta{WorkDir: w.Project, Name: changed}},
			"clone":  &protocol.CloneSession{FromSessionID: e.ID, Name: changed}}[name]
		if r := c.Call(sent); r.Err == nil || r.Err.Code != protocol.CodeInvalidRequest || !strings.Contains(string(r.Err.Details), "requestId") {
			t.Errorf("%s: another request of the same name is answered with %s", name, hosttest.AsText(t, r))
		}
		if n := len(w.Log(sent.SessionID)); n != lines {
			t.Errorf("%s: %d lines more by another request of the same name", name, n-lines)
		}
	}
	if len(first) != 2 {
		t.Errorf("%d messages at first", len(first))
	}
	// A deletion that is repeated finds nothing, and that is what was wanted.
	gone := hosttest.NewCall(made, &protocol.DeleteSession{})
	if r := c.Call(gone); r.Err != nil {
		t.Fatal(r.Err)
	}
	w.Restart()
	c.Connect()
	gone.Repeat = true
	if r := c.Call(gone); r.Err != nil {
		t.Errorf("a repeated deletion: %v", r.Err)
	}
}

func TestAClientReadsOnlyPayloadsThatItMadeOrThatItsSessionNames(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	ref := hosttest.Call[*protocol.BlobRef](t, e.C, "", &protocol.PutBlob{UploadID: "u", Data: []byte("secret"), Last: true})
	get := &protocol.GetBlob{SHA256: ref.SHA256, Length: 100}
	if part := hosttest.Call[*protocol.BlobPart](t, e.C, "", get); string(part.Data) != "secret" {
		t.Errorf("its own payload: %q", part.Data)
	}
	other := w.Connect(false)
	hosttest.Refused(t, other, "", get, protocol.CodeForbidden)
	hosttest.Refused(t, other, e.ID, get, protocol.CodeForbidden)
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("see"),
		{Type: protocol.BlockFile, Name: "a.txt", MediaType: "text/plain", Blob: ref.SHA256}}})
	e.End()
	if part := hosttest.Call[*protocol.BlobPart](t, other, e.ID, get); string(part.Data) != "secret" {
		t.Errorf("a payload that the session names: %q", part.Data)
	}
}

func TestRequestsAboutQueuesActOnceOverARestart(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, turn := w.Busy()
	e.FollowUp("a", "b")
	c := w.Caller()
	for name, r := range map[string]protocol.Request{
		"steer":     &protocol.Steer{TurnID: turn, Content: hosttest.Text("steered")},
		"follow_up": &protocol.FollowUp{Content: hosttest.Text("followed")},
		"send":      &protocol.SendMessage{Content: hosttest.Text("sent")},
	} {
		sent := hosttest.NewCall(e.ID, r)
		before := c.Call(sent)
		again := sent
		again.Repeat = true
		after := w.Killed()
		d := &hosttest.Caller{W: after, Key: c.Key}
		d.Connect()
		lines := len(after.Log(e.ID))
		reply := d.Call(again)
		want := before.Data.(*protocol.Sent)
		if got, ok := reply.Data.(*protocol.Sent); !ok || got.ItemID != want.ItemID || len(after.Log(e.ID)) != lines {
			t.Errorf("%s: answered %s, and %s when it was repeated; %d lines more", name, hosttest.AsText(t, before), hosttest.AsText(t, reply), len(after.Log(e.ID))-lines)
		}
	}
	q := w.Open(w.Connect(false), e.ID).Queue(protocol.QueueFollowUp)
	sent := hosttest.NewCall(e.ID, &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: append(q.Items[:1:1], protocol.QueueItem{Content: hosttest.Text("new")})})
	if before, after := c.Twice(w, sent); hosttest.AsText(t, before) != hosttest.AsText(t, after) || len(w.Caused(sent)) != 1 {
		t.Errorf("rewrite_queue: %s, %s, %d events", hosttest.AsText(t, before), hosttest.AsText(t, after), len(w.Caused(sent)))
	}
}

func TestAResumeThatIsRepeatedDoesNotResumeWhatWasPausedSince(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"if":{"user":"^hang"},"again":true,"do":[{"hang":true}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e, turn := w.Busy()
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.Steer{Content: hosttest.Text("hang")})
	e.FollowUp("later")
	hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
	e.End() // both queues are paused
	e.Events = nil
	c := w.Caller()
	resume := hosttest.NewCall(e.ID, &protocol.ResumeQueue{})
	if r := c.Call(resume); r.Err != nil {
		t.Fatal(r.Err)
	}
	second := e.Until(hosttest.OfType(protocol.TypeRuntimeStart)).TurnID
	hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: second})
	e.End()
	if !e.Queue(protocol.QueueFollowUp).Paused {
		t.Fatalf("the queue is not paused: %+v", e.S.Live.Queues)
	}
	w.Restart()
	c.Connect()
	resume.Repeat = true
	if r := c.Call(resume); r.Err != nil {
		t.Error(r.Err)
	}
	a := w.Open(w.Connect(false), e.ID)
	if !a.Queue(protocol.QueueFollowUp).Paused || a.S.Live.Running {
		t.Errorf("the repeat resumed it: %+v", a.S.Live.Queues)
	}
	if n := len(w.Caused(resume)); n != 1 {
		t.Errorf("%d events name the request", n)
	}
	// One that found nothing to resume does not act later either.
	empty := w.Begin(false)
	idle := hosttest.NewCall(empty.ID, &protocol.ResumeQueue{})
	if r := c.Call(idle); r.Err != nil || len(w.Caused(idle)) != 1 {
		t.Errorf("resumed nothing: %+v, %d events", r, len(w.Caused(idle)))
	}
}

func TestAModeThatIsRepeatedDoesNotUndoALaterOne(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	c := w.Caller()
	first := hosttest.NewCall(e.ID, &protocol.SetMode{Mode: "acceptEdits"})
	c.Call(first)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetMode{Mode: "plan"})
	w.Restart()
	c.Connect()
	first.Repeat = true
	if r := c.Call(first); r.Err != nil {
		t.Error(r.Err)
	}
	if a := w.Open(w.Connect(false), e.ID); a.S.Live.Mode != "plan" {
		t.Errorf("the mode is %q", a.S.Live.Mode)
	}
}

func TestAnAnswerThatIsRepeatedIsTheSameAnswer(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.RunTwice, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	e.Send("run")
	q := e.Asked(1)
	c := w.Caller()
	answer := hosttest.NewCall(e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
	if r := c.Call(answer); r.Err != nil {
		t.Fatal(r.Err)
	}
	e.End()
	w.Restart()
	c.Connect()
	answer.Repeat = true
	if r := c.Call(answer); r.Err != nil {
		t.Errorf("repeated: %v", r.Err)
	}
	if n := len(w.Caused(answer)); n != 1 {
		t.Errorf("%d decisions", n)
	}
}

func TestARewindThatIsRepeatedRestoresFilesUnlessTheConversationHasGoneOn(t *testing.T) {
	for _, gone := range []bool{false, true} {
		w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "acceptEdits"}},
			`{"if":{"user":"one"},"do":[{"call":"Write","id":"c1","input":{"path":"a.txt","content":"first"}}]}`, `{"do":[{"text":"done"}]}`,
			`{"if":{"user":"anew"},"do":[{"call":"Write","id":"c2","input":{"path":"a.txt","content":"first"}}]}`, `{"do":[{"text":"done"}]}`)
		e := w.Begin(false)
		e.Say("one")
		c := w.Caller()
		// The host is killed between the event and the files: they are as they were.
		rewind := hosttest.NewCall(e.ID, &protocol.RewindTo{RestoreFiles: true})
		if r := c.Call(rewind); r.Err != nil {
			t.Fatal(r.Err)
		}
		if !gone {
			w.File("a.txt", "first")
			w.Chmod("a.txt", 0o644) // as the agent left it
		}
		if gone {
			e.Say("anew")
		}
		w.Restart()
		c.Connect()
		rewind.Repeat = true
		r := c.Call(rewind)
		moved, ok := r.Data.(*protocol.Moved)
		if !ok || moved.LeafID != "" || (len(moved.Removed) == 1) == gone {
			t.Errorf("gone on %v: %s", gone, hosttest.AsText(t, r))
		}
		_, err := os.Stat(filepath.Join(w.Project, "a.txt"))
		if (err == nil) != gone {
			t.Errorf("gone on %v: the file is there: %v", gone, err == nil)
		}
		if n := len(w.Caused(rewind)); n != 1 {
			t.Errorf("%d rewinds", n)
		}
	}
}

// TestARequestIsCarriedOutThoughItsConnectionEnds loses the connection while the disk
// is slow, and repeats the request on the next one while it is still slow.
func TestARequestIsCarriedOutThoughItsConnectionEnds(t *testing.T) {
	gate := disktest.NewGate(disk.OS())
	s := hosttest.Setting{Fs: gate}
	w := hosttest.New(t, s, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	c := w.Caller()
	gate.HoldSyncs()
	sent := hosttest.NewCall(e.ID, &protocol.SendMessage{Content: hosttest.Text("once")})
	ctx, lost := context.WithCancel(context.Background())
	first := make(chan protocol.Reply, 1)
	go func() { // ends when the connection is lost
		r, err := c.Conn.Call(ctx, sent)
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
	c.Connect()
	for range 300 { // what is being carried out is not forgotten for what has been
		c.Call(hosttest.NewCall(e.ID, &protocol.Cancel{TurnID: "trn_0000000000000000"}))
	}
	sent.Repeat = true
	again := make(chan protocol.Reply, 1)
	go func() { again <- c.Call(sent) }() // ends when the disk is quick
	gate.Release(-1)
	if r := <-again; r.Err != nil {
		t.Error(r.Err)
	}
	e.End()
	if got := e.Users(); len(got) != 1 {
		t.Errorf("messages: %q", got)
	}
}
