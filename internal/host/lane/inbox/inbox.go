package inbox

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// Bounds of what waits in a session; a further event is refused.
const (
	MaxWaiting = 64
	MaxText    = 512 << 10 // bytes of all that wait
)

// Inbox has the events of channels that wait in one session.
type Inbox struct {
	j         *journal.Journal
	rand      io.Reader
	waiting   []*protocol.ChannelInject
	message   protocol.EventID // the message that takes them; "" while none waits
	taken     *publish.Ticket  // of the newest message that took some, nil for none
	listening atomic.Int32
}

// New returns the inbox of a session as its log has it.
func New(ctx context.Context, j *journal.Journal, rand io.Reader) (*Inbox, error) {
	b := &Inbox{j: j, rand: rand}
	var err error
	b.waiting, b.message, err = fold(ctx, j.Index())
	return b, err
}

// fold returns the events that no message has taken, the newest, and the message that is to
// take them.
func fold(ctx context.Context, index *session.Index) (waiting []*protocol.ChannelInject, message protocol.EventID, err error) {
	for e, err := range index.OfType(ctx, protocol.TypeChannelInject) {
		if err != nil {
			return nil, "", err
		}
		in, ok := e.Body.(*protocol.ChannelInject)
		if !ok || in.Content == "" || in.MessageID.Check() != nil || index.Has(in.MessageID) {
			continue
		}
		waiting, message = append(waiting, in), in.MessageID
	}
	waiting = waiting[max(0, len(waiting)-MaxWaiting):]
	for size(waiting) > MaxText { // a log of another version
		waiting = waiting[1:]
	}
	if len(waiting) == 0 {
		message = ""
	}
	return waiting, message, nil
}

func size(waiting []*protocol.ChannelInject) (n int) {
	for _, in := range waiting {
		n += len(in.Content)
	}
	return n
}

// Put appends an event, whose MessageID is set; it waits from then on. The ticket says when
// it is durable. The journal is locked.
func (b *Inbox) Put(ctx context.Context, in *protocol.ChannelInject) (*publish.Ticket, error) {
	if len(b.waiting) >= MaxWaiting || size(b.waiting)+len(in.Content) > MaxText {
		return nil, protocol.Errorf(protocol.CodeRateLimited, "%d events of channels wait already, which is as much as waits; they are taken with the next turn.", len(b.waiting))
	}
	if in.MessageID = b.message; in.MessageID == "" {
		in.MessageID = protocol.NewEventID(b.rand)
	}
	_, ticket, err := b.j.Append(ctx, in, journal.ByHost())
	if err != nil {
		return nil, err
	}
	b.waiting, b.message = append(b.waiting, in), in.MessageID
	return ticket, nil
}

// Count returns how many events wait. The journal is locked.
func (b *Inbox) Count() int { return len(b.waiting) }

// Unsettled returns how many events would wait in a later host, if this one was killed now:
// those that wait, and one when those that were taken last may not be durably so. The journal
// is locked.
func (b *Inbox) Unsettled() int {
	if b.taken != nil && !b.taken.Durable() {
		return len(b.waiting) + 1
	}
	return len(b.waiting)
}

// Take appends all that wait as one message, and returns what it says, nil when none waits.
// The journal is locked.
func (b *Inbox) Take(ctx context.Context) ([]protocol.Block, *publish.Ticket, error) {
	if len(b.waiting) == 0 {
		return nil, nil, nil
	}
	m := protocol.Message{Role: protocol.RoleUser, Meta: &protocol.MessageMeta{Source: protocol.SourceChannel}}
	var names []string
	for _, in := range b.waiting {
		m.Content = append(m.Content, protocol.Text(in.Content))
		if !slices.Contains(names, in.Channel) {
			names = append(names, in.Channel)
		}
	}
	m.Meta.Channel = strings.Join(names, ", ")
	_, ticket, err := b.j.Append(ctx, &protocol.MessageBody{Message: m}, journal.Author{Client: protocol.HostClient, ID: b.message})
	if err != nil {
		return nil, nil, err
	}
	b.waiting, b.message, b.taken = nil, "", ticket
	return m.Content, ticket, nil
}

// Refold takes over the state of the log when what had entered is lost. The journal is locked.
func (b *Inbox) Refold(ctx context.Context) {
	waiting, message, err := fold(ctx, b.j.Index())
	if err != nil {
		b.j.Report("read the events of channels: " + err.Error())
		return
	}
	b.waiting, b.message, b.taken = waiting, message, nil
}

// Listen says that a channel may push into the session, until stop, which is called once.
func (b *Inbox) Listen() (stop func()) {
	b.listening.Add(1)
	return func() { b.listening.Add(-1) }
}

// Listening reports whether a channel may push into the session. It waits for nobody.
func (b *Inbox) Listening() bool { return b.listening.Load() > 0 }
