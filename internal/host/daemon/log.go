package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/engine/config"
	"scorel/protocol/display"
)

// maxLog bounds host.log in bytes where the configuration is not known; the one before it is
// kept as host.log.1.
const maxLog = 1 << 20

// maxLogLine bounds a line of it, in bytes.
const maxLogLine = 4 << 10

// logFile is host.log: one line each for what concerns the whole host. It never
// holds prompts, results or secrets. Lines that cannot be written are lost: there is
// nobody to tell.
type logFile struct {
	name string
	now  func() time.Time
	echo *echo // gets every line too

	bound logBound

	mu   sync.Mutex // held while a line is written
	file *os.File
	size int64
}

// logBound is how long a log gets before it is set aside, and how many of those are kept, as
// host.log.1, the newest, to host.log.N.
type logBound struct {
	bytes int64
	files int
}

func openLog(name string, bound logBound, now func() time.Time, echo *echo) (*logFile, error) {
	l := &logFile{name: name, now: now, echo: echo, bound: bound}
	return l, l.open()
}

// boundOf returns what the configuration says of the log; one that is wrong is for the host to
// complain about.
func boundOf(dir string) logBound {
	file, err := config.Load(filepath.Join(dir, "config.toml"))
	if err != nil {
		return logBound{maxLog, 1}
	}
	return logBound{int64(file.Host.LogMaxBytes), file.Host.LogFiles}
}

// open opens the file, setting one aside that is full.
func (l *logFile) open() error {
	f, err := openLogFile(l.name, l.bound)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// openLogFile opens host.log to be appended to, setting one aside that is full.
func openLogFile(name string, b logBound) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && info.Size() > b.bytes {
		older := func(n int) string { return fmt.Sprintf("%s.%d", name, n) }
		for n := b.files - 1; n > 0; n-- {
			if err := os.Rename(older(n), older(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		if err := os.Rename(name, older(1)); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// line adds a line.
func (l *logFile) line(format string, args ...any) {
	text := display.Line(fmt.Sprintf(format, args...))
	if len(text) > maxLogLine {
		text = text[:maxLogLine] + "…"
	}
	when := l.now().UTC().Format("2006-01-02T15:04:05.000Z")
	out := fmt.Appendf(nil, "%s pid %d: %s\n", when, os.Getpid(), text)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.echo.add(out)
	if l.size > l.bound.bytes {
		_ = l.file.Close()
		if l.open() != nil {
			return
		}
	}
	n, _ := l.file.Write(out)
	l.size += int64(n)
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.file.Close()
}

// Tail returns the last lines of a log before the place end, at most n of them and
// 64 KiB. A missing file is empty.
func Tail(name string, n int, end int64) ([]byte, error) {
	const most = 64 << 10
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	from := max(0, end-most)
	data := make([]byte, max(0, end-from))
	read, err := f.ReadAt(data, from)
	if err != nil && err != io.EOF {
		return nil, err
	}
	data = data[:read]
	if from > 0 { // the first line is torn
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	at := len(bytes.TrimRight(data, "\n"))
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(data[:at], '\n')
	}
	return data[at+1:], nil
}
