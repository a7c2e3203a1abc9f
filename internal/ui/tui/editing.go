package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/sandbox"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/program"
)

// editing takes the keys while the editor has the focus.
type editing struct{ *Model }

// Places says where keys count.
func (e *editing) Places() []keymap.Place {
	if e.session.Over() && e.input.Empty() {
		return []keymap.Place{keymap.Agent, keymap.Editor}
	}
	return []keymap.Place{keymap.Editor}
}

// Insert types text, after a letter that was a key for the agent and not meant so.
func (e *editing) Insert(text string) tea.Cmd { return e.input.Insert(e.agents.unused() + text) }

// Paste takes what was pasted.
func (e *editing) Paste(text string) tea.Cmd { return e.input.Paste(text) }

// Do does an action of the editor.
func (e *editing) Do(a keymap.Action) tea.Cmd {
	if e.input.Choosing() {
		switch handled, send := e.input.Choose(a); {
		case send:
			return e.submit(false)
		case handled:
			return e.input.Changed()
		}
	}
	switch a {
	case keymap.AgentEnd:
		return e.agents.end()
	case keymap.Submit, keymap.SubmitOther:
		if !e.input.Takes(keymap.Submit) { // it takes what a search has found, and Enter after a backslash
			return e.submit(a == keymap.SubmitOther)
		}
		return e.input.Changed()
	case keymap.Cancel:
		if e.input.Takes(a) {
			return e.input.Changed()
		}
		return e.escape()
	case keymap.ExternalEditor:
		return e.window.whenAnswered(e.editOutside)
	case keymap.PasteImage:
		return e.input.PasteImage(e.window.ctx)
	case keymap.ClearInput:
		e.input.Remember()
	case keymap.Up: // what waits is newer than what was typed before it
		if e.input.Empty() && e.panels.queue.Count() > 0 {
			return e.panels.queue.Open()
		}
	case keymap.Down: // below the newest of what was typed
		if empty := e.input.Empty(); e.input.Takes(a) || !empty || !e.agents.enter() {
			return e.input.Changed()
		}
		return nil
	}
	return e.input.Do(a)
}

// submit does what is typed.
func (e *editing) submit(other bool) tea.Cmd {
	mode, rest := e.input.Mode()
	typed, parts := e.input.Text(), e.input.Parts()
	if strings.TrimSpace(typed) == "" && len(parts) == 0 {
		return e.panels.queue.Resume()
	}
	whenBusy := e.whenBusy(other)
	var cmd tea.Cmd
	switch mode {
	case editor.Command:
		if why := excess(typed); why != "" {
			e.toasts.Error(why)
			return nil
		}
		cmd = e.runSlash(typed, whenBusy)
	case editor.NoteHere:
		cmd = e.input.AddNote(typed, "project", strings.TrimSpace(rest))
	case editor.NoteUser:
		cmd = e.input.AddNote(typed, "user", strings.TrimSpace(rest))
	case editor.Shell, editor.ShellApart:
		cmd = e.input.RunShell(typed, strings.TrimSpace(rest), mode == editor.Shell)
	default:
		cmd = e.input.Send(typed, parts, whenBusy)
	}
	changed := e.input.Clear()
	e.reading.transcript.Do(keymap.ScrollBottom)
	e.reading.end()
	return tea.Batch(cmd, changed)
}

// whenBusy says what becomes of a message while a turn runs.
func (e *editing) whenBusy(other bool) string {
	if (e.prefs.settings.WhenBusy == "steer") != other {
		return "steer"
	}
	return "followUp"
}

// twice is how soon a key must follow itself to mean more.
const twice = 700 * time.Millisecond

// escape closes what is open, cancels the turn, or (twice) goes back in the
// conversation.
func (e *editing) escape() tea.Cmd {
	switch {
	case e.input.Choosing():
		e.input.Dismiss()
		return nil
	case e.session.Over(): // an agent is stopped with a key of its own
		return e.agents.leave()
	case e.session.Shell() != "":
		return e.session.StopShell(e.session.Shell())
	case e.session.MayCancel():
		return e.session.Cancel()
	case e.reading.visit:
		e.reading.end()
		return nil
	case time.Since(e.exit.escaped) < twice:
		e.exit.escaped = time.Time{}
		return e.doubleEscape()
	}
	e.exit.escaped = time.Now()
	return nil
}

// doubleEscape goes back in the conversation, as the setting says.
func (e *editing) doubleEscape() tea.Cmd {
	switch e.prefs.settings.DoubleEscape {
	case "tree":
		return e.panels.branches.Tree(false)
	case "none":
		return nil
	}
	return e.panels.branches.Tree(true)
}

// editOutside has the text edited by the person's own program, which has the terminal
// meanwhile.
func (e *editing) editOutside() tea.Cmd {
	words, err := prefs.EditorCommand(e.prefs.settings.Editor, e.window.environ.Get)
	if err != nil {
		e.toasts.Fail(err)
		return nil
	}
	name, remove, err := prefs.WriteDraft("", e.input.Text())
	if err != nil {
		e.toasts.Fail(err)
		return nil
	}
	e.window.screen.Pause()
	run := &program.Foreground{Foreground: sandbox.Foreground{Argv: append(words, name), Dir: e.cfg.WorkDir, Env: e.cfg.Environ, In: e.cfg.In, Out: e.cfg.Out}}
	return tea.Exec(run, func(err error) tea.Msg {
		return loop.Then(func() tea.Cmd {
			defer remove()
			if rerr := e.window.screen.Resume(); rerr != nil {
				return e.fail(rerr)
			}
			text, rerr := prefs.ReadDraft(name)
			switch {
			case err != nil:
				e.toasts.Fail(fmt.Errorf("%s failed, so the text is unchanged: %w", words[0], err))
			case rerr != nil:
				e.toasts.Fail(rerr)
			default:
				return e.input.Set(text)
			}
			return nil
		})
	})
}
