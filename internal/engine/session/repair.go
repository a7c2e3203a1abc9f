package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"scorel/internal/engine/session/health"
	"scorel/internal/platform/disk"
)

const pickReason = "damaged parts of the log may have moved the place where the conversation goes on; pick it to continue"

// repair brings the end of a freshly loaded log into order: the tail is copied,
// made durable and cut off, and a last line gets its newline. When that cannot be
// done, or must not be done before a person has looked, the log is read-only.
func (l *Log) repair(ctx context.Context, ld *loaded) {
	end := ld.tail
	if ld.newer != "" { // nothing of it is touched
		l.readOnly = ld.newer
		if ld.tail < ld.size {
			ld.report.Add(health.Finding{Kind: health.Tail, Offset: ld.tail, Detail: fmt.Sprintf("%d bytes", ld.size-ld.tail)})
		}
		ld.report.ReadOnly, ld.report.NeedsLeaf = l.readOnly, l.pick
		return
	}
	if ld.unasked {
		l.readOnly, l.pick = pickReason, true
	}
	if ld.tail < ld.size {
		f := health.Finding{Kind: health.Tail, Offset: ld.tail, Detail: fmt.Sprintf("%d bytes", ld.size-ld.tail)}
		if ld.tailMoves {
			// It stays until the leaf is picked: without it the next open would
			// not know that there is something to ask.
			l.tailEnd = ld.size
			if !ld.ended {
				l.pad = 1
			}
			ld.report.Add(f)
			ld.report.ReadOnly, ld.report.NeedsLeaf = l.readOnly, l.pick
			return
		}
		aside, err := l.setAside(ctx, ld.tail, ld.size)
		if err != nil {
			l.readOnly, l.pick = "its damaged end could not be set aside: "+err.Error(), false
			ld.report.Add(f)
			ld.report.ReadOnly, ld.report.NeedsLeaf = l.readOnly, l.pick
			return
		}
		f.Kind, ld.report.SetAside = health.TailCut, aside
		ld.report.Add(f)
	}
	if !ld.ended {
		ld.report.Add(health.Finding{Kind: health.NoNewline, Offset: ld.tail})
	}
	if err := l.mend(ld, &end); err != nil {
		l.readOnly, l.pick = "its end could not be repaired: "+err.Error(), false
	}
	ld.report.ReadOnly, ld.report.NeedsLeaf = l.readOnly, l.pick
}

// mend cuts the tail, which has been set aside, and writes a missing newline or
// header.
func (l *Log) mend(ld *loaded, end *int64) error {
	add := []byte(nil)
	switch {
	case !ld.ended:
		add = []byte{'\n'}
	case *end == 0:
		line, err := ld.index.header.AppendLine(nil)
		if err != nil {
			return err
		}
		add = append(line, '\n')
		if ld.size > 0 {
			ld.report.Add(health.Finding{Kind: health.DamagedHeader, Detail: "there was none"})
		}
	}
	if ld.tail == ld.size && add == nil {
		return nil
	}
	if ld.tail < ld.size {
		if err := l.file.Truncate(ld.tail); err != nil {
			return err
		}
	}
	if add != nil {
		if _, err := l.file.WriteAt(add, *end); err != nil {
			return err
		}
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	*end += int64(len(add))
	l.ix.mu.Lock()
	defer l.ix.mu.Unlock()
	l.ix.end = *end
	return nil
}

// asideName is the name of a file beside the log for what is set aside now, another for
// each n.
func (l *Log) asideName(n int) string {
	name := filepath.Join(l.store.sessions(), string(l.ix.id)+damagedSuffix+l.store.cfg.Now().UTC().Format("20060102T150405.000Z"))
	if n > 0 {
		name += fmt.Sprintf("-%d", n)
	}
	return name
}

// setAside copies a part of the log into a file beside it, durable with its name
// when it returns, and returns the file's name.
func (l *Log) setAside(ctx context.Context, from, to int64) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		name := l.asideName(n)
		f, err := l.store.fs.Open(name, disk.Exclusive)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		err = copyRange(f, 0, l.src.readAt, from, to)
		if err == nil {
			err = f.Sync()
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err == nil {
			err = l.store.fs.SyncDir(l.store.sessions())
		}
		if err != nil {
			_ = l.store.fs.Remove(name) // it may be incomplete; the log still has the bytes
			return "", err
		}
		return name, nil
	}
}
