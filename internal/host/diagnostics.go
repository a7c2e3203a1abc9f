package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"scorel/protocol"
)

// maxDiagnostics bounds the diagnostics file of a session, in bytes; what comes
// later is dropped.
const maxDiagnostics = 1 << 20

// report adds a line to the diagnostics of a session, for people who look for a
// fault: sessions/<id>.log. It never holds prompts, results or secrets, and that
// it cannot be written is no error for anybody.
func (h *Host) report(id protocol.SessionID, what string, detail []byte) {
	if h.cfg.Report != nil {
		h.cfg.Report(string(id)+": "+what, detail)
	}
	name := filepath.Join(h.cfg.StoreDir, "sessions", string(id)+".log")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || info.Size() > maxDiagnostics {
		return
	}
	var line bytes.Buffer
	fmt.Fprintf(&line, "%s pid %d: %s\n", h.cfg.Now().UTC().Format("2006-01-02T15:04:05.000Z"), os.Getpid(), what)
	for l := range bytes.Lines(detail) {
		line.WriteString("    ")
		line.Write(l)
	}
	_, _ = f.Write(line.Bytes())
}
