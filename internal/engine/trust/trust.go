package trust

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"scorel/internal/engine/heartbeat"
	"scorel/internal/platform/disk"
)

// Config returns where a store works.
type Config struct {
	FS  disk.FS          // of trust.json; nil: the machine's
	Dir string           // ~/.scorel, which is not a project's
	Now func() time.Time // nil: the machine's clock
}

// Store is the trusted folders of a device.
type Store struct {
	cfg    Config
	bounds bounds
}

// New makes a store. It touches nothing.
func New(cfg Config) *Store {
	if cfg.FS == nil {
		cfg.FS = disk.OS()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Store{cfg, bounds{MaxFiles, MaxBytes, maxEntries}}
}

// ConflictError reports that the files are not those that were approved. Report is
// how they are now.
type ConflictError struct{ Report *Report }

func (e *ConflictError) Error() string {
	return "the files of " + e.Report.Root + " are not those that were shown; look at them again"
}

// Look returns how the project at root stands. Root is absolute and without
// symlinks. Files that are as they were when they were trusted, by inode, size
// and both times, are not read. The error is that root cannot be read; all else
// is in the report.
func (s *Store) Look(ctx context.Context, root string) (*Report, error) {
	return s.recorded(ctx, root, byStat)
}

// Status is Look without what only who approves the files needs: those of items
// that were never trusted are not read and have no SHA256, and the report has no
// Hash.
func (s *Store) Status(ctx context.Context, root string) (*Report, error) {
	return s.recorded(ctx, root, statusOnly)
}

func (s *Store) recorded(ctx context.Context, root string, how reading) (*Report, error) {
	c, err := s.load()
	r, lerr := s.look(ctx, root, c.Folders[root], how)
	if lerr != nil {
		return nil, lerr
	}
	r.Warning = s.warning(err)
	return r, nil
}

// reading returns which files a look reads.
type reading int

const (
	all        reading = iota
	byStat             // those that are not known by their stat
	statusOnly         // of these those that were trusted once
)

func (s *Store) look(ctx context.Context, root string, rec *folderRecord, how reading) (*Report, error) {
	p, err := s.open(root)
	if err != nil {
		return nil, err
	}
	defer p.root.Close()
	r := &Report{Root: root}
	if rec != nil {
		r.TrustedAt = time.UnixMilli(rec.TrustedAt)
	}
	sc := &scan{project: p, ctx: ctx, now: s.cfg.Now(), hashes: map[string]File{}, lazy: how == statusOnly, bounds: s.bounds}
	if how != all {
		sc.known = rec
	}
	items, err := sc.items()
	var limit *limitError
	switch {
	case errors.As(err, &limit):
		r.Problem = limit.Error()
		return r, nil
	case err != nil:
		return nil, err
	}
	for i := range items {
		items[i].judge(rec.item(items[i].Kind, items[i].Name), rec != nil)
	}
	r.Items = items
	r.finish()
	if how == statusOnly {
		r.Hash = ""
	}
	return r, nil
}

// Trust trusts the items of the project at root, if they are still those that
// hash names: else the error is a *ConflictError, and nothing has changed. Every
// file is read. Aside names the file that a damaged trust.json was moved to, ""
// when it was not. Items with a problem stay untrusted; where there are no
// others nothing is written.
func (s *Store) Trust(ctx context.Context, root, hash string) (r *Report, aside string, err error) {
	if !utf8.ValidString(root) {
		return nil, "", fmt.Errorf("the path %q is not valid UTF-8, so it cannot be kept in a list", root)
	}
	aside, err = s.update(func(c *content) (bool, error) {
		var lerr error
		r, lerr = s.look(ctx, root, c.Folders[root], all)
		switch {
		case lerr != nil:
			return false, lerr
		case r.Problem != "":
			return false, errors.New(r.Problem)
		case r.Hash != hash:
			return false, &ConflictError{r}
		}
		next := &folderRecord{TrustedAt: s.cfg.Now().UnixMilli()}
		for i := range r.Items {
			it := &r.Items[i]
			if it.Problem == "" {
				next.Items = append(next.Items, it.record())
			}
		}
		if len(next.Items) == 0 {
			return false, nil
		}
		c.Folders[root] = next
		r.TrustedAt = time.UnixMilli(next.TrustedAt)
		for i := range r.Items {
			it := &r.Items[i]
			for k := range it.Files {
				it.Files[k].Change = ""
			}
			it.Gone = nil
			it.judge(next.item(it.Kind, it.Name), true)
		}
		return true, nil
	})
	if err != nil {
		return nil, "", err
	}
	return r, aside, nil
}

func (it *Item) record() itemRecord {
	rec := itemRecord{Kind: it.Kind, Name: it.Name}
	for _, f := range it.Files {
		rec.Files = append(rec.Files, fileRecord{Name: f.Name, Target: f.Target, SHA256: f.SHA256, Stat: f.stat})
	}
	return rec
}

// Revoke takes all trust from the folder root, which need not exist any more. It
// reports whether there was any, and where a damaged trust.json was set aside.
func (s *Store) Revoke(root string) (was bool, aside string, err error) {
	aside, err = s.update(func(c *content) (bool, error) {
		was = c.Folders[root] != nil
		delete(c.Folders, root)
		return was, nil
	})
	return was, aside, err
}

// Read reads an item that is one file, once, and reports whether exactly these bytes
// are trusted. A missing file gives nil. What leads out of the project or is no
// regular file of at most limit bytes is an error. The warning is that of
// [Report].
func (s *Store) Read(root string, kind Kind, name string, limit int64) (data []byte, trusted bool, warning string, err error) {
	p, err := s.open(root)
	if err != nil {
		return nil, false, "", err
	}
	defer p.root.Close()
	if p.ours(name) {
		return nil, false, "", nil
	}
	data, f, err := p.read(name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, "", nil
	}
	if err != nil {
		return nil, false, "", fmt.Errorf("%s %w", filepath.Join(root, name), err)
	}
	c, lerr := s.load()
	old := c.Folders[root].item(kind, name).file(name)
	return data, old != nil && old.SHA256 == f.SHA256 && old.Target == f.Target, s.warning(lerr), nil
}

// ReadHeartbeat reads the two files of a project's heartbeats, each once, and reports whether
// exactly these bytes are trusted, and together. Without a HEARTBEAT.md both are nil. What
// leads out of the project or is not a regular file of at most [heartbeat.MaxFile] bytes is an
// error. The warning is that of [Report].
func (s *Store) ReadHeartbeat(root string) (tasks, standing []byte, trusted bool, warning string, err error) {
	p, err := s.open(root)
	if err != nil {
		return nil, nil, false, "", err
	}
	defer p.root.Close()
	if p.ours(heartbeat.File) {
		return nil, nil, false, "", nil
	}
	tasks, f, err := p.read(heartbeat.File, heartbeat.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, "", nil
	}
	if err != nil {
		return nil, nil, false, "", fmt.Errorf("%s %w", filepath.Join(root, heartbeat.File), err)
	}
	c, lerr := s.load()
	rec := c.Folders[root].item(KindHeartbeat, heartbeat.File)
	files := 1
	trusted = rec.file(heartbeat.File).is(f)
	standing, f, err = p.read(heartbeat.Standing, heartbeat.MaxFile)
	switch {
	case err == nil:
		files++
		trusted = trusted && rec.file(heartbeat.Standing).is(f)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, false, "", fmt.Errorf("%s %w", filepath.Join(root, heartbeat.Standing), err)
	}
	return tasks, standing, trusted && len(rec.Files) == files, s.warning(lerr), nil
}

// ErrChanged is what [Item.Read] gives for what is not, or no more, trusted.
var ErrChanged = errors.New("it is not the file that was trusted")

// Read reads a file of a trusted item as it is now, and returns its bytes only when
// they are those that were trusted; else the error is [ErrChanged], or says what
// is wrong with the file.
func (it *Item) Read(name string) ([]byte, error) {
	for _, f := range it.Files {
		if f.Name != name || it.Status != StatusTrusted {
			continue
		}
		p, err := it.project.reopen()
		if err != nil {
			return nil, err
		}
		defer p.root.Close()
		data, now, err := p.read(name, f.Size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", name, ErrChanged, err)
		}
		if now.SHA256 != f.SHA256 || now.Target != f.Target {
			return nil, fmt.Errorf("%s: %w", name, ErrChanged)
		}
		return data, nil
	}
	return nil, fmt.Errorf("%s: %w", name, ErrChanged)
}

// open opens a project. Its folder is held, so that what is judged and what is
// read are in the same one.
func (s *Store) open(root string) (*project, error) {
	closed, err := filepath.EvalSymlinks(s.cfg.Dir)
	if err != nil {
		closed = filepath.Clean(s.cfg.Dir)
	}
	return (&project{dir: root, closed: closed}).reopen()
}

// reopen returns the same project with an open folder.
func (p *project) reopen() (*project, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, fmt.Errorf("the project %s cannot be read: %w", p.dir, cause(err))
	}
	return &project{dir: p.dir, closed: p.closed, root: root}, nil
}
