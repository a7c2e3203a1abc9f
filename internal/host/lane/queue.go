package lane

import (
	"context"
	"slices"

	"scorel/internal/host/publish"
	"scorel/internal/runtime"
	"scorel/internal/session"
	"scorel/protocol"
)

// queues are the messages that wait, as the log has them.
type queues struct {
	steer, followUp queue
}

// queue is one of them. update is the newest queue_update event.
type queue struct {
	items  []protocol.QueueItem
	paused bool
	update protocol.EventID
}

func (q *queues) named(name protocol.QueueName) *queue {
	if name == protocol.QueueSteer {
		return &q.steer
	}
	return &q.followUp
}

// updates gives the queues that are not empty, as clients see them.
func (q *queues) updates() []protocol.QueueUpdate {
	var out []protocol.QueueUpdate
	for _, name := range []protocol.QueueName{protocol.QueueSteer, protocol.QueueFollowUp} {
		if k := q.named(name); len(k.items) > 0 || k.paused {
			out = append(out, protocol.QueueUpdate{Queue: name, Items: slices.Clone(k.items), Paused: k.paused})
		}
	}
	return out
}

// take drops an item that a message has taken.
func (q *queue) take(id protocol.ItemID) {
	q.items = slices.DeleteFunc(slices.Clone(q.items), func(it protocol.QueueItem) bool { return it.ID == id })
}

// foldQueues folds the queues over the whole log: the newest update of each,
// less the items that a message behind it has taken.
func foldQueues(ctx context.Context, index *session.Index) (queues, error) {
	var q queues
	for e, err := range index.OfType(ctx, protocol.TypeQueueUpdate) {
		if err != nil {
			return q, err
		}
		b, ok := e.Body.(*protocol.QueueUpdate)
		if !ok {
			continue
		}
		*q.named(b.Queue) = queue{items: b.Items, paused: b.Paused, update: e.ID}
	}
	if len(q.steer.items)+len(q.followUp.items) == 0 {
		return q, nil
	}
	for line, err := range index.After(ctx, q.firstSeq(index)) {
		if err != nil {
			return q, err
		}
		if line.Type != protocol.TypeMessage {
			continue
		}
		e, err := protocol.ParseEvent(line.Bytes)
		if err != nil {
			continue // damaged inside: it is no message for anybody
		}
		if m, ok := e.Message(); ok && m.Meta != nil && m.Meta.QueueItemID != "" {
			q.steer.take(m.Meta.QueueItemID)
			q.followUp.take(m.Meta.QueueItemID)
		}
	}
	return q, nil
}

// firstSeq is the seq of the older of the updates that still have items: items
// taken before an update are not in it, so only messages behind it count.
func (q *queues) firstSeq(index *session.Index) protocol.Seq {
	first := index.LastSeq()
	for _, k := range []*queue{&q.steer, &q.followUp} {
		if len(k.items) > 0 {
			first = min(first, index.SeqOf(k.update))
		}
	}
	return first
}

// sendBusy puts a message that came in during a turn where it belongs. mu is
// held.
func (l *Lane) sendBusy(ctx context.Context, c Caller, content []protocol.Block, busy WhenBusy) (*protocol.Sent, *publish.Ticket, error) {
	name := protocol.QueueFollowUp
	switch busy {
	case BusyFollowUp, "":
	case BusySteer:
		name = protocol.QueueSteer
	case BusyReject:
		return nil, nil, protocol.Errorf(protocol.CodeRuntimeBusy, "A turn is running; wait for its end, or queue the message.")
	default:
		return nil, nil, protocol.Errorf(protocol.CodeInvalidRequest, "whenBusy is %q; it can be followUp, steer or reject.", busy)
	}
	q := l.queues.named(name)
	if len(q.items) >= protocol.MaxQueueItems {
		return nil, nil, protocol.Errorf(protocol.CodeRateLimited, "%d messages wait already; take one back or wait for the turn.", len(q.items))
	}
	item := protocol.QueueItem{ID: protocol.NewItemID(l.cfg.Rand), Content: content, ClientID: c.Client, TS: l.cfg.Now().UnixMilli()}
	ticket, err := l.writeQueue(ctx, c.author(), name, append(slices.Clone(q.items), item), q.paused)
	if err != nil {
		return nil, nil, err
	}
	return &protocol.Sent{ItemID: item.ID, TurnID: l.turn.id}, ticket, nil
}

// writeQueue replaces a queue. mu is held.
func (l *Lane) writeQueue(ctx context.Context, a author, name protocol.QueueName, items []protocol.QueueItem, paused bool) (*publish.Ticket, error) {
	q := l.queues.named(name)
	if items == nil {
		items = []protocol.QueueItem{}
	}
	e, ticket, err := l.append(ctx, &protocol.QueueUpdate{Queue: name, Items: items, Paused: paused, Replaces: q.update, AnchorEventID: l.leaf}, a)
	if err != nil {
		return nil, err
	}
	*q = queue{items: items, paused: paused, update: e.ID}
	return ticket, nil
}

// pause stops the queues at the end of a run that did not complete. mu is held.
func (l *Lane) pause() {
	for _, name := range []protocol.QueueName{protocol.QueueSteer, protocol.QueueFollowUp} {
		if q := l.queues.named(name); len(q.items) > 0 && !q.paused {
			if _, err := l.writeQueue(context.Background(), byHost(), name, q.items, true); err != nil {
				l.cfg.Report("pause the queue: "+err.Error(), nil)
			}
		}
	}
}

// unpause lets the queues go on. mu is held.
func (l *Lane) unpause(ctx context.Context, c Caller) error {
	for _, name := range []protocol.QueueName{protocol.QueueSteer, protocol.QueueFollowUp} {
		if q := l.queues.named(name); q.paused {
			if _, err := l.writeQueue(ctx, author{client: c.Client}, name, q.items, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// Steer puts a message into the running turn, or sends it when there is none. A
// turn id that is not the running one fails with conflict.
func (l *Lane) Steer(ctx context.Context, c Caller, id protocol.TurnID, content []protocol.Block) (*protocol.Sent, error) {
	l.mu.Lock()
	wrong := id != "" && (l.turn == nil || l.turn.over || l.turn.id != id)
	l.mu.Unlock()
	if wrong {
		return nil, protocol.Errorf(protocol.CodeConflict, "The turn you meant has ended; send the message if it still applies.")
	}
	return l.Send(ctx, c, content, BusySteer, nil)
}

// RewriteQueue replaces the items of a queue that the client has seen as
// replaces. New items may be added without an id.
func (l *Lane) RewriteQueue(ctx context.Context, c Caller, name protocol.QueueName, replaces protocol.EventID, items []protocol.QueueItem) error {
	if name != protocol.QueueSteer && name != protocol.QueueFollowUp {
		return protocol.Errorf(protocol.CodeInvalidRequest, "There is no queue %q; it can be steer or follow_up.", name)
	}
	if len(items) > protocol.MaxQueueItems {
		return protocol.Errorf(protocol.CodeInvalidRequest, "A queue holds at most %d messages.", protocol.MaxQueueItems)
	}
	l.mu.Lock()
	if err := l.writable(); err != nil {
		l.mu.Unlock()
		return err
	}
	q := l.queues.named(name)
	if replaces != q.update {
		l.mu.Unlock()
		return protocol.Errorf(protocol.CodeConflict, "The queue has changed since you looked; look at it again.")
	}
	known := map[protocol.ItemID]protocol.QueueItem{}
	for _, it := range q.items {
		known[it.ID] = it
	}
	next := make([]protocol.QueueItem, 0, len(items))
	for _, it := range items {
		old, ok := known[it.ID]
		switch {
		case ok:
			old.Content = it.Content
			next = append(next, old)
		case it.ID == "":
			it.ID, it.ClientID, it.TS = protocol.NewItemID(l.cfg.Rand), c.Client, l.cfg.Now().UnixMilli()
			next = append(next, it)
		default: // taken in the meantime: it is a message already
		}
	}
	ticket, err := l.writeQueue(ctx, c.author(), name, next, q.paused && len(next) > 0)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return ticket.Wait(ctx)
}

// ResumeQueue lets a paused queue go on; when no turn runs, its first message
// begins one.
func (l *Lane) ResumeQueue(ctx context.Context, c Caller) error {
	l.mu.Lock()
	meta, idle := l.meta, l.turn == nil
	err := l.writable()
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if !idle {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.unpause(ctx, c)
	}
	setup, err := l.ready(ctx, meta)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn != nil {
		setup.Close()
		return l.unpause(ctx, c)
	}
	if err := l.unpause(ctx, c); err != nil {
		setup.Close()
		return err
	}
	t, err := l.newTurn(setup)
	if err != nil {
		setup.Close()
		return err
	}
	if took, err := l.takeNext(ctx); err != nil || !took {
		setup.Close()
		t.cancel(nil)
		return err
	}
	l.start(t, runtime.Execute)
	return nil
}

// takeSteer appends all steering messages that wait. mu is held.
func (l *Lane) takeSteer(ctx context.Context) (int, error) {
	n := 0
	for len(l.queues.steer.items) > 0 && !l.queues.steer.paused {
		if err := l.takeItem(ctx, &l.queues.steer, protocol.SourceSteer); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// takeNext appends the next message that opens a turn: steering that came too
// late first. mu is held.
func (l *Lane) takeNext(ctx context.Context) (bool, error) {
	if n, err := l.takeSteer(ctx); err != nil || n > 0 {
		return n > 0, err
	}
	if q := &l.queues.followUp; len(q.items) > 0 && !q.paused {
		return true, l.takeItem(ctx, q, protocol.SourceFollowUp)
	}
	return false, nil
}

// takeItem appends the first item of a queue as a message, which is what takes
// it. mu is held.
func (l *Lane) takeItem(ctx context.Context, q *queue, source protocol.Source) error {
	it := q.items[0]
	m := protocol.Message{Role: protocol.RoleUser, Content: it.Content, Meta: &protocol.MessageMeta{Source: source, QueueItemID: it.ID}}
	if _, _, err := l.append(ctx, &protocol.MessageBody{Message: m}, author{client: it.ClientID}); err != nil {
		return err
	}
	q.take(it.ID)
	return nil
}
