package cli

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/session"
	"scorel/protocol"
)

// TestTheTreeOfALargeLogTakesLittleMemory prints the trees of a log of 24 MB and of one of
// 96 MB: what a process takes is bounded by a page of events, and not by the log. Held whole
// and decoded it took four times the log.
func TestTheTreeOfALargeLogTakesLittleMemory(t *testing.T) {
	harness.Computed(t)
	t.Parallel()
	const size = 96 << 20
	home := t.TempDir()
	project := filepath.Join(home, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	store, err := session.OpenStore(session.Config{Dir: filepath.Join(home, ".scorel")})
	if err != nil {
		t.Fatal(err)
	}
	peak := func(size int) (bytes int64) {
		t.Helper()
		id, lines := writeTalk(t, store, project, size)
		cmd := exec.Command(find(t), "sessions", "show", "--tree", string(id))
		cmd.Dir, cmd.Env = project, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		var out, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		if n := strings.Count(out.String(), "\n"); n < lines {
			t.Fatalf("%d lines of %d events are shown", n, lines)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	small, large := peak(size/4), peak(size) // both have several pages
	// Held whole it would be three times the size more. On a busy machine the rule of package heap
	// comes a collection late, and then there is five times what lives.
	if more := large - small; more > 2*size {
		t.Errorf("the tree of a log of %d MB takes %d MB, %d more than that of a log of a fourth", size>>20, large>>20, more>>20)
	}
	t.Logf("%d MB, %d MB", small>>20, large>>20)
}

// writeTalk writes a session of so many bytes, in messages of 30 KB, and returns how many.
func writeTalk(t *testing.T, store *session.Store, dir string, size int) (protocol.SessionID, int) {
	t.Helper()
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	log, err := store.Create(t.Context(), protocol.Header{SessionID: id, DeviceID: protocol.DeviceIDOf([]byte("d")), CreatedAt: time.Now().UnixMilli(),
		Meta: protocol.Meta{WorkDir: dir, Model: "mock"}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a line of a message\n", 1500)
	leaf, n := protocol.EventID(""), size/len(text)
	for i := 0; i < n; {
		var batch []protocol.Event
		for range min(100, n-i) {
			ev := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText(text)})
			ev.ID, ev.ParentID, ev.Seq, ev.TS = protocol.NewEventID(rand.Reader), leaf, protocol.Seq(i+1), time.Now().UnixMilli()
			ev.SessionID, ev.ClientID = id, protocol.HostClient
			leaf = ev.ID
			batch, i = append(batch, ev), i+1
		}
		if err := log.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return id, n
}
