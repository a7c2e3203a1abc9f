package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// MaxFiles bounds the files of one folder that are read; further ones are counted.
const MaxFiles = 100

// maxNames bounds the names of one folder that are looked at.
const maxNames = 10_000

// State returns the state of a definition.
type State string

// The states.
const (
	OK        State = "ok"
	Shadowed  State = "shadowed"  // another one with its name counts
	Untrusted State = "untrusted" // of a project, and not or no more trusted
	Broken    State = "broken"    // it cannot be read
)

// Entry is a definition that was found. With the states untrusted and broken only
// Name, Path and Scope are set.
type Entry struct {
	Definition
	State   State
	Problem string // a sentence: why it is not used, or what of it has no effect
}

// Set is the agents of one session.
type Set struct {
	Entries  []Entry  // sorted by name, those that count first
	Problems []string // sentences about folders
}

// Config returns where to look.
type Config struct {
	UserDir string // ~/.scorel/agents; "" for none
	// ForeignDir has the user's agents that were written for another program,
	// ~/.claude/agents; "" for none.
	ForeignDir string
	Root       string // of the project, absolute and without symlinks; "" for none
	// Read reads a file of the project by its name in it, and reports whether exactly
	// these bytes are trusted; nil data is not a file of the project's.
	Read func(root, name string, limit int64) (data []byte, trusted bool, err error)
}

// Find looks for agents. What is wrong with a file is in its entry.
func Find(cfg Config) *Set {
	s := &Set{}
	if cfg.Root != "" && cfg.Read != nil {
		s.project(cfg, ".scorel/agents", false)
		s.project(cfg, ".claude/agents", true)
	}
	s.user(cfg.UserDir, false)
	s.user(cfg.ForeignDir, true)
	for _, d := range builtins() {
		s.Entries = append(s.Entries, Entry{Definition: *d, State: OK})
	}
	seen := map[string]bool{}
	for i := range s.Entries { // they are in the order in which they count
		e := &s.Entries[i]
		if e.State != OK {
			continue
		}
		if seen[e.Name] {
			e.State, e.Problem = Shadowed, "another agent of that name counts"
		}
		seen[e.Name] = true
	}
	slices.SortStableFunc(s.Entries, func(a, b Entry) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return rank(a.State) - rank(b.State)
	})
	return s
}

func rank(s State) int { return slices.Index([]State{OK, Broken, Untrusted, Shadowed}, s) }

// user adds the files of a folder of the user's.
func (s *Set) user(dir string, isForeign bool) {
	if dir == "" {
		return
	}
	for _, name := range s.markdown(dir, dir) {
		file := filepath.Join(dir, name)
		data, err := readRegular(file)
		s.add(file, data, err, User, isForeign)
	}
}

// project adds the files of a folder of the project.
func (s *Set) project(cfg Config, dir string, isForeign bool) {
	for _, name := range s.markdown(filepath.Join(cfg.Root, filepath.FromSlash(dir)), dir) {
		file := dir + "/" + name
		data, trusted, err := cfg.Read(cfg.Root, file, MaxFile)
		switch {
		case err == nil && data == nil:
		case err == nil && !trusted:
			s.Entries = append(s.Entries, Entry{Definition: Definition{Name: strings.TrimSuffix(name, ".md"), Path: file, Scope: Project, Foreign: isForeign}, State: Untrusted,
				Problem: file + " is not trusted, or has changed since it was; scorel trust shows it"})
		default:
			s.add(file, data, err, Project, isForeign)
		}
	}
}

func (s *Set) add(file string, data []byte, err error, scope Scope, isForeign bool) {
	e := Entry{State: OK}
	if err == nil {
		var d *Definition
		if d, err = Parse(file, data, scope, isForeign); err == nil {
			e.Definition, e.Problem = *d, d.Note
		}
	} else {
		err = fmt.Errorf("%s: %w", file, err)
	}
	if err != nil {
		e.Definition = Definition{Name: strings.TrimSuffix(filepath.Base(file), ".md"), Path: file, Scope: scope, Foreign: isForeign}
		e.State, e.Problem = Broken, err.Error()
	}
	s.Entries = append(s.Entries, e)
}

// markdown returns the names of the files of a folder that may be definitions, sorted.
// shown is the folder's name in problems.
func (s *Set) markdown(dir, shown string) []string {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			s.Problems = append(s.Problems, fmt.Sprintf("%s cannot be read: %v", shown, cause(err)))
		}
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(maxNames + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		s.Problems = append(s.Problems, fmt.Sprintf("%s cannot be read: %v", shown, cause(err)))
		return nil
	}
	if len(entries) > maxNames {
		s.Problems = append(s.Problems, fmt.Sprintf("%s has more than %d files, so none of them counts", shown, maxNames))
		return nil
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, ".") && !e.IsDir() && !strings.EqualFold(name, "README.md") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > MaxFiles {
		s.Problems = append(s.Problems, fmt.Sprintf("%s has %d agents; only the first %d count", shown, len(names), MaxFiles))
		names = names[:MaxFiles]
	}
	return names
}

// readRegular reads a file without waiting for pipes.
func readRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, cause(err)
	case len(data) > MaxFile:
		return nil, fmt.Errorf("it is larger than %d KiB", MaxFile>>10)
	}
	return data, nil
}

func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Usable returns the agents that can be started, sorted by name.
func (s *Set) Usable() []*Definition {
	var out []*Definition
	for i := range s.Entries {
		if s.Entries[i].State == OK {
			out = append(out, &s.Entries[i].Definition)
		}
	}
	return out
}

// Named returns an agent that can be started. The error says what there is.
func (s *Set) Named(name string) (*Definition, error) {
	var all []string
	for i := range s.Entries {
		e := &s.Entries[i]
		switch {
		case e.State == OK && e.Name == name:
			return &e.Definition, nil
		case e.State == OK:
			all = append(all, e.Name)
		}
	}
	for _, e := range s.Entries {
		if e.Name == name {
			return nil, fmt.Errorf("the agent %s cannot be used: %s", name, e.Problem)
		}
	}
	return nil, fmt.Errorf("there is no agent %.80q; there are %s", name, strings.Join(all, ", "))
}
