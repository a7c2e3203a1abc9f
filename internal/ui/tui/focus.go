package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/keyboard"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/question"
)

// target takes keys while it has the focus.
type target interface {
	overlay.Input
	Places() []keymap.Place // where keys count, the first before the others
}

// focus says what takes the keys: what lies uppermost over the editor, else the question
// in front once it takes keys, else the conversation while somebody reads it, else the
// strip of agents once somebody went there, else the editor.
type focus struct {
	overlays  *overlay.Stack
	questions *question.Queue
	reading   *reading
	agents    *agentView
	editor    target
	shortcuts *shortcuts   // takes keys of the editor that mean nothing there
	drawn     *drawnEditor // takes the other keys of the editor first
	prefs     *preferences
	global    func(keymap.Action) tea.Cmd // what counts everywhere
}

// target returns what has the focus.
func (f *focus) target() target {
	switch top := f.overlays.Top(); {
	case top != nil:
		return top
	case f.questions.Takes():
		return f.questions
	case f.reading.on:
		return f.reading
	case f.agents.focused():
		return f.agents
	}
	return f.editor
}

// onEditor reports whether what is typed goes into the editor.
func (f *focus) onEditor() bool { return f.target() == f.editor }

// key does what a key says, or types it.
func (f *focus) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.Keystroke()
	if name == "alt+esc" { // Esc twice, so fast that both came at once
		k.Mod = 0
		return tea.Batch(f.key(k), f.key(k))
	}
	if f.questions.SecondEsc() && name == "esc" {
		return nil
	}
	name = keyName(k)
	if f.target() == f.editor {
		if cmd, took := f.shortcuts.takes(pressed{key: k}, name); took || cmd != nil {
			if took {
				return cmd
			}
			return tea.Batch(cmd, f.pass(k))
		}
	}
	return f.pass(k)
}

// keyName names a key as the keys of the user's file are named.
func keyName(k tea.KeyPressMsg) string {
	if k.Text != "" && k.Mod&^tea.ModShift == 0 {
		return k.Text // "?" is the same key on every keyboard
	}
	return k.Keystroke()
}

// pass has what has the focus take a key that is no shortcut of an extension.
func (f *focus) pass(k tea.KeyPressMsg) tea.Cmd {
	name, to := keyName(k), f.target()
	f.questions.Key()
	if to == f.questions && f.questions.Component() != nil && !f.over(name) {
		if data := keyboard.Sequence(tea.Key(k)); data != "" {
			return f.questions.Press(data)
		}
		return nil
	}
	if to == f.editor && f.drawn.leaves(name) {
		return f.drawn.flush()
	}
	if to == f.editor && f.drawn.takes() {
		if !f.over(name) {
			return f.drawn.press(pressed{key: k, data: keyboard.Sequence(tea.Key(k))})
		}
		return tea.Batch(f.drawn.flush(), f.does(k, f.target(), append(f.target().Places(), keymap.Global)))
	}
	return f.does(k, to, append(to.Places(), keymap.Global))
}

// plain has what has the focus take a key or a paste that no extension takes.
func (f *focus) plain(p pressed) tea.Cmd {
	to := f.target()
	if p.paste != nil {
		return to.Paste(*p.paste)
	}
	return f.does(p.key, to, append(to.Places(), keymap.Global))
}

// does has a target do what a key says at some places, or types it.
func (f *focus) does(k tea.KeyPressMsg, to target, places []keymap.Place) tea.Cmd {
	a, more := f.prefs.keys.Key(keyName(k), places...)
	switch {
	case more:
		return nil
	case a != "" && a.Place() == keymap.Global:
		return f.global(a)
	case a != "":
		return to.Do(a)
	case k.Text != "" && k.Mod&^tea.ModShift == 0:
		return to.Insert(k.Text)
	case k.Mod == tea.ModAlt && unicode.IsPrint(k.Code):
		// Esc and a character, so fast that both came at once: a terminal without the
		// newer ways to tell keys says the same of both, and nothing typed may be lost.
		letter := tea.KeyPressMsg{Code: k.Code, Text: string(k.Code)}
		if _, made := to.(unpressed); made {
			return to.Insert(letter.Text)
		}
		return tea.Batch(f.plain(pressed{key: tea.KeyPressMsg{Code: tea.KeyEscape}}), f.plain(pressed{key: letter}))
	}
	return nil
}

// over reports whether a key counts also while an extension has the keys: else nobody could
// leave the program, or the turn.
func (f *focus) over(key string) bool {
	keys := f.prefs.keys.Map
	return slices.Contains(keys.Keys(keymap.Interrupt), key) || slices.Contains(keys.Keys(keymap.Suspend), key)
}

// paste takes what the terminal pasted.
func (f *focus) paste(text string) tea.Cmd {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	to := f.target()
	if to == f.editor {
		if cmd, took := f.shortcuts.takes(pressed{paste: &text}, ""); took {
			return cmd
		} else if cmd != nil {
			return tea.Batch(cmd, f.paste(text))
		}
	}
	f.questions.Key()
	if to == f.questions && f.questions.Component() != nil {
		return f.questions.Press(keyboard.Bracketed(text))
	}
	if to == f.editor && f.drawn.takes() {
		return f.drawn.press(pressed{paste: &text, data: keyboard.Bracketed(text)})
	}
	return to.Paste(text)
}
