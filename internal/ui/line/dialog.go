package line

import (
	"fmt"
	"strings"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/questions"
	"scorel/protocol"
	"scorel/protocol/display"
)

// asksOne reports whether attach can put a dialog of an extension to the person: one that
// is answered by one value.
func asksOne(d *protocol.Dialog) bool {
	switch d.Kind {
	case protocol.DialogSelect, protocol.DialogConfirm, protocol.DialogInput, protocol.DialogEditor, protocol.DialogPlan, protocol.DialogForm, protocol.DialogURL, protocol.DialogCustom:
		return true
	}
	return false
}

// edits reports whether lines are taken for a text: they may begin with a slash.
func (a *asker) edits() bool {
	d := a.asked().dialog
	return d != nil && d.Data.Kind == protocol.DialogEditor
}

// fills reports whether lines are values of a form, of which one may be left out.
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
	a.screen.line(alertStyle, "? "+plain.IndentRest(title))
	if d.Message != "" {
		a.screen.line(plainStyle, "  "+plain.IndentRest(someLines(display.Text(d.Message))))
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
			a.screen.line(dimStyle, "  "+plain.IndentRest(someLines(display.Text(d.Text))))
		}
		how = "lines, then a line with a single dot"
	case protocol.DialogPlan:
		a.screen.line(plainStyle, "  "+plain.IndentRest(display.Text(d.Text)))
		for _, c := range questions.PlanChoices() {
			a.screen.line(plainStyle, "  "+c.Key+"  "+c.Label)
		}
		how = "a letter, or text with what to change"
	case protocol.DialogURL:
		a.screen.line(plainStyle, "  "+display.Line(display.Literal(d.URL)))
		how = "open it, then y; n declines"
	case protocol.DialogForm:
		a.startForm(d)
		return
	case protocol.DialogCustom:
		a.screen.line(plainStyle, "  The extension draws this itself, which takes a whole terminal: open this session in one with scorel attach.")
		a.screen.line(dimStyle, "  /skip closes it; all else that you type goes to the session")
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
		label, err := questions.Option(d.Options, text)
		if err != nil {
			a.screen.line(alertStyle, "  "+err.Error())
			return nil
		}
		return a.sendDialog(label)
	case protocol.DialogForm:
		return a.replyForm(text)
	case protocol.DialogConfirm, protocol.DialogURL:
		if yes, ok := questions.YesNo(text); ok {
			return a.sendDialog(yes)
		}
		a.screen.line(alertStyle, "  y or n")
		return nil
	case protocol.DialogPlan:
		return a.sendDialog(questions.Plan(text))
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

// sendDialog answers the open dialog, unless the value does not fit it.
func (a *asker) sendDialog(value any) protocol.Request {
	answer, err := questions.Answer(a.open.dialog, value)
	if err != nil {
		a.screen.line(alertStyle, "  "+err.Error())
		return nil
	}
	a.sent = true
	return answer
}
