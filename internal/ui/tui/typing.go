package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/complete"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
)

// edit does an action of the editor.
func (m *Model) edit(a keymap.Action) tea.Cmd {
	if m.popup.Open() {
		if handled, cmd := m.choice(a); handled {
			return cmd
		}
	}
	switch a {
	case keymap.Submit, keymap.SubmitOther:
		if !m.editor.Do(keymap.Submit) { // it takes what a search has found, and Enter behind a backslash
			return m.submit(a == keymap.SubmitOther)
		}
		if err := m.editor.Err(); err != nil {
			m.fail(err)
		}
		return m.typed()
	case keymap.Cancel:
		if m.editor.Do(a) {
			return m.typed()
		}
		return m.escape()
	case keymap.ExternalEditor:
		return m.externalEditor()
	case keymap.PasteImage:
		return m.pasteImage()
	case keymap.ClearInput:
		m.remember(m.editor.Marked())
	case keymap.Up: // what waits is newer than what was typed before it
		if m.editor.Empty() && m.queued() > 0 {
			return m.openQueue()
		}
	}
	m.editor.Do(a)
	if err := m.editor.Err(); err != nil {
		m.fail(err)
	}
	return m.typed()
}

// choice does an action of the popup under the editor.
func (m *Model) choice(a keymap.Action) (handled bool, cmd tea.Cmd) {
	edit, handled := m.popup.Do(a)
	if edit != nil && m.editor.ReplaceBefore(edit.Old, edit.New) && edit.Send {
		return true, m.submit(false)
	}
	return handled, m.typed()
}

// typed is behind every change of what is typed: it brings the popup to where the
// cursor is.
func (m *Model) typed() tea.Cmd {
	mode, _ := m.editor.Mode()
	before, first := m.editor.Before()
	q := m.popup.Update(complete.Input{Before: before, First: first, Shell: mode == editor.Shell || mode == editor.ShellApart})
	m.keepPlace()
	return m.question(q)
}

// ghost is what stands dim behind the text.
func (m *Model) ghost() string {
	if m.editor.Empty() {
		return m.placeholder()
	}
	return m.popup.Hint()
}

// question asks the host for what the popup wants to know.
func (m *Model) question(q *complete.Question) tea.Cmd {
	switch {
	case q == nil:
		return nil
	case q.Kind == complete.Commands:
		return m.loadCommands()
	case q.Kind == complete.Files && m.project != nil:
		return ask(m, "", &protocol.ListFiles{ProjectID: m.project.ProjectID, Query: q.Query, Limit: complete.FileHits}, func(m *Model, list *protocol.FileList, err error) tea.Cmd {
			return m.question(m.popup.Files(q.Number, unless(err, list)))
		})
	case q.Kind == complete.Arguments:
		return ask(m, m.id, &protocol.CompleteCommand{Name: q.Name, Args: q.Args}, func(m *Model, list *protocol.CompletionList, err error) tea.Cmd {
			m.popup.Arguments(q.Number, unless(err, list))
			return nil
		})
	}
	return nil
}

// unless gives a value, or nil when it could not be had.
func unless[T any](err error, value *T) *T {
	if err != nil {
		return nil
	}
	return value
}

// submit carries out what is typed.
func (m *Model) submit(other bool) tea.Cmd {
	mode, rest := m.editor.Mode()
	typed := m.editor.Text()
	if strings.TrimSpace(typed) == "" && len(m.editor.Parts()) == 0 {
		return m.resumeQueue()
	}
	whenBusy := m.whenBusy(other)
	var cmd tea.Cmd
	switch mode {
	case editor.Command:
		cmd = m.slash(typed, whenBusy)
	case editor.NoteHere:
		cmd = m.addNote(typed, "project", strings.TrimSpace(rest))
	case editor.NoteUser:
		cmd = m.addNote(typed, "user", strings.TrimSpace(rest))
	case editor.Shell, editor.ShellApart:
		cmd = m.runShell(typed, strings.TrimSpace(rest), mode == editor.Shell)
	default:
		cmd = m.sendParts(typed, m.editor.Parts(), whenBusy)
	}
	m.remember(m.editor.Marked())
	m.editor.Reset()
	m.transcript.Do(keymap.ScrollBottom)
	m.readEnough()
	return tea.Batch(cmd, m.typed())
}

// whenBusy says what becomes of a message while a turn runs.
func (m *Model) whenBusy(other bool) string {
	if (m.settings.WhenBusy == "steer") != other {
		return "steer"
	}
	return "followUp"
}

// runShell runs a command of the person.
func (m *Model) runShell(typed, command string, inContext bool) tea.Cmd {
	if command == "" {
		m.toast(levelWarning, "say what to run: !COMMAND, or !!COMMAND for what the model is not to see")
		return nil
	}
	return deliver(m, typed, func(ctx context.Context, l *link) (*protocol.ShellStarted, error) {
		return client.Call[*protocol.ShellStarted](ctx, l.client, l.id, &protocol.RunShell{Command: command, InContext: inContext})
	}, func(m *Model, _ *protocol.ShellStarted) tea.Cmd { return nil })
}

// shell gives the command of a person that runs, the newest one; "" without any.
func (m *Model) shell() protocol.EventID {
	for _, t := range slices.Backward(m.live().Tools) {
		if t.Shell != nil {
			return t.EventID
		}
	}
	return ""
}

// stopShell ends a command of a person.
func (m *Model) stopShell(id protocol.EventID) tea.Cmd {
	return ask(m, m.id, &protocol.StopShell{EventID: id}, func(m *Model, _ *protocol.Cancelled, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
		}
		return nil
	})
}

// remember adds what was typed to the history.
func (m *Model) remember(typed string) {
	if err := m.history.Add(typed); err != nil && !m.historyFailed {
		m.historyFailed = true
		m.fail(err)
	}
}

// pasteText takes a paste: an image's file that was dropped, or text.
func (m *Model) pasteText(text string) tea.Cmd {
	if cmd, ok := m.dropped(text); ok {
		return cmd
	}
	if err := m.editor.Paste(text); err != nil {
		m.fail(err)
	}
	return m.typed()
}
