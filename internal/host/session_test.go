package host_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

func newID() protocol.SessionID { return protocol.NewSessionID(time.Now(), rand.Reader) }

func TestSessionsAreListedNewestFirstInPages(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	var ids []protocol.SessionID
	for i := range 5 {
		e := w.begin(false)
		e.say(fmt.Sprint("prompt ", i))
		if err := e.s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.id)
	}
	c := w.connect(false)
	var got []protocol.SessionID
	req := &protocol.ListSessions{Limit: 2}
	for pages := 1; ; pages++ {
		list := call[*protocol.SessionList](t, c, "", req)
		for _, s := range list.Sessions {
			got = append(got, s.SessionID)
			req.Before, req.BeforeTime = s.SessionID, s.UpdatedAt
		}
		if list.More != (pages < 3) {
			t.Errorf("page %d: more is %v", pages, list.More)
		}
		if !list.More {
			break
		}
	}
	for i := range ids {
		if len(got) != 5 || got[i] != ids[4-i] {
			t.Fatalf("listed %v, made %v", got, ids)
		}
	}
	list := call[*protocol.SessionList](t, c, "", &protocol.ListSessions{Query: "prompt 3"})
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != ids[3] || list.Sessions[0].FirstPrompt != "prompt 3" {
		t.Errorf("found: %+v", list.Sessions)
	}
}

func TestACloneKeepsTheIdsOfItsEventsAndGoesItsOwnWay(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	first := e.answers()[0]
	e.say("two")
	id := newID()
	sum := call[*protocol.SessionSummary](t, e.c, id, &protocol.CloneSession{FromSessionID: e.id, FromEventID: first, Name: "a copy"})
	if sum.SessionID != id || sum.Meta.Name != "a copy" || sum.ClonedFrom == nil || sum.ClonedFrom.SessionID != e.id || sum.LeafID != first {
		t.Errorf("the clone: %+v", sum)
	}
	refused(t, e.c, id, &protocol.CloneSession{FromSessionID: e.id}, protocol.CodeConflict)
	refused(t, e.c, newID(), &protocol.CloneSession{FromSessionID: newID()}, protocol.CodeSessionNotFound)
	refused(t, e.c, newID(), &protocol.CloneSession{FromSessionID: e.id, FromEventID: "evt_0000000000000000"}, protocol.CodeInvalidEventID)
	c := w.open(e.c, id)
	if got := c.answers(); len(got) != 1 || got[0] != first {
		t.Errorf("answers of the clone: %v", got)
	}
	c.say("three")
	if got := c.users(); len(got) != 2 || got[1] != "three" {
		t.Errorf("the clone: %q", got)
	}
	if got := e.users(); len(got) != 2 || got[1] != "two" {
		t.Errorf("the original: %q", got)
	}
	w.judged()
}

func TestLabelsAndInfoAreEventsThatNameTheirRequest(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	leaf := e.s.Live.LeafID
	label, name := "here", "a name"
	refused(t, e.c, e.id, &protocol.SetLabel{TargetEventID: "evt_0000000000000000", Label: &label}, protocol.CodeInvalidEventID)
	call[*protocol.Done](t, e.c, e.id, &protocol.SetLabel{TargetEventID: leaf, Label: &label})
	call[*protocol.Done](t, e.c, e.id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
	info := e.until(ofType(protocol.TypeSessionInfo))
	if info.Cause == nil || info.Cause.ClientID != info.ClientID || info.ParentID != leaf || e.s.Live.LeafID != leaf || e.s.Live.Meta.Name != name {
		t.Errorf("the event: %+v, live: %+v", info.Envelope, e.s.Live.Meta)
	}
	if err := e.s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := w.open(e.c, e.id)
	if again.s.Opened.Summary.Meta.Name != name {
		t.Errorf("opened: %+v", again.s.Opened.Summary.Meta)
	}
}

func TestTheTreeIsReadInPagesInTheOrderOfTheLog(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	for i := range 4 {
		e.say(fmt.Sprint(i))
	}
	want := w.log(e.id)
	var got []protocol.Event
	after := protocol.Seq(0)
	for {
		page := call[*protocol.Events](t, e.c, e.id, &protocol.GetTree{AfterSeq: after, Limit: 3})
		got = append(got, page.Events...)
		if !page.More {
			break
		}
		if len(page.Events) != 3 {
			t.Fatalf("a page has %d events", len(page.Events))
		}
		after = page.Events[2].Seq
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, the log has %d", len(got), len(want))
	}
	for i := range want {
		if got[i].ID != want[i].ID {
			t.Errorf("event %d is %s, in the log %s", i, got[i].ID, want[i].ID)
		}
	}
	// The events of the active path are named, also behind a move, on every page.
	answers := e.answers()
	target := answers[1]
	call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{TargetEventID: &target})
	onPath := map[protocol.EventID]bool{}
	for _, ev := range call[*protocol.Events](t, e.c, e.id, &protocol.GetPath{}).Events {
		onPath[ev.ID] = true
	}
	marked := 0
	for after := protocol.Seq(0); ; {
		page := call[*protocol.Events](t, e.c, e.id, &protocol.GetTree{AfterSeq: after, Limit: 3})
		for i, ev := range page.Events {
			if slices.Contains(page.Active, i) != onPath[ev.ID] {
				t.Errorf("%s on the path: %t, marked %v", ev.ID, onPath[ev.ID], page.Active)
			}
		}
		marked += len(page.Active)
		if !page.More {
			break
		}
		after = page.Events[2].Seq
	}
	if marked != len(onPath) || marked < 4 {
		t.Errorf("%d of %d events are marked", marked, len(onPath))
	}
	call[*protocol.Moved](t, e.c, e.id, &protocol.BranchTo{LeafEventID: answers[3]})
	path := call[*protocol.Events](t, e.c, e.id, &protocol.GetPath{Limit: 3})
	next := call[*protocol.Events](t, e.c, e.id, &protocol.GetPath{Limit: 3, BeforeID: path.Events[2].ID})
	if !path.More || len(next.Events) != 3 || path.Events[2].ParentID != next.Events[0].ID {
		t.Errorf("pages of the path do not join: %+v %+v", path.Events, next.Events)
	}
	if path.Older != next.Older+3 || next.Older != 2 {
		t.Errorf("%d events are older than the first page, %d than the second, of 8", path.Older, next.Older)
	}
}

func TestDamageIsToldAndARepairSetsItAside(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	e.say("two")
	first := e.answers()[0]
	if err := e.s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if r := call[*protocol.SessionReport](t, e.c, e.id, &protocol.VerifySession{}); !r.Sound || len(r.Findings) != 0 {
		t.Errorf("a sound log: %+v", r)
	}
	refused(t, e.c, e.id, &protocol.RepairSession{LeafEventID: first}, protocol.CodeInvalidRequest)
	name := filepath.Join(w.home, ".scorel", "sessions", string(e.id)+".jsonl")
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Damage that may have been a rewind: only a person knows the leaf.
	if _, err := f.WriteString("{\"type\":\"rewind\",\"id\":\"evt_\x00\x00\n{\"type\":\"mess\x00\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if r := call[*protocol.SessionReport](t, e.c, e.id, &protocol.VerifySession{}); r.Sound || len(r.Findings) == 0 {
		t.Errorf("a damaged log: %+v", r)
	}
	again := w.open(e.c, e.id)
	if again.s.Opened.ReadOnly == "" {
		t.Errorf("opened: %+v", again.s.Opened)
	}
	refused(t, e.c, e.id, &protocol.SendMessage{Content: text("x")}, protocol.CodeStorageError)
	if err := again.s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	refused(t, e.c, e.id, &protocol.RepairSession{}, protocol.CodeStorageError)
	refused(t, e.c, e.id, &protocol.RepairSession{LeafEventID: "evt_0000000000000000"}, protocol.CodeInvalidEventID)
	if r := call[*protocol.SessionReport](t, e.c, e.id, &protocol.RepairSession{LeafEventID: first}); !r.Sound {
		t.Errorf("after the repair: %+v", r)
	}
	last := w.open(e.c, e.id)
	last.say("three")
	if got := last.users(); len(got) != 2 || got[0] != "one" || got[1] != "three" {
		t.Errorf("after the repair: %q", got)
	}
}

func TestAnOpenSessionIsNotDeleted(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	refused(t, e.c, e.id, &protocol.DeleteSession{}, protocol.CodeSessionLocked)
	e.say("one")
	if err := e.s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	call[*protocol.Deleted](t, e.c, e.id, &protocol.DeleteSession{})
	refused(t, e.c, e.id, &protocol.DeleteSession{}, protocol.CodeSessionNotFound)
	refused(t, e.c, e.id, &protocol.SendMessage{Content: text("x")}, protocol.CodeSessionNotFound)
	refused(t, e.c, "ses_../../etc/passwd", &protocol.DeleteSession{}, protocol.CodeInvalidRequest)
}

func TestAnotherHostThatHoldsASessionIsNamed(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	other := *w
	other.start()
	c := other.connect(false)
	_, err := c.Open(context.Background(), e.id, 0)
	var pe *protocol.Error
	if !errors.As(err, &pe) || pe.Code != protocol.CodeSessionLocked || !strings.Contains(pe.Message, fmt.Sprint(os.Getpid())) {
		t.Fatalf("open: %v", err)
	}
	refused(t, c, e.id, &protocol.SendMessage{Content: text("x")}, protocol.CodeSessionLocked)
	list := call[*protocol.SessionList](t, c, "", &protocol.ListSessions{})
	if len(list.Sessions) != 1 || list.Sessions[0].LockedBy == "" {
		t.Errorf("listed: %+v", list.Sessions)
	}
	if got := call[*protocol.Events](t, c, e.id, &protocol.GetPath{}); len(got.Events) != 2 {
		t.Errorf("reading needs no lock: %+v", got)
	}
	if err := e.s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	o := other.open(c, e.id)
	o.say("two")
	if got := o.users(); len(got) != 2 {
		t.Errorf("messages: %q", got)
	}
}

func TestTenHostsShareAHome(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	if err := os.Remove(filepath.Join(w.home, ".scorel", "device.json")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	devices, projects := map[protocol.DeviceID]bool{}, map[protocol.ProjectID]bool{}
	for range 10 {
		wg.Go(func() {
			h, err := host.New(w.config)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			}()
			key := make([]byte, 32)
			_, _ = rand.Read(key)
			conn, err := h.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(key)}, protocol.GrantControl)
			if err != nil {
				t.Error(err)
				return
			}
			c := client.New(conn)
			defer func() { _ = c.Close() }()
			ctx := context.Background()
			p, err := client.Call[*protocol.Project](ctx, c, "", &protocol.RegisterProject{WorkDir: w.project})
			if err != nil {
				t.Error(err)
				return
			}
			id := newID()
			if _, err := client.Call[*protocol.SessionSummary](ctx, c, id, &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: w.project}}); err != nil {
				t.Error(err)
				return
			}
			s, err := c.Open(ctx, id, 0)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := client.Call[*protocol.Sent](ctx, c, id, &protocol.SendMessage{Content: text("hello")}); err != nil {
				t.Error(err)
				return
			}
			for over := false; !over; {
				u, err := s.Next(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				for _, ev := range u.Events {
					over = over || ev.Type == protocol.TypeRuntimeEnd
				}
				over = over || u.Fresh && s.Live.Ended != nil // it ended before the subscription began
			}
			mu.Lock()
			defer mu.Unlock()
			devices[s.Live.DeviceID], projects[p.ProjectID] = true, true
		})
	}
	wg.Wait()
	if len(projects) != 1 {
		t.Errorf("one folder became %d projects", len(projects))
	}
	list := call[*protocol.SessionList](t, w.connect(false), "", &protocol.ListSessions{})
	if len(list.Sessions) != 10 {
		t.Errorf("%d sessions are listed", len(list.Sessions))
	}
	if len(devices) != 1 {
		t.Errorf("one home became %d devices", len(devices))
	}
}

func TestASessionThatIsClosedAndOpenedAgainAtOnceIsNeverLocked(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	if err := e.s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		c := w.connect(false)
		wg.Go(func() {
			for range 25 {
				s, err := c.Open(context.Background(), e.id, 0)
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(context.Background()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestASessionIsClosedWhenItsTurnEndsAndNobodyHasItOpen(t *testing.T) {
	w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.busy()
	if err := e.s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	refused(t, e.c, e.id, &protocol.DeleteSession{}, protocol.CodeSessionLocked)
	w.file("go", "")
	// The turn goes on without clients, and gives the lock back at its end.
	other := *w
	other.start()
	c := other.connect(false)
	for {
		s, err := c.Open(context.Background(), e.id, 0)
		if err == nil {
			if got := s.Opened.Summary.Events; got < 5 {
				t.Errorf("%d events", got)
			}
			break
		}
		if pe := protocol.AsError(err); pe.Code != protocol.CodeSessionLocked {
			t.Fatal(err)
		}
	}
}
