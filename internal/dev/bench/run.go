package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// task is one command of the binary that is measured.
type task struct {
	name   string
	args   []string
	script string // the answers of the model; empty: no model is called
	// requests is how many requests the model must get, messages how many messages
	// the last of them must carry.
	requests, messages int
	stdout             string // must be in what is printed
	log                string // a session's file, cut back to its length after each run
}

// process is one run of the binary from start to exit.
type process struct {
	WallMS  float64 `json:"wallMs"`
	FirstMS float64 `json:"firstMs,omitempty"` // from the start until the model had the first request's header
	AfterMS float64 `json:"afterMs,omitempty"` // from the last byte of the last answer to the exit
	CPUMS   float64 `json:"cpuMs"`             // user and system
	MaxRSS  float64 `json:"maxRss"`            // of the kernel's account of the child, in bytes
}

// bench runs tasks.
type bench struct {
	world  *world
	server *server
	bin    string
	load   load
}

// load is how much a serving host is given to do.
type load struct {
	idle, used        int           // sessions on disk, and those in which a turn is run
	listeners, pieces int           // of one session's answer
	sessions          int           // that stream at once
	missed            int           // events that a client comes back for
	messages          int           // that a context handler is given
	long              int           // events of the session that the terminal UI resumes
	giant             int           // events of the session of 1 GB
	schedules         int           // that are armed
	watched           time.Duration // how long a host is watched that has nothing to do
}

// full is what the figures are about; small shows that they can be measured.
func full() load {
	return load{1000, 20, 1000, 1000, 100, 1000, 10_000, 10_000, giantEvents, 1000, time.Minute}
}
func small() load { return load{20, 2, 20, 20, 3, 20, 50, 100, 400, 20, time.Second} }

// check runs a task once with the judging server and compares what came with
// what the task says, so that nothing is measured that does not work.
func (b *bench) check(ctx context.Context, t task) error {
	if t.script != "" {
		if err := b.server.load(ctx, t.script, true); err != nil {
			return err
		}
	}
	if _, err := b.once(ctx, t); err != nil {
		return err
	}
	if t.script == "" {
		return nil
	}
	visits, err := b.server.visits(ctx)
	if err != nil {
		return err
	}
	for _, v := range visits {
		if v.Refused != "" {
			return fmt.Errorf("%s: the model's server refuses a request: %s", t.name, v.Refused)
		}
	}
	if len(visits) != t.requests || visits[len(visits)-1].Messages != t.messages {
		last := 0
		if len(visits) > 0 {
			last = visits[len(visits)-1].Messages
		}
		return fmt.Errorf("%s: %d requests came, the last with %d messages; %d and %d were expected",
			t.name, len(visits), last, t.requests, t.messages)
	}
	return nil
}

// once runs a task from start to exit.
func (b *bench) once(ctx context.Context, t task) (process, error) {
	var p process
	begin, err := b.start(ctx, t, 0)
	if err != nil {
		return p, err
	}
	at := time.Now()
	if err := begin.cmd.Start(); err != nil {
		return p, err
	}
	err = begin.cmd.Wait()
	end := time.Now()
	p.WallMS = milliseconds(end.Sub(at))
	if err := begin.finish(err); err != nil {
		return p, err
	}
	if u, ok := begin.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		p.MaxRSS = float64(u.Maxrss) * 1024
		p.CPUMS = milliseconds(time.Duration(u.Utime.Nano() + u.Stime.Nano()))
	}
	if t.script == "" {
		return p, nil
	}
	visits, err := b.server.visits(ctx)
	if err != nil {
		return p, err
	}
	if len(visits) != t.requests {
		return p, fmt.Errorf("%s: %d requests came, %d were expected", t.name, len(visits), t.requests)
	}
	p.FirstMS = float64(visits[0].Arrived-at.UnixNano()) / 1e6
	p.AfterMS = float64(end.UnixNano()-visits[len(visits)-1].Answered) / 1e6
	return p, nil
}

// remember runs a task and reads its memory while the model holds its last
// request.
func (b *bench) remember(ctx context.Context, t task) (memory, error) {
	r, err := b.start(ctx, t, t.requests)
	if err != nil {
		return memory{}, err
	}
	if err := r.cmd.Start(); err != nil {
		return memory{}, err
	}
	exited := make(chan error, 1)
	go func() { exited <- r.cmd.Wait() }() // ends with the process
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	held := make(chan error, 1)
	go func() { held <- b.server.held(ctx) }() // ends with the request, or with ctx
	var m memory
	select {
	case err := <-exited:
		return m, firstOf(r.finish(err), fmt.Errorf("%s: it ended before the model had request %d", t.name, t.requests))
	case err = <-held:
	}
	if err == nil {
		m, err = readMemory(r.cmd.Process.Pid)
	}
	if err := firstOf(err, b.server.release(ctx)); err != nil {
		_ = r.cmd.Process.Kill()
		<-exited
		return m, err
	}
	return m, r.finish(<-exited)
}

// running is a command with its output in files.
type running struct {
	task     task
	cmd      *exec.Cmd
	out, err *os.File
	length   int64 // of the session's file before
}

// start makes ready everything that does not belong to the measured time.
func (b *bench) start(ctx context.Context, t task, hold int) (*running, error) {
	if t.script != "" {
		if err := b.server.reset(ctx, hold); err != nil {
			return nil, err
		}
	}
	r := &running{task: t, cmd: exec.CommandContext(ctx, b.bin, t.args...)}
	r.cmd.Dir, r.cmd.Env = b.world.work, b.world.environ()
	if t.log != "" {
		info, err := os.Stat(t.log)
		if err != nil {
			return nil, err
		}
		r.length = info.Size()
	}
	var err error
	if r.out, err = os.Create(filepath.Join(b.world.root, "stdout")); err != nil {
		return nil, err
	}
	if r.err, err = os.Create(filepath.Join(b.world.root, "stderr")); err != nil {
		_ = r.out.Close()
		return nil, err
	}
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.err
	return r, nil
}

// finish checks what the command gave and puts its session back as it was.
func (r *running) finish(err error) error {
	out, _ := os.ReadFile(r.out.Name())
	text, _ := os.ReadFile(r.err.Name())
	_ = r.out.Close()
	_ = r.err.Close()
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w: %s", r.task.name, err, bytes.TrimSpace(text))
	case !bytes.Contains(out, []byte(r.task.stdout)):
		return fmt.Errorf("%s: %q does not stand in what it printed: %.200q", r.task.name, r.task.stdout, out)
	}
	if r.task.log == "" {
		return nil
	}
	return cutBack(r.task.log, r.length)
}

// cutBack returns a file its old length and waits until that is on the disk, so
// that the next run does not wait for it.
func cutBack(name string, length int64) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return firstOf(f.Truncate(length), f.Sync(), f.Close())
}
