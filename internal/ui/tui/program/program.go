package program

import (
	"context"
	"io"
	"strings"
	"sync"

	"scorel/internal/platform/sandbox"
)

// Environ is an environment as NAME=VALUE.
type Environ []string

// Get returns the value of a variable, "" where it is not set.
func (e Environ) Get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// Foreground is a program of the user that has the terminal while it runs. It is a
// tea.ExecCommand.
type Foreground struct{ sandbox.Foreground }

// Run runs the program to its end.
func (f *Foreground) Run() error { return f.Foreground.Run() }

// SetStdin, SetStdout and SetStderr do nothing: the program gets the terminal.
func (*Foreground) SetStdin(io.Reader)  {}
func (*Foreground) SetStdout(io.Writer) {}
func (*Foreground) SetStderr(io.Writer) {}

// Output runs a program of the user, without the keys of models in its environment, and
// returns at most limit bytes of what it prints.
func Output(ctx context.Context, h sandbox.Helper, input []byte, limit int64) ([]byte, error) {
	h.Env = sandbox.Environ(h.Env, nil)
	p, err := sandbox.StartHelper(ctx, h)
	if err != nil {
		return nil, err
	}
	var streams sync.WaitGroup
	streams.Go(func() { // ends with the program
		_, _ = p.Stdin.Write(input) // who does not read it need not
		_ = p.Stdin.Close()
	})
	defer p.Stdout.Close()
	streams.Go(func() { // ends with the program
		defer p.Stderr.Close()
		_, _ = io.Copy(io.Discard, p.Stderr)
	})
	out, err := io.ReadAll(io.LimitReader(p.Stdout, limit))
	_, _ = io.Copy(io.Discard, p.Stdout) // what is over the limit
	streams.Wait()
	if werr := p.Wait(); err == nil {
		err = werr
	}
	return out, err
}
