package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model/script"
	_ "scorel/internal/ui/cli" // so that a result in go's cache is not one of another binary
)

const (
	binaryRounds = 100
	printedLines = 76 // what a run prints
)

// work is what the model does while its host is killed: text in small pieces,
// reads side by side, commands, a file that is written.
const work = `{"script":1,"chunk":12,"delayMs":1}
{"do":[{"text":"I look at the notes and at the list before I count anything. "},{"call":"Read","input":{"path":"notes.txt"}},{"call":"Read","input":{"path":"list.txt"}}]}
{"do":[{"text":"Now I count. "},{"call":"Bash","input":{"command":"echo one; sleep 0.02; echo two"}}]}
{"do":[{"call":"Write","input":{"path":"out.txt","content":"counted\n"}},{"call":"Bash","input":{"command":"echo three"}}]}
{"do":[{"call":"Grep","input":{"pattern":"line","mode":"count"}}]}
{"do":[{"text":"There are two files, and both have been counted; that was all there was to do."}]}
`

// back is what the model says when a killed session is gone on with.
const back = `{"script":1}
{"again":true,"do":[{"text":"I am back."}]}
`

// host is one home with a project and a model server, in which the binary is run
// and killed.
type host struct {
	bin, root string
	model     *modeltest.Server
	http      *httptest.Server
}

func newHost(t *testing.T, bin string) *host {
	t.Helper()
	s, err := script.Parse(strings.NewReader(back), "back")
	if err != nil {
		t.Fatal(err)
	}
	h := &host{bin: bin, root: t.TempDir(), model: modeltest.Anthropic(modeltest.Config{Script: s, Keep: -1})}
	h.http = httptest.NewServer(h.model)
	t.Cleanup(h.http.Close)
	for name, text := range map[string]string{
		"home/.scorel/config.toml": fmt.Sprintf("[models.mock]\ntype = \"custom\"\napi = \"anthropic-messages\"\nbaseUrl = %q\nid = \"mock\"\n", h.http.URL),
		"project/notes.txt":        strings.Repeat("a line of notes\n", 40),
		"project/list.txt":         "one line\n",
		"work.jsonl":               work,
	} {
		name = filepath.Join(h.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *host) dir() string { return filepath.Join(h.root, "home", ".scorel") }

// command makes a run of the binary in the project.
func (h *host) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.bin, args...)
	cmd.Dir = filepath.Join(h.root, "project")
	cmd.Env = []string{"HOME=" + filepath.Join(h.root, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + h.root}
	return cmd
}

// prompt makes a prompt whose model plays a script, to a session or a new one.
func (h *host) prompt(ctx context.Context, script, session string) *exec.Cmd {
	args := []string{"-p", "Count what there is.", "--output-format", "stream-json", "--permission-mode", "acceptEdits",
		"--allowed-tools", "Bash(echo:*),Bash(sleep:*)", "--model", "script:" + script}
	if session != "" {
		args = append(args, "--session", session)
	}
	return h.command(ctx, args...)
}

// session returns the id and the log of the only session; empty when there is none.
func (h *host) session() (id, file string, err error) {
	names := logs(h.dir())
	switch len(names) {
	case 0:
		return "", "", nil
	case 1:
		return strings.TrimSuffix(filepath.Base(names[0]), ".jsonl"), names[0], nil
	}
	return "", "", fmt.Errorf("there are %d logs", len(names))
}

// forget removes the session, so that the next one is a new one.
func (h *host) forget() error {
	if err := os.RemoveAll(filepath.Join(h.dir(), "sessions")); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(h.root, "project", "out.txt"))
}

// goOn sends another prompt to a session that was killed, which must work, and
// gives the request that the model got. The log is then sound, and holds what
// it held.
func (h *host) goOn(ctx context.Context, id, file string, before []byte) (request []byte, err error) {
	seen := len(h.model.Requests())
	cmd := h.command(ctx, "-p", "Go on.", "--output-format", "stream-json", "--model", "mock", "--session", id)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the session cannot be gone on with: %w: %s %s", err, tail(&stderr), out)
	}
	after, err := readLog(file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("after going on: %w", err)
	case len(after.Tail) > 0:
		return nil, fmt.Errorf("after going on the log ends in %q", after.Tail)
	case !bytes.HasPrefix(after.Whole, before):
		return nil, errors.New("going on changed what stood in the log")
	}
	if _, err := after.Holds(out); err != nil {
		return nil, fmt.Errorf("after going on: %w", err)
	}
	requests := h.model.Requests()[seen:]
	if len(requests) != 1 {
		return nil, fmt.Errorf("going on made %d requests", len(requests))
	}
	if refused := requests[0].Refused; refused != "" {
		return nil, fmt.Errorf("the model's server refuses the request: %s", refused)
	}
	if err := Pairs(requests[0].Body); err != nil {
		return nil, fmt.Errorf("%w: %s", err, requests[0].Body)
	}
	if out, err := h.command(ctx, "sessions", "verify", id).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the session is not sound: %w: %s", err, out)
	}
	return requests[0].Body, nil
}

func TestKillOfTheBinaryLosesNothingPrinted(t *testing.T) {
	t.Parallel()
	bin, seed, want := filepath.Join(binaries(t), "scorel"), newSeed(t), rounds(binaryRounds)
	hosts := make([]*host, workers)
	for i := range hosts {
		hosts[i] = newHost(t, bin)
	}
	var done, told, empty, torn, resumed atomic.Int64
	each(t, func(worker int) error {
		h, r := hosts[worker], random(t, seed, worker)
		for done.Load() < int64(want) {
			if err := h.forget(); err != nil {
				return err
			}
			var before []byte
			for range 1 + r.IntN(3) { // the same session is killed up to three times
				id, _, err := h.session()
				if err != nil {
					return err
				}
				got := kill(h.prompt(t.Context(), filepath.Join(h.root, "work.jsonl"), id), binaryMoment(r))
				if got.err != nil {
					return got.err
				}
				if !got.killed {
					continue // it had ended; no round
				}
				_, file, err := h.session()
				if err != nil {
					return err
				}
				log, n, err := judgeLog(file, got.printed, before)
				if err != nil {
					return fmt.Errorf("%s: %w; stderr: %s", h.root, err, got.stderr)
				}
				done.Add(1)
				told.Add(int64(n))
				switch {
				case log == nil:
					empty.Add(1)
				case len(log.Tail) > 0:
					torn.Add(1)
				}
				if log != nil {
					before = log.Whole
				}
			}
			id, file, err := h.session()
			if err != nil || id == "" {
				if err != nil {
					return err
				}
				continue
			}
			if _, err := h.goOn(t.Context(), id, file, before); err != nil {
				return fmt.Errorf("%s: %w", h.root, err)
			}
			resumed.Add(1)
		}
		return nil
	})
	t.Logf("%d rounds of the binary, %d printed events, %d before there was a log, %d unfinished last lines, %d sessions gone on with",
		done.Load(), told.Load(), empty.Load(), torn.Load(), resumed.Load())
	if done.Load() < int64(want) || told.Load() < int64(want) || resumed.Load() < int64(want/4) {
		t.Errorf("there must be %d rounds, as many printed events, and %d sessions gone on with", want, want/4)
	}
}

// binaryMoment is while the process starts, in one round of eight, else between
// its first and its last line.
func binaryMoment(r *rand.Rand) moment {
	if r.IntN(8) == 0 {
		return moment{extra: time.Duration(r.Int64N(int64(40 * time.Millisecond)))}
	}
	return moment{lines: 1 + r.IntN(printedLines), extra: time.Duration(r.Int64N(int64(10 * time.Millisecond)))}
}

const toolRounds = 8

// sleeper runs a command that says which process it is and then waits for longer
// than the test takes; watcher runs one in the background, with a child, and waits
// for it.
const (
	sleeper = `{"script":1}
{"do":[{"call":"Bash","id":"call_sleep","input":{"command":"echo pid $$; sleep 600"}}]}
`
	watcher = `{"script":1}
{"do":[{"call":"Bash","id":"call_serve","input":{"command":"(echo pid $BASHPID; exec sleep 600) & echo pid $$; wait # sleep 600","run_in_background":true}}]}
{"do":[{"call":"TaskOutput","id":"call_wait","input":{"wait_seconds":600,"filter":"never"},"fill":{"task_id":"task_[0-9a-v]{8}"}}]}
`
)

func TestKillInsideAToolIsToldToTheModelAndEndsItsChildren(t *testing.T) {
	t.Parallel()
	const told = "The host stopped while this ran. It may have taken effect. Check before repeating."
	killsInTools(t, sleeper, 1, func(request []byte) error {
		if !bytes.Contains(request, []byte(told)) {
			return fmt.Errorf("the model is not told that the command may have taken effect: %s", request)
		}
		return nil
	})
}

func TestKillLeavesNothingOfABackgroundCommandRunning(t *testing.T) {
	t.Parallel()
	killsInTools(t, watcher, 2, func([]byte) error { return nil })
}

// killsInTools kills hosts whose script has started so many processes, goes on
// with their sessions, and wants no process left. judge is given the request
// that the model then gets.
func killsInTools(t *testing.T, script string, processes int, judge func(request []byte) error) {
	bin, want := filepath.Join(binaries(t), "scorel"), rounds(toolRounds)
	hosts := make([]*host, workers)
	for i := range hosts {
		hosts[i] = newHost(t, bin)
		if err := os.WriteFile(filepath.Join(hosts[i].root, "tool.jsonl"), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var done atomic.Int64
	each(t, func(worker int) error {
		h := hosts[worker]
		for done.Add(1) <= int64(want) {
			if err := h.forget(); err != nil {
				return err
			}
			cmd := h.prompt(t.Context(), filepath.Join(h.root, "tool.jsonl"), "")
			cmd.Args = append(cmd.Args, "--allowed-tools", "Bash")
			pids, got, err := killInTool(cmd, processes)
			if err != nil {
				return fmt.Errorf("%w: %s", err, got.stderr)
			}
			id, file, err := h.session()
			if err != nil {
				return err
			}
			log, _, err := judgeLog(file, got.printed, nil)
			if err != nil {
				return err
			}
			for _, pid := range pids {
				if !sleeps(pid) {
					return fmt.Errorf("the command, process %d, did not outlive its host, so nothing can be ended", pid)
				}
			}
			request, err := h.goOn(t.Context(), id, file, log.Whole)
			if err != nil {
				return err
			}
			if err := judge(request); err != nil {
				return err
			}
			for _, pid := range pids {
				if sleeps(pid) {
					return fmt.Errorf("the command of the killed host still runs as process %d", pid)
				}
			}
		}
		return nil
	})
	t.Logf("%d rounds of a kill inside a command", want)
}

// killInTool kills the host when its commands have said which processes they are.
func killInTool(cmd *exec.Cmd, processes int) (pids []int, r run, err error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, r, err
	}
	if err := cmd.Start(); err != nil {
		return nil, r, err
	}
	said := regexp.MustCompile(`pid ([0-9]+)`)
	var printed bytes.Buffer
	dec := json.NewDecoder(io.TeeReader(out, &printed))
	for len(pids) < processes && err == nil {
		var event json.RawMessage
		if err = dec.Decode(&event); err != nil {
			break
		}
		for _, m := range said.FindAllSubmatch(event, -1) {
			if pid, err := strconv.Atoi(string(m[1])); err == nil && !slices.Contains(pids, pid) {
				pids = append(pids, pid)
			}
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	r.printed, r.stderr = printed.Bytes(), stderr.Bytes()
	if err != nil {
		return nil, r, fmt.Errorf("the command did not start: %w: %s", err, printed.Bytes())
	}
	return pids, r, nil
}

// sleeps reports whether a process runs our command still; its number may be that
// of another one by now.
func sleeps(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && bytes.Contains(bytes.ReplaceAll(line, []byte{0}, []byte{' '}), []byte("sleep 600"))
}
