package queue

import (
	"context"
	"io"
	"slices"
	"time"

	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// Queues are the messages that wait in a session, as the log has them. The journal's lock
// guards them.
type Queues struct {
	j    *journal.Journal
	now  func() time.Time
	rand io.Reader
	pair
}

// pair are the two queues.
type pair struct{ steer, followUp queue }

// queue is one of them. update is the newest queue_update event.
type queue struct {
	items  []protocol.QueueItem
	paused bool
	update protocol.EventID
}

// New returns the queues of a session as its log has them.
func New(ctx context.Context, j *journal.Journal, now func() time.Time, rand io.Reader) (*Queues, error) {
	p, err := fold(ctx, j.Index())
	return &Queues{j: j, now: now, rand: rand, pair: p}, err
}

// Refold takes over what the log has, when something that had entered is lost; where that
// cannot be read the queues stay as they are. The journal is locked.
func (q *Queues) Refold(ctx context.Context) {
	if p, err := fold(ctx, q.j.Index()); err == nil {
		q.pair = p
	}
}

func (q *pair) named(name protocol.QueueName) *queue {
	if name == protocol.QueueSteer {
		return &q.steer
	}
	return &q.followUp
}

// names are the queues in the order in which they are taken from.
var names = []protocol.QueueName{protocol.QueueSteer, protocol.QueueFollowUp}

// Items returns what waits in a queue; nobody changes it. The journal is locked.
func (q *Queues) Items(name protocol.QueueName) []protocol.QueueItem { return q.named(name).items }

// Count says how many messages wait. The journal is locked.
func (q *Queues) Count() int { return len(q.steer.items) + len(q.followUp.items) }

// Steers reports whether steering waits that is to be taken. The journal is locked.
func (q *Queues) Steers() bool { return q.steer.ready() }

// Ready reports whether [Queues.TakeNext] would find a message. The journal is locked.
func (q *Queues) Ready() bool { return q.steer.ready() || q.followUp.ready() }

func (q *queue) ready() bool { return len(q.items) > 0 && !q.paused }

// Live returns the queues that are not empty, as clients see them. The journal is locked.
func (q *Queues) Live() []protocol.LiveQueue {
	var out []protocol.LiveQueue
	for _, name := range names {
		if k := q.named(name); len(k.items) > 0 || k.paused {
			out = append(out, protocol.LiveQueue{Queue: name, Items: slices.Clone(k.items), Paused: k.paused, UpdateID: k.update})
		}
	}
	return out
}
