package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
)

const maxGitOutput = 4 << 20

// Git runs the host's own git in dir and gives its output. Nothing that the
// repository configures runs: no hook, no file system monitor, no external
// transport; and no lock is taken that the user's git could miss. env is the
// scrubbed environment. A failure carries what git said.
func Git(ctx context.Context, s Spawner, env []string, dir string, args ...string) (string, error) {
	var said bytes.Buffer
	out := &limited{max: maxGitOutput}
	child, err := s.Start(ctx, Cmd{
		Path: "git", Dir: dir,
		Args: append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never",
			"--no-pager", "--no-optional-locks"}, args...),
		Env:    append(append([]string{}, env...), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"),
		Stdout: out, Stderr: &limitedText{&said},
	})
	if err != nil {
		return "", fmt.Errorf("git: %w", err)
	}
	exit := child.Wait()
	name := "git " + strings.Join(args, " ")
	switch {
	case out.over:
		return "", fmt.Errorf("%s: more than %d MiB of output", name, maxGitOutput>>20)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w", name, ctx.Err())
	case exit.Err != nil:
		return "", fmt.Errorf("%s: %w", name, exit.Err)
	case exit.Code != 0:
		return "", fmt.Errorf("%s: exit %d: %s", name, exit.Code, bytes.TrimSpace(said.Bytes()))
	}
	return out.kept.String(), nil
}

// limited keeps max bytes and fails beyond, which ends the child.
type limited struct {
	kept bytes.Buffer // not embedded: io.Copy would go around Write
	max  int
	over bool
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	if l.kept.Len()+len(p) > l.max {
		l.over = true
		return 0, io.ErrShortWrite
	}
	return l.kept.Write(p)
}

// limitedText keeps the first of what is written and takes the rest.
type limitedText struct{ b *bytes.Buffer }

// Write implements [io.Writer].
func (l *limitedText) Write(p []byte) (int, error) {
	l.b.Write(p[:min(len(p), max(0, 2000-l.b.Len()))])
	return len(p), nil
}
