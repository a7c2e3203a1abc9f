package cli

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"scorel/client"
	"scorel/internal/dev/harness"
	"scorel/internal/ui/line/linetest"
	"scorel/protocol"
)

// tty is a program on a pseudo-terminal.
type tty struct {
	s               *station
	cmd             *exec.Cmd
	person, program *os.File
	read            chan struct{} // closed when all is read

	mu sync.Mutex // guards g
	g  *linetest.Glass
}

func (y *tty) Write(p []byte) (int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.g.Write(p)
}

func (y *tty) screen() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return strings.Join(y.g.Shown(), "\n")
}

// atTerminal starts a program on a terminal of so many columns.
func (s *station) atTerminal(columns int, args ...string) *tty {
	s.t.Helper()
	person, program := terminal(s.t)
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		s.t.Fatal(err)
	}
	cmd := s.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	y := &tty{s: s, cmd: cmd, person: person, program: program, read: make(chan struct{}), g: linetest.NewGlass(s.t, columns)}
	go func() { // ends with the terminal
		defer close(y.read)
		var pending []byte
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			pending = append(pending, buf[:n]...)
			if whole := linetest.Whole(pending); whole > 0 {
				_, _ = y.Write(pending[:whole])
				pending = pending[whole:]
			}
			if err != nil {
				return
			}
		}
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it has ended, or ends now
		_ = program.Close()
		<-y.read
	})
	return y
}

// shows waits until all texts stand on the screen.
func (y *tty) shows(parts ...string) {
	y.s.t.Helper()
	for _, p := range parts {
		y.s.awaits(func() bool { return strings.Contains(y.screen(), p) }, func() string { return p + "\non:\n" + y.screen() })
	}
}

func (y *tty) types(text string) {
	y.s.t.Helper()
	if _, err := y.person.WriteString(text); err != nil {
		y.s.t.Fatal(err)
	}
}

// ends waits for the end of the program, and fails when it was not in order.
func (y *tty) ends() {
	y.s.t.Helper()
	if err := y.cmd.Wait(); err != nil {
		y.s.t.Errorf("the end: %v\n%s", err, y.screen())
	}
}

func TestAttachOnATerminalShowsTheInputBelowWhatStreams(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"tell"},"do":[{"thinking":"hmm"},{"text":"The beginning of a story"},{"hang":true}]}`, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach")
	y := s.atTerminal(100, "attach", "--plain", id)
	y.shows("── session " + id + " (begin); /help lists the commands\n> begin\nAn answer.\n>")
	y.types("tell me\r")
	y.shows("> tell me\nhmm\nThe beginning of a story\n…")
	y.types("half a li")
	y.shows("The beginning of a story\n… half a li")
	y.types("ne\x1b[D\x1b[D\x7f\x7f\x7f\x7f\x7f\x7f")
	y.shows("\n… halne")
	y.types("\x03") // drops what is typed
	s.until("the line is gone", func() bool { return strings.HasSuffix(y.screen(), "The beginning of a story\n…") })
	y.types("\x03")
	y.shows("cancelling; Ctrl-C again detaches", "── ended: cancelled", "\n>")
	y.types("/rewind 1\r")
	y.shows("── went back to evt_", "\n> tell me") // its text is there to be changed
	y.types("\x15\x04")
	y.ends()
	y.shows("scorel: detached. Resume with: scorel attach " + id[:20])
}

func TestWhoLeavesWithoutAHostIsToldWhatWasNotSent(t *testing.T) {
	s := newStation(t, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach")
	y := s.atTerminal(100, "attach", "--plain", id)
	y.shows("An answer.\n>")
	s.endHost()
	y.shows("no host runs here")
	y.types("one more thing\r")
	y.types("\x04")
	y.shows("what you typed is not sent yet; Ctrl-C twice quits without it")
	y.types("\x03\x03")
	y.ends()
	y.shows("scorel: the host has not confirmed: one more thing", "scorel: detached")
}

func TestAnAnswerIsOnlyForTheQuestionThatItWasTypedFor(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"both"},"do":[{"call":"Bash","id":"c1","input":{"command":"touch one"}},{"call":"Bash","id":"c2","input":{"command":"touch two"}}]}`,
		`{"again":true,"if":{"user":"ask me"},"do":[{"call":"AskUser","id":"c3","input":{"questions":[{"question":"Which colour?","options":[{"label":"red"},{"label":"blue"}]}]}}]}`, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach")
	y, other := s.atTerminal(100, "attach", "--plain", id), s.start("attach", id)
	y.shows("An answer.\n>")
	other.sees("An answer.")
	y.types("both\r")
	y.shows("? Bash touch one", "text after it tells the model why)\n?")
	y.types("1")
	y.shows("\n? 1")
	other.sees("? Bash touch one")
	other.types("0")
	y.shows("denied elsewhere", "? Bash touch two", "text after it tells the model why)\n? 1")
	y.types("\r")
	y.shows("this question came while you typed; Enter answers it\n? 1")
	if s.exists("project/two") {
		t.Fatal("what was typed for one question has answered another")
	}
	y.types("\r")
	y.shows("── done")
	if !s.exists("project/two") || s.exists("project/one") {
		t.Error("the second question was allowed, and the first was not")
	}

	// One that came too late is not a message.
	y.types("ask me\r")
	y.shows("? Which colour?", "leaves it open\n?")
	y.types("2")
	y.shows("\n? 2")
	other.sees("? Which colour?")
	other.types("1")
	y.shows("An answer.\n── done", "\n> 2")
	y.types("\r")
	y.shows("the question was answered elsewhere; Enter sends this as a message\n> 2")
	y.types("\x15\x04")
	y.ends()
	if log := s.read(".scorel/sessions/" + id + ".jsonl"); strings.Contains(log, `"text":"2"`) {
		t.Errorf("an answer was sent as a message:\n%s", log)
	}
}

func TestAPhoneIsLetInFromLineMode(t *testing.T) {
	s := newStation(t, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach")
	y := s.atTerminal(160, "attach", "--plain", id)
	y.shows("An answer.\n>")
	y.types("/rc yes\r")
	y.shows("nobody waits; /remote-control shows a code")
	y.types("/rc\r")
	y.shows("▀▀▀▀▀▀▀", "scan the code with the phone within a minute")
	text := strings.NewReplacer("\n", "", " ", "").Replace(y.screen())
	address := regexp.MustCompile(`(https://[0-9.]+:\d+)/#pair=([0-9a-v]{42})&session=` + id).FindStringSubmatch(text)
	pin := regexp.MustCompile(`(?:[0-9A-F]{2}:){31}[0-9A-F]{2}`).FindString(text)
	if address == nil || pin == "" {
		t.Fatalf("no address, or no fingerprint:\n%s", y.screen())
	}
	by := &client.WebSocket{URL: address[1], Fingerprint: pin, Key: clientKey(t), Code: address[2], ClientName: "Safari on iPhone", Interactive: true}
	conn, connected, err := by.Dial(t.Context())
	if err != nil || connected.Grant != protocol.GrantPending {
		t.Fatalf("%+v %v", connected, err)
	}
	defer func() { _ = conn.Close() }()
	y.shows("Safari on iPhone at ", "wants to come in")
	y.types("/rc perhaps\r")
	y.shows("it is /remote-control, /remote-control yes")
	y.types("/rc yes\r")
	y.shows("Safari on iPhone is in")
	ctx, stop := context.WithTimeout(t.Context(), harness.Timeout)
	defer stop()
	if f, err := conn.Recv(ctx); err != nil || f.FrameName() != "grant_changed" {
		t.Fatalf("%+v %v", f, err)
	}
	y.types("/rc off\r")
	y.shows("Safari on iPhone was sent away")
	for ctx.Err() == nil {
		if _, err := conn.Recv(ctx); err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		t.Error("the phone is still connected")
	}
	y.types("/rc off\r")
	y.shows("no code is valid, and nobody has used one")
	y.types("\x04")
	y.ends()
	piped := s.start("attach", id)
	piped.sees("An answer.")
	piped.types("/rc")
	piped.sees("it needs a terminal")
}
