package tui

import tea "charm.land/bubbletea/v2"

// CrashOn has the UI panic when a key is pressed; "" is none.
func CrashOn(key string) {
	if key == "" {
		return
	}
	beforeUpdate = func(msg tea.Msg) {
		if k, ok := msg.(tea.KeyPressMsg); ok && k.Keystroke() == key {
			panic("a test wants it so")
		}
	}
}
