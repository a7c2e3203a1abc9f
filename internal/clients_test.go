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

	"scorel/internal/dev/harness"
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

// TestTheExampleClientsGoOnAfterAHostThatWasKilled kills the host in the middle of a
// conversation, again and again: nothing is sent twice, and what the client prints is what
// the log has.
func TestTheExampleClientsGoOnAfterAHostThatWasKilled(t *testing.T) {
	for _, c := range []struct{ program, file string }{{"python3", "chat.py"}, {"node", "chat.mjs"}} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(c.program)
			if err != nil {
				t.Skip(c.program + " is not installed")
			}
			file, err := filepath.Abs(filepath.Join("..", "examples", "clients", c.file))
			if err != nil {
				t.Fatal(err)
			}
			startHost(t).survive(t, program, file)
		})
	}
}

// survive has a client hold a conversation with a host that is killed.
func (h *scorelHost) survive(t *testing.T, program, file string) {
	said := []string{"Tell a story.", "Now run it.", "Another story.", "One more story.", "Bye."}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, program, append([]string{file, "--home", h.dir}, said...)...)
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(strings.Repeat("0\n", 20)) // allow once, also what is asked again
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	errors, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(errors)
	id := ""
	for id == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal("the client has named no session")
		}
		if name, ok := strings.CutPrefix(line, "session "); ok {
			id = strings.TrimSpace(name)
		}
	}
	told := make(chan string, 1)
	go func() { // ends with the client
		rest, _ := io.ReadAll(lines)
		told <- string(rest)
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	kills := rand.New(rand.NewPCG(1, 0))
	for killed := 0; ; killed++ {
		// The host is killed when the log has grown by some bytes: in the middle of a turn.
		h.awaitGrowth(t, id, kills.Int64N(3000), ended)
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v after %d kills\n%s\n%s", err, killed, &stdout, <-told)
			}
			if killed < 3 {
				t.Errorf("the host was killed only %d times", killed)
			}
			if got := h.sent(t, id); strings.Join(got, "|") != strings.Join(said, "|") {
				t.Errorf("the host was sent %q", got)
			}
			if want := h.answers(t, id); stdout.String() != want {
				t.Errorf("printed was\n%s\nnot\n%s", &stdout, want)
			}
			return
		default:
		}
		if killed < maxKills {
			h.stop(t, syscall.SIGKILL)
			h.start(t)
		}
	}
}

// maxKills is how often a host is killed; then it runs, so that each run ends.
const maxKills = 12

// awaitGrowth returns when the log of a session has grown by more than so many bytes, or
// the client has ended.
func (h *scorelHost) awaitGrowth(t *testing.T, id string, by int64, ended chan error) {
	size := func() int64 {
		info, err := os.Stat(filepath.Join(h.dir, "sessions", id+".jsonl"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	from := size()
	for size() <= from+by {
		select {
		case err := <-ended:
			ended <- err
			return
		case <-t.Context().Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// answers returns the texts of the model in the log of a session, each with a line end.
func (h *scorelHost) answers(t *testing.T, id string) string {
	var text strings.Builder
	h.messages(t, id, func(m *protocol.Message) {
		if m.Role != protocol.RoleAssistant {
			return
		}
		for _, b := range m.Content {
			if b.Type == protocol.BlockText {
				text.WriteString(b.Text + "\n")
			}
		}
	})
	return text.String()
}

// scorelHost is a host that runs, built from this tree.
type scorelHost struct {
	home  string
	dir   string // ~/.scorel
	story string // a long answer of its model
	bin   string
	cmd   *exec.Cmd
}

func startHost(t *testing.T) *scorelHost {
	t.Helper()
	home, err := os.MkdirTemp("", "cli") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	h := &scorelHost{home: home, dir: filepath.Join(home, ".scorel"), bin: filepath.Join(home, "scorel")}
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
	if err := harness.Build(filepath.Dir(h.bin), "scorel/cmd/scorel"); err != nil {
		t.Fatal(err)
	}
	h.start(t)
	t.Cleanup(func() { h.stop(t, syscall.SIGTERM) })
	return h
}

// start starts the program, and returns when it listens.
func (h *scorelHost) start(t *testing.T) {
	t.Helper()
	h.cmd = exec.Command(h.bin, "host", "serve")
	h.cmd.Env = []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH")}
	var stderr bytes.Buffer
	h.cmd.Stderr = &stderr
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "listens on") {
		t.Fatalf("the host said %q, %v\n%s", line, err, &stderr)
	}
}

// stop ends the program with a signal, and returns when it has ended.
func (h *scorelHost) stop(t *testing.T, by syscall.Signal) {
	t.Helper()
	if err := h.cmd.Process.Signal(by); err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait()
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
	h.messages(t, id, func(m *protocol.Message) {
		if m.Role == protocol.RoleUser {
			texts = append(texts, m.PlainText())
		}
	})
	return texts
}

// messages gives the messages in the log of a session.
func (h *scorelHost) messages(t *testing.T, id string, each func(m *protocol.Message)) {
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
		if m, ok := e.Message(); ok {
			each(&m)
		}
	}
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
