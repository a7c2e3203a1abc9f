package progress

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Bounds of the logs.
const (
	maxLog     = 16 << 20 // bytes of one operation
	maxLogs    = 1 << 30  // bytes of all of a session
	maxName    = 120      // characters of the name of a log
	maxStderr  = 4 << 10  // bytes of a line of stderr; the rest is cut
	noteSpace  = 4 << 10  // of maxLog, for what the host has to say
	logSuffix  = ".jsonl"
	minFree    = 256 << 20 // bytes of free disk below which nothing is written: the conversation needs them
	maxWaiting = 4 << 20   // bytes of lines that wait, of a session; further ones are lost
	batch      = 64 << 10  // bytes that are written without waiting for more
	interval   = 200 * time.Millisecond
)

// log is the log of one operation. Recorder.mu guards it but for what is said.
type log struct {
	name    string // of the file
	waiting []byte // lines
	count   int64  // of them
	size    int64  // of all lines that were taken
	full    bool   // nothing but notes is taken
	beyond  int64  // lines that came when it was full
	lost    int64  // lines that could not be written, or waited for
	dirty   bool   // it is in Recorder.dirty
	ended   bool

	written int64 // bytes in the file; Recorder.writing guards it
}

// fileName returns the name of an operation's log: the id, where it has only letters,
// digits, "_", "." and "-" and at most 120 of them; else what is left of it, with a part
// of its hash.
func fileName(id string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
			return r
		}
		return '_'
	}, id)
	if safe == id && len(id) <= maxName {
		return id + logSuffix
	}
	return marked(safe[:min(len(safe), maxName)], id) + logSuffix
}

// marked returns a name with 8 hex digits of the hash of what it stands for.
func marked(name, of string) string {
	sum := sha256.Sum256([]byte(of))
	return name + "-" + hex.EncodeToString(sum[:4])
}

// begin makes the log of an operation. When there is one of that id, of another call,
// the id is another one.
func (r *Recorder) begin(id string, result protocol.EventID) (string, *log) {
	stored := r.stored(fileName(id))
	r.mu.Lock()
	defer r.mu.Unlock()
	if stored || r.logs[fileName(id)] != nil {
		id = marked(id, string(result))
	}
	l := &log{name: fileName(id)}
	r.logs[l.name] = l
	return id, l
}

// stored reports whether there is a file of that name.
func (r *Recorder) stored(name string) bool {
	r.mu.Lock()
	dir := r.cfg.Dir
	r.mu.Unlock()
	if dir == "" {
		return false
	}
	_, err := r.cfg.FS.Stat(filepath.Join(dir, name))
	return err == nil
}

// write takes a line in, which is only made when there is room for it.
func (r *Recorder) write(l *log, line func() []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Dir == "" {
		return
	}
	if l.full {
		l.beyond++
		return
	}
	b := line()
	switch {
	case l.size+int64(len(b)) > maxLog-noteSpace:
		l.full = true
		l.beyond++
		return
	case r.bytes+len(b) > maxWaiting:
		l.lost++
	default:
		r.push(l, b)
	}
}

// push lets a line wait to be written. mu is held.
func (r *Recorder) push(l *log, line []byte) {
	l.waiting = append(l.waiting, line...)
	l.count++
	l.size += int64(len(line))
	r.bytes += len(line)
	r.touch(l)
	switch {
	case r.timer == nil:
		r.timer = time.AfterFunc(interval, r.cfg.timed(r.Flush))
	case r.bytes >= batch && !r.soon:
		r.soon = true
		r.timer.Reset(0)
	case len(r.dirty) == 1 && len(l.waiting) == len(line):
		r.timer.Reset(interval)
	}
}

// touch notes that a log has something to be written. mu is held.
func (r *Recorder) touch(l *log) {
	if !l.dirty {
		l.dirty = true
		r.dirty = append(r.dirty, l)
	}
}

// note puts a sentence of the host into a log. It has room also when the log is full.
func (r *Recorder) note(l *log, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Dir != "" && l.size < maxLog-512 {
		r.push(l, noteLine(text))
	}
}

// end ends logs: a last line counts what is not in them.
func (r *Recorder) end(logs []*log) {
	for _, l := range logs {
		r.mu.Lock()
		beyond := l.beyond
		l.ended = true
		r.touch(l)
		r.mu.Unlock()
		if beyond > 0 {
			r.note(l, fmt.Sprintf("%d further lines were left out; a log has at most %d MiB.", beyond, maxLog>>20))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil {
		r.timer = time.AfterFunc(0, r.cfg.timed(r.Flush))
	} else {
		r.timer.Reset(0)
	}
}

// Flush writes what waits, and returns when the system has it.
func (r *Recorder) Flush() {
	if r == nil {
		return
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	logs, dir := r.dirty, r.cfg.Dir
	r.dirty, r.soon = nil, false
	r.mu.Unlock()
	refused := error(nil)
	if dir != "" && len(logs) > 0 {
		refused = r.ready(dir)
	}
	for _, l := range logs {
		r.mu.Lock()
		lines, count, lost := l.waiting, l.count, l.lost
		l.waiting, l.count, l.dirty = nil, 0, false
		r.bytes -= len(lines)
		r.mu.Unlock()
		err, taken := refused, len(lines)
		if err == nil && dir != "" {
			if lost > 0 {
				lines = slices.Concat(noteLine(fmt.Sprintf("%d lines are missing here: they could not be written.", lost)), lines)
			}
			err = r.append(filepath.Join(dir, l.name), l, lines)
		}
		r.mu.Lock()
		if err != nil {
			l.lost += count
		} else {
			l.lost -= lost
			l.size += int64(len(lines) - taken)
		}
		if l.ended && len(l.waiting) == 0 && r.logs[l.name] == l {
			delete(r.logs, l.name)
		}
		r.mu.Unlock()
		r.tell(err)
	}
}

// tell reports that lines are lost, once until some can be written again. writing is
// held.
func (r *Recorder) tell(err error) {
	if err != nil && !r.told {
		r.cfg.Report("lines of process logs are lost: "+err.Error(), nil)
	}
	r.told = err != nil
}

// ready returns why nothing may be written, if so. writing is held.
func (r *Recorder) ready(dir string) error {
	if r.total < 0 {
		if err := r.cfg.FS.MkdirAll(dir); err != nil {
			return err
		}
		files, err := r.cfg.FS.ReadDir(dir)
		if err != nil {
			return err
		}
		r.total = 0
		for _, f := range files {
			if info, err := f.Info(); err == nil {
				r.total += info.Size()
			}
		}
	}
	if r.total >= maxLogs {
		return fmt.Errorf("the process logs of the session have %d MiB", r.total>>20)
	}
	if free, err := r.cfg.FS.Free(dir); err == nil && free < minFree {
		return fmt.Errorf("the disk has only %d MiB left", free>>20)
	}
	return nil
}

// append writes lines after what is written. What could be written of a batch that
// failed is written over by the next. writing is held.
func (r *Recorder) append(name string, l *log, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	f, err := r.cfg.FS.Open(name, disk.Create)
	if errors.Is(err, fs.ErrNotExist) { // the folder was removed
		r.total = -1
		if err := r.ready(filepath.Dir(name)); err != nil {
			return err
		}
		l.written = 0
		f, err = r.cfg.FS.Open(name, disk.Create)
	}
	if err != nil {
		return err
	}
	n, err := f.WriteAt(lines, l.written)
	if err != nil && n > 0 {
		_ = f.Truncate(l.written)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	l.written += int64(len(lines))
	r.total += int64(len(lines))
	return nil
}

// record is a line of a log that is no event.
type record struct {
	Stderr *string `json:"stderr,omitempty"`
	Note   *string `json:"note,omitempty"`
}

func eventLine(e *protocol.ProcessEvent) []byte {
	b, err := json.Marshal(e)
	if err != nil { // nothing in a normalised event makes that happen
		return noteLine("An event could not be written: " + err.Error() + ".")
	}
	return append(b, '\n')
}

func stderrLine(line string) []byte {
	if len(line) > maxStderr {
		line = line[:maxStderr] + "..."
	}
	line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "�")
	b, _ := json.Marshal(record{Stderr: &line})
	return append(b, '\n')
}

func noteLine(text string) []byte {
	b, _ := json.Marshal(record{Note: &text})
	return append(b, '\n')
}
