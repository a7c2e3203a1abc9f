package lane

import (
	"context"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/addition"
	"scorel/internal/host/lane/component"
	"scorel/internal/host/lane/inbox"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/lane/listener"
	"scorel/internal/host/lane/notice"
	"scorel/internal/host/lane/question"
	"scorel/internal/host/lane/queue"
	"scorel/internal/host/lane/shell"
	"scorel/internal/host/lane/subagents"
	"scorel/internal/host/lane/tasks"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// Lane carries one session. It is made of parts that share the lock of the journal:
// [journal.Journal] says in which order locks are taken.
type Lane struct {
	cfg       Config
	j         *journal.Journal
	life      *life
	course    course // what runs, and what waits for it
	queues    *queue.Queues
	pending   *queue.Pending
	inbox     *inbox.Inbox
	additions *addition.List
	questions *question.Questions
	drawn     *component.Components
	tasks     *tasks.Tasks
	shells    *shell.Shells
	agents    *subagents.Runs
	places    subagents.Places
	listeners *listener.Listeners
	notices   *notice.Notices
	payloads  *payloads
	rights    rights
	damage    damage
}

// New makes the lane of an open log.
func New(ctx context.Context, cfg Config) (*Lane, error) {
	l := &Lane{cfg: cfg, life: newLife(cfg.Owner.Broke)}
	l.j = journal.New(journal.Config{Log: cfg.Log, Rand: cfg.Rand, Report: cfg.Report, Fuse: l.life.fuse})
	l.notices = notice.New(l.j)
	l.listeners = listener.New(l.j, l.notices)
	l.payloads = &payloads{blobs: cfg.Blobs, notices: l.notices, session: cfg.Log.ID()}
	l.questions = question.New(question.Config{Journal: l.j, Listeners: l.listeners, Run: courseOf{l}, Rand: cfg.Rand, Now: cfg.Now, Life: l.life.open})
	l.drawn = component.New(component.Config{Session: cfg.Log.ID(), Questions: l.questions, Requester: l.requester, Rand: cfg.Rand, Panicked: l.Panicked})
	l.tasks = tasks.New(tasks.Config{Journal: l.j, Now: cfg.Now, Rand: cfg.Rand, Processes: cfg.Processes, Outputs: cfg.Kept.Outputs,
		Idle: cfg.Owner.Idle, Stirred: l.wake, Life: l.life.whole, Panicked: l.Panicked})
	if err := l.fold(ctx); err != nil {
		return nil, err
	}
	l.pending = queue.NewPending(l.j, l.queues, l.inbox.Unsettled, cfg.Kept.Pending)
	live, err := l.live(ctx)
	if err != nil {
		return nil, err
	}
	l.j.Open(publish.Config{Live: live, Failed: l.appendFailed, Told: l.listeners.Told, Changed: cfg.Owner.Changed,
		Panicked: l.Panicked, Now: cfg.Now, Rand: cfg.Rand})
	cfg.Log.OnPlaced(l.logPlaced)
	if err := l.rememberDamage(ctx); err != nil {
		l.j.Publisher().Close()
		return nil, err
	}
	l.recover(ctx)
	return l, nil
}

// fold makes the parts whose state is in the log.
func (l *Lane) fold(ctx context.Context) (err error) {
	if l.queues, err = queue.New(ctx, l.j, l.cfg.Now, l.cfg.Rand); err != nil {
		return err
	}
	if l.inbox, err = inbox.New(ctx, l.j, l.cfg.Rand); err != nil {
		return err
	}
	if l.rights, err = foldRights(ctx, l.j.Index(), l.cfg.OwnMode); err != nil {
		return err
	}
	if l.agents, err = subagents.New(ctx, l.j); err != nil {
		return err
	}
	if l.additions, err = addition.New(ctx, l.j, l.cfg.Rand); err != nil {
		return err
	}
	l.shells, err = shell.New(ctx, shell.Config{Journal: l.j, Additions: l.additions, Owner: courseOf{l}, Blobs: l.cfg.Blobs, Now: l.cfg.Now, Rand: l.cfg.Rand,
		Fuse: l.life.fuse, Life: l.life.whole})
	return err
}

// live returns the state that clients are given, as the log has it.
func (l *Lane) live(ctx context.Context) (protocol.Live, error) {
	index := l.cfg.Log.Index()
	live := protocol.Live{DeviceID: l.cfg.Device, ThroughSeq: l.cfg.Log.NextSeqFloor() - 1, PersistentLastSeq: index.LastSeq(),
		PersistentLastID: index.LastID(), LeafID: index.Leaf(), Meta: index.Meta(), Mode: string(l.rights.mode), Usage: index.Usage(), Queues: l.queues.Live()}
	if err := foldLabels(ctx, index, &live); err != nil {
		return live, err
	}
	var err error
	live.Todos, err = index.Todos(ctx, live.LeafID)
	return live, err
}

// ID is the session's.
func (l *Lane) ID() protocol.SessionID { return l.cfg.Log.ID() }

// Log returns the session's log, for reading.
func (l *Lane) Log() *session.Log { return l.cfg.Log }

// Publisher returns what clients read from.
func (l *Lane) Publisher() *publish.Publisher { return l.j.Publisher() }

// Meta returns the session's meta.
func (l *Lane) Meta() protocol.Meta {
	l.j.Lock()
	defer l.j.Unlock()
	return l.j.Meta()
}

// Questions returns what people are asked in the session.
func (l *Lane) Questions() *question.Questions { return l.questions }

// Components returns what extensions draw in the session.
func (l *Lane) Components() *component.Components { return l.drawn }

// requester returns the client of whose message the running turn began, "" for none.
func (l *Lane) requester() protocol.ClientID {
	l.j.Lock()
	defer l.j.Unlock()
	if t := l.course.turn; t != nil {
		return t.by
	}
	return ""
}

// Tasks returns the background commands of the session.
func (l *Lane) Tasks() *tasks.Tasks { return l.tasks }

// Shells returns the commands of people in the session.
func (l *Lane) Shells() *shell.Shells { return l.shells }

// Additions returns what others than its turns add to the session.
func (l *Lane) Additions() *addition.List { return l.additions }

// Agents returns the sub-agents of the session.
func (l *Lane) Agents() *subagents.Runs { return l.agents }

// Places returns the places of sub-agents that may work at once.
func (l *Lane) Places() *subagents.Places { return &l.places }

// Notices returns what shows people sentences and what extensions have to show.
func (l *Lane) Notices() *notice.Notices { return l.notices }

// Listeners returns those who watch the session.
func (l *Lane) Listeners() *listener.Listeners { return l.listeners }

// FlushProcesses has the lines of process logs written that wait for it.
func (l *Lane) FlushProcesses() { l.cfg.Processes.Flush() }

// Close cancels the running turn, waits for its end, ends the commands of people and in the
// background, lets what has entered be stored, calls last, and closes the log, which gives
// up the session's lock.
func (l *Lane) Close(last func()) error {
	l.j.Lock()
	l.j.Close()
	l.life.end()
	l.course.proactive.disarm()
	t := l.course.turn
	if t != nil {
		t.cancel(errHostStops)
	}
	l.shells.Stop()
	l.j.Unlock()
	if t != nil {
		<-t.Done
	}
	l.course.after.Wait()
	l.shells.Wait()
	l.closeTasks()
	l.listeners.NotifyEnd()
	l.cfg.Processes.Close()
	l.j.Publisher().Close()
	l.tasks.Settle()
	l.cfg.Kept.leave()
	l.life.giveUp()
	last()
	return l.cfg.Log.Close()
}

// closeTasks ends the background commands, and records how they ended, for the turns of a
// later host.
func (l *Lane) closeTasks() {
	l.tasks.Close()
	l.j.Lock()
	defer l.j.Unlock()
	if l.j.ReadOnly() != nil {
		return
	}
	if _, err := l.j.Pay(context.Background()); err != nil {
		l.j.Report("store the answer that could not be stored when it came: " + err.Error())
	}
	if _, err := l.appendNotices(context.Background()); err != nil {
		l.j.Report("record how background commands ended: " + err.Error())
	}
}

// appendNotices appends what the commands that run beside the turns, and those that an
// earlier host has left, have to tell: the model is told at a step boundary or before a
// message, never in between. It returns how many events of running ones there were. The
// journal is locked.
func (l *Lane) appendNotices(ctx context.Context) (int, error) {
	if err := l.agents.Append(ctx); err != nil {
		return 0, err
	}
	if err := l.shells.AppendLost(ctx); err != nil {
		return 0, err
	}
	return l.tasks.Append(ctx)
}

// appendWaiting appends what background commands have to tell and what waits to be
// added. It returns how many events that were. The journal is locked.
func (l *Lane) appendWaiting(ctx context.Context) (int, error) {
	n, err := l.appendNotices(ctx)
	if err != nil {
		return n, err
	}
	added, err := l.additions.Take(ctx)
	l.course.added += n + added
	return n + added, err
}

// appendFailed is told that what had entered is lost. It runs on the publisher's
// writer.
func (l *Lane) appendFailed(epoch protocol.Epoch, err error) {
	l.j.Lock()
	defer l.j.Unlock()
	l.j.Reset(epoch)
	if t := l.course.turn; t != nil {
		t.Void.Store(true)
		t.cancel(err)
	}
	l.additions.Lost()
	l.tasks.Lost()
	l.queues.Refold(context.Background())
	l.inbox.Refold(context.Background())
	l.questions.Repeat()
	l.j.Report("append failed: " + err.Error())
}
