package line

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"scorel/client"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	maxWorked   = 64  // calls whose work can be asked for
	maxSearched = 500 // events of the path that are searched for further ones
	maxOthers   = 6   // of which /process names all but the first
	maxTimeline = 50  // lines of /process
	barWidth    = 10  // columns
)

// worked is a call that has reported its work. call is empty for a background
// command.
type worked struct {
	call, operation, name string

	session protocol.SessionID      // that has the log: a copy of a session refers to the other's
	kept    []protocol.ProcessEvent // what its result keeps of it
}

// work remembers who reports.
func (v *view) work(b *protocol.ToolProcess) {
	w := worked{call: b.ToolCallID, operation: b.Event.OperationID, name: b.ToolName}
	if b.ToolLabel != "" {
		w.name += " " + b.ToolLabel
	}
	v.remember(w)
}

func (v *view) remember(w worked) {
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

// summary remembers how a call or a background command went that has ended.
func (v *view) summary(e protocol.Event) {
	if w, ok := workedOf(e); ok {
		v.remember(w)
	}
}

// workedOf returns how a call went, from its result, or a background command, from the
// notice of its end.
func workedOf(e protocol.Event) (worked, bool) {
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		var s protocol.ProcessSummary
		m := b.Message
		if len(m.Process) == 0 || json.Unmarshal(m.Process, &s) != nil || s.LogRef == nil {
			return worked{}, false
		}
		return worked{call: m.ToolCallID, operation: s.LogRef.OperationID, name: m.ToolName, session: s.LogRef.SessionID, kept: s.Events}, true
	case *protocol.HarnessItem:
		var n protocol.TaskNotice
		if b.Item.Kind != protocol.ItemRuntimeNotice || len(b.Item.Data) == 0 || json.Unmarshal(b.Item.Data, &n) != nil || n.Process == nil || n.Process.LogRef == nil {
			return worked{}, false
		}
		ref := n.Process.LogRef
		return worked{call: ref.ToolCallID, operation: ref.OperationID, name: n.Command, session: ref.SessionID, kept: n.Process.Events}, true
	}
	return worked{}, false
}

// process shows a step of a call: under it where that can be taken back, else when the
// stage changes or the operation ends.
func (v *view) process(b *protocol.ToolProcess, l *protocol.Live) {
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
	v.screen.line(stepStyle(step), "  "+plain.FirstLine(display.Of(protocol.NewEvent(b)).Title, maxTailWidth))
}

func stepStyle(s display.Step) style {
	if s.Warning || s.Status == display.Failed {
		return alertStyle
	}
	return dimStyle
}

// steps shows how far each call that runs is: its newest step.
func (v *view) steps(l *protocol.Live) {
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

// process lists how a call has gone: the one of an id or of its beginning, or the one that
// reported last. Calls before those that were shown are looked up.
func (v *Session) process(name string) {
	shown := slices.Clone(v.view.worked)
	v.enqueue(func(ctx context.Context) func() {
		older, err := v.reported(ctx)
		found := find(name, older, shown)
		switch {
		case len(found) > 0:
			return v.timelineOf(ctx, found, name == "")
		case err != nil:
			return func() { v.outcome(err, "") }
		case name == "":
			return func() { v.notify("no call has reported progress") }
		}
		return func() {
			v.fail(fmt.Errorf("call %s has reported no progress; /process shows the newest that has", display.Line(name)))
		}
	})
}

// reported returns the calls on the path of the session whose results and notices keep how
// they have gone, oldest first.
func (v *Session) reported(ctx context.Context) ([]worked, error) {
	page, err := client.Call[*protocol.Events](ctx, v.cfg.Client, v.id, &protocol.GetPath{Limit: maxSearched})
	if err != nil {
		return nil, err
	}
	var all []worked
	for _, e := range slices.Backward(page.Events) { // they come newest first
		if w, ok := workedOf(e); ok {
			all = append(all, w)
		}
	}
	return all, nil
}

// find returns the calls whose id, or whose operation's, begins with a name, the one that
// reported last first. Shown are those of the view, older may have them, too.
func find(name string, older, shown []worked) []worked {
	all := slices.DeleteFunc(older, func(w worked) bool {
		return slices.ContainsFunc(shown, func(o worked) bool { return o.operation == w.operation })
	})
	all = append(all, shown...)
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(w worked) bool {
		return !strings.HasPrefix(w.call, name) && !strings.HasPrefix(w.operation, name)
	})
}

// timelineOf looks up how the first of some calls has gone, and returns what shows it;
// others has the next ones named.
func (v *Session) timelineOf(ctx context.Context, found []worked, others bool) func() {
	w := found[0]
	lines, before, err := v.timeline(ctx, w)
	return func() {
		if err != nil {
			v.outcome(err, "")
			return
		}
		v.notify(strings.TrimSpace(display.Line(w.name) + " " + display.Line(firstOf(w.call, w.operation))))
		if before > 0 {
			v.screen.line(dimStyle, fmt.Sprintf("  … %d earlier lines", before))
		}
		for _, l := range lines {
			st, text := processLine(l)
			v.screen.line(st, "  "+text)
		}
		if others && len(found) > 1 {
			v.notify("/process CALL shows another: " + strings.Join(names(w, found[1:min(len(found), maxOthers)]), ", "))
		}
	}
}

// names returns what each call is asked for by, beside one that is shown.
func names(shown worked, others []worked) []string {
	var all []string
	for _, o := range others {
		if o.call == shown.call { // a vendor that uses an id again
			o.call = o.operation
		}
		all = append(all, display.Line(firstOf(o.call, o.operation)))
	}
	return all
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// timeline returns the end of the log of an operation, and how many lines are before it.
// Where there is no log any more, it returns what the result has kept.
func (v *Session) timeline(ctx context.Context, w worked) (lines []protocol.ProcessLine, before int, err error) {
	session := v.id
	if w.session != "" {
		session = w.session
	}
	for offset := 0; ; {
		page, err := client.Call[*protocol.ProcessLog](ctx, v.cfg.Client, session, &protocol.GetProcessLog{OperationID: w.operation, Offset: offset, Limit: 1000})
		var pe *protocol.Error
		switch {
		case offset == 0 && len(w.kept) > 0 && errors.As(err, &pe) && (pe.Code == protocol.CodeNotFound || pe.Code == protocol.CodeSessionNotFound):
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
			return nil, 0, errors.New("the host returned the same page of the log again")
		}
		offset = page.Next
	}
}

// processLine returns a line of a log as it is shown.
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
		return stepStyle(step), plain.FirstLine(text, maxTailWidth)
	case l.Note != "":
		return dimStyle, "(" + plain.FirstLine(l.Note, maxTailWidth) + ")"
	}
	return dimStyle, "| " + plain.FirstLine(l.Stderr, maxTailWidth)
}
