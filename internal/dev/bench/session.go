package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// keptBehind is how many events a compacted session keeps before its compact.
const keptBehind = 20

// talk writes the events of a session: a user message of 200 bytes, a call, a
// result of 1 KB, an answer of 500 bytes, and so on.
type talk struct {
	rand   io.Reader
	id     protocol.SessionID
	seq    protocol.Seq
	n      int // conversation events so far
	leaf   protocol.EventID
	result int // bytes of a result; 0: 1 KB
}

func newTalk(seed uint64, id protocol.SessionID) *talk {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	return &talk{rand: rand.NewChaCha8(key), id: id}
}

// started is when the sessions begin, so that each run makes the same.
const started = int64(1_800_000_000_000)

func (t *talk) event(body protocol.Body) protocol.Event {
	t.seq += 2 // transient events in between took numbers
	ev := protocol.NewEvent(body)
	ev.ID, ev.ParentID, ev.Seq = protocol.NewEventID(t.rand), t.leaf, t.seq
	ev.SessionID, ev.ClientID, ev.TS = t.id, protocol.HostClient, started+int64(t.seq)
	t.leaf = ev.ID
	return ev
}

// next returns the next event of the pattern.
func (t *talk) next() protocol.Event {
	call := fmt.Sprintf("call_%d", t.n/4)
	m := protocol.Message{Role: protocol.RoleAssistant, Provider: "mock", Model: "mock", StopReason: protocol.StopEndTurn,
		Usage: &protocol.Usage{InputTokens: 12, OutputTokens: 130, CacheReadTokens: 300 * t.n, CacheWriteTokens: 400}}
	switch t.n % 4 {
	case 0:
		m = protocol.UserText(filled("Please look at part %d of the program and say \"why\" it fails.\n", t.n, 200))
	case 1:
		m.Content = []protocol.Block{protocol.ToolUse(call, "Read", json.RawMessage(fmt.Sprintf(`{"path":"src/part%d/file%02d.go"}`, t.n%5, t.n%40)))}
		m.StopReason = protocol.StopToolUse
	case 2:
		m = protocol.Message{Role: protocol.RoleToolResult, ToolCallID: call, ToolName: "Read",
			Content: []protocol.Block{protocol.Text(filled("%5d\tif err := read(\"name\"); err != nil {\n\t\treturn err\n\t}\n", t.n, max(t.result, 1000)))}}
	case 3:
		m.Content = []protocol.Block{protocol.Text(filled("The function in line %d returns before the file is closed.\n", t.n, 500))}
	}
	t.n++
	return t.event(&protocol.MessageBody{Message: m})
}

// filled repeats a line up to a size in bytes.
func filled(line string, n, size int) string {
	var s strings.Builder
	for i := 0; s.Len() < size; i++ {
		fmt.Fprintf(&s, line, n+i)
	}
	return s.String()[:size]
}

// write makes a log of a number of events, a multiple of four, and a compact event
// after them if the session is to be compacted.
func write(ctx context.Context, store *session.Store, work string, events int, compact bool) (*session.Log, error) {
	return writeNumber(ctx, store, work, 0, events, 0, compact)
}

// writeNumber is write for the session of a number, from 0, with results of that many
// bytes (0: 1 KB).
func writeNumber(ctx context.Context, store *session.Store, work string, n, events, result int, compact bool) (*session.Log, error) {
	id := protocol.NewSessionID(time.UnixMilli(started+int64(events+n)), rand.NewChaCha8([32]byte{byte(events), byte(events >> 8), byte(n), byte(n >> 8)}))
	log, err := store.Create(ctx, protocol.Header{SessionID: id, DeviceID: protocol.DeviceIDOf([]byte("bench")), CreatedAt: started,
		Meta: protocol.Meta{WorkDir: work, Model: "mock"}})
	if err != nil {
		return nil, err
	}
	t := newTalk(uint64(events), id)
	t.result = result
	var batch []protocol.Event
	var through protocol.EventID
	for i := range events {
		batch = append(batch, t.next())
		if i == events-keptBehind-1 {
			through = t.leaf
		}
		if compact && i == events-1 {
			batch = append(batch, t.event(&protocol.Compact{Summary: filled("Part %d was looked at and repaired.\n", 1, 2000),
				CompactedThrough: through, TokensBefore: 100_000, TokensAfter: 4_000}))
		}
		if len(batch) >= 2000 || i == events-1 {
			if err := log.Commit(ctx, batch); err != nil {
				return nil, firstOf(err, log.Close())
			}
			batch = batch[:0]
		}
	}
	return log, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func sessionCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("bench session", flag.ContinueOnError)
	dir := f.String("dir", "", "the folder of Scorel to write into")
	work := f.String("work", "", "the working directory of the session")
	events := f.Int("events", 10_000, "how many events, a multiple of four")
	compact := f.Bool("compact", false, "a compaction behind them that keeps the last 20")
	result := f.Int("result", 0, "bytes of each result; 0: 1 KB")
	count := f.Int("count", 1, "how many sessions; they are alike, and the last one is printed")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *dir == "" || *work == "" || *events <= keptBehind || *events%4 != 0 || *count < 1 {
		return fmt.Errorf("session needs -dir, -work and more than %d -events, a multiple of four", keptBehind)
	}
	store, err := session.OpenStore(session.Config{Dir: *dir})
	if err != nil {
		return err
	}
	var log *session.Log
	for n := range *count {
		if log, err = writeNumber(ctx, store, *work, n, *events, *result, *compact); err != nil {
			return err
		}
		if err := log.Close(); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]string{"ID": string(log.ID()),
		"File": filepath.Join(*dir, "sessions", string(log.ID())+".jsonl")})
}
