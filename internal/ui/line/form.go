package line

import (
	"encoding/json"
	"fmt"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/questions"
	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/form"
)

// formAnswers are the fields of a form that is asked for, line by line, with the values so
// far, of which nil is one that is left out.
type formAnswers struct {
	fields []form.Field
	values []json.RawMessage
}

// startForm begins with the first field of a form.
func (a *asker) startForm(d *protocol.Dialog) {
	fields, err := form.Fields(d.Schema)
	if err != nil {
		a.screen.line(alertStyle, "  the form cannot be shown: "+display.Line(err.Error())+"; /skip closes it without an answer")
	}
	a.form = formAnswers{fields: fields}
	a.showField()
}

// showField prints the next field and how it is answered, or after the last one all that
// was given.
func (a *asker) showField() {
	n := len(a.form.values)
	if n >= len(a.form.fields) {
		for i, f := range a.form.fields {
			if v := a.form.values[i]; v != nil {
				a.screen.line(plainStyle, "  "+display.Line(f.Title)+": "+display.Line(string(v)))
			}
		}
		a.screen.line(dimStyle, "  y sends these answers, n declines; /skip closes it without an answer")
		return
	}
	f := a.form.fields[n]
	a.screen.line(alertStyle, fmt.Sprintf("  %d of %d: %s", n+1, len(a.form.fields), display.Line(f.Title)))
	if f.Description != "" {
		a.screen.line(plainStyle, "  "+plain.IndentRest(someLines(display.Text(f.Description))))
	}
	for i, o := range f.Options {
		a.screen.line(plainStyle, fmt.Sprintf("  %d  %s", i+1, display.Line(o.Title)))
	}
	a.screen.line(dimStyle, "  "+display.Line(f.Hint())+"; /skip closes the form without an answer")
}

// replyForm takes the value of a field, or after the last one whether to send them; nil
// when more is needed.
func (a *asker) replyForm(text string) protocol.Request {
	n := len(a.form.values)
	if n < len(a.form.fields) {
		value, err := a.form.fields[n].Read(text)
		if err != nil {
			a.screen.line(alertStyle, "  "+display.Line(err.Error()))
			return nil
		}
		a.form.values = append(a.form.values, value)
		a.showField()
		return nil
	}
	switch yes, ok := questions.YesNo(text); {
	case !ok || yes && n == 0:
		a.screen.line(alertStyle, "  y or n")
		return nil
	case !yes:
		return a.sendDialog(false)
	}
	value := map[string]json.RawMessage{}
	for i, f := range a.form.fields {
		if v := a.form.values[i]; v != nil {
			value[f.Name] = v
		}
	}
	return a.sendDialog(value)
}
