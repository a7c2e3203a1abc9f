package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Payloads of deleted sessions that are younger than a day wait in a file each in the
// folder "deleted" (an event that names them may be on its way), until [Store.Sweep].
const maxDeleted = 1_000_000 // payloads in one file; the others go with prune

// Deleted says what became of the payloads that a deleted session named.
type Deleted struct {
	Removed []string // nobody else names them
	Bytes   int64    // of these
	Later   []string // they go when they are a day old, if nobody names them then
	Kept    []string // another session names them
	// Left says why something beside the log could not be removed, or that the removal may
	// not outlast a power cut; nil when it is all done.
	Left error
}

// Beside is what a caller of Delete does with the lock held. Either may be nil.
type Beside struct {
	// Before is called ahead of all that Delete does. Its error ends the deletion and is
	// returned as it is.
	Before func() error
	// Others removes what else is kept of the session, just before its own files go. Its
	// error stands in [Deleted.Left].
	Others func() error
}

// Delete removes a log, the bytes that were set aside from it, its diagnostics and what
// lists remember of it, and the payloads that only it names: at once those that are older
// than a day, the others at a later Sweep. It needs the lock; the lock's file stays. The log
// goes last, so that what a crash cuts off is finished by the next Delete.
// Errors: ErrNotFound, *LockedError, ErrStorage, with which the log is still there. What else
// fails stands in the answer.
// A crash in between removes the payloads later, and never one that a log names.
func (s *Store) Delete(ctx context.Context, id protocol.SessionID, beside Beside) (Deleted, error) {
	if err := ctx.Err(); err != nil {
		return Deleted{}, err
	}
	if err := s.mustExist(id); err != nil {
		return Deleted{}, err
	}
	unlock, err := s.lock(id)
	if err != nil {
		return Deleted{}, err
	}
	defer func() { _ = unlock.Unlock() }() // where Before fails or panics; a second call does nothing
	if beside.Before != nil {
		if err := beside.Before(); err != nil {
			return Deleted{}, err
		}
	}
	record, names, left, err := s.deleteLocked(ctx, id, beside.Others)
	left = errors.Join(left, unlock.Unlock())
	if err != nil {
		return Deleted{}, fmt.Errorf("delete session %s: %w: %w", id, errUndone, err)
	}
	s.cache.forget(s, id)
	done := s.settle(ctx, record, names)
	done.Left = left
	return done, nil
}

// deleteLocked removes the log and returns what it named and the file with that, "" when
// there is none, and what failed beside it. On a full disk that file is written once the
// log has made room; a crash in between leaves the payloads to prune.
func (s *Store) deleteLocked(ctx context.Context, id protocol.SessionID, others func() error) (record string, names []string, left, err error) {
	own, err := s.filesOf(id)
	if err != nil {
		return "", nil, nil, err
	}
	if names, err = s.Blobs().mentionedIn(ctx, own); err != nil {
		return "", nil, nil, err
	}
	record, err = s.owe(string(id), names)
	full := errors.Is(err, disk.ErrNoSpace)
	if err != nil && !full {
		return "", nil, nil, err
	}
	if others != nil {
		left = others()
	}
	if info, err := os.Lstat(s.path(id)); err == nil && info.Mode()&fs.ModeSymlink != 0 { // of the machine's disk
		if to, err := filepath.EvalSymlinks(s.path(id)); err == nil {
			left = errors.Join(left, fmt.Errorf("its log was a link, and the file %s, which has the conversation, is not removed", to))
		} else {
			to, _ = os.Readlink(s.path(id))
			left = errors.Join(left, fmt.Errorf("the conversation, as its log was a link to %s, where nothing is", to))
		}
	}
	log := filepath.Base(s.path(id))
	for _, name := range own {
		if name == log {
			continue
		}
		if err := s.fs.Remove(filepath.Join(s.sessions(), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			left = errors.Join(left, err)
		}
	}
	if err := s.fs.Remove(s.path(id)); err != nil {
		return "", nil, nil, err
	}
	if full {
		if record, err = s.owe(string(id), names); err != nil {
			left = errors.Join(left, fmt.Errorf("payloads that cannot go yet wait for scorel sessions prune: %w", err))
		}
	}
	return record, names, errors.Join(left, s.fs.SyncDir(s.sessions())), nil
}

// filesOf returns the names of the files of a session, but for its lock.
func (s *Store) filesOf(id protocol.SessionID) (out []string, err error) {
	files, err := s.fs.ReadDir(s.sessions())
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name, ok := strings.CutPrefix(f.Name(), string(id))
		if ok && (name == ".log" || name == ".log.1" || name == logSuffix || strings.HasPrefix(name, logSuffix+".")) {
			out = append(out, f.Name())
		}
	}
	return out, nil
}

// Release removes payloads that were stored for something that is over, as Delete does
// those of a session.
func (s *Store) Release(ctx context.Context, names []string) (Deleted, error) {
	record, err := s.owe("released"+disk.RandomName(), names)
	if err != nil {
		return Deleted{}, fmt.Errorf("release payloads: %w: %w", errUndone, err)
	}
	return s.settle(ctx, record, names), nil
}

func (s *Store) deletedDir() string { return filepath.Join(s.cfg.Dir, "deleted") }

// owe notes payloads that are to be removed, durably, and returns the file in which they
// stand, "" without any.
func (s *Store) owe(what string, names []string) (record string, err error) {
	if len(names) == 0 {
		return "", nil
	}
	if err := s.makeDir(s.deletedDir()); err != nil {
		return "", err
	}
	names = names[:min(len(names), maxDeleted)]
	record = filepath.Join(s.deletedDir(), what)
	if err := disk.WriteFile(s.fs, record, []byte(strings.Join(names, "\n")+"\n")); err != nil {
		return "", err
	}
	return record, nil
}

// settleRecord is [Store.settle] of what a record has.
func (s *Store) settleRecord(ctx context.Context, record string) Deleted {
	data, err := disk.ReadFile(s.fs, record, maxDeleted*(hexSHA+1))
	if err != nil {
		return Deleted{}
	}
	return s.settle(ctx, record, strings.Fields(string(data)))
}

// settle removes the payloads of names that may go, and their record, "" for none, when none
// is left to wait. What cannot be done now waits too.
func (s *Store) settle(ctx context.Context, record string, names []string) Deleted {
	if len(names) == 0 {
		return Deleted{}
	}
	var err error
	b := s.Blobs()
	limit := s.cfg.Now().Add(-minPruneAge)
	there, ages := map[string]int64{}, map[string]time.Time{} // bounded by the record
	for _, sha := range names[:min(len(names), maxDeleted)] {
		if !protocol.IsPayload(sha) {
			continue
		}
		if info, err := s.fs.Stat(b.path(sha)); err == nil {
			there[sha], ages[sha] = info.Size(), info.ModTime()
		}
	}
	nobodys := maps.Clone(there)
	if err := b.keepNamed(ctx, nobodys); err != nil {
		return Deleted{Later: slices.Sorted(maps.Keys(there))}
	}
	var out Deleted
	for _, sha := range slices.Sorted(maps.Keys(there)) {
		if _, ok := nobodys[sha]; !ok {
			out.Kept = append(out.Kept, sha)
			continue
		}
		gone := false
		if ages[sha].Before(limit) && ctx.Err() == nil {
			gone, err = b.removeOld(sha, limit)
			gone = gone && err == nil || errors.Is(err, fs.ErrNotExist)
		}
		if !gone {
			out.Later = append(out.Later, sha)
			continue
		}
		out.Removed = append(out.Removed, sha)
		out.Bytes += there[sha]
	}
	if len(out.Removed) > 0 {
		_ = s.fs.SyncDir(b.dir()) // a name that comes back is removed at the next sweep of its record, or by prune
	}
	switch {
	case record == "":
	case len(out.Later) == 0:
		_ = s.fs.Remove(record) // one that stays is settled again
	case len(out.Removed) > 0 || len(out.Kept) > 0:
		_ = disk.WriteFile(s.fs, record, []byte(strings.Join(out.Later, "\n")+"\n"))
	}
	return out
}

// Swept says what a Sweep has removed.
type Swept struct {
	Blobs int
	Bytes int64
	Temps int // files that a crash left unfinished
}

// Sweep removes what waits since a day or longer: what SweepDeleted removes, and files that
// a crash left unfinished. A host calls it now and then.
func (s *Store) Sweep(ctx context.Context) (Swept, error) {
	var out Swept
	limit := s.cfg.Now().Add(-minPruneAge)
	for _, dir := range []string{s.Blobs().dir(), s.sessions(), s.deletedDir()} {
		n, err := s.sweepTemps(ctx, dir, limit)
		if out.Temps += n; err != nil {
			return out, fmt.Errorf("sweep: %w", err)
		}
	}
	done, err := s.SweepDeleted(ctx)
	out.Blobs, out.Bytes = done.Blobs, done.Bytes
	return out, err
}

// SweepDeleted removes the payloads of deleted sessions that wait since a day or longer and
// that nobody names. It costs nothing when none do.
func (s *Store) SweepDeleted(ctx context.Context) (Swept, error) {
	var out Swept
	limit := s.cfg.Now().Add(-minPruneAge)
	records, err := s.fs.ReadDir(s.deletedDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, fmt.Errorf("sweep: %w", err)
	}
	for _, r := range records {
		if info, err := r.Info(); err != nil || disk.IsTemp(r.Name()) || !info.ModTime().Before(limit) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		done := s.settleRecord(ctx, filepath.Join(s.deletedDir(), r.Name()))
		out.Blobs += len(done.Removed)
		out.Bytes += done.Bytes
		if len(done.Later) > 0 && ctx.Err() == nil { // put again meanwhile: in another day
			_ = s.fs.Touch(filepath.Join(s.deletedDir(), r.Name()))
		}
	}
	return out, nil
}

// sweepTemps removes the unfinished files of a folder that are older than limit. A blob
// that was moved away to be removed, and whose removal was cut off, gets its name back:
// it may have been put again just before.
func (s *Store) sweepTemps(ctx context.Context, dir string, limit time.Time) (n int, err error) {
	entries, err := s.fs.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if !disk.IsTemp(e.Name()) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if sha, ok := strings.CutSuffix(e.Name(), awaySuffix); ok && protocol.IsPayload(sha) {
			if _, err := s.fs.Stat(filepath.Join(dir, sha)); errors.Is(err, fs.ErrNotExist) {
				if err := s.fs.Rename(name, filepath.Join(dir, sha)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return n, err
				}
				continue
			}
		}
		if !info.ModTime().Before(limit) {
			continue
		}
		if err := s.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return n, err
		}
		n++
	}
	return n, nil
}
