package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// The store that is searched: 1,000 sessions, 100 MB together, of which one holds
// the word.
const (
	searchedSessions = 1000
	searchedEvents   = 120           // a session, about 100 KB
	searchedWord     = "restoration" // of common letters, which are slowest to look for
	searchedEvery    = "function"    // a word that is in every session
)

// search measures sessions search, from start to exit.
func search(ctx context.Context, b *bench, n int) ([]figure, error) {
	dir := filepath.Join(b.world.home, ".scorel")
	files, err := searched(ctx, dir, b.world.work)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, f := range files {
			_ = os.Remove(f)
		}
	}()
	rare := task{name: "search a word in 1,000 sessions, 100 MB", args: []string{"sessions", "search", searchedWord}, stdout: searchedWord}
	var out []figure
	for _, f := range []struct {
		key  string
		task task
		goal float64
		cold bool
	}{
		{"search", rare, 50, false},
		{"search.cold", rare, 250, true},
		{"search.common", task{name: "search a word that stands everywhere", args: []string{"sessions", "search", searchedEvery}, stdout: searchedEvery}, 50, false},
	} {
		fig := figure{Key: f.key, Name: f.task.name, Unit: "ms", Goal: f.goal}
		if f.cold {
			fig.Name += ", cold"
		}
		if err := b.check(ctx, f.task); err != nil {
			return out, err
		}
		var runs []process
		for range max(5, n/2) {
			if f.cold {
				for _, file := range files {
					forget(file)
				}
			}
			settle()
			p, err := b.once(ctx, f.task)
			if err != nil {
				return out, err
			}
			runs = append(runs, p)
			fig.Values = append(fig.Values, p.WallMS)
			fig.WholeRun = max(fig.WholeRun, p.MaxRSS/mega)
		}
		fig.Runs = runs
		out = append(out, fig)
	}
	return out, nil
}

// searched writes the sessions and returns their files.
func searched(ctx context.Context, dir, work string) ([]string, error) {
	store, err := session.OpenStore(session.Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	var files []string
	for i := range searchedSessions {
		t := newTalk(uint64(i), "")
		t.id = protocol.NewSessionID(time.UnixMilli(started+int64(i)), t.rand)
		log, err := store.Create(ctx, protocol.Header{SessionID: t.id, DeviceID: protocol.DeviceIDOf([]byte("bench")), CreatedAt: started,
			Meta: protocol.Meta{WorkDir: work, Model: "mock"}})
		if err != nil {
			return files, err
		}
		files = append(files, filepath.Join(dir, "sessions", fmt.Sprint(t.id, ".jsonl")))
		batch := make([]protocol.Event, 0, searchedEvents+1)
		for range searchedEvents {
			batch = append(batch, t.next())
		}
		if i == searchedSessions/3 {
			batch = append(batch, t.event(&protocol.MessageBody{Message: protocol.UserText("Where is the " + searchedWord + "?")}))
		}
		if err := firstOf(log.Commit(ctx, batch), log.Close()); err != nil {
			return files, err
		}
	}
	return files, nil
}
