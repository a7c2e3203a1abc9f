package daemon

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// maxEcho is how many lines wait for the terminal; further ones are only in the log.
	maxEcho = 256
	// echoTime is how long the end of the host waits for those.
	echoTime = time.Second
)

// echo writes the lines of the log to a terminal, in a goroutine of its own: a terminal that is
// stopped with Ctrl-S, or a pipe that nobody reads, would hold up the host. A nil echo writes
// nothing. It may be used concurrently.
type echo struct {
	lines chan []byte
	ended chan struct{} // closed when all is written

	mu     sync.Mutex // nothing is waited for with it held
	lost   int        // lines that did not fit since the last one was written
	closed bool
}

// newEcho makes the echo of a writer, nil for nil. close ends it.
func newEcho(to io.Writer) *echo {
	if to == nil {
		return nil
	}
	e := &echo{lines: make(chan []byte, maxEcho), ended: make(chan struct{})}
	go func() { // ends with close, when what waits is written
		defer close(e.ended)
		for line := range e.lines {
			_, _ = to.Write(line) // it is in the log
			if n := e.takeLost(); n > 0 {
				_, _ = fmt.Fprintf(to, "(%d lines are only in %s)\n", n, logName)
			}
		}
	}()
	return e
}

// add has a line written.
func (e *echo) add(line []byte) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	select {
	case e.lines <- line:
	default:
		e.lost++
	}
}

func (e *echo) takeLost() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.lost
	if len(e.lines) > 0 {
		return 0 // those come first
	}
	e.lost = 0
	return n
}

// close waits a moment for what is not written yet.
func (e *echo) close() {
	if e == nil {
		return
	}
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.lines)
	}
	e.mu.Unlock()
	late := time.NewTimer(echoTime)
	defer late.Stop()
	select {
	case <-e.ended:
	case <-late.C:
	}
}
