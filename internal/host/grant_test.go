package host_test

import (
	"context"
	"testing"

	"scorel/protocol"
)

func TestAGrantThatChangesTakesEffectOnOpenConnections(t *testing.T) {
	ask := `{"do":[{"call":"Bash","id":"c1","input":{"command":"touch x"}}]}`
	done := `{"do":[{"text":"done"}]}`
	// Unattended: what nobody can be asked for is refused at once.
	w := servingWorld(t, setting{}, ask, done, ask, done, ask, done)
	c := w.plug("works", false, protocol.GrantControl)
	b := w.plug("person", true, protocol.GrantView)
	id := c.newSession()
	c.open(id, nil, 0)
	b.open(id, nil, 0)
	if _, err := b.try(id, &protocol.SendMessage{Content: text("go")}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry with view sends: %v", err)
	}
	resolved := func(c *wire) (asked *protocol.PermissionRequest, how protocol.Decision) {
		t.Helper()
		c.until(func(e protocol.Event) bool {
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

	c.do(id, &protocol.SendMessage{Content: text("one")})
	if _, how := resolved(c); how != protocol.DecisionExpired {
		t.Errorf("with only an entry that may not answer the question ends with %s", how)
	}
	c.until(ofType(protocol.TypeRuntimeEnd))
	resolved(b)
	b.until(ofType(protocol.TypeRuntimeEnd))

	w.host.SetGrantOf(b.id, protocol.GrantAnswer)
	c.do(id, &protocol.SendMessage{Content: text("two")})
	asked := question(b)
	if _, err := b.try(id, &protocol.AnswerPermission{PermissionID: asked.PermissionID, Choice: choice(t, *asked, "session")}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry with answer allows for the session: %v", err)
	}
	if _, err := b.try(id, &protocol.AnswerPermission{PermissionID: asked.PermissionID, Choice: choice(t, *asked, "always")}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry with answer allows for always: %v", err)
	}
	b.do(id, &protocol.AnswerPermission{PermissionID: asked.PermissionID, Choice: choice(t, *asked, "once")})
	if _, how := resolved(c); how != protocol.DecisionAllow {
		t.Errorf("its answer ends the question with %s", how)
	}
	c.until(ofType(protocol.TypeRuntimeEnd))
	b.until(ofType(protocol.TypeRuntimeEnd))
	if _, err := b.try(id, &protocol.SetMode{Mode: "plan"}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry with answer sets the mode: %v", err)
	}

	c.do(id, &protocol.SendMessage{Content: text("three")})
	asked = question(b)
	w.host.SetGrantOf(b.id, protocol.GrantView) // nobody is left who can answer
	if _, how := resolved(c); how != protocol.DecisionExpired {
		t.Errorf("when the grant was taken the question ends with %s", how)
	}
	if _, err := b.try(id, &protocol.AnswerPermission{PermissionID: asked.PermissionID, Choice: -1}); err == nil || err.Code != protocol.CodeForbidden {
		t.Errorf("an entry that lost the grant answers: %v", err)
	}
	c.until(ofType(protocol.TypeRuntimeEnd))

	w.host.SetGrantOf(b.id, protocol.GrantControl)
	name := "by b"
	b.do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
}

// question waits until people are asked.
func question(c *wire) (asked *protocol.PermissionRequest) {
	c.w.t.Helper()
	c.until(func(e protocol.Event) bool {
		b, ok := e.Body.(*protocol.PermissionRequest)
		asked = b
		return ok
	})
	return asked
}

func TestADisconnectedClientIsOutAtOnce(t *testing.T) {
	w := servingWorld(t, setting{})
	a := w.plug("a", false, protocol.GrantControl)
	b := w.plug("b", true, protocol.GrantControl)
	second := w.plugAs(b.id, "b", true, protocol.GrantControl)
	id := a.newSession()
	b.open(id, nil, 0)
	w.host.Disconnect(b.id, "This entry was revoked.")
	for _, c := range []*wire{b, second} {
		<-c.conn.Done()
		if why := c.conn.Why(); why == nil || why.Message != "This entry was revoked." || why.Code != protocol.CodeForbidden {
			t.Errorf("why: %+v", why)
		}
		if _, err := c.conn.Call(context.Background(), newCall(id, &protocol.GetPath{})); err == nil {
			t.Error("a request of a disconnected client is carried out")
		}
	}
	news(a, func(f *protocol.ClientLeft) bool { return f.ClientID == b.id })
	if s := a.do("", &protocol.GetStatus{}).(*protocol.Status); len(s.Clients) != 1 || s.Sessions[0].Clients != 0 {
		t.Errorf("the status: %+v", s)
	}
	if a.conn.Why() != nil {
		t.Error("the other client has a reason, too")
	}
}
