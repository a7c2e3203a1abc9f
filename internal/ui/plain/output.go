package plain

import (
	"io"
	"sync"
)

// Output is a stdout that remembers why it could not be written, for commands that print
// many lines and look at no error. It may be used by any number of goroutines at once.
type Output struct {
	w io.Writer

	mu  sync.Mutex
	err error // the first
}

// NewOutput returns an output that writes to w.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Write implements [io.Writer].
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// Err returns why something could not be written, nil when all of it was.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
