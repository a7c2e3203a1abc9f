package host_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAGrantThatChangesTakesEffectOnOpenConnections(t *testing.T) {
	ask := `{"do":[{"call":"Bash","id":"c1","input":{"command":"touch x"}}]}`
	done := `{"do":[{"text":"done"}]}`
	// Unattended: what nobody can be asked for is refused at once.
	w := hosttest.ServingWorld(t, hosttest.Setting{}, ask, done, ask, done, ask, done)
	c := w.Plug("works", false, protocol.GrantControl)
	b := w.Plug("person", true, protocol.GrantView)
	id := c.NewSession()
	c.Open(id, nil, 0)
	b.Open(id, nil, 0)
	if _, err := b.Try(id, &protocol.SendMessage{Content: hosttest.Text("go")}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry with view sends: %v", err)
	}
	resolved := func(c *hosttest.Wire) (asked *protocol.PermissionRequest, how protocol.Decision) {
		t.Helper()
		c.Until(func(e protocol.Event) bool {
			switch b := e.Body.(type) {
			case *protocol.PermissionRequest:
				asked = b
			case *protocol.PermissionResolved:
				how = b.Decision
				return true
			}
			return false
		})
		return asked, how
	}

	c.Do(id, &protocol.SendMessage{Content: hosttest.Text("one")})
	if _, how := resolved(c); how != protocol.DecisionExpired {
		t.Errorf("with only an entry that may not answer the question ends with %s", how)
	}
	c.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
	resolved(b)
	b.Until(hosttest.OfType(protocol.TypeRuntimeEnd))

	w.Host.SetGrantOf(b.Id, protocol.GrantAnswer)
	c.Do(id, &protocol.SendMessage{Content: hosttest.Text("two")})
	asked := question(b)
	if _, err := b.Try(id, &protocol.AnswerPermission{PermissionID: asked.PermissionID, Choice: hosttest.Choice(t, *asked, "session")}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry with answer allows for the session: %v", err)
	}
	if _, err := b.Try(id, &protocol.AnswerPermission{PermissionID: asked.PermissionID, Choice: hosttest.Choice(t, *asked, "always")}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry with answer allows for always: %v", err)
	}
	b.Do(id, &protocol.AnswerPermission{PermissionID: asked.PermissionID, Choice: hosttest.Choice(t, *asked, "once")})
	if _, how := resolved(c); how != protocol.DecisionAllow {
		t.Errorf("its answer ends the question with %s", how)
	}
	c.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
	b.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
	if _, err := b.Try(id, &protocol.SetMode{Mode: "plan"}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry with answer sets the mode: %v", err)
	}

	c.Do(id, &protocol.SendMessage{Content: hosttest.Text("three")})
	asked = question(b)
	w.Host.SetGrantOf(b.Id, protocol.GrantView) // nobody is left who can answer
	if _, how := resolved(c); how != protocol.DecisionExpired {
		t.Errorf("when the grant was taken the question ends with %s", how)
	}
	if _, err := b.Try(id, &protocol.AnswerPermission{PermissionID: asked.PermissionID, Choice: -1}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry that lost the grant answers: %v", err)
	}
	c.Until(hosttest.OfType(protocol.TypeRuntimeEnd))

	w.Host.SetGrantOf(b.Id, protocol.GrantControl)
	name := "by b"
	b.Do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
}

// question waits until people are asked.
func question(c *hosttest.Wire) (asked *protocol.PermissionRequest) {
	c.W.T.Helper()
	c.Until(func(e protocol.Event) bool {
		b, ok := e.Body.(*protocol.PermissionRequest)
		asked = b
		return ok
	})
	return asked
}

func TestADisconnectedClientIsOutAtOnce(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	a := w.Plug("a", false, protocol.GrantControl)
	b := w.Plug("b", true, protocol.GrantControl)
	second := w.PlugAs(b.Id, "b", true, protocol.GrantControl)
	id := a.NewSession()
	b.Open(id, nil, 0)
	w.Host.Disconnect(b.Id, "This entry was revoked.")
	for _, c := range []*hosttest.Wire{b, second} {
		<-c.Conn.Done()
		if why := c.Conn.Why(); why == nil || why.Message != "This entry was revoked." || why.Code != protocol.CodeForbidden {
			t.Errorf("why: %+v", why)
		}
		if _, err := c.Conn.Call(context.Background(), hosttest.NewCall(id, &protocol.GetPath{})); err == nil {
			t.Error("a request of a disconnected client is carried out")
		}
	}
	news(a, func(f *protocol.ClientLeft) bool { return f.ClientID == b.Id })
	if s := a.Do("", &protocol.GetStatus{}).(*protocol.Status); len(s.Clients) != 1 || s.Sessions[0].Clients != 0 {
		t.Errorf("the status: %+v", s)
	}
	if a.Conn.Why() != nil {
		t.Error("the other client has a reason, too")
	}
}

func TestWhoMayOnlyLookNamesFoldersOfKnownProjectsAndNoOthers(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	elsewhere := filepath.Dir(w.Project) + "/elsewhere"
	for _, dir := range []string{elsewhere, w.Project + "/sub"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := w.Plug("works", false, protocol.GrantControl)
	c.NewSession() // which makes the project known
	for _, grant := range []protocol.Grant{protocol.GrantView, protocol.GrantAnswer} {
		b := w.Plug(string(grant), false, grant)
		for _, dir := range []string{w.Project, w.Project + "/sub", ""} {
			b.Do("", &protocol.GetProjectState{WorkDir: dir})
			b.Do("", &protocol.ListSkills{WorkDir: dir})
		}
		for _, dir := range []string{elsewhere, elsewhere + "/none", "/etc", "/", w.Project + "/..", w.Project + "/../elsewhere", "sub"} {
			want := ""
			for _, r := range []protocol.Request{&protocol.GetProjectState{WorkDir: dir}, &protocol.ListAgents{WorkDir: dir}, &protocol.ListCommands{WorkDir: dir},
				&protocol.ListExtensions{WorkDir: dir}, &protocol.ListMCPServers{WorkDir: dir}, &protocol.ListSkills{WorkDir: dir}} {
				_, err := b.Try("", r)
				if err == nil || err.Code != protocol.CodeForbidden {
					t.Fatalf("%s of %s with %s: %v", r.Spec().Name, dir, grant, err)
				}
				if want == "" {
					want = err.Message
				}
				if err.Message != want { // whether there is one is not told
					t.Errorf("%s, and %s", err.Message, want)
				}
			}
		}
	}
	c.Do("", &protocol.GetProjectState{WorkDir: elsewhere})
}
