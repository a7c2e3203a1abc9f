package lane

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/host/publish"
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

// live gives the queues that are not empty, as clients see them.
func (q *queues) live() []protocol.LiveQueue {
	var out []protocol.LiveQueue
	for _, name := range []protocol.QueueName{protocol.QueueSteer, protocol.QueueFollowUp} {
		if k := q.named(name); len(k.items) > 0 || k.paused {
			out = append(out, protocol.LiveQueue{Queue: name, Items: slices.Clone(k.items), Paused: k.paused, UpdateID: k.update})
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
func (l *Lane) sendBusy(ctx context.Context, c Caller, says hook.PromptAnswer, busy WhenBusy) (*protocol.Sent, *publish.Ticket, error) {
	name := protocol.QueueFollowUp
	switch busy {
	case BusyFollowUp, "":
	case BusySteer:
		name = protocol.QueueSteer
	case BusyReject:
		if l.stopping {
			return nil, nil, errStopping()
		}
		return nil, nil, protocol.Errorf(protocol.CodeRuntimeBusy, "A turn is running; wait for its end, or queue the message.")
	}
	q := l.queues.named(name)
	if len(q.items) >= protocol.MaxQueueItems {
		return nil, nil, protocol.Errorf(protocol.CodeRateLimited, "%d messages wait already; take one back or wait for the turn.", len(q.items))
	}
	item := protocol.QueueItem{ID: protocol.NewItemID(l.cfg.Rand), Content: says.Content, ClientID: c.Client, TS: l.cfg.Now().UnixMilli(), Context: texts(says.Notes)}
	ticket, err := l.writeQueue(ctx, c.author(), name, append(slices.Clone(q.items), item), q.paused)
	if err != nil {
		return nil, nil, err
	}
	return &protocol.Sent{ItemID: item.ID, TurnID: l.turn.id}, ticket, nil
}

// maxQueueBytes bounds the texts that wait in one queue, in bytes: all of them
// stand in one event.
const maxQueueBytes = 2 << 20

// writeQueue replaces a queue. mu is held.
func (l *Lane) writeQueue(ctx context.Context, a author, name protocol.QueueName, items []protocol.QueueItem, paused bool) (*publish.Ticket, error) {
	q := l.queues.named(name)
	size := 0
	for _, it := range items {
		for _, b := range it.Content {
			size += len(b.Text)
		}
		for _, text := range it.Context {
			size += len(text)
		}
	}
	if size > maxQueueBytes {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "The messages that wait have more than %d MiB of text together; wait for the turn, or put the text into a file.", maxQueueBytes>>20)
	}
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

// pause stops the queues in which messages wait; the ticket is of the last update,
// nil when none was to be paused. mu is held.
func (l *Lane) pause() (last *publish.Ticket, err error) {
	for _, name := range []protocol.QueueName{protocol.QueueSteer, protocol.QueueFollowUp} {
		if q := l.queues.named(name); len(q.items) > 0 && !q.paused {
			if last, err = l.writeQueue(context.Background(), byHost(), name, q.items, true); err != nil {
				return nil, err
			}
		}
	}
	return last, nil
}

// unpause lets the queues go on, for a message of a client. mu is held.
func (l *Lane) unpause(ctx context.Context, client protocol.ClientID) error {
	for _, name := range []protocol.QueueName{protocol.QueueSteer, protocol.QueueFollowUp} {
		if q := l.queues.named(name); q.paused {
			if _, err := l.writeQueue(ctx, author{client: client}, name, q.items, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// resume lets the queues go on because somebody asked for it. The last update names
// the request, so that all are there when one that is repeated finds it; there is
// one also when none was paused. mu is held.
func (l *Lane) resume(ctx context.Context, a author) (*publish.Ticket, error) {
	if q := &l.queues.steer; q.paused {
		if _, err := l.writeQueue(ctx, author{client: a.client}, protocol.QueueSteer, q.items, false); err != nil {
			return nil, err
		}
	}
	return l.writeQueue(ctx, a, protocol.QueueFollowUp, l.queues.followUp.items, false)
}

// Steer puts a message into the running turn, or sends it when there is none. A
// turn id that is not the running one fails with conflict.
func (l *Lane) Steer(ctx context.Context, c Caller, id protocol.TurnID, content []protocol.Block) (*protocol.Sent, error) {
	return l.Send(ctx, c, Message{Content: content, Busy: BusySteer, turn: id})
}

// RewriteQueue replaces the items of a queue that the client has seen as
// replaces. New items may be added without an id.
func (l *Lane) RewriteQueue(ctx context.Context, c Caller, name protocol.QueueName, replaces protocol.EventID, items []protocol.QueueItem) error {
	if name != protocol.QueueSteer && name != protocol.QueueFollowUp {
		return protocol.About("queue", "", protocol.CodeInvalidRequest, "There is no queue %q; it can be steer or follow_up.", name)
	}
	if len(items) > protocol.MaxQueueItems {
		return protocol.About("items", "", protocol.CodeInvalidRequest, "A queue holds at most %d messages.", protocol.MaxQueueItems)
	}
	for i, it := range items {
		if err := l.checkContent(fmt.Sprintf("items[%d].content", i), it.Content); err != nil {
			return err
		}
	}
	asked, err := l.askRewrite(ctx, name, items)
	if err != nil {
		return err
	}
	if len(items) > 0 {
		release, err := l.keepMark()
		if err != nil {
			return err
		}
		defer release()
	} else {
		defer l.settleMark()
	}
	if err := l.lock(ctx); err != nil {
		return err
	}
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
	for i, it := range items {
		old, ok := known[it.ID]
		switch {
		case ok:
			if says, ok := asked[i]; ok {
				old.Content, old.Context = says.Content, texts(says.Notes)
			} else {
				old.Content = it.Content
			}
			next = append(next, old)
		case it.ID == "":
			it.ID, it.ClientID, it.TS, it.Context = protocol.NewItemID(l.cfg.Rand), c.Client, l.cfg.Now().UnixMilli(), nil
			if says, ok := asked[i]; ok {
				it.Content, it.Context = says.Content, texts(says.Notes)
			}
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

// askRewrite asks the hooks of the messages of a rewritten queue that are new or that
// have been changed; it gives what they say by the place of the message.
func (l *Lane) askRewrite(ctx context.Context, name protocol.QueueName, items []protocol.QueueItem) (map[int]hook.PromptAnswer, error) {
	chain := l.chainNow(ctx)
	if !chain.AsksPrompts() {
		return nil, nil
	}
	l.mu.Lock()
	now := l.queues.named(name).items
	l.mu.Unlock()
	asked := map[int]hook.PromptAnswer{}
	for i, it := range items {
		same := func(other protocol.QueueItem) bool {
			return it.ID != "" && other.ID == it.ID && reflect.DeepEqual(other.Content, it.Content)
		}
		if slices.ContainsFunc(now, same) {
			continue
		}
		says, err := l.askPrompt(ctx, chain, hook.Prompt{Content: it.Content, Source: "queue", Busy: true})
		if err != nil {
			return nil, err
		}
		if says.Handled {
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s takes this message itself; send it instead of changing the queue.", says.From)
		}
		asked[i] = says
	}
	return asked, nil
}

// texts are the texts of notes.
func texts(notes []hook.Note) (out []string) {
	for _, n := range notes {
		out = append(out, n.Text)
	}
	return out
}

// ResumeQueue lets a paused queue go on; when no turn runs, its first message
// begins one. It returns when that is durable.
func (l *Lane) ResumeQueue(ctx context.Context, c Caller) error {
	if n, _ := l.Waiting(); n > 0 { // the mark may still say that the last host ended as it should
		release, err := l.keepMark()
		if err != nil {
			return err
		}
		defer release()
	}
	a := c.author()
	return l.goOn(ctx, &a)
}

// goOn begins a turn with the first message that waits, when none runs. With an
// author, paused queues go on first.
func (l *Lane) goOn(ctx context.Context, resume *author) error {
	for {
		l.mu.Lock()
		if err := l.writable(); err != nil {
			l.mu.Unlock()
			return err
		}
		if wait := l.ending(); wait != nil {
			l.mu.Unlock()
			if err := await(ctx, wait); err != nil {
				return err
			}
			continue
		}
		if l.turn != nil {
			var ticket *publish.Ticket
			var err error
			if resume != nil {
				ticket, err = l.resume(ctx, *resume)
			}
			l.mu.Unlock()
			return waitFor(ctx, ticket, err)
		}
		if l.stopping {
			l.mu.Unlock()
			return errStopping()
		}
		meta := l.meta
		l.mu.Unlock()
		setup, err := l.ready(ctx, meta, Message{})
		if err != nil {
			return err
		}
		ticket, t, err := l.beginQueued(ctx, resume, setup)
		if t == nil {
			setup.Close()
		}
		if errors.Is(err, errBusy) {
			continue
		}
		if err = waitFor(ctx, ticket, err); err == nil {
			t.awaitAnnounced(ctx)
		}
		return err
	}
}

// waitFor returns when what a ticket stands for is durable; nil waits for
// nothing.
func waitFor(ctx context.Context, ticket *publish.Ticket, err error) error {
	if err != nil || ticket == nil {
		return err
	}
	return ticket.Wait(ctx)
}

// beginQueued starts a turn with the first message that waits; the turn is nil when there is
// none.
func (l *Lane) beginQueued(ctx context.Context, resume *author, setup *Setup) (ticket *publish.Ticket, t *turn, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn != nil || l.moving != nil {
		return nil, nil, errBusy
	}
	if err := l.begins(); err != nil {
		return nil, nil, err
	}
	if resume != nil {
		if ticket, err = l.resume(ctx, *resume); err != nil {
			return nil, nil, err
		}
	}
	if !l.queues.waiting() {
		return ticket, nil, nil
	}
	t, err = l.newTurn(ctx, setup)
	if err != nil {
		return nil, nil, err
	}
	if _, err = l.appendWaiting(ctx); err == nil {
		l.pub.Together(func() { // whoever sees the message stored sees its turn run
			if t.prompt, ticket, err = l.takeNext(ctx); err == nil {
				l.start(t, runtime.Execute)
			}
		})
	}
	if err != nil {
		t.cancel(err)
		return nil, nil, err
	}
	return ticket, t, nil
}

// takeSteer appends all steering messages that wait; the ticket is of the last.
// mu is held.
func (l *Lane) takeSteer(ctx context.Context) (n int, last *publish.Ticket, err error) {
	for len(l.queues.steer.items) > 0 && !l.queues.steer.paused {
		if last, err = l.takeItem(ctx, &l.queues.steer, protocol.SourceSteer); err != nil {
			return n, nil, err
		}
		n++
	}
	return n, last, nil
}

// takeNext appends the next message that opens a turn: steering that came too
// late first. It gives what the message says, nil when there is none. mu is held.
func (l *Lane) takeNext(ctx context.Context) ([]protocol.Block, *publish.Ticket, error) {
	late := l.queues.steer.items
	if n, ticket, err := l.takeSteer(ctx); err != nil || n > 0 {
		var content []protocol.Block
		for _, it := range late {
			content = append(content, it.Content...)
		}
		return content, ticket, err
	}
	if q := &l.queues.followUp; len(q.items) > 0 && !q.paused {
		content := q.items[0].Content
		ticket, err := l.takeItem(ctx, q, protocol.SourceFollowUp)
		return content, ticket, err
	}
	return nil, nil, nil
}

// waiting says whether takeNext would find a message.
func (q *queues) waiting() bool {
	return len(q.steer.items) > 0 && !q.steer.paused || len(q.followUp.items) > 0 && !q.followUp.paused
}

// takeItem appends the first item of a queue as a message, which is what takes
// it. mu is held.
func (l *Lane) takeItem(ctx context.Context, q *queue, source protocol.Source) (*publish.Ticket, error) {
	it := q.items[0]
	for _, text := range it.Context {
		if _, _, err := l.append(ctx, noteBody(text), byHost()); err != nil {
			return nil, err
		}
	}
	m := protocol.Message{Role: protocol.RoleUser, Content: it.Content, Meta: &protocol.MessageMeta{Source: source, QueueItemID: it.ID}}
	_, ticket, err := l.append(ctx, &protocol.MessageBody{Message: m}, author{client: it.ClientID})
	if err != nil {
		return nil, err
	}
	q.take(it.ID)
	return ticket, nil
}
