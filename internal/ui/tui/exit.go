package tui

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/input"
	"scorel/internal/ui/tui/loop"
	"scorel/protocol"
	"scorel/protocol/display"
)

// exit is how the program ends.
type exit struct {
	closing bool      // it ends as soon as what was typed has reached the host
	cut     bool      // the terminal, or the system, ends it
	failed  error     // why the UI cannot continue
	refused bool      // it failed because of the command line
	armed   time.Time // the last Ctrl-C that did nothing
	escaped time.Time // the last Esc that did nothing
}

// armedFor is how soon a Ctrl-C must follow another to end the program.
const armedFor = 2 * time.Second

// close ends the program as soon as what was typed has reached the host; a second time
// at once.
func (m *Model) close() tea.Cmd {
	if m.exit.closing || len(m.input.Sending()) == 0 {
		m.exit.closing = true
		return tea.Quit
	}
	m.exit.closing = true
	m.toasts.Info("what you typed is not sent yet; press again to quit without it")
	return nil
}

// endTimeout is how long the end of the terminal, or of the system, waits for the host
// to take what was typed.
const endTimeout = 2 * time.Second

// closeSoon ends the program without a question.
func (m *Model) closeSoon() tea.Cmd {
	m.exit.cut = true
	return tea.Batch(m.drawn.flush(), m.close(), tea.Tick(endTimeout, func(time.Time) tea.Msg { return tea.Quit() }))
}

// Delivered ends a program that waits for what was typed to reach the host.
func (m *Model) Delivered(waiting int) tea.Cmd {
	if m.exit.closing && waiting == 0 {
		return tea.Quit
	}
	return nil
}

// Refused shows why the host has not taken what was typed, and does not end the program:
// the person is to see it.
func (m *Model) Refused(err error) tea.Cmd {
	m.exit.closing = false
	asked := m.panels.folder.AskWide(err)
	if asked == nil {
		m.toasts.Fail(err)
	}
	return asked
}

// Led shows the session that a command of an extension leads to, with what it put into the
// editor there, or ends the program.
func (m *Model) Led(to *protocol.Move) tea.Cmd {
	if to.Quit {
		return m.close()
	}
	return m.link.Follow(to.SessionID, to.Made, func(_ struct{}, err error) tea.Cmd {
		if err != nil {
			m.toasts.Fail(err)
			return nil
		}
		for _, n := range to.Notices {
			m.toasts.Info(display.Line(n))
		}
		var cmds []tea.Cmd
		if to.Editor != "" {
			cmds = append(cmds, m.input.Set(display.Text(to.Editor)))
		}
		if to.Message != "" {
			cmds = append(cmds, m.input.SendText(display.Text(to.Message)))
		}
		return tea.Batch(cmds...)
	})
}

// fail ends the program with an error.
func (m *Model) fail(err error) tea.Cmd {
	m.exit.failed = err
	return tea.Quit
}

// refuse ends the program because of its command line.
func (m *Model) refuse(err error) tea.Cmd {
	m.exit.refused = true
	return m.fail(err)
}

// crash restores the terminal and keeps what is needed to resume.
func (m *Model) crash(p loop.Panicked) {
	if m.exit.failed != nil {
		return
	}
	m.window.screen.Restore(m.cfg.Out)
	m.exit.failed = errors.New("the terminal UI failed; the session continues at the host, and scorel shows it again. Please report the text above")
	fmt.Fprintf(m.cfg.Stderr, "\r\n%v\r\n\r\n%s\r\n", p.Value, p.Stack)
}

// panicked is the panic of this goroutine.
func panicked(value any) loop.Panicked { return loop.Panicked{Value: value, Stack: debug.Stack()} }

// shutdownNotice writes how to resume, and what was not sent, when the screen is the shell's
// again.
func (m *Model) shutdownNotice(w io.Writer) {
	ending := input.InOrder
	switch {
	case m.exit.failed != nil && (!m.exit.refused || m.start.left != ""): // one that crashed before is still to be shown
		ending = input.Crashed
	case m.exit.refused, m.exit.cut:
		ending = input.Cut
	}
	m.input.End(ending, w)
	switch id := m.session.MainID(); {
	case id == "" || m.exit.failed != nil:
	case m.session.Main().Running:
		fmt.Fprintf(w, "The turn continues. Show it with: scorel -c (session %s)\n", id)
	default:
		fmt.Fprintf(w, "Resume with: scorel -c (session %s)\n", id)
	}
}
