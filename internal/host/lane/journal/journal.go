package journal

import (
	"context"
	"io"

	"scorel/internal/engine/session"
	"scorel/internal/host/publish"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Config is what a [Journal] needs.
type Config struct {
	Log  *session.Log
	Rand io.Reader
	// Report takes what people who look for a fault need to see.
	Report func(what string, detail []byte)
	// Fuse keeps everybody out of the journal when something of the session has panicked.
	Fuse *fault.Fuse
}

// Journal is the way of one session into its log.
//
// Its lock is taken after that of a [queue.Pending] and before every other lock of a
// session. That of a sub-agent's journal may be held while that of a session above it is
// taken, never the other way round. Under it events are put into the publisher, which
// waits while its queue is full; the publisher's writer needs the lock when a write has
// failed, and then nobody who holds it waits for room.
type Journal struct {
	cfg Config
	pub *publish.Publisher // made by Open

	*fault.Mutex                  // guards all below
	epoch        protocol.Epoch   // in which leaf and meta were right
	leaf         protocol.EventID // of what has entered
	meta         protocol.Meta
	run          *Run             // nil: nothing goes on
	held         chan struct{}    // nil: nobody holds the journal
	fresh        []protocol.Event // events that have entered and that the run does not know
	owed         *Owed            // nil: nothing that was shown is to be stored yet
	closed       bool
}

// New makes the journal of an open log. [Journal.Open] follows.
func New(cfg Config) *Journal {
	index := cfg.Log.Index()
	return &Journal{cfg: cfg, leaf: index.Leaf(), meta: index.Meta(), Mutex: fault.NewMutex(cfg.Fuse)}
}

// Open makes the publisher; Session and Commit of cfg are the journal's.
func (j *Journal) Open(cfg publish.Config) {
	cfg.Session, cfg.Commit = j.cfg.Log.ID(), j.cfg.Log.Commit
	j.pub = publish.New(cfg)
	j.epoch = j.pub.Epoch()
}

// ID is the session's.
func (j *Journal) ID() protocol.SessionID { return j.cfg.Log.ID() }

// Index reads the log. What has entered and is not durable is not there yet.
func (j *Journal) Index() *session.Index { return j.cfg.Log.Index() }

// Publisher returns what clients read from.
func (j *Journal) Publisher() *publish.Publisher { return j.pub }

// Leaf is the leaf of what has entered. j is locked.
func (j *Journal) Leaf() protocol.EventID { return j.leaf }

// Meta is the session's, of what has entered. j is locked.
func (j *Journal) Meta() protocol.Meta { return j.meta }

// Close refuses what is to be stored from now on for a request. j is locked.
func (j *Journal) Close() { j.closed = true }

// Closed reports whether Close was called. j is locked.
func (j *Journal) Closed() bool { return j.closed }

// Report keeps a sentence about a fault in the diagnostics.
func (j *Journal) Report(what string) { j.cfg.Report(what, nil) }

// Reset takes over the state of the log when what had entered is lost. j is locked.
func (j *Journal) Reset(epoch protocol.Epoch) {
	index := j.cfg.Log.Index()
	j.epoch, j.leaf, j.meta, j.fresh = epoch, index.Leaf(), index.Meta(), nil
	if j.owed != nil {
		j.owed.entered = index.Has(j.owed.By.ID)
	}
}

// Append lets a persistent event enter after the leaf, and after what is owed. It is stored
// when the ticket says so. j is locked.
func (j *Journal) Append(ctx context.Context, body protocol.Body, a Author) (protocol.Event, *publish.Ticket, error) {
	if _, err := j.Pay(ctx); err != nil {
		return protocol.NewEvent(body), nil, err
	}
	return j.append(ctx, body, a)
}

func (j *Journal) append(ctx context.Context, body protocol.Body, a Author) (protocol.Event, *publish.Ticket, error) {
	if own, ok := body.(Authored); ok {
		body, a = own.Body, own.By
	}
	e := protocol.NewEvent(body)
	e.ID, e.ParentID, e.ClientID, e.Cause = a.ID, j.leaf, a.Client, a.Cause
	if e.ID == "" {
		e.ID = protocol.NewEventID(j.cfg.Rand)
	}
	e, ticket, err := j.pub.Put(ctx, j.begun(), e)
	if err != nil {
		return e, nil, err
	}
	if leaf, moves := e.Leaf(); moves {
		j.leaf = leaf
	}
	if b, ok := body.(*protocol.SessionInfo); ok {
		b.Changes.Apply(&j.meta)
	}
	if e.Class() == protocol.Conversation {
		j.leaf = e.ID
	}
	if j.run != nil {
		j.fresh = append(j.fresh, e)
	}
	return e, ticket, nil
}

// TakeFresh returns the events that have entered since the run began, or since the last
// call. j is locked.
func (j *Journal) TakeFresh() []protocol.Event {
	fresh := j.fresh
	j.fresh = nil
	return fresh
}

// begun is the epoch that the state of the journal, or of its run, is of. What builds on
// a state of which something was lost is refused. j is locked.
func (j *Journal) begun() protocol.Epoch {
	if j.run != nil {
		return j.run.Epoch
	}
	return j.epoch
}

// Notify sends a transient event of the run that goes on. j is locked.
func (j *Journal) Notify(body protocol.Body) error {
	return j.put(j.begun(), protocol.HostClient, body)
}

// NotifyAnyway is Notify on behalf of a client, for what is true also when something of
// the run was lost, whose other events are refused then. It waits for no room: after a failed
// write the publisher's writer waits for j, or is the one that calls this. j is locked.
func (j *Journal) NotifyAnyway(client protocol.ClientID, body protocol.Body) (err error) {
	j.pub.Together(func() { err = j.put("", client, body) })
	return err
}

func (j *Journal) put(epoch protocol.Epoch, client protocol.ClientID, body protocol.Body) error {
	e := protocol.NewEvent(body)
	e.ClientID = client
	if j.run != nil {
		e.TurnID = j.run.ID
	}
	_, _, err := j.pub.Put(context.Background(), epoch, e)
	return err
}

// NotifyBeside sends a transient event that belongs to no run. j is not locked.
func (j *Journal) NotifyBeside(client protocol.ClientID, body protocol.Body) {
	e := protocol.NewEvent(body)
	e.ClientID = client
	if _, _, err := j.pub.Put(context.Background(), "", e); err != nil {
		j.Report("tell clients of " + string(e.Type) + ": " + err.Error())
	}
}

// Writable returns why nothing may be appended for a request, nil when it may. j is locked.
func (j *Journal) Writable() error {
	if j.closed {
		return protocol.Errorf(protocol.CodeSessionNotFound, "The session is being closed; open it again.")
	}
	return j.ReadOnly()
}

// ReadOnly returns why the log takes no events, nil when it does.
func (j *Journal) ReadOnly() error {
	readOnly, why := j.cfg.Log.ReadOnly()
	if !readOnly {
		return nil
	}
	if j.cfg.Log.NeedsLeaf() {
		return protocol.About("leafEventId", protocol.ReasonLeaf, protocol.CodeStorageError, "The session is read-only: %s.", why)
	}
	return protocol.Errorf(protocol.CodeStorageError, "The session is read-only: %s.", why)
}
