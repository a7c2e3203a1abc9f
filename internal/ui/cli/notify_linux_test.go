package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scorel/internal/host/daemon"
	"scorel/internal/ui/tui/tuitest"
)

// shown is what a program has written to its terminal.
type shown struct {
	mu   sync.Mutex
	cond *sync.Cond
	text string
	end  bool
}

// read takes what is written until the program ends.
func (s *shown) read(p *tuitest.PTY) {
	buf := make([]byte, 32<<10)
	for {
		n, err := p.Read(buf)
		s.mu.Lock()
		s.text += string(buf[:n])
		s.end = err != nil
		s.cond.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait waits for a text among all that was written.
func (s *shown) wait(t *testing.T, text string) {
	t.Helper()
	late := false
	defer time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.cond.Broadcast()
	}).Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(s.text, text) {
		if late || s.end {
			t.Fatalf("%q was not written; the end is %q", text, s.text[max(0, len(s.text)-2000):])
		}
		s.cond.Wait()
	}
}

func TestWhoDoesNotLookIsToldThatAQuestionWaits(t *testing.T) {
	const notice = "\x1b]777;notify;Scorel;Scorel waits for you\a"
	for name, away := range map[string]bool{"in the background": true, "in sight": false} {
		t.Run(name, func(t *testing.T) {
			root, err := os.MkdirTemp("", "bell") // the path of the host's socket is short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if info, live, _ := daemon.Find(filepath.Join(root, ".scorel")); live && info.PID > 0 {
					_ = syscall.Kill(info.PID, syscall.SIGKILL)
				}
				_ = os.RemoveAll(root)
			})
			cmd := exec.Command(find(t))
			cmd.Dir = filepath.Join(root, "shop")
			if err := os.Mkdir(cmd.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			cmd.Env = []string{"HOME=" + root, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "VTE_VERSION=7600", "GORACE=atexit_sleep_ms=0"}
			pty, err := tuitest.StartPTY(cmd, 100, 30)
			if err != nil {
				t.Fatal(err)
			}
			defer pty.Close()
			s := &shown{}
			s.cond = sync.NewCond(&s.mu)
			go s.read(pty) // ends with the program
			s.wait(t, "How do you want to begin?")
			if away {
				pty.WriteString("\x1b[O")
			}
			pty.WriteString("\x1b[A\r")
			s.wait(t, "Enter sends the task")
			pty.WriteString("\r")
			s.wait(t, "\x1b]2;● ")
			s.wait(t, "Allow once")
			s.wait(t, "\x1b]2;? shop - scorel")
			if away {
				s.wait(t, notice)
				return
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if strings.Contains(s.text, notice) {
				t.Error("it was told to somebody who looks")
			}
		})
	}
}
