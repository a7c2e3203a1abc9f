package session

import (
	"bytes"
	"context"
	"iter"

	"scorel/protocol"
)

// Results returns the results on the path of leaf that say what the state outside was,
// newest first: those that list todos, or those that name a working directory; none for
// any other. The index knows them, so that only what is asked for is read.
func (ix *Index) Results(ctx context.Context, leaf protocol.EventID, tells protocol.ToolState) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		flag := stateFlag(tells)
		if leaf == "" || flag == 0 {
			return
		}
		i, err := ix.conversation(leaf)
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		for s := ix.snapshot(); i != none; i = s.entries[i].parent {
			if s.entries[i].flags&flag == 0 {
				continue
			}
			ev, err := ix.Event(ctx, s.entries[i].id.id())
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Todos returns the todo list as of a leaf: what the newest result on its path that tells
// it says; none when there is none, or when all of it is done. Only that result is read.
func (ix *Index) Todos(ctx context.Context, leaf protocol.EventID) ([]protocol.Todo, error) {
	for ev, err := range ix.Results(ctx, leaf, protocol.TellsTodos) {
		if err != nil {
			return nil, err
		}
		if b, ok := ev.Body.(*protocol.MessageBody); ok {
			if todos, ok := protocol.TodosOf(b.Message); ok {
				return todos, nil
			}
		}
	}
	return nil, nil
}

func stateFlag(tells protocol.ToolState) uint8 {
	switch tells {
	case protocol.TellsTodos:
		return flagTodos
	case protocol.TellsDir:
		return flagDir
	}
	return 0
}

// Scorel writes the name of the tool after the role of a result and the id of its call,
// and its details after its output: so far into a message, and so far from its end, is
// looked for them.
const (
	resultHead = 512
	resultTail = 4096
)

// stateOf returns the flag of a message that says what the state outside was, else 0.
func stateOf(message []byte) uint8 {
	const result, name = `{"role":"tool_result"`, `"toolName":"`
	if len(message) <= len(result) || string(message[:len(result)]) != result {
		return 0
	}
	_, tool, _ := bytes.Cut(message[:min(len(message), resultHead)], []byte(name))
	end := bytes.IndexByte(tool, '"')
	if end < 0 {
		return 0
	}
	flag := stateFlag(protocol.ToolTells(tool[:end]))
	if flag == flagDir && bytes.LastIndex(message[max(0, len(message)-resultTail):], []byte(`"dir":"`)) < 0 {
		return 0
	}
	return flag
}
