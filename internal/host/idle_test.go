package host_test

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// labelled gives an event of a session that a label can hang on.
func labelled(c *wire, id protocol.SessionID) protocol.EventID {
	c.w.t.Helper()
	name := "n"
	c.do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
	events := c.do(id, &protocol.GetTree{}).(*protocol.Events).Events
	return events[len(events)-1].ID
}

// left names the files of a session but for its lock.
func (w *world) left(id protocol.SessionID) string {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(w.home, ".scorel", "sessions", string(id)+"*"))
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, n := range names {
		if !strings.HasSuffix(n, ".lock") {
			out = append(out, filepath.Base(n))
		}
	}
	return strings.Join(out, " ")
}

// idling runs a test in a bubble, with a serving host whose clock is the bubble's.
func idling(t *testing.T, test func(t *testing.T, w *world, c *wire)) {
	outside := newWorld(t, setting{})
	synctest.Test(t, func(t *testing.T) {
		w := *outside
		w.t, w.config.Serving = t, true
		h, err := host.New(w.config)
		if err != nil {
			t.Fatal(err)
		}
		w.host = h
		test(t, &w, w.plug("c", false, protocol.GrantControl))
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// isOpen says whether the host has a session open.
func (c *wire) isOpen(id protocol.SessionID) bool {
	c.w.t.Helper()
	synctest.Wait()
	for _, s := range c.do("", &protocol.GetStatus{}).(*protocol.Status).Sessions {
		if s.SessionID == id {
			return true
		}
	}
	return false
}

func TestAServingHostKeepsASessionForAMinuteBehindItsLastUse(t *testing.T) {
	idling(t, func(t *testing.T, w *world, c *wire) {
		id := c.newSession()
		time.Sleep(59 * time.Second)
		if !c.isOpen(id) {
			t.Fatal("it was closed in less than a minute")
		}
		c.do(id, &protocol.GetContext{}) // a use
		time.Sleep(59 * time.Second)
		if !c.isOpen(id) {
			t.Fatal("it was closed in less than a minute behind its use")
		}
		time.Sleep(2 * time.Second)
		if c.isOpen(id) {
			t.Fatal("it is open more than a minute behind its use")
		}
		if !strings.Contains(w.diagnostics(id), "closed: it was idle") {
			t.Errorf("diagnostics:\n%s", w.diagnostics(id))
		}
		c.open(id, nil, 0)
		time.Sleep(time.Hour)
		if !c.isOpen(id) {
			t.Fatal("it was closed while a client has it open")
		}
		c.do(id, &protocol.CloseSession{})
		time.Sleep(61 * time.Second)
		if c.isOpen(id) {
			t.Error("it stays open when the client has closed it")
		}
	})
}

func TestASessionThatWasInUseAgainIsNotClosedByItsOldTimer(t *testing.T) {
	idling(t, func(t *testing.T, _ *world, c *wire) {
		id := c.newSession()
		for range 5 {
			time.Sleep(30 * time.Second)
			c.open(id, nil, 0)
			time.Sleep(31 * time.Second)
			c.do(id, &protocol.CloseSession{})
			if !c.isOpen(id) {
				t.Fatal("it was closed too early")
			}
		}
	})
}

func TestTheOldestOfTooManyIdleSessionsIsClosedFirst(t *testing.T) {
	idling(t, func(t *testing.T, _ *world, c *wire) {
		var all []protocol.SessionID
		for range 65 {
			all = append(all, c.newSession())
			time.Sleep(time.Millisecond)
		}
		if c.isOpen(all[0]) || !c.isOpen(all[1]) || !c.isOpen(all[64]) {
			t.Errorf("open are the first %v, the second %v, the last %v", c.isOpen(all[0]), c.isOpen(all[1]), c.isOpen(all[64]))
		}
	})
}

func TestAnIdleSessionCanBeDeletedAtOnce(t *testing.T) {
	idling(t, func(t *testing.T, w *world, c *wire) {
		id := c.newSession()
		if !c.isOpen(id) {
			t.Fatal("it does not stay open")
		}
		c.do(id, &protocol.DeleteSession{})
		if left := w.left(id); left != "" || c.isOpen(id) {
			t.Errorf("it is open: %v; left are %s", c.isOpen(id), left)
		}
	})
}

func TestAHostThatEndsBecauseItIsIdleTakesNobodyInOrStays(t *testing.T) {
	idling(t, func(t *testing.T, w *world, c *wire) {
		if w.host.EndIdle(0) {
			t.Fatal("it ends with a client connected")
		}
		id := c.newSession()
		_ = c.conn.Close()
		time.Sleep(10*time.Minute - time.Millisecond)
		if w.host.EndIdle(10 * time.Minute) {
			t.Fatal("it ends too early")
		}
		late := w.plug("late", false, protocol.GrantControl)
		time.Sleep(time.Minute)
		if w.host.EndIdle(10 * time.Minute) {
			t.Fatal("it ends though a client has come in the meantime")
		}
		name := "used"
		late.do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
		_ = late.conn.Close()
		time.Sleep(12 * time.Minute) // the session is closed a minute behind its use
		if !w.host.EndIdle(10 * time.Minute) {
			t.Fatal("it does not end")
		}
		hello := protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(randomKey())}
		if _, err := w.host.Connect(context.Background(), hello, protocol.GrantControl); err == nil {
			t.Error("a client came in, whose requests would be lost")
		}
		if err := w.host.Drain(context.Background(), time.Second, false); err != nil {
			t.Error(err)
		}
	})
}

func TestAHostWithATurnOrAMessageThatWillRunIsNotIdle(t *testing.T) {
	w := servingWorld(t, setting{}, `{"do":[{"hang":true}]}`)
	c := w.plug("c", false, protocol.GrantControl)
	id := c.newSession()
	c.do(id, &protocol.SendMessage{Content: text("go")})
	_ = c.conn.Close()
	if w.host.EndIdle(0) {
		t.Error("it ends while a turn runs")
	}
}

func TestAnEmbeddedHostClosesASessionAtOnce(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.plug("c", false, protocol.GrantControl)
	id := c.newSession()
	other, err := host.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(randomKey())}, protocol.GrantControl)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if r, err := conn.Call(context.Background(), newCall(id, &protocol.OpenSession{})); err != nil || r.Err != nil {
		t.Errorf("another host cannot open it: %v %v", err, r.Err)
	}
}

func randomKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return key
}
