package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"scorel/internal/engine/session/owner"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// maxInfo bounds host.json in bytes.
const maxInfo = 64 << 10

// Info is what host.json says of a host. StartedAt is in Unix milliseconds.
// Addresses are URLs that a client can name, the socket's first. Fingerprint is that
// of the certificate, "" without one. Build is what [Build] gave in its process.
type Info struct {
	Version     string            `json:"version"`
	DeviceID    protocol.DeviceID `json:"deviceId,omitempty"`
	PID         int               `json:"pid"`
	StartedAt   int64             `json:"startedAt"`
	Socket      string            `json:"socket,omitempty"`
	Addresses   []string          `json:"addresses,omitempty"`
	Fingerprint string            `json:"fingerprint,omitempty"`
	Build       string            `json:"build,omitempty"`
}

// Ready reports whether the host takes clients: one that begins or ends holds the lock
// without.
func (i Info) Ready() bool { return i.Socket != "" }

// String names the host for a person.
func (i Info) String() string {
	if i.PID == 0 {
		return "another host"
	}
	s := fmt.Sprintf("the host with pid %d", i.PID)
	if i.StartedAt > 0 {
		s += ", since " + time.UnixMilli(i.StartedAt).Format("2006-01-02 15:04:05")
	}
	return s
}

// Differs says, for a person, that this program is another build than the host, and what
// to do; "" when it is the same one, or when this program does not know its own.
func (i Info) Differs() string {
	mine := Build()
	if mine == "" || mine == i.Build || !i.Ready() {
		return ""
	}
	return i.String() + ", is of another build of scorel than this one, and works as that build does. scorel host serve --replace --detach replaces it, and open windows reconnect"
}

// Find looks for the host of a device, whose folder is dir. live says that one holds
// the lock; when it is not [Info.Ready] only pid and start are known. It changes
// nothing.
func Find(dir string) (info Info, live bool, err error) {
	text, held, err := disk.OS().Holder(filepath.Join(dir, lockName))
	if err != nil {
		return Info{}, false, unusable(dir, err)
	}
	if !held {
		return Info{}, false, nil
	}
	owner := owner.Parse(text)
	began := Info{PID: owner.PID, StartedAt: owner.StartedAt}
	data, err := disk.ReadFile(disk.OS(), filepath.Join(dir, infoName), maxInfo)
	if errors.Is(err, os.ErrNotExist) {
		return began, true, nil
	}
	if err != nil {
		return began, true, err
	}
	if json.Unmarshal(data, &info) != nil || info.PID != owner.PID || info.StartedAt != owner.StartedAt {
		return began, true, nil // left by a host that died, or half of another version
	}
	return info, true, nil
}

// write makes host.json, all or nothing.
func (i Info) write(dir string) error {
	data, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteFile(disk.OS(), filepath.Join(dir, infoName), append(data, '\n'))
}
