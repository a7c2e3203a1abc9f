package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

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
	f := &hosttest.Failing{FS: disk.OS()}
	w := hosttest.New(t, hosttest.Setting{Fs: f, Overrides: host.Overrides{Mode: "acceptEdits", Allow: []string{"Bash"}}},
		`{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`,
		`{"do":[{"text":"I work."},{"call":"Write","id":"c1","input":{"path":"a.txt","content":"new"}},{"call":"Bash","id":"c2","input":{"command":"touch ran"}}]}`,
		`{"do":[{"text":"Done."}]}`)
	w.File("other.txt", "x")
	e := w.Begin(false)
	// A second client sees what the first one sees.
	other := w.Open(w.Connect(false), e.ID)
	f.Arm(n, cause)
	_, err := client.Call[*protocol.Sent](context.Background(), e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("work")}})
	epoch := e.S.Live.StreamEpoch
	how = "ended"
	if err != nil {
		how = "refused"
		if pe := protocol.AsError(err); pe.Code != protocol.CodeStorageError || pe.Message == "" {
			t.Errorf("fault %d: the message was refused with %s %q", n, pe.Code, pe.Message)
		}
	}
	switch end := e.End(); {
	case end.Terminal == protocol.TerminalCompleted:
		how = "completed"
	case end.Terminal != protocol.TerminalStorageError || end.Reason != protocol.EndError || end.Error == nil || end.Error.Code != protocol.CodeStorageError:
		t.Errorf("fault %d: the end: %+v %+v", n, end, end.Error)
	}
	other.End()
	if _, fired := f.Count(); !fired {
		return how, false
	}
	f.Repair()
	// What was told is what is stored.
	told := map[protocol.EventID]bool{}
	stored := w.Log(e.ID)
	for i, ev := range e.Events {
		if ev.ID != "" {
			told[ev.ID] = true
		}
		if ev.Type == protocol.TypeRuntimeEnd && i < len(e.Events)-1 {
			t.Errorf("fault %d: something came behind the end\n%s", n, e.Trace())
		}
	}
	for _, ev := range stored {
		delete(told, ev.ID)
	}
	for id := range told {
		t.Errorf("fault %d: %s was told and is not stored\n%s", n, id, e.Trace())
	}
	text := logText(stored)
	for file, needs := range map[string][]string{"a.txt": {`"id":"c1"`, `"file_snapshot"`}, "ran": {`"id":"c2"`, `"toolCallId":"c2","decision":"allow"`}} {
		if _, err := os.Stat(filepath.Join(w.Project, file)); err != nil {
			continue
		}
		for _, need := range needs {
			if !strings.Contains(text, need) {
				t.Errorf("fault %d: %s was made, and %s is not stored", n, file, need)
			}
		}
	}
	// It goes on when the disk works again.
	e.Events, other.Events = nil, nil
	if end := e.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("fault %d: the next turn: %+v %+v\n%s", n, end, end.Error, e.Trace())
	}
	if how != "completed" && e.S.Live.StreamEpoch == epoch {
		t.Errorf("fault %d: no new epoch was told", n)
	}
	for other.End(); other.S.Live.ThroughSeq < e.S.Live.ThroughSeq; {
		other.Next()
	}
	if other.S.Live.LeafID != e.S.Live.LeafID || other.S.Live.StreamEpoch != e.S.Live.StreamEpoch {
		t.Errorf("fault %d: two clients disagree: %+v %+v", n, other.S.Live, e.S.Live)
	}
	w.Judged()
	if err := w.Host.Close(); err != nil {
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
	f := &hosttest.Failing{FS: disk.OS(), FreeBytes: 255 << 20}
	w := hosttest.New(t, hosttest.Setting{Fs: f}, `{"do":[{"text":"Hello."}]}`)
	e := w.Begin(false)
	pe := hosttest.Refused(t, e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("hi")}}, protocol.CodeStorageError)
	if !strings.Contains(pe.Message, "255 MiB") || !strings.Contains(pe.Message, "256 MiB") {
		t.Errorf("the sentence: %q", pe.Message)
	}
	if n := len(w.Log(e.ID)); n != 0 || w.Server.Count() != 0 {
		t.Errorf("%d events, %d requests", n, w.Server.Count())
	}
	f.Mu.Lock()
	f.FreeBytes = 256 << 20
	f.Mu.Unlock()
	if end := e.Say("hi"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("with enough space: %+v", end)
	}
}

func TestAMessageIsNotQueuedWhoseMarkCannotBeWritten(t *testing.T) {
	f := &hosttest.Failing{FS: disk.OS()}
	s := hosttest.Allowed()
	s.Fs = f
	w := hosttest.New(t, s, hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.Busy()
	f.Arm(1, fmt.Errorf("%w: %w", disk.ErrNoSpace, syscall.ENOSPC))
	hosttest.Refused(t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text("lost?")}, protocol.CodeStorageError)
	f.Repair()
	if late := w.Open(w.Connect(false), e.ID); len(late.S.Live.Queues) != 0 || !late.S.Live.Running {
		t.Errorf("what was refused waits, or the turn has ended: %+v", late.S.Live)
	}
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text("kept")})
	w.File("go", "")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v %+v", end, end.Error)
	}
	if got := e.Users(); len(got) != 2 || got[1] != "kept" {
		t.Errorf("messages: %q", got)
	}
}

// TestWhatWaitsBehindATurnThatCouldNotBeStoredIsPaused queues a message, lets the disk
// fail once under the running turn, and looks at the queue: a message that nothing will
// take must not look as if it were next.
func TestWhatWaitsBehindATurnThatCouldNotBeStoredIsPaused(t *testing.T) {
	f := &hosttest.Failing{FS: disk.OS(), Once: true}
	asked, answer := make(chan struct{}), make(chan struct{})
	var first sync.Once
	w := hosttest.New(t, hosttest.Setting{Fs: f, Serving: true, Request: func([]byte) {
		first.Do(func() { close(asked) })
		<-answer
	}}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Send("first")
	<-asked
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text("second")})
	f.Arm(1, syscall.EIO)
	close(answer)
	if end := e.End(); end.Terminal != protocol.TerminalStorageError {
		t.Fatalf("the end: %+v", end)
	}
	e.Until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.QueueUpdate)
		return ok && b.Paused && len(b.Items) == 1
	})
	e.Events = nil
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.ResumeQueue{})
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("the end of what waited: %+v", end)
	}
}

// TestARepeatThatCannotBeLookedUpIsNotToldToBeRefused repeats a message that was taken,
// when the disk fails as the host looks for it.
func TestARepeatThatCannotBeLookedUpIsNotToldToBeRefused(t *testing.T) {
	f := &hosttest.Failing{FS: disk.OS(), Once: true}
	w := hosttest.New(t, hosttest.Setting{Fs: f}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	c := w.Plug("c", false, protocol.GrantControl)
	sent := hosttest.NewCall(e.ID, &protocol.SendMessage{Content: hosttest.Text("once")})
	if r, err := c.Conn.Call(t.Context(), sent); err != nil || r.Err != nil {
		t.Fatal(err, r.Err)
	}
	e.End()
	w.Restart()
	again := w.PlugAs(c.Id, "c", false, protocol.GrantControl)
	f.Arm(1, syscall.EIO)
	sent.Repeat = true
	r, err := again.Conn.Call(t.Context(), sent)
	if err != nil || r.Err == nil || r.Err.Code != protocol.CodeStorageError || !strings.Contains(r.Err.Message, "cannot be found out now") {
		t.Errorf("while the disk fails: %v %+v %v", err, r.Data, r.Err)
	}
	if r, err = again.Conn.Call(t.Context(), sent); err != nil || r.Err != nil {
		t.Errorf("when it works again: %v %v", err, r.Err)
	}
}
