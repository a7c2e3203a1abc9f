package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/engine/session/health"
	"scorel/internal/engine/session/owner"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Config says where and with what a store works.
type Config struct {
	FS        disk.FS          // nil: the machine's
	Dir       string           // the ~/.scorel folder
	Now       func() time.Time // nil: the machine's clock
	Rand      io.Reader        // nil: the machine's
	SyncLimit int              // fsyncs in flight, of all logs together; 0: 16
	Owner     func() []byte    // what locks say about this process ([owner.Owner.Text]); nil: pid, start and program
}

// Store is the folder of all sessions of a device.
type Store struct {
	logs  openLogs // how many are open
	cfg   Config
	fs    disk.FS
	syncs chan struct{} // one token for each fsync in flight
	cache listCache

	dirs sync.Mutex
	made map[string]bool // the two folders, once they are durable
}

const defaultSyncs = 16

// OpenStore makes a store. It touches nothing: folders are made when the first
// file is.
func OpenStore(cfg Config) (*Store, error) {
	if cfg.Dir == "" {
		return nil, errors.New("session: the store has no folder")
	}
	if cfg.FS == nil {
		cfg.FS = disk.OS()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	if cfg.Owner == nil {
		cfg.Owner = owner.This(cfg.Now())
	}
	if cfg.SyncLimit <= 0 {
		cfg.SyncLimit = defaultSyncs
	}
	return &Store{cfg: cfg, fs: cfg.FS, syncs: make(chan struct{}, cfg.SyncLimit)}, nil
}

// syncing makes something durable when there is a place for one more fsync. What do
// returns is ErrStorage.
func (s *Store) syncing(ctx context.Context, do func() error) error {
	select {
	case s.syncs <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.syncs }()
	if err := do(); err != nil {
		return fmt.Errorf("%w: %w", ErrStorage, err)
	}
	return nil
}

func (s *Store) sessions() string { return filepath.Join(s.cfg.Dir, "sessions") }

func (s *Store) path(id protocol.SessionID) string {
	return filepath.Join(s.sessions(), string(id)+logSuffix)
}

const (
	logSuffix     = ".jsonl"
	lockSuffix    = ".lock"
	damagedSuffix = logSuffix + ".damaged-"
)

// makeDir makes a folder of the store, and its name durable. It does so once a
// process: another that was killed may have made the folder and not synced it.
func (s *Store) makeDir(dir string) error {
	s.dirs.Lock()
	defer s.dirs.Unlock() // held over I/O: whoever waits needs the folder
	if _, err := s.fs.Stat(dir); err == nil && s.made[dir] {
		return nil
	}
	if err := s.fs.MkdirAll(dir); err != nil {
		return err
	}
	if err := s.fs.SyncDir(s.cfg.Dir); err != nil {
		return err
	}
	if err := s.fs.SyncDir(filepath.Dir(s.cfg.Dir)); err != nil {
		return err
	}
	if s.made == nil {
		s.made = map[string]bool{}
	}
	s.made[dir] = true
	return nil
}

// remake makes the folder of the logs again, which was there and may have been removed. It
// fails where that of the store is gone, too: a place that is not mounted is not written to.
func (s *Store) remake() error {
	if _, err := s.fs.Stat(s.cfg.Dir); err != nil {
		return err
	}
	return s.makeDir(s.sessions())
}

// lock takes the lock of a log.
func (s *Store) lock(id protocol.SessionID) (disk.Unlocker, error) {
	u, err := s.fs.Lock(filepath.Join(s.sessions(), string(id)+lockSuffix), s.cfg.Owner())
	if err != nil {
		return nil, lockError(id, err)
	}
	return u, nil
}

// exists reports whether there is a log of that id; a link that leads nowhere is one that
// cannot be read.
func (s *Store) exists(id protocol.SessionID) (bool, error) {
	if err := id.Check(); err != nil {
		return false, err
	}
	_, err := s.fs.Stat(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if errors.Is(err, disk.ErrNowhere) {
		return true, nil
	}
	return err == nil, err
}

// mustExist is exists with the error that callers return: *RemovedError where there was one.
func (s *Store) mustExist(id protocol.SessionID) error {
	switch ok, err := s.exists(id); {
	case err != nil && id.Check() != nil:
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case err != nil:
		return fmt.Errorf("session %s: %w", id, err)
	case !ok:
		if gone := s.removed(id); gone != nil {
			return gone
		}
		return fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	return nil
}

// Create makes a log and is its writer. The header is durable when it returns.
// An empty id, version or time of creation is filled in. A log of that id gives
// ErrExists, another writer *LockedError, a failing disk ErrStorage; in all of
// these no log has been made.
func (s *Store) Create(ctx context.Context, h protocol.Header) (*Log, error) {
	return s.make(ctx, h, nil)
}

// make is Create with lines after the header: fill gives them to put.
func (s *Store) make(ctx context.Context, h protocol.Header, fill func(id protocol.SessionID, put func([]byte) error) error) (*Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := s.cfg.Now()
	if h.SessionID == "" {
		h.SessionID = protocol.NewSessionID(now, s.cfg.Rand)
	}
	if h.Version == 0 {
		h.Version = protocol.HeaderVersion
	}
	if h.CreatedAt == 0 {
		h.CreatedAt = now.UnixMilli()
	}
	id := h.SessionID
	line, err := h.AppendLine(nil)
	if err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	if err := s.makeDir(s.sessions()); err != nil {
		return nil, fmt.Errorf("create session %s: %w: %w", id, ErrStorage, err)
	}
	unlock, err := s.lock(id)
	if err != nil {
		return nil, err
	}
	log, err := s.makeLocked(ctx, id, unlock, func(put func([]byte) error) error {
		if err := put(append(line, '\n')); err != nil || fill == nil {
			return err
		}
		return fill(id, put)
	})
	if err != nil {
		_ = unlock.Unlock()
		return nil, fmt.Errorf("create session %s: %w", id, err)
	}
	return log, nil
}

func (s *Store) makeLocked(ctx context.Context, id protocol.SessionID, unlock disk.Unlocker, fill func(put func([]byte) error) error) (*Log, error) {
	switch ok, err := s.exists(id); {
	case err != nil:
		return nil, err
	case ok:
		return nil, ErrExists
	}
	if err := s.writeLog(s.path(id), fill); err != nil {
		return nil, err
	}
	log, _, err := s.attach(ctx, id, unlock, true)
	if err != nil {
		_ = s.fs.Remove(s.path(id))
		return nil, err
	}
	return log, nil
}

// writeLog is replaceLog for a new log: when it fails there is none.
func (s *Store) writeLog(name string, fill func(put func([]byte) error) error) error {
	err := s.replaceLog(name, fill)
	if err != nil {
		_ = s.fs.Remove(name) // it is there when only its name may not last; nobody was told of it
	}
	return err
}

// replaceLog writes a file under a temporary name, makes it durable and gives it
// its name, durable too. When it fails the old file is there, or when only the
// last sync of the folder failed the new one.
func (s *Store) replaceLog(name string, fill func(put func([]byte) error) error) error {
	f, tmp, err := disk.Temp(s.fs, name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStorage, err)
	}
	out := &appender{file: f}
	filled := fill(out.put)
	if err = filled; err == nil {
		err = out.flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = s.fs.Rename(tmp, name)
	}
	if err != nil {
		_ = s.fs.Remove(tmp)
		if filled != nil && out.err == nil {
			return filled // the source's, not the disk's
		}
		return fmt.Errorf("%w: %w", ErrStorage, err)
	}
	if err := s.fs.SyncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("%w: %w", ErrStorage, err)
	}
	return nil
}

// Open opens a log and is its writer until Close. A damaged end is set aside;
// everything found is in the report. Errors: ErrNotFound, *LockedError,
// ErrStorage.
func (s *Store) Open(ctx context.Context, id protocol.SessionID) (*Log, health.Report, error) {
	if err := s.mustExist(id); err != nil {
		return nil, health.Report{}, err
	}
	unlock, err := s.lock(id)
	if err != nil {
		return nil, health.Report{}, err
	}
	log, report, err := s.attach(ctx, id, unlock, false)
	if err != nil {
		_ = unlock.Unlock()
		return nil, health.Report{}, err
	}
	return log, report, nil
}

// attach loads and repairs a log whose lock is held. A fresh one is durable.
func (s *Store) attach(ctx context.Context, id protocol.SessionID, unlock disk.Unlocker, fresh bool) (*Log, health.Report, error) {
	name := s.path(id)
	f, err := s.fs.Open(name, disk.ReadWrite)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, health.Report{}, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, health.Report{}, fmt.Errorf("open session %s: %w: %w", id, errUnopened, err)
	}
	src := &source{file: f, open: func() (disk.File, error) { return s.fs.Open(name, disk.ReadOnly) }}
	loaded, err := s.loadDurable(ctx, id, src, f, fresh)
	if err != nil {
		_ = src.close()
		return nil, health.Report{}, err
	}
	l := &Log{store: s, name: name, ix: loaded.index, src: src, file: f, unlock: unlock}
	l.repair(ctx, loaded)
	s.logs.add()
	return l, loaded.report, nil
}

// loadDurable makes what is in a log durable, as somebody may have been
// killed before that, and loads it: whatever is read is then told.
func (s *Store) loadDurable(ctx context.Context, id protocol.SessionID, src *source, f disk.File, fresh bool) (*loaded, error) {
	size, err := f.Size()
	if err == nil && !fresh {
		err = f.Sync()
	}
	if err == nil && !fresh {
		err = s.fs.SyncDir(s.sessions())
	}
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w: %w", id, ErrStorage, err)
	}
	return load(ctx, id, src, size)
}
