package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// CrashOn has the UI panic when a key is pressed; "" is none. After "link:" it is the
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
			m.link.Begin("", "", func() error { panic("a test wants it so") }, nil)
		default:
			panic("a test wants it so")
		}
	}
}

// DrawWithin sets how long an extension may take with a key of the editor, and the host to name
// the shortcuts; "" leaves it.
func DrawWithin(long string) {
	if d, err := time.ParseDuration(long); err == nil {
		drawTimeout, shortcutTimeout = d, d
	}
}

// AnswerWithin sets how long the terminal may take to answer; "" leaves it.
func AnswerWithin(long string) {
	if d, err := time.ParseDuration(long); err == nil {
		answerTimeout = d
	}
}
