package daemon

import "path/filepath"

// Names of what a serving host keeps in the folder of Scorel.
const (
	lockName   = "host.lock"
	infoName   = "host.json"
	socketName = "host.sock"
	headerName = "host.header"
	logName    = "host.log"
	certName   = "host.crt"
	keyName    = "host.key"
)

// Header gives the file that holds the token: one line, which is the header of a
// request (curl -H @FILE).
func Header(dir string) string { return filepath.Join(dir, headerName) }

// Log gives the file in which a host notes what it does.
func Log(dir string) string { return filepath.Join(dir, logName) }
