package tuitest

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// Output is a program on a pseudo-terminal, with all that it has written.
type Output struct {
	*PTY
	t    testing.TB
	mu   sync.Mutex
	cond *sync.Cond
	text string
	end  bool
}

// ReadAll reads all that a program writes until it ends. The program ends with the test.
func ReadAll(t testing.TB, p *PTY) *Output {
	o := &Output{PTY: p, t: t}
	o.cond = sync.NewCond(&o.mu)
	go o.read() // ends with the program
	t.Cleanup(func() { _ = p.Close() })
	return o
}

func (o *Output) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := o.PTY.Read(buf)
		o.mu.Lock()
		o.text += string(buf[:n])
		o.end = err != nil
		o.cond.Broadcast()
		o.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// WaitFor waits until something was written, and returns all that was; "" waits for the
// end.
func (o *Output) WaitFor(text string) string {
	o.t.Helper()
	late := false
	defer time.AfterFunc(Timeout, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		late = true
		o.cond.Broadcast()
	}).Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for text == "" && !o.end || !strings.Contains(o.text, text) {
		if late || o.end {
			o.t.Fatalf("%q was not written; the end is %q", text, o.text[max(0, len(o.text)-2000):])
		}
		o.cond.Wait()
	}
	return o.text
}

// Text returns all that was written.
func (o *Output) Text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text
}

// Type types a text.
func (o *Output) Type(text string) {
	o.t.Helper()
	if _, err := o.PTY.WriteString(text); err != nil {
		o.t.Fatal(err)
	}
}
