// Command appender is killed by the tests of package crashtest. It opens the
// session of a folder, or makes one, appends events for ever in commits of one to
// eight, and prints each event when its commit is acknowledged.
package main

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "appender: give the folder of the sessions")
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "appender:", appendForEver(context.Background(), os.Args[1]))
	os.Exit(1)
}

// appendForEver ends only with an error.
func appendForEver(ctx context.Context, dir string) error {
	store, err := session.OpenStore(session.Config{Dir: dir})
	if err != nil {
		return err
	}
	log, err := openOnly(ctx, store, dir)
	if err != nil {
		return err
	}
	if only, why := log.ReadOnly(); only {
		return errors.New(why)
	}
	leaf, seq, prev := log.Index().Leaf(), log.NextSeqFloor(), log.Index().LastSeq()
	for {
		var events []protocol.Event
		for range 1 + rand.IntN(8) {
			size := rand.IntN(200)
			if rand.IntN(60) == 0 {
				size = rand.IntN(64 << 10) // a kill can cut such a write in two
			}
			ev := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText(strings.Repeat("words ", size/6))})
			ev.ID, ev.ParentID, ev.Seq = protocol.NewEventID(crand.Reader), leaf, seq
			ev.SessionID, ev.ClientID, ev.TS = log.ID(), protocol.HostClient, time.Now().UnixMilli()
			if ev, err = ev.SealAfter(prev); err != nil {
				return err
			}
			events = append(events, ev)
			leaf, prev, seq = ev.ID, seq, seq+protocol.Seq(1+rand.IntN(3))
		}
		if err := log.Commit(ctx, events); err != nil {
			return err
		}
		var out []byte
		for _, ev := range events {
			out = append(append(out, ev.Raw()...), '\n')
		}
		if _, err := os.Stdout.Write(out); err != nil {
			return err
		}
	}
}

// openOnly opens the session of dir, or makes it.
func openOnly(ctx context.Context, store *session.Store, dir string) (*session.Log, error) {
	names, err := filepath.Glob(filepath.Join(dir, "sessions", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		log, _, err := store.Open(ctx, protocol.SessionID(strings.TrimSuffix(filepath.Base(names[0]), ".jsonl")))
		return log, err
	}
	return store.Create(ctx, protocol.Header{DeviceID: protocol.DeviceIDOf([]byte("killtest"))})
}
