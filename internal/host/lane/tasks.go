package lane

import (
	"context"
	"errors"

	"scorel/internal/task"
	"scorel/protocol"
)

// appendNotices appends what the background commands have to tell: the model is
// told at a step border or before a message, never in between. It gives how many
// there were. mu is held.
func (l *Lane) appendNotices(ctx context.Context) (int, error) {
	notices := l.tasks.Take()
	for i, n := range notices {
		if _, _, err := l.append(ctx, &protocol.HarnessItem{Item: n.Item()}, byHost()); err != nil {
			l.tasks.GiveBack(notices[i:])
			return i, err
		}
	}
	return len(notices), nil
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

// Tasks gives the background commands of the session.
func (l *Lane) Tasks() *protocol.TaskList { return &protocol.TaskList{Tasks: l.tasks.List()} }

// StopTask ends a background command and returns when it has ended. The model is
// told of it as of any end.
func (l *Lane) StopTask(ctx context.Context, id string) (*protocol.TaskInfo, error) {
	info, _, _, err := l.tasks.Stop(ctx, id, task.ToPerson)
	if errors.Is(err, task.ErrUnknown) {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The session has no background command %.60q; list_tasks gives those that there are.", id)
	}
	return &info, err
}

// RunningTasks counts the background commands that run.
func (l *Lane) RunningTasks() int { return l.tasks.Running() }
