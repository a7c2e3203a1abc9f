package queue

import (
	"context"

	"scorel/internal/host/lane/addition"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// TakeSteer appends all steering messages that wait, and returns how many that were; the
// ticket is of the last. The journal is locked.
func (q *Queues) TakeSteer(ctx context.Context) (n int, last *publish.Ticket, err error) {
	for q.steer.ready() {
		if last, err = q.takeItem(ctx, &q.steer, protocol.SourceSteer); err != nil {
			return n, nil, err
		}
		n++
	}
	return n, last, nil
}

// TakeNext appends the next message that opens a turn: steering that came too late first.
// It returns what the message says, nil when there is none. The journal is locked.
func (q *Queues) TakeNext(ctx context.Context) ([]protocol.Block, *publish.Ticket, error) {
	late := q.steer.items
	if n, ticket, err := q.TakeSteer(ctx); err != nil || n > 0 {
		var content []protocol.Block
		for _, it := range late {
			content = append(content, it.Content...)
		}
		return content, ticket, err
	}
	if q.followUp.ready() {
		content := q.followUp.items[0].Content
		ticket, err := q.takeItem(ctx, &q.followUp, protocol.SourceFollowUp)
		return content, ticket, err
	}
	return nil, nil, nil
}

// Next returns whose message TakeNext would append first, "" when there is none. The journal is
// locked.
func (q *Queues) Next() protocol.ClientID {
	for _, k := range []*queue{&q.steer, &q.followUp} {
		if k.ready() {
			return k.items[0].ClientID
		}
	}
	return ""
}

// takeItem appends the first item of a queue as a message, which is what takes it. The
// journal is locked.
func (q *Queues) takeItem(ctx context.Context, k *queue, source protocol.Source) (*publish.Ticket, error) {
	it := k.items[0]
	for _, text := range it.Context {
		if _, _, err := q.j.Append(ctx, addition.NoteBody(text), journal.ByHost()); err != nil {
			return nil, err
		}
	}
	meta := protocol.MessageMeta{Source: source}
	if it.Meta != nil {
		meta = *it.Meta
	}
	meta.QueueItemID = it.ID
	m := protocol.Message{Role: protocol.RoleUser, Content: it.Content, Meta: &meta}
	_, ticket, err := q.j.Append(ctx, &protocol.MessageBody{Message: m}, journal.Author{Client: it.ClientID})
	if err != nil {
		return nil, err
	}
	k.take(it.ID)
	return ticket, nil
}
