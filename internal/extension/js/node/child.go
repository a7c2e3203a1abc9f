package node

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/engine"
	"scorel/internal/platform/sandbox"
)

// Bounds of child processes.
const (
	maxChildren = 64               // that run at once, of one extension
	maxPiece    = 64 << 10         // bytes of one read
	maxSync     = 10 * time.Minute // of execSync and spawnSync
)

// childNative starts processes of the user's own: unconfined, in the session of the
// child, so that they end with it.
func childNative(e *engine.Engine) goja.Value {
	o := newObject(e)
	running := 0
	o.function("signal", signalNumber(e))
	start := func(c goja.FunctionCall, ctx context.Context) (*sandbox.HelperProcess, error) {
		var args, env []string
		path, dir := c.Argument(0).String(), c.Argument(3).String()
		if err := e.VM.ExportTo(c.Argument(1), &args); err != nil {
			return nil, err
		}
		if err := e.VM.ExportTo(c.Argument(2), &env); err != nil {
			return nil, err
		}
		if dir == "" {
			dir = e.Config().Cwd
		} else if !filepath.IsAbs(dir) {
			dir = filepath.Join(e.Config().Cwd, dir)
		}
		if running >= maxChildren {
			return nil, errors.New("64 processes of this extension run already; wait for some of them")
		}
		p, err := sandbox.StartHelper(ctx, sandbox.Helper{Path: path, Args: args, Env: env, Dir: dir, Inside: true})
		if err != nil {
			return nil, startError(err, path)
		}
		return p, nil
	}
	o.function("start", func(c goja.FunctionCall) goja.Value {
		ctx, cancel := context.WithCancel(context.Background())
		p, err := start(c, ctx)
		if err != nil {
			cancel()
			e.Throw(err)
		}
		running++
		return handle(e, p, e.OnClose(func() { p.Kill(); cancel() }), func() { running--; cancel() })
	})
	o.function("run", func(c goja.FunctionCall) goja.Value {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p, err := start(c, ctx)
		if err != nil {
			e.Throw(err)
		}
		var input []byte
		if v := c.Argument(4); !goja.IsNull(v) {
			input = e.Bytes(v)
		}
		limit := time.Duration(c.Argument(5).ToInteger()) * time.Millisecond
		r := &run{p: p, max: int(c.Argument(6).ToInteger()), signal: syscall.Signal(c.Argument(7).ToInteger())}
		defer e.OnClose(p.Kill)()
		var exit sandbox.Exit
		e.Blocked(func() { exit = r.collect(input, limit) })
		out := e.VM.NewObject()
		_ = out.Set("pid", p.PID())
		_ = out.Set("stdout", e.Buffer(r.out.Bytes()))
		_ = out.Set("stderr", e.Buffer(r.errs.Bytes()))
		_ = out.Set("code", exit.Code)
		_ = out.Set("signal", signalText(exit.Signal))
		_ = out.Set("reason", r.reason)
		return out
	})
	return o
}

// startError has the code that Node has for a program that is not there.
func startError(err error, path string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), !hasErrno(err) && !filepath.IsAbs(path):
		return &sysError{code: "ENOENT", errno: int(syscall.ENOENT), syscall: "spawn", path: path, text: "no such program or folder"}
	}
	return nodeError(err, "spawn", path, "")
}

func hasErrno(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno)
}

func signalText(name string) string {
	if name == "" || len(name) > 3 && name[:3] == "SIG" {
		return name
	}
	return "SIG" + name
}

// handle is what child_process.js makes a ChildProcess of.
func handle(e *engine.Engine, p *sandbox.HelperProcess, forget, ended func()) goja.Value {
	o := newObject(e)
	o.value("pid", p.PID())
	o.function("kill", func(c goja.FunctionCall) goja.Value {
		return e.VM.ToValue(p.Signal(syscall.Signal(c.Argument(0).ToInteger())) == nil)
	})
	o.function("write", func(c goja.FunctionCall) goja.Value {
		data := bytes.Clone(e.Bytes(c.Argument(0)))
		return e.Promise(func(settle func(func() (any, error))) {
			go func() { // ends when the child has read it, or has ended
				_, err := p.Stdin.Write(data)
				settle(func() (any, error) { return goja.Undefined(), nodeError(err, "write", "", "") })
			}()
		})
	})
	o.function("closeStdin", func(goja.FunctionCall) goja.Value {
		_ = p.Stdin.Close()
		return goja.Undefined()
	})
	read := func(r io.ReadCloser) func(goja.FunctionCall) goja.Value {
		return func(goja.FunctionCall) goja.Value {
			return e.Promise(func(settle func(func() (any, error))) {
				go func() { // ends with the piece, or the child
					b := make([]byte, maxPiece)
					n, err := r.Read(b)
					for n == 0 && err == nil {
						n, err = r.Read(b)
					}
					if err != nil {
						_ = r.Close() // it is only read
					}
					settle(func() (any, error) {
						if n == 0 {
							return goja.Null(), nil
						}
						return e.Buffer(b[:n:n]), nil
					})
				}()
			})
		}
	}
	o.function("read1", read(p.Stdout))
	o.function("read2", read(p.Stderr))
	o.function("wait", func(goja.FunctionCall) goja.Value {
		return e.Async(func(settle func(func() (any, error))) {
			go func() { // ends with the child
				exit := p.Exit()
				_ = p.Stdin.Close() // nobody reads it any more
				settle(func() (any, error) {
					forget()
					ended()
					return e.VM.NewArray(exit.Code, signalText(exit.Signal)), nil
				})
			}()
		})
	})
	return o
}

// run is a child that is waited for.
type run struct {
	p      *sandbox.HelperProcess
	max    int
	signal syscall.Signal

	out, errs bytes.Buffer
	mu        sync.Mutex
	reason    string // ETIMEDOUT or ENOBUFS: why it was killed
}

func (r *run) kill(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason == "" {
		r.reason = reason
		_ = r.p.Signal(r.signal)
	}
}

func (r *run) collect(input []byte, limit time.Duration) sandbox.Exit {
	if limit <= 0 || limit > maxSync {
		limit = maxSync
	}
	timer := time.AfterFunc(limit, func() {
		r.kill("ETIMEDOUT")
		time.AfterFunc(2*time.Second, r.p.Kill) // one that does not obey
	})
	defer timer.Stop()
	var wg sync.WaitGroup
	take := func(from io.ReadCloser, into *bytes.Buffer) {
		wg.Go(func() {
			defer from.Close()
			n, _ := io.Copy(into, io.LimitReader(from, int64(r.max)))
			if int(n) == r.max {
				if k, _ := from.Read(make([]byte, 1)); k > 0 {
					r.kill("ENOBUFS")
				}
			}
			_, _ = io.Copy(io.Discard, from)
		})
	}
	take(r.p.Stdout, &r.out)
	take(r.p.Stderr, &r.errs)
	go func() { // ends when the child has read it, or has ended
		_, _ = r.p.Stdin.Write(input)
		_ = r.p.Stdin.Close()
	}()
	wg.Wait()
	return r.p.Exit()
}
