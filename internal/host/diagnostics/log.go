package diagnostics

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"scorel/protocol"
	"scorel/protocol/display"
)

// Config is where a [Log] writes.
type Config struct {
	// StoreDir is the folder whose sessions folder has the logs.
	StoreDir string
	Now      func() time.Time
	// Tell is told of every line, too, and of what concerns no session; may be nil.
	Tell func(what string, detail []byte)
}

// Log writes the diagnostics of sessions.
type Log struct {
	cfg Config

	rotating sync.Mutex // held while a file is set aside
}

// New makes a log.
func New(cfg Config) *Log { return &Log{cfg: cfg} }

// maxDiagnostics bounds the diagnostics file of a session, in bytes. A full one is
// kept as .log.1, in the place of an earlier one.
const maxDiagnostics = 1 << 20

// Report adds a line to the diagnostics of a session, for people who look for a
// fault: sessions/<id>.log. It never holds prompts, results or secrets, and that
// it cannot be written is no error for anybody.
func (d *Log) Report(id protocol.SessionID, what string, detail []byte) {
	if d.cfg.Tell != nil {
		d.cfg.Tell(string(id)+": "+what, detail)
	}
	name := filepath.Join(d.cfg.StoreDir, "sessions", string(id)+".log")
	d.rotate(name)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	var line bytes.Buffer
	// What others said may hold line ends, and what a terminal would obey.
	fmt.Fprintf(&line, "%s pid %d: %s\n", d.cfg.Now().UTC().Format("2006-01-02T15:04:05.000Z"), os.Getpid(), display.Line(what))
	if text := strings.TrimSuffix(display.Text(string(detail)), "\n"); text != "" {
		for l := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(&line, "    %s\n", l)
		}
	}
	_, _ = f.Write(line.Bytes())
}

// rotate sets a full file aside. One host at a time has the session.
func (d *Log) rotate(name string) {
	full := func() bool {
		info, err := os.Stat(name)
		return err == nil && info.Size() >= maxDiagnostics
	}
	if !full() {
		return
	}
	d.rotating.Lock()
	defer d.rotating.Unlock()
	if full() { // else another line has done it
		_ = os.Rename(name, name+".1")
	}
}

// Note tells of what concerns no session.
func (d *Log) Note(what string, detail []byte) {
	if d.cfg.Tell != nil {
		d.cfg.Tell(what, detail)
	}
}
