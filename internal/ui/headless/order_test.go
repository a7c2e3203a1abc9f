package headless

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/protocol"
)

// answering handles requests as a test says, and notes which have begun.
type answering struct {
	o     *order
	begun []string
}

// start starts a request that is answered when the channel that it returns is closed.
func (a *answering) start(t *testing.T, name string, r protocol.Request) chan struct{} {
	t.Helper()
	answered := make(chan struct{})
	if !a.o.start(r, func() {
		a.begun = append(a.begun, name)
		<-answered
	}) {
		t.Errorf("%s is refused", name)
	}
	synctest.Wait()
	return answered
}

func (a *answering) want(t *testing.T, begun string) {
	t.Helper()
	if got := strings.Join(a.begun, " "); got != begun {
		t.Errorf("begun are %q, want %q", got, begun)
	}
}

func TestRequestsAreHandledInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answering{o: newOrder()}
		began := time.Now()
		close(a.start(t, "rename", &protocol.UpdateInfo{}))
		close(a.start(t, "message", &protocol.SendMessage{}))
		close(a.start(t, "read", &protocol.GetPath{}))
		a.o.wait()
		a.want(t, "rename message read")
		if waited := time.Since(began); waited != 0 {
			t.Errorf("requests that are answered at once took %v", waited)
		}
	})
}

func TestRequestThatWaitsHoldsUpOnlyWhatBuildsOnIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answering{o: newOrder()}
		began := time.Now()
		command := a.start(t, "command", &protocol.RunCommand{})
		answer := a.start(t, "answer", &protocol.AnswerUI{})
		cancel := a.start(t, "cancel", &protocol.Cancel{})
		if time.Since(began) != 0 {
			t.Error("an answer waits")
		}
		read := a.start(t, "read", &protocol.GetPath{})
		if waited := time.Since(began); waited != inOrder {
			t.Errorf("a read waits for %v", waited)
		}
		message := a.start(t, "message", &protocol.SendMessage{})
		move := a.start(t, "move", &protocol.RewindTo{CancelFirst: "trn_1"})
		a.want(t, "command answer cancel read move")
		for _, answered := range []chan struct{}{answer, cancel, read, command, move, message} {
			close(answered)
		}
		a.o.wait()
		a.want(t, "command answer cancel read move message")
	})
}

func TestRequestsThatAreTooManyAreRefusedAndAnswersPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answering{o: newOrder()}
		var open []chan struct{}
		for range maxOpen {
			open = append(open, a.start(t, "read", &protocol.GetPath{}))
		}
		if a.o.start(&protocol.GetPath{}, func() {}) {
			t.Error("one more is not refused")
		}
		open = append(open, a.start(t, "answer", &protocol.AnswerPermission{}))
		if !slices.Contains(a.begun, "answer") {
			t.Error("an answer does not pass")
		}
		for _, answered := range open {
			close(answered)
		}
		a.o.wait()
		if !a.o.start(&protocol.GetPath{}, func() {}) {
			t.Error("it is refused when nothing is open")
		}
		a.o.wait()
	})
}
