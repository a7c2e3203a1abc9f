package killtest

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"scorel/internal/session"
	"scorel/protocol"
)

// childDir is the variable that makes this program the appending child: the
// folder whose only session it goes on with.
const childDir = "SCOREL_KILLTEST_DIR"

// appendUntilKilled opens the session of dir, or makes one, and appends events in
// commits of one to eight, printing each event when its commit is acknowledged.
func appendUntilKilled(dir string) int {
	if err := appendForEver(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

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
	leaf, seq := log.Index().Leaf(), log.NextSeqFloor()
	for {
		var events []protocol.Event
		for range 1 + rand.IntN(8) {
			size := rand.IntN(1000)
			if rand.IntN(50) == 0 {
				size = rand.IntN(256 << 10) // a kill can cut such a write in two
			}
			ev := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText(strings.Repeat("words ", size/6))})
			ev.ID, ev.ParentID, ev.Seq = protocol.NewEventID(crand.Reader), leaf, seq
			ev.SessionID, ev.ClientID, ev.TS = log.ID(), protocol.HostClient, time.Now().UnixMilli()
			if ev, err = ev.Seal(); err != nil {
				return err
			}
			events = append(events, ev)
			leaf, seq = ev.ID, seq+protocol.Seq(1+rand.IntN(3))
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

// openOnly opens the newest session of dir that has events or can have them.
func openOnly(ctx context.Context, store *session.Store, dir string) (*session.Log, error) {
	for _, name := range logs(dir) {
		id := protocol.SessionID(strings.TrimSuffix(filepath.Base(name), ".jsonl"))
		log, _, err := store.Open(ctx, id)
		return log, err
	}
	return store.Create(ctx, protocol.Header{DeviceID: protocol.DeviceIDOf([]byte("killtest"))})
}

const (
	appendRounds  = 800
	roundsPerDir  = 10 // then a new session, so that checking stays cheap
	appendedLines = 16 // at most, before the kill
)

func TestKillWhileAppendingLosesNothingAcknowledged(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent, seed, want := t.TempDir(), newSeed(t), rounds(appendRounds)
	var done, told, torn atomic.Int64
	each(t, func(worker int) error {
		r := random(t, seed, worker)
		for done.Load() < int64(want) {
			dir, err := os.MkdirTemp(parent, "")
			if err != nil {
				return err
			}
			var before []byte
			for range roundsPerDir {
				cmd := exec.Command(self)
				cmd.Env = append(os.Environ(), childDir+"="+dir)
				got := kill(cmd, randomMoment(r, appendedLines, 3*time.Millisecond))
				if got.err != nil {
					return got.err
				}
				if !got.killed {
					return fmt.Errorf("%s: the child ended by itself: %s", dir, tail(bytes.NewReader(got.stderr)))
				}
				log, n, err := judge(dir, got.printed, before)
				if err != nil {
					return fmt.Errorf("%s: %w", dir, err)
				}
				done.Add(1)
				told.Add(int64(n))
				if log != nil {
					before = log.Whole
					if len(log.Tail) > 0 {
						torn.Add(1)
					}
				}
			}
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
		return nil
	})
	t.Logf("%d rounds of appending, %d acknowledged events, %d unfinished last lines", done.Load(), told.Load(), torn.Load())
	if done.Load() < int64(want) || told.Load() < int64(want) {
		t.Errorf("%d rounds with %d acknowledged events; at least %d of each must be", done.Load(), told.Load(), want)
	}
}

// judge checks the only log of dir, if there is one.
func judge(dir string, printed, before []byte) (log *Log, n int, err error) {
	names := logs(dir)
	if len(names) > 1 {
		return nil, 0, fmt.Errorf("there are %d logs", len(names))
	}
	if len(names) == 0 {
		return judgeLog("", printed, before)
	}
	return judgeLog(names[0], printed, before)
}
