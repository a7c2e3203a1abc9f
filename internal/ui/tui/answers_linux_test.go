package tui_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// answers are what a terminal says to what the UI asks at its start.
const answers = "\x1b]10;rgb:ffff/ffff/ffff\x1b\\\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?0u\x1b[?2026;2$y\x1b[?62;22c"

// asked waits for the last question of the UI.
const asked = "\x1b[c"

// shellSide opens the program's side of the terminal, which so outlives the program as it
// does with a shell.
func (r *raw) shellSide() *os.File {
	r.t.Helper()
	n, err := unix.IoctlGetInt(int(r.pty.Fd()), unix.TIOCGPTN)
	if err != nil {
		r.t.Fatal(err)
	}
	f, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = f.Close() })
	return f
}

// typedIn gives what a shell would read now.
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
	w := newWorld(t)
	r := w.raw([]string{"TERM=xterm-256color"})
	shell := r.shellSide()
	r.wait(asked)
	r.write("\x04")
	r.wait("\x1b[?2004l") // all modes are set back
	for _, piece := range split(answers, 7) {
		r.write(piece)
	}
	r.write("ls")
	if err := r.pty.Cmd.Wait(); err != nil {
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
	w := newWorld(t)
	r := w.raw([]string{"TERM=xterm-256color"})
	r.wait(asked)
	r.write("\x04")
	begun := time.Now()
	if err := r.pty.Cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("it took %v", took)
	}
}

func TestAnswersThatComeWhenAnEditorIsStartedDoNotReachIt(t *testing.T) {
	w := newWorld(t)
	editor := filepath.Join(w.project, "editor.sh")
	w.write(editor, "#!/bin/sh\necho the editor is on\nread line\necho \"it read <$line>\"\n")
	if err := os.Chmod(editor, 0o700); err != nil {
		t.Fatal(err)
	}
	r := w.raw([]string{"TERM=xterm-256color", "EDITOR=" + editor})
	r.wait(asked)
	r.write("\x07Ω")
	r.wait("Ω") // the UI is still there
	for _, piece := range split(answers, 7) {
		r.write(piece)
	}
	r.wait("the editor is on")
	r.write("a line\n")
	r.wait("it read <a line>")
}
