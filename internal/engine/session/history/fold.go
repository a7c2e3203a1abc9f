package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"scorel/protocol"
)

// State is what the results on a path say about the world outside.
type State struct {
	// Todos is the todo list; empty when all entries are completed.
	Todos []protocol.Todo
	// Dir is the working directory after the newest command, "" without one.
	Dir string
	// Files are what results said of files that is still in
	// the context (after what the newest compact replaced), oldest first.
	Files []protocol.FileState
}

// finder is a log that knows which results say what the state was.
type finder interface {
	// Results yields the results on the path of leaf that tell something of the state
	// outside, newest first: todos or the working directory.
	Results(ctx context.Context, leaf protocol.EventID, tells protocol.ToolState) iter.Seq2[protocol.Event, error]
}

// State returns the state at leaf. It reads what Build reads, and once: beyond that
// only results that tell todos or the working directory are looked for. The state is the caller's.
func (b *Builder) State(ctx context.Context, leaf protocol.EventID) (*State, error) {
	if err := b.load(ctx, leaf); err != nil {
		return nil, err
	}
	f := b.path.fold
	if f.rest == "" || (f.todos && f.dir) {
		return f.state(), nil
	}
	f.files = true // what is older is not in the context
	walk := func(results iter.Seq2[protocol.Event, error], settled func() bool) error {
		if settled() {
			return nil
		}
		for ev, err := range results {
			if err != nil {
				return fmt.Errorf("fold the path of %s: %w", leaf, err)
			}
			if f.older(ev); settled() {
				break
			}
		}
		return nil
	}
	var err error
	if known, ok := b.log.(finder); ok {
		err = errors.Join(
			walk(known.Results(ctx, f.rest, protocol.TellsTodos), func() bool { return f.todos }),
			walk(known.Results(ctx, f.rest, protocol.TellsDir), func() bool { return f.dir }))
	} else {
		err = walk(b.log.Back(ctx, f.rest), func() bool { return f.todos && f.dir })
	}
	if err != nil {
		return nil, err
	}
	return f.state(), nil
}

// fold collects a State, from a walk that goes backwards and from what comes
// after it.
type fold struct {
	todoList          []protocol.Todo
	workDir           string
	before            []protocol.FileState // of the walk, newest first
	after             []protocol.FileState
	todos, dir, files bool             // what is settled
	through           protocol.EventID // of the newest compact
	imported          protocol.Seq     // what results up to it say of files and folders is not of this device
	rest              protocol.EventID // where the walk stopped, "" at the root
}

func (f *fold) state() *State {
	files := slices.Concat(f.before, f.after)
	slices.Reverse(files[:len(f.before)])
	return &State{Todos: f.todoList, Dir: f.workDir, Files: files}
}

// older takes in the event before those it has seen.
func (f *fold) older(ev protocol.Event) {
	if f.through != "" && ev.ID == f.through {
		f.files = true
	}
	if c, ok := ev.Body.(*protocol.Compact); ok && f.through == "" {
		f.through = c.CompactedThrough
		return
	}
	if ev.Seq <= f.imported {
		f.dir, f.files = true, true
	}
	d, tells, ok := detailsOf(ev)
	if !ok {
		return
	}
	switch tells {
	case protocol.TellsTodos:
		if !f.todos {
			f.todoList, f.todos = protocol.OpenTodos(d.Todos), true
		}
	case protocol.TellsDir:
		if !f.dir && d.Dir != "" {
			f.workDir, f.dir = d.Dir, true
		}
	default:
		if !f.files {
			for _, file := range slices.Backward(d.Files) {
				f.before = append(f.before, file)
			}
		}
	}
}

// newer takes in the event after those it has seen.
func (f *fold) newer(ev protocol.Event) {
	d, tells, ok := detailsOf(ev)
	switch {
	case !ok:
	case tells == protocol.TellsTodos:
		f.todoList, f.todos = protocol.OpenTodos(d.Todos), true
	case tells == protocol.TellsDir:
		if d.Dir != "" {
			f.workDir, f.dir = d.Dir, true
		}
	default:
		f.after = append(f.after, d.Files...)
	}
}

// Apply takes in the next event of the path. A compact event takes nothing away:
// its tail cannot be told from here; ask [Builder.State] again then.
func (s *State) Apply(ev protocol.Event) {
	f := fold{todoList: s.Todos, workDir: s.Dir, after: s.Files}
	f.newer(ev)
	s.Todos, s.Dir, s.Files = f.todoList, f.workDir, f.after
}

// toldDetails are the parts of a result's details that are folded.
type toldDetails struct {
	Files []protocol.FileState `json:"files"`
	Dir   string               `json:"dir"`
	Todos []protocol.Todo      `json:"todos"`
}

// detailsOf returns the details of a result that tells something of the state outside.
func detailsOf(ev protocol.Event) (toldDetails, protocol.ToolState, bool) {
	body, ok := ev.Body.(*protocol.MessageBody)
	if !ok || body.Message.Role != protocol.RoleToolResult || len(body.Message.Details) == 0 {
		return toldDetails{}, "", false
	}
	tells := protocol.FindTool(body.Message.ToolName).Tells
	if tells == "" || tells == protocol.TellsTodos && body.Message.IsError {
		return toldDetails{}, "", false
	}
	var d toldDetails // only what comes here is on the heap
	if json.Unmarshal(body.Message.Details, &d) != nil {
		return toldDetails{}, "", false
	}
	return d, tells, true
}
