package filelist

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/text/fuzzy"
	"scorel/protocol"
)

// TestAQueryWaitsForAMomentAndThenGetsWhatWasFoundSoFar: a walk that takes long, as
// of a folder on a slow disk.
func TestAQueryWaitsForAMomentAndThenGetsWhatWasFoundSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists lists
		defer lists.close()
		var walks atomic.Int32
		take := func(ctx context.Context, root string, b *fuzzy.Builder) error {
			walks.Add(1)
			b.Add("early.go")
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
			b.Add("late.go")
			return nil
		}
		rootOf := func(protocol.ProjectID) (string, error) { return "/x", nil }
		ask := func() ([]string, bool) {
			t.Helper()
			l, _, err := lists.get(context.Background(), "prj_1", rootOf, take)
			if err != nil {
				t.Fatal(err)
			}
			files, _ := l.Find("", 10)
			return files, l.Cut()
		}
		start := time.Now()
		for range 3 {
			if files, cut := ask(); !slices.Equal(files, []string{"early.go"}) || !cut {
				t.Errorf("during the walk: %q, cut %v", files, cut)
			}
		}
		if took := time.Since(start); took != 3*fileListPatience {
			t.Errorf("three queries took %v", took)
		}
		time.Sleep(10 * time.Second)
		if files, cut := ask(); !slices.Equal(files, []string{"late.go", "early.go"}) || cut || walks.Load() != 1 {
			t.Errorf("after the walk: %q, cut %v, %d walks", files, cut, walks.Load())
		}
		// A walk of ten seconds is not begun again before a hundred are over.
		time.Sleep(90 * time.Second)
		ask()
		time.Sleep(20 * time.Second)
		ask()
		synctest.Wait()
		if walks.Load() != 2 {
			t.Errorf("%d walks", walks.Load())
		}
	})
}

// TestWhatIsNotInAnOldListIsLookedForInTheNewOne: a file that was made since, in a
// tree that takes long.
func TestWhatIsNotInAnOldListIsLookedForInTheNewOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists lists
		defer lists.close()
		names := []string{"old.go"}
		takes := 200 * time.Millisecond
		take := func(ctx context.Context, root string, b *fuzzy.Builder) error {
			for _, n := range names {
				b.Add(n)
			}
			time.Sleep(takes)
			return nil
		}
		find := func(query string, files []string, more bool, took time.Duration) {
			t.Helper()
			began := time.Now()
			got, gotMore, err := lists.find(context.Background(), "prj_1", func(protocol.ProjectID) (string, error) { return "/x", nil }, take, query, 10)
			if err != nil || !slices.Equal(got, files) || gotMore != more || time.Since(began) != took {
				t.Errorf("%q: %q, more %v, after %v (%v), want %q, %v, %v", query, got, gotMore, time.Since(began), err, files, more, took)
			}
		}
		find("old", []string{"old.go"}, false, takes)
		find("new", nil, false, 0) // the list is new itself
		time.Sleep(time.Minute)
		names = append(names, "new.go")
		find("old", []string{"old.go"}, false, 0) // what is known comes at once
		find("new", []string{"new.go"}, false, takes)
		// A tree that takes longer than one waits for: there may be more.
		time.Sleep(time.Minute)
		names, takes = append(names, "newest.go"), time.Second
		find("newest", nil, true, fileListPatience)
		find("newest", nil, true, fileListPatience)
		find("newest", nil, true, fileListPatience)
		find("newest", []string{"newest.go"}, false, time.Second-3*fileListPatience)
	})
}

// TestTheEndOfAHostEndsItsWalks: those that run and those that wait for a place.
func TestTheEndOfAHostEndsItsWalks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists lists
		var running atomic.Int32
		take := func(ctx context.Context, root string, b *fuzzy.Builder) error {
			running.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}
		for _, id := range []protocol.ProjectID{"a", "b", "c", "d", "e", "f"} {
			if _, _, err := lists.get(context.Background(), id, func(protocol.ProjectID) (string, error) { return "/x", nil }, take); err != nil {
				t.Fatal(err)
			}
		}
		if running.Load() != maxFileWalks || len(lists.by) != maxFileLists {
			t.Errorf("%d walks at once, %d lists", running.Load(), len(lists.by))
		}
		lists.close()
		var pe *protocol.Error
		if _, _, err := lists.get(context.Background(), "f", nil, take); !errors.As(err, &pe) {
			t.Errorf("a query afterwards: %v", err)
		}
	})
}
