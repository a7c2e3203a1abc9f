package lane

import (
	"cmp"
	"context"
	"errors"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/runtime"
	"scorel/internal/host/lane/addition"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// Caller is [journal.Caller].
type Caller = journal.Caller

// WhenBusy says what becomes of a message that is sent while a turn runs.
type WhenBusy string

// What may become of it.
const (
	BusyFollowUp WhenBusy = "followUp"
	BusySteer    WhenBusy = "steer"
	BusyReject   WhenBusy = "reject"
)

// Message is what somebody sends. Busy says what becomes of it while a turn runs; ""
// is [BusyFollowUp]. Expected, when set, must be the leaf. Options count for the turn
// that it begins; they are not stored, so with them Busy must be [BusyReject].
type Message struct {
	Content  []protocol.Block
	Busy     WhenBusy
	Expected *protocol.EventID
	Options  *protocol.TurnOptions
	// Source is what hooks are told of who sends: interactive (also when empty), queue,
	// extension, channel or schedule.
	Source string
	// Meta goes with a message that no person sends, nil for a person's.
	Meta *protocol.MessageMeta
	// Day is [TurnConfig.Day] of the turn that the message begins, nil for none. Such a
	// message joins no running turn: Busy is BusyReject.
	Day *runtime.Budget

	turn protocol.TurnID // when set: for this turn alone
	tick *tick           // of proactive mode, nil of any other
	work *work           // nil when nobody waits for the end of the turn
}

// work is what a message begins that somebody wants to follow.
type work struct {
	prepare Prepare // of an order of another session, nil without
	began   *turn   // the turn that was begun, nil for none
}

// isOrder reports whether another session gave the message to this one as its work.
func (m *Message) isOrder() bool { return m.work != nil && m.work.prepare != nil }

// ofPerson reports whether a person has sent the message.
func (m *Message) ofPerson() bool {
	return m.Meta == nil && !m.isOrder() && (m.Source == "" || m.Source == "interactive")
}

// Prepare returns what a turn runs with; see [Turns].
type Prepare func(context.Context, protocol.Meta, *protocol.TurnOptions) (*TurnConfig, error)

func (m *Message) check() error {
	switch m.Busy {
	case BusyFollowUp, BusySteer, BusyReject, "":
	default:
		return protocol.About("whenBusy", "", protocol.CodeInvalidRequest, "whenBusy is %.40q; it can be followUp, steer or reject.", string(m.Busy))
	}
	if m.Day != nil && m.Busy != BusyReject {
		return protocol.Errorf(protocol.CodeInvalidRequest, "A message with a budget of a day begins a turn of its own; send it with whenBusy \"reject\".")
	}
	if m.Options != nil && m.Busy != BusyReject {
		return protocol.About("whenBusy", "", protocol.CodeInvalidRequest, "A message with options begins a turn of its own; send it with whenBusy \"reject\".")
	}
	return nil
}

// Send appends a user message and starts a turn. While one runs, the message
// goes where Busy says. It returns when the message, or the queue it waits in, is
// durable, and the state that clients are given says that the turn it names runs.
func (l *Lane) Send(ctx context.Context, c Caller, m Message) (*protocol.Sent, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := l.payloads.check("content", m.Content); err != nil {
		return nil, err
	}
	if m.ofPerson() { // it goes before a turn that begins by itself
		l.course.coming.Add(1)
		defer l.course.coming.Add(-1)
	}
	s := &sending{l: l, by: c, m: m, release: func() {}}
	defer func() { s.release() }()
	if m.isOrder() { // no message of a person's
		s.says = &hook.PromptAnswer{Content: m.Content}
	}
	for {
		sent, err := s.try(ctx)
		if !errors.Is(err, errAgain) {
			return sent, err
		}
	}
}

// Steer puts a message into the running turn, or sends it when there is none. A
// turn id that is not the running one fails with conflict.
func (l *Lane) Steer(ctx context.Context, c Caller, id protocol.TurnID, content []protocol.Block) (*protocol.Sent, error) {
	return l.Send(ctx, c, Message{Content: content, Busy: BusySteer, turn: id})
}

// ErrQueuePaused is why a message of a schedule begins no turn: messages of people wait in a queue
// that is paused, and go first.
var ErrQueuePaused = protocol.Errorf(protocol.CodeRuntimeBusy, "Messages wait in the paused queue of this session; resume or remove them.")

// errAgain says that something has changed in the meantime, or is done now, and that who
// sends a message or begins a turn looks again.
var errAgain = errors.New("look again")

// sending is a message on its way. It belongs to the goroutine that sends it.
type sending struct {
	l       *Lane
	by      Caller
	m       Message
	says    *hook.PromptAnswer // what hooks say of it: they are asked once
	marked  bool               // that something waits, or is about to
	release func()             // of the mark
}

// step is what is to be done next with a message.
type step int

// What may be next.
const (
	markPending step = iota // mark the session, because the message is about to wait
	askHooks                // ask the hooks of the running turn
	putIntoTurn             // it has been put where a running turn takes it
	beginTurn               // begin a turn with it
)

// try does the next step.
func (s *sending) try(ctx context.Context) (*protocol.Sent, error) {
	next, sent, ticket, meta, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	switch next {
	case markPending:
		if s.release, err = s.l.pending.Keep(); err != nil {
			s.release = func() {}
			return nil, err
		}
		s.marked = true
		return nil, errAgain
	case askHooks:
		if sent, err = s.ask(ctx, s.l.chainNow(ctx), true); sent != nil || err != nil {
			return sent, err
		}
		return nil, errAgain
	case putIntoTurn:
		return sent, ticket.Wait(ctx)
	}
	return s.begin(ctx, meta)
}

// look waits until no turn is ending, and decides what is next. What can be done at once
// for a running turn is done.
func (s *sending) look(ctx context.Context) (next step, sent *protocol.Sent, ticket *publish.Ticket, meta protocol.Meta, err error) {
	l := s.l
	err = l.j.When(ctx, func() (<-chan struct{}, error) {
		if err := l.j.Writable(); err != nil {
			return nil, err
		}
		if s.m.turn != "" && !l.runs(s.m.turn) {
			return nil, protocol.Errorf(protocol.CodeConflict, "The turn you meant has ended; send the message if it still applies.")
		}
		return l.j.Ending(), nil
	}, func() error {
		t := l.course.turn
		switch {
		case s.waits(t) && !s.marked:
			next = markPending
		case t != nil && s.says == nil && s.m.Busy != BusyReject && (t.command || t.config.Hooks.AsksPrompts()):
			next = askHooks
		case t != nil:
			next = putIntoTurn
			sent, ticket, err = s.queue(ctx, t)
			return err
		case l.course.stopping:
			return errStopping()
		default:
			next, meta = beginTurn, l.j.Meta()
		}
		return nil
	})
	return next, sent, ticket, meta, err
}

// waits reports whether the message, or one before it, is about to wait. The journal is
// locked.
func (s *sending) waits(t *turn) bool {
	if t == nil {
		return s.l.queues.Count() > 0
	}
	return s.m.Busy != BusyReject
}

// queue puts the message where a running turn takes it. The journal is locked.
func (s *sending) queue(ctx context.Context, t *turn) (*protocol.Sent, *publish.Ticket, error) {
	if s.says == nil {
		s.says = &hook.PromptAnswer{Content: s.m.Content}
	}
	name := protocol.QueueFollowUp
	switch s.m.Busy {
	case BusySteer:
		name = protocol.QueueSteer
	case BusyReject:
		if s.l.course.stopping {
			return nil, nil, errStopping()
		}
		return nil, nil, protocol.Errorf(protocol.CodeRuntimeBusy, "A turn is running; wait for its end, or queue the message.")
	}
	id, ticket, err := s.l.queues.Append(ctx, s.by, name, *s.says, s.m.Meta)
	if err != nil {
		return nil, nil, err
	}
	if s.m.ofPerson() {
		l := s.l
		l.course.proactive.said()
		l.stir()
	}
	s.emitSubmit(ticket)
	return &protocol.Sent{ItemID: id, TurnID: t.ID}, ticket, nil
}

// ask asks hooks of the message; it returns an answer when one of them handles it.
func (s *sending) ask(ctx context.Context, chain *hook.Chain, busy bool) (handledByHook *protocol.Sent, err error) {
	a, err := s.l.askPrompt(ctx, chain, hook.Prompt{Content: s.m.Content, Source: cmp.Or(s.m.Source, "interactive"), Busy: busy})
	if err == nil && a.Handled {
		return &protocol.Sent{Handled: a.From}, nil
	}
	s.says = &a
	return nil, err
}

// emitSubmit tells those who watch of the message, when it is stored.
func (s *sending) emitSubmit(ticket *publish.Ticket) {
	s.l.listeners.EmitEventIf(ticket, "prompt_submit", struct {
		Prompt string `json:"prompt"`
	}{protocol.Message{Content: s.says.Content}.PlainText()})
}

// begin begins a turn with the message.
func (s *sending) begin(ctx context.Context, meta protocol.Meta) (*protocol.Sent, error) {
	l := s.l
	prepare := l.cfg.Turns.TurnConfig
	if s.m.isOrder() {
		prepare = s.m.work.prepare
	}
	config, err := l.ready(ctx, meta, s.m.Options, prepare)
	if err != nil {
		return nil, err
	}
	if s.m.Day != nil {
		config.Day = s.m.Day
	}
	if s.says == nil {
		if handled, err := s.ask(ctx, config.Hooks, false); handled != nil || err != nil {
			config.Close()
			return handled, err
		}
	}
	sent, ticket, t, err := s.start(ctx, config)
	if err != nil {
		config.Close()
		return nil, err
	}
	if err = ticket.Wait(ctx); err == nil {
		t.awaitAnnounced(ctx)
	}
	return sent, err
}

// start appends the message and starts the turn, if none has begun and the leaf is the
// expected one.
func (s *sending) start(ctx context.Context, config *TurnConfig) (*protocol.Sent, *publish.Ticket, *turn, error) {
	l := s.l
	l.j.Lock()
	defer l.j.Unlock()
	if err := l.free(); err != nil {
		return nil, nil, nil, err
	}
	if l.queues.Count() > 0 && s.m.Meta != nil && s.m.Meta.Source == protocol.SourceSchedule {
		return nil, nil, nil, ErrQueuePaused
	}
	if l.withdrawn(s.m.tick) {
		return nil, nil, nil, protocol.Errorf(protocol.CodeRuntimeBusy, "Proactive mode begins no turn now.")
	}
	if err := l.expect(s.m.Expected, nil); err != nil {
		return nil, nil, nil, err
	}
	t, err := l.newTurn(ctx, config)
	if err != nil {
		return nil, nil, nil, err
	}
	t.options, t.by = s.m.Options, s.by.Client
	if s.m.tick != nil {
		t.mode.ceiling = s.m.tick.ceiling
	}
	if err := l.jobWorks(ctx); err != nil {
		t.cancel(err)
		return nil, nil, nil, err
	}
	e, ticket, err := s.open(ctx, t)
	if err != nil {
		t.cancel(err)
		return nil, nil, nil, err
	}
	return &protocol.Sent{EventID: e.ID, TurnID: t.ID}, ticket, t, nil
}

// open appends what waits and the message, and starts the turn. The journal is locked.
func (s *sending) open(ctx context.Context, t *turn) (e protocol.Event, ticket *publish.Ticket, err error) {
	l := s.l
	if !s.m.Meta.ByItself() { // what a person has paused, a person resumes
		if err := l.queues.Unpause(ctx, s.by.Client); err != nil {
			return e, nil, err
		}
	}
	if _, err := l.appendWaiting(ctx); err != nil {
		return e, nil, err
	}
	if _, _, err := l.inbox.Take(ctx); err != nil {
		return e, nil, err
	}
	for _, body := range addition.NoteBodies(s.says.Notes) {
		if _, _, err := l.j.Append(ctx, body, journal.ByHost()); err != nil {
			return e, nil, err
		}
	}
	switch {
	case s.m.Meta.ByItself():
		l.course.waking.options, l.course.waking.day = s.m.Options, s.m.Day // nothing that follows may do or spend more than it
		if s.m.tick != nil {
			l.course.proactive.began()
		}
	case !s.m.isOrder():
		l.course.waking.said(s.m.Options)
		if s.m.ofPerson() {
			l.course.proactive.said()
		}
	}
	t.prompt = s.says.Content
	l.j.Publisher().Together(func() { // whoever sees the message stored sees its turn run
		e, ticket, err = l.j.Append(ctx, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: s.says.Content, Meta: s.m.Meta}}, s.by.Author())
		if err != nil {
			return
		}
		s.emitSubmit(ticket)
		if s.m.work != nil {
			s.m.work.began = t
		}
		l.start(t, protocol.RuntimeStart{}, runtime.Execute)
	})
	return e, ticket, err
}
