package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	termGrace = 5 * time.Second // between TERM and KILL
	pipeGrace = 2 * time.Second // for who holds the pipes beyond the child's end
	maxExtra  = 6               // a POSIX shell redirects single-digit descriptors only
)

// Config returns how children are started.
type Config struct {
	// RunDir is where the process groups of running children are recorded, one
	// small file each; it is made when missing. Without it nothing is recorded.
	RunDir string
	// Profile confines the children; nil leaves them all that the host can do.
	// What cannot be confined so does not start.
	Profile *Profile
}

// New returns the spawner for the host's children.
func New(cfg Config) Spawner { return &spawner{cfg} }

type spawner struct{ cfg Config }

// launch is how a command is started. With a plan it is the stage that runs it,
// else the gate.
type launch struct {
	path string
	args []string
	env  []string
	attr *syscall.SysProcAttr
	plan []byte
	mark string // is in the mounts of a confined command
	// guarded ends it when the host dies. Our end of the gate is open as long as it runs.
	guarded bool
}

// launch returns how to start a command whose program is at path.
func (cfg Config) launch(c Cmd, path string) (*launch, error) {
	l := &launch{path: path, args: c.Args, env: c.Env, attr: &syscall.SysProcAttr{}}
	if cfg.Profile != nil {
		var err error
		if l, err = cfg.Profile.confine(c, path); err != nil {
			return nil, err
		}
	}
	l.attr.Setsid = true
	if l.env == nil {
		l.env = []string{}
	}
	return l, nil
}

// Start implements [Spawner].
func (s *spawner) Start(ctx context.Context, c Cmd) (Child, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	if len(c.Extra) > maxExtra {
		return nil, fmt.Errorf("start %s: %d extra descriptors, at most %d", c.Path, len(c.Extra), maxExtra)
	}
	var roots []string
	if s.cfg.Profile != nil {
		roots = s.cfg.Profile.Roots
	}
	path, err := lookPath(c.Path, c.Dir, roots)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	l, err := s.cfg.launch(c, path)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	p := &process{ctx: ctx, done: make(chan struct{}), exited: make(chan struct{})}
	if err := p.start(c, l, s.cfg.RunDir); err != nil {
		p.closeParent()
		return nil, fmt.Errorf("start %s: %w", c.Path, advise(err, s.cfg.Profile != nil))
	}
	go p.supervise() // ends when the child has ended and its pipes are closed
	return p, nil
}

// advise adds what to do where the system has no room for a child.
func advise(err error, confined bool) error {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: end other commands, or start Scorel with a higher limit of open files (ulimit -n)", err)
	case errors.Is(err, syscall.EAGAIN):
		return fmt.Errorf("%w: there are too many processes; end some, or raise the limit (ulimit -u)", err)
	case errors.Is(err, syscall.ENOSPC) && confined:
		return fmt.Errorf("%w: the disk is full, or there are too many user namespaces (sysctl user.max_user_namespaces)", err)
	}
	return err
}

// lookPath finds a program. One that is named without a slash is not taken from a
// relative entry of PATH, nor from the folders where commands write: they could
// put another bash there, which does not do what was judged.
func lookPath(name, dir string, except []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	for _, entry := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(entry) {
			continue
		}
		path, err := exec.LookPath(filepath.Join(entry, name))
		if err == nil && !leadsInto(path, except) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not on PATH, leaving out folders in which commands write; install it, or correct PATH", name)
}

// leadsInto reports whether a program lies in one of the folders, or is a link to
// one that does.
func leadsInto(path string, dirs []string) bool {
	for _, dir := range dirs {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil || dir == "/" { // which is refused as a workspace, in its own words
			continue
		}
		for _, at := range []string{filepath.Dir(path), path} {
			if real, err := filepath.EvalSymlinks(at); err != nil || within(real, dir) {
				return true
			}
		}
	}
	return false
}

// process is a started child. mu is held only around flags and signals.
type process struct {
	ctx    context.Context
	cmd    *exec.Cmd
	record string // file that names the group, "" without one
	copies sync.WaitGroup
	reads  []*os.File    // our ends of the output pipes
	stdin  *os.File      // our end of the input pipe, or nil
	exited chan struct{} // the leader is a zombie; its pid is still ours
	done   chan struct{} // exit is set
	exit   Exit
	ns     uint64 // the child's own user namespace, 0 without one
	faults faults // a panic of one of its goroutines: the child is killed, and Wait panics

	mu      sync.Mutex
	started bool // there is a pid
	reaped  bool // the pid is no longer ours
}

func (p *process) start(c Cmd, l *launch, runDir string) error {
	held, err := l.hold()
	if err != nil {
		return err
	}
	defer held.close()
	theirs := make([]*os.File, 0, 3)
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()

	p.cmd = held.command(3 + len(c.Extra))
	p.cmd.Dir, p.cmd.Env, p.cmd.SysProcAttr = c.Dir, l.env, l.attr
	p.cmd.ExtraFiles = append(append([]*os.File{}, c.Extra...), held.theirs)

	output := func(w io.Writer) (*os.File, error) {
		r, wr, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		p.reads, theirs = append(p.reads, r), append(theirs, wr)
		p.copies.Go(func() { // ends when all writers are closed, or when r is closed
			defer r.Close()
			defer p.faults.catch(p.fail)
			_, _ = io.Copy(w, r)
		})
		return wr, nil
	}
	if c.Stdout != nil {
		w, err := output(c.Stdout)
		if err != nil {
			return err
		}
		p.cmd.Stdout = w
	}
	switch {
	case c.Stderr == nil:
	case c.Stdout != nil && same(c.Stdout, c.Stderr):
		p.cmd.Stderr = p.cmd.Stdout
	default:
		w, err := output(c.Stderr)
		if err != nil {
			return err
		}
		p.cmd.Stderr = w
	}
	if f, ok := c.Stdin.(*os.File); ok {
		p.cmd.Stdin = f
	} else if c.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		theirs, p.stdin, p.cmd.Stdin = append(theirs, r), w, r
	}

	if err := p.cmd.Start(); err != nil {
		return err
	}
	pid := p.cmd.Process.Pid
	p.ns = namespaceOf(pid)
	p.mu.Lock()
	p.started = true
	p.mu.Unlock()
	if p.record, err = writeRecord(runDir, pid, p.ns, l.mark); err == nil {
		err = held.release(p.ctx, pid)
	}
	if err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.forget()
		return err
	}
	if p.stdin != nil {
		in := p.stdin
		go func() { // ends when the reader ends or fails, or the pipe is closed
			defer in.Close()
			defer p.faults.catch(p.fail)
			_, _ = io.Copy(in, c.Stdin)
		}()
	}
	return nil
}

// same compares writers without a panic for types that cannot be compared.
func same(a, b io.Writer) (eq bool) {
	defer func() { _ = recover() }()
	return a == b
}

func (p *process) closeParent() {
	for _, r := range p.reads {
		r.Close()
	}
	if p.stdin != nil {
		p.stdin.Close()
	}
	p.copies.Wait()
}

func (p *process) forget() {
	if p.record != "" {
		_ = os.Remove(p.record)
	}
}

// supervise follows the child to its end. The leader is reaped last: as long as
// it is a zombie its pid cannot name another group.
func (p *process) supervise() {
	defer close(p.done)
	defer p.faults.catch(p.Kill)
	pid := p.cmd.Process.Pid
	go func() { // ends with the child
		defer close(p.exited)
		defer p.faults.catch(p.Kill)
		awaitExit(pid)
	}()
	drained := make(chan struct{})
	go func() { // ends when the pipes are closed, at the latest by closeParent
		defer close(drained)
		defer p.faults.catch(p.Kill)
		p.copies.Wait()
	}()
	select {
	case <-p.exited:
	case <-p.ctx.Done():
		p.signal(syscall.SIGTERM)
		// Who shares the child's output has the same time to end well.
		grace := time.After(termGrace)
		select {
		case <-p.exited:
			select {
			case <-drained:
			case <-grace:
			}
		case <-grace:
		}
		p.Kill() // also the groups that the child has opened in its session
		<-p.exited
	}
	select {
	case <-drained:
		p.killRest()
	case <-time.After(pipeGrace):
		p.Kill()
		select { // a slow writer may still have to take what is in the pipe
		case <-drained:
		case <-time.After(pipeGrace):
		}
	}
	p.closeParent()
	<-drained

	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	err := p.cmd.Wait()
	p.forget()
	p.exit = exitOf(p.cmd.ProcessState, err)
}

// fail kills the child, whose input or output has come to an end by a panic. One that is
// still being started ends with its start.
func (p *process) fail() {
	p.mu.Lock()
	started := p.started
	p.mu.Unlock()
	if started {
		p.Kill()
	}
}

func exitOf(state *os.ProcessState, err error) Exit {
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return Exit{Code: -1, Err: err}
	}
	ws, ok := state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return Exit{Code: 128 + int(ws.Signal()), Signal: signalName(ws.Signal())}
	}
	return Exit{Code: state.ExitCode()}
}

func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.cmd.Process.Pid, sig)
	}
}

// PID implements [Child].
func (p *process) PID() int { return p.cmd.Process.Pid }

// Kill implements [Child]. Groups that the child has opened in its session end
// too, and of a confined child everything that it has started.
func (p *process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		killSession(p.cmd.Process.Pid)
		killNamespace(p.ns, "", 0)
	}
}

// killRest kills what is left of the group of a child that has ended, and of
// what a confined one has started.
func (p *process) killRest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		killNamespace(p.ns, "", p.cmd.Process.Pid)
	}
}

// Wait implements [Child].
func (p *process) Wait() Exit {
	<-p.done
	p.faults.meet()
	return p.exit
}
