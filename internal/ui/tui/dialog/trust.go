package dialog

import (
	"fmt"
	"slices"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
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
	out    []string // the MCP servers that are left out
}

// maxServers is how many MCP servers a person can leave out here, one by one.
const maxServers = 20

// NewTrust makes the dialog of a report.
func NewTrust(report protocol.TrustReport) *Trust {
	d := &Trust{frame: frame{id: "trust:" + string(report.ProjectID)}, report: report}
	switch {
	case d.trusted():
		d.all = append(d.all, choice{label: "Keep trusting them"}, choice{label: "Stop trusting them"})
		return d
	case report.Problem == "":
		d.all = append(d.all, choice{label: "Trust these files as they are now"})
		for _, name := range report.Servers[:min(len(report.Servers), maxServers)] {
			d.all = append(d.all, choice{label: server(name, false)})
		}
	}
	d.all = append(d.all, choice{label: "Work without them"})
	d.on = len(d.all) - 1
	return d
}

// server is the choice that leaves an MCP server out, or takes it in again.
func server(name string, out bool) string {
	if out {
		return "MCP server " + display.Line(name) + ": left out (pick it to use it)"
	}
	return "MCP server " + display.Line(name) + ": used (pick it to leave it out)"
}

// toggle leaves a server out, or takes it in again.
func (d *Trust) toggle(i int) Outcome {
	name := d.report.Servers[i-1]
	at := slices.Index(d.out, name)
	if at < 0 {
		d.out = append(d.out, name)
	} else {
		d.out = slices.Delete(d.out, at, at+1)
	}
	d.all[i].label = server(name, at < 0)
	return Outcome{}
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
	case d.trusted() || d.report.Problem != "" || i == len(d.all)-1:
		return Outcome{Done: true}
	case i != 0:
		return d.toggle(i)
	}
	return Outcome{Done: true, Request: &protocol.TrustProject{ProjectID: d.report.ProjectID, Hash: d.report.Hash, Trusted: true, WithoutServers: d.out}}
}

// Render draws the dialog.
func (d *Trust) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	title := "Trust this project?"
	if d.trusted() {
		title = "This project is trusted"
	}
	lines, at := d.choices.render(th, width, d.armed)
	return d.compose(th, width, height, title, d.lines(th, width, d.items), lines, at, nil, row.Doing{Action: keymap.DialogPick, Text: "choose"}, row.Doing{Action: keymap.DialogClose, Text: "close"})
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
