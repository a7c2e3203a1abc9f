package tui_test

import (
	"os"
	"path/filepath"
	"scorel/internal/ui/tui/tuitest"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// answers are what a terminal says to what the UI asks at its start.
const answers = "\x1b]10;rgb:ffff/ffff/ffff\x1b\\\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?0u\x1b[?2026;2$y\x1b[?62;22c"

// asked is the last question of the UI.
const asked = "\x1b[c"

// patient has the UI wait for answers as long as a test does: a machine that has much else to
// do may need longer for them than a terminal.
var patient = "SCOREL_TUI_ANSWER=" + tuitest.Timeout.String()

// shellSide opens the program's side of the terminal, which so outlives the program as it
// does with a shell.
func (r *raw) shellSide(t *testing.T) *os.File {
	t.Helper()
	n, err := unix.IoctlGetInt(int(r.PTY.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// typedIn returns what a shell would read now.
func typedIn(t *testing.T, terminal *os.File) string {
	t.Helper()
	if _, err := term.MakeRaw(int(terminal.Fd())); err != nil { // also what has no line end can be read
		t.Fatal(err)
	}
	ready := []unix.PollFd{{Fd: int32(terminal.Fd()), Events: unix.POLLIN}}
	if n, err := unix.Poll(ready, 0); err != nil || n == 0 {
		return ""
	}
	buf := make([]byte, 4096)
	n, err := terminal.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

func TestAnswersThatComeWhenTheUIIsLeftDoNotReachTheShell(t *testing.T) {
	h := newHarness(t)
	r := startRaw(t, h, []string{"TERM=xterm-256color", patient})
	shell := r.shellSide(t)
	r.WaitFor(asked)
	r.Type("\x04")
	r.WaitFor("\x1b[?2004l") // all modes are set back
	for _, piece := range split(answers, 7) {
		r.Type(piece)
	}
	r.Type("ls")
	if err := r.PTY.Cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := typedIn(t, shell); got != "ls" {
		t.Errorf("the shell reads %q, want what was typed behind the answers", got)
	}
}

// split takes a text apart into pieces of n bytes.
func split(text string, n int) (pieces []string) {
	for ; len(text) > n; text = text[n:] {
		pieces = append(pieces, text[:n])
	}
	return append(pieces, text)
}

func TestATerminalThatAnswersNothingIsLeftSoon(t *testing.T) {
	h := newHarness(t)
	r := startRaw(t, h, []string{"TERM=xterm-256color"})
	r.WaitFor(asked)
	r.Type("\x04")
	begun := time.Now()
	if err := r.PTY.Cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > tuitest.Timeout/2 {
		t.Errorf("it took %v", took)
	}
}

func TestAnswersThatComeWhenAnEditorIsStartedDoNotReachIt(t *testing.T) {
	h := newHarness(t)
	editor := filepath.Join(h.Project, "editor.sh")
	h.Write(editor, "#!/bin/sh\necho the editor is on\nread line\necho \"it read <$line>\"\n")
	if err := os.Chmod(editor, 0o700); err != nil {
		t.Fatal(err)
	}
	r := startRaw(t, h, []string{"TERM=xterm-256color", "EDITOR=" + editor, patient})
	r.WaitFor(asked)
	r.Type("\x07Ω")
	r.WaitFor("Ω") // the UI is still there
	for _, piece := range split(answers, 7) {
		r.Type(piece)
	}
	r.WaitFor("the editor is on")
	r.Type("a line\n")
	r.WaitFor("it read <a line>")
}
