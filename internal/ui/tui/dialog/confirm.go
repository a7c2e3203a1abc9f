package dialog

import (
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
)

// ConfirmConfig is what a [Confirm] asks.
type ConfirmConfig struct {
	ID      string // a name of the caller
	Title   string
	Message string
	Yes, No string // what is done in each case; "" is Yes and No
	// Danger puts "no" on at first.
	Danger bool
}

// Confirm asks whether something is meant, such as to quit while a turn runs. Its
// outcome has no request, but Yes.
type Confirm struct {
	frame
	choices
	cfg ConfirmConfig
}

// NewConfirm makes the dialog.
func NewConfirm(cfg ConfirmConfig) *Confirm {
	if cfg.Yes == "" {
		cfg.Yes = "Yes"
	}
	if cfg.No == "" {
		cfg.No = "No"
	}
	d := &Confirm{frame: frame{id: cfg.ID}, cfg: cfg, choices: choices{all: []choice{{label: cfg.Yes}, {label: cfg.No}}}}
	if cfg.Danger {
		d.on = 1
	}
	return d
}

// Do does an action.
func (d *Confirm) Do(a keymap.Action) Outcome {
	switch a {
	case keymap.DialogClose, keymap.Cancel, keymap.ListClose:
		return Outcome{Done: true}
	}
	if d.frame.do(a) {
		return Outcome{}
	}
	if i, ok := d.choices.do(a); ok {
		return Outcome{Done: true, Yes: i == 0}
	}
	return Outcome{}
}

// Insert takes y, n or the number of an answer.
func (d *Confirm) Insert(text string) Outcome {
	if i, ok := yesOrNo(&d.choices, text); ok {
		return Outcome{Done: true, Yes: i == 0}
	}
	return Outcome{Draft: true}
}

// Paste does nothing.
func (d *Confirm) Paste(string) {}

// Render draws the dialog.
func (d *Confirm) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	body := d.lines(th, width, func(th *theme.Theme, width int) []string {
		if d.cfg.Message == "" {
			return []string{}
		}
		return prose(d.cfg.Message, width, th.Text)
	})
	lines, at := d.choices.render(th, width, d.armed)
	return d.compose(th, width, height, d.cfg.Title, body, lines, at, nil, row.Doing{Action: keymap.DialogPick, Text: "choose"}, row.Doing{Action: keymap.DialogClose, Text: "close"})
}
