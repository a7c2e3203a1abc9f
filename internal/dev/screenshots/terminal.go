package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"

	"scorel/internal/ui/tui/tuitest"
)

const (
	timeout = 60 * time.Second       // how long a screen may take to come
	quiet   = 400 * time.Millisecond // without output: the screen is complete
)

// terminal is the program and what a terminal shows of it.
type terminal struct {
	pty     *tuitest.PTY
	bin     string
	environ []string
	colours colours
	changed chan struct{} // holds a value when something was written

	mu     sync.Mutex // guards the screen
	screen *vt.Emulator
}

// open starts the program in a terminal with these colours.
func open(bin, home, work string, c colours) (*terminal, error) {
	t := &terminal{bin: bin, colours: c, changed: make(chan struct{}, 1), screen: vt.NewEmulator(columns, rows),
		environ: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}}
	t.screen.SetDefaultBackgroundColor(c.ground)
	t.screen.SetDefaultForegroundColor(c.text)
	cmd := exec.Command(bin)
	cmd.Dir, cmd.Env = work, t.environ
	pty, err := tuitest.StartPTY(cmd, columns, rows)
	if err != nil {
		return nil, err
	}
	t.pty = pty
	go t.show()   // ends with the program
	go t.answer() // ends with the screen
	return t, nil
}

// show brings what the program writes to the screen.
func (t *terminal) show() {
	buf := make([]byte, 64<<10)
	for {
		n, err := t.pty.Read(buf)
		t.mu.Lock()
		_, _ = t.screen.Write(buf[:n]) // it takes everything
		t.mu.Unlock()
		select {
		case t.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// answer returns the program what the terminal says to its questions.
func (t *terminal) answer() {
	buf := make([]byte, 4<<10)
	for {
		n, err := t.screen.Read(buf)
		if err != nil {
			return
		}
		if _, err := t.pty.Write(buf[:n]); err != nil {
			return
		}
	}
}

// step types keys and waits until the screen is as wanted, and complete.
func (t *terminal) step(s step) error {
	if _, err := t.pty.WriteString(s.keys); err != nil {
		return err
	}
	deadline := time.After(timeout)
	for {
		select {
		case <-t.changed:
			continue
		case <-time.After(quiet):
			if text := t.text(); containsAll(text, s.wait) && (s.gone == "" || !strings.Contains(text, s.gone)) {
				return nil
			}
		case <-deadline:
			return fmt.Errorf("waited %v for %q without %q on:\n%s", timeout, s.wait, s.gone, t.text())
		}
		select {
		case <-t.changed:
		case <-deadline:
			return fmt.Errorf("waited %v for %q without %q on:\n%s", timeout, s.wait, s.gone, t.text())
		}
	}
}

// containsAll reports whether a text has each line of another one somewhere.
func containsAll(text, lines string) bool {
	for line := range strings.SplitSeq(lines, "\n") {
		if !strings.Contains(text, line) {
			return false
		}
	}
	return true
}

// text returns the words of the screen.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.String()
}

// close ends the program, and the host that it has started.
func (t *terminal) close() {
	_ = t.pty.Close() // killed: it has nothing to say
	_ = t.screen.Close()
	stop := exec.Command(t.bin, "host", "stop", "--now")
	stop.Env = t.environ
	_ = stop.Run() // without one there is nothing to end
}
