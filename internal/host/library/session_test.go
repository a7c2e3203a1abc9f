package library_test

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

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestSessionsAreListedNewestFirstInPages(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	var ids []protocol.SessionID
	for i := range 5 {
		e := w.Begin(false)
		e.Say(fmt.Sprint("prompt ", i))
		if err := e.S.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	c := w.Connect(false)
	var got []protocol.SessionID
	req := &protocol.ListSessions{Limit: 2}
	for pages := 1; ; pages++ {
		list := hosttest.Call[*protocol.SessionList](t, c, "", req)
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
	list := hosttest.Call[*protocol.SessionList](t, c, "", &protocol.ListSessions{Query: "prompt 3"})
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != ids[3] || list.Sessions[0].FirstPrompt != "prompt 3" {
		t.Errorf("found: %+v", list.Sessions)
	}
}

func TestACloneKeepsTheIdsOfItsEventsAndGoesItsOwnWay(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	first := e.Answers()[0]
	e.Say("two")
	old := "the original"
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &old}})
	if copied := hosttest.Call[*protocol.SessionSummary](t, e.C, hosttest.NewID(), &protocol.CloneSession{FromSessionID: e.ID}); copied.Meta.Name != old {
		t.Errorf("a copy without a name: %+v", copied)
	}
	named := hosttest.NewID()
	if copied := hosttest.Call[*protocol.SessionSummary](t, e.C, named, &protocol.CloneSession{FromSessionID: e.ID, Name: "a name"}); copied.Meta.Name != "a name" || w.Open(e.C, named).S.Live.Meta.Name != "a name" {
		t.Errorf("a copy of a session that was renamed: %+v", copied)
	}
	id := hosttest.NewID()
	sum := hosttest.Call[*protocol.SessionSummary](t, e.C, id, &protocol.CloneSession{FromSessionID: e.ID, FromEventID: first, Name: "a copy"})
	if sum.SessionID != id || sum.Meta.Name != "a copy" || sum.ClonedFrom == nil || sum.ClonedFrom.SessionID != e.ID || sum.LeafID != first {
		t.Errorf("the clone: %+v", sum)
	}
	hosttest.Refused(t, e.C, id, &protocol.CloneSession{FromSessionID: e.ID}, protocol.CodeConflict)
	hosttest.Refused(t, e.C, hosttest.NewID(), &protocol.CloneSession{FromSessionID: hosttest.NewID()}, protocol.CodeSessionNotFound)
	hosttest.Refused(t, e.C, hosttest.NewID(), &protocol.CloneSession{FromSessionID: e.ID, FromEventID: "evt_0000000000000000"}, protocol.CodeInvalidEventID)
	c := w.Open(e.C, id)
	if got := c.Answers(); len(got) != 1 || got[0] != first {
		t.Errorf("answers of the clone: %v", got)
	}
	c.Say("three")
	if got := c.Users(); len(got) != 2 || got[1] != "three" {
		t.Errorf("the clone: %q", got)
	}
	if got := e.Users(); len(got) != 2 || got[1] != "two" {
		t.Errorf("the original: %q", got)
	}
	w.Judged()
}

func TestACopyIsInTheModeOfItsSourceUnlessThatAllowsMoreThanTheConfiguration(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	first := e.Answers()[0]
	e.Say("two")
	copyOf := func(at protocol.EventID) (mode string, notices []string) {
		id := hosttest.NewID()
		sum := hosttest.Call[*protocol.SessionSummary](t, e.C, id, &protocol.CloneSession{FromSessionID: e.ID, FromEventID: at})
		return w.Open(e.C, id).S.Live.Mode, sum.Notices
	}
	if mode, notices := copyOf(""); mode != "" || len(notices) > 0 {
		t.Errorf("without a mode: %q, %q", mode, notices)
	}
	for _, mode := range []string{"plan", "dontAsk", "default"} {
		e.Mode(mode)
		for _, at := range []protocol.EventID{"", first} {
			if got, notices := copyOf(at); got != mode || len(notices) > 0 {
				t.Errorf("%s up to %q: %q, %q", mode, at, got, notices)
			}
		}
	}
	e.Mode("acceptEdits")
	if mode, notices := copyOf(""); mode != "" || len(notices) != 1 || !strings.Contains(notices[0], "acceptEdits") {
		t.Errorf("acceptEdits: %q, %q", mode, notices)
	}
	w.Judged()
}

func TestLabelsAndInfoAreEventsThatNameTheirRequest(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	leaf := e.S.Live.LeafID
	label, name := "here", "a name"
	hosttest.Refused(t, e.C, e.ID, &protocol.SetLabel{TargetEventID: "evt_0000000000000000", Label: &label}, protocol.CodeInvalidEventID)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetLabel{TargetEventID: leaf, Label: &label})
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
	info := e.Until(hosttest.OfType(protocol.TypeSessionInfo))
	if info.Cause == nil || info.Cause.ClientID != info.ClientID || info.ParentID != leaf || e.S.Live.LeafID != leaf || e.S.Live.Meta.Name != name {
		t.Errorf("the event: %+v, live: %+v", info.Envelope, e.S.Live.Meta)
	}
	if err := e.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := w.Open(e.C, e.ID)
	if again.S.Opened.Summary.Meta.Name != name {
		t.Errorf("opened: %+v", again.S.Opened.Summary.Meta)
	}
}

func TestTheTreeIsReadInPagesInTheOrderOfTheLog(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	for i := range 4 {
		e.Say(fmt.Sprint(i))
	}
	want := w.Log(e.ID)
	var got []protocol.Event
	after := protocol.Seq(0)
	for {
		page := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetTree{AfterSeq: after, Limit: 3})
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
	// The events of the active path are named, also after a move, on every page.
	answers := e.Answers()
	target := answers[1]
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &target})
	onPath := map[protocol.EventID]bool{}
	for _, ev := range hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetPath{}).Events {
		onPath[ev.ID] = true
	}
	marked := 0
	for after := protocol.Seq(0); ; {
		page := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetTree{AfterSeq: after, Limit: 3})
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
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.BranchTo{LeafEventID: answers[3]})
	path := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetPath{Limit: 3})
	next := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetPath{Limit: 3, BeforeID: path.Events[2].ID})
	if !path.More || len(next.Events) != 3 || path.Events[2].ParentID != next.Events[0].ID {
		t.Errorf("pages of the path do not join: %+v %+v", path.Events, next.Events)
	}
	if path.Older != next.Older+3 || next.Older != 2 {
		t.Errorf("%d events are older than the first page, %d than the second, of 8", path.Older, next.Older)
	}
}

func TestDamageIsToldAndARepairSetsItAside(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	e.Say("two")
	first := e.Answers()[0]
	if err := e.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if r := hosttest.Call[*protocol.SessionReport](t, e.C, e.ID, &protocol.VerifySession{}); !r.Sound || len(r.Findings) != 0 {
		t.Errorf("a sound log: %+v", r)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.RepairSession{LeafEventID: first}, protocol.CodeInvalidRequest)
	name := filepath.Join(w.Home, ".scorel", "sessions", string(e.ID)+".jsonl")
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
	if r := hosttest.Call[*protocol.SessionReport](t, e.C, e.ID, &protocol.VerifySession{}); r.Sound || len(r.Findings) == 0 {
		t.Errorf("a damaged log: %+v", r)
	}
	again := w.Open(e.C, e.ID)
	if again.S.Opened.ReadOnly == "" {
		t.Errorf("opened: %+v", again.S.Opened)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("x")}, protocol.CodeStorageError)
	if err := again.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.RepairSession{}, protocol.CodeStorageError)
	hosttest.Refused(t, e.C, e.ID, &protocol.RepairSession{LeafEventID: "evt_0000000000000000"}, protocol.CodeInvalidEventID)
	if r := hosttest.Call[*protocol.SessionReport](t, e.C, e.ID, &protocol.RepairSession{LeafEventID: first}); !r.Sound {
		t.Errorf("after the repair: %+v", r)
	}
	last := w.Open(e.C, e.ID)
	last.Say("three")
	if got := last.Users(); len(got) != 2 || got[0] != "one" || got[1] != "three" {
		t.Errorf("after the repair: %q", got)
	}
}

func TestAnOpenSessionIsNotDeleted(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	hosttest.Refused(t, e.C, e.ID, &protocol.DeleteSession{}, protocol.CodeSessionLocked)
	e.Say("one")
	if err := e.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	hosttest.Call[*protocol.Deleted](t, e.C, e.ID, &protocol.DeleteSession{})
	hosttest.Refused(t, e.C, e.ID, &protocol.DeleteSession{}, protocol.CodeSessionNotFound)
	hosttest.Refused(t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("x")}, protocol.CodeSessionNotFound)
	hosttest.Refused(t, e.C, "ses_../../etc/passwd", &protocol.DeleteSession{}, protocol.CodeInvalidRequest)
}

func TestAnotherHostThatHoldsASessionIsNamed(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	other := *w
	other.Start()
	c := other.Connect(false)
	_, err := c.Open(context.Background(), e.ID, 0)
	var pe *protocol.Error
	if !errors.As(err, &pe) || pe.Code != protocol.CodeSessionLocked || !strings.Contains(pe.Message, fmt.Sprint(os.Getpid())) {
		t.Fatalf("open: %v", err)
	}
	hosttest.Refused(t, c, e.ID, &protocol.SendMessage{Content: hosttest.Text("x")}, protocol.CodeSessionLocked)
	list := hosttest.Call[*protocol.SessionList](t, c, "", &protocol.ListSessions{})
	if len(list.Sessions) != 1 || list.Sessions[0].LockedBy == "" {
		t.Errorf("listed: %+v", list.Sessions)
	}
	if got := hosttest.Call[*protocol.Events](t, c, e.ID, &protocol.GetPath{}); len(got.Events) != 2 {
		t.Errorf("reading needs no lock: %+v", got)
	}
	if err := e.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	o := other.Open(c, e.ID)
	o.Say("two")
	if got := o.Users(); len(got) != 2 {
		t.Errorf("messages: %q", got)
	}
}

func TestTenHostsShareAHome(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	if err := os.Remove(filepath.Join(w.Home, ".scorel", "device.json")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	devices, projects := map[protocol.DeviceID]bool{}, map[protocol.ProjectID]bool{}
	for range 10 {
		wg.Go(func() {
			h, err := host.New(w.Config)
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
			p, err := client.Call[*protocol.Project](ctx, c, "", &protocol.RegisterProject{WorkDir: w.Project})
			if err != nil {
				t.Error(err)
				return
			}
			id := hosttest.NewID()
			if _, err := client.Call[*protocol.SessionSummary](ctx, c, id, &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: w.Project}}); err != nil {
				t.Error(err)
				return
			}
			s, err := c.Open(ctx, id, 0)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := client.Call[*protocol.Sent](ctx, c, id, &protocol.SendMessage{Content: hosttest.Text("hello")}); err != nil {
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
	list := hosttest.Call[*protocol.SessionList](t, w.Connect(false), "", &protocol.ListSessions{})
	if len(list.Sessions) != 10 {
		t.Errorf("%d sessions are listed", len(list.Sessions))
	}
	if len(devices) != 1 {
		t.Errorf("one home became %d devices", len(devices))
	}
}

func TestASessionThatIsClosedAndOpenedAgainAtOnceIsNeverLocked(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	if err := e.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		c := w.Connect(false)
		wg.Go(func() {
			for range 25 {
				s, err := c.Open(context.Background(), e.ID, 0)
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
	w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.Busy()
	if err := e.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.DeleteSession{}, protocol.CodeSessionLocked)
	w.File("go", "")
	// The turn goes on without clients, and gives the lock back at its end.
	other := *w
	other.Start()
	c := other.Connect(false)
	for {
		s, err := c.Open(context.Background(), e.ID, 0)
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
