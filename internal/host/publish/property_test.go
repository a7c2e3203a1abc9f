package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"scorel/protocol"
)

// reader follows a publisher as a client's connection does: it reads the ring at
// its own pace and the log where the ring has passed it.
type reader struct {
	s    *stock
	p    *Publisher
	c    *Cursor
	live protocol.Live
	last protocol.Seq       // of the last event that was handled
	ids  []protocol.EventID // of the persistent events that were handled
	gaps int
}

func newReader(s *stock, p *Publisher) *reader {
	r := &reader{s: s, p: p}
	r.c, r.live = p.Cursor()
	for _, e := range s.stored() {
		if e.Seq <= r.live.ThroughSeq {
			r.ids = append(r.ids, e.ID)
		}
	}
	r.last = r.live.ThroughSeq
	return r
}

func (r *reader) handle(e protocol.Event) error {
	if e.Seq <= r.last {
		return fmt.Errorf("seq %d came behind %d", e.Seq, r.last)
	}
	r.last = e.Seq
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
		r.ids = append(r.ids, e.ID)
	}
	r.live.Apply(e)
	return nil
}

// read takes all that there is.
func (r *reader) read() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		events, err := r.c.Next(ctx)
		switch {
		case errors.Is(err, context.Canceled):
			return nil
		case errors.Is(err, ErrEpoch):
			r.live = r.c.Restart()
		case errors.Is(err, ErrGap):
			r.gaps++
			sent := r.live.PersistentLastSeq
			var live protocol.Live
			r.c, live = r.p.Cursor()
			for _, e := range r.s.stored() {
				if e.Seq > sent && e.Seq <= live.PersistentLastSeq {
					r.ids = append(r.ids, e.ID)
				}
			}
			r.live, r.last = live, live.ThroughSeq
		case err != nil:
			return err
		}
		for _, e := range events {
			if err := r.handle(e); err != nil {
				return err
			}
		}
	}
}

// step is one thing that happens.
type step struct {
	op   string
	n, k int
}

func steps(t *rapid.T) []step {
	ops := []string{"say", "say large", "type", "type much", "start", "run", "end", "wait", "hold", "release", "fail", "read", "join"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{rapid.SampledFrom(ops).Draw(t, "op"), rapid.IntRange(1, 12).Draw(t, "n"), rapid.IntRange(0, 3).Draw(t, "k")}
	}), 1, 60).Draw(t, "steps")
}

func TestEveryReaderSeesTheLogInOrderWithoutGapOrRepetition(t *testing.T) {
	gaps, lost := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		plan := steps(rt)
		var failure error
		synctest.Test(t, func(*testing.T) {
			var g, l int
			g, l, failure = play(plan)
			gaps, lost = gaps+g, lost+l
		})
		if failure != nil {
			rt.Fatal(failure)
		}
	})
	if gaps == 0 || lost == 0 {
		t.Errorf("the plans made %d gaps and lost %d commits: they try too little", gaps, lost)
	}
}

// play carries out a plan with three producers and any number of readers.
func play(plan []step) (gaps, lost int, failure error) {
	s := newStock()
	p := newPublisher(s)
	readers := []*reader{newReader(s, p)}
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
			keep(readers[st.k%len(readers)].read())
		case "join":
			if len(readers) < 5 {
				readers = append(readers, newReader(s, p))
			}
		}
	}
	for _, feed := range feeds {
		close(feed)
	}
	s.release(nil)
	synctest.Wait()
	keep(p.Flush(context.Background()))
	want, _ := json.Marshal(p.Live())
	log := s.stored()
	for i, r := range readers {
		keep(r.read())
		gaps += r.gaps
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
	p.Close()
	return gaps, len(s.failed), failure
}
