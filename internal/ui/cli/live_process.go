package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	maxWorked   = 64 // calls whose work can be asked for
	maxTimeline = 50 // lines of /process
	barWidth    = 10 // columns
)

// worked is a call that has reported its work. call is empty for a background
// command.
type worked struct {
	call, operation, name string

	session protocol.SessionID      // that has the log: a copy of a session refers to the other's
	kept    []protocol.ProcessEvent // what its result keeps of it
}

// work remembers who reports.
func (v *liveView) work(b *protocol.ToolProcess) {
	w := worked{call: b.ToolCallID, operation: b.Event.OperationID, name: b.ToolName}
	if b.ToolLabel != "" {
		w.name += " " + b.ToolLabel
	}
	v.remember(w)
}

func (v *liveView) remember(w worked) {
	for i, o := range v.worked {
		if o.operation == w.operation {
			w.call = firstOf(w.call, o.call)
			if len(o.name) > len(w.name) { // with the name of its skill
				w.name = o.name
			}
			v.worked = append(v.worked[:i], v.worked[i+1:]...)
			break
		}
	}
	v.worked = append(v.worked, w)
	v.worked = v.worked[max(0, len(v.worked)-maxWorked):]
}

// summary remembers the work of a call that has ended.
func (v *liveView) summary(m protocol.Message) {
	var s protocol.ProcessSummary
	if len(m.Process) == 0 || json.Unmarshal(m.Process, &s) != nil || s.LogRef == nil {
		return
	}
	v.remember(worked{call: m.ToolCallID, operation: s.LogRef.OperationID, name: m.ToolName, session: s.LogRef.SessionID, kept: s.Events})
}

// taskSummary remembers how a background command went, from the notice of its end.
func (v *liveView) taskSummary(b *protocol.HarnessItem) {
	var n protocol.TaskNotice
	if b.Item.Kind != protocol.ItemRuntimeNotice || len(b.Item.Data) == 0 || json.Unmarshal(b.Item.Data, &n) != nil || n.Process == nil || n.Process.LogRef == nil {
		return
	}
	ref := n.Process.LogRef
	v.remember(worked{call: ref.ToolCallID, operation: ref.OperationID, name: n.Command, session: ref.SessionID, kept: n.Process.Events})
}

// process shows a step of a call: under it where that can be taken back, else when the
// stage changes or the operation ends.
func (v *liveView) process(b *protocol.ToolProcess, l *protocol.Live) {
	v.work(b)
	step := display.StepOf(&b.Event)
	over := step.Status != display.Running
	if b.ToolCallID == "" { // of a background command; the model is told of its end with the next turn
		if over && !l.Running {
			v.screen.endStream()
			v.screen.line(stepStyle(step), "── "+step.Text)
		}
		return
	}
	if v.screen.live() || b.Event.TargetType == protocol.ProcessOfTask { // the card says that it runs in the background
		return
	}
	stage := step.Stage
	if stage == "" {
		stage = step.Text
	}
	if !over && v.stages[step.OperationID] == stage {
		return
	}
	if len(v.stages) >= maxCards {
		clear(v.stages)
	}
	v.stages[step.OperationID] = stage
	v.screen.line(stepStyle(step), "  "+firstLine(display.Of(protocol.NewEvent(b)).Title, maxTailWidth))
}

func stepStyle(s display.Step) style {
	if s.Warning || s.Status == display.Failed {
		return alertStyle
	}
	return dimStyle
}

// steps shows where each call that runs stands: its newest step.
func (v *liveView) steps(l *protocol.Live) {
	if !v.screen.live() {
		return
	}
	var lines []string
	for _, t := range l.Tools {
		if len(t.Process) == 0 {
			continue
		}
		p := t.Process[len(t.Process)-1]
		it := display.Of(protocol.NewEvent(&p))
		line := "  ▸ "
		if len(l.Tools) > 1 {
			line += display.Line(t.ToolName) + " "
		}
		line += it.Title
		if n := len(t.Process); n > 1 {
			line += fmt.Sprintf(" [%d operations]", n)
		}
		if s := it.Steps[0]; s.Percent != nil {
			line = line[:len("  ▸ ")] + bar(*s.Percent) + " " + line[len("  ▸ "):]
		}
		lines = append(lines, line)
	}
	v.screen.steps(lines)
}

// bar draws a percentage.
func bar(percent float64) string {
	n := int(percent / 100 * barWidth)
	return strings.Repeat("█", n) + strings.Repeat("░", barWidth-n)
}

// process lists how a call has gone: the one of an id or of its beginning, or the one
// that reported last.
func (v *liveSession) process(name string) {
	var found []worked
	for i := len(v.view.worked) - 1; i >= 0; i-- {
		if w := v.view.worked[i]; strings.HasPrefix(w.call, name) || strings.HasPrefix(w.operation, name) {
			found = append(found, w)
		}
	}
	switch {
	case len(found) == 0 && name == "":
		v.say("no call has reported how it goes")
		return
	case len(found) == 0:
		v.fail(fmt.Errorf("no call %s has reported how it goes; /process shows the newest that has", display.Line(name)))
		return
	}
	w := found[0]
	v.queueJob(func(ctx context.Context) func() {
		lines, before, err := v.timeline(ctx, w)
		return func() {
			if err != nil {
				v.told(err, "")
				return
			}
			v.say(strings.TrimSpace(display.Line(w.name) + " " + display.Line(firstOf(w.call, w.operation))))
			if before > 0 {
				v.screen.line(dimStyle, fmt.Sprintf("  … %d lines before", before))
			}
			for _, l := range lines {
				st, text := processLine(l)
				v.screen.line(st, "  "+text)
			}
			if name == "" && len(found) > 1 {
				var others []string
				for _, o := range found[1:min(len(found), 6)] {
					if o.call == w.call { // a vendor that gives an id again
						o.call = o.operation
					}
					others = append(others, display.Line(firstOf(o.call, o.operation)))
				}
				v.say("/process CALL shows another: " + strings.Join(others, ", "))
			}
		}
	})
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// timeline gives the end of the log of an operation, and how many lines are before it.
// Where there is no log any more, it gives what the result has kept.
func (v *liveSession) timeline(ctx context.Context, w worked) (lines []protocol.ProcessLine, before int, err error) {
	session := v.id
	if w.session != "" {
		session = w.session
	}
	for offset := 0; ; {
		page, err := client.Call[*protocol.ProcessLog](ctx, v.link.Client, session, &protocol.GetProcessLog{OperationID: w.operation, Offset: offset, Limit: 1000})
		var pe *protocol.Error
		switch {
		case offset == 0 && len(w.kept) > 0 && errors.As(err, &pe) && (pe.Code == protocol.CodeInvalidRequest || pe.Code == protocol.CodeSessionNotFound):
			for i := range w.kept {
				lines = append(lines, protocol.ProcessLine{Event: &w.kept[i]})
			}
			return lines, 0, nil
		case err != nil:
			return nil, 0, err
		}
		lines = append(lines, page.Lines...)
		if n := len(lines) - maxTimeline; n > 0 {
			before += n
			lines = append(lines[:0], lines[n:]...)
		}
		if !page.More {
			return lines, before, nil
		}
		if page.Next <= offset {
			return nil, 0, errors.New("the host gives the same page of the log again")
		}
		offset = page.Next
	}
}

// processLine gives a line of a log as it is shown.
func processLine(l protocol.ProcessLine) (style, string) {
	switch {
	case l.Event != nil:
		step := display.StepOf(l.Event)
		text := step.Line()
		if at, err := time.Parse(time.RFC3339Nano, step.At); err == nil {
			text = at.Local().Format("15:04:05") + "  " + text
		}
		switch step.Status {
		case display.OK:
			text += " ✓"
		case display.Failed, display.Cancelled:
			text += " (" + string(l.Event.Status) + ")"
		}
		return stepStyle(step), firstLine(text, maxTailWidth)
	case l.Note != "":
		return dimStyle, "(" + firstLine(l.Note, maxTailWidth) + ")"
	}
	return dimStyle, "| " + firstLine(l.Stderr, maxTailWidth)
}
