package cli

import (
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// tty is a program on a pseudo-terminal.
type tty struct {
	mu sync.Mutex // guards g
	g  *glass
}

func (y *tty) Write(p []byte) (int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.g.Write(p)
}

func (y *tty) screen() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return strings.Join(y.g.shown(), "\n")
}

func TestAttachOnATerminalShowsTheInputBelowWhatStreams(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"tell"},"do":[{"thinking":"hmm"},{"text":"The beginning of a story"},{"hang":true}]}`, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach")
	person, program := terminal(t)
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	cmd := s.command("attach", id)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	y := &tty{g: &glass{t: t, columns: 100}}
	read := make(chan struct{})
	go func() { // ends when the program has ended
		defer close(read)
		var pending []byte
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			pending = append(pending, buf[:n]...)
			if whole := upToWhole(pending); whole > 0 {
				_, _ = y.Write(pending[:whole])
				pending = pending[whole:]
			}
			if err != nil {
				return
			}
		}
	}()
	shows := func(parts ...string) {
		t.Helper()
		s.until(strings.Join(parts, " | "), func() bool {
			screen := y.screen()
			for _, p := range parts {
				if !strings.Contains(screen, p) {
					return false
				}
			}
			return true
		})
	}
	types := func(text string) {
		t.Helper()
		if _, err := person.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	shows("> begin\nAn answer.\n>")
	types("tell me\r")
	shows("> tell me\nhmm\nThe beginning of a story\n…")
	types("half a li")
	shows("The beginning of a story\n… half a li")
	types("ne\x1b[D\x1b[D\x7f\x7f\x7f\x7f\x7f\x7f")
	shows("\n… halne")
	types("\x03") // drops what is typed
	s.until("the line is gone", func() bool { return strings.HasSuffix(y.screen(), "The beginning of a story\n…") })
	types("\x03")
	shows("cancelling; Ctrl-C again detaches", "── ended: cancelled", "\n>")
	types("/rewind 1\r")
	shows("── went back to evt_", "\n> tell me") // its text is there to be changed
	types("\x15\x04")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the end: %v\n%s", err, y.screen())
	}
	<-read
	if screen := y.screen(); !strings.Contains(screen, "scorel: detached; scorel attach "+id[:20]) {
		t.Errorf("at the end:\n%s", screen)
	}
}

// upToWhole gives how many bytes end neither in a character nor in a sequence.
func upToWhole(b []byte) int {
	if at := strings.LastIndexByte(string(b), 0x1b); at >= 0 && !strings.ContainsFunc(string(b[at+1:]), func(r rune) bool { return r >= '@' && r <= '~' && r != '[' }) {
		b = b[:at]
	}
	for n := len(b); n > 0 && n > len(b)-4; n-- {
		if b[n-1] < 0x80 {
			return n
		}
		if b[n-1] >= 0xc0 { // a character begins here: is it whole?
			if strings.HasSuffix(strings.ToValidUTF8(string(b), "\x00"), "\x00") {
				return n - 1
			}
			return len(b)
		}
	}
	return len(b)
}
