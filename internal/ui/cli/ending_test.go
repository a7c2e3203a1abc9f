package cli

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"

	"scorel/internal/engine/session/owner"
	"scorel/internal/host/daemon"
	"scorel/internal/platform/disk"
)

// TestAttachWhileAHostEndsGoesToTheNextOne plays a host that has decided to end, because
// it was idle, at the moment at which somebody attaches.
func TestAttachWhileAHostEndsGoesToTheNextOne(t *testing.T) {
	s := newStation(t, `{"again":true,"do":[{"text":"ok"}]}`)
	id := s.session()
	dir := filepath.Join(s.home, ".scorel")
	owner := owner.Owner{PID: os.Getpid(), StartedAt: 1, Command: "scorel host"}
	lock, err := disk.OS().Lock(filepath.Join(dir, "host.lock"), owner.Text())
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "host.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(daemon.Info{PID: owner.PID, StartedAt: owner.StartedAt, Socket: socket, Addresses: []string{"unix:" + socket}, DeviceID: "dev_0000000000000000000000"})
	if err != nil {
		t.Fatal(err)
	}
	s.file(".scorel/host.json", string(info))
	s.file(".scorel/host.header", "Authorization: Bearer dHJpYWwtdHJpYWwtdHJpYWwtdHJpYWwtdHJpYWwtdHI\n")
	if _, live, err := daemon.Find(dir); !live || err != nil {
		t.Fatalf("found: %v %v", live, err)
	}
	a := s.start("attach", id)
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	_ = c.Close()
	if err := os.Remove(filepath.Join(dir, "host.json")); err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	a.types("hello")
	a.sees("ok")
}
