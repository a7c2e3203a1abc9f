package internal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scorel/protocol"
)

// TestTheExampleClientsLoseAndDoubleNothingOverCuts runs the clients of examples/clients
// against a host behind a line that breaks again and again.
func TestTheExampleClientsLoseAndDoubleNothingOverCuts(t *testing.T) {
	host := startHost(t)
	for _, c := range []struct{ program, file string }{{"python3", "chat.py"}, {"node", "chat.mjs"}} {
		t.Run(c.program, func(t *testing.T) {
			program, err := exec.LookPath(c.program)
			if err != nil {
				t.Skip(c.program + " is not installed")
			}
			file, err := filepath.Abs(filepath.Join("..", "examples", "clients", c.file))
			if err != nil {
				t.Fatal(err)
			}
			for seed := uint64(1); seed <= 3; seed++ {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					t.Parallel()
					host.talk(t, program, file, seed)
				})
			}
		})
	}
}

// scorelHost is a host that runs, built from this tree.
type scorelHost struct {
	dir   string // ~/.scorel
	story string // a long answer of its model
}

func startHost(t *testing.T) *scorelHost {
	t.Helper()
	home, err := os.MkdirTemp("", "cli") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	h := &scorelHost{dir: filepath.Join(home, ".scorel")}
	for i := range 60 {
		h.story += fmt.Sprintf("Sentence %d of the story. ", i)
	}
	h.story = strings.TrimSpace(h.story)
	script := `{"script":1,"chunk":8,"delayMs":1,"seed":7}
{"if":{"user":"story"},"do":[{"text":"` + h.story + `"}]}
{"if":{"user":"run"},"do":[{"text":"I run it."},{"call":"Bash","id":"c1","input":{"command":"echo ran >> ran.txt"}}]}
{"if":{"user":"ask"},"do":[{"call":"AskUser","id":"c2","input":{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"red"},{"label":"blue"}]}]}}]}
{"if":{"result":"blue"},"do":[{"text":"It is blue."}]}
{"if":{"result":"."},"do":[{"text":"It ran."}]}
{"do":[{"text":"Goodbye."}]}
`
	for name, text := range map[string]string{"s.jsonl": script, "config.toml": fmt.Sprintf("[model]\nname = %q\n", "script:"+filepath.Join(h.dir, "s.jsonl"))} {
		if err := os.MkdirAll(h.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(home, "scorel")
	if out, err := exec.Command("go", "build", "-o", bin, "scorel/cmd/scorel").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, "host", "serve")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "listens on") {
		t.Fatalf("the host said %q, %v\n%s", line, err, &stderr)
	}
	return h
}

// talk has a client hold a conversation behind a line that breaks.
func (h *scorelHost) talk(t *testing.T, program, file string, seed uint64) {
	dir, err := os.MkdirTemp("", "cli")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	header, err := os.ReadFile(filepath.Join(h.dir, "host.header"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "host.header"), header, 0o600); err != nil {
		t.Fatal(err)
	}
	project := t.TempDir()
	p := newCutter(t, filepath.Join(dir, "host.sock"), filepath.Join(h.dir, "host.sock"), seed)

	said := []string{"Tell a story.", "Now run it.", "Now ask me.", "Another story.", "Bye."}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, program, append([]string{file, "--home", dir}, said...)...)
	cmd.Dir = project
	cmd.Stdin = strings.NewReader("0\nblue\n") // allow once; an option of the question
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v after %d cuts\n%s\n%s", err, p.cuts(), &stdout, &stderr)
	}
	if p.cuts() < 5 {
		t.Errorf("the line broke only %d times", p.cuts())
	}
	if want := strings.Join([]string{h.story, "I run it.", "It ran.", "It is blue.", h.story, "Goodbye.", ""}, "\n"); stdout.String() != want {
		t.Errorf("printed was, after %d cuts:\n%s\nnot:\n%s\nand as errors:\n%s", p.cuts(), &stdout, want, &stderr)
	}
	if ran, err := os.ReadFile(filepath.Join(project, "ran.txt")); err != nil || string(ran) != "ran\n" {
		t.Errorf("the command left %q, %v", ran, err)
	}
	_, id, _ := strings.Cut(stderr.String(), "session ")
	id, _, _ = strings.Cut(id, "\n")
	if got := h.sent(t, id); strings.Join(got, "|") != strings.Join(said, "|") {
		t.Errorf("the host was sent %q", got)
	}
}

// sent returns the messages of people in the log of a session.
func (h *scorelHost) sent(t *testing.T, id string) (texts []string) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(h.dir, "sessions", id+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(log), []byte("\n"))[1:] {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if m, ok := e.Message(); ok && m.Role == protocol.RoleUser {
			texts = append(texts, m.PlainText())
		}
	}
	return texts
}

// maxCuts is how often a line breaks; then it holds, so that each run ends.
const maxCuts = 20

// cutter is a line to a host that breaks after random numbers of bytes.
type cutter struct {
	to string
	wg sync.WaitGroup

	mu    sync.Mutex
	rand  *rand.Rand
	count int
}

// newCutter listens at a socket until the test ends.
func newCutter(t *testing.T, at, to string, seed uint64) *cutter {
	t.Helper()
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{to: to, rand: rand.New(rand.NewPCG(seed, 0))}
	c.wg.Go(func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.wg.Go(func() { c.carry(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.wg.Wait()
	})
	return c
}

func (c *cutter) cuts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// bytes draws how many bytes a connection carries each way: sometimes so few that the
// handshake is cut, but seldom often in a row, for which clients wait longer and longer.
func (c *cutter) bytes() (up, down int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == maxCuts {
		return 1 << 40, 1 << 40
	}
	c.count++
	return c.rand.Int64N(10_000), c.rand.Int64N([]int64{4000, 40_000}[c.rand.IntN(2)])
}

// carry carries one connection until it breaks or one side ends it.
func (c *cutter) carry(client net.Conn) {
	host, err := net.Dial("unix", c.to)
	if err != nil {
		_ = client.Close()
		return
	}
	up, down := c.bytes()
	var wg sync.WaitGroup
	one := func(to, from net.Conn, n int64) {
		_, _ = io.CopyN(to, from, n)
		_ = client.Close() // and so ends the other direction
		_ = host.Close()
	}
	wg.Go(func() { one(host, client, up) })
	wg.Go(func() { one(client, host, down) })
	wg.Wait()
}
