package lane

import (
	"context"
	"crypto/rand"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/protocol"
)

// TestCompactingRightBehindATurnWaitsUntilItIsPutAway asks between the end that
// clients are told of and the moment from which the lane is free.
func TestCompactingRightBehindATurnWaitsUntilItIsPutAway(t *testing.T) {
	store, err := session.OpenStore(session.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(t.Context(), protocol.Header{Version: protocol.HeaderVersion, SessionID: protocol.NewSessionID(time.Now(), rand.Reader)})
	if err != nil {
		t.Fatal(err)
	}
	m := harness.Scripted(t, "", `{"again":true,"do":[{"text":"fine"}]}`)
	synctest.Test(t, func(t *testing.T) {
		caller := Caller{Client: "cli_0000000000000000000000000", Request: protocol.NewRequestID(rand.Reader)}
		putAway := make(chan struct{})
		host := &standIn{config: func(context.Context, protocol.Meta, *protocol.TurnOptions) (*TurnConfig, error) {
			return &TurnConfig{Models: Models{Main: m},
				Limits: runtime.Limits{MaxSteps: 3},
				Prompt: helpful{},
				Close:  func() { <-putAway }}, nil
		}}
		l, err := New(t.Context(), Config{Turns: host, Host: host, Owner: host, Log: log, Blobs: store.Blobs(), Now: time.Now, Rand: rand.Reader,
			Report: func(string, []byte) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Send(t.Context(), caller, Message{Content: []protocol.Block{protocol.Text("hello")}, Busy: BusyReject}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if live := l.Publisher().Live(); live.Running || !l.Busy() {
			t.Fatalf("the turn is told to have ended: %v, and put away: %v", !live.Running, !l.Busy())
		}
		done := make(chan error, 1)
		go func() { // ends with the compaction
			_, err := l.Compact(context.Background(), caller, "", Move{})
			done <- err
		}()
		synctest.Wait()
		close(putAway)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := l.Close(func() {}); err != nil {
			t.Error(err)
		}
	})
}
