package tui

import (
	"context"
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/protocol"
)

func TestWhatIsTypedForASessionThatDoesNotOpenGoesToNoOther(t *testing.T) {
	l := newLink(&Config{}, func(tea.Msg) {})
	m := &Model{link: l, projection: client.NewProjection()}
	sent := 0
	var failed error
	send := func() {
		ordered(m, func(context.Context, *link) (*protocol.Done, error) { sent++; return nil, nil },
			func(_ *Model, _ *protocol.Done, err error) tea.Cmd { failed = err; return nil })
	}
	run := func() then { return (<-l.jobs)(t.Context(), l) }

	l.id = "ses_before"
	m.show("ses_held_elsewhere")
	send() // the person does not know yet that it fails
	l.err = errors.New("it is held by scorel -p")
	missed := run()
	l.err = nil
	typed := run()
	if sent > 0 {
		t.Error("it went to the session that was shown before")
	}
	missed(m)
	if typed(m); failed == nil {
		t.Error("nobody is told")
	}
	send() // who knows means the session that is shown
	if run()(m); sent != 1 || failed != nil {
		t.Errorf("sent %d times: %v", sent, failed)
	}
}
