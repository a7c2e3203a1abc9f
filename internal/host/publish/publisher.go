package publish

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/fold"
)

// Bounds of a publisher. At the bound of the queue the producer waits; an empty
// queue takes any one event.
const (
	maxQueued      = 4096    // events that wait to leave
	maxQueuedBytes = 1 << 20 // of all of them, as Size counts
)

// ErrClosed says that the publisher has been closed.
var ErrClosed = errors.New("publish: the session is closed")

// Config is what a [Publisher] needs.
type Config struct {
	Session protocol.SessionID
	// Commit makes events durable, in one write and one fsync. Calls do not
	// overlap.
	Commit func(ctx context.Context, events []protocol.Event) error
	// Live is the state of the session as the log has it; its ThroughSeq is the
	// highest seq that was ever given out or seen in damaged bytes.
	Live protocol.Live
	// Changed is told that the state which a list of sessions shows has changed: see
	// [Status]. It runs on the writer, when clients may have been told of the events,
	// and must neither wait nor call Put, Flush or Close. It may be nil.
	Changed func()
	// Told is told of each event, in order, when it is durable and before those who
	// wait for it go on. It runs on the writer and must neither wait nor call Put, Flush
	// or Close. It may be nil.
	Told func(protocol.Event)
	// Failed is told of a failed commit, after what it concerned was discarded
	// and the new epoch has begun. It runs on the writer and must not call Put,
	// Flush or Close.
	Failed func(epoch protocol.Epoch, err error)
	// Panicked is told what a panic of the writer or of a timer was, which has ended
	// that; [Publisher.Break] is to follow. It may be called with nothing held.
	Panicked func(recovered any)
	Now      func() time.Time
	Rand     io.Reader
}

// Publisher orders the events of one session.
type Publisher struct {
	cfg  Config
	done chan struct{} // closed when the writer has ended

	mu sync.RWMutex // guards all below; no I/O and no callback under it
	backlog
	seq   protocol.Seq
	prev  protocol.Seq // of the newest persistent event that entered: the next one follows on it
	epoch protocol.Epoch
	live  protocol.Live
	begun protocol.Live // the state at which the epoch began
	kept
	show   show
	counts counts
	closed bool
	broken *protocol.Error // why the session was given up; nothing is stored any more
}

// backlog is what waits to be stored and to leave.
type backlog struct {
	space  sync.Cond // the queue has room, or the publisher is closed
	work   sync.Cond // the queue has events, or the publisher is closed
	queue  []entry
	bytes  int     // of the queue
	held   int     // of Together: the writer takes nothing
	flying []entry // what the writer has taken and not yet let leave
}

// kept is what has left and is kept for clients that come back.
type kept struct {
	ring  ring
	drop  *time.Timer // empties the ring; nil until it is needed
	dying bool        // drop runs
}

// entry is an event that waits, or (without a body) a flush or a function of After.
type entry struct {
	event  protocol.Event
	ticket *Ticket
	size   int
	then   func()
}

// settle tells who waits for an entry what became of it.
func (n *entry) settle(err error) {
	n.ticket.settle(err)
	if n.then != nil {
		n.then()
	}
}

// Ticket is a persistent event on its way.
type Ticket struct {
	done chan struct{}
	err  error
}

// Wait returns when the event is durable and has left, with the error of its
// commit, or when ctx ends.
func (t *Ticket) Wait(ctx context.Context) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settle says that the event is durable, or why it is not. A nil ticket is nobody's.
func (t *Ticket) settle(err error) {
	if t == nil {
		return
	}
	t.err = err
	close(t.done)
}

// Durable reports whether the event has been stored and has left.
func (t *Ticket) Durable() bool {
	select {
	case <-t.done:
		return t.err == nil
	default:
		return false
	}
}

// New makes a publisher and starts its writer, which Close ends.
func New(cfg Config) *Publisher {
	p := &Publisher{cfg: cfg, done: make(chan struct{}), seq: cfg.Live.ThroughSeq, prev: cfg.Live.PersistentLastSeq, live: cfg.Live,
		epoch: protocol.NewEpoch(cfg.Rand)}
	p.live.StreamEpoch = p.epoch
	p.begun = p.live.Clone()
	p.show.through, p.show.moved = p.live.ThroughSeq, make(chan struct{})
	p.space.L, p.work.L = &p.mu, &p.mu
	go p.write()
	return p
}

// Epoch is the epoch in force.
func (p *Publisher) Epoch() protocol.Epoch {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.epoch
}

// Live returns the state that clients have been told.
func (p *Publisher) Live() protocol.Live {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.live.Clone()
}

// Published says how far the log has been published: the seq of its last event
// that clients may be told of, and the leaf as of it.
func (p *Publisher) Published() (protocol.Seq, protocol.EventID) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.live.PersistentLastSeq, p.live.LeafID
}

// Status is what goes on in a session, in short.
type Status struct {
	Running bool
	Asking  bool   // somebody is waited for
	Queued  int    // messages that wait
	Failed  string // why the newest turn has not come to its end, in a line; "" where it has, or was cancelled
	Waits   bool   // some of them are to run by themselves: their queue is not paused
	Cursors int
	// Automation is how proactive mode stands, nil while it is off; it is replaced, never changed.
	Automation *protocol.Automation
}

// Doing returns what goes on in words, as [protocol.SessionState] has it, and what the session
// has cost.
func (p *Publisher) Doing() (activity, question string, usd float64) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return display.Doing(&p.live), display.Asked(&p.live), p.live.Usage.CostUSD
}

// Status returns what goes on as clients have been told it.
func (p *Publisher) Status() Status {
	p.mu.RLock()
	defer p.mu.RUnlock()
	s := Status{Running: p.live.Running, Asking: len(p.live.Permissions)+len(p.live.UI) > 0, Cursors: p.counts.cursors, Automation: p.live.Automation}
	if end := p.live.Ended; end != nil && end.Terminal != protocol.TerminalCancelled {
		s.Failed = display.WhyFailed(&end.RuntimeEnd)
	}
	for _, q := range p.live.Queues {
		s.Queued += len(q.Items)
		s.Waits = s.Waits || len(q.Items) > 0 && !q.Paused
	}
	return s
}

// Put lets an event enter: it gets its seq, session and (when it has none) time.
// It waits while the queue is full. epoch is the one in which the producer
// began; an event of an earlier epoch is refused with storage_error, because
// something before it was lost, and waits for no room: the writer may wait for its
// producer in [Config.Failed]. Empty means the one in force. The ticket is nil for a
// transient event.
func (p *Publisher) Put(ctx context.Context, epoch protocol.Epoch, e protocol.Event) (protocol.Event, *Ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaitSpace(ctx, epoch)
	switch {
	case p.broken != nil:
		return e, nil, p.broken
	case p.closed:
		return e, nil, ErrClosed
	case epoch != "" && epoch != p.epoch:
		return e, nil, protocol.Errorf(protocol.CodeStorageError, "An earlier event of this turn could not be stored, so nothing that follows it is.")
	case ctx.Err() != nil:
		return e, nil, ctx.Err()
	}
	e.SessionID, e.Seq = p.cfg.Session, p.seq+1
	if e.TS == 0 {
		e.TS = p.cfg.Now().UnixMilli()
	}
	n := entry{event: e, size: Size(e)}
	if e.Class() != protocol.Transient {
		sealed, err := e.SealAfter(p.prev)
		if err != nil {
			return e, nil, err
		}
		p.prev = e.Seq
		n.event, n.size = sealed, len(sealed.Raw())
		n.ticket = &Ticket{done: make(chan struct{})}
	}
	p.seq++
	p.push(n)
	return n.event, n.ticket, nil
}

// Together calls f. What f puts enters without waiting for room, and leaves together: no
// client is given a state that has one of these events and lacks another. f must be short
// and must not wait for anything that leaves.
func (p *Publisher) Together(f func()) {
	p.hold(1)
	defer p.hold(-1)
	f()
}

func (p *Publisher) hold(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held += n
	p.work.Signal()
	p.space.Broadcast()
}

// awaitSpace returns when the queue has room, the publisher is closed, ctx has ended, or the
// epoch is over. mu is held.
func (p *Publisher) awaitSpace(ctx context.Context, epoch protocol.Epoch) {
	full := func() bool { return p.held == 0 && (len(p.queue) >= maxQueued || p.bytes >= maxQueuedBytes) }
	if !full() {
		return
	}
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.space.Broadcast()
	})()
	for full() && !p.closed && ctx.Err() == nil && (epoch == "" || epoch == p.epoch) {
		p.space.Wait()
	}
}

func (p *Publisher) push(n entry) {
	p.queue = append(p.queue, n)
	p.bytes += n.size
	p.work.Signal()
}

// Flush returns when everything that entered before it has left.
func (p *Publisher) Flush(ctx context.Context) error {
	t, err := p.FlushTicket()
	if err != nil {
		return err
	}
	return t.Wait(ctx)
}

// FlushTicket is Flush for a caller that waits later, when it holds no lock any more.
func (p *Publisher) FlushTicket() (*Ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.broken != nil:
		return nil, p.broken
	case p.closed:
		return nil, ErrClosed
	}
	t := &Ticket{done: make(chan struct{})}
	p.push(entry{ticket: t})
	return t, nil
}

// After has f called when everything that entered before has left, or could not be stored,
// and before anything that enters later leaves. f runs on the writer and must neither wait
// nor call Put, Flush or Close. Once nothing enters any more it is called at once.
func (p *Publisher) After(f func()) {
	p.mu.Lock()
	if p.broken != nil || p.closed {
		p.mu.Unlock()
		f()
		return
	}
	defer p.mu.Unlock()
	p.push(entry{then: f})
}

// Close lets what has entered leave, ends the writer and closes the cursors.
func (p *Publisher) Close() {
	p.mu.Lock()
	p.closed = true
	p.work.Broadcast()
	p.space.Broadcast()
	p.mu.Unlock()
	<-p.done
}

// write is the writer: it takes all that waits, commits what is persistent, and
// hands it out. Close ends it.
func (p *Publisher) write() {
	defer close(p.done)
	defer p.rescue()
	var persistent []protocol.Event
	for {
		batch := p.next()
		if batch == nil {
			return
		}
		first := 0
		for first < len(batch) && batch[first].event.ID == "" {
			first++
		}
		p.deliver(batch[:first])
		rest := batch[first:]
		persistent = persistent[:0]
		for _, n := range rest {
			if n.event.ID != "" {
				persistent = append(persistent, n.event)
			}
		}
		if len(persistent) > 0 {
			if err := p.cfg.Commit(context.Background(), persistent); err != nil {
				p.fail(rest, err)
				continue
			}
		}
		p.deliver(rest)
	}
}

// next waits for what is to leave, and takes it; nil is the end of the writer.
func (p *Publisher) next() []entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying = nil
	for (len(p.queue) == 0 || p.held > 0) && !p.closed {
		p.work.Wait()
	}
	if len(p.queue) == 0 {
		if p.broken == nil { // else Break ends it
			p.end()
		}
		return nil
	}
	p.flying = p.queue
	p.queue, p.bytes = nil, 0
	p.space.Broadcast()
	return p.flying
}

// deliver lets entries leave.
func (p *Publisher) deliver(batch []entry) {
	if len(batch) == 0 {
		return
	}
	p.seal(batch)
	changed := p.gather(batch)
	for _, n := range batch {
		if n.event.Body != nil && p.cfg.Told != nil {
			p.cfg.Told(n.event)
		}
		n.settle(nil)
	}
	if changed && p.cfg.Changed != nil {
		p.cfg.Changed()
	}
}

// gather puts entries into the live state and the ring, and reports whether a list of
// sessions shows something else now.
func (p *Publisher) gather(batch []entry) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := 0
	for _, n := range batch {
		if n.event.Body == nil {
			continue
		}
		fold.Apply(&p.live, n.event)
		p.ring.add(n.event, n.size)
		told += max(n.size, 1)
		changed = changed || changes(n.event)
	}
	if told > 0 {
		p.tell(told)
		p.scheduleRingDrop()
	}
	return changed
}

// seal makes the lines of transient events, once for all clients, when there is one
// behind a wire. A line that cannot be made is left to who sends it.
func (p *Publisher) seal(batch []entry) {
	p.mu.RLock()
	wire := p.counts.wire > 0
	p.mu.RUnlock()
	if !wire {
		return
	}
	for i := range batch {
		if e := &batch[i].event; e.Body != nil && e.Raw() == nil {
			if sealed, err := e.Seal(); err == nil {
				*e = sealed
			}
		}
	}
}

// changes reports whether an event changes what a list of sessions shows.
func changes(e protocol.Event) bool {
	switch e.Body.(type) {
	case *protocol.RuntimeStart, *protocol.RuntimeEnd, *protocol.PermissionRequest, *protocol.PermissionResolved,
		*protocol.UIRequest, *protocol.UIResolved, *protocol.SessionInfo, *protocol.QueueUpdate:
		return true
	}
	return false
}

// scheduleRingDrop has the ring emptied some time after the last turn. mu is
// held.
func (p *Publisher) scheduleRingDrop() {
	switch {
	case p.live.Running:
		if p.dying {
			p.drop.Stop()
			p.dying = false
		}
	case p.dying:
	case p.drop == nil:
		p.dying, p.drop = true, time.AfterFunc(keepRing, p.timed(p.dropRing))
	default:
		p.dying = true
		p.drop.Reset(keepRing)
	}
}

// dropRing empties the ring; cursors that are behind go on from the log. Close
// ends the timer that calls it.
func (p *Publisher) dropRing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dying && !p.closed { // else a turn has begun, or who is left reads the rest
		p.dying = false
		p.ring = ring{passed: p.live.ThroughSeq}
		p.show.shared.Store(nil)
	}
}

// end lets cursors read the rest. mu is held.
func (p *Publisher) end() {
	p.tell(maxShown)
	close(p.show.moved)
	p.show.moved = nil
	for _, t := range []*time.Timer{p.drop, p.show.timer} {
		if t != nil {
			t.Stop()
		}
	}
}

// fail discards a batch that could not be stored and all that waits after it,
// and begins a new epoch. Its first event is the end of the run that was going
// on; it comes also when none was, and says that something was lost. Nobody sees
// it before the lane knows of the new epoch.
func (p *Publisher) fail(batch []entry, err error) {
	e := storageError(err)
	end, epoch, batch := p.void(batch, e)
	if p.cfg.Failed != nil {
		p.cfg.Failed(epoch, e)
	}
	p.deliver([]entry{{event: end, size: Size(end)}})
	for _, n := range batch {
		n.settle(e)
	}
}

// void discards what could not be stored with all that waits after it, and begins a new
// epoch with the end of the run.
func (p *Publisher) void(batch []entry, e *protocol.Error) (end protocol.Event, epoch protocol.Epoch, all []entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	batch = append(batch, p.queue...)
	p.queue, p.bytes = nil, 0
	p.space.Broadcast()
	p.newEpoch()
	end = p.own(&protocol.RuntimeEnd{Reason: protocol.EndError, Terminal: protocol.TerminalStorageError, Error: e}, turnOf(p.live, batch))
	return end, p.epoch, batch
}

// newEpoch begins an epoch; what was running is void. mu is held.
func (p *Publisher) newEpoch() {
	p.epoch = protocol.NewEpoch(p.cfg.Rand)
	p.live.StreamEpoch, p.live.ThroughSeq = p.epoch, p.seq
	p.live.Messages, p.live.Tools = nil, nil
	p.prev = p.live.PersistentLastSeq // what was discarded is not followed on
	p.begun = p.live.Clone()
}

// own makes a transient event of the publisher itself. mu is held.
func (p *Publisher) own(body protocol.Body, turn protocol.TurnID) protocol.Event {
	p.seq++
	e := protocol.NewEvent(body)
	e.Seq, e.SessionID, e.ClientID = p.seq, p.cfg.Session, protocol.HostClient
	e.TS, e.TurnID = p.cfg.Now().UnixMilli(), turn
	return e
}

// turnOf names the turn that a failure ends: the one that clients know of, or one
// whose beginning is discarded.
func turnOf(live protocol.Live, discarded []entry) protocol.TurnID {
	turn := live.TurnID
	for _, n := range discarded {
		if n.event.Type == protocol.TypeRuntimeStart {
			turn = n.event.TurnID
		}
	}
	return turn
}

func storageError(err error) *protocol.Error {
	var e *protocol.Error
	if errors.As(err, &e) {
		return e
	}
	return protocol.Errorf(protocol.CodeStorageError, "The session could not be written: %v.", err)
}
