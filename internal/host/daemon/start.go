package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"scorel/internal/platform/disk"
)

const (
	startPatience = 30 * time.Second      // for a host to take clients
	startInterval = 20 * time.Millisecond // between looks at one that somebody else starts
	maxReady      = 64 << 10              // bytes that a host says when it is ready
	tailLines     = 5                     // of the log, when it says nothing
	ReadyFD       = 3                     // the descriptor on which a host in the background says so
)

// Start starts a host in the background, which lives on when the caller ends: in a
// session of its own, in the folder /, with the caller's environment (keys of models
// are there) and its output in host.log. args are those of the program. It returns
// when the host takes clients, or with the reason why it does not.
//
// This is the one place outside of internal/platform/sandbox where a process is started: the
// host itself is not a tool of an agent, and what confines, records and ends those must
// not reach it.
func Start(ctx context.Context, dir string, args []string) (Info, error) {
	ctx, stop := context.WithTimeout(ctx, startPatience)
	defer stop()
	if err := disk.OS().MkdirAll(dir); err != nil {
		return Info{}, unusable(dir, err)
	}
	log, err := openLogFile(Log(dir), boundOf(dir))
	if err != nil {
		return Info{}, unusable(dir, err)
	}
	defer func() { _ = log.Close() }()
	program, err := os.Executable()
	if err != nil {
		return Info{}, fmt.Errorf("start the host: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return Info{}, fmt.Errorf("start the host: %w", err)
	}
	defer func() { _ = r.Close() }()
	cmd := exec.Command(program, args...)
	cmd.Args[0] = "scorel"
	cmd.Dir, cmd.Env = "/", os.Environ()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{w} // ReadyFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return Info{}, fmt.Errorf("start the host: %w", err)
	}
	end := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // then the pipe ends
	said, err := io.ReadAll(io.LimitReader(r, maxReady))
	end()
	if ctx.Err() != nil {
		_ = cmd.Wait()
		return Info{}, fmt.Errorf("the host was not ready within %v and was ended; %s says more: %w", startPatience, Log(dir), ctx.Err())
	}
	var info Info
	if err == nil && json.Unmarshal(said, &info) == nil && info.Ready() {
		return info, cmd.Process.Release()
	}
	_ = cmd.Wait() // it has nothing more to say
	if text := strings.TrimSpace(string(said)); text != "" {
		err := errors.New(text)
		if cmd.ProcessState.ExitCode() == configExit {
			err = ConfigError{err}
		}
		return Info{}, err
	}
	var tail []byte
	if info, err := log.Stat(); err == nil {
		tail, _ = Tail(Log(dir), tailLines, info.Size())
	}
	return Info{}, fmt.Errorf("the host ended before it was ready; the end of %s is:\n%s", Log(dir), bytes.TrimSpace(tail))
}

// process is a host that a supervisor has started.
type process struct{ cmd *exec.Cmd }

// startSupervised starts a host with the supervisor's folder, environment and output, in a
// group of its own: a Ctrl-C reaches it by the supervisor alone. ready, which may be nil, is
// its descriptor [ReadyFD].
func startSupervised(program string, args, environ []string, ready *os.File) (*process, error) {
	cmd := exec.Command(program, args...)
	cmd.Args[0] = "scorel"
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, os.Stdout, os.Stderr
	if ready != nil {
		cmd.ExtraFiles = []*os.File{ready}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &process{cmd}, cmd.Start()
}

// wait returns how it ended, in words, and its exit code; -1 for one that a signal ended.
func (p *process) wait() (how string, code int) {
	_ = p.cmd.Wait() // the state says it
	return p.cmd.ProcessState.String(), p.cmd.ProcessState.ExitCode()
}

// signal sends it a signal; one that has ended gets none.
func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Ensure returns the host of a device, starting one with args when none runs. Several
// callers may do so at once: one host comes out.
func Ensure(ctx context.Context, dir string, args []string) (Info, error) {
	ctx, stop := context.WithTimeout(ctx, startPatience)
	defer stop()
	tick := time.NewTicker(startInterval)
	defer tick.Stop()
	for {
		info, live, err := Find(dir)
		switch {
		case err != nil:
			return Info{}, err
		case live && info.Ready():
			return info, nil
		case !live:
			info, err := Start(ctx, dir, args)
			if err == nil {
				return info, nil
			}
			if _, live, ferr := Find(dir); ferr != nil || !live {
				return Info{}, err
			}
			continue // somebody else was faster
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Info{}, fmt.Errorf("%v holds the lock but takes no clients; look at %s, or end it with scorel host stop --now", info, Log(dir))
		}
	}
}

// AwaitEnd waits until no host holds the lock, or the context ends.
func AwaitEnd(ctx context.Context, dir string) error {
	tick := time.NewTicker(startInterval)
	defer tick.Stop()
	for {
		if _, live, err := Find(dir); err != nil || !live {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Ready tells who started this process in the background that it takes clients, or,
// with an error, why it does not. It does nothing without the descriptor.
type Ready struct{ f *os.File }

// OpenReady takes the descriptor; children do not get it.
func OpenReady(fd int) *Ready {
	if fd <= 0 {
		return &Ready{}
	}
	syscall.CloseOnExec(fd)
	return &Ready{os.NewFile(uintptr(fd), "ready")}
}

// Tell says so, once.
func (r *Ready) Tell(info Info, err error) {
	if r.f == nil {
		return
	}
	data, merr := json.Marshal(info)
	if err == nil {
		err = merr
	}
	if err != nil {
		data = []byte(err.Error())
	}
	_, _ = r.f.Write(data) // who waited may have given up
	_ = r.f.Close()
	r.f = nil
}
