package trust

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"scorel/internal/engine/claude"
	"scorel/internal/engine/command"
)

// Bounds of what a project may ask to be trusted; beyond them none of it can be.
const (
	MaxFiles   = 5000
	MaxBytes   = 64 << 20
	maxEntries = 20_000  // names read in folders
	maxDepth   = 64      // folders in folders
	maxText    = 1 << 20 // bytes of a file that is looked into
)

// bounds are the first three of them, so that tests need not fill a disk.
type bounds struct {
	files   int
	bytes   int64
	entries int
}

// racy is how old a file must be for its times to name it: one that is written
// again within a tick of the file system's clock may keep them.
const racy = 2 * time.Second

// limitError returns which bound a project is over, as a sentence.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// scan is one look at a project.
type scan struct {
	*project
	ctx     context.Context
	now     time.Time
	known   *folderRecord // whose hashes hold where the stat is the same; nil: all is read
	lazy    bool          // files of items that known has not are not read
	hashes  map[string]File
	bounds  bounds
	files   int
	bytes   int64
	entries int
	started Item // Does and Problem of it are those of the servers of extensions
}

// items returns what could act, each with its files or a problem. Errors are a
// *limitError or the context's.
func (s *scan) items() ([]Item, error) {
	var out []Item
	add := func(items []Item, err error) error {
		out = append(out, items...)
		return err
	}
	steps := []func() error{
		func() error { return add(s.configs()) },
		func() error { return add(s.servers()) },
		func() error { return add(s.markdown(KindAgent, ".scorel/agents", nil, 0)) },
		func() error { return add(s.markdown(KindAgent, ".claude/agents", nil, 0)) },
		func() error { return add(s.markdown(KindCommand, ".scorel/commands", shellLines, command.MaxDepth)) },
		func() error { return add(s.markdown(KindCommand, ".claude/commands", shellLines, command.MaxDepth)) },
		func() error { return add(s.skills(".scorel/skills")) },
		func() error { return add(s.skills(".claude/skills")) },
		func() error { return add(s.skills(".agents/skills")) },
		func() error { return add(s.markdown(KindTemplate, ".scorel/templates", nil, command.MaxDepth)) },
		func() error { return add(s.extensions(extensionDir)) },
		func() error { return add(s.heartbeat()) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// configs returns the settings, of Scorel and of Claude Code, and the files that their
// hooks name.
func (s *scan) configs() ([]Item, error) {
	var out []Item
	named := map[string][]string{}
	finder := &namer{project: s.project}
	one := func(kind Kind, name string, commands func([]byte) []string) error {
		items, err := s.single(kind, name, nil)
		if err != nil || len(items) == 0 {
			return err
		}
		it := &items[0]
		if it.Problem == "" {
			data, _, err := s.read(name, maxText)
			if err != nil {
				commands = func([]byte) []string { return nil } // too large to be settings
			}
			list := commands(data)
			if kind == KindSettings && len(list) == 0 {
				return nil // nothing of it acts
			}
			if len(list) > 0 {
				ok := false
				if it.Does, ok = whole(runs(list)); !ok {
					it.Problem, it.Files = tooMuch, nil
					list = nil
				}
			}
			for _, command := range list {
				files, ok := finder.filesIn(command)
				if !ok {
					it.Problem, it.Files = fmt.Sprintf("has a hook command that is longer than %d bytes, or hooks that name more than %d files", maxHooked, maxNamed), nil
					break
				}
				for _, file := range files {
					named[file] = append(named[file], command)
				}
			}
		}
		out = append(out, *it)
		return nil
	}
	if err := one(KindConfig, ".scorel/config.toml", hookCommands); err != nil {
		return nil, err
	}
	for _, name := range claude.Files() {
		if err := one(KindSettings, name, claude.Commands); err != nil {
			return nil, err
		}
	}
	for file, commands := range named {
		items, err := s.single(KindHook, file, nil)
		if err != nil {
			return nil, err
		}
		for i := range items {
			items[i].Does = clip(commands) // all of them are shown with the file that names them
		}
		out = append(out, items...)
	}
	return out, nil
}

// runs are the commands of hooks as what settings do.
func runs(commands []string) []string {
	out := make([]string, len(commands))
	for i, c := range commands {
		out[i] = "a hook runs " + strings.TrimSpace(c)
	}
	return out
}

// single returns the item of one file, none when it is not there.
func (s *scan) single(kind Kind, name string, describe func([]byte) []string) ([]Item, error) {
	if s.ours(name) {
		return nil, nil
	}
	it := Item{Kind: kind, Name: name, project: s.project}
	f, err := s.hash(kind, name, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := it.take(f, err); err != nil {
		return nil, err
	}
	if describe != nil && it.Problem == "" {
		if data, _, err := s.read(name, maxText); err == nil {
			it.Does = clip(describe(data))
		}
	}
	return []Item{it}, nil
}

// take adds a file to an item, or what is wrong with it. Errors that end the
// scan are returned.
func (it *Item) take(f File, err error) error {
	var limit *limitError
	switch {
	case err == nil:
		if it.Problem == "" {
			it.Files = append(it.Files, f)
		}
		return nil
	case errors.As(err, &limit), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case it.Problem == "":
		it.Problem, it.Files = err.Error(), nil
	}
	return nil
}

// markdown returns the *.md files of a folder as items, of those that act decides
// for when it is given; with deep those of the folders in it too.
func (s *scan) markdown(kind Kind, dir string, act func([]byte) []string, deep int) ([]Item, error) {
	names, problem, err := s.list(kind, dir)
	if err != nil || problem != nil {
		return problem, err
	}
	var out []Item
	for _, name := range names {
		full := dir + "/" + name
		if !strings.HasSuffix(name, ".md") {
			if deep > 0 && !strings.HasPrefix(name, ".") {
				if _, err := s.resolve(full); err != nil {
					continue // what is there is no command either
				}
				items, err := s.markdown(kind, full, act, deep-1)
				if err != nil {
					return nil, err
				}
				out = append(out, items...)
			}
			continue
		}
		var does []string
		if act != nil {
			data, _, err := s.read(full, maxText)
			if err == nil {
				if does = act(data); len(does) == 0 {
					continue // text
				}
			}
		}
		items, err := s.single(kind, full, nil)
		if err != nil {
			return nil, err
		}
		for i := range items {
			ok := false
			if items[i].Does, ok = whole(does); !ok {
				items[i].Problem, items[i].Files = tooMuch, nil
			}
		}
		out = append(out, items...)
	}
	return out, nil
}

// skills returns the skills of a folder that have an entry.
func (s *scan) skills(dir string) ([]Item, error) {
	names, problem, err := s.list(KindSkill, dir)
	if err != nil || problem != nil {
		return problem, err
	}
	var out []Item
	for _, name := range names {
		full := dir + "/" + name
		data, _, err := s.readHead(full + "/SKILL.md")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var entry string
		if err == nil {
			if entry = skillEntry(data); entry == "" {
				continue // text
			}
		}
		it, ierr := s.tree(KindSkill, full, false)
		if ierr != nil {
			return nil, ierr
		}
		if entry != "" {
			it.Does = clip([]string{entry})
		}
		out = append(out, it)
	}
	return out, nil
}

// extensions returns the one item of all extensions: they may import each other.
func (s *scan) extensions(dir string) ([]Item, error) {
	names, problem, err := s.list(KindExtension, dir)
	if err != nil || problem != nil || len(names) == 0 {
		return problem, err
	}
	it, err := s.tree(KindExtension, dir, true)
	if err != nil || (len(it.Files) == 0 && it.Problem == "") {
		return nil, err
	}
	if it.Does = s.started.Does; s.started.Problem != "" && it.Problem == "" {
		it.Problem, it.Files = s.started.Problem, nil
	}
	return []Item{it}, nil
}

// list returns the sorted names in a folder; none when it is not there. A folder
// that cannot be listed gives an item with the problem.
func (s *scan) list(kind Kind, dir string) (names []string, problem []Item, err error) {
	if s.ours(dir) {
		return nil, nil, nil
	}
	entries, err := s.readDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		it := Item{Kind: kind, Name: dir, project: s.project}
		if err := it.take(File{}, err); err != nil {
			return nil, nil, err
		}
		return nil, []Item{it}, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil, nil
}

// readDir reads a folder, sorted by name.
func (s *scan) readDir(dir string) ([]fs.DirEntry, error) {
	rel, err := s.resolve(dir)
	if err != nil {
		return nil, err
	}
	f, err := s.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", cause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return nil, fs.ErrNotExist // no folder: nobody reads it as one
	}
	var out []fs.DirEntry
	for {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		part, err := f.ReadDir(256)
		if s.entries += len(part); s.entries > s.bounds.entries {
			return nil, &limitError{fmt.Sprintf("The project cannot be trusted: its skills, extensions and the like have more than %d names.", s.bounds.entries)}
		}
		out = append(out, part...)
		if err == io.EOF {
			slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot be read: %w", cause(err))
		}
	}
}

// tree returns the item of all files in a folder, without those of node_modules
// when that is said.
func (s *scan) tree(kind Kind, dir string, noModules bool) (Item, error) {
	it := Item{Kind: kind, Name: dir, project: s.project}
	walked := map[string]bool{} // real folders, so that symlinks make no circle
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		if depth > maxDepth {
			return &limitError{fmt.Sprintf("The project cannot be trusted: %s has more than %d folders in each other.", it.Name, maxDepth)}
		}
		real, err := s.resolve(dir)
		if err != nil {
			return it.take(File{}, inItem(it.Name, dir, err))
		}
		if walked[real] {
			return nil
		}
		walked[real] = true
		entries, err := s.readDir(dir)
		if err != nil {
			return it.take(File{}, inItem(it.Name, dir, err))
		}
		for _, e := range entries {
			name := dir + "/" + e.Name()
			if noModules && e.Name() == "node_modules" {
				continue
			}
			folder := e.IsDir()
			if e.Type()&fs.ModeSymlink != 0 {
				info, err := os.Stat(filepath.Join(s.dir, name))
				folder = err == nil && info.IsDir()
			}
			if folder {
				if err := walk(name, depth+1); err != nil {
					return err
				}
				continue
			}
			f, err := s.hash(kind, it.Name, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue // gone meanwhile
			}
			if err := it.take(f, inItem(it.Name, name, err)); err != nil {
				return err
			}
		}
		return nil
	}
	err := walk(dir, 0)
	slices.SortFunc(it.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return it, err
}

// inItem names the file that is wrong, where it is not the item itself.
func inItem(item, name string, err error) error {
	var limit *limitError
	if err == nil || item == name || errors.As(err, &limit) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("holds %s, which %w", strings.TrimPrefix(name, item+"/"), err)
}

// readHead reads the beginning of a file.
func (s *scan) readHead(name string) ([]byte, File, error) {
	f, _, out, err := s.openFile(name)
	if err != nil {
		return nil, File{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxText))
	return data, out, err
}

// hash returns a file with its hash, which is the recorded one where the stat is
// the same.
func (s *scan) hash(kind Kind, item, name string) (File, error) {
	if err := s.ctx.Err(); err != nil {
		return File{}, err
	}
	f, info, out, err := s.openFile(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	s.files++
	s.bytes += info.Size()
	switch {
	case s.files > s.bounds.files:
		return File{}, &limitError{fmt.Sprintf("The project cannot be trusted: more than %d of its files could run commands, add tools or change settings.", s.bounds.files)}
	case s.bytes > s.bounds.bytes:
		return File{}, &limitError{fmt.Sprintf("The project cannot be trusted: its files that could act have more than %d MiB.", s.bounds.bytes>>20)}
	}
	out.Size, out.stat = info.Size(), statOf(info)
	if old := s.known.item(kind, item).file(name); old != nil && old.Stat != (stat{}) && old.Stat == out.stat && old.Target == out.Target {
		out.SHA256 = old.SHA256
		return out, nil
	}
	if s.lazy && s.known.item(kind, item) == nil {
		return out, nil
	}
	real := name
	if out.Target != "" {
		real = out.Target
	}
	if had, ok := s.hashes[real]; ok { // it belongs to two items
		out.SHA256, out.stat = had.SHA256, had.stat
		return out, nil
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, info.Size()+1))
	if err != nil {
		return File{}, fmt.Errorf("cannot be read: %w", cause(err))
	}
	if n != info.Size() {
		return File{}, errors.New("changes while it is read")
	}
	if after, err := f.Stat(); err != nil || statOf(after) != out.stat {
		return File{}, errors.New("changes while it is read")
	}
	if young := s.now.Add(-racy).UnixNano(); out.stat.Changed > young || out.stat.Modified > young {
		out.stat = stat{}
	}
	out.SHA256 = hex.EncodeToString(h.Sum(nil))
	s.hashes[real] = out
	return out, nil
}
