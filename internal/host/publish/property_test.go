package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"scorel/protocol"
	"scorel/protocol/fold"
)

// reader follows a publisher as a client does through a host: it reads the ring at
// its own pace, the log where the ring has passed it, and comes back with what it
// remembers.
type reader struct {
	s    *stock
	p    *Publisher
	c    *Cursor
	live protocol.Live
	ids  []protocol.EventID // of the persistent events that were handled
	sent protocol.Seq       // of the last of them, or of a state
	from source
	seen seen
}

// source is where a reader reads from.
type source int

const (
	fromLog    source = iota // it catches up in the log; what it knew of running things is void
	fromRing                 // it catches up in the ring
	whileItRun               // it has caught up
)

// seen counts what happened to readers.
type seen struct{ gaps, epochs, resumed, joined int }

func newReader(s *stock, p *Publisher, wire bool) *reader {
	r := &reader{s: s, p: p}
	r.c = p.Cursor(wire)
	return r
}

// reconnect begins again from what the reader remembers.
func (r *reader) reconnect(wire bool) {
	r.c.Close()
	r.c = r.p.Cursor(wire)
	if r.from != fromLog && r.c.Resume(r.live.StreamEpoch, r.live.ThroughSeq) {
		r.from = fromRing
		r.seen.resumed++
		return
	}
	r.from = fromLog
}

func (r *reader) handle(e protocol.Event) error {
	if e.ID != "" {
		stored := false
		for _, s := range r.s.stored() {
			if s.ID == e.ID {
				stored, e = true, s // the log has a large event whole
			}
		}
		if !stored {
			return fmt.Errorf("%s was told and is not stored", e.ID)
		}
		if e.Seq <= r.sent {
			return fmt.Errorf("persistent seq %d came behind %d", e.Seq, r.sent)
		}
		r.sent, r.ids = e.Seq, append(r.ids, e.ID)
	}
	if r.from == fromLog {
		return nil
	}
	if e.Seq <= r.live.ThroughSeq {
		return fmt.Errorf("seq %d came behind %d", e.Seq, r.live.ThroughSeq)
	}
	fold.Apply(&r.live, e)
	return nil
}

// read takes up to n times what there is.
func (r *reader) read(n int) error {
	for ; n > 0; n-- {
		var more bool
		var err error
		if r.from == fromLog {
			more, err = r.readLog()
		} else {
			more, err = r.readRing()
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// readLog takes three events of the log, or joins where it ends.
func (r *reader) readLog() (bool, error) {
	through, _ := r.p.Published()
	if live, ok := r.c.Join(r.sent); ok {
		if r.sent < live.PersistentLastSeq {
			return false, fmt.Errorf("joined at %d with the log read through %d", live.PersistentLastSeq, r.sent)
		}
		r.live, r.from = live, whileItRun
		r.seen.joined++
		return true, nil
	}
	n := 0
	for _, e := range r.s.stored() {
		if e.Seq > r.sent && e.Seq <= through && n < 3 {
			n++
			if err := r.handle(e); err != nil {
				return false, err
			}
		}
	}
	if now, _ := r.p.Published(); n == 0 && now == through { // else more was published meanwhile
		return false, fmt.Errorf("read through %d of %d and could not join", r.sent, through)
	}
	return true, nil
}

func (r *reader) readRing() (bool, error) {
	if r.from == fromRing {
		events, live, err := r.c.CatchUp()
		if more, err := r.take(events, err); err != nil || live == nil {
			return more, err
		}
		got, _ := json.Marshal(r.live)
		if want, _ := json.Marshal(live); string(got) != string(want) {
			return false, fmt.Errorf("what was resumed leads to\n%.600s\nand the publisher says\n%.600s", got, want)
		}
		r.from = whileItRun
		return true, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return r.take(r.c.Next(ctx))
}

// take handles what a cursor gave, and reports whether to go on.
func (r *reader) take(events []protocol.Event, err error) (bool, error) {
	switch {
	case errors.Is(err, context.Canceled):
		return false, nil
	case errors.Is(err, ErrEpoch):
		live, ok := r.c.Restart()
		if !ok { // yet another epoch has begun meanwhile
			r.from = fromLog
			return true, nil
		}
		r.seen.epochs++
		r.live, r.from = live, whileItRun
		return true, nil
	case errors.Is(err, ErrGap):
		r.seen.gaps++
		r.from = fromLog
		return true, nil
	case err != nil:
		return false, err
	}
	bytes := 0
	for _, e := range events {
		bytes += Size(e)
		if err := r.handle(e); err != nil {
			return false, err
		}
	}
	if len(events) > 1 && (len(events) > BatchEvents || bytes > BatchBytes*2) {
		return false, fmt.Errorf("%d events of %d bytes came at once", len(events), bytes)
	}
	return true, nil
}

// step is one thing that happens.
type step struct {
	op   string
	n, k int
}

func steps(t *rapid.T) []step {
	ops := []string{"say", "say large", "type", "type much", "start", "run", "end", "wait", "hold", "release", "fail", "read", "read", "read a little", "join", "reconnect", "idle", "crowd"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{rapid.SampledFrom(ops).Draw(t, "op"), rapid.IntRange(1, 12).Draw(t, "n"), rapid.IntRange(0, 3).Draw(t, "k")}
	}), 1, 60).Draw(t, "steps")
}

func TestEveryReaderSeesTheLogInOrderWithoutGapOrRepetition(t *testing.T) {
	var all seen
	lost := 0
	enough := func() bool { return all.gaps > 0 && all.epochs > 0 && all.resumed > 0 && all.joined > 0 && lost > 0 }
	check := func(rt *rapid.T) {
		plan := steps(rt)
		var failure error
		synctest.Test(t, func(*testing.T) {
			var s seen
			var l int
			s, l, failure = play(plan)
			all.gaps, all.epochs, all.resumed, all.joined, lost = all.gaps+s.gaps, all.epochs+s.epochs, all.resumed+s.resumed, all.joined+s.joined, lost+l
		})
		if failure != nil {
			rt.Fatal(failure)
		}
	}
	for range 10 { // until the plans have had everything in them
		if rapid.Check(t, check); enough() {
			break
		}
	}
	if !enough() {
		t.Errorf("the plans try too little: %+v, %d lost commits", all, lost)
	}
}

// play carries out a plan with three producers and any number of readers.
func play(plan []step) (all seen, lost int, failure error) {
	s := newStock()
	p := newPublisher(s)
	readers := []*reader{newReader(s, p, false)}
	var crowd []*Cursor
	var feeds []chan protocol.Event
	for range 3 {
		feed := make(chan protocol.Event, 10_000)
		feeds = append(feeds, feed)
		go func() {
			for e := range feed {
				_, _, _ = p.Put(context.Background(), "", e)
			}
		}()
	}
	keep := func(err error) {
		if err != nil && failure == nil {
			failure = err
		}
	}
	for i, st := range plan {
		feed := feeds[st.k%len(feeds)]
		switch st.op {
		case "say":
			for n := range st.n {
				feed <- said(fmt.Sprint("say ", i, n))
			}
		case "say large":
			feed <- said(strings.Repeat("x", maxInRing))
		case "type":
			for n := range st.n {
				feed <- typed(fmt.Sprint("type ", i, n))
			}
		case "type much":
			for range st.n {
				feed <- typed(strings.Repeat("y", 200<<10))
			}
		case "start":
			feed <- transient(&protocol.MessageStart{EventID: "evt_0000000000000000", Role: protocol.RoleAssistant})
		case "run":
			feed <- transient(&protocol.RuntimeStart{})
		case "end":
			feed <- transient(&protocol.RuntimeEnd{})
		case "wait":
			synctest.Wait()
		case "hold":
			s.hold()
		case "release":
			s.release(nil)
			synctest.Wait()
		case "fail":
			s.release(errors.New("no space left"))
			synctest.Wait()
			s.release(nil)
		case "read":
			keep(readers[st.k%len(readers)].read(10_000))
		case "read a little":
			keep(readers[st.k%len(readers)].read(st.n))
		case "join":
			if len(readers) < 5 {
				readers = append(readers, newReader(s, p, st.n%2 == 0))
			}
		case "reconnect":
			readers[st.k%len(readers)].reconnect(st.n%2 == 0)
		case "idle":
			time.Sleep(time.Duration(st.n) * 8 * time.Second) // of the bubble's clock
		case "crowd": // so many that events are told at a pace
			for range pacedAbove {
				crowd = append(crowd, p.Cursor(st.k == 0))
			}
		}
	}
	for _, feed := range feeds {
		close(feed)
	}
	s.release(nil)
	synctest.Wait()
	keep(p.Flush(context.Background()))
	time.Sleep(2 * pace) // of the bubble's clock
	synctest.Wait()
	want, _ := json.Marshal(p.Live())
	log := s.stored()
	for i, r := range readers {
		keep(r.read(100_000))
		all.gaps, all.epochs, all.resumed, all.joined = all.gaps+r.seen.gaps, all.epochs+r.seen.epochs, all.resumed+r.seen.resumed, all.joined+r.seen.joined
		if got, _ := json.Marshal(r.live); string(got) != string(want) {
			keep(fmt.Errorf("reader %d has the state\n%.600s\nand the publisher\n%.600s", i, got, want))
		}
		if len(r.ids) != len(log) {
			keep(fmt.Errorf("reader %d has %d events, the log %d", i, len(r.ids), len(log)))
			continue
		}
		for k, e := range log {
			if r.ids[k] != e.ID {
				keep(fmt.Errorf("reader %d has %s in place %d, the log %s", i, r.ids[k], k, e.ID))
			}
		}
	}
	for i, e := range log {
		if i > 0 && e.Seq <= log[i-1].Seq {
			keep(fmt.Errorf("seq %d is stored behind %d", e.Seq, log[i-1].Seq))
		}
	}
	for _, c := range crowd {
		c.Close()
	}
	p.Close()
	return all, len(s.failed), failure
}
