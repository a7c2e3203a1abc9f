package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"scorel/internal/ui/exit"
	"scorel/protocol"
)

func TestAnInterruptedCompactionIsCancelledAndSaysSo(t *testing.T) {
	s := newStation(t, `{"if":{"kind":"compact"},"do":[{"hang":true}]}`, `{"again":true,"do":[{"text":"`+strings.Repeat("word ", 20_000)+`"}]}`)
	id := s.session()
	for range 3 {
		s.ok("-p", "--continue", "go on")
	}
	log := filepath.Join(".scorel", "sessions", id+".log")
	for _, serving := range []bool{false, true} {
		if serving {
			s.ok("host", "serve", "--detach")
		}
		opened, before := strings.Count(s.read(log), "opened:"), strings.Count(s.read(log), "turn ended: cancelled")
		c := s.start("sessions", "compact", id)
		if serving {
			s.until("the compaction runs", func() bool { return strings.Contains(s.ok("ps"), id) })
		} else {
			s.until("the session is open", func() bool { return strings.Count(s.read(log), "opened:") > opened })
		}
		if err := c.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if code := c.ends(); code != exit.Cancelled {
			t.Errorf("serving %v: exit code %d: %s", serving, code, c.printed())
		}
		if serving {
			c.sees("scorel: interrupted: the session is not compacted\n")
			s.until("it is cancelled", func() bool { return strings.Count(s.read(log), "turn ended: cancelled") > before })
		} else {
			c.sees("scorel: interrupted: ")
		}
	}
}

// TestAnInterruptedCopyLeavesNoSession plays a signal that comes when the host has begun: it
// goes on, and what it has made is removed.
func TestAnInterruptedCopyLeavesNoSession(t *testing.T) {
	s := newStation(t, `{"again":true,"do":[{"text":"ok"}]}`)
	id := s.session()
	var said strings.Builder
	a := &app{stdout: io.Discard, stderr: &said, environ: []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}, pace: -1}
	err := a.withSessions(t.Context(), func(l *link) error {
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		_, err := a.copyOf(ctx, l, protocol.SessionID(id), "", "")
		return err
	})
	if exit.Code(err) != exit.Cancelled || err.Error() != "interrupted: no session was made" {
		t.Errorf("%v", err)
	}
	if logs, _ := filepath.Glob(filepath.Join(s.home, ".scorel", "sessions", "*.jsonl")); len(logs) != 1 {
		t.Errorf("%q", logs)
	}
}

func TestEveryCommandFailsWhenItsOutputCannotBeWritten(t *testing.T) {
	s := newStation(t)
	commands := [][]string{{"--version"}, {"version"}, {"autonomy"}, {"mcp", "list"}, {"clients", "list"}, {"channels", "list"}, {"trust", "--json"}, {"doctor"},
		{"models", "--all"}, {"config", "check"}, {"ps", "--all", "--json"}, {"sessions", "list", "--json"}, {"projects", "--json"}}
	var each func(c *cobra.Command, words []string)
	each = func(c *cobra.Command, words []string) {
		commands = append(commands, append(slices.Clone(words), "--help"))
		for _, sub := range c.Commands() {
			each(sub, append(slices.Clone(words), sub.Name()))
		}
	}
	each((&app{}).command(), nil)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, words := range commands {
		var said strings.Builder
		c := s.command(words...)
		c.Stdout, c.Stderr = full, &said
		_ = c.Run()
		if code := c.ProcessState.ExitCode(); code != exit.Failed || !strings.Contains(said.String(), "no space left on device") {
			t.Errorf("scorel %s: exit code %d: %s", strings.Join(words, " "), code, said.String())
		}
	}
	if len(commands) < 100 {
		t.Errorf("%d commands", len(commands))
	}
}

func TestAnUnreadableSessionIsNotSaidToBeDeletable(t *testing.T) {
	s := newStation(t, `{"again":true,"do":[{"text":"ok"}]}`)
	id := s.session()
	log := filepath.Join(s.home, ".scorel", "sessions", id+".jsonl")
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(id+".jsonl", log); err != nil { // a loop, which nobody can read
		t.Fatal(err)
	}
	for _, words := range [][]string{{"sessions", "list"}, {"-p", "--continue", "go on"}} {
		_, said, _ := s.run(words...)
		if !strings.Contains(said, "which you have to correct or remove") || strings.Contains(said, "delete removes it") {
			t.Errorf("%q: %s", words, said)
		}
	}
}
