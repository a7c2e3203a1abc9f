package line

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"scorel/client"
	"scorel/internal/text/cell"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/slash"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what is shown of commands.
const (
	maxHelp        = 200 // commands of the host that /help lists
	maxHelpLine    = 90  // characters of a description
	maxCommandText = 200 // lines of what a command prints
)

// usageWidth is how many cells a command may take for its description to stand beside it: it
// stands below a longer one, so that a terminal of 80 columns breaks no row after a word.
const usageWidth = 30

// marks are what a line may begin with beside a command.
var marks = [...][]string{
	{"# TEXT", "Add a note to those of this project; ## TEXT to your own"},
	{`//text, \#text`, "Send text that begins with a slash or #"},
}

// noCommand says that neither line mode nor the host has a command, and what serves
// instead where the terminal UI has it.
func noCommand(name string) error {
	if c := slash.Find(name); c != nil {
		return errors.New(c.Refusal(slash.Lines))
	}
	return fmt.Errorf("there is no command /%s; /help lists them, and //%s sends it as text", display.Line(name), display.Line(name))
}

// help lists the commands of line mode, and those of the host with where they come from.
func (v *Session) help() {
	v.screen.endStream()
	var rows [][]string
	for _, c := range slash.For(slash.Lines) {
		rows = append(rows, helpRows(c.Usage(slash.Lines), c.Doc)...)
	}
	for _, l := range cell.Columns(append(rows, marks[:]...)) {
		v.screen.line(plainStyle, l)
	}
	v.enqueue(func(ctx context.Context) func() {
		list, err := client.Call[*protocol.CommandList](ctx, v.cfg.Client, v.id, &protocol.ListCommands{})
		return func() {
			if err != nil {
				v.fail(err)
				return
			}
			v.listCommands(list)
		}
	})
}

// helpRows is a command with its description, beside it or below.
func helpRows(usage, doc string) [][]string {
	if cell.Width(usage) > usageWidth {
		return [][]string{{usage}, {"", doc}}
	}
	return [][]string{{usage, doc}}
}

func (v *Session) listCommands(list *protocol.CommandList) {
	v.screen.endStream()
	shown := 0
	var rows [][]string
	for _, c := range slash.Beside(slash.Lines, list.Commands) {
		if shown++; shown > maxHelp {
			continue
		}
		from := string(c.Source)
		if c.Scope != "" {
			from += ", " + c.Scope
		}
		rows = append(rows, helpRows("/"+display.Line(strings.TrimSpace(c.Name+" "+c.ArgumentHint)), display.Line(plain.FirstLine(c.Description, maxHelpLine))+" ["+display.Line(from)+"]")...)
		if c.Refused != "" {
			rows = append(rows, []string{"", display.Line(c.Refused)})
		}
	}
	for _, l := range cell.Columns(rows) {
		v.screen.line(plainStyle, l)
	}
	if n := shown - maxHelp; n > 0 {
		v.notify(plain.Count(n, "command") + " more")
	}
	for _, p := range list.Problems {
		v.notify(display.Line(p))
	}
}

// runCommand has the host run a command.
func (v *Session) runCommand(name, args string) {
	text := strings.TrimSpace("/" + name + " " + args)
	v.enqueueText(text, func(ctx context.Context) func() {
		done, err := client.Call[*protocol.CommandResult](ctx, v.cfg.Client, v.id, &protocol.RunCommand{Name: name, Args: args, WhenBusy: "followUp"})
		if protocol.AboutOf(err).Reason == protocol.ReasonCommand {
			err = noCommand(name)
		}
		return func() {
			v.confirm(err, text)
			if err == nil {
				v.commandDone(done)
			}
		}
	})
}

// commandDone reports what a command did.
func (v *Session) commandDone(done *protocol.CommandResult) {
	if done.Text != "" {
		v.screen.endStream()
		lines := strings.Split(strings.TrimRight(display.Text(done.Text), "\n"), "\n")
		for _, l := range lines[:min(len(lines), maxCommandText)] {
			v.screen.line(plainStyle, l)
		}
		if n := len(lines) - maxCommandText; n > 0 {
			v.notify(plain.Count(n, "line") + " more")
		}
	}
	if done.Status != "" {
		v.notify(display.Line(done.Status))
	}
	if done.Queued {
		v.notify("it runs at the next step of the turn")
	}
}
