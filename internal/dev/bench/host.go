package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"scorel/client"
	"scorel/internal/host/daemon"
	"scorel/protocol"
)

// serving is a host of the binary that serves, in a home of its own.
type serving struct {
	b     *bench
	world *world
	cmd   *exec.Cmd
	out   bytes.Buffer // what it printed, for when something goes wrong
}

// serve starts a host in a home of its own and waits until it takes clients. With
// sessions the home has so many already.
func (b *bench) serve(ctx context.Context, sessions int) (*serving, error) {
	return b.serveAfter(ctx, func(s *serving) error {
		if sessions == 0 {
			return nil
		}
		return s.fill(ctx, sessions)
	})
}

// serveAfter starts a host in a home that something is written into before.
func (b *bench) serveAfter(ctx context.Context, write func(s *serving) error) (*serving, error) {
	return b.serveWith(ctx, nil, write)
}

// serveWith is serveAfter with flags of the host.
func (b *bench) serveWith(ctx context.Context, flags []string, write func(s *serving) error) (*serving, error) {
	w, err := newWorld(b.world.root, b.server.url)
	if err != nil {
		return nil, err
	}
	s := &serving{b: b, world: w}
	if err := write(s); err != nil {
		w.remove()
		return nil, err
	}
	s.cmd = exec.Command(b.bin, append([]string{"host", "serve"}, flags...)...)
	if err := s.start(ctx); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// start starts the host, and waits until it takes clients.
func (s *serving) start(ctx context.Context) error {
	s.cmd.Dir, s.cmd.Env = s.world.work, s.world.environ()
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if info, live, err := daemon.Find(s.dir()); err == nil && live && info.Ready() {
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("the host does not start: %s", s.out.Bytes())
		}
	}
}

// again ends the host, and starts another in its home.
func (s *serving) again(ctx context.Context) error {
	s.stop()
	s.cmd = exec.Command(s.cmd.Path, s.cmd.Args[1:]...)
	return s.start(ctx)
}

// fill writes sessions of 100 events.
func (s *serving) fill(ctx context.Context, n int) error { return s.fillWith(ctx, n, 100) }

// fillWith writes sessions of so many events.
func (s *serving) fillWith(ctx context.Context, n, events int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, self, "session", "-dir", s.dir(), "-work", s.world.work, "-events", strconv.Itoa(events), "-count", strconv.Itoa(n)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("write sessions: %w: %s", err, out)
	}
	return nil
}

func (s *serving) dir() string { return filepath.Join(s.world.home, ".scorel") }

// end ends the host and removes its home.
func (s *serving) end() {
	s.stop()
	s.world.remove()
}

// stop ends the host.
func (s *serving) stop() {
	if s.cmd.Process == nil {
		return // it was not started
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(15*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	kill.Stop()
}

// connect makes a client.
func (s *serving) connect(ctx context.Context) (*client.Client, error) {
	ws, err := s.address()
	if err != nil {
		return nil, err
	}
	c := client.Connect(client.Config{Dial: ws.Dial})
	if _, err := c.Connected(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// address is where the host is reached.
func (s *serving) address() (*client.WebSocket, error) {
	raw, err := os.ReadFile(daemon.Header(s.dir()))
	if err != nil {
		return nil, err
	}
	_, token, ok := strings.Cut(strings.TrimSpace(string(raw)), "Bearer ")
	info, live, err := daemon.Find(s.dir())
	if err != nil || !live || !ok {
		return nil, fmt.Errorf("no host runs: %w", errors.Join(err, errors.New(s.out.String())))
	}
	return &client.WebSocket{URL: "unix:" + info.Socket, Token: token, ClientID: protocol.ClientIDOf([]byte("bench")), ClientName: "bench"}, nil
}

// sessions makes sessions whose model plays a script.
func (s *serving) sessions(ctx context.Context, c *client.Client, n int, script string) ([]protocol.SessionID, error) {
	file := filepath.Join(s.world.root, "stream.jsonl")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return nil, err
	}
	p, err := client.Call[*protocol.Project](ctx, c, "", &protocol.RegisterProject{WorkDir: s.world.work})
	if err != nil {
		return nil, err
	}
	var ids []protocol.SessionID
	for range n {
		id := protocol.NewSessionID(time.Now(), rand.Reader)
		if _, err := client.Call[*protocol.SessionSummary](ctx, c, id, &protocol.CreateSession{ProjectID: p.ProjectID,
			Meta: protocol.Meta{WorkDir: s.world.work, Model: "script:" + file}}); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// streamed is what came of answers that were streamed to many.
type streamed struct {
	heard
	HostCores float64 `json:"hostCores"`
	HostRSS   float64 `json:"hostRss"` // the most, in bytes
	Seconds   float64 `json:"seconds"`
}

// stream streams an answer of so many pieces, one each everyMS, in each of so many
// sessions to so many clients, spread over them.
func (b *bench) stream(ctx context.Context, sessions, clients, pieces, everyMS int) (out streamed, err error) {
	s, err := b.serve(ctx, 0)
	if err != nil {
		return out, err
	}
	defer s.end()
	c, err := s.connect(ctx)
	if err != nil {
		return out, err
	}
	defer func() { _ = c.Close() }()
	const piece = "and so on it goes   "
	ids, err := s.sessions(ctx, c, sessions, fmt.Sprintf("{\"script\":1,\"chunk\":%d,\"delayMs\":%d,\"stamp\":true}\n{\"again\":true,\"do\":[{\"text\":%q,\"times\":%d}]}\n",
		len(piece), everyMS, piece, pieces))
	if err != nil {
		return out, err
	}
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	cmd := exec.CommandContext(ctx, self, "listen", "-dir", s.dir(), "-sessions", strings.Join(names, ","), "-clients", strconv.Itoa(clients), "-pieces", strconv.Itoa(pieces))
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return out, err
	}
	if err := cmd.Start(); err != nil {
		return out, err
	}
	defer func() {
		_ = cmd.Process.Kill() // it has ended, unless something went wrong
		_ = cmd.Wait()
	}()
	lines := bufio.NewReader(pipe)
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
		return out, fmt.Errorf("the listeners did not come up: %v", err)
	}
	// A thousand that come in at once are told of each other; that is not what is
	// measured here.
	time.Sleep(settling)
	before, err := cpuOf(s.cmd.Process.Pid)
	if err != nil {
		return out, err
	}
	begun := time.Now()
	err = sideBySide(len(ids), 100, func(i int) error {
		_, err := client.Call[*protocol.Sent](ctx, c, ids[i], &protocol.SendMessage{Content: []protocol.Block{protocol.Text("Go on.")}})
		return err
	})
	if err != nil {
		return out, err
	}
	line, err := lines.ReadString('\n')
	if err != nil {
		return out, fmt.Errorf("the listeners ended: %w", err)
	}
	after, err := cpuOf(s.cmd.Process.Pid)
	if err != nil {
		return out, err
	}
	out.Seconds = time.Since(begun).Seconds()
	out.HostCores = (after - before).Seconds() / out.Seconds
	m, err := readMemory(s.cmd.Process.Pid)
	if err != nil {
		return out, err
	}
	out.HostRSS = m.Peak
	return out, json.Unmarshal([]byte(line), &out.heard)
}

// cpuOf returns the time that a process has computed, user and system.
func cpuOf(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the command is in brackets and may hold anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 13 {
		return 0, errors.New("the kernel's account of the process is short")
	}
	user, err1 := strconv.Atoi(string(fields[11]))
	system, err2 := strconv.Atoi(string(fields[12]))
	const tick = 10 * time.Millisecond // USER_HZ is 100 on Linux
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}
