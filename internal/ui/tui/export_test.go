package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// CrashOn has the UI panic when a key is pressed; "" is none. Behind "link:" it is the
// goroutine of the link that panics.
func CrashOn(key string) {
	if key == "" {
		return
	}
	key, beside := strings.CutPrefix(key, "link:")
	beforeUpdate = func(m *Model, msg tea.Msg) {
		switch k, ok := msg.(tea.KeyPressMsg); {
		case !ok || k.Keystroke() != key:
		case beside:
			m.link.do(func(context.Context, *link) then { panic("a test wants it so") })
		default:
			panic("a test wants it so")
		}
	}
}
