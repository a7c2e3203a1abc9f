package lane

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/model/script"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
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
	s, err := script.Parse(strings.NewReader("{\"script\":1}\n{\"again\":true,\"do\":[{\"text\":\"fine\"}]}\n"), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		caller := Caller{Client: "cli_0000000000000000000000000", Request: protocol.NewRequestID(rand.Reader)}
		putAway := make(chan struct{})
		l, err := New(t.Context(), Config{Log: log, Blobs: store.Blobs(), Idle: func() {}, Now: time.Now, Rand: rand.Reader,
			Free:       func() (uint64, error) { return 1 << 40, nil },
			DateChange: func(_, _ time.Time) (protocol.Item, bool) { return protocol.Item{}, false },
			Report:     func(string, []byte) {},
			Setup: func(context.Context, protocol.Meta, *protocol.TurnOptions) (*Setup, error) {
				return &Setup{Model: script.New(script.Config{Script: s}), Env: tool.Env{},
					Limits:       runtime.Limits{MaxSteps: 3},
					Instructions: func() (protocol.Instructions, []string, error) { return protocol.Instructions{Text: "Help."}, nil, nil },
					Close:        func() { <-putAway }}, nil
			}})
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
