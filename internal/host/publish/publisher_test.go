package publish

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stock is a log in memory: commits wait while held, and fail with err.
type stock struct {
	mu      sync.Mutex
	cond    *sync.Cond
	held    bool
	err     error
	waiting int
	commits [][]protocol.Event
	failed  []protocol.Epoch
}

func newStock() *stock {
	s := &stock{}
	s.cond = sync.NewCond(&s.mu)
	return s
}

func (s *stock) commit(_ context.Context, events []protocol.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
	s.cond.Broadcast()
	for s.held {
		s.cond.Wait()
	}
	s.waiting--
	if s.err != nil {
		return s.err
	}
	s.commits = append(s.commits, append([]protocol.Event(nil), events...))
	return nil
}

func (s *stock) hold() { s.set(true, nil) }

// release lets commits go on; they give err.
func (s *stock) release(err error) { s.set(false, err) }

func (s *stock) set(held bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.err = held, err
	s.cond.Broadcast()
}

// awaitCommit returns when a commit is held.
func (s *stock) awaitCommit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.waiting == 0 {
		s.cond.Wait()
	}
}

func (s *stock) stored() []protocol.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []protocol.Event
	for _, c := range s.commits {
		out = append(out, c...)
	}
	return out
}

const testSession protocol.SessionID = "ses_00000000000000000000000000"

func newPublisher(s *stock) *Publisher {
	return New(Config{Session: testSession, Commit: s.commit, Now: time.Now, Rand: rand.Reader,
		Failed: func(epoch protocol.Epoch, _ error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.failed = append(s.failed, epoch)
		}})
}

func persistent(body protocol.Body) protocol.Event {
	e := protocol.NewEvent(body)
	e.ID, e.ClientID = protocol.NewEventID(rand.Reader), protocol.HostClient
	return e
}

func said(text string) protocol.Event {
	return persistent(&protocol.MessageBody{Message: protocol.UserText(text)})
}

func transient(body protocol.Body) protocol.Event {
	e := protocol.NewEvent(body)
	e.ClientID, e.TurnID = protocol.HostClient, "trn_0000000000000000"
	return e
}

func typed(text string) protocol.Event {
	return transient(&protocol.TextDelta{EventID: "evt_0000000000000000", Delta: text})
}

func put(t *testing.T, p *Publisher, events ...protocol.Event) []*Ticket {
	t.Helper()
	var tickets []*Ticket
	for _, e := range events {
		_, ticket, err := p.Put(context.Background(), "", e)
		if err != nil {
			t.Fatalf("put %s: %v", e.Type, err)
		}
		if ticket != nil {
			tickets = append(tickets, ticket)
		}
	}
	return tickets
}

// now returns what a cursor can see without waiting.
func now(t *testing.T, c *Cursor) []protocol.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out []protocol.Event
	for {
		events, err := c.Next(ctx)
		if errors.Is(err, context.Canceled) {
			return out
		}
		if err != nil {
			t.Fatalf("next: %v", err)
		}
		out = append(out, events...)
	}
}

// joined returns a cursor at the present moment.
func joined(t *testing.T, p *Publisher) (*Cursor, protocol.Live) {
	t.Helper()
	c := p.Cursor(false)
	live, ok := c.Join(p.Live().PersistentLastSeq)
	if !ok {
		t.Fatal("a cursor could not join")
	}
	return c, live
}

func types(events []protocol.Event) string {
	var s []string
	for _, e := range events {
		s = append(s, string(e.Type))
	}
	return strings.Join(s, " ")
}

func seqs(t *testing.T, events []protocol.Event, from protocol.Seq) {
	t.Helper()
	for i, e := range events {
		if e.Seq != from+protocol.Seq(i) {
			t.Errorf("event %d has seq %d, want %d", i, e.Seq, from+protocol.Seq(i))
		}
	}
}

func TestNothingLeavesBeforeItIsStoredNorPastWhatIsNot(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	c, _ := joined(t, p)
	s.hold()
	tickets := put(t, p, typed("a"), said("b"), typed("c"), said("d"))
	s.awaitCommit()
	if got := types(now(t, c)); got != "text_delta" && got != "" {
		t.Errorf("with the commit held the cursor saw %q", got)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if err := tickets[0].Wait(done); !errors.Is(err, context.Canceled) {
		t.Errorf("the ticket was answered before the commit: %v", err)
	}
	s.release(nil)
	for _, ticket := range tickets {
		if err := ticket.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if live := p.Live(); live.ThroughSeq != 4 || live.PersistentLastSeq != 4 {
		t.Errorf("live: %+v", live)
	}
}

// TestWhatIsPutTogetherLeavesTogether puts a message and the beginning of its turn: no state
// has the one without the other, also when the queue is full.
func TestWhatIsPutTogetherLeavesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStock()
		var p *Publisher
		alone := 0
		p = New(Config{Session: "ses_00000000000000000000000000", Commit: s.commit, Now: time.Now, Rand: rand.Reader, Told: func(e protocol.Event) {
			if e.ID != "" && !p.Live().Running {
				alone++
			}
		}})
		p.Together(func() {
			for range maxQueued + 1 { // nobody waits for room that only the writer could make
				put(t, p, persistent(&protocol.Label{TargetEventID: "evt_0000000000000000"}))
			}
			synctest.Wait()
			if len(s.commits) != 0 {
				t.Errorf("%d commits before all was put", len(s.commits))
			}
			put(t, p, transient(&protocol.RuntimeStart{}))
		})
		synctest.Wait()
		if len(s.commits) != 1 || alone != 0 || !p.Live().Running {
			t.Errorf("%d commits; %d events were told of before the turn ran", len(s.commits), alone)
		}
		p.Close()
	})
}

func TestTransientEventsInFrontOfACommitDoNotWaitForIt(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	c, _ := joined(t, p)
	s.hold()
	put(t, p, typed("a"))
	events, err := c.Next(context.Background())
	if err != nil || types(events) != "text_delta" {
		t.Fatalf("next: %v %v", events, err)
	}
	put(t, p, said("b"))
	s.awaitCommit()
	put(t, p, typed("c"), said("d"))
	if got := now(t, c); got != nil {
		t.Errorf("past the held commit came %s", types(got))
	}
	s.release(nil)
	for len(events) < 4 {
		more, err := c.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, more...)
	}
	seqs(t, events, 1)
}

func TestEventsThatWaitTogetherGoOutInOneCommit(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	s.hold()
	put(t, p, said("first"))
	s.awaitCommit()
	for range 100 {
		put(t, p, said("x"), typed("y"))
	}
	s.release(nil)
	if err := p.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(s.commits) != 2 || len(s.commits[1]) != 100 {
		t.Errorf("%d commits", len(s.commits))
	}
}

func TestAFailedCommitDiscardsEverythingBehindItAndBeginsAnEpoch(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	old := p.Epoch()
	c, _ := joined(t, p)
	put(t, p, transient(&protocol.RuntimeStart{}), transient(&protocol.MessageStart{EventID: "evt_0000000000000000"}))
	if err := p.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.hold()
	lost := put(t, p, said("lost"))
	s.awaitCommit()
	lost = append(lost, put(t, p, typed("lost"), said("lost too"))...)
	flushed := make(chan error, 1)
	go func() { flushed <- p.Flush(context.Background()) }()
	s.release(errors.New("no space left"))
	for _, ticket := range lost {
		var pe *protocol.Error
		if err := ticket.Wait(context.Background()); !errors.As(err, &pe) || pe.Code != protocol.CodeStorageError {
			t.Errorf("a lost event's ticket: %v", err)
		}
	}
	<-flushed // with either outcome, by when it entered

	s.release(nil)
	if p.Epoch() == old || len(s.failed) != 1 || s.failed[0] != p.Epoch() {
		t.Errorf("epoch %s, before %s, told %v", p.Epoch(), old, s.failed)
	}
	var pe *protocol.Error
	if _, _, err := p.Put(context.Background(), old, said("late")); !errors.As(err, &pe) || pe.Code != protocol.CodeStorageError {
		t.Errorf("an event of the old epoch: %v", err)
	}
	for _, ticket := range put(t, p, said("after")) {
		if err := ticket.Wait(context.Background()); err != nil {
			t.Errorf("in the new epoch: %v", err)
		}
	}
	events, err := c.Next(context.Background())
	if err != nil || types(events) != "runtime_start message_start" {
		t.Fatalf("of the old epoch: %s %v", types(events), err)
	}
	if _, err := c.Next(context.Background()); !errors.Is(err, ErrEpoch) {
		t.Fatalf("behind the old epoch: %v", err)
	}
	if live, ok := c.Restart(); !ok || live.StreamEpoch != p.Epoch() || !live.Running || len(live.Messages) != 0 {
		t.Errorf("the state at the beginning of the epoch: %+v", live)
	}
	events, err = c.Next(context.Background())
	if err != nil || types(events) != "runtime_end message" {
		t.Fatalf("of the new epoch: %s %v", types(events), err)
	}
	end := events[0].Body.(*protocol.RuntimeEnd)
	if end.Terminal != protocol.TerminalStorageError || end.Error.Code != protocol.CodeStorageError || events[0].TurnID == "" {
		t.Errorf("the end: %+v", end)
	}
	if got := s.stored(); len(got) != 1 {
		t.Errorf("%d events are stored", len(got))
	}
}

func TestAnEpochBeginsWithAnEndAlsoWhenNoRunWasToldOf(t *testing.T) {
	for name, c := range map[string]struct {
		behind []protocol.Event
		want   string
	}{
		"idle":                {nil, "runtime_end label"},
		"its start discarded": {[]protocol.Event{transient(&protocol.RuntimeStart{})}, "runtime_end label"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStock()
			p := newPublisher(s)
			defer p.Close()
			cur, _ := joined(t, p)
			s.hold()
			lost := put(t, p, persistent(&protocol.Label{}))
			s.awaitCommit()
			put(t, p, c.behind...)
			s.release(errors.New("failed"))
			if lost[0].Wait(context.Background()) == nil {
				t.Fatal("the commit did not fail")
			}
			s.release(nil)
			if err := put(t, p, persistent(&protocol.Label{}))[0].Wait(context.Background()); err != nil {
				t.Fatal(err)
			}
			if _, err := cur.Next(context.Background()); !errors.Is(err, ErrEpoch) {
				t.Fatalf("next: %v", err)
			}
			if live, ok := cur.Restart(); !ok || live.Running {
				t.Error("a run that nobody was told of goes on")
			}
			if got := types(now(t, cur)); got != c.want {
				t.Errorf("of the new epoch: %q, want %q", got, c.want)
			}
		})
	}
}

func TestProducersWaitWhileTheQueueIsFull(t *testing.T) {
	big := func() protocol.Event { return said(strings.Repeat("x", 128<<10)) }
	for name, c := range map[string]struct {
		make func() protocol.Event
		fits int
	}{
		"4096 entries":         {func() protocol.Event { return transient(&protocol.TurnStart{}) }, 4096},
		"1 MiB of lines":       {big, 8},
		"1 MiB of live output": {func() protocol.Event { return typed(strings.Repeat("x", 256<<10)) }, 4},
		"an event of 4 MiB":    {func() protocol.Event { return said(strings.Repeat("x", 4<<20-1000)) }, 1},
		"1 MiB of call's input": {func() protocol.Event {
			return transient(&protocol.ToolExecutionStart{Args: []byte(`"` + strings.Repeat("x", 512<<10) + `"`)})
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStock()
				p := newPublisher(s)
				s.hold()
				put(t, p, said("held"))
				synctest.Wait()
				for range c.fits {
					put(t, p, c.make())
				}
				ctx, cancel := context.WithCancel(context.Background())
				results := make(chan error, 2)
				for _, ctx := range []context.Context{ctx, context.Background()} {
					go func() {
						_, _, err := p.Put(ctx, "", c.make())
						results <- err
					}()
				}
				synctest.Wait()
				if len(results) != 0 {
					t.Fatalf("more than %d entered: %v", c.fits, <-results)
				}
				cancel()
				if err := <-results; !errors.Is(err, context.Canceled) {
					t.Errorf("a producer that is cancelled: %v", err)
				}
				s.release(nil)
				if err := <-results; err != nil {
					t.Errorf("when there is room again: %v", err)
				}
				p.Close()
			})
		})
	}
}

func TestAnEventOfFourMebibytesPasses(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	c, _ := joined(t, p)
	e := said(strings.Repeat("x", protocol.MaxLine-300))
	if err := put(t, p, e)[0].Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := now(t, c)
	if len(got) != 1 || got[0].ID != e.ID || got[0].Body != nil {
		t.Errorf("the cursor got %d events", len(got))
	}
	if _, _, err := p.Put(context.Background(), "", said(strings.Repeat("x", protocol.MaxLine))); err == nil {
		t.Error("a longer line entered")
	}
}

func TestACursorThatTheRingHasPassedIsToldSo(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	slow, _ := joined(t, p)
	for range 40 {
		put(t, p, typed(strings.Repeat("x", 64<<10)))
	}
	if err := p.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if p.ring.bytes > maxRing {
		t.Errorf("the ring holds %d bytes", p.ring.bytes)
	}
	if _, err := slow.Next(context.Background()); !errors.Is(err, ErrGap) {
		t.Errorf("next: %v", err)
	}
	fresh, live := joined(t, p)
	put(t, p, typed("y"))
	events, err := fresh.Next(context.Background())
	if err != nil || len(events) != 1 || events[0].Seq != live.ThroughSeq+1 {
		t.Errorf("a new cursor got %v %v behind %d", events, err, live.ThroughSeq)
	}
}

func TestCloseLetsWhatHasEnteredLeaveAndEndsEverybody(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	c, _ := joined(t, p)
	s.hold()
	tickets := put(t, p, said("a"))
	s.awaitCommit()
	tickets = append(tickets, put(t, p, said("b"))...)
	closed := make(chan struct{})
	go func() { p.Close(); close(closed) }()
	s.release(nil)
	<-closed
	for _, ticket := range tickets {
		if err := ticket.Wait(context.Background()); err != nil {
			t.Errorf("what had entered: %v", err)
		}
	}
	var events []protocol.Event
	for {
		more, err := c.Next(context.Background())
		if errors.Is(err, ErrClosed) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, more...)
	}
	if types(events) != "message message" {
		t.Errorf("the cursor got %q", types(events))
	}
	if _, _, err := p.Put(context.Background(), "", said("c")); !errors.Is(err, ErrClosed) {
		t.Errorf("put: %v", err)
	}
	if err := p.Flush(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("flush: %v", err)
	}
}

func TestAnEventFollowsOnTheNewestThatIsStored(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	store := func(events ...protocol.Event) {
		t.Helper()
		for _, ticket := range put(t, p, events...) {
			if ticket != nil {
				if err := ticket.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	store(said("one"), typed("t"), said("two"))
	s.hold()
	lost := put(t, p, said("lost"), said("lost too"))
	s.release(errors.New("no"))
	for _, ticket := range lost {
		if err := ticket.Wait(t.Context()); err == nil {
			t.Fatal("a failed append was acknowledged")
		}
	}
	s.release(nil)
	store(said("three"), said("four"))
	last := protocol.Seq(0)
	for _, e := range s.stored() {
		var k protocol.Keys
		if err := protocol.ScanKeys(e.Raw(), &k); err != nil {
			t.Fatal(err)
		}
		if !k.HasPrev || k.Prev != last || e.Sum() != protocol.SumRight {
			t.Errorf("seq %d follows on %d, not %d: %s", e.Seq, k.Prev, last, e.Raw())
		}
		last = e.Seq
	}
}

// TestTheEndOfATurnNamesItAlsoAfterFurtherFailedCommits fails a commit during a turn, and
// another one after it.
func TestTheEndOfATurnNamesItAlsoAfterFurtherFailedCommits(t *testing.T) {
	s := newStock()
	p := newPublisher(s)
	defer p.Close()
	begin := transient(&protocol.RuntimeStart{})
	begin.TurnID = "trn_0000000000000001"
	put(t, p, begin)
	for range 2 {
		s.hold()
		lost := put(t, p, said("lost"))
		s.awaitCommit()
		s.release(errors.New("another program has cut the log"))
		if err := lost[0].Wait(context.Background()); err == nil {
			t.Fatal("it was stored")
		}
		s.release(nil)
	}
	if end := p.Live().Ended; end == nil || end.TurnID != begin.TurnID || end.Terminal != protocol.TerminalStorageError {
		t.Errorf("ended: %+v", end)
	}
}
