package tui

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/keymap"
)

// twice is how soon a key must follow itself to mean more.
const twice = 700 * time.Millisecond

// overlay is what lies over the editor and takes the keys: a picker, a pager, the tree.
type overlay interface {
	places() []keymap.Place
	do(m *Model, a keymap.Action) tea.Cmd
	insert(m *Model, text string) tea.Cmd
	paste(m *Model, text string) tea.Cmd // what was pasted answers nothing
	render(m *Model, width, height int) ([]string, *cursor)
}

func (m *Model) overlay() overlay {
	if n := len(m.overlays); n > 0 {
		return m.overlays[n-1]
	}
	return nil
}

// open lays something over the editor.
func (m *Model) open(o overlay) { m.overlays = append(m.overlays, o) }

// close takes the uppermost away.
func (m *Model) close() {
	if n := len(m.overlays); n > 0 {
		m.overlays = m.overlays[:n-1]
	}
}

// key does what a key says, or types it.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.Keystroke()
	if name == "alt+esc" { // Esc twice, so fast that both came at once
		k.Mod = 0
		return tea.Batch(m.key(k), m.key(k))
	}
	if k.Text != "" && k.Mod&^tea.ModShift == 0 {
		name = k.Text // "?" is the same key on every keyboard
	}
	focus := m.focus()
	m.questions.key()
	a, more := m.keys.Key(name, m.places(focus)...)
	switch {
	case more:
		return nil
	case a != "":
		return m.do(focus, a)
	case k.Text != "" && k.Mod&^tea.ModShift == 0:
		return m.insert(focus, k.Text)
	case k.Mod == tea.ModAlt && unicode.IsPrint(k.Code):
		// Esc and a character, so fast that both came at once: a terminal without the
		// newer ways to tell keys says the same of both, and nothing typed may be lost.
		letter := tea.KeyPressMsg{Code: k.Code, Text: string(k.Code)}
		return tea.Batch(m.key(tea.KeyPressMsg{Code: tea.KeyEscape}), m.key(letter))
	}
	return nil
}

// focus is what takes the keys.
type focus int

const (
	onEditor focus = iota
	onOverlay
	onQuestion
	onTranscript
)

func (m *Model) focus() focus {
	switch {
	case m.overlay() != nil:
		return onOverlay
	case m.questions.takes():
		return onQuestion
	case m.reading:
		return onTranscript
	}
	return onEditor
}

func (m *Model) places(f focus) []keymap.Place {
	switch f {
	case onOverlay:
		return append(m.overlay().places(), keymap.Global)
	case onQuestion:
		return append(m.questions.open().Places(), keymap.Global)
	case onTranscript:
		if m.transcript.Searching() { // what is looked for is being typed
			return []keymap.Place{keymap.Editor, keymap.Global}
		}
		return []keymap.Place{keymap.Transcript, keymap.Global}
	}
	return []keymap.Place{keymap.Editor, keymap.Global}
}

// insert types text.
func (m *Model) insert(f focus, text string) tea.Cmd {
	switch f {
	case onOverlay:
		return m.overlay().insert(m, text)
	case onQuestion:
		return m.questions.insert(m, text)
	case onTranscript: // whoever types is done with reading
		if m.transcript.Searching() {
			m.transcript.Insert(text)
			return m.older(m.transcript.WantOlder())
		}
		m.reading = false
	}
	m.editor.Insert(text)
	return m.typed()
}

// paste takes what the terminal pasted.
func (m *Model) paste(text string) tea.Cmd {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	focus := m.focus()
	m.questions.key()
	switch focus {
	case onOverlay:
		return m.overlay().paste(m, text)
	case onQuestion:
		return m.questions.paste(m, text)
	case onTranscript:
		if m.transcript.Searching() {
			m.transcript.Paste(text)
			return m.older(m.transcript.WantOlder())
		}
	}
	m.reading = false
	return m.pasteText(text)
}

// do does an action where the focus is; what is not of that place is for all.
func (m *Model) do(f focus, a keymap.Action) tea.Cmd {
	if a.Place() == keymap.Global {
		return m.global(a)
	}
	switch f {
	case onOverlay:
		return m.overlay().do(m, a)
	case onQuestion:
		return m.questions.do(m, a)
	case onTranscript:
		return m.read(a)
	}
	return m.edit(a)
}

// global does what counts everywhere.
func (m *Model) global(a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Quit:
		return m.quit()
	case keymap.Interrupt:
		return m.interrupt()
	case keymap.Suspend:
		return m.suspend()
	case keymap.Redraw:
		m.scr.Redraw()
	case keymap.CycleMode:
		return m.cycleMode()
	case keymap.CycleThinking:
		return m.cycleThinking()
	case keymap.PickModel:
		return m.openModels("")
	case keymap.PickSession:
		return m.openSessions()
	case keymap.OpenTree:
		return m.openTree(false)
	case keymap.ToggleScreen:
		m.toggleScreen()
	case keymap.ToggleThinking:
		m.transcript.Do(keymap.ToggleThinking)
	case keymap.ToggleTools:
		m.transcript.Do(keymap.ToggleTools)
	case keymap.ShowTasks:
		return m.openTasks()
	case keymap.ShowHelp:
		return m.openHelp()
	case keymap.FocusUp:
		if m.reading {
			m.readEnough()
			return nil
		}
		m.readOn()
		return m.read(keymap.PageUp)
	case keymap.EditQueue:
		return m.takeBack()
	}
	return nil
}

// interrupt is Ctrl-C: it drops what is typed, cancels the turn, or (twice) leaves.
func (m *Model) interrupt() tea.Cmd {
	switch {
	case m.overlay() != nil:
		p, isPicker := m.overlay().(*picker)
		m.close()
		if isPicker && p.onClose != nil {
			return p.onClose(m)
		}
	case !m.editor.Empty():
		m.remember(m.editor.Marked())
		m.editor.Reset()
		return m.typed()
	case time.Since(m.armed) < 2*time.Second:
		return m.leave()
	case m.mayCancel():
		m.armed = time.Now()
		m.toast(levelInfo, "cancelling; Ctrl-C again leaves, and the turn ends by itself")
		return m.cancel()
	default:
		m.armed = time.Now()
		m.toast(levelInfo, "Ctrl-C again leaves")
	}
	return nil
}

// quit leaves. What runs goes on at the host.
func (m *Model) quit() tea.Cmd {
	if !m.editor.Empty() {
		return m.edit(keymap.DeleteForward) // Ctrl-D in a text
	}
	return m.leave()
}

// escape closes what is open, cancels the turn, or (twice) goes back in the
// conversation.
func (m *Model) escape() tea.Cmd {
	switch {
	case m.popup.Open():
		m.popup.Dismiss()
		return nil
	case m.shell() != "":
		return m.stopShell(m.shell())
	case m.mayCancel():
		return m.cancel()
	case m.visit:
		m.readEnough()
		return nil
	case time.Since(m.escaped) < twice:
		m.escaped = time.Time{}
		return m.doubleEscape()
	}
	m.escaped = time.Now()
	return nil
}

// cycleMode goes to the next permission mode.
func (m *Model) cycleMode() tea.Cmd {
	modes := [...]string{"default", "acceptEdits", "plan"}
	now := cmp.Or(m.nextMode, m.mode())
	next := modes[0]
	for i, mode := range modes {
		if mode == now {
			next = modes[(i+1)%len(modes)]
		}
	}
	return m.setMode(next)
}
