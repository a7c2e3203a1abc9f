package lane

import (
	"context"
	"slices"
	"strings"

	"scorel/internal/hook"
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
	waiting []protocol.Body
	later   []protocol.Body // for the end of the turn
	entered []addition
}

// addition is one that has entered.
type addition struct {
	body   protocol.Body
	ticket *publish.Ticket
}

// Add appends conversation events, together and in order: at once when no turn runs,
// and then it returns when they are durable; else they wait for the next step border,
// where they enter before steering, and it returns at once. When the turn ends before
// one comes, they enter then. What waits is lost when the host is killed. The bodies
// are custom messages, harness items and summaries of branches. A function that
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
		switch b.(type) {
		case *protocol.CustomMessage, *protocol.HarnessItem, *protocol.BranchSummary:
		default:
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
		defer l.mu.Unlock()
		if after {
			if n := len(l.additions.later); n+len(bodies) > maxLater {
				return protocol.Errorf(protocol.CodeRateLimited, "%d events wait for the end of the turn already; at most %d can.", n, maxLater)
			}
			l.additions.later = append(l.additions.later, bodies...)
			return nil
		}
		if n := len(l.additions.waiting); n+len(bodies) > maxAdditions {
			return protocol.Errorf(protocol.CodeRateLimited, "%d events wait to be added to the conversation already; at most %d can.", n, maxAdditions)
		}
		l.additions.waiting = append(l.additions.waiting, bodies...)
		return nil
	}
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
		_, ticket, err := l.append(ctx, a.waiting[0], byHost())
		if err != nil {
			return n, err
		}
		a.entered = append(a.entered, addition{a.waiting[0], ticket})
		a.waiting = a.waiting[1:]
		n++
	}
	a.waiting = nil
	return n, nil
}

// lost has wait again what was lost with what could not be stored. It runs on the
// publisher's writer. mu is held.
func (a *additions) lost() {
	var again []protocol.Body
	for _, e := range a.entered {
		if !e.ticket.Durable() {
			again = append(again, e.body)
		}
	}
	a.waiting, a.entered = append(again, a.waiting...), nil
}

// Control appends a control event on the host's behalf, at once, also while a turn
// runs. It returns when the event is durable.
func (l *Lane) Control(ctx context.Context, body protocol.Body) (protocol.Event, error) {
	switch body.(type) {
	case *protocol.Custom, *protocol.Label, *protocol.SkillIndexSnapshot, *protocol.SkillIndexDelta:
	default:
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
