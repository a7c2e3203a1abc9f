package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"scorel/internal/platform/disk"
)

// Store writes the user's file. Writes of several processes follow each other; each
// replaces the file as a whole or not at all, and keeps what it does not know, comments
// and order.
type Store struct {
	FS   disk.FS
	File string // see [UserFile]
}

// ErrThere reports that a server of the name is there already.
var ErrThere = errors.New("a server of this name is there already")

// ErrMissing reports that no server of the name is there.
var ErrMissing = errors.New("there is no server of this name")

// Add writes an entry. Scope is [ScopeUser], or [ScopeLocal] with the root of the workspace
// that it is for. One that is there is replaced only with force, else the error is
// [ErrThere]. Of the entry counts what is configured; it is checked by who made it.
func (s Store) Add(scope Scope, root string, e Entry, force bool) error {
	return s.change(func(n *node, data []byte) ([]byte, error) {
		path := pathOf(scope, root)
		key, there := keyOf(n, path, e.Name)
		if there && !force {
			return nil, ErrThere
		}
		data, err := edit(data, append(path, key), e.document())
		if err != nil {
			return nil, err
		}
		for _, in := range e.Inputs {
			if data, err = addInput(data, in); err != nil {
				return nil, err
			}
		}
		if n, err = objectOf(data); err != nil {
			return nil, err
		}
		for _, p := range path[:len(path)-1] {
			n = n.get(p)
		}
		if list := n.get("mcpServers"); len(list.members) > maxServers {
			return nil, fmt.Errorf("there are %d servers already, which is the most that a file has", maxServers)
		}
		return data, nil
	})
}

// Remove takes an entry out. The error is [ErrMissing] when it is not there.
func (s Store) Remove(scope Scope, root, name string) error {
	return s.change(func(n *node, data []byte) ([]byte, error) {
		path := pathOf(scope, root)
		key, there := keyOf(n, path, name)
		if !there {
			return nil, ErrMissing
		}
		return edit(data, append(path, key), nil)
	})
}

// Enable switches a server on or off: an entry of the user's file by its key disabled,
// any other for the workspace at root.
func (s Store) Enable(root string, e Entry, on bool) error {
	return s.change(func(n *node, data []byte) ([]byte, error) {
		switched := []string{"projects", root, "enabled", e.Name}
		if e.Scope != ScopeUser && e.Scope != ScopeLocal {
			return edit(data, switched, on)
		}
		path := pathOf(e.Scope, root)
		key, there := keyOf(n, path, e.Name)
		if !there { // of [[mcp.servers]]
			return edit(data, switched, on)
		}
		data, err := edit(data, switched, nil)
		if err != nil {
			return nil, err
		}
		if on {
			return edit(data, append(path, key, "disabled"), nil)
		}
		return edit(data, append(path, key, "disabled"), true)
	})
}

// Reset forgets which servers are switched on or off for the workspace at root, and returns
// their names.
func (s Store) Reset(root string) (names []string, err error) {
	err = s.change(func(n *node, data []byte) ([]byte, error) {
		names = nil
		if on := n.get("projects").get(root).get("enabled"); on != nil && on.kind == '{' {
			for _, m := range on.members {
				names = append(names, m.key)
			}
		}
		if len(names) == 0 {
			return data, nil
		}
		return edit(data, []string{"projects", root, "enabled"}, nil)
	})
	slices.Sort(names)
	return names, err
}

// change makes a change under the lock of the file. A file that is not JSON stays as it is.
func (s Store) change(do func(n *node, data []byte) ([]byte, error)) error {
	if err := s.FS.MkdirAll(filepath.Dir(s.File)); err != nil {
		return fmt.Errorf("write %s: %w", s.File, err)
	}
	err := disk.UpdatePersonal(s.FS, s.File, MaxFile, func(old []byte) ([]byte, error) {
		n, err := objectOf(old)
		if err != nil {
			return nil, err
		}
		return do(n, old)
	})
	var bad *syntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		return fmt.Errorf("write %s: it is not valid JSON, and stays as it is: %s (line %d)", s.File, bad.text, bad.line)
	case errors.Is(err, ErrThere), errors.Is(err, ErrMissing):
		return err
	}
	return fmt.Errorf("write %s: %w", s.File, err)
}

func pathOf(scope Scope, root string) []string {
	if scope == ScopeLocal {
		return []string{"projects", root, "mcpServers"}
	}
	return []string{"mcpServers"}
}

// keyOf returns how a file writes the name of a server.
func keyOf(n *node, path []string, name string) (key string, there bool) {
	for _, p := range path {
		n = n.get(p)
	}
	if n != nil && n.kind == '{' {
		for _, m := range slices.Backward(n.members) {
			if cleanName(m.key) == name {
				return m.key, true
			}
		}
	}
	return name, false
}

// addInput adds what a person is asked for, unless its id is there.
func addInput(data []byte, in Input) ([]byte, error) {
	n, err := objectOf(data)
	if err != nil {
		return nil, err
	}
	var list []any
	if old := n.get("inputs"); old != nil {
		for _, item := range old.items {
			if id := item.get("id"); id != nil && id.text == in.ID {
				return data, nil
			}
		}
		list, _ = plain(old).([]any)
	}
	kind := "promptString"
	if in.Options != nil {
		kind = "pickString"
	}
	one := struct {
		Type string `json:"type"`
		Input
	}{kind, in}
	return edit(data, []string{"inputs"}, append(list, one))
}

// document returns an entry as it is written into a file.
func (e Entry) document() any {
	return struct {
		Type          Type              `json:"type"`
		Command       string            `json:"command,omitempty"`
		Args          []string          `json:"args,omitempty"`
		Env           map[string]string `json:"env,omitempty"`
		EnvFile       string            `json:"envFile,omitempty"`
		Cwd           string            `json:"cwd,omitempty"`
		URL           string            `json:"url,omitempty"`
		Headers       map[string]string `json:"headers,omitempty"`
		HeadersHelper string            `json:"headersHelper,omitempty"`
		OAuth         *OAuth            `json:"oauth,omitempty"`
		TimeoutMS     int               `json:"timeoutMs,omitempty"`
		AlwaysLoad    bool              `json:"alwaysLoad,omitempty"`
		Disabled      bool              `json:"disabled,omitempty"`
		AllowTools    []string          `json:"allowTools,omitzero"`
		DenyTools     []string          `json:"denyTools,omitempty"`
		Sandbox       bool              `json:"sandbox,omitempty"`
		PerSession    bool              `json:"perSession,omitempty"`
		Sampling      bool              `json:"sampling,omitempty"`
	}{e.Type, e.Command, e.Args, e.Env, e.EnvFile, e.Cwd, e.URL, e.Headers, e.HeadersHelper, e.OAuth, e.TimeoutMS, e.AlwaysLoad, e.Disabled,
		e.AllowTools, e.DenyTools, e.Sandbox, e.PerSession, e.Sampling}
}

// ParseEntry reads one entry of JSON, as `mcp add-json` takes it.
func ParseEntry(name string, data []byte) (Entry, []Fault, bool) {
	r := &reader{source: Source{File: "the given JSON"}, scope: ScopeUser}
	n, err := objectOf(data)
	if err != nil || n == nil {
		text := "it is empty"
		if err != nil {
			text = err.Error()
		}
		return Entry{}, []Fault{{Source: r.source, Server: name, Dropped: true, Message: "it is not valid JSON: " + text}}, false
	}
	r.path, r.server = name, name
	e, ok := r.entry(name, n, n.line)
	return e, r.faults, ok
}

// Check returns what is wrong with an entry that was made of something else than a file;
// ok is false when it cannot be used.
func (e Entry) Check() ([]Fault, bool) {
	data, err := json.Marshal(e.document())
	if err != nil {
		return []Fault{{Server: e.Name, Dropped: true, Message: err.Error()}}, false
	}
	_, faults, ok := ParseEntry(e.Name, data)
	for i := range faults {
		faults[i].Source = Source{}
	}
	return faults, ok
}

// Has reports whether the file has an entry of a name in a scope, faulty or not.
func (s Store) Has(scope Scope, root, name string) (bool, error) {
	f := ReadFile(s.File)
	if f.Err != nil {
		return false, fmt.Errorf("read %s: %w", s.File, f.Err)
	}
	n, err := objectOf(f.Data)
	var bad *syntaxError
	if errors.As(err, &bad) {
		return false, fmt.Errorf("read %s: it is not valid JSON: %s (line %d)", s.File, bad.text, bad.line)
	}
	_, there := keyOf(n, pathOf(scope, root), name)
	return there, err
}
