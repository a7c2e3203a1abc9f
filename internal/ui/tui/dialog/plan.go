package dialog

import (
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/questions"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// plan is what the model wants to do.
type plan struct {
	frame
	choices
	data   protocol.Dialog
	draw   Lines
	why    field.Field
	typing bool
}

func newPlan(req protocol.UIRequest, draw Lines) *plan {
	d := &plan{frame: frame{id: req.UIID}, data: req.Data, draw: draw}
	for _, c := range questions.PlanChoices() {
		d.all = append(d.all, choice{label: c.Label})
	}
	if draw == nil {
		d.draw = func(th *theme.Theme, width int) []string { return prose(req.Data.Text, width, th.Text) }
	}
	d.why.Placeholder = "what to change (may be empty)"
	return d
}

func (d *plan) Places() []keymap.Place { return places(d.typing) }

func (d *plan) Do(a keymap.Action) Outcome {
	if d.typing {
		switch a {
		case keymap.DialogPick, keymap.Submit, keymap.ListPick:
			return answerUI(d.id, protocol.PlanAnswer{Decision: protocol.PlanRevise, Feedback: strings.TrimSpace(d.why.Text())})
		case keymap.DialogClose, keymap.Cancel, keymap.ListClose:
			if d.why.Text() == "" { // with nothing to change it goes on planning
				return answerUI(d.id, protocol.PlanAnswer{Decision: protocol.PlanRevise})
			}
			d.why.Set("")
		case keymap.DialogBack, keymap.Up:
			d.typing = false
		default:
			if !d.frame.do(a) {
				d.why.Do(a)
			}
		}
		return Outcome{}
	}
	switch a {
	case keymap.DialogClose, keymap.Cancel, keymap.ListClose, keymap.DialogReason:
		return d.pick(2)
	}
	if d.frame.do(a) {
		return Outcome{}
	}
	if i, ok := d.choices.do(a); ok {
		return d.pick(i)
	}
	return Outcome{}
}

func (d *plan) Insert(text string) Outcome {
	if d.typing {
		d.why.Insert(text)
		return Outcome{}
	}
	if i, ok := d.number(text); ok {
		return d.pick(i)
	}
	switch text {
	case "y", "Y":
		return d.pick(0)
	case "n", "N":
		return d.pick(2)
	}
	return Outcome{Draft: true}
}

func (d *plan) Paste(text string) {
	if d.typing {
		d.why.Insert(text)
	}
}

func (d *plan) pick(i int) Outcome {
	if c := questions.PlanChoices()[i]; c.Decision != protocol.PlanRevise {
		return answerUI(d.id, protocol.PlanAnswer{Decision: c.Decision})
	}
	d.typing, d.on = true, i
	return Outcome{}
}

func (d *plan) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	body := d.lines(th, width, d.draw)
	if d.typing {
		label := "Change: "
		text, x := d.why.Render(th, max(1, width-cell.Width(label)))
		closes := "keep planning"
		if d.why.Text() != "" {
			closes = "clear"
		}
		return d.compose(th, width, height, "Approve this plan?", body, []string{cell.Cut(th.Accent.On(label), width, "") + text}, 0, &field.Cursor{X: x + cell.Width(label)},
			row.Doing{Action: keymap.DialogPick, Text: "send"}, row.Doing{Action: keymap.DialogClose, Text: closes})
	}
	lines, at := d.choices.render(th, width, d.armed)
	return d.compose(th, width, height, "Approve this plan?", body, lines, at, nil, row.Doing{Action: keymap.DialogPick, Text: "answer"}, row.Doing{Action: keymap.DialogClose, Text: "keep planning"})
}
