package lane

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/session"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// maxAdditions bounds the events that wait for a step border; further ones are refused.
const maxAdditions = 256

// maxLater bounds the events that wait for the end of a turn; further ones are refused.
const maxLater = 64

// maxNote bounds a note of a hook for the model, in bytes; a longer one is cut.
const maxNote = 64 << 10

// additions are conversation events that wait to enter, and those that have entered
// and are not durable yet: what is lost with a failed append waits again. mu of the
// lane guards them.
type additions struct {
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

// waitingKind is the kind of the custom events that keep a message while it waits.
const waitingKind = protocol.OwnKind + "waiting"

// waitingMessage is the data of such an event. The message enters as the event of that
// id: where the log has it, it waits no more.
type waitingMessage struct {
	SessionID protocol.SessionID      `json:"sessionId"` // a clone of the session has the event, too
	EventID   protocol.EventID        `json:"eventId"`
	Message   *protocol.CustomMessage `json:"message"`
}

// Add appends conversation events, together and in order: at once when no turn runs,
// and then it returns when they are durable; else they wait for the next step border,
// where they enter before steering. When the turn ends before one comes, they enter
// then. Of custom messages that wait it returns when that is durable: they enter once,
// also behind a kill, before the next message. Of others it returns at once, and a kill
// loses them. The bodies are custom messages, harness items and summaries of branches. A function that
// [Lane.AtBorder] runs adds with its own context at once; what others add meanwhile
// comes behind it.
func (l *Lane) Add(ctx context.Context, bodies ...protocol.Body) error {
	return l.add(ctx, false, bodies)
}

// AddAfter is [Lane.Add] for what is to wait while a turn runs until it has ended, also
// when it ends because the session is closed.
func (l *Lane) AddAfter(ctx context.Context, bodies ...protocol.Body) error {
	return l.add(ctx, true, bodies)
}

func (l *Lane) add(ctx context.Context, after bool, bodies []protocol.Body) error {
	for _, b := range bodies {
		if s := b.EventSpec(); s.Class != protocol.Conversation || !s.AnyTime {
			return protocol.Errorf(protocol.CodeInvalidRequest, "An event of type %s cannot be added to a conversation.", b.EventType())
		}
	}
	for {
		if err := l.lock(ctx); err != nil {
			return err
		}
		if err := l.writable(); err != nil {
			l.mu.Unlock()
			return err
		}
		if moving := l.moving; moving != nil && l.turn == nil {
			l.mu.Unlock()
			if err := await(ctx, moving); err != nil {
				return err
			}
			continue
		}
		if l.turn == nil || !after && l.turn.between && atBorder(ctx, l.turn) {
			ticket, err := l.addNow(ctx, bodies)
			l.mu.Unlock()
			return waitFor(ctx, ticket, err)
		}
		list, most, what := &l.additions.waiting, maxAdditions, "to be added to the conversation"
		if after {
			list, most, what = &l.additions.later, maxLater, "for the end of the turn"
		}
		if n := len(*list); n+len(bodies) > most {
			l.mu.Unlock()
			return protocol.Errorf(protocol.CodeRateLimited, "%d events wait %s already; at most %d can.", n, what, most)
		}
		ticket, err := l.addLater(ctx, list, bodies)
		l.mu.Unlock()
		return waitFor(ctx, ticket, err)
	}
}

// addLater has events wait in a list. The ticket is of the last event that keeps one of
// them, nil when none does. mu is held.
func (l *Lane) addLater(ctx context.Context, list *[]addition, bodies []protocol.Body) (ticket *publish.Ticket, err error) {
	for _, body := range bodies {
		a := addition{body: body}
		if message, ok := body.(*protocol.CustomMessage); ok {
			w := waitingMessage{SessionID: l.ID(), EventID: protocol.NewEventID(l.cfg.Rand), Message: message}
			data, err := json.Marshal(w)
			if err != nil {
				return nil, err
			}
			if _, a.kept, err = l.append(ctx, &protocol.Custom{Kind: waitingKind, Data: data}, byHost()); err != nil {
				return nil, err
			}
			a.body, ticket = w.body(), a.kept
		}
		*list = append(*list, a)
	}
	return ticket, nil
}

func (w waitingMessage) body() protocol.Body {
	return authored{w.Message, author{client: protocol.HostClient, id: w.EventID}}
}

// foldWaiting gives the messages that waited when an earlier host was killed, the newest.
func foldWaiting(ctx context.Context, index *session.Index) ([]addition, error) {
	var waiting []addition
	for e, err := range index.OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return nil, err
		}
		var w waitingMessage
		b, ok := e.Body.(*protocol.Custom)
		if !ok || b.Kind != waitingKind || json.Unmarshal(b.Data, &w) != nil || w.SessionID != index.SessionID() ||
			w.Message == nil || w.EventID.Check() != nil || index.Has(w.EventID) {
			continue
		}
		waiting = append(waiting, addition{body: w.body()})
	}
	return waiting[max(0, len(waiting)-maxAdditions-maxLater):], nil
}

// addNow appends events, when no turn runs behind what waits; the ticket is of the
// last. mu is held.
func (l *Lane) addNow(ctx context.Context, bodies []protocol.Body) (ticket *publish.Ticket, err error) {
	if l.turn == nil {
		if _, err := l.appendAdditions(ctx); err != nil {
			return nil, err
		}
	}
	for _, b := range bodies {
		if _, ticket, err = l.append(ctx, b, byHost()); err != nil {
			return nil, err
		}
	}
	return ticket, nil
}

// appendLast appends what waits when a turn has ended. mu is held.
func (l *Lane) appendLast(ctx context.Context) error {
	a := &l.additions
	a.waiting, a.later = append(a.waiting, a.later...), nil
	_, err := l.appendAdditions(ctx)
	return err
}

// appendAdditions appends what waits, and gives how many events that were. The leaf
// is at a step border. mu is held.
func (l *Lane) appendAdditions(ctx context.Context) (int, error) {
	a := &l.additions
	a.entered = slices.DeleteFunc(a.entered, func(e addition) bool { return e.ticket.Durable() })
	n := 0
	for len(a.waiting) > 0 {
		next := a.waiting[0]
		var err error
		if _, next.ticket, err = l.append(ctx, next.body, byHost()); err != nil {
			return n, err
		}
		a.entered = append(a.entered, next)
		a.waiting = a.waiting[1:]
		n++
	}
	a.waiting = nil
	return n, nil
}

// lost has wait again what was lost with what could not be stored. What could not be
// kept either does not wait: who added it is told so. It runs on the publisher's
// writer. mu is held.
func (a *additions) lost() {
	again := slices.DeleteFunc(a.entered, func(e addition) bool { return e.ticket.Durable() })
	unkept := func(e addition) bool { return e.kept != nil && !e.kept.Durable() }
	a.waiting, a.later, a.entered = slices.DeleteFunc(append(again, a.waiting...), unkept), slices.DeleteFunc(a.later, unkept), nil
}

// Control appends a control event on the host's behalf, at once, also while a turn
// runs. It returns when the event is durable.
func (l *Lane) Control(ctx context.Context, body protocol.Body) (protocol.Event, error) {
	if s := body.EventSpec(); s.Class != protocol.Control || !s.AnyTime {
		return protocol.Event{}, protocol.Errorf(protocol.CodeInvalidRequest, "An event of type %s is appended in no such way.", body.EventType())
	}
	return l.appendWait(ctx, body, byHost())
}

// noteBodies gives what hooks say as harness items.
func noteBodies(notes []hook.Note) []protocol.Body {
	bodies := make([]protocol.Body, len(notes))
	for i, n := range notes {
		bodies[i] = noteBody(n.Text)
	}
	return bodies
}

func noteBody(text string) protocol.Body {
	if len(text) > maxNote {
		text = strings.ToValidUTF8(text[:maxNote], "") + "\n[cut]"
	}
	return &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemHookContext, Origin: protocol.OriginExtension,
		Content: text, Visibility: protocol.VisibilityHidden}}
}
