package tuitest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Timeout is how long a test waits for what it wants to see.
const Timeout = 2 * time.Minute

const (
	glance  = 10 * time.Millisecond // how often it looks
	history = 200_000               // lines of scrollback
)

// Options say how a program is started.
type Options struct {
	Width, Height int // 80 by 24 when they are not positive
	Dir           string
	// Env is the whole environment of the program but for TERM and what tmux sets, as
	// NAME=VALUE. Without a GORACE in it the one of [Races] is added.
	Env []string
	// Settings are lines for tmux.conf.
	Settings []string
}

// Tmux is a program in a terminal of tmux.
type Tmux struct {
	t      testing.TB
	path   string
	socket string
}

// NewTmux starts a program. The test fails in CI when there is no tmux, and is left
// out elsewhere; either says so. The server ends with the test.
func NewTmux(t testing.TB, o Options, program string, args ...string) *Tmux {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil {
		const needs = "this test looks at a terminal through tmux, which is not on PATH; install it (apt-get install tmux)"
		if os.Getenv("CI") != "" {
			t.Fatal(needs)
		}
		t.Skip(needs)
	}
	if o.Width <= 0 || o.Height <= 0 {
		o.Width, o.Height = 80, 24
	}
	dir, err := os.MkdirTemp("", "tui") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	conf := filepath.Join(dir, "tmux.conf")
	settings := append([]string{
		"set -g status off", "set -g remain-on-exit on", "set -g default-terminal tmux-256color", "set -g escape-time 0",
		"set -g focus-events on", fmt.Sprint("set -g history-limit ", history), "set -s extended-keys on",
	}, o.Settings...)
	if err := os.WriteFile(conf, []byte(strings.Join(settings, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(o.Env, func(e string) bool { return strings.HasPrefix(e, "GORACE=") }) {
		o.Env = append(slices.Clip(o.Env), Races(t))
	}
	m := &Tmux{t: t, path: path, socket: filepath.Join(dir, "s")}
	command := []string{"exec", "env", "-i", "TERM=\"$TERM\"", "TMUX=\"$TMUX\"", "COLORTERM=truecolor"}
	for _, x := range slices.Concat(o.Env, []string{program}, args) {
		command = append(command, quote(x))
	}
	new := []string{"-f", conf, "new-session", "-d", "-x", strconv.Itoa(o.Width), "-y", strconv.Itoa(o.Height)}
	if o.Dir != "" {
		new = append(new, "-c", o.Dir)
	}
	t.Cleanup(m.Kill)
	m.run(append(new, strings.Join(command, " "))...)
	return m
}

// quote writes a word for the shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// tmux runs a command of tmux's.
func (m *Tmux) tmux(stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.path, append([]string{"-S", m.socket}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "TMUX") })
	cmd.Env = append(cmd.Env, "LC_ALL=C.UTF-8", "SHELL=/bin/sh")
	cmd.Stdin = strings.NewReader(stdin)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args, err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

func (m *Tmux) run(args ...string) string {
	m.t.Helper()
	out, err := m.tmux("", args...)
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// Keys presses keys, by the names of tmux: C-c, M-Enter, S-Tab, Escape, PageUp, or
// any text of one character.
func (m *Tmux) Keys(keys ...string) {
	m.t.Helper()
	m.run(append([]string{"send-keys", "--"}, keys...)...)
}

// Type presses the keys of a text, all at once.
func (m *Tmux) Type(text string) {
	m.t.Helper()
	m.run("send-keys", "-l", "--", text)
}

// Paste pastes text as a terminal does, bracketed where the program has asked for it.
func (m *Tmux) Paste(text string) {
	m.t.Helper()
	if _, err := m.tmux(text, "load-buffer", "-"); err != nil {
		m.t.Fatal(err)
	}
	m.run("paste-buffer", "-p", "-r", "-d")
}

// Screen returns the lines that are seen, without blanks at their ends and without empty
// ones at the end.
func (m *Tmux) Screen() string {
	m.t.Helper()
	return trimmed(m.run("capture-pane", "-p"))
}

// Styled returns the same with sequences for colours and weights.
func (m *Tmux) Styled() string {
	m.t.Helper()
	return trimmed(m.run("capture-pane", "-p", "-e"))
}

// All returns the scrollback and the screen. Lines that the terminal has broken are whole.
func (m *Tmux) All() string {
	m.t.Helper()
	return trimmed(m.run("capture-pane", "-p", "-J", "-S", "-"))
}

func trimmed(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Cursor returns where the cursor is, from 0, and whether it is shown.
func (m *Tmux) Cursor() (column, row int, shown bool) {
	m.t.Helper()
	var flag int
	if _, err := fmt.Sscan(m.Format("#{cursor_x} #{cursor_y} #{cursor_flag}"), &column, &row, &flag); err != nil {
		m.t.Fatal(err)
	}
	return column, row, flag == 1
}

// Format returns what tmux makes of a format, such as #{pane_title} or #{alternate_on}.
func (m *Tmux) Format(format string) string {
	m.t.Helper()
	return strings.TrimSuffix(m.run("display-message", "-p", format), "\n")
}

// Resize sets another size of the terminal.
func (m *Tmux) Resize(width, height int) {
	m.t.Helper()
	m.run("resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}

// WaitFor waits until all texts are on the screen, and gives it.
func (m *Tmux) WaitFor(texts ...string) string {
	m.t.Helper()
	return m.Wait(strings.Join(texts, ", "), func(screen string) bool {
		return !slices.ContainsFunc(texts, func(x string) bool { return !strings.Contains(screen, x) })
	})
}

// Wait waits until something holds of the screen, and gives it. The test fails with
// what was wanted and with the screen when it does not come true.
func (m *Tmux) Wait(wanted string, holds func(screen string) bool) string {
	m.t.Helper()
	deadline := time.Now().Add(Timeout)
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		screen := m.Screen()
		if holds(screen) {
			return screen
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("waited %v for %s on:\n%s", Timeout, wanted, screen)
		}
		<-tick.C
	}
}

// WaitEnd waits until the program has ended, and returns its exit code.
func (m *Tmux) WaitEnd() int {
	m.t.Helper()
	m.Wait("the end of the program", func(string) bool {
		if m.Format("#{pane_dead}") != "1" {
			return false
		}
		if m.Format("#{pane_dead_status}#{pane_dead_signal}") != "" {
			return true
		}
		// The terminal is closed, and how the program ended is not known yet. Now and then
		// tmux 3.3a misses the signal of its end: another one has it look.
		if server, err := strconv.Atoi(m.Format("#{pid}")); err == nil {
			_ = syscall.Kill(server, syscall.SIGCHLD)
		}
		return false
	})
	code, err := strconv.Atoi(m.Format("#{pane_dead_status}"))
	if err != nil {
		return -1 // by a signal
	}
	return code
}

// Buffer returns what was copied last; "" when nothing was.
func (m *Tmux) Buffer() string {
	m.t.Helper()
	text, err := m.tmux("", "show-buffer")
	if err != nil {
		return ""
	}
	return text
}

// Record writes all bytes that come from the program from now on to a file.
func (m *Tmux) Record(file string) {
	m.t.Helper()
	m.run("pipe-pane", "exec cat >"+quote(file))
}

// PID returns the process id of the program.
func (m *Tmux) PID() int {
	m.t.Helper()
	pid, err := strconv.Atoi(m.Format("#{pane_pid}"))
	if err != nil {
		m.t.Fatal(err)
	}
	return pid
}

// Kill ends the server and with it the program. The end of the test does so too.
func (m *Tmux) Kill() { _, _ = m.tmux("", "kill-server") }
