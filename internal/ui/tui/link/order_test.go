package link

import (
	"context"
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/loop"
	"scorel/protocol"
)

func newLink(t *testing.T) *Link { return New(t.Context(), Config{Send: func(tea.Msg) {}}) }

func TestRequestForASessionThatDoesNotOpenGoesToNoOther(t *testing.T) {
	l := newLink(t)
	w := l.worker()
	sent := 0
	var failed, shown error
	send := func() {
		Ordered(l, func(context.Context, Target) (*protocol.Done, error) { sent++; return nil, nil },
			func(_ *protocol.Done, err error) tea.Cmd { failed = err; return nil })
	}
	run := func() loop.Then { return (<-l.jobs)(t.Context(), w) }

	w.id = "ses_before"
	l.Show("ses_held_elsewhere", func(err error) tea.Cmd { shown = err; return nil })
	send() // the person does not know yet that it fails
	w.err = errors.New("it is held by scorel -p")
	missed := run()
	w.err = nil
	typed := run()
	if sent > 0 {
		t.Error("it went to the session that was shown before")
	}
	missed()
	if typed(); failed == nil || shown == nil {
		t.Errorf("nobody is notified: %v, %v", failed, shown)
	}
	send() // who knows means the session that is shown
	if run()(); sent != 1 || failed != nil {
		t.Errorf("sent %d times: %v", sent, failed)
	}
}

func TestRequestsThatWaitAreBounded(t *testing.T) {
	l := newLink(t)
	refused := 0
	for range 10 * maxJobs {
		Ordered(l, func(context.Context, Target) (*protocol.Done, error) { return nil, nil },
			func(_ *protocol.Done, err error) tea.Cmd {
				if err != nil {
					refused++
				}
				return nil
			})
	}
	if len(l.jobs) != maxJobs || refused != 9*maxJobs {
		t.Errorf("%d wait, %d were refused", len(l.jobs), refused)
	}
}
