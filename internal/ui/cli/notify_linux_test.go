package cli

import (
	"os/exec"
	"strings"
	"testing"

	"scorel/internal/ui/tui/tuitest"
)

func TestWhoDoesNotLookIsToldThatAQuestionWaits(t *testing.T) {
	const notice = "\x1b]777;notify;Scorel;Scorel waits for you\a"
	for name, away := range map[string]bool{"in the background": true, "in sight": false} {
		t.Run(name, func(t *testing.T) {
			h := tuitest.New(t, tuitest.Program{Path: find(t)})
			cmd := exec.Command(h.Program())
			cmd.Dir, cmd.Env = h.Project, append(h.Env, "TERM=xterm-256color", "VTE_VERSION=7600")
			pty, err := tuitest.StartPTY(cmd, 100, 30)
			if err != nil {
				t.Fatal(err)
			}
			s := tuitest.ReadAll(t, pty)
			s.WaitFor("How would you like to start?")
			if away {
				s.Type("\x1b[O")
			}
			s.Type("\x1b[A\r")
			s.WaitFor("Enter sends the task")
			s.Type("\r")
			s.WaitFor("Allow once")
			s.WaitFor("\x1b]2;? project - scorel")
			if away {
				s.WaitFor(notice)
				return
			}
			if strings.Contains(s.Text(), notice) {
				t.Error("it was told to somebody who looks")
			}
		})
	}
}
