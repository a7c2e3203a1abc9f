package dialog

import (
	"fmt"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Trust asks whether the files of a project that could act may do so, item by item what
// they could do. Without an answer none of them acts.
type Trust struct {
	frame
	choices
	report protocol.TrustReport
}

// NewTrust makes the dialog of a report.
func NewTrust(report protocol.TrustReport) *Trust {
	d := &Trust{frame: frame{id: "trust:" + string(report.ProjectID)}, report: report}
	switch {
	case d.trusted():
		d.all = append(d.all, choice{label: "Keep trusting them"}, choice{label: "Stop trusting them"})
		return d
	case report.Problem == "":
		d.all = append(d.all, choice{label: "Trust these files as they are now"})
	}
	d.all = append(d.all, choice{label: "Work without them"})
	d.on = len(d.all) - 1
	return d
}

func (d *Trust) trusted() bool { return d.report.State == protocol.TrustAll }

// Do does an action.
func (d *Trust) Do(a keymap.Action) Outcome {
	switch a {
	case keymap.DialogClose, keymap.Cancel, keymap.ListClose:
		return Outcome{Done: true}
	}
	if d.frame.do(a) {
		return Outcome{}
	}
	if i, ok := d.choices.do(a); ok {
		return d.pick(i)
	}
	return Outcome{}
}

// Insert takes y, n or the number of an answer.
func (d *Trust) Insert(text string) Outcome {
	switch text {
	case "y", "Y":
		if d.report.Problem == "" {
			return d.pick(0)
		}
		return Outcome{}
	case "n", "N":
		return Outcome{Done: true}
	}
	if i, ok := d.number(text); ok {
		return d.pick(i)
	}
	return Outcome{Draft: true}
}

// Paste does nothing.
func (d *Trust) Paste(string) {}

func (d *Trust) pick(i int) Outcome {
	switch {
	case d.trusted() && i == 1:
		return Outcome{Done: true, Request: &protocol.TrustProject{ProjectID: d.report.ProjectID}}
	case d.trusted() || d.report.Problem != "" || i != 0:
		return Outcome{Done: true}
	}
	return Outcome{Done: true, Request: &protocol.TrustProject{ProjectID: d.report.ProjectID, Hash: d.report.Hash, Trusted: true}}
}

// Render draws the dialog.
func (d *Trust) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	title := "Trust this project?"
	if d.trusted() {
		title = "This project is trusted"
	}
	lines, at := d.choices.render(th, width, d.armed)
	return d.compose(th, width, height, title, d.lines(th, width, d.items), lines, at, nil)
}

// items says what of the project could act.
func (d *Trust) items(th *theme.Theme, width int) []string {
	lines := prose(d.report.Root, width, th.Strong)
	lines = append(lines, prose("Files of this project can run commands, add tools or change settings. They do nothing until you trust them, and a changed file has to be trusted again.", width, th.Dim)...)
	if d.report.Problem != "" {
		lines = append(lines, prose(d.report.Problem, width, th.Error)...)
	}
	for _, it := range d.report.Items {
		style := th.Text
		if it.Status == "changed" || it.Status == "new" {
			style = th.Warning
		}
		head := fmt.Sprintf("%s %s %s (%s)", th.Box.Bullet, display.Line(it.Kind), display.Line(it.Name), display.Line(it.Status))
		lines = append(lines, prose(head, width, style)...)
		indented := func(text string, s theme.Style) {
			for _, l := range prose(text, max(1, width-4), s) {
				lines = append(lines, cell.Cut("    "+l, width, ""))
			}
		}
		if it.Problem != "" {
			indented(it.Problem, th.Error)
		}
		for _, does := range it.Does {
			indented(does, th.Text)
		}
		for _, f := range it.Files {
			text := f.Name
			if f.Target != "" {
				text += " -> " + f.Target
			}
			if f.Change != "" {
				text += " (" + f.Change + ")"
			}
			indented(text, th.Dim)
		}
		for _, gone := range it.Gone {
			indented(gone+" (gone)", th.Dim)
		}
	}
	for _, n := range d.report.Notices {
		lines = append(lines, prose(n, width, th.Dim)...)
	}
	return lines
}
