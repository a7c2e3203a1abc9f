package lane

import (
	"context"

	"scorel/protocol"
)

// todosAt is what clients are told of the todo list when the leaf moves to another event.
// It is read before: what a turn behind the move changes comes behind it.
func (l *Lane) todosAt(ctx context.Context, leaf protocol.EventID) *protocol.Todos {
	todos, err := l.cfg.Log.Index().Todos(ctx, leaf)
	if err != nil {
		l.cfg.Report("look for the todo list: "+err.Error(), nil)
	}
	if todos == nil {
		todos = []protocol.Todo{}
	}
	return &protocol.Todos{Todos: todos}
}

// tellTodos tells them, directly behind the move. mu is held.
func (l *Lane) tellTodos(todos *protocol.Todos) {
	if err := l.tell(todos); err != nil {
		l.cfg.Report("tell the todo list: "+err.Error(), nil)
	}
}

// tellTask tells clients how a background command stands.
func (l *Lane) tellTask(t protocol.TaskInfo) {
	l.tellBeside(protocol.HostClient, &protocol.TaskUpdate{Task: t})
}

// tellBeside sends a transient event that belongs to no turn. It is called without mu.
func (l *Lane) tellBeside(client protocol.ClientID, body protocol.Body) {
	e := protocol.NewEvent(body)
	e.ClientID = client
	if _, _, err := l.pub.Put(context.Background(), "", e); err != nil {
		l.cfg.Report("tell clients of "+string(e.Type)+": "+err.Error(), nil)
	}
}
