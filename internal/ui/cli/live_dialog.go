package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"scorel/protocol"
	"scorel/protocol/display"
)

// asksOne says whether attach can put a dialog of an extension to the person: one that
// is answered by one value.
func asksOne(d *protocol.Dialog) bool {
	switch d.Kind {
	case protocol.DialogSelect, protocol.DialogConfirm, protocol.DialogInput, protocol.DialogEditor, protocol.DialogPlan, protocol.DialogForm, protocol.DialogURL:
		return true
	}
	return false
}

// edits says whether lines are taken for a text: they may begin with a slash.
func (a *asker) edits() bool {
	d := a.asked().dialog
	return d != nil && d.Data.Kind == protocol.DialogEditor
}

// fills says whether lines are values of a form, of which one may be left out.
func (a *asker) fills() bool {
	d := a.asked().dialog
	return d != nil && d.Data.Kind == protocol.DialogForm
}

// showDialog prints a dialog of an extension, and how it is answered.
func (a *asker) showDialog(d *protocol.Dialog) {
	title := display.Text(d.Title)
	if d.Source != "" {
		title += " [" + display.Line(d.Source) + "]"
	}
	a.screen.line(alertStyle, "? "+indentRest(title))
	if d.Message != "" {
		a.screen.line(plainStyle, "  "+indentRest(someLines(display.Text(d.Message))))
	}
	how := ""
	switch d.Kind {
	case protocol.DialogSelect:
		for i, o := range d.Options {
			line := fmt.Sprintf("  %d  %s", i+1, display.Line(o.Label))
			if o.Description != "" {
				line += ": " + display.Line(o.Description)
			}
			a.screen.line(plainStyle, line)
		}
		how = "a number or a label"
	case protocol.DialogConfirm:
		how = "y or n"
	case protocol.DialogInput:
		how = "a line"
		if d.Placeholder != "" {
			how += ", such as " + display.Line(d.Placeholder)
		}
	case protocol.DialogEditor:
		if d.Text != "" {
			a.screen.line(dimStyle, "  "+indentRest(someLines(display.Text(d.Text))))
		}
		how = "lines, and one with a single dot behind them"
	case protocol.DialogPlan:
		a.screen.line(plainStyle, "  "+indentRest(display.Text(d.Text)))
		how = "y approves it, e approves it and accepts edits, other words say what to change"
	case protocol.DialogURL:
		a.screen.line(plainStyle, "  "+display.Line(d.URL))
		how = "open it, then y; n declines"
	case protocol.DialogForm:
		a.startForm(d)
		return
	}
	a.screen.line(dimStyle, "  "+how+"; /skip closes it without an answer")
}

// replyDialog takes a line of an answer; nil when more is needed.
func (a *asker) replyDialog(text string) protocol.Request {
	d := &a.open.dialog.Data
	if strings.TrimSpace(text) == "/skip" {
		return a.sendDialog(nil)
	}
	switch d.Kind {
	case protocol.DialogSelect:
		text = strings.TrimSpace(text)
		for _, o := range d.Options { // a label may be a number too
			if o.Label == text {
				return a.sendDialog(text)
			}
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > len(d.Options) {
			a.screen.line(alertStyle, fmt.Sprintf("  there is no choice %.100q", text))
			return nil
		}
		return a.sendDialog(d.Options[n-1].Label)
	case protocol.DialogForm:
		return a.replyForm(text)
	case protocol.DialogConfirm, protocol.DialogURL:
		if yes, ok := yesOrNo(text); ok {
			return a.sendDialog(yes)
		}
		a.screen.line(alertStyle, "  y or n")
		return nil
	case protocol.DialogPlan:
		return a.sendDialog(planAnswer(text))
	case protocol.DialogEditor:
		if text != "." {
			a.lines = append(a.lines, text)
			return nil
		}
		text = strings.Join(a.lines, "\n")
		a.lines = nil
	}
	return a.sendDialog(text)
}

// yesOrNo reads y or n.
func yesOrNo(text string) (yes, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return true, true
	case "n", "no":
		return false, true
	}
	return false, false
}

// planAnswer gives what a line says of a plan.
func planAnswer(text string) protocol.PlanAnswer {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return protocol.PlanAnswer{Decision: protocol.PlanApprove}
	case "e", "edits":
		return protocol.PlanAnswer{Decision: protocol.PlanAcceptEdits}
	}
	return protocol.PlanAnswer{Decision: protocol.PlanRevise, Feedback: text}
}

// sendDialog answers the open dialog, unless the value does not fit it.
func (a *asker) sendDialog(value any) protocol.Request {
	data, err := json.Marshal(value)
	if err == nil {
		err = a.open.dialog.Data.Check(data)
	}
	if err != nil {
		a.screen.line(alertStyle, "  "+err.Error())
		return nil
	}
	a.sent = true
	return &protocol.AnswerUI{UIID: a.open.dialog.UIID, Value: data}
}
