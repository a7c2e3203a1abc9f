package extension

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"scorel/protocol"
)

// spareWorld is a world of real extensions, with a spare process for a folder.
func spareWorld(t *testing.T, dir func(cwd string) string) (w *world, spare *Spare) {
	w = newRealWorld(t)
	for i := range 3 {
		w.ts("e"+strconv.Itoa(i), good)
	}
	w.make()
	environ, err := w.set.cfg.Environ()
	if err != nil {
		t.Fatal(err)
	}
	if spare, err = StartSpare(dir(w.set.cfg.Session.Cwd), environ); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(spare.Close)
	w.set.cfg.Spare = func() *Spare { return spare }
	return w, spare
}

// records returns the process groups that are recorded of a session.
func (w *world) records() (pids []int) {
	entries, _ := os.ReadDir(w.run)
	for _, e := range entries {
		if pid, err := strconv.Atoi(filepath.Base(e.Name())); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestSpareProcessIsTakenByTheFirstSessionAndRecordedAsItsOwn(t *testing.T) {
	w, spare := spareWorld(t, func(cwd string) string { return cwd })
	pid := spare.proc.PID()
	if got := w.records(); len(got) > 0 {
		t.Errorf("recorded before it is taken: %v", got)
	}
	if err := w.set.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if info := w.info("e" + strconv.Itoa(i)); info.State != protocol.ExtensionLoaded {
			t.Errorf("%+v", info)
		}
	}
	if got := w.records(); !slices.Equal(got, []int{pid}) {
		t.Errorf("the records are %v, the process is %d", got, pid)
	}
	spare.Close() // it is not the spare one any more
	w.set.Reload(t.Context())
	if got := w.records(); len(got) != 1 || got[0] == pid {
		t.Errorf("after a reload the records are %v, and the process was %d", got, pid)
	}
	if told := w.told(); len(told) > 0 {
		t.Errorf("people were told %q", told)
	}
}

func TestSpareProcessOfAnotherFolderIsEndedAndNotUsed(t *testing.T) {
	w, spare := spareWorld(t, func(string) string { return t.TempDir() })
	proc := spare.proc
	if err := w.set.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = proc.Wait() // it has been ended
	if got := w.records(); len(got) != 1 || got[0] == proc.PID() {
		t.Errorf("the records are %v, the spare process was %d", got, proc.PID())
	}
	if info := w.info("e0"); info.State != protocol.ExtensionLoaded {
		t.Errorf("%+v", info)
	}
}

func TestSpareProcessThatHasEndedIsReplaced(t *testing.T) {
	w, spare := spareWorld(t, func(cwd string) string { return cwd })
	proc := spare.proc
	proc.Kill()
	_ = proc.Wait()
	if err := w.set.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info := w.info("e0"); info.State != protocol.ExtensionLoaded {
		t.Errorf("%+v", info)
	}
	if told := w.told(); len(told) > 0 {
		t.Errorf("people were told %q", told)
	}
}
