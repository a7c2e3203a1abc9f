package history

import (
	"context"
	"encoding/json"
	"fmt"

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

// Fold reads the state at leaf from the log, as far back as it must.
func Fold(ctx context.Context, log Log, leaf protocol.EventID) (*State, error) {
	s := &State{seen: map[string]FileState{}}
	var todos, dir, files bool // what is settled
	var through protocol.EventID
	for ev, err := range log.Back(ctx, leaf) {
		if err != nil {
			return nil, fmt.Errorf("fold the path of %s: %w", leaf, err)
		}
		if through != "" && ev.ID == through {
			files = true
		}
		if todos && dir && files {
			break
		}
		if c, ok := ev.Body.(*protocol.Compact); ok && through == "" {
			through = c.CompactedThrough
			continue
		}
		d, name, ok := detailsOf(ev)
		if !ok {
			continue
		}
		switch name {
		case "TodoWrite":
			if !todos {
				s.Todos, todos = openTodos(d.Todos), true
			}
		case "Bash":
			if !dir && d.Dir != "" {
				s.Dir, dir = d.Dir, true
			}
		default:
			if !files {
				s.addOlder(d.Files)
			}
		}
	}
	return s, nil
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
