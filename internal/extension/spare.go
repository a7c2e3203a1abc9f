package extension

import (
	"context"
	"os"
	"slices"
	"sync"

	"scorel/internal/extension/rpc"
	"scorel/internal/platform/sandbox"
)

// Spare is a process for JavaScript extensions that no session has yet. It is started while
// there is other work to do, and compiles what is Scorel's own; nothing of an extension is in
// it, and nothing runs that could leave its group. One session takes it, or Close ends it.
type Spare struct {
	dir string
	env []string

	mu   sync.Mutex
	proc *sandbox.HelperProcess // nil once it was taken or has been ended
	page *rpc.Page
}

// StartSpare starts a process that runs in a folder with an environment, which is scrubbed.
// The error is why it cannot be started.
func StartSpare(dir string, env []string) (*Spare, error) {
	var b bounds
	b.fill()
	proc, page, err := startJavaScript(sandbox.Helper{Dir: dir, Env: env, Args: []string{rpc.ChildName}, AddressSpace: b.address})
	if err != nil {
		return nil, err
	}
	return &Spare{dir: dir, env: env, proc: proc, page: page}, nil
}

// Close ends the process, unless a session has it.
func (s *Spare) Close() {
	if s == nil {
		return
	}
	proc, page := s.let()
	if proc == nil {
		return
	}
	proc.Kill()
	_ = proc.Stdin.Close()
	_ = proc.Wait()
	_, _ = proc.Stdout.Close(), proc.Stderr.Close()
	page.Close()
}

// let returns the process, once.
func (s *Spare) let() (*sandbox.HelperProcess, *rpc.Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	proc := s.proc
	s.proc = nil
	return proc, s.page
}

// take returns the process if it is the one that h describes, and records it as h says. A
// process of another kind is ended.
func (s *Spare) take(h sandbox.Helper) (*sandbox.HelperProcess, *rpc.Page) {
	if s == nil {
		return nil, nil
	}
	if s.dir != h.Dir || !slices.Equal(s.env, h.Env) {
		s.Close()
		return nil, nil
	}
	proc, page := s.let()
	if proc == nil {
		return nil, nil
	}
	if err := proc.RecordIn(h.Record); err != nil { // it has ended, or another one cannot be recorded either
		(&Spare{proc: proc, page: page}).Close()
		return nil, nil
	}
	return proc, page
}

// startJavaScript starts a process for JavaScript extensions, with its page.
func startJavaScript(h sandbox.Helper) (*sandbox.HelperProcess, *rpc.Page, error) {
	page, file, err := rpc.NewPage()
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	h.Args, h.Extra = append(slices.Clone(h.Args), "3"), []*os.File{file}
	// It outlives the request that needed it first.
	proc, err := sandbox.StartHelper(context.Background(), h)
	if err != nil {
		page.Close()
		return nil, nil, err
	}
	return proc, page, nil
}
