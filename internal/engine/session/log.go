package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"scorel/internal/engine/session/rawlog"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Log is a session opened by its only writer. Commit, PickLeaf and Close may be
// called concurrently and wait for each other.
type Log struct {
	store  *Store
	name   string
	ix     *Index
	src    *source
	unlock disk.Unlocker

	mu      sync.Mutex // held over the writing of a commit; the index's lock is taken inside
	file    disk.File  // what src reads from, for writing
	buf     []byte     // kept between commits
	tailEnd int64      // with pick: the damaged tail stands from the index's end to here
	pad     int64      // with tailEnd: 1 when the event before the tail lacks its newline
	broken  error      // why there is no file
	closed  bool
	placed  func(sentence string) // see [Log.OnPlaced]; may be nil
	mod     time.Time             // of the file's last change that was ours, or looked at

	// stateMu guards what follows, and is taken inside mu: who only asks does not
	// wait for a commit.
	stateMu  sync.Mutex
	readOnly string // why; empty when events are taken
	pick     bool   // readOnly ends when a leaf has been picked
}

// DamageKind is the kind of the custom event that keeps what was found damaged and has been set
// right, until the conversation goes on. Its data is a [DamageNote].
const DamageKind = protocol.OwnKind + "damage"

// DamageNote says in a sentence what was found.
type DamageNote struct {
	Text string `json:"text"`
}

// ErrInvalidEvent is in the chain when an event cannot stand in the log: its
// seq, id, parent, session or form is wrong. Nothing was written.
var ErrInvalidEvent = errors.New("the event does not fit the log")

// Index returns what the log knows of its events. It stays usable until Close.
func (l *Log) Index() *Index { return l.ix }

// ID is the session's id.
func (l *Log) ID() protocol.SessionID { return l.ix.id }

// NextSeqFloor is the lowest seq that Commit accepts next.
func (l *Log) NextSeqFloor() protocol.Seq { return l.ix.NextSeqFloor() }

// ReadOnly reports whether the log takes no events, and why, as a sentence. It does not
// wait for a commit that is on its way.
func (l *Log) ReadOnly() (bool, string) {
	l.stateMu.Lock()
	defer l.stateMu.Unlock()
	return l.readOnly != "", l.readOnly
}

// NeedsLeaf reports whether the log is read-only until PickLeaf.
func (l *Log) NeedsLeaf() bool {
	l.stateMu.Lock()
	defer l.stateMu.Unlock()
	return l.pick
}

// Broken returns why the log has no file that it can write to, nil when it has one.
// The next commit tries to make one. What is stored stays readable.
func (l *Log) Broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// Cut returns how many bytes of the log are left where another program has cut it while it is
// open, and false where it is whole, or nobody can tell. It does not wait for a commit.
func (l *Log) Cut() (left int64, cut bool) {
	end := l.ix.Size() // before the file is looked at, which never has less
	size, err := l.src.size()
	return size, err == nil && size < end
}

// OnPlaced has f called when a commit has found that another program took the log's name
// away, with a sentence for people: the log has its name again. It is called during that
// commit and must not wait for anything.
func (l *Log) OnPlaced(f func(sentence string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.placed = f
}

// Commit stores events: one write, one fsync. They are durable and in the index
// when it returns nil. Otherwise none of them is stored: ErrReadOnly,
// ErrInvalidEvent, ErrClosed, the context's error (only before anything was
// written), a *LockedError once another host has taken the session over, or ErrStorage, with [disk.ErrNoSpace] when the disk is full. The seqs
// must rise; each parent must be a conversation event of the log or before it in
// events. Nothing of the caller's memory is kept.
func (l *Log) Commit(ctx context.Context, events []protocol.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readOnly != "" && !l.closed {
		return fmt.Errorf("session %s: %w: %s", l.ix.id, ErrReadOnly, l.readOnly)
	}
	return l.commit(ctx, events)
}

// PickLeaf ends the read-only state of a log in which damaged bytes may have
// moved the leaf: it stores ev, a branch or rewind event that names the leaf. A
// damaged end is set aside first. Errors are those of Commit.
func (l *Log) PickLeaf(ctx context.Context, ev protocol.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.pick {
		if l.readOnly != "" {
			return fmt.Errorf("session %s: %w: %s", l.ix.id, ErrReadOnly, l.readOnly)
		}
		return fmt.Errorf("session %s needs no leaf: %w", l.ix.id, ErrInvalidEvent)
	}
	leaf, moves := ev.Leaf()
	if !moves {
		return fmt.Errorf("a %s event picks no leaf: %w", ev.Type, ErrInvalidEvent)
	}
	if _, rewind := ev.Body.(*protocol.Rewind); leaf != "" || !rewind {
		if _, err := l.ix.conversation(leaf); err != nil {
			return err
		}
	}
	if end := l.ix.Size(); l.tailEnd > end {
		if _, err := l.setAside(ctx, end, l.tailEnd); err != nil {
			return fmt.Errorf("session %s: %w: the damaged end could not be set aside: %w", l.ix.id, ErrStorage, err)
		}
	}
	if err := l.commit(ctx, []protocol.Event{ev}); err != nil {
		return err
	}
	l.tailEnd, l.pad = 0, 0
	l.stateMu.Lock()
	defer l.stateMu.Unlock()
	l.readOnly, l.pick = "", false
	return nil
}

// commit is Commit with mu held.
func (l *Log) commit(ctx context.Context, events []protocol.Event) error {
	if l.closed {
		return fmt.Errorf("session %s: %w", l.ix.id, ErrClosed)
	}
	if err := l.held(); err != nil { // nothing is written into the other's log
		return lockError(l.ix.id, err)
	}
	if err := l.revive(); err != nil {
		return l.storageError(err)
	}
	if err := l.inPlace(); err != nil {
		return l.storageError(err)
	}
	records, used, err := l.encode(events)
	if err != nil {
		return fmt.Errorf("session %s: %w", l.ix.id, err)
	}
	if len(records) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.store.syncs <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.store.syncs }()

	end := l.ix.Size()
	if err := l.write(end); err != nil {
		return l.storageError(err)
	}
	l.ix.mu.Lock()
	defer l.ix.mu.Unlock()
	for i := range records {
		l.ix.add(&records[i], used)
	}
	l.ix.end = end + l.pad + int64(len(l.buf))
	if cap(l.buf) > rawlog.BlockSize {
		l.buf = nil
	}
	_, l.mod = disk.NameOf(l.name, l.file)
	return nil
}

func (l *Log) storageError(err error) error {
	return fmt.Errorf("session %s: %w: %w", l.ix.id, ErrStorage, err)
}

// encode writes events into buf and makes their records.
func (l *Log) encode(events []protocol.Event) ([]record, usages, error) {
	l.buf = l.buf[:0]
	off := l.ix.Size() + l.pad
	next, prev := l.ix.NextSeqFloor(), l.ix.LastSeq()
	var used usages
	records := make([]record, 0, len(events))
	for _, ev := range events {
		start := len(l.buf)
		ev, err := ev.SealAfter(prev)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrInvalidEvent, err)
		}
		l.buf = append(l.buf, ev.Raw()...)
		line := l.buf[start:]
		var r record
		switch err := parseRecord(line, off+int64(start), &r, &used); {
		case err != nil:
			return nil, nil, fmt.Errorf("%w: %w", ErrInvalidEvent, err)
		case ev.SessionID != l.ix.id:
			return nil, nil, fmt.Errorf("%w: it belongs to %q", ErrInvalidEvent, ev.SessionID)
		case r.seq < next:
			return nil, nil, fmt.Errorf("%w: its seq %d is below %d", ErrInvalidEvent, r.seq, next)
		case r.hasPrev && r.prev != prev:
			return nil, nil, fmt.Errorf("%w: it follows on %d, and the log ends with %d", ErrInvalidEvent, r.prev, prev)
		case r.sum == protocol.SumWrong:
			return nil, nil, fmt.Errorf("%w: its checksum is wrong", ErrInvalidEvent)
		case bytes.IndexByte(line, '\n') >= 0:
			return nil, nil, fmt.Errorf("%w: it holds a line end", ErrInvalidEvent)
		}
		if err := l.fits(&r, records); err != nil {
			return nil, nil, err
		}
		next, prev = r.seq+1, r.seq
		records = append(records, r)
		l.buf = append(l.buf, '\n')
	}
	return records, used, nil
}

// fits checks id and parent against the log and the events before it.
func (l *Log) fits(r *record, before []record) error {
	l.ix.mu.RLock()
	defer l.ix.mu.RUnlock()
	known := l.ix.find(r.id) != none
	parent := !r.hasParent
	if p := l.ix.find(r.parent); r.hasParent && p != none {
		parent = l.ix.entries[p].flags&flagControl == 0
	}
	for i := range before {
		known = known || before[i].id == r.id
		parent = parent || before[i].id == r.parent && !before[i].control
	}
	if known {
		return fmt.Errorf("%w: event %s is there already", ErrInvalidEvent, r.id.id())
	}
	if !parent {
		return fmt.Errorf("%w: its parent %s is not a conversation event of this log", ErrInvalidEvent, r.parent.id())
	}
	return nil
}

// write puts buf after the durable bytes. When it fails the file holds those
// alone (and a tail that waits for PickLeaf), or the log is broken.
func (l *Log) write(end int64) error {
	if l.tailEnd > end {
		return l.writeOverTail(end)
	}
	if _, err := l.file.WriteAt(l.buf, end); err != nil {
		undo := l.file.Truncate(end)
		if undo == nil {
			undo = l.file.Sync()
		}
		if undo != nil {
			l.rewrite(end, undo)
		}
		return fmt.Errorf("write: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		l.rewrite(end, err)
		return fmt.Errorf("fsync: %w", err)
	}
	return nil
}

// writeOverTail puts buf in the place of a damaged tail that has been set aside,
// all or nothing: with the tail would go the knowledge that a leaf must be picked.
func (l *Log) writeOverTail(end int64) error {
	more := append(bytes.Repeat([]byte("\n"), int(l.pad)), l.buf...)
	f, renamed, err := l.copyPrefix(end, more)
	if err != nil {
		if renamed {
			l.file, l.broken = nil, err
			l.src.swap(nil)
		}
		return err
	}
	l.file = f
	l.src.swap(f)
	return nil
}

// rewrite gives up the open file, of which nothing cached is trusted any more,
// and goes on in a new one that holds the durable bytes. When that fails too the
// log is broken.
func (l *Log) rewrite(end int64, cause error) {
	_ = l.file.Truncate(end) // in case nothing below works: what was refused should not be found later
	l.file = nil
	l.src.swap(nil) // readers open it again by name
	f, _, err := l.copyPrefix(end, nil)
	if err != nil {
		l.broken = fmt.Errorf("%w; then: %w", cause, err)
		return
	}
	l.file = f
	l.src.swap(f)
}

// revive makes a broken log a new file, when the disk works again.
func (l *Log) revive() error {
	end := l.ix.Size()
	if l.broken == nil || l.tailEnd > end {
		return l.broken
	}
	f, _, err := l.copyPrefix(end, nil)
	if err != nil {
		return fmt.Errorf("%w; then: %w", l.broken, err)
	}
	l.file, l.broken = f, nil
	l.src.swap(f)
	return nil
}

// held returns why the log is no longer ours to write into, nil when it is. Where another
// program has removed the folder, it is made again, with the lock.
func (l *Log) held() error {
	err := l.unlock.Held()
	if errors.Is(err, fs.ErrNotExist) {
		if err = l.store.remake(); err == nil {
			err = l.unlock.Held()
		}
	}
	return err
}

// asWritten reports whether the first and the last line of the file are those of the index.
func (l *Log) asWritten() bool {
	sn := l.ix.snapshot()
	if at := l.ix.headerAt; at[1] > 0 {
		line, err := l.src.read(int64(at[0]), at[1])
		if err != nil {
			return false
		}
		if _, err := protocol.ParseHeader(line); err != nil {
			return false
		}
	}
	if len(sn.entries) == 0 {
		return true
	}
	last := &sn.entries[0]
	for i := range sn.entries {
		if sn.entries[i].off > last.off {
			last = &sn.entries[i]
		}
	}
	line, err := l.src.read(last.off, int(last.size))
	if err != nil {
		return false
	}
	var k protocol.Keys
	return protocol.ScanKeys(line, &k) == nil && parseKey(k.ID) == last.id
}

// inPlace gives the log its name again where another program has taken that away: what is
// written into a file without a name is lost with the host. A file that somebody put in its
// place is kept beside it. It returns an error when that fails, and when another program has
// cut the log.
func (l *Log) inPlace() error {
	end := l.ix.Size()
	named, mod := disk.NameOf(l.name, l.file)
	switch size, err := l.file.Size(); {
	case err != nil:
	case size < end:
		return fmt.Errorf("another program has cut the log to %d of %d bytes while it was open; close the session and open it again to see what is left of it", size, end)
	case size > max(end, l.tailEnd):
		return fmt.Errorf("another program has written %d bytes to the end of the log while it was open; close the session and open it again to have them in it", size-end)
	case !mod.Equal(l.mod) && !l.asWritten():
		return errors.New("another program has written into the log while it was open; close the session and open it again to see what is in it")
	}
	l.mod = mod
	if named == disk.NamesIt || l.tailEnd > end { // with a tail the next write makes a file
		return nil
	}
	what, kept := "Another program has removed the log of this session", ""
	if named == disk.NamesAnother {
		what = "Another program has put another file in the place of the log of this session"
		aside := l.asideName(0)
		for n := 1; ; n++ {
			if _, err := l.store.fs.Stat(aside); err != nil {
				break
			}
			aside = l.asideName(n)
		}
		if err := l.store.fs.Rename(l.name, aside); err != nil {
			return fmt.Errorf("%s while it was open, and that cannot be moved away: %w", what, err)
		}
		kept = " The other file is " + aside + " now."
	}
	err := l.store.remake()
	var f disk.File
	if err == nil {
		f, _, err = l.copyPrefix(end, nil)
	}
	if err != nil {
		return fmt.Errorf("%s while it was open, and it cannot be written again: %w", what, err)
	}
	l.file = f
	l.src.swap(f)
	if l.placed != nil {
		l.placed(what + " while it was open. All of it is in its place again." + kept)
	}
	return nil
}

// copyPrefix makes a file of the first end bytes and more, and gives it the
// log's name. With an error after renamed, either file may have the name after a
// power cut.
func (l *Log) copyPrefix(end int64, more []byte) (f disk.File, renamed bool, err error) {
	fsys := l.store.fs
	f, tmp, err := disk.Temp(fsys, l.name)
	if err != nil {
		return nil, false, err
	}
	err = copyRange(f, 0, l.src.readAt, 0, end)
	if err == nil && len(more) > 0 {
		_, err = f.WriteAt(more, end)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fsys.Rename(tmp, l.name)
	}
	if err != nil {
		_ = f.Close()
		_ = fsys.Remove(tmp)
		return nil, false, err
	}
	if err := fsys.SyncDir(l.store.sessions()); err != nil {
		_ = f.Close()
		return nil, true, err
	}
	return f, true, nil
}

// copyRange copies bytes from to to of read into f at place at.
func copyRange(f disk.File, at int64, read rawlog.ReaderAt, from, to int64) error {
	buf := make([]byte, min(rawlog.BlockSize, to-from))
	for off := from; off < to; {
		p := buf[:min(int64(len(buf)), to-off)]
		if err := rawlog.ReadFull(read, p, off); err != nil {
			return err
		}
		if _, err := f.WriteAt(p, at+off-from); err != nil {
			return err
		}
		off += int64(len(p))
	}
	return nil
}

// keepNote stores a sentence that is told when the log is opened next. mu is held.
func (l *Log) keepNote(text string) error {
	data, err := json.Marshal(DamageNote{text})
	if err != nil {
		return err
	}
	ev := protocol.NewEvent(&protocol.Custom{Kind: DamageKind, Data: data})
	ev.ID, ev.ParentID, ev.Seq = protocol.NewEventID(l.store.cfg.Rand), l.ix.Leaf(), l.ix.NextSeqFloor()
	ev.SessionID, ev.ClientID, ev.TS = l.ix.id, protocol.HostClient, l.store.cfg.Now().UnixMilli()
	return l.commit(context.Background(), []protocol.Event{ev})
}

// Close waits for a running commit and returns the lock back. A second call does
// nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	defer func() { l.closed = true }()
	l.store.logs.remove()
	var err error
	if l.file != nil { // what is stored does not end with the file that is open
		var taken *disk.LockedError
		if err = l.held(); errors.As(err, &taken) {
			err = nil // the log is the other's
		} else if err == nil {
			told := ""
			l.placed = func(sentence string) { told = sentence }
			if err = l.inPlace(); err == nil && told != "" && l.readOnly == "" {
				err = l.keepNote(told)
			}
		}
	}
	if cerr := l.src.close(); err == nil {
		err = cerr
	}
	if uerr := l.unlock.Unlock(); err == nil {
		err = uerr
	}
	if err != nil {
		return fmt.Errorf("close session %s: %w", l.ix.id, err)
	}
	return nil
}
