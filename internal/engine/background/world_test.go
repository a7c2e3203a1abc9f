package background

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/platform/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// puppet is a spawner whose children print and end when the test says so.
type puppet struct {
	mu       sync.Mutex
	children []*puppetChild
	fail     error
}

type puppetChild struct {
	ctx  context.Context
	out  io.Writer
	end  chan sandbox.Exit // capacity 1
	once sync.Once
	exit sandbox.Exit
	done chan struct{}
}

func (p *puppet) Start(ctx context.Context, cmd sandbox.Cmd) (sandbox.Child, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		return nil, p.fail
	}
	c := &puppetChild{ctx: ctx, out: cmd.Stdout, end: make(chan sandbox.Exit, 1), done: make(chan struct{})}
	p.children = append(p.children, c)
	return c, nil
}

func (p *puppet) last() *puppetChild {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.children[len(p.children)-1]
}

func (c *puppetChild) print(s string) { _, _ = io.WriteString(c.out, s) }
func (c *puppetChild) PID() int       { return 1 }
func (c *puppetChild) Kill()          {}

func (c *puppetChild) Wait() sandbox.Exit {
	c.once.Do(func() {
		select {
		case c.exit = <-c.end:
		case <-c.ctx.Done():
			c.exit = sandbox.Exit{Code: 143, Signal: "SIGTERM"}
		}
		close(c.done)
	})
	<-c.done
	return c.exit
}

// bench is a set with a puppet, or with real processes.
type bench struct {
	t   *testing.T
	set *Set
	*puppet
	spawn sandbox.Spawner
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, puppet: &puppet{}, set: New(Config{Now: time.Now, Rand: rand.Reader})}
	b.spawn = b.puppet
	t.Cleanup(b.set.Close)
	return b
}

func realBench(t *testing.T) *bench {
	b := newBench(t)
	b.spawn = sandbox.New(sandbox.Config{RunDir: t.TempDir()})
	return b
}

func (b *bench) start(command string) string {
	b.t.Helper()
	id, err := b.set.Start(b.spawn, Spec{Command: command, CallID: "c1", Cmd: sandbox.Cmd{
		Path: "bash", Args: []string{"--noprofile", "--norc", "-c", command}, Env: os.Environ()}})
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

func (b *bench) read(id string, q Query) Reading {
	b.t.Helper()
	r, err := b.set.Read(b.t.Context(), id, q)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// await reads until a command has ended, and returns all that it read.
func (b *bench) await(id string) (string, Reading) {
	b.t.Helper()
	var all strings.Builder
	for {
		r := b.read(id, Query{Wait: 2 * time.Minute})
		all.WriteString(r.Text)
		switch {
		case r.How != "":
			return all.String(), r
		case r.Woken == WokenByTime:
			b.t.Fatalf("%s does not end: %q", id, all.String())
		}
	}
}

// dead waits until a process is gone.
func dead(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil || n < 2 {
		t.Fatalf("%q is no process", pid)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for syscall.Kill(n, 0) == nil {
		if data, _ := os.ReadFile("/proc/" + strconv.Itoa(n) + "/stat"); strings.Contains(string(data), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", n)
		}
		<-time.After(5 * time.Millisecond)
	}
}
