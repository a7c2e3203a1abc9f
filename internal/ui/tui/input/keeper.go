package input

import (
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/drafts"
	"scorel/protocol"
	"scorel/protocol/display"
)

// keepEvery is the least time between two writes: what was typed since the last one is
// what a crash can cost.
const keepEvery = 500 * time.Millisecond

// keeper writes down which session is shown and what is typed, for after a crash, beside
// the goroutine of the UI: a key never waits for the disk. Of several states the newest is
// written.
type keeper struct {
	mark   *drafts.Mark
	next   chan drafts.State // holds at most one
	ending chan struct{}
	done   sync.WaitGroup
}

// keep begins to write states down; end ends it. lost is called once with why it cannot.
func keep(mark *drafts.Mark, lost func(error)) *keeper {
	k := &keeper{mark: mark, next: make(chan drafts.State, 1), ending: make(chan struct{})}
	k.done.Go(func() { // ends with end
		lostOnce := false
		for s := range k.next {
			if err := k.mark.Set(s); err != nil && !lostOnce {
				lostOnce = true
				lost(err)
			}
			select {
			case <-time.After(keepEvery):
			case <-k.ending:
			}
		}
	})
	return k
}

// set has a state written down. One goroutine calls it.
func (k *keeper) set(s drafts.State) {
	if k == nil {
		return
	}
	select {
	case <-k.next: // it was not written yet
	default:
	}
	k.next <- s
}

// end waits for what is being written. With over set the UI was left in order, and
// nothing is remembered.
func (k *keeper) end(over bool) {
	if k == nil {
		return
	}
	close(k.ending)
	close(k.next)
	k.done.Wait()
	if over {
		k.mark.End()
	}
}

// Begin keeps what is typed from now on for after a crash. It restores the draft of a UI
// that crashed here, and returns the session that this one has shown, "" for none. lost is
// called, in the goroutine of the UI or another, with why nothing can be kept.
func (in *Input) Begin(lost func(error)) protocol.SessionID {
	mark, left, err := drafts.Begin(disk.OS(), filepath.Join(in.cfg.Dir, "tui"), in.cfg.WorkDir, rand.Reader)
	if err != nil {
		lost(err)
		return ""
	}
	in.keeper = keep(mark, lost)
	if left == nil {
		return ""
	}
	if left.Draft != "" && in.editor.Set(left.Draft) == nil {
		in.cfg.Toasts.Info("your draft was restored")
	}
	return left.SessionID
}

// Keep has written down which session is shown and what is typed, for after a crash.
func (in *Input) Keep() {
	s := in.state()
	s.Draft = strings.Join(in.typed(), "\n")
	in.keeper.set(s)
}

func (in *Input) state() drafts.State {
	return drafts.State{WorkDir: in.cfg.WorkDir, SessionID: in.cfg.Session.MainID()}
}

// Ending is how a UI ends.
type Ending int

// The endings.
const (
	InOrder Ending = iota // a person has left it
	Cut                   // the terminal or the system has ended it
	Crashed
)

// End waits for what is being written, and writes to w what has reached no host. Where a
// person did not see that, it is kept for the next UI in the same folder.
func (in *Input) End(e Ending, w io.Writer) {
	unfinished := e == Crashed
	if e != InOrder && (len(in.outbox.sending) > 0 || len(in.typed()) > 0) {
		unfinished = true
		var texts []string
		for _, d := range in.outbox.sending {
			texts = append(texts, d.text)
		}
		texts = append(texts, in.typed()...)
		s := in.state()
		s.Draft = strings.Join(texts, "\n")
		in.keeper.set(s)
	}
	in.keeper.end(!unfinished)
	for _, d := range in.outbox.sending {
		fmt.Fprintln(w, "scorel: the host has not confirmed: "+display.Line(d.text))
	}
	for _, text := range in.outbox.unsent {
		fmt.Fprintln(w, "scorel: not sent: "+display.Line(text))
	}
}
