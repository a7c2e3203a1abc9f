package line

import (
	"bytes"
	"strings"
	"testing"

	"scorel/protocol"
)

// liveScreen notes what a terminal would show.
type liveScreen struct {
	pipeScreen
	streamed *bytes.Buffer
}

func (l *liveScreen) stream(_ style, text string) { l.streamed.WriteString(text) }
func (l *liveScreen) live() bool                  { return true }

func TestReconnectShowsOnlyWhatIsNew(t *testing.T) {
	state := func(text string, waits ...string) *protocol.Live {
		l := &protocol.Live{Running: true, Retry: &protocol.Retry{Attempt: 1, MaxAttempts: 8, DelayMS: 500, Error: "overloaded"},
			Messages: []protocol.LiveMessage{{EventID: "evt_1", Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{{Type: protocol.BlockText, Text: []byte(text)}}}}}
		for _, w := range waits {
			l.Queues = append(l.Queues, protocol.LiveQueue{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{{Content: []protocol.Block{protocol.Text(w)}}}})
		}
		return l
	}
	for _, live := range []bool{false, true} {
		var out, streamed bytes.Buffer
		var s screen = &pipeScreen{out: &out}
		if live {
			s = &liveScreen{pipeScreen{out: &out}, &streamed}
		}
		v := newView(s)
		v.state(state("half of it", "next please"))
		v.state(state("half of it", "next please"))
		v.event(protocol.NewEvent(&protocol.Retry{Attempt: 2, MaxAttempts: 8, DelayMS: 900, Error: "overloaded"}), state("half of it", "next please"))
		later := state("half of it and on", "next please")
		later.Retry = &protocol.Retry{Attempt: 2, MaxAttempts: 8, DelayMS: 900, Error: "overloaded"}
		v.state(later)
		v.state(later)
		all := out.String() + streamed.String()
		for text, want := range map[string]int{"overloaded": 2, "next please": 1, "half of it": 1} {
			if n := strings.Count(all, text); n != want {
				t.Errorf("live %v: %q is shown %d times, want %d:\n%s", live, text, n, want, all)
			}
		}
		if live && !strings.HasSuffix(streamed.String(), "half of it and on") {
			t.Errorf("streamed %q", streamed.String())
		}
		out.Reset()
		v.state(state("half of it and on", "another one"))
		if !strings.Contains(out.String(), "another one") {
			t.Errorf("what is new is not shown: %q", out.String())
		}
	}
}

// TestTheEndOfATurnSaysWhatEndedIt: only a turn that came to its end is done, and a reason
// that stands above is not said twice.
func TestTheEndOfATurnSaysWhatEndedIt(t *testing.T) {
	const tooMany = "The run stopped after 2 steps."
	limit := &protocol.Error{Code: protocol.CodeStepLimit, Message: tooMany}
	refused := &protocol.Error{Code: protocol.CodeProviderError, Message: protocol.ModelRefused}
	for _, c := range []struct {
		message protocol.Message
		end     protocol.RuntimeEnd
		says    string
	}{
		{protocol.Message{StopReason: protocol.StopEndTurn}, protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalCompleted}, "── done"},
		{protocol.Message{StopReason: protocol.StopError, Partial: true, ErrorMessage: tooMany},
			protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalMaxSteps, Error: limit}, "── ended: the limit of steps"},
		{protocol.Message{StopReason: protocol.StopRefusal},
			protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalRefused, Error: refused}, "── ended: the model refused"},
		{protocol.Message{StopReason: protocol.StopEndTurn},
			protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: "of_tomorrow"}, "── ended: of tomorrow"},
	} {
		var out bytes.Buffer
		v := newView(&pipeScreen{out: &out})
		c.message.Role = protocol.RoleAssistant
		message := protocol.NewEvent(&protocol.MessageBody{Message: c.message})
		message.ID = "evt_0123456789abcdef"
		v.event(message, &protocol.Live{Running: true})
		v.event(protocol.NewEvent(&c.end), &protocol.Live{})
		if !strings.Contains(out.String(), c.says+"\n") && !strings.Contains(out.String(), c.says+" (") {
			t.Errorf("%s: it shows %q", c.end.Terminal, out.String())
		}
		if c.end.Error != nil && strings.Count(out.String(), c.end.Error.Message) != 1 {
			t.Errorf("%s: the reason is not shown once: %q", c.end.Terminal, out.String())
		}
	}
}

func TestAnAnswerThatGoesOnIsStreamedOn(t *testing.T) {
	var out bytes.Buffer
	s := newTermScreen(&out, 60)
	v := newView(s)
	running := &protocol.Live{Running: true}
	for i, text := range []string{"half a wo", "rd, and more"} {
		id := protocol.EventID([]string{"evt_1", "evt_2"}[i])
		v.event(protocol.NewEvent(&protocol.MessageStart{EventID: id, Role: protocol.RoleAssistant}), running)
		v.event(protocol.NewEvent(&protocol.TextDelta{EventID: id, Delta: text}), running)
		m := protocol.Message{Role: protocol.RoleAssistant, StopReason: []protocol.StopReason{protocol.StopMaxTokens, protocol.StopEndTurn}[i], Content: []protocol.Block{protocol.Text(text)}}
		e := protocol.NewEvent(&protocol.MessageBody{Message: m})
		e.ID = id
		v.event(e, running)
		v.event(protocol.NewEvent(&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Content: "Go on.", Visibility: protocol.VisibilityHidden}}), running)
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "half a word, and more") {
		t.Errorf("%q", got)
	}
}
