package connect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"scorel/internal/platform/fault"
	"scorel/internal/text/promptsafe"
)

const (
	// maxStderr is how much is kept of what a server writes to stderr, in bytes.
	maxStderr = 64 << 10
	// writeTime is how long a server may leave a message unread.
	writeTime = 30 * time.Second
	// stderrTime is how long what a server has written to stderr may take to be read.
	stderrTime = 20 * time.Millisecond
	// afterInterrupt and afterTerminate are how long a server has after each signal.
	afterInterrupt = 150 * time.Millisecond
	afterTerminate = 350 * time.Millisecond
)

// process is a server that is a child of the host.
type process struct {
	child child
	io    streams
	in    *input
	out   *frames
	ended chan struct{} // closed when it has ended and its stderr is read

	leaving sync.Once
	left    atomic.Bool // the host ends it, it did not end by itself

	mu     sync.Mutex
	stderr ring
	before string // what stderr had when the host began to end it
	junk   int    // lines that were no message
	first  string // the first of them
}

// start starts the process of a target, whose fuse is f. Nobody waits for it before follow.
func start(t Target, f *fault.Fuse) (*process, error) {
	child, io, err := t.start(f)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil { // it names the program itself
			err = inner
		}
		return nil, fmt.Errorf("it does not start: %w", err)
	}
	p := &process{child: child, io: io, in: &input{WriteCloser: io.in}, ended: make(chan struct{}), stderr: ring{most: maxStderr}}
	p.out = newFrames(io.out, p.noMessage)
	p.in.leave = func() { // not where it has ended its output, and so perhaps itself
		if !p.out.over.Load() {
			p.leave()
		}
	}
	p.out.shut = func() error { // the library closes it first
		if !p.in.broken.Load() {
			p.in.leave()
		}
		return io.out.Close()
	}
	return p, nil
}

// follow reads the stderr of the process and waits for its end. It returns at once.
func (p *process) follow(f *fault.Fuse) {
	go func() { // ends with the process
		defer close(p.ended)
		defer f.Catch()
		if caught := fault.Attempt(p.readStderr); caught != nil {
			f.Blow(caught) // which ends the process
		}
		_ = p.io.err.Close() // it is only read
		_ = p.child.Wait()
	}()
}

func (p *process) readStderr() {
	buf := make([]byte, 4096)
	for {
		n, err := p.io.err.Read(buf)
		p.mu.Lock()
		p.stderr.add(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// noMessage counts a line on stdout that is not a message.
func (p *process) noMessage(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.junk++; p.junk == 1 {
		p.first = cut(promptsafe.Clean(string(line[:min(len(line), 1024)])), 200)
	}
}

// leave notes that the host ends the process: what it writes to stderr from now on is not
// why. It waits for what is on its way, 20 ms at most.
func (p *process) leave() {
	p.leaving.Do(func() {
		select {
		case <-p.ended:
			return
		case <-time.After(stderrTime):
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.before = string(p.stderr.kept)
		p.left.Store(true)
	})
}

// said returns the last of what the server wrote to stderr before the host ended it, at most
// a line or two of it.
func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.before
	if !p.left.Load() {
		text = string(p.stderr.kept)
	}
	text = strings.TrimSpace(promptsafe.Clean(text))
	if i := strings.LastIndexByte(text, '\n'); i >= 0 && len(text)-i < 20 { // with the line before a short one
		i = strings.LastIndexByte(text[:i], '\n')
		text = text[i+1:]
	} else {
		text = text[i+1:]
	}
	return cut(strings.ReplaceAll(text, "\n", " "), 300)
}

// log returns all that is kept of stderr, cleaned.
func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return promptsafe.Clean(string(p.stderr.kept))
}

// nonsense says what else than messages the server wrote to stdout, "" for nothing.
func (p *process) nonsense() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.junk {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("it wrote a line to stdout that is not a message: %q", p.first)
	}
	return fmt.Sprintf("it wrote %d lines to stdout that are not messages, the first is %q", p.junk, p.first)
}

// alive reports whether the process runs.
func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// stop ends the process and what it has started: its input ends, then it is interrupted,
// terminated and killed. It takes half a second at most.
func (p *process) stop() {
	_ = p.io.in.Close() // it may have ended
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, afterInterrupt}, {syscall.SIGTERM, afterTerminate}} {
		_ = p.child.Signal(step.signal) // one that has ended takes none
		select {
		case <-p.ended:
			p.child.Kill() // what it left in its session
			return
		case <-time.After(step.wait):
		}
	}
	p.child.Kill()
	<-p.ended
}

// errHalf ends a connection on which a message was written in part.
var errHalf = errors.New("it has not read the whole of an earlier message")

// input is what is written to a server, one whole message at a time. One that does not read
// is cut off. It may be used concurrently.
type input struct {
	io.WriteCloser
	leave  func()      // is told of the end of the input, unless the server had closed it
	broken atomic.Bool // a message could not be written

	mu sync.Mutex // held while a message is written, which ends with the process
}

// Close ends the input, whereupon most servers end.
func (w *input) Close() error {
	if !w.broken.Load() {
		w.leave()
	}
	return w.WriteCloser.Close()
}

func (w *input) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken.Load() { // what follows half a message would be part of it
		return 0, errHalf
	}
	if d, ok := w.WriteCloser.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(time.Now().Add(writeTime)) // where there is none, the process ends it
	}
	n, err := w.WriteCloser.Write(b)
	if err != nil {
		w.broken.Store(true)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("it has not read a message for %v", writeTime)
	}
	return n, err
}
