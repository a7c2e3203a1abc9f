package loop

import (
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// Then is what the UI does when something beside it has ended. The loop calls it.
type Then func() tea.Cmd

// Redraw is a message after which there is only a frame to be drawn.
type Redraw struct{}

// Panicked is the message of a goroutine that has panicked.
type Panicked struct {
	Value any
	Stack []byte
}

// Rescue is deferred by the goroutines beside the UI's: a panic of one of them ends the
// program as one of the UI does, and does not leave the terminal as the UI has it.
func Rescue(send func(tea.Msg)) {
	if p := recover(); p != nil {
		send(Panicked{Value: p, Stack: debug.Stack()})
	}
}
