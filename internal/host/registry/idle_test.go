package registry_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// idling runs a test in a bubble, with a serving host whose clock is the bubble's.
func idling(t *testing.T, test func(t *testing.T, w *hosttest.World, c *hosttest.Wire)) {
	outside := hosttest.New(t, hosttest.Setting{})
	synctest.Test(t, func(t *testing.T) {
		w := *outside
		w.T, w.Config.Serving = t, true
		h, err := host.New(w.Config)
		if err != nil {
			t.Fatal(err)
		}
		w.Host = h
		test(t, &w, w.Plug("c", false, protocol.GrantControl))
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAServingHostKeepsASessionForAMinuteBehindItsLastUse(t *testing.T) {
	idling(t, func(t *testing.T, w *hosttest.World, c *hosttest.Wire) {
		id := c.NewSession()
		time.Sleep(59 * time.Second)
		if !c.IsOpen(id) {
			t.Fatal("it was closed in less than a minute")
		}
		c.Do(id, &protocol.GetContext{}) // a use
		time.Sleep(59 * time.Second)
		if !c.IsOpen(id) {
			t.Fatal("it was closed in less than a minute behind its use")
		}
		time.Sleep(2 * time.Second)
		if c.IsOpen(id) {
			t.Fatal("it is open more than a minute behind its use")
		}
		if !strings.Contains(w.Diagnostics(id), "closed: it was idle") {
			t.Errorf("diagnostics:\n%s", w.Diagnostics(id))
		}
		c.Open(id, nil, 0)
		time.Sleep(time.Hour)
		if !c.IsOpen(id) {
			t.Fatal("it was closed while a client has it open")
		}
		c.Do(id, &protocol.CloseSession{})
		time.Sleep(61 * time.Second)
		if c.IsOpen(id) {
			t.Error("it stays open when the client has closed it")
		}
	})
}

func TestASessionThatWasInUseAgainIsNotClosedByItsOldTimer(t *testing.T) {
	idling(t, func(t *testing.T, _ *hosttest.World, c *hosttest.Wire) {
		id := c.NewSession()
		for range 5 {
			time.Sleep(30 * time.Second)
			c.Open(id, nil, 0)
			time.Sleep(31 * time.Second)
			c.Do(id, &protocol.CloseSession{})
			if !c.IsOpen(id) {
				t.Fatal("it was closed too early")
			}
		}
	})
}

func TestTheOldestOfTooManyIdleSessionsIsClosedFirst(t *testing.T) {
	idling(t, func(t *testing.T, _ *hosttest.World, c *hosttest.Wire) {
		var all []protocol.SessionID
		for range 65 {
			all = append(all, c.NewSession())
			time.Sleep(time.Millisecond)
		}
		if c.IsOpen(all[0]) || !c.IsOpen(all[1]) || !c.IsOpen(all[64]) {
			t.Errorf("open are the first %v, the second %v, the last %v", c.IsOpen(all[0]), c.IsOpen(all[1]), c.IsOpen(all[64]))
		}
	})
}

func TestAnIdleSessionCanBeDeletedAtOnce(t *testing.T) {
	idling(t, func(t *testing.T, w *hosttest.World, c *hosttest.Wire) {
		id := c.NewSession()
		if !c.IsOpen(id) {
			t.Fatal("it does not stay open")
		}
		c.Do(id, &protocol.DeleteSession{})
		if left := w.Left(id); left != "" || c.IsOpen(id) {
			t.Errorf("it is open: %v; left are %s", c.IsOpen(id), left)
		}
	})
}

func TestAHostThatEndsBecauseItIsIdleTakesNobodyInOrStays(t *testing.T) {
	idling(t, func(t *testing.T, w *hosttest.World, c *hosttest.Wire) {
		if w.Host.EndIdle(0) {
			t.Fatal("it ends with a client connected")
		}
		id := c.NewSession()
		_ = c.Conn.Close()
		time.Sleep(10*time.Minute - time.Millisecond)
		if w.Host.EndIdle(10 * time.Minute) {
			t.Fatal("it ends too early")
		}
		late := w.Plug("late", false, protocol.GrantControl)
		time.Sleep(time.Minute)
		if w.Host.EndIdle(10 * time.Minute) {
			t.Fatal("it ends though a client has come in the meantime")
		}
		name := "used"
		late.Do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
		_ = late.Conn.Close()
		time.Sleep(12 * time.Minute) // the session is closed a minute after its use
		if !w.Host.EndIdle(10 * time.Minute) {
			t.Fatal("it does not end")
		}
		hello := protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(randomKey())}
		if _, err := w.Host.Connect(context.Background(), hello, protocol.GrantControl); err == nil {
			t.Error("a client came in, whose requests would be lost")
		}
		if err := w.Host.Drain(context.Background(), time.Second, false); err != nil {
			t.Error(err)
		}
	})
}

func TestAHostWithATurnOrAMessageThatWillRunIsNotIdle(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{}, `{"do":[{"hang":true}]}`)
	c := w.Plug("c", false, protocol.GrantControl)
	id := c.NewSession()
	c.Do(id, &protocol.SendMessage{Content: hosttest.Text("go")})
	_ = c.Conn.Close()
	if w.Host.EndIdle(0) {
		t.Error("it ends while a turn runs")
	}
}

func TestAHostWithASessionInProactiveModeIsNotIdle(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	c := w.Plug("c", false, protocol.GrantControl)
	id := c.NewSession()
	c.Do(id, &protocol.SetProactive{On: true, EverySeconds: protocol.MaxProactiveSeconds})
	_ = c.Conn.Close()
	if w.Host.EndIdle(0) {
		t.Fatal("it ends while a turn is to begin by itself")
	}
	c = w.Plug("c", false, protocol.GrantControl)
	c.Do(id, &protocol.SetProactive{})
	_ = c.Conn.Close()
	if !w.Host.EndIdle(0) {
		t.Error("it stays after that")
	}
}

func TestAnEmbeddedHostClosesASessionAtOnce(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	c := w.Plug("c", false, protocol.GrantControl)
	id := c.NewSession()
	other, err := host.New(w.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(randomKey())}, protocol.GrantControl)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if r, err := conn.Call(context.Background(), hosttest.NewCall(id, &protocol.OpenSession{})); err != nil || r.Err != nil {
		t.Errorf("another host cannot open it: %v %v", err, r.Err)
	}
}

func randomKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return key
}
