package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what is shown of commands and completions.
const (
	maxHelp        = 200 // commands that /help lists
	maxHelpLine    = 90  // characters of a description
	maxOffered     = 20  // completions that Tab shows
	maxCommandText = 200 // lines of what a command prints
)

// ownCommands are the commands that this client carries out itself, because they are
// about what its person sees: those of its help. The host has the others.
func ownCommands() []string {
	out := []string{"help"}
	for line := range strings.Lines(liveHelp) {
		name, ok := strings.CutPrefix(strings.Fields(line)[0], "/")
		if ok && !strings.HasPrefix(name, "/") && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func ownCommand(name string) bool { return slices.Contains(ownCommands(), name) }

// help lists the commands of this client, and those of the host with where they come
// from.
func (v *liveSession) help() {
	v.screen.endStream()
	v.screen.line(plainStyle, liveHelp)
	v.queueJob(func(ctx context.Context) func() {
		list, err := client.Call[*protocol.CommandList](ctx, v.link.Client, v.id, &protocol.ListCommands{})
		return func() {
			if err != nil {
				v.fail(err)
				return
			}
			v.listCommands(list)
		}
	})
}

func (v *liveSession) listCommands(list *protocol.CommandList) {
	v.screen.endStream()
	shown := 0
	for _, c := range list.Commands {
		if c.Source == protocol.CommandBuiltin && ownCommand(c.Name) {
			continue
		}
		if shown++; shown > maxHelp {
			continue
		}
		line := "/" + display.Line(strings.TrimSpace(c.Name+" "+c.ArgumentHint))
		if n := 15 - utf8.RuneCountInString(line); n > 0 {
			line += strings.Repeat(" ", n)
		}
		from := string(c.Source)
		if c.Scope != "" {
			from += ", " + c.Scope
		}
		line += " " + firstLine(c.Description, maxHelpLine) + " [" + display.Line(from) + "]"
		v.screen.line(plainStyle, line)
		if c.Refused != "" {
			v.screen.line(dimStyle, "                "+display.Line(c.Refused))
		}
	}
	if n := shown - maxHelp; n > 0 {
		v.say(plural(n, "command") + " more")
	}
	for _, p := range list.Problems {
		v.say(display.Line(p))
	}
}

// runCommand has the host run a command.
func (v *liveSession) runCommand(name, rest string) {
	text := strings.TrimSpace("/" + name + " " + rest)
	v.queueText(text, func(ctx context.Context) func() {
		done, err := client.Call[*protocol.CommandResult](ctx, v.link.Client, v.id, &protocol.RunCommand{Name: name, Args: rest, WhenBusy: "followUp"})
		if protocol.AboutOf(err).Reason == protocol.ReasonCommand {
			err = fmt.Errorf("there is no command /%s; /help lists them, and //%s sends it as text", display.Line(name), display.Line(name))
		}
		return func() {
			v.kept(err, text)
			if err == nil {
				v.commandDone(done)
			}
		}
	})
}

// commandDone tells what a command did.
func (v *liveSession) commandDone(done *protocol.CommandResult) {
	if done.Text != "" {
		v.screen.endStream()
		lines := strings.Split(strings.TrimRight(display.Text(done.Text), "\n"), "\n")
		for _, l := range lines[:min(len(lines), maxCommandText)] {
			v.screen.line(plainStyle, l)
		}
		if n := len(lines) - maxCommandText; n > 0 {
			v.say(plural(n, "line") + " more")
		}
	}
	if done.Status != "" {
		v.say(display.Line(done.Status))
	}
	if done.Queued {
		v.say("it runs when the turn comes to its next step")
	}
}

// completeLine completes the command that is being typed, or its arguments.
func (v *liveSession) completeLine() {
	edit := v.term.edit
	text := string(edit.line)
	if edit.at != len(edit.line) || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return
	}
	name, args, hasArgs := strings.Cut(text[1:], " ")
	v.queueJob(func(ctx context.Context) func() {
		var items []string
		var err error
		if hasArgs {
			items, err = v.completeArgs(ctx, name, args)
		} else {
			items, err = v.completeName(ctx, name)
		}
		return func() {
			if err == nil && string(edit.line) == text { // else something else is typed by now
				v.offer(text, items)
			}
		}
	})
}

// completeName gives the commands that begin with a name, as lines.
func (v *liveSession) completeName(ctx context.Context, name string) ([]string, error) {
	list, err := client.Call[*protocol.CommandList](ctx, v.link.Client, v.id, &protocol.ListCommands{})
	if err != nil {
		return nil, err
	}
	var out []string
	add := func(c string) {
		if strings.HasPrefix(c, name) {
			out = append(out, "/"+c)
		}
	}
	for _, c := range ownCommands() {
		add(c)
	}
	for _, c := range list.Commands {
		if !ownCommand(c.Name) && c.Refused == "" {
			add(c.Name)
		}
	}
	return out, nil
}

func (v *liveSession) completeArgs(ctx context.Context, name, args string) ([]string, error) {
	list, err := client.Call[*protocol.CompletionList](ctx, v.link.Client, v.id, &protocol.CompleteCommand{Name: name, Args: args})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range list.Items {
		out = append(out, "/"+name+" "+c.Value)
	}
	return out, nil
}

// offer puts what all completions begin with into the line, and shows them when that
// is no more than what is typed.
func (v *liveSession) offer(text string, items []string) {
	if len(items) == 0 {
		return
	}
	common := items[0]
	for _, it := range items[1:] {
		for !strings.HasPrefix(it, common) {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	if strings.HasPrefix(common, text) && common != text || len(items) == 1 {
		line := display.Line(common)
		if len(items) == 1 {
			line += " "
		}
		v.term.edit.set(line)
		return
	}
	more := ""
	if n := len(items) - maxOffered; n > 0 {
		items, more = items[:maxOffered], fmt.Sprintf(" and %d more", n)
	}
	v.say(display.Line(strings.Join(items, "  ")) + more)
}
