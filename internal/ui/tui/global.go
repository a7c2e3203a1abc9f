package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/keymap"
)

// global does what counts everywhere.
func (m *Model) global(a keymap.Action) tea.Cmd {
	p := &m.panels
	switch a {
	case keymap.Quit:
		return m.quit()
	case keymap.Interrupt:
		return m.interrupt()
	case keymap.Suspend:
		return m.window.suspend()
	case keymap.Redraw:
		m.window.screen.Redraw()
	case keymap.CycleMode:
		if m.focus.overlays.Top() != nil { // the mode is not seen
			m.toasts.Info("the permission mode changes when this is closed: " + m.prefs.hint(keymap.ListClose) + ", then " + m.prefs.hint(keymap.CycleMode))
			return nil
		}
		return p.models.CycleMode()
	case keymap.CycleThinking:
		return p.models.CycleThinking()
	case keymap.PickModel:
		return p.models.Open("")
	case keymap.PickSession:
		return p.sessions.Open()
	case keymap.OpenTree:
		return p.branches.Tree(false)
	case keymap.ToggleScreen:
		m.reading.toggleScreen()
	case keymap.ToggleThinking, keymap.ToggleTools:
		m.reading.fold(a)
	case keymap.ShowTasks:
		return p.tasks.Open()
	case keymap.ShowHelp:
		return p.help.Open(m.prefs.keys.Map)
	case keymap.FocusUp:
		return m.reading.toggle()
	case keymap.EditQueue:
		return p.queue.TakeBack()
	}
	return nil
}

// interrupt is Ctrl-C: it closes what is open, drops what is typed, cancels the turn, or
// (twice) ends the program.
func (m *Model) interrupt() tea.Cmd {
	switch {
	case m.focus.overlays.Top() != nil:
		return m.focus.overlays.Abort()
	case !m.input.Empty():
		return m.input.Clear()
	case time.Since(m.exit.armed) < armedFor:
		return m.close()
	case m.session.MayCancel():
		m.exit.armed = time.Now()
		m.toasts.Info("cancelling; press " + m.prefs.name(keymap.Interrupt) + " again to quit; the turn ends by itself")
		return m.session.Cancel()
	default:
		m.exit.armed = time.Now()
		m.toasts.Info("press " + m.prefs.name(keymap.Interrupt) + " again to quit")
	}
	return nil
}

// quit ends the program. What runs goes on at the host.
func (m *Model) quit() tea.Cmd {
	if !m.input.Empty() {
		return m.focus.editor.Do(keymap.DeleteForward) // Ctrl-D in a text
	}
	return m.close()
}
