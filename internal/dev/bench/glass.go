package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"scorel/internal/ui/tui/tuitest"
)

// glass is the binary's terminal UI as a terminal sees it: bytes that come, and when.
type glass struct {
	pty   *tuitest.PTY
	begun time.Time
	ended chan struct{}

	mu    sync.Mutex // guards what follows
	tail  []byte     // what came since it was last looked for something
	total int64
	more  chan struct{} // holds a value when something has come
}

// maxTail bounds what is kept of what came, in bytes.
const maxTail = 1 << 20

// timeout is how long something may take until it counts as never coming.
const timeout = 30 * time.Second

// open starts the binary on a terminal of 100 by 30.
func (s *serving) open(args ...string) (*glass, error) {
	cmd := exec.Command(s.b.bin, args...)
	cmd.Dir, cmd.Env = s.world.work, append(s.world.environ(), "TERM=xterm-256color", "COLORTERM=truecolor")
	g := &glass{begun: time.Now(), ended: make(chan struct{}), more: make(chan struct{}, 1)}
	pty, err := tuitest.StartPTY(cmd, 100, 30)
	if err != nil {
		return nil, err
	}
	g.pty = pty
	go g.read() // ends with the program
	return g, nil
}

func (g *glass) read() {
	defer close(g.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := g.pty.Read(buf)
		g.mu.Lock()
		g.total += int64(n)
		g.tail = append(g.tail, buf[:n]...)
		if len(g.tail) > maxTail {
			g.tail = append(g.tail[:0], g.tail[len(g.tail)-maxTail:]...)
		}
		g.mu.Unlock()
		select {
		case g.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// await waits until a text has come after what was awaited before, and returns when. The
// text is one that is written in one piece.
func (g *glass) await(ctx context.Context, text string) (time.Time, error) {
	late := time.After(timeout)
	for {
		g.mu.Lock()
		at := bytes.Index(g.tail, []byte(text))
		now := time.Now()
		if at >= 0 {
			g.tail = append(g.tail[:0], g.tail[at+len(text):]...)
		}
		tail := string(g.tail[max(0, len(g.tail)-400):])
		g.mu.Unlock()
		if at >= 0 {
			return now, nil
		}
		select {
		case <-g.more:
		case <-g.ended:
			return now, fmt.Errorf("the terminal UI has ended before it showed %q; the end is %q", text, tail)
		case <-late:
			return now, fmt.Errorf("%q is not shown after %v; the end is %q", text, timeout, tail)
		case <-ctx.Done():
			return now, ctx.Err()
		}
	}
}

// press types a text and returns how long it took until another was shown, in milliseconds.
func (g *glass) press(ctx context.Context, text, shown string) (float64, error) {
	begun := time.Now()
	if _, err := g.pty.WriteString(text); err != nil {
		return 0, err
	}
	at, err := g.await(ctx, shown)
	return milliseconds(at.Sub(begun)), err
}

// written returns how many bytes have come.
func (g *glass) written() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total
}

func (g *glass) pid() int { return g.pty.Cmd.Process.Pid }

// close ends the program in order, so that it does not come back as after a crash.
func (g *glass) close() {
	_ = g.pty.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-g.ended:
	case <-time.After(timeout):
	}
	_ = g.pty.Close()
	<-g.ended
}
