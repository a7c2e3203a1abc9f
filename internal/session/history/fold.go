package history

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"

	"scorel/protocol"
)

// State is what the results on a path say about the world outside.
type State struct {
	// Todos is the todo list; empty when all entries are completed.
	Todos []Todo
	// Dir is the working directory behind the newest Bash call, "" without one.
	Dir string

	seen map[string]FileState
}

// Todo is one entry of the todo list.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress, completed
}

// FileState is a file as a tool saw or left it. Whole says that the model has
// seen all of it in this version.
type FileState struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Whole  bool   `json:"whole,omitempty"`
}

// details are the parts of a result's details that are folded.
type details struct {
	Files []FileState `json:"files"`
	Dir   string      `json:"dir"`
	Todos []Todo      `json:"todos"`
}

// Seen gives the newest state of each file that Read, Write and Edit named and
// that is still in the context: behind what the newest compact replaced.
func (s *State) Seen(path string) (FileState, bool) {
	f, ok := s.seen[path]
	return f, ok
}

// SeenFiles calls yield with each file, in no order.
func (s *State) SeenFiles(yield func(FileState) bool) {
	for _, f := range s.seen {
		if !yield(f) {
			return
		}
	}
}

// finder is a log that can look for text without decoding what lacks it.
type finder interface {
	// Find yields the conversation events from leaf to the root, newest first,
	// whose lines contain one of the texts.
	Find(ctx context.Context, leaf protocol.EventID, texts ...string) iter.Seq2[protocol.Event, error]
}

// State gives the state at leaf. It reads what Build reads, and once: beyond that
// only results of TodoWrite and Bash are looked for. The state is the caller's.
func (b *Builder) State(ctx context.Context, leaf protocol.EventID) (*State, error) {
	if err := b.load(ctx, leaf); err != nil {
		return nil, err
	}
	f := b.path.fold.clone()
	if f.rest == "" || (f.todos && f.dir) {
		return &f.State, nil
	}
	older := b.log.Back(ctx, f.rest)
	if l, ok := b.log.(finder); ok {
		older = l.Find(ctx, f.rest, `"toolName":"TodoWrite"`, `"toolName":"Bash"`)
	}
	for ev, err := range older {
		if err != nil {
			return nil, fmt.Errorf("fold the path of %s: %w", leaf, err)
		}
		f.files = true // what is older is not in the context
		f.older(ev)
		if f.todos && f.dir {
			break
		}
	}
	return &f.State, nil
}

// fold collects a State newest first.
type fold struct {
	State
	todos, dir, files bool             // what is settled
	through           protocol.EventID // of the newest compact
	rest              protocol.EventID // where the walk stopped, "" at the root
}

func (f *fold) clone() fold {
	c := *f
	c.seen = maps.Clone(f.seen)
	if c.seen == nil {
		c.seen = map[string]FileState{}
	}
	return c
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
			f.Todos, f.todos = openTodos(d.Todos), true
		}
	case "Bash":
		if !f.dir && d.Dir != "" {
			f.Dir, f.dir = d.Dir, true
		}
	default:
		if !f.files {
			if f.seen == nil {
				f.seen = map[string]FileState{}
			}
			f.addOlder(d.Files)
		}
	}
}

// newer takes in the event behind those it has seen.
func (f *fold) newer(ev protocol.Event) {
	d, name, ok := detailsOf(ev)
	if !ok {
		return
	}
	f.todos = f.todos || name == "TodoWrite"
	f.dir = f.dir || (name == "Bash" && d.Dir != "")
	if f.seen == nil {
		f.seen = map[string]FileState{}
	}
	f.Apply(ev)
}

// Apply takes in the next event of the path. A compact event takes nothing away:
// its tail cannot be told from here, and a later Fold settles it.
func (s *State) Apply(ev protocol.Event) {
	d, name, ok := detailsOf(ev)
	if !ok {
		return
	}
	switch name {
	case "TodoWrite":
		s.Todos = openTodos(d.Todos)
	case "Bash":
		if d.Dir != "" {
			s.Dir = d.Dir
		}
	default:
		for _, f := range d.Files {
			if old, ok := s.seen[f.Path]; ok && old.SHA256 == f.SHA256 {
				f.Whole = f.Whole || old.Whole
			}
			s.seen[f.Path] = f
		}
	}
}

func (s *State) addOlder(files []FileState) {
	for i := len(files) - 1; i >= 0; i-- {
		f := files[i]
		newer, ok := s.seen[f.Path]
		switch {
		case !ok:
			s.seen[f.Path] = f
		case f.Whole && newer.SHA256 == f.SHA256:
			newer.Whole = true
			s.seen[f.Path] = newer
		}
	}
}

// detailsOf gives the details of a result of a tool that is folded.
func detailsOf(ev protocol.Event) (d details, tool string, ok bool) {
	body, ok := ev.Body.(*protocol.MessageBody)
	if !ok || body.Message.Role != protocol.RoleToolResult || len(body.Message.Details) == 0 {
		return d, "", false
	}
	switch m := &body.Message; m.ToolName {
	case "TodoWrite":
		ok = !m.IsError
	case "Bash", "Read", "Write", "Edit":
	default:
		return d, "", false
	}
	if !ok || json.Unmarshal(body.Message.Details, &d) != nil {
		return d, "", false
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
