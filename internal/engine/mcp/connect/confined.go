package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"scorel/internal/platform/fault"
	"scorel/internal/platform/sandbox"
)

// child is the process of a server.
type child interface {
	PID() int
	// Signal ends it politely.
	Signal(syscall.Signal) error
	// Kill ends it and what it has started.
	Kill()
	Wait() error
	Exit() sandbox.Exit
}

// streams are those of a child.
type streams struct {
	in       io.WriteCloser
	out, err io.ReadCloser
}

// start starts the process of a target, whose fuse is f: in the sandbox where it has a profile.
func (t Target) start(f *fault.Fuse) (child, streams, error) {
	if t.Profile == nil {
		// It outlives the request that needed it first.
		h, err := sandbox.StartHelper(context.Background(), sandbox.Helper{Path: t.Command, Args: t.Args, Env: t.Env, Dir: t.Dir, Record: t.Record})
		if err != nil {
			return nil, streams{}, err
		}
		return h, streams{h.Stdin, h.Stdout, h.Stderr}, nil
	}
	return t.startConfined(f)
}

// confined is a child in the sandbox.
type confined struct {
	sandbox.Child
	cancel context.CancelFunc
	shut   func()        // nobody reads its output any more
	ended  chan struct{} // closed when it has ended and nothing is left of it
	exit   sandbox.Exit
}

func (t Target) startConfined(f *fault.Fuse) (child, streams, error) {
	temp, err := sandbox.NewTemp(sandbox.TempBase(os.TempDir(), t.Profile.Closed), "mcp")
	if err != nil {
		return nil, streams{}, err
	}
	profile := *t.Profile
	profile.TempDir = temp.Dir
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	errRead, errWrite := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background()) // it outlives the request that needed it first
	c, err := sandbox.New(sandbox.Config{RunDir: t.Record, Profile: &profile}).Start(ctx, sandbox.Cmd{
		Path: t.Command, Args: t.Args, Dir: t.Dir, Env: t.Env, Stdin: inRead, Stdout: outWrite, Stderr: errWrite})
	if err != nil {
		cancel()
		_ = temp.Close()
		return nil, streams{}, err
	}
	x := &confined{Child: c, cancel: cancel, shut: func() {
		_ = outRead.Close()
		_ = errRead.Close()
	}, ended: make(chan struct{})}
	go func() { // ends with the process
		defer close(x.ended)
		defer f.Catch()
		defer temp.Close() // what is left there is removed with the next one
		defer cancel()
		defer errWrite.Close()
		defer outWrite.Close()
		defer inRead.Close()
		x.exit = c.Wait()
	}()
	return x, streams{inWrite, outRead, errRead}, nil
}

// Signal implements [child]: whatever the signal, it is asked to end.
func (x *confined) Signal(syscall.Signal) error {
	x.cancel()
	return nil
}

// Kill implements [child].
func (x *confined) Kill() {
	x.Child.Kill()
	x.shut() // it would wait for a reader
}

// Wait implements [child].
func (x *confined) Wait() error {
	<-x.ended
	return nil
}

// Exit implements [child].
func (x *confined) Exit() sandbox.Exit {
	<-x.ended
	return x.exit
}

const (
	// helperTime is how long a command for headers may run.
	helperTime = 10 * time.Second
	// maxHelped is how much it may print, in bytes.
	maxHelped = 64 << 10
)

// help runs the command that prints headers, and lays them over those of the target. What it
// prints is in no error.
func (t Target) help(ctx context.Context) (http.Header, error) {
	headers := t.Headers.Clone()
	if t.Helper == "" {
		return headers, nil
	}
	if headers == nil {
		headers = http.Header{}
	}
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	cmd := sandbox.Cmd{Path: "sh", Args: []string{"-c", t.Helper}, Dir: t.Dir, Stdout: &limited{most: maxHelped}, Stderr: &limited{most: maxHelped},
		Env: append(t.Env[:len(t.Env):len(t.Env)], "CLAUDE_CODE_MCP_SERVER_NAME="+t.Name, "CLAUDE_CODE_MCP_SERVER_URL="+t.URL)}
	config := sandbox.Config{RunDir: t.Record}
	if t.Profile != nil {
		temp, err := sandbox.NewTemp(sandbox.TempBase(os.TempDir(), t.Profile.Closed), "mcp")
		if err != nil {
			return nil, fmt.Errorf("its headersHelper cannot be run: %w", err)
		}
		defer temp.Close()
		profile := *t.Profile
		profile.TempDir = temp.Dir
		config.Profile = &profile
	}
	c, err := sandbox.New(config).Start(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("its headersHelper cannot be run: %w", err)
	}
	exit := c.Wait()
	out, _ := cmd.Stdout.(*limited)
	var values map[string]string
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("its headersHelper has not ended within %v", helperTime)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case exit.Code != 0:
		return nil, fmt.Errorf("its headersHelper ended with status %d", exit.Code)
	case out.over:
		return nil, fmt.Errorf("its headersHelper printed more than %d bytes", maxHelped)
	case json.Unmarshal(out.Bytes(), &values) != nil:
		return nil, errors.New("its headersHelper did not print a JSON object of strings")
	}
	for name, value := range values {
		if !token(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, errors.New("its headersHelper printed a name or a value that is not a header")
		}
		headers.Set(name, value)
	}
	return headers, nil
}

// token reports whether a text can be the name of a header (RFC 9110, section 5.6.2).
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// limited keeps so many bytes, and notes that there were more.
type limited struct {
	bytes.Buffer
	most int
	over bool
}

func (l *limited) Write(b []byte) (int, error) {
	if room := l.most - l.Len(); len(b) > room {
		l.over = true
		l.Buffer.Write(b[:max(room, 0)])
		return len(b), nil
	}
	return l.Buffer.Write(b)
}
