package lane

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"scorel/internal/engine/background"
	"scorel/internal/host/partial"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// appendNotices appends what the background commands have to tell: the model is
// told at a step border or before a message, never in between. It gives how many
// there were. mu is held.
func (l *Lane) appendNotices(ctx context.Context) (int, error) {
	l.telling = slices.DeleteFunc(l.telling, func(t telling) bool { return t.ticket.Durable() })
	if err := l.appendCut(ctx); err != nil {
		return 0, err
	}
	if err := l.appendLostShells(ctx); err != nil {
		return 0, err
	}
	notices := l.tasks.Take()
	for i, n := range notices {
		_, ticket, err := l.append(ctx, &protocol.HarnessItem{Item: n.Item()}, byHost())
		if err != nil {
			l.tasks.GiveBack(notices[i:])
			return i, err
		}
		l.telling = append(l.telling, telling{n, ticket})
	}
	return len(notices), nil
}

// telling is a notice that has entered, and that is told when it is durable.
type telling struct {
	notice background.Notice
	ticket *publish.Ticket
}

// untell gives back the notices that were lost with what could not be stored. It
// runs on the publisher's writer: what has been stored is known to be. mu is held.
func (l *Lane) untell() {
	for _, t := range slices.Backward(l.telling) { // so that lines of one monitor keep their order
		if !t.ticket.Durable() {
			l.tasks.GiveBack([]background.Notice{t.notice})
		}
	}
	l.telling = nil
}

// retell has the ends told again that the conversation does not know any more, after
// the leaf has moved or something was lost: of commands whose start stands on the
// path to the leaf, and whose end was told on another, or never stored.
func (l *Lane) retell(ctx context.Context, leaf protocol.EventID) error {
	calls := l.tasks.Told()
	if len(calls) == 0 {
		return nil
	}
	known := map[string]bool{}
	for e, err := range l.cfg.Log.Index().Back(ctx, leaf) {
		if err != nil {
			return err
		}
		id, ended := taskOf(e)
		if id == "" {
			continue
		}
		known[id] = known[id] || ended
		if m, ok := e.Message(); ok && calls[id] != "" && m.ToolCallID == calls[id] { // where it was started
			if !known[id] {
				l.tasks.Untell(id)
			}
			if delete(calls, id); len(calls) == 0 {
				return nil
			}
		}
	}
	return nil
}

// taskOf gives the background command that an event tells of, "" for none, and
// whether it tells of its end.
func taskOf(e protocol.Event) (id string, ended bool) {
	if b, ok := e.Body.(*protocol.HarnessItem); ok {
		var n protocol.TaskNotice
		if b.Item.Kind != protocol.ItemRuntimeNotice || b.Item.Origin != protocol.OriginTool || json.Unmarshal(b.Item.Data, &n) != nil {
			return "", false
		}
		return n.TaskID, n.State != "" && n.State != protocol.TaskRunning
	}
	m, ok := e.Message()
	if !ok || m.Role != protocol.RoleToolResult || len(m.Details) == 0 {
		return "", false
	}
	var d protocol.ToolDetails
	if json.Unmarshal(m.Details, &d) != nil {
		return "", false
	}
	return d.TaskID, d.ExitCode != nil
}

// closeTasks ends the background commands, and records how they ended, for the
// turns of a later host.
func (l *Lane) closeTasks() {
	l.tasks.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if readOnly, _ := l.cfg.Log.ReadOnly(); readOnly {
		return
	}
	if _, err := l.appendNotices(context.Background()); err != nil {
		l.cfg.Report("record how background commands ended: "+err.Error(), nil)
	}
}

// keepOutput keeps what a background command prints for the next host.
func (l *Lane) keepOutput(id, call, command string, started time.Time) background.Keeper {
	if l.cfg.Output == nil {
		return nil
	}
	return l.cfg.Output(partial.Command{SessionID: l.ID(), EventID: protocol.NewEventID(l.cfg.Rand), TaskID: id, CallID: call, Command: command, StartedAt: started.UnixMilli()})
}

// Tasks gives the background commands of the session.
func (l *Lane) Tasks() *protocol.TaskList { return &protocol.TaskList{Tasks: l.tasks.List()} }

// StopTask ends a background command and returns when it has ended. The model is
// told of it as of any end.
func (l *Lane) StopTask(ctx context.Context, id string) (*protocol.TaskInfo, error) {
	stopped, err := l.tasks.Stop(ctx, id, background.ToPerson)
	if errors.Is(err, background.ErrUnknown) {
		return nil, protocol.About("taskId", "", protocol.CodeInvalidRequest, "The session has no background command %.60q; list_tasks gives those that there are.", id)
	}
	return &stopped.Info, err
}

// RunningTasks counts the background commands that run.
func (l *Lane) RunningTasks() int { return l.tasks.Running() }
