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
	Todos []Todo
	// Dir is the working directory behind the newest Bash call, "" without one.
	Dir string
	// Files are what results of Read, Write and Edit said of files that is still in
	// the context (behind what the newest compact replaced), oldest first.
	Files []FileState
}

// Todo is one entry of the todo list.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress, completed
}

// FileState is a file as a tool saw or left it: all of it, or (From and To) some
// of its Of lines.
type FileState struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Whole  bool   `json:"whole,omitempty"`
	From   int    `json:"from,omitempty"`
	To     int    `json:"to,omitempty"`
	Of     int    `json:"of,omitempty"`
	Mode   uint32 `json:"mode,omitempty"` // its permission bits, where it was written
}

// details are the parts of a result's details that are folded.
type details struct {
	Files []FileState `json:"files"`
	Dir   string      `json:"dir"`
	Todos []Todo      `json:"todos"`
}

// finder is a log that knows which results say what the state was.
type finder interface {
	// Results yields the results of a tool on the path of leaf that State is made of,
	// newest first; the tool is TodoWrite or Bash.
	Results(ctx context.Context, leaf protocol.EventID, tool string) iter.Seq2[protocol.Event, error]
}

// State gives the state at leaf. It reads what Build reads, and once: beyond that
// only results of TodoWrite and Bash are looked for. The state is the caller's.
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
			walk(known.Results(ctx, f.rest, "TodoWrite"), func() bool { return f.todos }),
			walk(known.Results(ctx, f.rest, "Bash"), func() bool { return f.dir }))
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
	todoList          []Todo
	workDir           string
	before            []FileState // of the walk, newest first
	after             []FileState
	todos, dir, files bool             // what is settled
	through           protocol.EventID // of the newest compact
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
	d, name, ok := detailsOf(ev)
	if !ok {
		return
	}
	switch name {
	case "TodoWrite":
		if !f.todos {
			f.todoList, f.todos = openTodos(d.Todos), true
		}
	case "Bash":
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

// newer takes in the event behind those it has seen.
func (f *fold) newer(ev protocol.Event) {
	d, name, ok := detailsOf(ev)
	switch {
	case !ok:
	case name == "TodoWrite":
		f.todoList, f.todos = openTodos(d.Todos), true
	case name == "Bash":
		if d.Dir != "" {
			f.workDir, f.dir = d.Dir, true
		}
	default:
		f.after = append(f.after, d.Files...)
	}
}

// Apply takes in the next event of the path. A compact event takes nothing away:
// its tail cannot be told from here; ask [Builder.State] anew then.
func (s *State) Apply(ev protocol.Event) {
	f := fold{todoList: s.Todos, workDir: s.Dir, after: s.Files}
	f.newer(ev)
	s.Todos, s.Dir, s.Files = f.todoList, f.workDir, f.after
}

// detailsOf gives the details of a result of a tool that is folded.
func detailsOf(ev protocol.Event) (details, string, bool) {
	body, ok := ev.Body.(*protocol.MessageBody)
	if !ok || body.Message.Role != protocol.RoleToolResult || len(body.Message.Details) == 0 {
		return details{}, "", false
	}
	switch m := &body.Message; m.ToolName {
	case "TodoWrite":
		ok = !m.IsError
	case "Bash", "Read", "Write", "Edit":
	default:
		ok = false
	}
	if !ok {
		return details{}, "", false
	}
	var d details // only what comes here is on the heap
	if json.Unmarshal(body.Message.Details, &d) != nil {
		return details{}, "", false
	}
	return d, body.Message.ToolName, true
}

// openTodos gives the list, empty when all of it is completed.
func openTodos(todos []Todo) []Todo {
	for _, t := range todos {
		if t.Status != "completed" {
			return todos
		}
	}
	return nil
}
