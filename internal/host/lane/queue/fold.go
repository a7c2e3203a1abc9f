package queue

import (
	"context"
	"slices"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// take drops an item that a message has taken.
func (q *queue) take(id protocol.ItemID) {
	q.items = slices.DeleteFunc(slices.Clone(q.items), func(it protocol.QueueItem) bool { return it.ID == id })
}

// fold folds the queues over the whole log: the newest update of each,
// less the items that a message after it has taken.
func fold(ctx context.Context, index *session.Index) (pair, error) {
	var q pair
	for e, err := range index.OfType(ctx, protocol.TypeQueueUpdate) {
		if err != nil {
			return q, err
		}
		b, ok := e.Body.(*protocol.QueueUpdate)
		if !ok {
			continue
		}
		if b.Queue != protocol.QueueSteer && b.Queue != protocol.QueueFollowUp {
			continue // of a later version
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
			continue // damaged inside: it is not a message for anybody
		}
		if m, ok := e.Message(); ok && m.Meta != nil && m.Meta.QueueItemID != "" {
			q.steer.take(m.Meta.QueueItemID)
			q.followUp.take(m.Meta.QueueItemID)
		}
	}
	return q, nil
}

// firstSeq is the seq of the older of the updates that still have items: items
// taken before an update are not in it, so only messages after it count.
func (q *pair) firstSeq(index *session.Index) protocol.Seq {
	first := index.LastSeq()
	for _, k := range []*queue{&q.steer, &q.followUp} {
		if len(k.items) > 0 {
			first = min(first, index.SeqOf(k.update))
		}
	}
	return first
}
