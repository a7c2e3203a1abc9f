package session

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"scorel/internal/engine/session/owner"
	"scorel/internal/platform/disk"
)

// slowLock is a file system on which the first locks are held by an owner.
type slowLock struct {
	disk.FS
	owner []byte
	held  int
	tries int
}

func (f *slowLock) Lock(name string, owner []byte) (disk.Unlocker, error) {
	if f.tries++; f.tries <= f.held {
		return nil, &disk.LockedError{Name: name, Owner: f.owner}
	}
	return f.FS.Lock(name, owner)
}

// deadProcess returns the number of a process that has ended.
func deadProcess(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// TestOpenRefusesAtOnce: one that has died is waited for below, by package disk.
func TestOpenRefusesAtOnce(t *testing.T) {
	for name, owner := range map[string][]byte{"died": owner.Owner{PID: deadProcess(t)}.Text(), "runs": owner.Owner{PID: os.Getppid()}.Text(), "unknown": []byte("somebody"), "empty": nil} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			log := w.create(t)
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			slow := &slowLock{FS: w.mem, owner: owner, held: 1}
			w.fs = slow
			w.restart(t)
			_, _, err := w.store.Open(t.Context(), w.id)
			var locked *LockedError
			if !errors.As(err, &locked) || slow.tries != 1 {
				t.Errorf("after %d tries: %v; want a refusal at the first", slow.tries, err)
			}
		})
	}
}
