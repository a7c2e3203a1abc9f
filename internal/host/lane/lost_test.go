package lane

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"scorel/internal/engine/session/history"
	"scorel/internal/host/lane/journal"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// flaky is a disk whose next fsync of a log fails when it is armed.
type flaky struct {
	disk.FS
	armed atomic.Bool
}

func (f *flaky) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	file, err := f.FS.Open(name, flag)
	if err != nil || !strings.Contains(filepath.Base(name), ".jsonl") {
		return file, err
	}
	return &flakyFile{file, f}, nil
}

type flakyFile struct {
	disk.File
	f *flaky
}

func (f *flakyFile) Sync() error {
	if f.f.armed.CompareAndSwap(true, false) {
		return &fs.PathError{Op: "fsync", Path: "log", Err: syscall.EIO}
	}
	return f.File.Sync()
}

// TestAdditionsThatAFailedWriteTookAreAddedAgain fails the fsync with which additions
// of a turn would have become durable.
func TestAdditionsThatAFailedWriteTookAreAddedAgain(t *testing.T) {
	disk := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, disk, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	var stored []string
	tr.do = func(ctx context.Context) {
		if err := tr.lane.Additions().Add(ctx, note("one"), note("two")); err != nil {
			t.Error(err)
		}
		if err := tr.lane.Publisher().Flush(ctx); err != nil {
			t.Error(err)
		}
		tr.lane.Listeners().Watch(func(e protocol.Event) { // the result is stored alone; what follows fails
			if m, ok := e.Message(); ok && m.Role == protocol.RoleToolResult {
				disk.armed.Store(true)
			}
			stored = append(stored, brief(e))
		})
	}
	tr.open()
	tr.say("go")
	if disk.armed.Load() {
		t.Fatal("nothing has failed")
	}
	if end := tr.lane.Publisher().Live(); end.Running {
		t.Error("the turn runs on")
	}
	if err := tr.lane.Publisher().Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := tr.path()
	notes := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "hook_context ") })
	if !slices.Equal(notes, []string{"hook_context one", "hook_context two"}) {
		t.Errorf("path %q (told %q)", got, stored)
	}
	tr.close()
}

func TestACommandDuringWhichTheDiskFailsIsOverAndTheSessionGoesOn(t *testing.T) {
	disk := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, disk, again)
	tr.open()
	tr.say("hello")
	err := tr.lane.AtBoundary(t.Context(), func(ctx context.Context) error {
		disk.armed.Store(true)
		if _, err := tr.lane.Control(ctx, &protocol.Custom{Kind: "mark", Data: []byte("{}")}); err == nil {
			t.Error("it is stored")
		}
		return tr.lane.RecordRequest(context.WithoutCancel(ctx), tr.caller(), RequestRun{Ended: true})
	})
	if protocol.AsError(err).Code != protocol.CodeStorageError {
		t.Errorf("the command ends with %v", err)
	}
	tr.say("go on")
	if got := tr.path(); !slices.Equal(got[len(got)-2:], []string{"user go on", "assistant fine"}) {
		t.Errorf("path %q", got)
	}
	tr.close()
}

// TestAMessageThatCannotBeKeptDoesNotWait has messages wait whose keeping fails: on the
// disk, and because they are nothing that a log can have.
func TestAMessageThatCannotBeKeptDoesNotWait(t *testing.T) {
	disk := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, disk, `{"if":{"user":"^go$"},"do":[{"call":"Do","id":"c1","input":{}}]}`, `{"if":{"user":"once"},"do":[{"call":"Do","id":"c2","input":{}}]}`, again)
	message := func(text, data string) *protocol.CustomMessage {
		return &protocol.CustomMessage{Kind: "x", Message: protocol.UserText(text), Data: []byte(data)}
	}
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	tr.do = func(ctx context.Context) {
		for _, add := range []func(context.Context, ...protocol.Body) error{tr.lane.Additions().Add, tr.lane.Additions().AddAfter} {
			if err := add(ctx, message("deep", deep)); err == nil {
				t.Error("what no log can have waits")
			}
			if err := add(ctx, message("kept", "{}")); err != nil {
				t.Error(err)
			}
		}
	}
	tr.open()
	tr.say("go")
	tr.do = func(context.Context) {
		disk.armed.Store(true)
		if err := tr.lane.Additions().AddAfter(t.Context(), message("lost", "{}")); err == nil {
			t.Error("nobody is told that it is lost")
		}
	}
	tr.say("once more")
	tr.do = nil
	tr.say("go on")
	got := slices.DeleteFunc(tr.path(), func(s string) bool {
		return !strings.Contains(s, "deep") && !strings.Contains(s, "kept") && !strings.Contains(s, "lost")
	})
	if len(got) != 2 || strings.Contains(strings.Join(got, " "), "lost") {
		t.Errorf("path %q", got)
	}
	tr.close()
}

// telling has something to tell, once, whose storing fails.
type telling struct {
	helpful
	disk    *flaky
	asked   int
	notTold int
}

func (p *telling) Items(history.Told, string) []protocol.Item {
	if p.asked++; p.asked > 1 {
		return nil
	}
	p.disk.armed.Store(true)
	return []protocol.Item{{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityHidden, Content: "news"}}
}

func (p *telling) NotTold() { p.notTold++ }

func TestWhatCouldNotBeStoredCountsAsNotTold(t *testing.T) {
	disk := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, disk, again).open()
	p := &telling{disk: disk}
	config := tr.host.config
	tr.host.config = func(ctx context.Context, m protocol.Meta, o *protocol.TurnOptions) (*TurnConfig, error) {
		c, err := config(ctx, m, o)
		if err == nil {
			c.Prompt = p
		}
		return c, err
	}
	tr.say("one")
	tr.say("two")
	if p.notTold != 1 || p.asked < 2 {
		t.Errorf("not told %d times, asked %d times", p.notTold, p.asked)
	}
	tr.close()
}

// TestAnAnswerThatCouldNotBeStoredIsStoredBeforeWhatFollows fails the fsync of an answer that
// was shown, and then that of the next message, with which the answer comes again.
func TestAnAnswerThatCouldNotBeStoredIsStoredBeforeWhatFollows(t *testing.T) {
	disk := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, disk, `{"do":[{"text":"Half of it."},{"call":"Do","id":"c1","input":{}}]}`, again)
	tr.open()
	var shown atomic.Bool
	tr.lane.Listeners().Watch(func(e protocol.Event) {
		if e.Type == protocol.TypeTextDelta && shown.CompareAndSwap(false, true) {
			disk.armed.Store(true)
		}
	})
	tr.say("go")
	if !shown.Load() || disk.armed.Load() || tr.called != "" {
		t.Fatalf("shown %t, the disk is still to fail %t, called %q", shown.Load(), disk.armed.Load(), tr.called)
	}
	disk.armed.Store(true)
	if _, err := tr.send("lost"); err == nil || disk.armed.Load() {
		t.Fatalf("the message was taken: %v", err)
	}
	tr.rest()
	tr.say("on")
	tr.say("further")
	got := slices.DeleteFunc(tr.path(), func(s string) bool { return !strings.HasPrefix(s, "user ") && !strings.HasPrefix(s, "assistant ") })
	if want := []string{"user go", "assistant Half of it.", "user on", "assistant fine", "user further", "assistant fine"}; !slices.Equal(got, want) {
		t.Errorf("the path is %q", got)
	}
	if sent := tr.model.sent(2); !strings.Contains(sent, "Half of it.") || !strings.Contains(sent, "could not be stored") {
		t.Errorf("the model is sent %s", sent)
	}
	tr.close()
}

// TestAFailedWriteWaitsForNobodyWhoWaitsForRoom fills the queue of the publisher with what
// belongs to no run after a write has failed, and before the lane could take note of that: the
// journal is locked by somebody who has something to tell.
func TestAFailedWriteWaitsForNobodyWhoWaitsForRoom(t *testing.T) {
	disk := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, disk, again)
	tr.open()
	l := tr.lane
	told := make(chan error, 1)
	go func() {
		l.j.Lock()
		defer l.j.Unlock()
		epoch := l.Publisher().Epoch()
		disk.armed.Store(true)
		if _, _, err := l.j.Append(t.Context(), &protocol.Custom{Kind: "x"}, journal.ByHost()); err != nil {
			told <- err
			return
		}
		for l.Publisher().Epoch() == epoch { // the write has failed
			time.Sleep(time.Millisecond)
		}
		var n atomic.Int32
		go func() {
			for range 5000 { // more than the queue holds; ends when there is room
				l.j.NotifyBeside(protocol.HostClient, &protocol.TaskUpdate{})
				n.Add(1)
			}
		}()
		for n.Load() < 4096 {
			time.Sleep(time.Millisecond)
		}
		if err := l.j.Notify(&protocol.Notice{Level: "info", Text: "of what was lost"}); err == nil {
			t.Error("what follows on what was lost entered")
		}
		told <- l.j.NotifyAnyway(protocol.HostClient, &protocol.Notice{Level: "info", Text: "true anyway"})
	}()
	select {
	case err := <-told:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("who holds the journal and the writer wait for each other")
	}
	tr.close()
}
