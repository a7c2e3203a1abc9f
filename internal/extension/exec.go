package extension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"scorel/internal/extension/rpc"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/sandbox"
)

// Bounds of a program that an extension has started.
const (
	maxExecOutput = 1 << 20 // bytes of each stream
	maxExecTime   = time.Hour
)

// exec starts a program for an extension and waits for its end. It is not confined:
// the extension itself is not.
func (s *Set) exec(ctx context.Context, x rpc.Exec) (rpc.ExecResult, error) {
	limit := maxExecTime
	if x.TimeoutMS > 0 {
		limit = time.Duration(min(x.TimeoutMS, limit.Milliseconds())) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir := s.cfg.Session.Cwd
	if filepath.IsAbs(x.Cwd) {
		dir = x.Cwd
	} else if x.Cwd != "" {
		dir = filepath.Join(dir, x.Cwd)
	}
	environ, err := s.cfg.Environ()
	if err != nil {
		return rpc.ExecResult{}, err
	}
	p, err := sandbox.StartHelper(ctx, sandbox.Helper{Path: x.Command, Args: x.Args, Dir: dir, Env: environ, Record: s.cfg.Record})
	if err != nil {
		return rpc.ExecResult{}, fmt.Errorf("%s cannot be started: %w", clip(x.Command, 200), errors.Unwrap(err))
	}
	var out, errs capped
	var wg fault.Group                                                 // who waits meets their panics
	wg.Go(func() { _, _ = io.Copy(&out, p.Stdout); p.Stdout.Close() }) // end with the program
	wg.Go(func() { _, _ = io.Copy(&errs, p.Stderr); p.Stderr.Close() })
	wg.Go(func() { _, _ = io.WriteString(p.Stdin, x.Stdin); p.Stdin.Close() })
	wg.Go(func() { _ = p.Wait(); p.Stdin.Close() }) // nobody reads it any more
	wg.Wait()
	exit := p.Exit()
	return rpc.ExecResult{Stdout: string(out), Stderr: string(errs), Code: exit.Code, Killed: ctx.Err() != nil}, nil
}

// capped keeps the first bytes that are written to it.
type capped []byte

func (c *capped) Write(p []byte) (int, error) {
	*c = append(*c, p[:min(len(p), maxExecOutput-len(*c))]...)
	return len(p), nil
}
