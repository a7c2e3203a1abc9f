package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/attachment"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/prefs"
	"scorel/protocol"
	"scorel/protocol/display"
)

// draft is something that was typed and is on its way to the host.
type draft struct {
	id   int
	text string // as it was typed
}

// sendText has a text sent as a message.
func (m *Model) sendText(text string) tea.Cmd {
	return m.sendParts(text, []editor.Part{{Kind: editor.Text, Text: text}}, "")
}

// sendParts has a message sent, in the order of what was typed: at once, or while a
// turn runs as whenBusy says. typed is what comes back when it fails.
func (m *Model) sendParts(typed string, parts []editor.Part, whenBusy string) tea.Cmd {
	sent := m.images.sent
	return deliver(m, typed, func(ctx context.Context, l *link) ([]string, error) {
		text, attached := "", []editor.Part(nil)
		for _, p := range parts {
			if p.Kind == editor.Text {
				text += p.Text
			} else {
				attached = append(attached, p)
			}
		}
		content, notices, err := attachment.Content(ctx, l.client, attachment.From{Dir: m.cfg.WorkDir, Scorel: m.cfg.Dir, Means: "; /attach FILE takes it in"}, text)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(text) == "" {
			content = nil
		}
		for _, p := range attached {
			block, err := attachment.Payload(ctx, l.client, p.Name, p.MediaType, p.Data)
			if err != nil {
				return nil, err
			}
			if p.Kind == editor.Image && len(p.Data) <= maxSentPayload {
				sent.Put(block.Blob, p.Data)
			}
			content = append(content, block)
		}
		_, err = client.Call[*protocol.Sent](ctx, l.client, l.id, &protocol.SendMessage{Content: content, WhenBusy: whenBusy})
		return notices, err
	}, func(m *Model, notices []string) tea.Cmd {
		for _, n := range notices {
			m.toast(levelWarning, n)
		}
		return nil
	})
}

// runCommand has the host run a slash command.
func (m *Model) runCommand(typed, name, args, whenBusy string) tea.Cmd {
	return deliver(m, typed, func(ctx context.Context, l *link) (*protocol.CommandResult, error) {
		done, err := client.Call[*protocol.CommandResult](ctx, l.client, l.id, &protocol.RunCommand{Name: name, Args: args, WhenBusy: whenBusy})
		if protocol.AboutOf(err).Reason == protocol.ReasonCommand {
			err = fmt.Errorf("there is no command /%s; /help lists them, and //%s sends it as text", display.Line(name), display.Line(name))
		}
		return done, err
	}, func(m *Model, done *protocol.CommandResult) tea.Cmd {
		if done.Text != "" {
			m.page("/"+name, strings.Split(strings.TrimRight(display.Text(done.Text), "\n"), "\n"))
		}
		if done.Status != "" {
			m.toast(levelInfo, done.Status)
		}
		if done.Queued {
			m.toast(levelInfo, "it runs when the turn comes to its next step")
		}
		return nil
	})
}

// addNote adds a note to the memory.
func (m *Model) addNote(typed, scope, text string) tea.Cmd {
	if text == "" {
		m.toast(levelWarning, `say what to remember: "# TEXT" for this project, "## TEXT" for all of yours`)
		return nil
	}
	whose := "this project's"
	if scope == "user" {
		whose = "your"
	}
	return deliver(m, typed, func(ctx context.Context, l *link) (*protocol.Done, error) {
		return client.Call[*protocol.Done](ctx, l.client, l.id, &protocol.AddMemory{Scope: scope, Text: text})
	}, func(m *Model, _ *protocol.Done) tea.Cmd {
		m.toast(levelInfo, "added to "+whose+" notes; /memory shows them")
		return nil
	})
}

// errMissed says that a request was meant for a session that is not shown.
var errMissed = errors.New("the session that was asked for could not be opened, so this went to no other")

// ordered carries out a request of the session in the order of what was typed, making
// the session where there is none.
func ordered[R any](m *Model, call func(ctx context.Context, l *link) (R, error), f func(m *Model, r R, err error) tea.Cmd) tea.Cmd {
	return inOrder(m, func(ctx context.Context, l *link) (r R, err error) {
		if err = l.need(ctx); err == nil {
			r, err = call(ctx, l)
		}
		return r, err
	}, f)
}

// inOrder is ordered for what needs no session.
func inOrder[R any](m *Model, call func(ctx context.Context, l *link) (R, error), f func(m *Model, r R, err error) tea.Cmd) tea.Cmd {
	known := m.link.known
	ok := m.link.do(func(ctx context.Context, l *link) then {
		var r R
		err := l.err
		if l.missed != known {
			err = errMissed
		}
		if err == nil {
			r, err = call(ctx, l)
		}
		return func(m *Model) tea.Cmd { return f(m, r, err) }
	})
	if !ok {
		var r R
		return f(m, r, fmt.Errorf("%d requests wait already; try again when the host has answered", maxJobs))
	}
	return nil
}

// deliver is ordered for what was typed: it stands under the transcript until it is
// done, and comes back into the editor when it fails.
func deliver[R any](m *Model, typed string, call func(ctx context.Context, l *link) (R, error), f func(m *Model, r R) tea.Cmd) tea.Cmd {
	m.drafts++
	id := m.drafts
	m.sending = append(m.sending, draft{id, typed})
	marked := typed // with pastes and images as their marks
	if m.editor.Text() == typed {
		marked = m.editor.Marked()
	}
	return ordered(m, call, func(m *Model, r R, err error) tea.Cmd {
		m.delivered(id)
		if m.leaving && len(m.sending) == 0 && err == nil {
			return tea.Quit
		}
		if err == nil {
			return f(m, r)
		}
		m.leaving = false // the person is to see it
		asked := m.askWide(err)
		if asked == nil {
			m.fail(err)
		}
		m.giveBack(typed, marked)
		return tea.Batch(asked, m.typed())
	})
}

func (m *Model) delivered(id int) {
	for i, d := range m.sending {
		if d.id == id {
			m.sending = append(m.sending[:i:i], m.sending[i+1:]...)
			return
		}
	}
}

// maxUnsent bounds what is told at the end of what could not be sent, in texts.
const maxUnsent = 100

// giveBack puts what could not be sent where the person can go on with it: into the
// editor, with its images as far as they are there, or else into the history.
func (m *Model) giveBack(typed, marked string) {
	if m.editor.Empty() && m.editor.Recall(marked, typed) == nil {
		return
	}
	if m.unsent = append(m.unsent, typed); len(m.unsent) > maxUnsent {
		m.unsent = m.unsent[1:]
	}
	where := ", and told again when you leave: "
	if prefs.Keeps(marked) {
		where = ", and kept in the history: "
	}
	m.toast(levelWarning, "not sent"+where+display.Line(typed))
	m.remember(marked)
}

// change changes what the session's meta says. The event tells everybody.
func (m *Model) change(changes protocol.MetaChanges) tea.Cmd {
	return m.act(&protocol.UpdateInfo{Changes: changes}, "")
}

// act carries out a request of the session that gives nothing back.
func (m *Model) act(req protocol.Request, said string) tea.Cmd {
	return ordered(m, func(ctx context.Context, l *link) (*protocol.Done, error) {
		return client.Call[*protocol.Done](ctx, l.client, l.id, req)
	}, func(m *Model, _ *protocol.Done, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
		} else if said != "" {
			m.toast(levelInfo, said)
		}
		return nil
	})
}

// mayCancel says whether a turn runs that is not being cancelled yet: the next one of a
// queue begins as one is.
func (m *Model) mayCancel() bool { return m.live().Running && m.cancelling != m.live().TurnID }

// cancel ends the running turn. It is never queued behind other requests.
func (m *Model) cancel() tea.Cmd {
	turn := m.live().TurnID
	if turn == "" {
		return nil
	}
	m.cancelling = turn
	return ask(m, m.id, &protocol.Cancel{TurnID: turn}, func(m *Model, _ *protocol.Cancelled, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			if m.cancelling == turn { // it can be tried again
				m.cancelling = ""
			}
		}
		return nil
	})
}

// show opens another session, or goes on with it.
func (m *Model) show(id protocol.SessionID) tea.Cmd {
	ok := m.link.do(func(ctx context.Context, l *link) then {
		err := l.open(ctx, id, false)
		if err == nil {
			return nil
		}
		tell := l.miss()
		return func(m *Model) tea.Cmd {
			tell()
			m.fail(err)
			return nil
		}
	})
	if !ok {
		m.toast(levelWarning, "too many requests wait; try again when the host has answered")
	}
	return nil
}
