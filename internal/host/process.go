package host

import (
	"scorel/internal/engine/progress"
	"scorel/protocol"
)

// processes follows the work of the calls of a session.
func (h *Host) processes(id protocol.SessionID, panicked func(any)) *progress.Recorder {
	return progress.New(progress.Config{Session: id, Dir: progress.Dir(h.cfg.StoreDir, id), FS: h.cfg.FS, Now: h.cfg.Now,
		Report: func(what string, detail []byte) { h.log.Report(id, what, detail) }, Panicked: panicked})
}
