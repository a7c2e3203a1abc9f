package display

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"scorel/protocol"
)

// Step is one step of the work of a call, as it was reported.
type Step struct {
	OperationID string   `json:"operationId"`
	Stage       string   `json:"stage,omitempty"`
	Text        string   `json:"text"`             // one line
	Detail      string   `json:"detail,omitempty"` // any number of lines
	Count       string   `json:"count,omitempty"`  // "3/8"
	Percent     *float64 `json:"percent,omitempty"`
	Status      Status   `json:"status"`
	Warning     bool     `json:"warning,omitempty"` // a warning or an error
	At          string   `json:"at,omitempty"`      // RFC 3339
}

// StepOf returns how a process event is shown. A bar is drawn only where Percent is set.
func StepOf(e *protocol.ProcessEvent) Step {
	s := Step{OperationID: Line(e.OperationID), Stage: Line(e.Stage), Text: Line(e.Message), Detail: Text(e.Detail), Status: Running,
		Warning: e.Level == protocol.ProcessWarning || e.Level == protocol.ProcessError, At: Line(e.Timestamp)}
	if s.Text == "" {
		s.Text = s.Stage
	}
	if e.Percent != nil {
		p := min(max(*e.Percent, 0), 100)
		s.Percent = &p
	}
	if e.Current != nil && e.Total != nil && *e.Total > 0 {
		s.Count = number(*e.Current) + "/" + number(*e.Total)
	}
	switch e.Status {
	case protocol.ProcessCompleted, protocol.ProcessSkipped:
		s.Status = OK
	case protocol.ProcessFailed:
		s.Status = Failed
	case protocol.ProcessCancelled:
		s.Status = Cancelled
	}
	return s
}

// Line returns a step in one line: stage, text, and how far it is.
func (s Step) Line() string {
	line := s.Text
	if s.Stage != "" && s.Stage != s.Text && !strings.HasPrefix(s.Text, s.Stage+" ") {
		line = s.Stage + ": " + line
	}
	switch {
	case s.Count != "":
		line += " (" + s.Count + ")"
	case s.Percent != nil:
		line += fmt.Sprintf(" (%.0f%%)", *s.Percent)
	}
	return line
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func toolProcess(b *protocol.ToolProcess) Item {
	step := StepOf(&b.Event)
	item := Item{Kind: Tool, ToolCallID: Line(b.ToolCallID), ToolName: Line(b.ToolName), Title: step.Line(), Status: step.Status, Steps: []Step{step}}
	if label := Line(b.ToolLabel); label != "" && !strings.HasPrefix(item.Title, label) {
		item.Title = label + ": " + item.Title
	}
	return item
}

// steps returns the steps of a summary, nil when there are none.
func steps(raw json.RawMessage) []Step {
	var s protocol.ProcessSummary
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return nil
	}
	var out []Step
	for i := range s.Events {
		out = append(out, StepOf(&s.Events[i]))
	}
	return out
}
