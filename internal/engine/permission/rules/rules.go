package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"scorel/internal/engine/permission"
)

// MaxFile is the largest file in bytes that is read or written.
const MaxFile = 1 << 20

// MaxPerProject is how many rules one project may have. The oldest go first.
const MaxPerProject = 500

// Read reads the file; a missing one is an error that is [fs.ErrNotExist].
type Read func(name string) ([]byte, error)

// Write replaces the file so that it is whole and durable when it returns.
type Write func(name string, data []byte) error

// File is the stored rules of all projects.
type File struct {
	Version  int                 `json:"version"`
	Projects map[string]*Project `json:"projects"` // by the absolute path of the project
}

// Project is the rules of one project, oldest first.
type Project struct {
	Allow []string `json:"allow"`
}

// Load reads the rules of all projects from name. A missing file holds none. A
// file that cannot be read is an error: nothing is then allowed by it, and
// nothing may be written over it.
func Load(name string, read Read) (*File, error) {
	data, err := read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &File{Version: 1, Projects: map[string]*Project{}}, nil
	case err != nil:
		return nil, fmt.Errorf("the permission rules cannot be read: %w", err)
	case len(data) > MaxFile:
		return nil, fmt.Errorf("the permission rules cannot be read: %s is larger than %d bytes", name, MaxFile)
	}
	f := &File{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(f); err != nil {
		return nil, fmt.Errorf("the permission rules cannot be read: %s is damaged: %w", name, err)
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("the permission rules cannot be read: %s has version %d, this program knows 1", name, f.Version)
	}
	if f.Projects == nil {
		f.Projects = map[string]*Project{}
	}
	return f, nil
}

// Layer returns the rules of the project at root as a layer for a policy.
func (f *File) Layer(name, root string) permission.Layer {
	l := permission.Layer{Name: name, Scope: permission.ScopeUser}
	if p := f.Projects[filepath.Clean(root)]; p != nil {
		l.Allow = slices.Clone(p.Allow)
	}
	return l
}

// Add allows list (one rule, or several separated by commas) in the project at
// root and writes the file. The rules are checked first; those that are there
// already are not added again, and then nothing is written. It reads the file
// again, so a change that somebody made by hand is kept.
func Add(name, root, list string, read Read, write Write) error {
	root = filepath.Clean(root)
	rules := permission.Split(list)
	if len(rules) == 0 {
		return errors.New("add a permission rule: there is no rule")
	}
	_, err := permission.Compile(permission.Config{Home: root, Root: root, UID: -1, Layers: []permission.Layer{{Scope: permission.ScopeUser, Allow: rules}}})
	if err != nil {
		return fmt.Errorf("add a permission rule: %w", err)
	}
	f, err := Load(name, read)
	if err != nil {
		return err
	}
	p := f.Projects[root]
	if p == nil {
		p = &Project{}
		f.Projects[root] = p
	}
	had := len(p.Allow)
	for _, r := range rules {
		if !slices.Contains(p.Allow, r) {
			p.Allow = append(p.Allow, r)
		}
	}
	if len(p.Allow) == had {
		return nil
	}
	if over := len(p.Allow) - MaxPerProject; over > 0 {
		p.Allow = p.Allow[over:]
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return fmt.Errorf("add a permission rule: %w", err)
	}
	if buf.Len() > MaxFile {
		return fmt.Errorf("add a permission rule: %s would be larger than %d bytes; remove rules that are not needed", name, MaxFile)
	}
	if err := write(name, buf.Bytes()); err != nil {
		return fmt.Errorf("add a permission rule: %w", err)
	}
	return nil
}
