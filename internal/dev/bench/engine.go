package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/history"
	"scorel/protocol"
)

// scratchStore makes a store in a temporary folder below parent.
func scratchStore(parent string) (store *session.Store, remove func(), err error) {
	dir, err := os.MkdirTemp(parent, "scorel-bench-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if store, err = session.OpenStore(session.Config{Dir: dir}); err != nil {
		remove()
		return nil, nil, err
	}
	return store, remove, nil
}

// appends is what appendsCommand prints.
type appends struct {
	Events    int     `json:"events"`
	PerSecond float64 `json:"perSecond"`
	P50       float64 `json:"p50"` // milliseconds from the call to the acknowledgement
	P99       float64 `json:"p99"`
	Max       float64 `json:"max"`
	Bare      float64 `json:"bare"` // the same bytes a second, in events, written and synced without Scorel
}

// appendsCommand appends to many sessions at once, each event in a commit of its
// own and the next one when the last is durable.
func appendsCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("bench appends", flag.ContinueOnError)
	parent := f.String("parent", "", "where the scratch folder is made")
	sessions := f.Int("sessions", 64, "how many sessions at once")
	length := f.Duration("for", 2*time.Second, "how long")
	if err := f.Parse(args); err != nil {
		return err
	}
	store, remove, err := scratchStore(*parent)
	if err != nil {
		return err
	}
	defer remove()
	out, err := measureAppends(ctx, store, *sessions, *length)
	if err != nil {
		return err
	}
	if out.Bare, err = bareAppends(*parent, *sessions, *length); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func measureAppends(ctx context.Context, store *session.Store, sessions int, length time.Duration) (appends, error) {
	logs := make([]*session.Log, sessions)
	for i := range logs {
		log, err := store.Create(ctx, protocol.Header{DeviceID: protocol.DeviceIDOf([]byte("bench"))})
		if err != nil {
			return appends{}, err
		}
		defer func() { _ = log.Close() }()
		logs[i] = log
	}
	var bodies []protocol.Body // made ahead: what makes them is not what is measured
	for t := newTalk(0, ""); len(bodies) < 40; {
		bodies = append(bodies, t.next().Body)
	}
	times := make([]series, sessions)
	errs := make([]error, sessions)
	var wg sync.WaitGroup
	begin := time.Now()
	for i, log := range logs {
		wg.Go(func() { // ends after length
			t := newTalk(uint64(i), log.ID())
			for n := 0; time.Since(begin) < length; n++ {
				ev := t.event(bodies[n%len(bodies)])
				at := time.Now()
				if err := log.Commit(ctx, []protocol.Event{ev}); err != nil {
					errs[i] = err
					return
				}
				times[i] = append(times[i], milliseconds(time.Since(at)))
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	var all series
	for _, t := range times {
		all = append(all, t...)
	}
	return appends{Events: len(all), PerSecond: float64(len(all)) / took.Seconds(),
		P50: all.median(), P99: all.quantile(0.99), Max: all.max()}, errors.Join(errs...)
}

// bareAppends returns how many events a second the disk takes when nothing else is done:
// lines of the same lengths at the ends of as many files, each written and synced by itself.
// What a machine gives changes by the hour, so it is measured beside.
func bareAppends(parent string, files int, length time.Duration) (float64, error) {
	dir, err := os.MkdirTemp(parent, "bare")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var lines [][]byte
	for t := newTalk(0, ""); len(lines) < 40; {
		e, err := t.next().Seal()
		if err != nil {
			return 0, err
		}
		lines = append(lines, append(e.Raw(), '\n'))
	}
	counts := make([]int, files)
	errs := make([]error, files)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range files {
		wg.Go(func() { // ends after length
			f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)))
			for ; err == nil && time.Since(begin) < length; counts[i]++ {
				if _, err = f.Write(lines[counts[i]%len(lines)]); err == nil {
					err = f.Sync()
				}
			}
			errs[i] = errors.Join(err, f.Close())
		})
	}
	wg.Wait()
	all := 0
	for _, n := range counts {
		all += n
	}
	return float64(all) / time.Since(begin).Seconds(), errors.Join(errs...)
}

// contexts is what contextCommand prints, in milliseconds.
type contexts struct {
	Build  series `json:"build"`
	Extend series `json:"extend"`
}

// contextCommand builds the context of a long path again, from an open log, and
// extends it by one step.
func contextCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("bench context", flag.ContinueOnError)
	parent := f.String("parent", "", "where the scratch folder is made")
	events := f.Int("events", 10_000, "how long the path is")
	n := f.Int("n", 20, "how often")
	if err := f.Parse(args); err != nil {
		return err
	}
	store, remove, err := scratchStore(*parent)
	if err != nil {
		return err
	}
	defer remove()
	out, err := measureContext(ctx, store, *events, *n)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func measureContext(ctx context.Context, store *session.Store, events, n int) (contexts, error) {
	log, err := write(ctx, store, "/", events, false)
	if err != nil {
		return contexts{}, err
	}
	defer func() { _ = log.Close() }()
	b, err := history.New(history.Config{Log: log.Index()})
	if err != nil {
		return contexts{}, err
	}
	window := history.Window{Size: hugeWindow}
	build := func(leaf protocol.EventID, want int) (time.Duration, error) {
		at := time.Now()
		c, err := b.Build(ctx, leaf, window)
		took := time.Since(at)
		if err == nil && len(c.Messages) != want {
			err = fmt.Errorf("the context has %d messages instead of %d", len(c.Messages), want)
		}
		return took, err
	}
	var out contexts
	for range n {
		b.Drop()
		took, err := build(log.Index().Leaf(), events)
		if err != nil {
			return contexts{}, err
		}
		out.Build = append(out.Build, milliseconds(took))
	}
	t := newTalk(1, log.ID())
	t.leaf, t.seq, t.n = log.Index().Leaf(), log.Index().LastSeq(), events
	for have := events; len(out.Extend) < n; {
		step := []protocol.Event{t.next(), t.next(), t.next(), t.next()}
		if err := log.Commit(ctx, step); err != nil {
			return contexts{}, err
		}
		have += len(step)
		at := time.Now()
		for _, ev := range step {
			b.Extend(ev)
		}
		if _, err := build(t.leaf, have); err != nil {
			return contexts{}, err
		}
		out.Extend = append(out.Extend, milliseconds(time.Since(at)))
	}
	return out, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
