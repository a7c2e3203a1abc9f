package host_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// failing is a disk that fails the n-th write or fsync of a log or payload after
// it was armed, and all behind it until it is repaired.
type failing struct {
	disk.FS
	mu    sync.Mutex
	calls int
	n     int
	err   error
	fired bool
	once  bool // it is repaired when it has failed
	free  uint64
}

func (f *failing) arm(n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.n, f.err, f.fired = 0, n, err, false
}

func (f *failing) repair() { f.arm(0, nil) }

func (f *failing) fails(op, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.n == 0 || f.calls < f.n {
		return nil
	}
	f.fired = true
	if f.once {
		f.n = 0
	}
	return &fs.PathError{Op: op, Path: name, Err: f.err}
}

func (f *failing) count() (calls int, fired bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls, f.fired
}

func (f *failing) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	file, err := f.FS.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return &failingFile{file, f, name}, nil
}

func (f *failing) Free(dir string) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.free > 0 {
		return f.free, nil
	}
	return f.FS.Free(dir)
}

type failingFile struct {
	disk.File
	f    *failing
	name string
}

func (f *failingFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.f.fails("write", f.name); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *failingFile) Sync() error {
	if err := f.f.fails("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// TestAFullOrBrokenDiskEndsTheTurnAndLosesNothingThatWasTold fails each write and
// fsync of a turn in its turn, repairs the disk, and goes on.
func TestAFullOrBrokenDiskEndsTheTurnAndLosesNothingThatWasTold(t *testing.T) {
	for _, cause := range []struct {
		name string
		err  error
	}{{"ENOSPC", fmt.Errorf("%w: %w", disk.ErrNoSpace, syscall.ENOSPC)}, {"EIO", syscall.EIO}} {
		t.Run(cause.name, func(t *testing.T) {
			ends := map[string]int{}
			for n := 1; ; n++ {
				how, more := failAt(t, n, cause.err)
				if !more {
					break
				}
				ends[how]++
			}
			if ends["refused"] == 0 || ends["ended"] < 4 {
				t.Errorf("the disk failed too rarely: %v", ends)
			}
			t.Logf("%s: %v", cause.name, ends)
		})
	}
}

func failAt(t *testing.T, n int, cause error) (how string, more bool) {
	t.Helper()
	f := &failing{FS: disk.OS()}
	w := newWorld(t, setting{fs: f, overrides: host.Overrides{Mode: "acceptEdits", Allow: []string{"Bash"}}},
		`{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`,
		`{"do":[{"text":"I work."},{"call":"Write","id":"c1","input":{"path":"a.txt","content":"new"}},{"call":"Bash","id":"c2","input":{"command":"touch ran"}}]}`,
		`{"do":[{"text":"Done."}]}`)
	w.file("other.txt", "x")
	e := w.begin(false)
	// A second client sees what the first one sees.
	other := w.open(w.connect(false), e.id)
	f.arm(n, cause)
	_, err := client.Call[*protocol.Sent](context.Background(), e.c, e.id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("work")}})
	epoch := e.s.Live.StreamEpoch
	how = "ended"
	if err != nil {
		how = "refused"
		if pe := protocol.AsError(err); pe.Code != protocol.CodeStorageError || pe.Message == "" {
			t.Errorf("fault %d: the message was refused with %s %q", n, pe.Code, pe.Message)
		}
	}
	switch end := e.end(); {
	case end.Terminal == protocol.TerminalCompleted:
		how = "completed"
	case end.Terminal != protocol.TerminalStorageError || end.Reason != protocol.EndError || end.Error == nil || end.Error.Code != protocol.CodeStorageError:
		t.Errorf("fault %d: the end: %+v %+v", n, end, end.Error)
	}
	other.end()
	if _, fired := f.count(); !fired {
		return how, false
	}
	f.repair()
	// What was told is what is stored.
	told := map[protocol.EventID]bool{}
	stored := w.log(e.id)
	for i, ev := range e.events {
		if ev.ID != "" {
			told[ev.ID] = true
		}
		if ev.Type == protocol.TypeRuntimeEnd && i < len(e.events)-1 {
			t.Errorf("fault %d: something came behind the end\n%s", n, e.trace())
		}
	}
	for _, ev := range stored {
		delete(told, ev.ID)
	}
	for id := range told {
		t.Errorf("fault %d: %s was told and is not stored\n%s", n, id, e.trace())
	}
	text := logText(stored)
	for file, needs := range map[string][]string{"a.txt": {`"id":"c1"`, `"file_snapshot"`}, "ran": {`"id":"c2"`, `"toolCallId":"c2","decision":"allow"`}} {
		if _, err := os.Stat(filepath.Join(w.project, file)); err != nil {
			continue
		}
		for _, need := range needs {
			if !strings.Contains(text, need) {
				t.Errorf("fault %d: %s was made, and %s is not stored", n, file, need)
			}
		}
	}
	// It goes on when the disk works again.
	e.events, other.events = nil, nil
	if end := e.say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("fault %d: the next turn: %+v %+v\n%s", n, end, end.Error, e.trace())
	}
	if how != "completed" && e.s.Live.StreamEpoch == epoch {
		t.Errorf("fault %d: no new epoch was told", n)
	}
	for other.end(); other.s.Live.ThroughSeq < e.s.Live.ThroughSeq; {
		other.next()
	}
	if other.s.Live.LeafID != e.s.Live.LeafID || other.s.Live.StreamEpoch != e.s.Live.StreamEpoch {
		t.Errorf("fault %d: two clients disagree: %+v %+v", n, other.s.Live, e.s.Live)
	}
	w.judged()
	if err := w.host.Close(); err != nil {
		t.Errorf("fault %d: close: %v", n, err)
	}
	return how, true
}

func logText(events []protocol.Event) string {
	var s strings.Builder
	for _, e := range events {
		s.Write(e.Raw())
		s.WriteByte('\n')
	}
	return s.String()
}

func TestNoTurnBeginsOnADiskThatIsNearlyFull(t *testing.T) {
	f := &failing{FS: disk.OS(), free: 255 << 20}
	w := newWorld(t, setting{fs: f}, `{"do":[{"text":"Hello."}]}`)
	e := w.begin(false)
	pe := refused(t, e.c, e.id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("hi")}}, protocol.CodeStorageError)
	if !strings.Contains(pe.Message, "255 MiB") || !strings.Contains(pe.Message, "256 MiB") {
		t.Errorf("the sentence: %q", pe.Message)
	}
	if n := len(w.log(e.id)); n != 0 || w.server.Count() != 0 {
		t.Errorf("%d events, %d requests", n, w.server.Count())
	}
	f.mu.Lock()
	f.free = 256 << 20
	f.mu.Unlock()
	if end := e.say("hi"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("with enough space: %+v", end)
	}
}

func TestAMessageIsNotQueuedWhoseMarkCannotBeWritten(t *testing.T) {
	f := &failing{FS: disk.OS()}
	s := allowed()
	s.fs = f
	w := newWorld(t, s, wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.busy()
	f.arm(1, fmt.Errorf("%w: %w", disk.ErrNoSpace, syscall.ENOSPC))
	refused(t, e.c, e.id, &protocol.FollowUp{Content: text("lost?")}, protocol.CodeStorageError)
	f.repair()
	if late := w.open(w.connect(false), e.id); len(late.s.Live.Queues) != 0 || !late.s.Live.Running {
		t.Errorf("what was refused waits, or the turn has ended: %+v", late.s.Live)
	}
	call[*protocol.Sent](t, e.c, e.id, &protocol.FollowUp{Content: text("kept")})
	w.file("go", "")
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v %+v", end, end.Error)
	}
	if got := e.users(); len(got) != 2 || got[1] != "kept" {
		t.Errorf("messages: %q", got)
	}
}

// TestWhatWaitsBehindATurnThatCouldNotBeStoredIsPaused queues a message, lets the disk
// fail once under the running turn, and looks at the queue: a message that nothing will
// take must not look as if it were next.
func TestWhatWaitsBehindATurnThatCouldNotBeStoredIsPaused(t *testing.T) {
	f := &failing{FS: disk.OS(), once: true}
	asked, answer := make(chan struct{}), make(chan struct{})
	var first sync.Once
	w := newWorld(t, setting{fs: f, serving: true, request: func([]byte) {
		first.Do(func() { close(asked) })
		<-answer
	}}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.send("first")
	<-asked
	call[*protocol.Sent](t, e.c, e.id, &protocol.FollowUp{Content: text("second")})
	f.arm(1, syscall.EIO)
	close(answer)
	if end := e.end(); end.Terminal != protocol.TerminalStorageError {
		t.Fatalf("the end: %+v", end)
	}
	e.until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.QueueUpdate)
		return ok && b.Paused && len(b.Items) == 1
	})
	e.events = nil
	call[*protocol.Done](t, e.c, e.id, &protocol.ResumeQueue{})
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("the end of what waited: %+v", end)
	}
}

// TestARepeatThatCannotBeLookedUpIsNotToldToBeRefused repeats a message that was taken,
// when the disk fails as the host looks for it.
func TestARepeatThatCannotBeLookedUpIsNotToldToBeRefused(t *testing.T) {
	f := &failing{FS: disk.OS(), once: true}
	w := newWorld(t, setting{fs: f}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	c := w.plug("c", false, protocol.GrantControl)
	sent := newCall(e.id, &protocol.SendMessage{Content: text("once")})
	if r, err := c.conn.Call(t.Context(), sent); err != nil || r.Err != nil {
		t.Fatal(err, r.Err)
	}
	e.end()
	w.restart()
	again := w.plugAs(c.id, "c", false, protocol.GrantControl)
	f.arm(1, syscall.EIO)
	sent.Repeat = true
	r, err := again.conn.Call(t.Context(), sent)
	if err != nil || r.Err == nil || r.Err.Code != protocol.CodeStorageError || !strings.Contains(r.Err.Message, "cannot be found out now") {
		t.Errorf("while the disk fails: %v %+v %v", err, r.Data, r.Err)
	}
	if r, err = again.conn.Call(t.Context(), sent); err != nil || r.Err != nil {
		t.Errorf("when it works again: %v %v", err, r.Err)
	}
}
