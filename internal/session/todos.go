package session

import (
	"bytes"
	"context"

	"scorel/protocol"
)

// Todos gives the todo list as of a leaf: what the newest result of TodoWrite on its path
// says; none when there is none, or when all of it is done. Only that result is read.
func (ix *Index) Todos(ctx context.Context, leaf protocol.EventID) ([]protocol.Todo, error) {
	if leaf == "" {
		return nil, nil
	}
	i, err := ix.conversation(leaf)
	if err != nil {
		return nil, err
	}
	for s := ix.snapshot(); i != none; i = s.entries[i].parent {
		if s.entries[i].flags&flagTodos == 0 {
			continue
		}
		e, err := ix.Event(ctx, s.entries[i].id.id())
		if err != nil {
			return nil, err
		}
		if b, ok := e.Body.(*protocol.MessageBody); ok {
			if todos, ok := protocol.TodosOf(b.Message); ok {
				return todos, nil
			}
		}
	}
	return nil, nil
}

// todoHead is how much of a message is looked at for the name of its tool, which Scorel
// writes behind its role and the id of its call.
const todoHead = 512

// listsTodos says whether a message is a result of TodoWrite.
func listsTodos(message []byte) bool {
	const result = `{"role":"tool_result"`
	return len(message) > len(result) && string(message[:len(result)]) == result &&
		bytes.Contains(message[:min(len(message), todoHead)], []byte(`"toolName":"TodoWrite"`))
}
