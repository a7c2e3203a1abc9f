package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"scorel/protocol"
	"scorel/protocol/display"
)

// maxDiagnostics bounds the diagnostics file of a session, in bytes. A full one is
// kept as .log.1, in the place of an earlier one.
const maxDiagnostics = 1 << 20

// report adds a line to the diagnostics of a session, for people who look for a
// fault: sessions/<id>.log. It never holds prompts, results or secrets, and that
// it cannot be written is no error for anybody.
func (h *Host) report(id protocol.SessionID, what string, detail []byte) {
	if h.cfg.Report != nil {
		h.cfg.Report(string(id)+": "+what, detail)
	}
	name := filepath.Join(h.cfg.StoreDir, "sessions", string(id)+".log")
	h.rotate(name)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	var line bytes.Buffer
	// What others said may hold line ends, and what a terminal would obey.
	fmt.Fprintf(&line, "%s pid %d: %s\n", h.cfg.Now().UTC().Format("2006-01-02T15:04:05.000Z"), os.Getpid(), display.Line(what))
	if text := strings.TrimSuffix(display.Text(string(detail)), "\n"); text != "" {
		for l := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(&line, "    %s\n", l)
		}
	}
	_, _ = f.Write(line.Bytes())
}

// rotate sets a full file aside. One host at a time has the session.
func (h *Host) rotate(name string) {
	full := func() bool {
		info, err := os.Stat(name)
		return err == nil && info.Size() >= maxDiagnostics
	}
	if !full() {
		return
	}
	h.rotating.Lock()
	defer h.rotating.Unlock()
	if full() { // else another line has done it
		_ = os.Rename(name, name+".1")
	}
}

// noteCall writes down a request to an open session: who sent it and what became of
// it, never what it says.
func (c *Conn) noteCall(call protocol.Call, failed *protocol.Error) {
	if failed == nil && !call.Request.Spec().Mutates {
		return
	}
	c.h.mu.Lock()
	open := c.h.lanes[call.SessionID] != nil
	c.h.mu.Unlock()
	if !open {
		return
	}
	what := call.Request.Spec().Name + " of " + string(c.client)
	if failed != nil {
		what += " failed: " + string(failed.Code)
	}
	c.h.report(call.SessionID, what, nil)
}
