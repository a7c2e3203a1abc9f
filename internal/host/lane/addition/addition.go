package addition

import (
	"context"
	"encoding/json"
	"io"
	"slices"

	"scorel/internal/engine/hook"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// MaxWaiting bounds the events that wait for a step boundary; further ones are refused.
const MaxWaiting = 256

// MaxLater bounds the events that wait for the end of a turn; further ones are refused.
const MaxLater = 64

// List has the events of one session that wait to enter, and those that have entered and
// are not durable yet: what is lost with a failed append waits again. The journal's lock
// guards it.
type List struct {
	j       *journal.Journal
	rand    io.Reader
	waiting []addition
	later   []addition // for the end of the turn
	entered []addition
}

// addition is an event that waits, or has entered.
type addition struct {
	body   protocol.Body
	kept   *publish.Ticket // of the event that keeps it over a kill, nil without one
	ticket *publish.Ticket // of its own, once it has entered
}

// New returns the list of a session, with what waited when an earlier host was killed.
func New(ctx context.Context, j *journal.Journal, rand io.Reader) (*List, error) {
	waiting, err := foldWaiting(ctx, j.Index())
	return &List{j: j, rand: rand, waiting: waiting}, err
}

// Add appends conversation events, together and in order: at once when no turn runs,
// and then it returns when they are durable; else they wait for the next step boundary,
// where they enter before steering. When the turn ends before one comes, they enter
// then. Of custom messages that wait it returns when that is durable: they enter once,
// also after a kill, before the next message. Of others it returns at once, and a kill
// loses them. The bodies are custom messages, harness items and summaries of branches. A
// function that a run calls at its boundary ([journal.WithRun]) adds with its own context at
// once; what others add meanwhile comes after it.
func (l *List) Add(ctx context.Context, bodies ...protocol.Body) error {
	return l.add(ctx, false, bodies)
}

// AddAfter is [List.Add] for what is to wait while a turn runs until it has ended, also
// when it ends because the session is closed.
func (l *List) AddAfter(ctx context.Context, bodies ...protocol.Body) error {
	return l.add(ctx, true, bodies)
}

func (l *List) add(ctx context.Context, after bool, bodies []protocol.Body) error {
	for _, b := range bodies {
		if s := b.EventSpec(); s.Class != protocol.Conversation || !s.AnyTime {
			return protocol.Errorf(protocol.CodeInvalidRequest, "An event of type %s cannot be added to a conversation.", b.EventType())
		}
	}
	var ticket *publish.Ticket
	err := l.j.Add(ctx, func() (err error) {
		if err := l.j.Writable(); err != nil {
			return err
		}
		if l.j.Run() == nil || !after && l.j.MayAdd(ctx) {
			ticket, err = l.Put(ctx, bodies...)
			return err
		}
		list, most, what := &l.waiting, MaxWaiting, "to be added to the conversation"
		if after {
			list, most, what = &l.later, MaxLater, "for the end of the turn"
		}
		if n := len(*list); n+len(bodies) > most {
			return protocol.Errorf(protocol.CodeRateLimited, "%d events wait %s already; at most %d can.", n, what, most)
		}
		ticket, err = l.keep(ctx, list, bodies)
		return err
	})
	return journal.WaitFor(ctx, ticket, err)
}

// keep has events wait in a list. The ticket is of the last event that keeps one of them,
// nil when none does. The journal is locked.
func (l *List) keep(ctx context.Context, list *[]addition, bodies []protocol.Body) (ticket *publish.Ticket, err error) {
	for _, body := range bodies {
		a := addition{body: body}
		if message, ok := body.(*protocol.CustomMessage); ok {
			w := waitingMessage{SessionID: l.j.ID(), EventID: protocol.NewEventID(l.rand), Message: message}
			data, err := json.Marshal(w)
			if err != nil {
				return nil, err
			}
			if _, a.kept, err = l.j.Append(ctx, &protocol.Custom{Kind: waitingKind, Data: data}, journal.ByHost()); err != nil {
				return nil, err
			}
			a.body, ticket = w.body(), a.kept
		}
		*list = append(*list, a)
	}
	return ticket, nil
}

// Put appends events, when nothing runs after what waits; the ticket is of the last. The
// journal is locked.
func (l *List) Put(ctx context.Context, bodies ...protocol.Body) (ticket *publish.Ticket, err error) {
	if l.j.Run() == nil {
		if _, err := l.Take(ctx); err != nil {
			return nil, err
		}
	}
	for _, b := range bodies {
		if _, ticket, err = l.j.Append(ctx, b, journal.ByHost()); err != nil {
			return nil, err
		}
	}
	return ticket, nil
}

// Enter has an event enter: at once when nothing runs, and then the ticket is of it, else
// at the next step boundary. Nothing of it is stored while it waits, and the bound is the
// caller's to keep ([List.Waiting]). The journal is locked.
func (l *List) Enter(ctx context.Context, body protocol.Body) (*publish.Ticket, error) {
	if l.j.Run() == nil {
		return l.Put(ctx, body)
	}
	l.waiting = append(l.waiting, addition{body: body})
	return nil, nil
}

// Waiting counts the events that wait for a step boundary. The journal is locked.
func (l *List) Waiting() int { return len(l.waiting) }

// TakeAll appends all that waits, when a turn has ended. The journal is locked.
func (l *List) TakeAll(ctx context.Context) error {
	l.waiting, l.later = append(l.waiting, l.later...), nil
	_, err := l.Take(ctx)
	return err
}

// Take appends what waits for a step boundary, and returns how many events that were. The
// leaf is at one. The journal is locked.
func (l *List) Take(ctx context.Context) (int, error) {
	l.entered = slices.DeleteFunc(l.entered, func(e addition) bool { return e.ticket.Durable() })
	n := 0
	for len(l.waiting) > 0 {
		next := l.waiting[0]
		var err error
		if _, next.ticket, err = l.j.Append(ctx, next.body, journal.ByHost()); err != nil {
			return n, err
		}
		l.entered = append(l.entered, next)
		l.waiting = l.waiting[1:]
		n++
	}
	l.waiting = nil
	return n, nil
}

// Lost has wait again what was lost with what could not be stored. What could not be
// kept either does not wait: who added it is told so. It runs on the publisher's writer.
// The journal is locked.
func (l *List) Lost() {
	again := slices.DeleteFunc(l.entered, func(e addition) bool { return e.ticket.Durable() })
	unkept := func(e addition) bool { return e.kept != nil && !e.kept.Durable() }
	l.waiting, l.later, l.entered = slices.DeleteFunc(append(again, l.waiting...), unkept), slices.DeleteFunc(l.later, unkept), nil
}

// QueueNotes has what hooks say told to the model at the next step boundary, or before the
// next message.
func (l *List) QueueNotes(notes []hook.Note) {
	if len(notes) == 0 {
		return
	}
	l.j.Lock()
	left := min(len(notes), max(0, MaxWaiting-len(l.waiting)))
	for _, body := range NoteBodies(notes[:left]) {
		l.waiting = append(l.waiting, addition{body: body})
	}
	l.j.Unlock()
	if left < len(notes) {
		l.j.Report("too much waits to be sent to the model; the output of hooks was left out")
	}
}
