package lane

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// told is what clients were told of a lane, in short.
type told struct {
	mu   sync.Mutex
	list []string
}

func (w *told) note(e protocol.Event) {
	said := brief(e)
	switch b := e.Body.(type) {
	case *protocol.MessageCancelled:
		said = "taken back: " + string(b.Reason)
	case *protocol.RuntimeEnd:
		said = "end: " + string(b.Terminal)
	case *protocol.QueueUpdate:
		if said = "queue"; b.Paused {
			said = "queue paused"
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, said)
}

func (w *told) count(said string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(w.list), func(s string) bool { return s != said }))
}

// follow sends a message that waits for the running turn.
func (tr *trial) follow(text string) {
	if _, err := tr.lane.Send(context.Background(), tr.caller(), Message{Content: []protocol.Block{protocol.Text(text)}, Busy: BusyFollowUp}); err != nil {
		tr.t.Error(err)
	}
}

// endsLost checks that a turn has ended because something of it is lost, and that what
// waited after it waits on.
func (tr *trial) endsLost(w *told) {
	tr.t.Helper()
	if err := tr.lane.Publisher().Flush(tr.t.Context()); err != nil {
		tr.t.Fatal(err)
	}
	if n := w.count("end: " + string(protocol.TerminalStorageError)); n != 1 {
		tr.t.Errorf("%d ends with storage_error in %q", n, w.list)
	}
	live := tr.lane.Publisher().Live()
	if live.Running || len(live.Messages) > 0 || len(live.Tools) > 0 {
		tr.t.Errorf("running: %v, messages %v, tools %v", live.Running, live.Messages, live.Tools)
	}
	if len(live.Queues) != 1 || !live.Queues[0].Paused || len(live.Queues[0].Items) != 1 {
		tr.t.Errorf("queues %+v", live.Queues)
	}
}

// TestACallWhoseMessageCannotBeStoredDoesNotRun fails the fsync of the message with the
// call.
func TestACallWhoseMessageCannotBeStoredDoesNotRun(t *testing.T) {
	flaky := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, flaky, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	tr.do = func(context.Context) { t.Error("the call has run") }
	tr.open()
	w := &told{}
	tr.lane.Listeners().Watch(w.note)
	tr.model.before = func(_ context.Context, n int) {
		if n == 1 {
			tr.follow("wait")
			if err := tr.lane.Publisher().Flush(context.Background()); err != nil {
				t.Error(err)
			}
			flaky.armed.Store(true)
		}
	}
	tr.say("go")
	tr.endsLost(w)
	if got := tr.path(); !slices.Equal(got, []string{"user go"}) || w.count("calls") > 0 {
		t.Errorf("path %q, told %q", got, w.list)
	}
	tr.do = nil
	tr.say("again")
	if got := tr.path(); !slices.Equal(got, []string{"user go", "user again", "assistant fine", "user wait", "assistant fine"}) {
		t.Errorf("path %q", got)
	}
	tr.close()
}

// TestAResultThatNoLineHasRoomForIsTakenBack has a tool give more than an event of the log
// may have: what was announced does not come, and the turn ends.
func TestAResultThatNoLineHasRoomForIsTakenBack(t *testing.T) {
	tr := newTrial(t, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	tr.result = []protocol.Block{{Type: protocol.BlockImage, MediaType: strings.Repeat("x", protocol.MaxLine)}}
	w := &told{}
	tr.do = func(context.Context) { tr.follow("wait") }
	tr.open()
	tr.lane.Listeners().Watch(w.note)
	tr.say("go")
	tr.endsLost(w)
	if n := w.count("taken back: " + string(protocol.CancelStorage)); n != 1 {
		t.Errorf("%d are taken back in %q", n, w.list)
	}
	tr.result = nil
	tr.say("again")
	if got := tr.model.sent(2); !strings.Contains(got, "tool_result: ") || !strings.HasSuffix(got, "user: again") {
		t.Errorf("the model is sent %q", got)
	}
	tr.close()
}

// TestTheWholeOfAResultThatWasCutCanBeReadAgain has a tool give more than fits: the model
// pages through the whole with Read.
func TestTheWholeOfAResultThatWasCutCanBeReadAgain(t *testing.T) {
	tr := newTrial(t, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	whole := strings.Repeat("0123456789abcde\n", protocol.MaxLine/16)
	tr.result = []protocol.Block{protocol.Text(whole)}
	tr.open()
	tr.say("go")
	if got := tr.model.sent(2); len(got) > 128<<10 || !strings.Contains(got, "[cut here: the first 65536 of ") {
		t.Errorf("the model is sent %d bytes: …%s", len(got), got[max(0, len(got)-300):])
	}
	r, err := tr.lane.storedResult(t.Context(), "c1")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "did {}\n"+whole {
		t.Errorf("%d bytes of %d can be read again: %v", len(got), len(whole), err)
	}
	tr.close()
}
