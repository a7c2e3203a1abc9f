package headless

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

func TestSpinnerShowsTheNewestStep(t *testing.T) {
	for _, status := range []bool{true, false} {
		var stdout, stderr bytes.Buffer
		p := &textPrinter{out: &stdout, errOut: &stderr, status: status, started: time.Now()}
		for _, b := range []protocol.Body{&protocol.ToolExecutionStart{EventID: "evt_r", ToolCallID: "c1", ToolName: "ExecuteSkill", Args: json.RawMessage(`{}`)},
			step("c1", "frames", "first", 1, "running"), step("c1", "frames", strings.Repeat("long ", 40), 1, "running")} {
			if err := p.Event(event(b)); err != nil {
				t.Fatal(err)
			}
			p.Tick()
		}
		if stdout.Len() > 0 || status != strings.Contains(stderr.String(), " ExecuteSkill damage: frames: first (1%) 0s\x1b[K") || !status && stderr.Len() > 0 {
			t.Errorf("on a terminal %v: %q and %q", status, stdout.String(), stderr.String())
		}
		for _, line := range strings.FieldsFunc(stderr.String(), func(r rune) bool { return r == '\r' || r == '\n' }) {
			if len([]rune(line)) > 78 {
				t.Errorf("a line of %d characters: %q", len([]rune(line)), line)
			}
		}
	}
}

func TestTerminalGetsAllOfAnAnswerThatCameTooFast(t *testing.T) {
	var out strings.Builder
	p := &textPrinter{out: &out, errOut: io.Discard, live: true}
	message := protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("one two"), protocol.Text("three")}}
	for _, body := range []protocol.Body{
		&protocol.TextDelta{Delta: "one "}, &protocol.TextDelta{Delta: "two"}, &protocol.TextDelta{Delta: "three"}, &protocol.MessageBody{Message: message},
		&protocol.TextDelta{Delta: "one "}, &protocol.MessageBody{Message: message},
		&protocol.MessageBody{Message: message},
	} {
		if err := p.Event(protocol.NewEvent(body)); err != nil {
			t.Fatal(err)
		}
	}
	want := "one twothree\none \n[some of it came too fast; this is all of it]\none two\nthree\none two\nthree\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// event makes an event as a session would.
func event(body protocol.Body) protocol.Event {
	e := protocol.NewEvent(body)
	if e.Seq = 1; !e.IsTransient() {
		e.ID = "evt_0000000000000001"
	}
	return e
}

func step(call, stage, message string, percent float64, status protocol.ProcessStatus) *protocol.ToolProcess {
	return &protocol.ToolProcess{ToolCallID: call, ToolName: "ExecuteSkill", ToolLabel: "damage", Event: protocol.ProcessEvent{
		OperationID: "tool-" + call, Stage: stage, Message: message, Percent: &percent, Status: status, Level: "info", Timestamp: "2026-05-06T12:00:00Z"}}
}
