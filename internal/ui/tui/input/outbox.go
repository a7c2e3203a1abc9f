package input

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/attachment"
	"scorel/internal/ui/slash"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/prefs"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxUnsent bounds what is shown at the end of what could not be sent, in texts.
const maxUnsent = 100

// outbox is what was typed and the host has not confirmed.
type outbox struct {
	sending []draft
	count   int      // of all drafts there were, for their ids
	unsent  []string // what could not be sent and is in no editor
}

// draft is something that was typed and is on its way to the host.
type draft struct {
	id   int
	text string // as it was typed
}

// Sending returns what is on its way to the host, oldest first.
func (in *Input) Sending() []string {
	var all []string
	for _, d := range in.outbox.sending {
		all = append(all, d.text)
	}
	return all
}

// deliver is link.Ordered for what was typed: it is shown under the transcript until it is
// done, and returns into the editor when it fails.
func deliver[R any](in *Input, typed string, call func(ctx context.Context, to link.Target) (R, error), f func(r R)) tea.Cmd {
	return deliverThen(in, typed, call, func(r R) tea.Cmd { f(r); return nil })
}

// deliverThen is deliver for what has more to do.
func deliverThen[R any](in *Input, typed string, call func(ctx context.Context, to link.Target) (R, error), f func(r R) tea.Cmd) tea.Cmd {
	in.outbox.count++
	id := in.outbox.count
	in.outbox.sending = append(in.outbox.sending, draft{id, typed})
	marked := typed // with pastes and images as their marks
	if in.editor.Text() == typed {
		marked = in.editor.Marked()
	}
	return link.Ordered(in.cfg.Link, call, func(r R, err error) tea.Cmd {
		in.outbox.sending = slices.DeleteFunc(in.outbox.sending, func(d draft) bool { return d.id == id })
		if err == nil {
			return tea.Sequence(f(r), in.sender.Delivered(len(in.outbox.sending)))
		}
		refused := in.sender.Refused(err)
		in.GiveBack(typed, marked)
		return tea.Batch(refused, in.Changed())
	})
}

// GiveBack puts what could not be sent where the person can resume it: into the editor,
// with its images as far as they are there, or else into the history. marked is the text
// with attachments as their marks.
func (in *Input) GiveBack(typed, marked string) {
	if in.editor.Empty() && in.editor.Recall(marked, typed) == nil {
		return
	}
	if in.outbox.unsent = append(in.outbox.unsent, typed); len(in.outbox.unsent) > maxUnsent {
		in.outbox.unsent = in.outbox.unsent[1:]
	}
	where := ", and shown again when you quit: "
	if prefs.Keeps(marked) {
		where = ", and kept in the history: "
	}
	in.cfg.Toasts.Warn("not sent" + where + display.Line(typed))
	in.remember(marked)
}

// SendText has a text sent as a message.
func (in *Input) SendText(text string) tea.Cmd {
	return in.Send(text, []editor.Part{{Kind: editor.Text, Text: text}}, "")
}

// Send has a message sent, in the order of what was typed: at once, or while a turn runs
// as whenBusy says. typed is what returns when it fails.
func (in *Input) Send(typed string, parts []editor.Part, whenBusy string) tea.Cmd {
	return deliver(in, typed, func(ctx context.Context, to link.Target) ([]string, error) {
		content, notices, err := in.content(ctx, to.Client, parts)
		if err != nil {
			return nil, err
		}
		return notices, sendTo(ctx, to, &protocol.SendMessage{Content: content, WhenBusy: whenBusy})
	}, func(notices []string) {
		for _, n := range notices {
			in.cfg.Toasts.Warn(n)
		}
	})
}

// sendTo sends a message to a session. Channels and servers of the command line are named with each
// message that begins a turn, so that a host which was started again knows them too; options
// have no place in a message that waits, so one to a session at work goes without.
func sendTo(ctx context.Context, to link.Target, m *protocol.SendMessage) error {
	if len(to.Channels)+len(to.MCPConfig) > 0 {
		naming := *m
		naming.WhenBusy, naming.Options = "reject", &protocol.TurnOptions{Channels: to.Channels, MCPConfig: to.MCPConfig}
		_, err := client.Call[*protocol.Sent](ctx, to.Client, to.Session, &naming)
		if err == nil || protocol.AsError(err).Code != protocol.CodeRuntimeBusy {
			return err
		}
	}
	_, err := client.Call[*protocol.Sent](ctx, to.Client, to.Session, m)
	return err
}

// content uploads what is attached to a message, and returns its blocks. Any goroutine may
// call it.
func (in *Input) content(ctx context.Context, c *client.Client, parts []editor.Part) ([]protocol.Block, []string, error) {
	text, attached := "", []editor.Part(nil)
	for _, p := range parts {
		if p.Kind == editor.Text {
			text += p.Text
		} else {
			attached = append(attached, p)
		}
	}
	content, notices, err := attachment.Content(ctx, c, attachment.From{Dir: in.cfg.WorkDir, Scorel: in.cfg.Dir, Means: "; /add FILE attaches it"}, text)
	if err != nil {
		return nil, nil, err
	}
	if strings.TrimSpace(text) == "" {
		content = nil
	}
	for _, p := range attached {
		block, err := attachment.Payload(ctx, c, p.Name, p.MediaType, p.Data)
		if err != nil {
			return nil, nil, err
		}
		if p.Kind == editor.Image {
			in.cfg.Payloads.Sent(block.Blob, p.Data)
		}
		content = append(content, block)
	}
	return content, notices, nil
}

// RunCommand has the host run a slash command.
func (in *Input) RunCommand(typed, name, args, whenBusy string) tea.Cmd {
	return deliverThen(in, typed, func(ctx context.Context, to link.Target) (*protocol.CommandResult, error) {
		done, err := client.Call[*protocol.CommandResult](ctx, to.Client, to.Session, &protocol.RunCommand{Name: name, Args: args, WhenBusy: whenBusy, Moves: true})
		if protocol.AboutOf(err).Reason == protocol.ReasonCommand {
			err = noCommand(name)
		}
		return done, err
	}, func(done *protocol.CommandResult) tea.Cmd { return in.ran(name, done) })
}

// Press has the host run a command that a key stands for: nothing was typed that could return.
func (in *Input) Press(name string) tea.Cmd {
	return link.Ordered(in.cfg.Link, func(ctx context.Context, to link.Target) (*protocol.CommandResult, error) {
		return client.Call[*protocol.CommandResult](ctx, to.Client, to.Session, &protocol.RunCommand{Name: name, Moves: true})
	}, func(done *protocol.CommandResult, err error) tea.Cmd {
		if err != nil {
			return in.sender.Refused(err)
		}
		return in.ran(name, done)
	})
}

// ran shows what a command did.
func (in *Input) ran(name string, done *protocol.CommandResult) tea.Cmd {
	if done.Text != "" {
		in.cfg.Overlays.Page("/"+name, strings.Split(strings.TrimRight(display.Text(done.Text), "\n"), "\n"))
	}
	if done.Status != "" {
		in.cfg.Toasts.Info(done.Status)
	}
	if done.Queued {
		in.cfg.Toasts.Info("it runs at the next step of the turn")
	}
	if done.Move == nil {
		return nil
	}
	return in.sender.Led(done.Move)
}

// noCommand says that neither the UI nor the host has a command, and what serves instead
// where line mode has it.
func noCommand(name string) error {
	if c := slash.Find(name); c != nil {
		return errors.New(c.Refusal(slash.Screen))
	}
	return fmt.Errorf("there is no command /%s; /help lists them, and //%s sends it as text", display.Line(name), display.Line(name))
}

// AddNote adds a note to the memory.
func (in *Input) AddNote(typed, scope, text string) tea.Cmd {
	if text == "" {
		in.cfg.Toasts.Warn(`add the text to remember: "# TEXT" for this project, "## TEXT" for all of yours`)
		return nil
	}
	whose := "this project's"
	if scope == "user" {
		whose = "your"
	}
	return deliver(in, typed, func(ctx context.Context, to link.Target) (*protocol.Done, error) {
		return client.Call[*protocol.Done](ctx, to.Client, to.Session, &protocol.AddMemory{Scope: scope, Text: text})
	}, func(*protocol.Done) {
		in.cfg.Toasts.Info("added to " + whose + " notes; /memory shows them")
	})
}

// RunShell runs a command of the person.
func (in *Input) RunShell(typed, command string, inContext bool) tea.Cmd {
	if command == "" {
		in.cfg.Toasts.Warn("add a command: !COMMAND, or !!COMMAND to hide it from the model")
		return nil
	}
	return deliver(in, typed, func(ctx context.Context, to link.Target) (*protocol.ShellStarted, error) {
		return client.Call[*protocol.ShellStarted](ctx, to.Client, to.Session, &protocol.RunShell{Command: command, InContext: inContext})
	}, func(*protocol.ShellStarted) {})
}

// Monitor starts a command of the person in the background, whose lines the model is told.
func (in *Input) Monitor(command string) tea.Cmd {
	if command = strings.TrimSpace(command); command == "" {
		in.cfg.Toasts.Warn("add a command: /monitor COMMAND")
		return nil
	}
	return deliver(in, "/monitor "+command, func(ctx context.Context, to link.Target) (*protocol.ShellStarted, error) {
		return client.Call[*protocol.ShellStarted](ctx, to.Client, to.Session, &protocol.RunShell{Command: command, InContext: true, Monitor: true})
	}, func(*protocol.ShellStarted) {})
}
