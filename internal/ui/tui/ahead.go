package tui

import (
	"bytes"
	"os"

	tea "charm.land/bubbletea/v2"

	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/sys/unix"
)

// maxAhead bounds what is taken as typed before the UI began, in bytes; what is beyond it
// comes as keys.
const maxAhead = 64 << 10

// typedAhead returns what was typed before the terminal was set to raw mode, which is just
// now: without waiting, in the order it was typed.
func typedAhead(terminal *os.File) []byte {
	var all []byte
	buf := make([]byte, 4096) // as much as a terminal holds
	for len(all) < maxAhead {
		ready := []unix.PollFd{{Fd: int32(terminal.Fd()), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 0); err != nil || n == 0 || ready[0].Revents&unix.POLLIN == 0 {
			break
		}
		n, err := terminal.Read(buf)
		if all = append(all, buf[:n]...); err != nil || n == 0 {
			break
		}
	}
	return all
}

// keysAhead does what was typed before the UI began. The terminal has made a line feed of
// each Enter then.
func (m *Model) keysAhead() tea.Cmd {
	var cmds []tea.Cmd
	var d uv.EventDecoder
	typed := bytes.ReplaceAll(m.start.ahead, []byte("\n"), []byte("\r"))
	m.start.ahead = nil
	for len(typed) > 0 {
		n, event := d.Decode(typed)
		if k, ok := event.(uv.KeyPressEvent); ok {
			cmds = append(cmds, m.focus.key(tea.KeyPressMsg(k)))
		}
		typed = typed[max(n, 1):]
	}
	return tea.Batch(cmds...)
}
