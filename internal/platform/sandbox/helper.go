package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Helper is a process that works for this one over pipes: the child in which
// extensions run, an extension that is a program, and what extensions start.
type Helper struct {
	Path string   // absolute, or a name to look up in PATH; "": the running binary
	Args []string // without argv[0]
	Env  []string // the whole environment, already scrubbed (see Environ)
	Dir  string
	// Record is the folder in which its group is recorded, see [Config.RunDir]; ""
	// for none.
	Record string
	// AddressSpace bounds what it and its children may map, in bytes; 0: no bound. It
	// holds on Linux.
	AddressSpace uint64
	// Inside leaves it in the session of this process: who kills that session ends
	// it too. It has a group of its own all the same.
	Inside bool
	// Extra are open in the helper as descriptors 3, 4 and so on, at most 6. The
	// caller keeps and closes them.
	Extra []*os.File
}

// HelperProcess is a helper that was started. Its output ends with it and with what
// it has started, at the latest 2 s after its own end. Who started it reads both
// streams to their end, and closes Stdin when there is nothing more to say.
type HelperProcess struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser
	Stderr io.ReadCloser

	cmd    *exec.Cmd
	alive  *os.File // its guard ends it when this is closed
	inside bool
	record string
	exit   error
	done   chan struct{} // exit is set

	faults faults // a panic of one of its goroutines: Wait panics

	mu     sync.Mutex // held only around signals and flags
	reaped bool       // the pid is no longer ours
}

// StartHelper starts a helper, unconfined and in a session of its own, so without a
// controlling terminal. Its group is recorded durably before it does anything. When
// ctx ends it is killed with all of its session. When this process dies it has 2 s to
// end, and is killed with its group; what has left the group waits for [Reap].
func StartHelper(ctx context.Context, h Helper) (*HelperProcess, error) {
	path, name := h.Path, h.Path
	var err error
	if path == "" {
		path, name = cmp.Or(program(), self()), "this program"
	} else {
		path, err = lookPath(path, h.Dir, nil)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && len(h.Extra) > maxExtra {
		err = fmt.Errorf("%d extra descriptors, at most %d", len(h.Extra), maxExtra)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &HelperProcess{inside: h.Inside, done: make(chan struct{})}
	if err := p.start(ctx, h, path); err != nil {
		for _, c := range []io.Closer{p.Stdin, p.Stdout, p.Stderr} {
			if c != nil {
				c.Close()
			}
		}
		if p.alive != nil {
			p.alive.Close()
		}
		return nil, fmt.Errorf("start %s: %w", name, advise(err, false))
	}
	stop := context.AfterFunc(ctx, func() {
		defer p.faults.catch(func() {})
		p.Kill()
	})
	go p.supervise(stop) // ends when the helper has ended
	return p, nil
}

// start starts the gate, and lets it become the helper when that is recorded.
func (p *HelperProcess) start(ctx context.Context, h Helper, path string) error {
	attr := &syscall.SysProcAttr{Setsid: !h.Inside, Setpgid: h.Inside}
	l := &launch{path: path, args: h.Args, env: h.Env, attr: attr, guarded: true}
	held, err := l.hold()
	if err != nil {
		return err
	}
	defer held.theirs.Close()
	p.alive = held.ours
	p.cmd = held.command(3 + len(h.Extra))
	p.cmd.Dir, p.cmd.Env, p.cmd.SysProcAttr = h.Dir, append([]string{}, h.Env...), attr
	p.cmd.ExtraFiles = append(append([]*os.File{}, h.Extra...), held.theirs)

	in, inOurs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	p.Stdin = inOurs
	outOurs, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	p.Stdout = outOurs
	errOurs, errs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer errs.Close()
	p.Stderr = errOurs
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, errs
	if err := p.cmd.Start(); err != nil {
		return err
	}
	pid := p.cmd.Process.Pid
	if h.AddressSpace > 0 {
		err = limitAddressSpace(pid, h.AddressSpace)
	}
	if err == nil {
		p.record, err = writeRecord(h.Record, pid, 0, "")
	}
	if err == nil {
		err = held.release(ctx, pid)
	}
	if err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.forget()
	}
	return err
}

// supervise follows the helper to its end. It is reaped last: as long as it is a
// zombie its pid cannot name another group.
func (p *HelperProcess) supervise(stop func() bool) {
	defer close(p.done)
	defer p.faults.catch(p.Kill)
	awaitExit(p.cmd.Process.Pid)
	stop()
	p.Kill() // what it has left running, and its guard
	p.awaitDeath()
	p.alive.Close()
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	p.exit = p.cmd.Wait()
	p.forget()
	for _, r := range []io.ReadCloser{p.Stdout, p.Stderr} {
		if f, ok := r.(*os.File); ok { // who has left the session may hold the pipe
			_ = f.SetReadDeadline(time.Now().Add(pipeGrace))
		}
	}
}

// deathTime bounds the wait for what was killed: a process that is being killed lives on
// until the kernel gets to it.
const deathTime = time.Second

// awaitDeath returns when nothing runs any more of what was killed.
func (p *HelperProcess) awaitDeath() {
	if p.inside {
		return // its namespace ends with it
	}
	for late := time.Now().Add(deathTime); len(members(p.PID())) > 0 && time.Now().Before(late); {
		time.Sleep(time.Millisecond)
	}
}

func (p *HelperProcess) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.record != "" {
		_ = os.Remove(p.record)
	}
}

// RecordIn records the group of a helper that was started without a record, durably; "" is
// nowhere. Nothing that leaves the group may have been started in it before. It fails with
// [os.ErrProcessDone] when the helper has ended.
func (p *HelperProcess) RecordIn(dir string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return os.ErrProcessDone
	}
	name, err := writeRecord(dir, p.PID(), 0, "")
	if err == nil {
		p.record = name
	}
	return err
}

// PID returns the process id of the helper.
func (p *HelperProcess) PID() int { return p.cmd.Process.Pid }

// Kill kills the helper and what is in its session; of one that is Inside, its group.
func (p *HelperProcess) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.reaped:
	case p.inside:
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	default:
		killSession(p.PID())
	}
}

// Signal sends a signal to the group of the helper, if it has not ended.
func (p *HelperProcess) Signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return os.ErrProcessDone
	}
	return syscall.Kill(-p.PID(), s)
}

// Wait returns when the helper has ended and what it left in its session is killed;
// the error is that of [exec.Cmd.Wait]. It may be called more than once.
func (p *HelperProcess) Wait() error {
	<-p.done
	p.faults.meet()
	return p.exit
}

// Exit is Wait in the terms of [Child.Wait].
func (p *HelperProcess) Exit() Exit {
	<-p.done
	return exitOf(p.cmd.ProcessState, p.exit)
}

// Memory returns what the helper itself holds in RAM, in bytes, 0 when it has ended or
// the system does not say.
func (p *HelperProcess) Memory() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return 0
	}
	return residentMemory(p.PID())
}
