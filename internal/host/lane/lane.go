package lane

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/background"
	"scorel/internal/engine/hook"
	"scorel/internal/engine/model"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/progress"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/internal/host/partial"
	"scorel/internal/host/publish"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// minFree is the free disk space below which no new turn starts, in bytes.
const minFree = 256 << 20

// Config is what a [Lane] needs. The lane owns Log and closes it.
type Config struct {
	Device protocol.DeviceID
	Log    *session.Log
	// Blobs keeps payloads; see [session.Blobs].
	Blobs *session.Blobs
	// Damage says in a sentence what the log was found to have lost, for people and the
	// model; Passing that opening the log has set it right, so that it will not be found
	// again.
	Damage  string
	Passing bool
	// Setup makes ready what a turn runs with; options, which may be nil, are those
	// of the message that begins it. The lane closes the result when the turn has
	// ended.
	Setup func(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*Setup, error)
	// Hooks gives the hooks of the session where no turn is made ready for which
	// [Setup.Hooks] counts: before a move and when queued messages are changed. It may
	// be nil, and give nil.
	Hooks func(ctx context.Context, meta protocol.Meta) (*hook.Chain, error)
	// Pending marks the session while messages wait; nil marks nothing.
	Pending Pending
	// Step keeps the text of the running step for the next host, and Lost are the
	// background commands that the last one was killed with; nil and none for neither.
	Step *partial.Step
	Lost []partial.Lost
	// Output keeps what a background command prints for the next host; nil keeps nothing.
	Output func(c partial.Command) *partial.Output
	// Files opens the folders of the session, for restoring files.
	Files func(meta protocol.Meta) (*tool.Files, error)
	// DateChange gives what the model is told when a session goes on at a later
	// date than it began.
	DateChange func(began, now time.Time) (protocol.Item, bool)
	// Free gives the free disk space in bytes.
	Free func() (uint64, error)
	// Agents carries out a call of Task; nil refuses it.
	Agents func(ctx context.Context, o Order) (tool.Result, error)
	// Remember stores a rule that a person answered "always" to.
	Remember func(meta protocol.Meta, rule string) error
	// Unattended denies at once what would have to be asked while no interactive
	// client is attached; otherwise the question waits for one, for the setup's
	// AskTimeout.
	Unattended bool
	// OwnMode says that the caller has chosen a permission mode for this host: the one
	// that was set in an earlier host does not count.
	OwnMode bool
	// Idle is told that a turn or a background command has ended, when nothing of it
	// is left. It may close the lane.
	Idle func()
	// Changed is [publish.Config.Changed].
	Changed func()
	Now     func() time.Time
	Rand    io.Reader
	Sleep   func(ctx context.Context, d time.Duration) error
	Silence time.Duration // see [runtime.Run]
	// Processes follows what calls and background commands report of their work; the
	// lane closes it. nil: nobody follows.
	Processes *progress.Recorder
	// Broke is told, in a goroutine of its own, that something of the session panicked:
	// nothing of the lane is trusted any more, and [Lane.Abandon] is to follow.
	Broke func(*fault.Panic)
	// Report takes what people who look for a fault need to see.
	Report func(what string, detail []byte)
}

// Setup is what one turn runs with.
type Setup struct {
	Model    model.Model
	Fallback model.Model
	Thinking model.ThinkingLevel
	Tools    []tool.Tool
	// Env has everything but Seen, Dir, Todos, StoredResult and Protected, which the
	// lane fills.
	Env    tool.Env
	Policy *permission.Policy
	Limits runtime.Limits
	// WorkDir is where Bash starts, absolute.
	WorkDir string
	// Instructions makes the system prompt of a session that has none. Sentences for
	// people say what of it was cut or could not be read.
	Instructions func() (in protocol.Instructions, sentences []string, err error)
	// Tell gives what else the model must be told before a call, by what it has been
	// told on the path; nil gives nothing.
	Tell func(told history.Told) []protocol.Item
	// Compaction switches automatic compaction off when false.
	Compaction bool
	// Summary is [runtime.Run.Summary].
	Summary func(ctx context.Context, req model.Request) (protocol.Message, error)
	// AskTimeout is how long a question waits for its answer; 0: no limit.
	AskTimeout time.Duration
	// Hooks are asked in the turn; nil asks nobody. Subagent says that they are asked
	// about the end of a sub-agent.
	Hooks    *hook.Chain
	Subagent bool
	// Items are what the model must have been told before each call, at most one of a
	// kind; each is told once on a path, and again where it has changed.
	Items []protocol.Item
	// Skills are those that count, sorted by name; the log's index follows them.
	Skills []protocol.Skill
	// Agents are those that Task can start, and MaxAgents how many of a session may
	// work at once.
	Agents    *agent.Set
	MaxAgents int
	// Above ties the turn of a sub-agent to the session that it works for; nil for
	// any other turn.
	Above *Above
	// Observe is told of everything that happens in the turn, by its goroutine, before
	// it is stored. It may be nil, and does not block.
	Observe func(protocol.Body)
	Close   func()
}

// Lane carries one session.
type Lane struct {
	cfg Config
	pub *publish.Publisher

	running atomic.Pointer[turn] // the same as turn; set with mu held

	looked bool // for what was left in repositories; belongs to the goroutine of the turn

	after sync.WaitGroup // what a turn still does behind its end

	// tasks are the background commands; they outlive turns. Their own lock may be
	// taken with mu held.
	tasks *background.Set

	lostPayloads map[string]bool // those that people were told of; guarded by mu

	watchers watchers
	hooked   hooked
	fuse     *fault.Fuse     // blows with the first panic in a goroutine of the session
	life     context.Context // ends when the lane closes
	end      context.CancelFunc
	whole    context.Context // ends when the lane is given up, and behind its end
	giveUp   context.CancelFunc

	mark mark // taken before mu, if with it

	places places // of sub-agents; its own lock is taken alone

	shells shells // commands of people

	// mu guards all below. That of a sub-agent's lane may be held while that of a lane
	// above it is taken, never the other way round. Under it the lane puts events into the publisher,
	// which waits while the publisher's queue is full; the publisher's writer
	// never needs mu to make room.
	mu        *fault.Mutex
	epoch     protocol.Epoch   // in which leaf, meta and queues were right
	leaf      protocol.EventID // of what has entered
	meta      protocol.Meta
	turn      *turn
	moving    chan struct{}   // not nil: a move has cancelled the turn and comes next; closed when it is done
	mode      permission.Mode // that people set; "" is the setup's
	modeSeq   protocol.Seq    // of the event that set it in this lane
	told      int             // events that background commands and others than the run have added
	unplanned permission.Mode // the last of them that is not plan mode
	queues    queues
	questions map[string]*question // by the id of permission or dialog
	granted   []string             // session rules
	attended  int                  // interactive subscriptions
	cut       []SubagentRun        // sub-agents that the end of an earlier host interrupted
	telling   []telling            // notices on their way into the log
	additions additions
	borders   []*border        // that wait for a step border of the running turn
	fresh     []protocol.Event // events that have entered and that the turn's builder lacks
	damage    string           // what the log has lost, as the model is to be told
	unread    int              // events that cannot be read, as people were told
	stopping  bool             // no turn begins any more
	closed    bool
}

// New makes the lane of an open log.
func New(ctx context.Context, cfg Config) (*Lane, error) {
	index := cfg.Log.Index()
	l := &Lane{cfg: cfg, leaf: index.Leaf(), meta: index.Meta(), questions: map[string]*question{}}
	l.fuse = fault.NewFuse(cfg.Broke)
	l.mu = fault.NewMutex(l.fuse)
	l.life, l.end = context.WithCancel(context.Background())
	l.whole, l.giveUp = context.WithCancel(context.Background())
	l.tasks = background.New(background.Config{Now: cfg.Now, Rand: cfg.Rand, Ended: cfg.Idle, Processes: cfg.Processes, Tell: l.tellProcess, Changed: l.tellTask,
		Keep: l.keepOutput, Life: l.whole, Panicked: l.Panicked})
	var err error
	if l.queues, err = foldQueues(ctx, index); err != nil {
		return nil, err
	}
	if l.granted, err = foldGrants(ctx, index); err != nil {
		return nil, err
	}
	if l.cut, err = foldRuns(ctx, index); err != nil {
		return nil, err
	}
	if l.shells.lost, err = foldShells(ctx, index); err != nil {
		return nil, err
	}
	if l.additions.waiting, err = foldWaiting(ctx, index); err != nil {
		return nil, err
	}
	if !cfg.OwnMode {
		if l.mode, l.unplanned, err = foldMode(ctx, index); err != nil {
			return nil, err
		}
	}
	live := protocol.Live{DeviceID: cfg.Device, ThroughSeq: cfg.Log.NextSeqFloor() - 1, PersistentLastSeq: index.LastSeq(),
		PersistentLastID: index.LastID(), LeafID: l.leaf, Meta: l.meta, Mode: string(l.mode), Usage: index.Usage(), Queues: l.queues.live()}
	if err := foldLabels(ctx, index, &live); err != nil {
		return nil, err
	}
	if live.Todos, err = index.Todos(ctx, l.leaf); err != nil {
		return nil, err
	}
	l.pub = publish.New(publish.Config{Session: cfg.Log.ID(), Commit: cfg.Log.Commit, Live: live, Failed: l.appendFailed, Told: l.watchers.told, Changed: cfg.Changed,
		Panicked: l.Panicked, Now: cfg.Now, Rand: cfg.Rand})
	l.epoch = l.pub.Epoch()
	if err := l.rememberDamage(ctx); err != nil {
		l.pub.Close()
		return nil, err
	}
	l.mark.kept = l.queues.count() > 0
	l.recover(ctx)
	return l, nil
}

// ID is the session's.
func (l *Lane) ID() protocol.SessionID { return l.cfg.Log.ID() }

// Log gives the session's log, for reading.
func (l *Lane) Log() *session.Log { return l.cfg.Log }

// Publisher gives what clients read from.
func (l *Lane) Publisher() *publish.Publisher { return l.pub }

// Meta gives the session's meta.
func (l *Lane) Meta() protocol.Meta {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.meta
}

// Attach tells the lane that a client watches it, and detach, which is called
// once, that it no longer does. When the last interactive one has gone and nobody
// else may come, open questions are refused as unattended ones are.
func (l *Lane) Attach(interactive bool) (detach func()) {
	if !interactive {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attended++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.attended--; l.attended == 0 && l.unattended() && !l.above().attended() {
			l.closeQuestions(protocol.DecisionExpired)
		}
	}
}

// unattended says whether nobody is waited for who could be asked. mu is held.
func (l *Lane) unattended() bool {
	return l.cfg.Unattended || l.turn != nil && l.turn.options != nil && l.turn.options.Unattended
}

// Close cancels the running turn, waits for its end, ends the commands of people and in the background,
// lets what has entered be stored, calls last, and closes the log, which gives up the session's lock.
func (l *Lane) Close(last func()) error {
	l.mu.Lock()
	l.closed = true
	l.end()
	t := l.turn
	if t != nil {
		t.cancel(errHostStops)
	}
	l.stopShells()
	l.mu.Unlock()
	if t != nil {
		<-t.done
	}
	l.after.Wait()
	l.shells.wg.Wait()
	l.closeTasks()
	l.farewell()
	l.cfg.Processes.Close()
	l.pub.Close()
	l.settleOutputs()
	if l.cfg.Step != nil {
		l.cfg.Step.Leave()
	}
	l.giveUp()
	last()
	return l.cfg.Log.Close()
}

// author says on whose behalf an event is appended.
type author struct {
	client protocol.ClientID
	cause  *protocol.Cause
	id     protocol.EventID // "" draws one
}

func byHost() author { return author{client: protocol.HostClient} }

// Caller is the client and the request on whose behalf something is done.
type Caller struct {
	Client  protocol.ClientID
	Request protocol.RequestID
	Body    string // of the request, as [protocol.Cause] has it
	// OnceOnly says that the client may allow a call once, and no more than that.
	OnceOnly bool
}

func (c Caller) author() author {
	if c.Request == "" { // the host itself
		return author{client: c.Client}
	}
	return author{client: c.Client, cause: c.Cause()}
}

// Cause is the caller as an event or a header has it.
func (c Caller) Cause() *protocol.Cause {
	return &protocol.Cause{ClientID: c.Client, RequestID: c.Request, Body: c.Body}
}

// append lets a persistent event enter behind the leaf. mu is held.
func (l *Lane) append(ctx context.Context, body protocol.Body, a author) (protocol.Event, *publish.Ticket, error) {
	if own, ok := body.(authored); ok {
		body, a = own.Body, own.by
	}
	e := protocol.NewEvent(body)
	e.ID, e.ParentID, e.ClientID, e.Cause = a.id, l.leaf, a.client, a.cause
	if e.ID == "" {
		e.ID = protocol.NewEventID(l.cfg.Rand)
	}
	e, ticket, err := l.pub.Put(ctx, l.begun(), e)
	if err != nil {
		return e, nil, err
	}
	if leaf, moves := e.Leaf(); moves {
		l.leaf = leaf
	}
	if b, ok := body.(*protocol.SessionInfo); ok {
		b.Changes.Apply(&l.meta)
	}
	if e.Class() == protocol.Conversation {
		l.leaf = e.ID
	}
	if l.turn != nil {
		l.fresh = append(l.fresh, e)
	}
	return e, ticket, nil
}

// appendWait is append for requests: it takes mu and returns when the event is
// durable.
func (l *Lane) appendWait(ctx context.Context, body protocol.Body, a author) (protocol.Event, error) {
	if err := l.lock(ctx); err != nil {
		return protocol.Event{}, err
	}
	if err := l.writable(); err != nil {
		l.mu.Unlock()
		return protocol.Event{}, err
	}
	e, ticket, err := l.append(ctx, body, a)
	l.mu.Unlock()
	if err != nil {
		return e, err
	}
	return e, ticket.Wait(ctx)
}

// tell sends a transient event of the running turn. mu is held.
func (l *Lane) tell(body protocol.Body) error { return l.tellOf(protocol.HostClient, body) }

// tellOf is tell for what a client has caused. mu is held.
func (l *Lane) tellOf(client protocol.ClientID, body protocol.Body) error {
	e := protocol.NewEvent(body)
	e.ClientID = client
	if l.turn != nil {
		e.TurnID = l.turn.id
	}
	_, _, err := l.pub.Put(context.Background(), l.begun(), e)
	return err
}

// begun is the epoch that the state of the lane, or of its turn, is of. What
// builds on a state of which something was lost is refused. mu is held.
func (l *Lane) begun() protocol.Epoch {
	if l.turn != nil {
		return l.turn.epoch
	}
	return l.epoch
}

// writable says why nothing may be appended, if so. mu is held.
func (l *Lane) writable() error {
	if l.closed {
		return protocol.Errorf(protocol.CodeSessionNotFound, "The session is being closed; open it again.")
	}
	return l.readOnly()
}

// readOnly says why the log takes no events, if so.
func (l *Lane) readOnly() error {
	readOnly, why := l.cfg.Log.ReadOnly()
	if !readOnly {
		return nil
	}
	if l.cfg.Log.NeedsLeaf() {
		return protocol.About("leafEventId", protocol.ReasonLeaf, protocol.CodeStorageError, "The session is read-only: %s.", why)
	}
	return protocol.Errorf(protocol.CodeStorageError, "The session is read-only: %s.", why)
}

// appendFailed is told that what had entered is lost. It runs on the publisher's
// writer.
func (l *Lane) appendFailed(epoch protocol.Epoch, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	index := l.cfg.Log.Index()
	l.epoch, l.leaf, l.meta, l.fresh = epoch, index.Leaf(), index.Meta(), nil
	if l.turn != nil {
		l.turn.void.Store(true)
		l.turn.cancel(err)
	}
	l.untell()
	l.additions.lost()
	if rerr := l.retell(context.Background(), l.leaf); rerr != nil { // ends that a lost result told
		l.cfg.Report("look for background commands on the path: "+rerr.Error(), nil)
	}
	if q, ferr := foldQueues(context.Background(), index); ferr == nil {
		l.queues = q
	}
	l.retellQuestions()
	l.cfg.Report("append failed: "+err.Error(), nil)
}

// UpdateInfo changes the session's meta.
func (l *Lane) UpdateInfo(ctx context.Context, c Caller, changes protocol.MetaChanges) error {
	if _, err := l.appendWait(ctx, &protocol.SessionInfo{Changes: changes}, c.author()); err != nil {
		return err
	}
	if changes.Model != nil {
		l.happened("model_select", struct {
			Model string `json:"model"`
		}{*changes.Model})
	}
	if changes.ThinkingLevel != nil {
		l.happened("thinking_level_select", struct {
			Level string `json:"level"`
		}{*changes.ThinkingLevel})
	}
	return nil
}

// foldLabels gives a state the names of events, of the whole log.
func foldLabels(ctx context.Context, index *session.Index, live *protocol.Live) error {
	for e, err := range index.OfType(ctx, protocol.TypeLabel) {
		if err != nil {
			return err
		}
		if b, ok := e.Body.(*protocol.Label); ok {
			live.Label(b)
		}
	}
	return nil
}

// SetLabel names an event, or removes its name.
func (l *Lane) SetLabel(ctx context.Context, c Caller, target protocol.EventID, label *string) error {
	if label != nil && len(*label) > protocol.MaxLabel {
		return protocol.About("label", "", protocol.CodeInvalidRequest, "The label has %d bytes; use at most %d.", len(*label), protocol.MaxLabel)
	}
	if !l.cfg.Log.Index().Has(target) {
		return protocol.About("targetEventId", "", protocol.CodeInvalidEventID, "The session has no event %s.", target)
	}
	_, err := l.appendWait(ctx, &protocol.Label{TargetEventID: target, Label: label}, c.author())
	return err
}

// builder makes a context builder over the published log, with the hooks of a chain.
func (l *Lane) builder(chain *hook.Chain, info model.Info) (*history.Builder, error) {
	c := history.Config{Log: session.Texts{Index: l.cfg.Log.Index()}, Window: info.ContextWindow}
	if chain.ChangesContext() {
		c.Hooks = chain
	}
	return history.New(c)
}
