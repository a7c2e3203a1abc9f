package publish

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"scorel/protocol"
)

func TestACursorResumesOnlyWhereTheRingStillGoesOn(t *testing.T) {
	s := newStock()
	p := New(Config{Session: testSession, Commit: s.commit, Now: time.Now, Rand: rand.Reader, Live: protocol.Live{ThroughSeq: 50, PersistentLastSeq: 50}})
	defer p.Close()
	put(t, p, typed("a"), typed("b"), said("c")) // 51 to 53
	if err := p.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		epoch protocol.Epoch
		last  protocol.Seq
		want  bool
	}{
		"behind the first event":        {p.Epoch(), 51, true},
		"where the session was opened":  {p.Epoch(), 50, true},
		"nothing was missed":            {p.Epoch(), 53, true},
		"before the session was opened": {p.Epoch(), 49, false},
		"ahead of what was published":   {p.Epoch(), 54, false},
		"another epoch":                 {"epo_0000000000000000", 51, false},
		"no epoch":                      {"", 53, false},
	} {
		t.Run(name, func(t *testing.T) {
			cur := p.Cursor(false)
			defer cur.Close()
			if got := cur.Resume(c.epoch, c.last); got != c.want {
				t.Fatalf("resumed: %v", got)
			}
			if !c.want {
				return
			}
			seqs(t, now(t, cur), c.last+1)
			if cur.Last() != 53 {
				t.Errorf("it stands at %d", cur.Last())
			}
		})
	}
	cur := p.Cursor(false)
	defer cur.Close()
	for range 40 {
		put(t, p, typed(strings.Repeat("x", 64<<10)))
	}
	if err := p.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if cur.Resume(p.Epoch(), 51) {
		t.Error("a cursor resumed in what the ring has lost")
	}
}

func TestACursorJoinsOnlyAtTheEndOfTheLog(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	put(t, p, said("a"), typed("b"), said("c"), typed("d"))
	if err := p.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	cur := p.Cursor(false)
	defer cur.Close()
	if _, ok := cur.Join(2); ok {
		t.Error("it joined with an event of the log unread")
	}
	live, ok := cur.Join(3)
	if !ok || live.ThroughSeq != 4 || live.PersistentLastSeq != 3 {
		t.Fatalf("joined %v at %+v", ok, live)
	}
	put(t, p, typed("e"))
	events, err := cur.Next(context.Background())
	if err != nil || len(events) != 1 || events[0].Seq != live.ThroughSeq+1 {
		t.Errorf("behind the state came %v %v", events, err)
	}
}

func TestTheRingIsDroppedAMinuteBehindTheLastTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStock()
		p := newPublisher(s)
		defer p.Close()
		held := func() int {
			p.mu.RLock()
			defer p.mu.RUnlock()
			return len(p.ring.slots)
		}
		atEnd, _ := joined(t, p)
		behind, _ := joined(t, p)
		put(t, p, transient(&protocol.RuntimeStart{}), typed("x"))
		time.Sleep(10 * keepRing)
		synctest.Wait()
		if held() != 2 {
			t.Fatalf("in a long turn the ring holds %d events", held())
		}
		put(t, p, transient(&protocol.RuntimeEnd{}))
		time.Sleep(keepRing / 2)
		put(t, p, transient(&protocol.RuntimeStart{})) // in time: the clock begins again after its end
		time.Sleep(keepRing)
		put(t, p, transient(&protocol.RuntimeEnd{}))
		synctest.Wait()
		now(t, atEnd)
		time.Sleep(keepRing - 1)
		synctest.Wait()
		if held() != 5 {
			t.Errorf("before its time the ring holds %d events", held())
		}
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		if held() != 0 {
			t.Errorf("a minute later the ring holds %d events", held())
		}
		if _, err := behind.Next(t.Context()); !errors.Is(err, ErrGap) {
			t.Errorf("who was behind: %v", err)
		}
		if behind.Resume(p.Epoch(), 1) {
			t.Error("a cursor resumed in what was dropped")
		}
		put(t, p, typed("y"))
		if events, err := atEnd.Next(t.Context()); err != nil || len(events) != 1 {
			t.Errorf("who was at the end: %v %v", events, err)
		}
	})
}

func TestManyCursorsAreToldAtAPace(t *testing.T) {
	for _, n := range []int{pacedAbove, pacedAbove + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStock()
				p := newPublisher(s)
				cur, _ := joined(t, p)
				for range n - 1 {
					p.Cursor(false)
				}
				type got struct {
					after time.Duration
					n     int
				}
				var frames []got
				start := time.Now()
				done := make(chan struct{})
				go func() { // ends with the publisher
					defer close(done)
					for {
						events, err := cur.Next(context.Background())
						if err != nil {
							return
						}
						frames = append(frames, got{time.Since(start), len(events)})
					}
				}()
				for range 9 { // one event each 4 ms, from 0 to 32
					put(t, p, typed("x"))
					time.Sleep(4 * time.Millisecond)
				}
				time.Sleep(pace)
				synctest.Wait()
				const ms = time.Millisecond
				want := []got{{0, 1}, {15 * ms, 3}, {30 * ms, 4}, {45 * ms, 1}}
				if n <= pacedAbove {
					want = nil
					for i := range 9 {
						want = append(want, got{time.Duration(i) * 4 * ms, 1})
					}
				}
				if fmt.Sprint(frames) != fmt.Sprint(want) {
					t.Errorf("frames came at %v, want %v", frames, want)
				}
				frames = nil
				time.Sleep(pace)
				start = time.Now()
				put(t, p, typed("x"))
				synctest.Wait()
				put(t, p, typed(strings.Repeat("y", maxShown))) // so much does not wait
				synctest.Wait()
				if want := []got{{0, 1}, {0, 1}}; fmt.Sprint(frames) != fmt.Sprint(want) {
					t.Errorf("64 KiB came at %v, want %v", frames, want)
				}
				p.Close()
				<-done
			})
		})
	}
}

func TestACursorThatResumesAmongManyGetsItsStateWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStock()
		p := newPublisher(s)
		defer p.Close()
		for range pacedAbove + 1 {
			p.Cursor(false)
		}
		put(t, p, typed("a"))
		synctest.Wait()
		put(t, p, typed("b")) // is held back for the others
		synctest.Wait()
		cur := p.Cursor(false)
		if !cur.Resume(p.Epoch(), 0) {
			t.Fatal("it could not resume")
		}
		events, live, err := cur.CatchUp()
		if err != nil || len(events) != 2 || live == nil || live.ThroughSeq != 2 {
			t.Fatalf("caught up with %d events, %+v, %v", len(events), live, err)
		}
		put(t, p, typed("c"))
		if events, err := cur.Next(t.Context()); err != nil || len(events) != 1 || events[0].Seq != 3 {
			t.Errorf("then came %v %v", events, err)
		}
	})
}

func TestTransientEventsAreMarshalledOnceAndOnlyForAWire(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	embedded, _ := joined(t, p)
	put(t, p, typed("a"))
	events, err := embedded.Next(context.Background())
	if err != nil || events[0].Raw() != nil {
		t.Fatalf("without a wire the event has the line %s, %v", events[0].Raw(), err)
	}
	wire := p.Cursor(true)
	if _, ok := wire.Join(0); !ok {
		t.Fatal("it could not join")
	}
	put(t, p, typed("b"))
	first, err := embedded.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	second, err := wire.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a, b := first[0].Raw(), second[0].Raw()
	if len(a) == 0 || &a[0] != &b[0] {
		t.Errorf("the lines are %s and %s, not the same bytes", a, b)
	}
	wire.Close()
	put(t, p, typed("c"))
	if events, err := embedded.Next(context.Background()); err != nil || events[0].Raw() != nil {
		t.Errorf("when the wire has gone the event has the line %s, %v", events[0].Raw(), err)
	}
}

func TestAChangeOfWhatAListShowsIsToldWhenItHasLeft(t *testing.T) {
	s := newStock()
	var p *Publisher
	var seen []Status
	p = New(Config{Session: testSession, Commit: s.commit, Now: time.Now, Rand: rand.Reader, Changed: func() { seen = append(seen, p.Status()) }})
	item := protocol.QueueItem{ID: "itm_0000000000000000"}
	put(t, p, transient(&protocol.RuntimeStart{}))
	_ = p.Flush(context.Background())
	put(t, p, typed("x"), said("y"))
	_ = p.Flush(context.Background())
	put(t, p, transient(&protocol.PermissionRequest{PermissionID: "prm_1"}))
	_ = p.Flush(context.Background())
	put(t, p, persistent(&protocol.QueueUpdate{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{item}}))
	_ = p.Flush(context.Background())
	put(t, p, transient(&protocol.RuntimeEnd{}))
	p.Close()
	want := []Status{{Running: true}, {Running: true, Asking: true}, {Running: true, Asking: true, Queued: 1, Waits: true}, {Queued: 1, Waits: true}}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("told\n%+v, want\n%+v", seen, want)
	}
}

func TestAReaderThatStopsCostsThePublisherNoMoreThanItsRing(t *testing.T) {
	p := New(Config{Session: testSession, Commit: func(context.Context, []protocol.Event) error { return nil }, Now: time.Now, Rand: rand.Reader})
	defer p.Close()
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	var stuck []*Cursor
	for range 200 {
		c := p.Cursor(true)
		if _, ok := c.Join(0); !ok {
			t.Fatal("it could not join")
		}
		stuck = append(stuck, c)
	}
	base, most := heap(), 0
	for n := range 2000 { // 50 MB, told and stored in halves
		put(t, p, said(strings.Repeat("s", 12<<10)), typed(strings.Repeat("t", 12<<10)))
		if n%200 == 0 {
			if err := p.Flush(context.Background()); err != nil {
				t.Fatal(err)
			}
			most = max(most, heap()-base)
		}
	}
	if most > 4*maxRing {
		t.Errorf("%d KiB are held", most>>10)
	}
	for _, c := range stuck {
		if _, err := c.Next(context.Background()); !errors.Is(err, ErrGap) {
			t.Fatalf("who stopped reading is told %v", err)
		}
		c.Close()
	}
}

// BenchmarkFanOut is one publisher that streams 200 deltas a second to many
// subscriptions. It reports the processor time of it all, marshalling included.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newStock()
			p := newPublisher(s)
			var wg sync.WaitGroup
			var frames atomic.Int64
			for range n {
				cur := p.Cursor(true)
				if _, ok := cur.Join(0); !ok {
					b.Fatal("it could not join")
				}
				wg.Go(func() {
					defer cur.Close()
					var buf []byte
					for {
						events, err := cur.Next(context.Background())
						if err != nil {
							return
						}
						frames.Add(1)
						buf, _ = protocol.AppendFrame(buf[:0], &protocol.EventsFrame{SessionID: testSession, Events: events})
					}
				})
			}
			b.ReportAllocs()
			before := cpuTime()
			start := time.Now()
			tick := time.NewTicker(5 * time.Millisecond)
			for b.Loop() {
				<-tick.C
				if _, _, err := p.Put(context.Background(), "", typed("some words of it ")); err != nil {
					b.Fatal(err)
				}
			}
			tick.Stop()
			b.ReportMetric(float64(cpuTime()-before)/float64(time.Since(start)), "cores")
			b.ReportMetric(float64(frames.Load())/time.Since(start).Seconds(), "frames/s")
			p.Close()
			wg.Wait()
		})
	}
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestACursorThatAnotherEpochOvertakesGoesOnFromTheLog lets a second commit fail
// between the end of an epoch, as a cursor is told of it, and its going on: what was
// stored between the two must not be passed over.
func TestACursorThatAnotherEpochOvertakesGoesOnFromTheLog(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	fail := func() {
		t.Helper()
		s.release(errors.New("no space left"))
		if err := put(t, p, said("lost"))[0].Wait(context.Background()); err == nil {
			t.Fatal("the commit did not fail")
		}
		s.release(nil)
	}
	cur := p.Cursor(false)
	defer cur.Close()
	if _, ok := cur.Join(0); !ok {
		t.Fatal("it did not join")
	}
	fail()
	if _, err := cur.Next(context.Background()); !errors.Is(err, ErrEpoch) {
		t.Fatalf("next: %v", err)
	}
	stored := put(t, p, said("stored"))[0]
	if err := stored.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	fail()
	last := cur.Last()
	if live, ok := cur.Restart(); ok {
		t.Errorf("it goes on at %d with the state of %d, and the event between is passed over", last, live.PersistentLastSeq)
	}
	if cur.Last() != last {
		t.Errorf("it has moved from %d to %d", last, cur.Last())
	}
}
