package lane

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"scorel/internal/engine/hook"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// RewriteQueue replaces the items of a queue that the client has seen as replaces. New
// items may be added without an id.
func (l *Lane) RewriteQueue(ctx context.Context, c Caller, name protocol.QueueName, replaces protocol.EventID, items []protocol.QueueItem) error {
	if name != protocol.QueueSteer && name != protocol.QueueFollowUp {
		return protocol.About("queue", "", protocol.CodeInvalidRequest, "There is no queue %q; it can be steer or follow_up.", name)
	}
	if len(items) > protocol.MaxQueueItems {
		return protocol.About("items", "", protocol.CodeInvalidRequest, "A queue holds at most %d messages.", protocol.MaxQueueItems)
	}
	for i, it := range items {
		if err := l.payloads.check(fmt.Sprintf("items[%d].content", i), it.Content); err != nil {
			return err
		}
	}
	asked, err := l.askRewrite(ctx, name, items)
	if err != nil {
		return err
	}
	if len(items) > 0 {
		release, err := l.pending.Keep()
		if err != nil {
			return err
		}
		defer release()
	} else {
		defer l.pending.Clear()
	}
	var ticket *publish.Ticket
	err = l.j.Write(ctx, func() (err error) {
		if err := l.j.Writable(); err != nil {
			return err
		}
		ticket, err = l.queues.Rewrite(ctx, c, name, replaces, items, asked)
		l.stir()
		return err
	})
	return journal.WaitFor(ctx, ticket, err)
}

// askRewrite asks the hooks of the messages of a rewritten queue that are new or that
// have been changed; it returns what they say by the place of the message.
func (l *Lane) askRewrite(ctx context.Context, name protocol.QueueName, items []protocol.QueueItem) (map[int]hook.PromptAnswer, error) {
	chain := l.chainNow(ctx)
	if !chain.AsksPrompts() {
		return nil, nil
	}
	l.j.Lock()
	now := l.queues.Items(name)
	l.j.Unlock()
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

// ResumeQueue lets a paused queue continue; when no turn runs, its first message
// begins one. It returns when that is durable.
func (l *Lane) ResumeQueue(ctx context.Context, c Caller) error {
	if n, _ := l.Waiting(); n > 0 { // the file may still say that the last host ended as it should
		release, err := l.pending.Keep()
		if err != nil {
			return err
		}
		defer release()
	}
	a := c.Author()
	return l.resume(ctx, &a)
}

// Waiting counts the messages and the events of channels that wait, and reports whether one
// of them would begin a turn, because it is in no paused queue.
func (l *Lane) Waiting() (n int, ready bool) {
	l.j.Lock()
	defer l.j.Unlock()
	return l.queues.Count() + l.inbox.Count(), l.queues.Ready() || l.inbox.Count() > 0
}

// Pause stops the queues in which messages wait, until somebody resumes them or
// sends. It returns when that is durable.
func (l *Lane) Pause(ctx context.Context) error {
	ticket, err := l.pause()
	return journal.WaitFor(ctx, ticket, err)
}

func (l *Lane) pause() (*publish.Ticket, error) {
	l.j.Lock()
	defer l.j.Unlock()
	if err := l.j.Writable(); err != nil {
		return nil, err
	}
	return l.queues.Pause()
}
