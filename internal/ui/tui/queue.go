package tui

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/status"
	"scorel/protocol"
	"scorel/protocol/display"
)

// askOrdered carries out a request of the session in the order of what was typed.
func askOrdered[R protocol.Response](m *Model, req protocol.Request, f func(m *Model, r R) tea.Cmd) tea.Cmd {
	return ordered(m, func(ctx context.Context, l *link) (R, error) {
		return client.Call[R](ctx, l.client, l.id, req)
	}, func(m *Model, r R, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			return nil
		}
		return f(m, r)
	})
}

// queued counts the messages that wait.
func (m *Model) queued() int {
	n := 0
	for _, q := range m.live().Queues {
		n += len(q.Items)
	}
	return n
}

// paused says that messages wait until the person goes on: the turn before was cancelled
// or has failed.
func (m *Model) paused() bool {
	return !m.live().Running && slices.ContainsFunc(m.live().Queues, func(q protocol.LiveQueue) bool { return q.Paused && len(q.Items) > 0 })
}

// resumeQueue has what waits go on, where a cancelled turn has left it behind.
func (m *Model) resumeQueue() tea.Cmd {
	if !m.paused() {
		return nil
	}
	return m.act(&protocol.ResumeQueue{}, "")
}

// contentText gives the text of a message's content; payloads are named.
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

// typedText gives what of a message was typed. The files that it names with @ are attached
// again when it is sent; false says that it has something else, which would be lost.
func typedText(blocks []protocol.Block) (text string, ok bool) {
	for i, b := range blocks {
		name := b.Name
		switch {
		case i == 0 && b.Type == protocol.BlockText:
			text = b.Text
			continue
		case b.Type == protocol.BlockText:
			quoted, _ := strconv.QuotedPrefix(strings.TrimPrefix(b.Text, "<file path="))
			name, _ = strconv.Unquote(quoted)
		}
		if name == "" || !strings.Contains(text, "@"+name) && !strings.Contains(text, `@"`+name) {
			return "", false
		}
	}
	return text, true
}

// openQueue lets the person edit, reorder and delete what waits for the end of the turn.
func (m *Model) openQueue() tea.Cmd {
	var q *protocol.LiveQueue
	for i := range m.live().Queues {
		if l := &m.live().Queues[i]; len(l.Items) > 0 && (q == nil || l.Queue == protocol.QueueFollowUp) {
			q = l
		}
	}
	if q == nil {
		m.toast(levelInfo, "nothing waits")
		return nil
	}
	name := q.Queue
	p := &picker{list: list.New(list.Config{Title: "Waiting messages", Items: queueItems(*q), Can: list.Delete | list.Reorder | list.Edit, Confirm: "Delete %s?"})}
	p.onPick = func(m *Model, ids []string) tea.Cmd { return m.takeItem(name, protocol.ItemID(ids[0])) }
	p.onOther = func(m *Model, p *picker, o list.Outcome) tea.Cmd {
		switch o.Kind {
		case list.Edited:
			m.closeOverlay(p)
			return m.takeItem(name, protocol.ItemID(o.IDs[0]))
		case list.Deleted:
			return m.rewrite(p, name, func(items []protocol.QueueItem) []protocol.QueueItem {
				return slices.DeleteFunc(items, func(it protocol.QueueItem) bool { return string(it.ID) == o.IDs[0] })
			})
		case list.Reordered:
			return m.rewrite(p, name, func(items []protocol.QueueItem) []protocol.QueueItem {
				slices.SortStableFunc(items, func(a, b protocol.QueueItem) int {
					return slices.Index(o.IDs, string(a.ID)) - slices.Index(o.IDs, string(b.ID))
				})
				return items
			})
		}
		return nil
	}
	return m.pick(p)
}

func queueItems(q protocol.LiveQueue) []list.Item {
	var items []list.Item
	for _, it := range q.Items {
		items = append(items, list.Item{ID: string(it.ID), Title: display.Line(contentText(it.Content)), Right: age(time.Now(), it.TS)})
	}
	return items
}

// queue gives a queue as it is now, nil when nothing waits in it.
func (m *Model) queue(name protocol.QueueName) *protocol.LiveQueue {
	for i := range m.live().Queues {
		if q := &m.live().Queues[i]; q.Queue == name && len(q.Items) > 0 {
			return q
		}
	}
	return nil
}

// maxQueueEdits bounds the changes of queues that wait for the one before them.
const maxQueueEdits = 64

// queueEdit says what a change makes of a queue, as it is when the change's turn comes;
// nil is nothing. done is called with the answer of the host.
type queueEdit func(m *Model) (q *protocol.LiveQueue, items []protocol.QueueItem, done func(err error) tea.Cmd)

// queueEdits are changes of queues in their order. One begins when the queue is known as
// the one before has left it: the host refuses a change of another.
type queueEdits struct {
	waiting []queueEdit
	busy    bool             // one is on its way
	left    protocol.EventID // the update that the last one has replaced
}

// changeQueue makes a change behind those before it.
func (m *Model) changeQueue(e queueEdit) tea.Cmd {
	if len(m.edits.waiting) >= maxQueueEdits {
		m.toast(levelWarning, "too many changes of what waits; try again when the host has answered")
		return nil
	}
	m.edits.waiting = append(m.edits.waiting, e)
	return m.nextEdit()
}

// nextEdit begins the next change when it can be.
func (m *Model) nextEdit() tea.Cmd {
	x := &m.edits
	for len(x.waiting) > 0 && !x.busy && !m.knows(x.left) {
		e := x.waiting[0]
		x.waiting = x.waiting[1:]
		q, items, done := e(m)
		if q == nil {
			continue
		}
		x.busy, x.left = true, q.UpdateID
		gen := m.gen
		return ask(m, m.id, &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: items}, func(m *Model, _ *protocol.Sent, err error) tea.Cmd {
			if err != nil {
				m.fail(err)
			}
			if m.gen == gen {
				x.busy = false
				if err != nil {
					x.left = ""
				}
			}
			return tea.Batch(done(err), m.nextEdit())
		})
	}
	return nil
}

// knows says that a queue is known as an update has made it.
func (m *Model) knows(update protocol.EventID) bool {
	return update != "" && slices.ContainsFunc(m.live().Queues, func(q protocol.LiveQueue) bool { return q.UpdateID == update })
}

// rewrite changes the queue that a picker shows. What has changed meanwhile is shown.
func (m *Model) rewrite(p *picker, name protocol.QueueName, change func(items []protocol.QueueItem) []protocol.QueueItem) tea.Cmd {
	return m.changeQueue(func(m *Model) (*protocol.LiveQueue, []protocol.QueueItem, func(error) tea.Cmd) {
		q := m.queue(name)
		if q == nil {
			m.closeOverlay(p)
			return nil, nil, nil
		}
		items := change(slices.Clone(q.Items))
		return q, items, func(err error) tea.Cmd {
			now := protocol.LiveQueue{Items: items}
			if q := m.queue(name); err != nil && q != nil {
				now = *q
			}
			switch {
			case len(now.Items) == 0:
				m.closeOverlay(p)
			case len(m.edits.waiting) == 0: // else the next one shows what comes of it
				p.list.SetItems(queueItems(now))
			}
			return nil
		}
	})
}

// takeBack takes the newest message that waits back into the editor.
func (m *Model) takeBack() tea.Cmd {
	return m.take(func(m *Model) (*protocol.LiveQueue, int) {
		for _, name := range [...]protocol.QueueName{protocol.QueueFollowUp, protocol.QueueSteer} {
			if q := m.queue(name); q != nil {
				return q, len(q.Items) - 1
			}
		}
		m.toast(levelInfo, "nothing waits")
		return nil, 0
	})
}

// takeItem takes a message out of its queue and into the editor.
func (m *Model) takeItem(name protocol.QueueName, id protocol.ItemID) tea.Cmd {
	return m.take(func(m *Model) (*protocol.LiveQueue, int) {
		if q := m.queue(name); q != nil {
			if i := slices.IndexFunc(q.Items, func(it protocol.QueueItem) bool { return it.ID == id }); i >= 0 {
				return q, i
			}
		}
		m.toast(levelInfo, "the turn has taken it meanwhile")
		return nil, 0
	})
}

// take takes the message that which finds, if any, into the editor.
func (m *Model) take(which func(m *Model) (q *protocol.LiveQueue, i int)) tea.Cmd {
	return m.changeQueue(func(m *Model) (*protocol.LiveQueue, []protocol.QueueItem, func(error) tea.Cmd) {
		q, i := which(m)
		if q == nil {
			return nil, nil, nil
		}
		text, ok := typedText(q.Items[i].Content)
		if !ok {
			m.toast(levelWarning, "it has an attachment that the editor cannot take back; it can be moved and deleted where it waits")
			return nil, nil, nil
		}
		return q, slices.Delete(slices.Clone(q.Items), i, i+1), func(err error) tea.Cmd {
			if err != nil {
				return nil
			}
			if typed := m.editor.Text(); strings.TrimSpace(typed) != "" {
				text += "\n" + typed
			}
			return m.editorSet(text)
		}
	})
}

// editorSet puts a text into the editor, as a change that can be undone.
func (m *Model) editorSet(text string) tea.Cmd {
	if err := m.editor.Set(text); err != nil {
		m.fail(err)
	}
	return m.typed()
}

// openTasks shows background commands and sub-agents, and how calls go.
func (m *Model) openTasks() tea.Cmd {
	p := &picker{list: list.New(list.Config{Title: "Background tasks", Items: m.taskItems(), Can: list.Filter | list.Preview | list.Delete, TwoLines: true,
		Empty: "Nothing runs in the background.", Confirm: "Stop %s?", DeleteWord: "stop"})}
	m.tasks = p
	p.onClose = func(m *Model) tea.Cmd { m.tasks = nil; return nil }
	p.onPick = func(m *Model, ids []string) tea.Cmd {
		m.tasks = nil
		t, ok := m.task(ids[0])
		if ok && t.SessionID != "" {
			return m.show(t.SessionID)
		}
		return m.processLog(ids[0], func(m *Model, lines []string) { m.page("Task "+line(t.Command), lines) })
	}
	p.onWants = func(m *Model, p *picker, w list.Wants) tea.Cmd {
		if w.Preview == "" {
			return nil
		}
		return m.processLog(w.Preview, func(m *Model, lines []string) { p.list.SetPreview(w.Preview, lines) })
	}
	p.onOther = func(m *Model, p *picker, o list.Outcome) tea.Cmd {
		if o.Kind != list.Deleted {
			return nil
		}
		return ask(m, m.id, &protocol.StopTask{TaskID: o.IDs[0]}, func(m *Model, t *protocol.TaskInfo, err error) tea.Cmd {
			if err != nil {
				m.fail(err)
			}
			return nil
		})
	}
	return m.pick(p)
}

// refreshTasks shows in the panel of background tasks how they stand now.
func (m *Model) refreshTasks() {
	if m.tasks != nil {
		m.tasks.list.SetItems(m.taskItems())
	}
}

func (m *Model) task(id string) (protocol.TaskInfo, bool) {
	i := slices.IndexFunc(m.live().Tasks, func(t protocol.TaskInfo) bool { return t.TaskID == id })
	if i < 0 {
		return protocol.TaskInfo{}, false
	}
	return m.live().Tasks[i], true
}

func (m *Model) taskItems() []list.Item {
	return status.TaskItems(m.theme, m.live().Tasks, time.Now())
}

// processLog gives the first lines of the log of an operation.
func (m *Model) processLog(operation string, f func(m *Model, lines []string)) tea.Cmd {
	return ask(m, m.id, &protocol.GetProcessLog{OperationID: operation, Limit: 1000}, func(m *Model, log *protocol.ProcessLog, err error) tea.Cmd {
		if err != nil {
			f(m, []string{m.theme.Dim.On(line(err.Error()))})
			return nil
		}
		var lines []string
		for _, l := range log.Lines {
			switch {
			case l.Event != nil:
				step := display.StepOf(l.Event)
				style := m.theme.Text
				if step.Warning || step.Status == display.Failed {
					style = m.theme.Error
				}
				lines = append(lines, style.On(step.Line()))
			case l.Note != "":
				lines = append(lines, m.theme.Dim.On(line(l.Note)))
			default:
				lines = append(lines, m.theme.ToolOutput.On(line(l.Stderr)))
			}
		}
		f(m, lines)
		return nil
	})
}
