package serve

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"scorel/protocol"
)

func message(session string, n int) protocol.Call {
	return protocol.Call{SessionID: protocol.SessionID(session), RequestID: protocol.RequestID(fmt.Sprint(n)), Request: &protocol.SendMessage{}}
}

func TestCallsThatAppendKeepTheirOrderInASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		got := map[protocol.SessionID][]protocol.RequestID{}
		turns := make(chan struct{})
		c := newCalls(func(call protocol.Call) {
			<-turns
			mu.Lock()
			defer mu.Unlock()
			got[call.SessionID] = append(got[call.SessionID], call.RequestID)
		})
		want := map[protocol.SessionID][]protocol.RequestID{}
		for i := range 100 { // more than are carried out at once
			call := message([]string{"a", "b"}[i%2], i)
			want[call.SessionID] = append(want[call.SessionID], call.RequestID)
			c.take(call, 1)
		}
		for range 100 {
			turns <- struct{}{}
		}
		synctest.Wait()
		c.wait()
		for id, w := range want {
			if !slices.Equal(got[id], w) {
				t.Errorf("session %s: %v", id, got[id])
			}
		}
		if len(c.last) != 0 {
			t.Errorf("%d orders are kept", len(c.last))
		}
	})
}

func TestOneSessionsCallsDoNotWaitForAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		done := make(chan protocol.SessionID, 2)
		c := newCalls(func(call protocol.Call) {
			if call.SessionID == "a" {
				<-hold
			}
			done <- call.SessionID
		})
		c.take(message("a", 1), 1)
		c.take(message("b", 2), 1)
		if id := <-done; id != "b" {
			t.Errorf("first was %s", id)
		}
		close(hold)
		c.wait()
	})
}

func TestTheReaderWaitsWhenTooMuchIsAskedAndUrgentCallsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most, urgentDone := 0, 0, 0
		hold := make(chan struct{})
		c := newCalls(func(call protocol.Call) {
			mu.Lock()
			if call.Request.Spec().Urgent {
				urgentDone++
				mu.Unlock()
				return
			}
			running++
			most = max(most, running)
			mu.Unlock()
			<-hold
			mu.Lock()
			running--
			mu.Unlock()
		})
		read := protocol.Call{Request: &protocol.ListSessions{}}
		for range maxCalls + maxWaiting {
			c.take(read, 1)
		}
		c.take(protocol.Call{Request: &protocol.Cancel{}}, 1)
		c.take(protocol.Call{Request: &protocol.AnswerPermission{}}, 1)
		synctest.Wait()
		if urgentDone != 2 {
			t.Errorf("%d urgent calls got through", urgentDone)
		}
		taken := make(chan struct{})
		go func() {
			c.take(read, 1)
			close(taken)
		}()
		synctest.Wait()
		select {
		case <-taken:
			t.Error("the reader did not wait")
		default:
		}
		hold <- struct{}{}
		<-taken
		close(hold)
		synctest.Wait()
		c.wait()
		if most != maxCalls {
			t.Errorf("%d were carried out at once", most)
		}
	})
}

func TestWhatWaitsIsBoundedByItsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		c := newCalls(func(protocol.Call) { <-hold })
		read := protocol.Call{Request: &protocol.ListSessions{}}
		for range maxCalls {
			c.take(read, 1)
		}
		c.take(read, maxWaitingBytes+1) // one waits however large it is
		taken := make(chan struct{})
		go func() {
			c.take(read, 1)
			close(taken)
		}()
		synctest.Wait()
		select {
		case <-taken:
			t.Error("the reader did not wait")
		default:
		}
		close(hold)
		<-taken
		synctest.Wait()
		c.wait()
	})
}

func TestTheEndOfAConnectionDropsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		var mu sync.Mutex
		done := 0
		c := newCalls(func(protocol.Call) {
			<-hold
			mu.Lock()
			done++
			mu.Unlock()
		})
		for i := range maxCalls + 10 {
			c.take(message("a", i), 1)
		}
		c.close()
		close(hold)
		c.wait()
		if done > maxCalls {
			t.Errorf("%d calls were carried out", done)
		}
		c.take(message("a", 0), 1) // does nothing, and does not wait
	})
}
