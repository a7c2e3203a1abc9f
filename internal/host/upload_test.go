package host

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// slowDisk lets a write of a payload wait until something has been done meanwhile.
type slowDisk struct {
	disk.FS
	meanwhile func()
}

func (s *slowDisk) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	f, err := s.FS.Open(name, flag)
	return &slowFile{f, s}, err
}

type slowFile struct {
	disk.File
	s *slowDisk
}

func (f *slowFile) WriteAt(p []byte, off int64) (int, error) {
	if f.s.meanwhile != nil {
		f.s.meanwhile()
	}
	return f.File.WriteAt(p, off)
}

func uploading(t *testing.T) (*Host, *Conn, *slowDisk) {
	t.Helper()
	home, fsys := t.TempDir(), &slowDisk{FS: disk.OS()}
	h, err := New(Config{FS: fsys, Dir: filepath.Join(home, ".scorel"), UserHome: home, Ephemeral: true, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	c, err := h.Connect(t.Context(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf([]byte("c"))}, protocol.GrantControl)
	if err != nil {
		t.Fatal(err)
	}
	return h, c, fsys
}

func part() *protocol.PutBlob { return &protocol.PutBlob{UploadID: "u", Data: []byte("data")} }

func TestAPartOfAPayloadThatIsWrittenHoldsNothingElseUp(t *testing.T) {
	h, c, fsys := uploading(t)
	asked := make(chan struct{})
	fsys.meanwhile = func() {
		go func() { // ends with the answer
			defer close(asked)
			h.SetGrantOf(c.client, protocol.GrantView)
			_ = c.allowed(part())
		}()
		select {
		case <-asked:
		case <-time.After(2 * time.Minute):
			t.Error("a request waits for the disk of another one")
		}
	}
	if _, err := c.putBlob(t.Context(), part()); err != nil {
		t.Fatal(err)
	}
	<-asked
}

func TestAPartThatComesWhileTheConnectionEndsLeavesNothing(t *testing.T) {
	h, c, _ := uploading(t)
	if _, err := c.putBlob(t.Context(), part()); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if _, err := c.putBlob(t.Context(), part()); err == nil {
		t.Error("it is taken")
	}
	if n := h.rooms.transfers.Bytes(); n != 0 {
		t.Errorf("%d bytes are counted, and their file is open", n)
	}
}
