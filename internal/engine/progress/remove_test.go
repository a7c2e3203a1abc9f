package progress

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

func TestLogsGoWithTheirSession(t *testing.T) {
	home := t.TempDir()
	now := time.Now()
	var ids [4]protocol.SessionID
	for i := range ids {
		ids[i] = protocol.NewSessionID(now, rand.Reader)
		rec := New(Config{Session: ids[i], Dir: Dir(home, ids[i])})
		c := rec.Begin(Info{CallID: "c"}, nil)
		c.Update(say("a"))
		c.End(Ending{Status: protocol.ProcessCompleted})
		rec.Close()
		info, err := os.Stat(filepath.Join(Dir(home, ids[i]), "tool-c.jsonl"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		if info, err := os.Stat(Dir(home, ids[i])); err != nil || info.Mode().Perm() != 0o700 {
			t.Fatalf("%v, %v", info, err)
		}
	}
	foreign := filepath.Join(home, Folder, "mine")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	old := now.Add(-48 * time.Hour)
	for _, dir := range []string{Dir(home, ids[0]), Dir(home, ids[1]), foreign} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	// 0 is old and has no log, 1 is old and has one, 2 is young, 3 is deleted.
	exists := func(id protocol.SessionID) (bool, error) { return id == ids[1], nil }
	if u, err := Look(t.Context(), disk.OS(), home, now.Add(-24*time.Hour), exists); err != nil || u.Sessions != 4 || u.Left != 1 || u.Bytes != 4*u.LeftSize || u.LeftSize == 0 {
		t.Errorf("the usage is %+v, %v", u, err)
	}
	sessions, bytes, err := Prune(t.Context(), disk.OS(), home, now.Add(-24*time.Hour), exists)
	if err != nil || sessions != 1 || bytes == 0 {
		t.Errorf("%d sessions of %d bytes, %v", sessions, bytes, err)
	}
	if err := Remove(disk.OS(), home, ids[3]); err != nil {
		t.Error(err)
	}
	if err := Remove(disk.OS(), home, ids[3]); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if err := Remove(disk.OS(), home, "../mine"); err == nil {
		t.Error("another folder was removed")
	}
	for i, there := range []bool{false, true, true, false} {
		if _, err := os.Stat(Dir(home, ids[i])); (err == nil) != there {
			t.Errorf("the logs of session %d: %v", i, err)
		}
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error("what is no session was removed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Prune(ctx, disk.OS(), home, now.Add(time.Hour), func(protocol.SessionID) (bool, error) { return false, nil }); err == nil {
		t.Error("it went on")
	}
}
