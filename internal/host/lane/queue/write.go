package queue

import (
	"context"
	"slices"

	"scorel/internal/engine/hook"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// maxBytes bounds the texts that wait in one queue, in bytes: all of them are in one
// event.
const maxBytes = 2 << 20

// Append has a message wait as the last of a queue; meta is nil for a person's. The journal is
// locked.
func (q *Queues) Append(ctx context.Context, c journal.Caller, name protocol.QueueName, says hook.PromptAnswer, meta *protocol.MessageMeta) (protocol.ItemID, *publish.Ticket, error) {
	k := q.named(name)
	if len(k.items) >= protocol.MaxQueueItems {
		return "", nil, protocol.Errorf(protocol.CodeRateLimited, "%d messages wait already; take one back or wait for the turn.", len(k.items))
	}
	item := protocol.QueueItem{ID: protocol.NewItemID(q.rand), Content: says.Content, ClientID: c.Client, TS: q.now().UnixMilli(), Context: texts(says.Notes), Meta: meta}
	ticket, err := q.write(ctx, c.Author(), name, append(slices.Clone(k.items), item), k.paused)
	return item.ID, ticket, err
}

// Rewrite replaces the items of a queue that the client has seen as replaces. New items
// may be added without an id. Asked is what hooks say of items, by their places. The
// journal is locked.
func (q *Queues) Rewrite(ctx context.Context, c journal.Caller, name protocol.QueueName, replaces protocol.EventID, items []protocol.QueueItem, asked map[int]hook.PromptAnswer) (*publish.Ticket, error) {
	k := q.named(name)
	if replaces != k.update {
		return nil, protocol.Errorf(protocol.CodeConflict, "The queue has changed since you looked; look at it again.")
	}
	known := map[protocol.ItemID]protocol.QueueItem{}
	for _, it := range k.items {
		known[it.ID] = it
	}
	next := make([]protocol.QueueItem, 0, len(items))
	for i, it := range items {
		old, ok := known[it.ID]
		switch {
		case ok:
			old.Content = it.Content
			it = old
		case it.ID == "":
			it.ID, it.ClientID, it.TS, it.Context, it.Meta = protocol.NewItemID(q.rand), c.Client, q.now().UnixMilli(), nil, nil
		default: // taken in the meantime: it is a message already
			continue
		}
		if says, ok := asked[i]; ok {
			it.Content, it.Context = says.Content, texts(says.Notes)
		}
		next = append(next, it)
	}
	return q.write(ctx, c.Author(), name, next, k.paused && len(next) > 0)
}

// texts are the texts of notes.
func texts(notes []hook.Note) (out []string) {
	for _, n := range notes {
		out = append(out, n.Text)
	}
	return out
}

// write replaces a queue. The journal is locked.
func (q *Queues) write(ctx context.Context, a journal.Author, name protocol.QueueName, items []protocol.QueueItem, paused bool) (*publish.Ticket, error) {
	if size(items) > maxBytes {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "The messages that wait have more than %d MiB of text together; wait for the turn, or put the text into a file.", maxBytes>>20)
	}
	if items == nil {
		items = []protocol.QueueItem{}
	}
	k := q.named(name)
	e, ticket, err := q.j.Append(ctx, &protocol.QueueUpdate{Queue: name, Items: items, Paused: paused, Replaces: k.update, AnchorEventID: q.j.Leaf()}, a)
	if err != nil {
		return nil, err
	}
	*k = queue{items: items, paused: paused, update: e.ID}
	return ticket, nil
}

// size is how many bytes of text items have.
func size(items []protocol.QueueItem) (n int) {
	for _, it := range items {
		for _, b := range it.Content {
			n += len(b.Text)
		}
		for _, text := range it.Context {
			n += len(text)
		}
	}
	return n
}

// Pause stops the queues in which messages wait; the ticket is of the last update,
// nil when none was to be paused. The journal is locked.
func (q *Queues) Pause() (last *publish.Ticket, err error) {
	for _, name := range names {
		if k := q.named(name); k.ready() {
			if last, err = q.write(context.Background(), journal.ByHost(), name, k.items, true); err != nil {
				return nil, err
			}
		}
	}
	return last, nil
}

// Unpause lets the queues continue, for a message of a client. The journal is locked.
func (q *Queues) Unpause(ctx context.Context, client protocol.ClientID) error {
	for _, name := range names {
		if k := q.named(name); k.paused {
			if _, err := q.write(ctx, journal.Author{Client: client}, name, k.items, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// Resume lets the queues continue because somebody asked for it. The last update names
// the request, so that all are there when one that is repeated finds it; there is
// one also when none was paused. The journal is locked.
func (q *Queues) Resume(ctx context.Context, a journal.Author) (*publish.Ticket, error) {
	if k := &q.steer; k.paused {
		if _, err := q.write(ctx, journal.Author{Client: a.Client}, protocol.QueueSteer, k.items, false); err != nil {
			return nil, err
		}
	}
	return q.write(ctx, a, protocol.QueueFollowUp, q.followUp.items, false)
}
