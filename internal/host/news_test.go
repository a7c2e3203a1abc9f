package host_test

import (
	"fmt"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
	"scorel/protocol/fold"
)

// about reports whether news are of a session, and what of it is to be so.
func about(id protocol.SessionID, is func(*protocol.SessionChanged) bool) func(*protocol.SessionChanged) bool {
	return func(f *protocol.SessionChanged) bool { return f.Summary.SessionID == id && is(f) }
}

func TestAllClientsHearWhatBecomesOfSessions(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{Attended: true}, `{"do":[{"call":"Bash","id":"c1","input":{"command":"touch x"}}]}`, `{"do":[{"text":"done"}]}`)
	listener := w.Plug("listener", false, protocol.GrantView)
	c := w.Plug("works", true, protocol.GrantControl)
	id := c.NewSession()
	heard := func(id protocol.SessionID, is func(*protocol.SessionChanged) bool) protocol.SessionSummary {
		t.Helper()
		return news(listener, about(id, is)).Summary
	}
	if got := heard(id, func(*protocol.SessionChanged) bool { return true }); got.Meta.WorkDir != w.Project || got.State == nil {
		t.Errorf("of a new session: %+v", got)
	}
	c.Open(id, nil, 0)
	name := "a name"
	c.Do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
	heard(id, func(f *protocol.SessionChanged) bool {
		return f.Summary.Meta.Name == name && f.Summary.State.Name == name
	})
	c.Do(id, &protocol.SendMessage{Content: hosttest.Text("make x")})
	var ask *protocol.PermissionRequest
	c.Until(func(e protocol.Event) bool {
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
	c.Do(id, &protocol.FollowUp{Content: hosttest.Text("and y")})
	heard(id, func(f *protocol.SessionChanged) bool { return f.Summary.State.Queued == 1 })
	listed := listener.Do("", &protocol.ListSessions{}).(*protocol.SessionList).Sessions
	if len(listed) != 1 || listed[0].State == nil || !listed[0].State.Asking || listed[0].State.Queued != 1 {
		t.Errorf("listed: %+v", listed)
	}
	if opened := listener.Do(id, &protocol.OpenSession{}).(*protocol.SessionOpened); opened.Summary.State == nil || !opened.Summary.State.Running {
		t.Errorf("opened: %+v", opened.Summary.State)
	}
	listener.Do(id, &protocol.CloseSession{})
	c.Do(id, &protocol.AnswerPermission{PermissionID: ask.PermissionID, Choice: -1})
	heard(id, func(f *protocol.SessionChanged) bool { return f.Summary.State.Running && !f.Summary.State.Asking })
	heard(id, func(f *protocol.SessionChanged) bool { return !f.Summary.State.Running && f.Summary.State.Queued == 0 })
	clone := protocol.NewSessionID(w.Config.Now(), w.Config.Rand)
	c.Do(clone, &protocol.CloneSession{FromSessionID: id})
	if got := heard(clone, func(*protocol.SessionChanged) bool { return true }); got.ClonedFrom == nil || got.ClonedFrom.SessionID != id {
		t.Errorf("of a clone: %+v", got)
	}
	c.Do(clone, &protocol.DeleteSession{})
	heard(clone, func(f *protocol.SessionChanged) bool { return f.Deleted })
}

func TestClientsHearOfEachOtherAndNotOfThemselves(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	a := w.Plug("a", false, protocol.GrantControl)
	b := w.Plug("b", true, protocol.GrantAnswer)
	if got := news(a, func(*protocol.ClientJoined) bool { return true }); got.ClientID != b.Id || got.ClientName != "b" || got.Grant != protocol.GrantAnswer || !got.Interactive {
		t.Errorf("a hears of %+v", got)
	}
	second := w.PlugAs(b.Id, "b", true, protocol.GrantAnswer) // b is here already
	_ = second.Conn.Close()                                   // and still is
	status := a.Do("", &protocol.GetStatus{}).(*protocol.Status)
	if len(status.Clients) != 2 || status.DeviceID == "" || status.PID == 0 || status.StartedAt == 0 || status.Stopping {
		t.Errorf("the status: %+v", status)
	}
	_ = b.Conn.Close()
	_ = b.Conn.Close() // closed twice it leaves once
	c := w.Plug("c", false, protocol.GrantView)
	if got := news(a, func(*protocol.ClientLeft) bool { return true }); got.ClientID != b.Id {
		t.Errorf("a hears that %+v left", got)
	}
	if got := news(a, func(*protocol.ClientJoined) bool { return true }); got.ClientID != c.Id {
		t.Errorf("then a hears of %+v", got)
	}
	select {
	case f := <-c.Conn.Frames():
		t.Errorf("c hears of %+v", f)
	default:
	}
}

func TestAmongVeryManyClientsNobodyIsToldOfEachOther(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	first := w.Plug("first", false, protocol.GrantView)
	var last *hosttest.Wire
	for range 100 {
		last = w.Plug("another", false, protocol.GrantView)
	}
	beyond := w.Plug("one more", false, protocol.GrantView)
	told := 0
	news(first, func(f *protocol.ClientJoined) bool {
		told++
		return f.ClientID == last.Id
	})
	_ = beyond.Conn.Close()
	id := w.Plug("works", false, protocol.GrantControl).NewSession()
	for { // what comes until then is all that there was
		f := first.Frame()
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
	w := hosttest.ServingWorld(t, hosttest.Setting{}, lines...)
	deaf := w.Plug("deaf", false, protocol.GrantView)
	c := w.Plug("works", false, protocol.GrantControl)
	id := c.NewSession()
	c.Open(id, nil, 0)
	for n := range 12 {
		name := fmt.Sprint("name ", n)
		c.Do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
		c.Do(id, &protocol.SendMessage{Content: hosttest.Text("go")})
		c.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
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
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"hang":true}]}`)
	w.Config.Serving, w.Config.Version = true, "1.2.3"
	w.Config.Addresses = func() []string { return []string{"unix:/x", "ws://127.0.0.1:1"} }
	w.Restart()
	c := w.Plug("c", false, protocol.GrantControl)
	id := c.NewSession()
	live := c.Open(id, nil, 0).Live
	c.Do(id, &protocol.SendMessage{Content: hosttest.Text("go")})
	c.Do(id, &protocol.FollowUp{Content: hosttest.Text("then")})
	for !live.Running || len(live.Queues) == 0 {
		for _, e := range c.Until(func(protocol.Event) bool { return true }) {
			fold.Apply(&live, e)
		}
	}
	s := c.Do("", &protocol.GetStatus{}).(*protocol.Status)
	want := []protocol.SessionState{{SessionID: id, Title: "go", Running: true, Queued: 1, Clients: 1, WorkDir: w.Project, Activity: "thinks"}}
	if s.Version != "1.2.3" || fmt.Sprint(s.Addresses) != "[unix:/x ws://127.0.0.1:1]" || fmt.Sprint(s.Sessions) != fmt.Sprint(want) {
		t.Errorf("the status: %+v", s)
	}
	c.Do(id, &protocol.Cancel{TurnID: live.TurnID})
	c.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
}

func TestDiagnosticsSayWhoDidWhatAndNotWhatWasSaid(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{}, `{"do":[{"text":"an answer that nobody else reads"}]}`)
	c := w.Plug("c", false, protocol.GrantControl)
	id := c.NewSession()
	c.Open(id, nil, 0)
	c.Do(id, &protocol.SendMessage{Content: hosttest.Text("a prompt that nobody else reads")})
	c.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
	if _, err := c.Try(id, &protocol.SetMode{Mode: "nonsense"}); err == nil {
		t.Fatal("there is a mode of nonsense")
	}
	c.Do(id, &protocol.CloseSession{})
	_ = w.Host.Close()
	log := w.Diagnostics(id)
	for _, want := range []string{
		": opened: 0 events", ": create_session of " + string(c.Id), ": resync of " + string(c.Id) + ": full_reload, 0 events", ": send_message of " + string(c.Id),
		": turn ended: completed (completed), 1 steps, ", ": set_mode of " + string(c.Id) + " failed: invalid_request", ": closed: the host ends",
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
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	c := w.Plug("c", false, protocol.GrantControl)
	id := c.NewSession()
	name := w.Home + "/.scorel/sessions/" + string(id) + ".log"
	for _, round := range []string{"first", "second"} {
		w.Write(name, round+strings.Repeat("x", 1<<20))
		c.Do(id, &protocol.SetLabel{TargetEventID: hosttest.Labelled(c, id)})
		if got := w.Diagnostics(id); !strings.Contains(got, "set_label of") || len(got) > 1000 {
			t.Errorf("the new file holds %d bytes: %.200s", len(got), got)
		}
		if old := w.ReadAll(name + ".1"); !strings.HasPrefix(old, round+"xxx") {
			t.Errorf("set aside is %.20s", old)
		}
	}
	c.Do(id, &protocol.DeleteSession{})
	if left := w.Left(id); left != "" {
		t.Errorf("a deleted session leaves %s", left)
	}
}
