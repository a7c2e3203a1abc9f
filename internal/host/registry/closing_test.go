package registry_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// TestAHostThatEndsWhileASessionIsBeingClosedClosesItOnce holds a session in the
// middle of its closing when the host ends, and the end of the host until that session
// has gone.
func TestAHostThatEndsWhileASessionIsBeingClosedClosesItOnce(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	var mu sync.Mutex
	closed := 0
	closing, goOn := make(chan struct{}), make(chan struct{})
	begun, hold := make(chan struct{}), make(chan struct{})
	var first, second protocol.SessionID
	w.Config.Report = func(what string, _ []byte) {
		mu.Lock()
		a, b := first, second
		mu.Unlock()
		switch {
		case a != "" && strings.HasPrefix(what, string(a)+": closed"):
			mu.Lock()
			closed++
			n := closed
			mu.Unlock()
			if n == 1 {
				close(closing)
				<-goOn
			}
		case b != "" && strings.HasPrefix(what, string(b)+": resync"):
			close(begun)
			<-hold
		}
	}
	w.Start()
	a, b := w.Plug("a", false, protocol.GrantControl), w.Plug("b", false, protocol.GrantControl)
	one, two := a.NewSession(), b.NewSession()
	mu.Lock()
	first, second = one, two
	mu.Unlock()
	name := "n"
	released := make(chan struct{})
	go func() {
		defer close(released)
		_, _ = a.Conn.Call(t.Context(), hosttest.NewCall(one, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}}))
	}()
	<-closing
	go func() { _, _ = b.Conn.Call(t.Context(), hosttest.NewCall(two, &protocol.OpenSession{})) }()
	go func() { // ends with the connection
		for err := error(nil); err == nil; {
			_, err = b.Conn.Recv(context.Background())
		}
	}()
	<-begun
	ended := make(chan error, 1)
	go func() { ended <- w.Host.Close() }()
	<-b.Conn.Done() // the host closes its connections, and waits for this one
	close(goOn)
	<-released
	close(hold)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if closed != 1 {
		t.Errorf("the session was closed %d times", closed)
	}
}
