package host_test

import (
	"fmt"
	"strings"
	"testing"

	"scorel/protocol"
)

// about says whether news are of a session, and what of it is to be so.
func about(id protocol.SessionID, is func(*protocol.SessionChanged) bool) func(*protocol.SessionChanged) bool {
	return func(f *protocol.SessionChanged) bool { return f.Summary.SessionID == id && is(f) }
}

func TestAllClientsHearWhatBecomesOfSessions(t *testing.T) {
	w := servingWorld(t, setting{attended: true}, `{"do":[{"call":"Bash","id":"c1","input":{"command":"touch x"}}]}`, `{"do":[{"text":"done"}]}`)
	listener := w.plug("listener", false, protocol.GrantView)
	c := w.plug("works", true, protocol.GrantControl)
	id := c.newSession()
	heard := func(id protocol.SessionID, is func(*protocol.SessionChanged) bool) protocol.SessionSummary {
		t.Helper()
		return news(listener, about(id, is)).Summary
	}
	if got := heard(id, func(*protocol.SessionChanged) bool { return true }); got.Meta.WorkDir != w.project || got.State == nil {
		t.Errorf("of a new session: %+v", got)
	}
	c.open(id, nil, 0)
	name := "a name"
	c.do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
	heard(id, func(f *protocol.SessionChanged) bool {
		return f.Summary.Meta.Name == name && f.Summary.State.Name == name
	})
	c.do(id, &protocol.SendMessage{Content: text("make x")})
	var ask *protocol.PermissionRequest
	c.until(func(e protocol.Event) bool {
		b, ok := e.Body.(*protocol.PermissionRequest)
		if ok {
			ask = b
		}
		return ok
	})
	got := heard(id, func(f *protocol.SessionChanged) bool { return f.Summary.State.Asking })
	if !got.State.Running || got.FirstPrompt != "make x" || got.State.Clients != 1 || got.UpdatedAt == 0 {
		t.Errorf("while somebody is asked: %+v %+v", got, got.State)
	}
	c.do(id, &protocol.FollowUp{Content: text("and y")})
	heard(id, func(f *protocol.SessionChanged) bool { return f.Summary.State.Queued == 1 })
	listed := listener.do("", &protocol.ListSessions{}).(*protocol.SessionList).Sessions
	if len(listed) != 1 || listed[0].State == nil || !listed[0].State.Asking || listed[0].State.Queued != 1 {
		t.Errorf("listed: %+v", listed)
	}
	if opened := listener.do(id, &protocol.OpenSession{}).(*protocol.SessionOpened); opened.Summary.State == nil || !opened.Summary.State.Running {
		t.Errorf("opened: %+v", opened.Summary.State)
	}
	listener.do(id, &protocol.CloseSession{})
	c.do(id, &protocol.AnswerPermission{PermissionID: ask.PermissionID, Choice: -1})
	heard(id, func(f *protocol.SessionChanged) bool { return f.Summary.State.Running && !f.Summary.State.Asking })
	heard(id, func(f *protocol.SessionChanged) bool { return !f.Summary.State.Running && f.Summary.State.Queued == 0 })
	clone := protocol.NewSessionID(w.config.Now(), w.config.Rand)
	c.do(clone, &protocol.CloneSession{FromSessionID: id})
	if got := heard(clone, func(*protocol.SessionChanged) bool { return true }); got.ClonedFrom == nil || got.ClonedFrom.SessionID != id {
		t.Errorf("of a clone: %+v", got)
	}
	c.do(clone, &protocol.DeleteSession{})
	heard(clone, func(f *protocol.SessionChanged) bool { return f.Deleted })
}

func TestClientsHearOfEachOtherAndNotOfThemselves(t *testing.T) {
	w := servingWorld(t, setting{})
	a := w.plug("a", false, protocol.GrantControl)
	b := w.plug("b", true, protocol.GrantAnswer)
	if got := news(a, func(*protocol.ClientJoined) bool { return true }); got.ClientID != b.id || got.ClientName != "b" || got.Grant != protocol.GrantAnswer || !got.Interactive {
		t.Errorf("a hears of %+v", got)
	}
	second := w.plugAs(b.id, "b", true, protocol.GrantAnswer) // b is here already
	_ = second.conn.Close()                                   // and still is
	status := a.do("", &protocol.GetStatus{}).(*protocol.Status)
	if len(status.Clients) != 2 || status.DeviceID == "" || status.PID == 0 || status.StartedAt == 0 || status.Stopping {
		t.Errorf("the status: %+v", status)
	}
	_ = b.conn.Close()
	_ = b.conn.Close() // closed twice it leaves once
	c := w.plug("c", false, protocol.GrantView)
	if got := news(a, func(*protocol.ClientLeft) bool { return true }); got.ClientID != b.id {
		t.Errorf("a hears that %+v left", got)
	}
	if got := news(a, func(*protocol.ClientJoined) bool { return true }); got.ClientID != c.id {
		t.Errorf("then a hears of %+v", got)
	}
	select {
	case f := <-c.conn.Frames():
		t.Errorf("c hears of %+v", f)
	default:
	}
}

func TestAmongVeryManyClientsNobodyIsToldOfEachOther(t *testing.T) {
	w := servingWorld(t, setting{})
	first := w.plug("first", false, protocol.GrantView)
	var last *wire
	for range 100 {
		last = w.plug("another", false, protocol.GrantView)
	}
	beyond := w.plug("one more", false, protocol.GrantView)
	told := 0
	news(first, func(f *protocol.ClientJoined) bool {
		told++
		return f.ClientID == last.id
	})
	_ = beyond.conn.Close()
	id := w.plug("works", false, protocol.GrantControl).newSession()
	for { // what comes until then is all that there was
		f := first.frame()
		if _, about := f.(*protocol.ClientJoined); about {
			t.Errorf("the 102nd connection was announced as %s", f.(*protocol.ClientJoined).ClientName)
		}
		if _, about := f.(*protocol.ClientLeft); about {
			t.Error("the going of the 102nd connection was announced")
		}
		if s, ok := f.(*protocol.SessionChanged); ok && s.Summary.SessionID == id {
			break
		}
	}
	if told != 100 {
		t.Errorf("%d clients were announced", told)
	}
}

func TestAClientThatTakesNoNewsHoldsNobodyUpAndGetsTheNewest(t *testing.T) {
	var lines []string
	for range 12 {
		lines = append(lines, `{"do":[{"text":"yes"}]}`)
	}
	w := servingWorld(t, setting{}, lines...)
	deaf := w.plug("deaf", false, protocol.GrantView)
	c := w.plug("works", false, protocol.GrantControl)
	id := c.newSession()
	c.open(id, nil, 0)
	for n := range 12 {
		name := fmt.Sprint("name ", n)
		c.do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
		c.do(id, &protocol.SendMessage{Content: text("go")})
		c.until(ofType(protocol.TypeRuntimeEnd))
	}
	heard := 0
	news(deaf, about(id, func(f *protocol.SessionChanged) bool {
		heard++
		return f.Summary.Meta.Name == "name 11" && !f.Summary.State.Running
	}))
	if heard > 3 {
		t.Errorf("the newest came behind %d others", heard-1)
	}
}

func TestTheStatusSaysWhatGoesOn(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"hang":true}]}`)
	w.config.Serving, w.config.Version = true, "1.2.3"
	w.config.Addresses = func() []string { return []string{"unix:/x", "ws://127.0.0.1:1"} }
	w.restart()
	c := w.plug("c", false, protocol.GrantControl)
	id := c.newSession()
	live := c.open(id, nil, 0).live
	c.do(id, &protocol.SendMessage{Content: text("go")})
	c.do(id, &protocol.FollowUp{Content: text("then")})
	for !live.Running || len(live.Queues) == 0 {
		for _, e := range c.until(func(protocol.Event) bool { return true }) {
			live.Apply(e)
		}
	}
	s := c.do("", &protocol.GetStatus{}).(*protocol.Status)
	want := []protocol.SessionState{{SessionID: id, Title: "go", Running: true, Queued: 1, Clients: 1}}
	if s.Version != "1.2.3" || fmt.Sprint(s.Addresses) != "[unix:/x ws://127.0.0.1:1]" || fmt.Sprint(s.Sessions) != fmt.Sprint(want) {
		t.Errorf("the status: %+v", s)
	}
	c.do(id, &protocol.Cancel{TurnID: live.TurnID})
	c.until(ofType(protocol.TypeRuntimeEnd))
}

func TestDiagnosticsSayWhoDidWhatAndNotWhatWasSaid(t *testing.T) {
	w := servingWorld(t, setting{}, `{"do":[{"text":"an answer that nobody else reads"}]}`)
	c := w.plug("c", false, protocol.GrantControl)
	id := c.newSession()
	c.open(id, nil, 0)
	c.do(id, &protocol.SendMessage{Content: text("a prompt that nobody else reads")})
	c.until(ofType(protocol.TypeRuntimeEnd))
	if _, err := c.try(id, &protocol.SetMode{Mode: "nonsense"}); err == nil {
		t.Fatal("there is a mode of nonsense")
	}
	c.do(id, &protocol.CloseSession{})
	_ = w.host.Close()
	log := w.diagnostics(id)
	for _, want := range []string{
		": opened: 0 events", ": create_session of " + string(c.id), ": resync of " + string(c.id) + ": full_reload, 0 events", ": send_message of " + string(c.id),
		": turn ended: completed (completed), 1 steps, ", ": set_mode of " + string(c.id) + " failed: invalid_request", ": closed: the host ends",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the diagnostics lack %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "nobody else reads") || strings.Contains(log, "nonsense") {
		t.Errorf("the diagnostics hold what was said:\n%s", log)
	}
}

func TestAFullDiagnosticsFileIsKeptAsideOnce(t *testing.T) {
	w := servingWorld(t, setting{})
	c := w.plug("c", false, protocol.GrantControl)
	id := c.newSession()
	name := w.home + "/.scorel/sessions/" + string(id) + ".log"
	for _, round := range []string{"first", "second"} {
		w.write(name, round+strings.Repeat("x", 1<<20))
		c.do(id, &protocol.SetLabel{TargetEventID: labelled(c, id)})
		if got := w.diagnostics(id); !strings.Contains(got, "set_label of") || len(got) > 1000 {
			t.Errorf("the new file holds %d bytes: %.200s", len(got), got)
		}
		if old := w.readAll(name + ".1"); !strings.HasPrefix(old, round+"xxx") {
			t.Errorf("set aside is %.20s", old)
		}
	}
	c.do(id, &protocol.DeleteSession{})
	if left := w.left(id); left != "" {
		t.Errorf("a deleted session leaves %s", left)
	}
}
