package panel

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/framed"
)

// Draft is the editor, into which messages that wait are taken back.
type Draft interface {
	Text() string
	Set(text string) tea.Cmd
}

// Queue shows and changes the messages that wait.
type Queue struct {
	Base
	editor Draft
	edits  *queueEdits
}

// NewQueue returns the panel of the messages that wait.
func NewQueue(b Base, e Draft) *Queue { return &Queue{Base: b, editor: e, edits: &queueEdits{}} }

// Reset forgets the changes of the queues of the session before.
func (x *Queue) Reset() { x.edits = &queueEdits{} }

// Count counts the messages that wait.
func (x *Queue) Count() int {
	n := 0
	for _, q := range x.Session.Live().Queues {
		n += len(q.Items)
	}
	return n
}

// Paused reports whether messages wait until the person goes on: the turn before was cancelled
// or has failed.
func (x *Queue) Paused() bool {
	return !x.Session.Live().Running && slices.ContainsFunc(x.Session.Live().Queues, func(q protocol.LiveQueue) bool { return q.Paused && len(q.Items) > 0 })
}

// Resume has what waits sent, where a cancelled turn has left it.
func (x *Queue) Resume() tea.Cmd {
	if !x.Paused() {
		return nil
	}
	return act(x.Base, &protocol.ResumeQueue{}, "")
}

// contentText returns the text of a message's content; payloads are named.
func contentText(blocks []protocol.Block) string {
	var parts []string
	for _, b := range blocks {
		switch b.Type {
		case protocol.BlockText:
			parts = append(parts, b.Text)
		case protocol.BlockImage:
			parts = append(parts, "[image]")
		case protocol.BlockFile:
			parts = append(parts, "[file "+b.Name+"]")
		}
	}
	return strings.Join(parts, " ")
}

// typedText returns what of a message was typed. The files that it names with @ are attached
// again when it is sent; false says that it has something else, which would be lost.
func typedText(blocks []protocol.Block) (text string, ok bool) {
	for i, b := range blocks {
		name := b.Name
		switch {
		case i == 0 && b.Type == protocol.BlockText:
			text = b.Text
			continue
		case b.Type == protocol.BlockText:
			name, _, _ = framed.FileOf(b.Text)
		}
		if name == "" || !strings.Contains(text, "@"+name) && !strings.Contains(text, `@"`+name) {
			return "", false
		}
	}
	return text, true
}

// Open lets the person edit, reorder and delete what waits for the end of the turn.
func (x *Queue) Open() tea.Cmd {
	var q *protocol.LiveQueue
	for i := range x.Session.Live().Queues {
		if l := &x.Session.Live().Queues[i]; len(l.Items) > 0 && (q == nil || l.Queue == protocol.QueueFollowUp) {
			q = l
		}
	}
	if q == nil {
		x.Toasts.Info("nothing waits")
		return nil
	}
	name := q.Queue
	p := &overlay.Picker{List: list.New(list.Config{Title: "Waiting messages", PickWord: "take back", Items: queueItems(*q), Can: list.Delete | list.Reorder | list.Edit, Confirm: "Delete %s?"})}
	p.OnPick = func(ids []string) tea.Cmd { return x.takeItem(name, protocol.ItemID(ids[0])) }
	p.OnOther = func(o list.Outcome) tea.Cmd {
		switch o.Kind {
		case list.Edited:
			p.Close()
			return x.takeItem(name, protocol.ItemID(o.IDs[0]))
		case list.Deleted:
			return x.rewrite(p, name, func(items []protocol.QueueItem) []protocol.QueueItem {
				return slices.DeleteFunc(items, func(it protocol.QueueItem) bool { return string(it.ID) == o.IDs[0] })
			})
		case list.Reordered:
			return x.rewrite(p, name, func(items []protocol.QueueItem) []protocol.QueueItem {
				slices.SortStableFunc(items, func(a, b protocol.QueueItem) int {
					return slices.Index(o.IDs, string(a.ID)) - slices.Index(o.IDs, string(b.ID))
				})
				return items
			})
		}
		return nil
	}
	return x.Overlays.Pick(p)
}

func queueItems(q protocol.LiveQueue) []list.Item {
	var items []list.Item
	for _, it := range q.Items {
		items = append(items, list.Item{ID: string(it.ID), Title: display.Line(contentText(it.Content)), Right: age(time.Now(), it.TS)})
	}
	return items
}

// queue returns a queue as it is now, nil when nothing waits in it.
func (x *Queue) queue(name protocol.QueueName) *protocol.LiveQueue {
	for i := range x.Session.Live().Queues {
		if q := &x.Session.Live().Queues[i]; q.Queue == name && len(q.Items) > 0 {
			return q
		}
	}
	return nil
}

// maxQueueEdits bounds the changes of queues that wait for the one before them.
const maxQueueEdits = 64

// queueEdit says what a change makes of a queue, as it is when the change's turn comes;
// nil is nothing. done is called with the answer of the host.
type queueEdit func() (q *protocol.LiveQueue, items []protocol.QueueItem, done func(err error) tea.Cmd)

// queueEdits are changes of queues in their order. One begins when the queue is known as
// the one before has left it: the host refuses a change of another.
type queueEdits struct {
	waiting []queueEdit
	busy    bool             // one is on its way
	left    protocol.EventID // the update that the last one has replaced
}

// change makes a change after those before it.
func (x *Queue) change(e queueEdit) tea.Cmd {
	if len(x.edits.waiting) >= maxQueueEdits {
		x.Toasts.Warn("too many changes of what waits; try again when the host has answered")
		return nil
	}
	x.edits.waiting = append(x.edits.waiting, e)
	return x.Next()
}

// Next begins the next change when it can be.
func (x *Queue) Next() tea.Cmd {
	edits := x.edits
	for len(edits.waiting) > 0 && !edits.busy && !x.knows(edits.left) {
		e := edits.waiting[0]
		edits.waiting = edits.waiting[1:]
		q, items, done := e()
		if q == nil {
			continue
		}
		edits.busy, edits.left = true, q.UpdateID
		return link.Ask(x.Link, x.Session.ID(), &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: items}, func(_ *protocol.Sent, err error) tea.Cmd {
			if err != nil {
				x.Toasts.Fail(err)
			}
			edits.busy = false
			if err != nil {
				edits.left = ""
			}
			return tea.Batch(done(err), x.Next())
		})
	}
	return nil
}

// knows says that a queue is known as an update has made it.
func (x *Queue) knows(update protocol.EventID) bool {
	return update != "" && slices.ContainsFunc(x.Session.Live().Queues, func(q protocol.LiveQueue) bool { return q.UpdateID == update })
}

// rewrite changes the queue that a picker shows. What has changed meanwhile is shown.
func (x *Queue) rewrite(p *overlay.Picker, name protocol.QueueName, change func(items []protocol.QueueItem) []protocol.QueueItem) tea.Cmd {
	return x.change(func() (*protocol.LiveQueue, []protocol.QueueItem, func(error) tea.Cmd) {
		q := x.queue(name)
		if q == nil {
			p.Close()
			return nil, nil, nil
		}
		items := change(slices.Clone(q.Items))
		return q, items, func(err error) tea.Cmd {
			now := protocol.LiveQueue{Items: items}
			if q := x.queue(name); err != nil && q != nil {
				now = *q
			}
			switch {
			case len(now.Items) == 0:
				p.Close()
			case len(x.edits.waiting) == 0: // else the next one shows what comes of it
				p.List.SetItems(queueItems(now))
			}
			return nil
		}
	})
}

// TakeBack takes the newest message that waits back into the editor.
func (x *Queue) TakeBack() tea.Cmd {
	return x.take(func() (*protocol.LiveQueue, int) {
		for _, name := range [...]protocol.QueueName{protocol.QueueFollowUp, protocol.QueueSteer} {
			if q := x.queue(name); q != nil {
				return q, len(q.Items) - 1
			}
		}
		x.Toasts.Info("nothing waits")
		return nil, 0
	})
}

// takeItem takes a message out of its queue and into the editor.
func (x *Queue) takeItem(name protocol.QueueName, id protocol.ItemID) tea.Cmd {
	return x.take(func() (*protocol.LiveQueue, int) {
		if q := x.queue(name); q != nil {
			if i := slices.IndexFunc(q.Items, func(it protocol.QueueItem) bool { return it.ID == id }); i >= 0 {
				return q, i
			}
		}
		x.Toasts.Info("the turn has taken it meanwhile")
		return nil, 0
	})
}

// take takes the message that which finds, if any, into the editor.
func (x *Queue) take(which func() (q *protocol.LiveQueue, i int)) tea.Cmd {
	return x.change(func() (*protocol.LiveQueue, []protocol.QueueItem, func(error) tea.Cmd) {
		q, i := which()
		if q == nil {
			return nil, nil, nil
		}
		text, ok := typedText(q.Items[i].Content)
		if !ok {
			x.Toasts.Warn("it has an attachment that the editor cannot take back; it can be moved and deleted where it waits")
			return nil, nil, nil
		}
		return q, slices.Delete(slices.Clone(q.Items), i, i+1), func(err error) tea.Cmd {
			if err != nil {
				return nil
			}
			if typed := x.editor.Text(); strings.TrimSpace(typed) != "" {
				text += "\n" + typed
			}
			return x.editor.Set(text)
		}
	})
}
