package line

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"scorel/protocol"
	"scorel/protocol/fold"
)

// told makes events of a session, in order.
type told struct{ seq protocol.Seq }

func (s *told) event(body protocol.Body) protocol.Event {
	s.seq++
	e := protocol.NewEvent(body)
	e.Seq = s.seq
	if !e.IsTransient() {
		e.ID = protocol.EventID(fmt.Sprintf("evt_%016d", s.seq))
	}
	return e
}

// plays has a session's view told of bodies.
func (v *Session) plays(s *told, bodies ...protocol.Body) {
	for _, b := range bodies {
		e := s.event(b)
		fold.Apply(&v.live, e)
		v.view.event(e, &v.live)
	}
}

func step(call, stage, message string, percent float64, status protocol.ProcessStatus) *protocol.ToolProcess {
	return &protocol.ToolProcess{ToolCallID: call, ToolName: "ExecuteSkill", ToolLabel: "damage", Event: protocol.ProcessEvent{
		OperationID: "tool-" + call, Stage: stage, Message: message, Percent: &percent, Status: status, Level: "info", Timestamp: "2026-05-06T12:00:00Z"}}
}

func TestNewestStepIsShownUnderItsCallUntilTheResult(t *testing.T) {
	var out bytes.Buffer
	v, _ := watched()
	v.term = newTermScreen(&out, 60)
	v.term.plain = true
	v.screen = v.term
	v.show(v.screen)
	s := &told{}
	// drawn returns the rows of the last drawing from the finished ones on.
	drawn := func() string {
		out.Reset()
		if err := v.screen.flush(); err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer("\x1b[K", "", "\x1b[1A", "", "\x1b[?2004h", "", "\r", "").Replace(out.String())
	}
	v.plays(s, &protocol.RuntimeStart{}, &protocol.ToolExecutionStart{EventID: "evt_r", ToolCallID: "c1", ToolName: "ExecuteSkill"},
		step("c1", "frames", "extracting", 20, "running"), step("c1", "frames", "frames extracted", 38, "running"))
	if got := drawn(); !strings.Contains(got, "• ExecuteSkill\n  ▸ ███░░░░░░░ damage: frames extracted (38%)\n> ") || strings.Contains(got, "extracting") {
		t.Errorf("it shows %q", got)
	}
	v.plays(s, &protocol.ToolProcess{ToolCallID: "c1", ToolName: "ExecuteSkill", Event: protocol.ProcessEvent{OperationID: "tool-c1", Message: "no number " + strings.Repeat("x", 100), Status: "running"}})
	if got := drawn(); !strings.Contains(got, "  ▸ no number xxx") || strings.Contains(got, "░") || strings.Contains(got, strings.Repeat("x", 50)) {
		t.Errorf("without a number it shows %q", got)
	}
	result := s.event(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c1", ToolName: "ExecuteSkill", Content: []protocol.Block{protocol.Text("done")}}})
	result.ID = "evt_r"
	fold.Apply(&v.live, result)
	v.view.event(result, &v.live)
	if got := drawn(); strings.Contains(got, "▸") || !strings.Contains(got, "  done\n> ") {
		t.Errorf("behind the result it shows %q", got)
	}
}

func TestTerminalThatJoinsShowsTheSameStep(t *testing.T) {
	var out bytes.Buffer
	v, _ := watched()
	v.term = newTermScreen(&out, 80)
	v.term.plain = true
	v.screen = v.term
	v.show(v.screen)
	v.live = protocol.Live{Running: true, Tools: []protocol.LiveTool{
		{EventID: "evt_1", ToolCallID: "c1", ToolName: "ExecuteSkill", Process: []protocol.ToolProcess{*step("c1", "s", "one", 10, "running")}},
		{EventID: "evt_2", ToolCallID: "c2", ToolName: "ExecuteSkill", Process: []protocol.ToolProcess{*step("c2", "s", "two", 100, "running")}}}}
	v.view.state(&v.live)
	if err := v.screen.flush(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  ▸ █░░░░░░░░░ ExecuteSkill damage: s: one (10%)", "  ▸ ██████████ ExecuteSkill damage: s: two (100%)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
}

func TestPipeHasALineForEachStageAndEnd(t *testing.T) {
	v, out := watched()
	s := &told{}
	v.plays(s, &protocol.RuntimeStart{}, &protocol.ToolExecutionStart{EventID: "evt_r", ToolCallID: "c1", ToolName: "ExecuteSkill"},
		step("c1", "frames", "first", 1, "running"), step("c1", "frames", "second", 2, "running"), step("c1", "detect", "third", 3, "running"),
		step("c1", "detect", "over\x1b[2J", 100, "failed"))
	if want := "• ExecuteSkill\n  damage: frames: first (1%)\n  damage: detect: third (3%)\n  damage: detect: over (100%)\n"; out.String() != want {
		t.Errorf("it shows\n%s\nnot\n%s", out, want)
	}
}

func TestEndOfABackgroundCommandIsShown(t *testing.T) {
	v, out := watched()
	end := &protocol.ToolProcess{ToolName: "Bash", Event: protocol.ProcessEvent{OperationID: "task-1", TaskID: "1", TargetType: "task", Message: "make ended (exit code 0)", Status: "completed"}}
	s := &told{}
	v.plays(s, end)
	if want := "── make ended (exit code 0)\n"; out.String() != want {
		t.Errorf("while nothing runs: %q", out)
	}
	out.Reset()
	v.plays(s, &protocol.RuntimeStart{}, end) // the notice for the model tells it
	if out.String() != "" {
		t.Errorf("in a turn: %q", out)
	}
}
