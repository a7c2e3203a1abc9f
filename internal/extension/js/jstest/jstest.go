// Package jstest drives a child with extensions in tests as a host would: a real process
// of the test binary, or one served in the test's own process.
package jstest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/extension/js"
	"scorel/internal/extension/rpc"
)

// Prelude is a small one: an extension exports handlers by name, whose methods it calls.
//
//	export default (host) => ({ registration: {…}, hooks: {name(data, signal)},
//	                            tools: {name(input, signal)}, commands: {name(args)} , events(type, event) })
const Prelude = `(function () {
  const host = __host;
  let ext;
  host.onLoad(async (m) => {
    ext = await m.default(host);
    return { name: host.ext, hooks: Object.keys(ext.hooks || {}), ...(ext.registration || {}) };
  });
  host.handle("hook", (p, signal) => ext.hooks[p.hook](p.data, signal));
  host.handle("tool/run", (p, signal) => ext.tools[p.tool](p.input, signal));
  host.handle("command/run", (p, signal) => ext.commands[p.command](p.args, signal));
  host.handle("event", (p) => ext.events && ext.events(p.type, p.event));
  host.handle("extension/unload", (p) => ext.unload && ext.unload(p.reason));
})();`

// envLimits is the variable by which the child learns of other limits.
const envLimits = "SCOREL_TEST_LIMITS"

// Within is a variable for Start that gives the child other js.Limits. Zero values mean
// the usual ones.
func Within(handler, busy time.Duration) string {
	text, _ := json.Marshal(js.Limits{Handler: handler, Busy: busy}) // two numbers always can be
	return envLimits + "=" + string(text)
}

// RunChild is for TestMain: in a process that Start made it is the child and does not
// return.
func RunChild() {
	if len(os.Args) > 1 && os.Args[1] == rpc.ChildName {
		var limits js.Limits
		if text := os.Getenv(envLimits); text != "" {
			if err := json.Unmarshal([]byte(text), &limits); err != nil {
				panic(err)
			}
		}
		os.Exit(js.MainWithin(limits, os.Args[2:], "test", []js.Script{{Name: "prelude", Source: func() []byte { return []byte(Prelude) }}}))
	}
}

// Host is the other end of a child.
type Host struct {
	t    testing.TB
	in   io.WriteCloser
	Cmd  *exec.Cmd
	Page *rpc.Page
	done chan struct{}

	mu      sync.Mutex
	next    int
	pending map[int]chan Answer
	notes   []Note
	changed chan struct{}
	calls   map[string]func(params json.RawMessage) (any, error)
	stderr  strings.Builder
}

// Answer is what a call gave.
type Answer struct {
	Result json.RawMessage
	Err    *Error
}

// Error is an error answer.
type Error struct {
	Code    int
	Message string
	Data    rpc.ErrorData
}

func (e *Error) Error() string { return e.Message }

// Note is a notification of the child.
type Note struct {
	Method string
	Params json.RawMessage
}

// Start starts a child process, which the test's end ends. Env are added variables.
func Start(t testing.TB, env ...string) *Host {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return StartBinary(t, self, env...)
}

// StartBinary starts the child of a binary.
func StartBinary(t testing.TB, path string, env ...string) *Host {
	t.Helper()
	page, file, err := rpc.NewPage()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, rpc.ChildName, "3")
	cmd.ExtraFiles = []*os.File{file}
	cmd.Env = append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	file.Close()
	h := newHost(t, in, cmd, page)
	var wg sync.WaitGroup
	wg.Go(func() { h.read(out) })
	wg.Go(func() {
		b, _ := io.ReadAll(errs)
		h.mu.Lock()
		h.stderr.Write(b)
		h.mu.Unlock()
	})
	go func() { // ends with the child
		wg.Wait()
		_ = cmd.Wait()
		close(h.done)
	}()
	t.Cleanup(func() {
		in.Close()
		select {
		case <-h.done:
		case <-time.After(2 * time.Minute):
			_ = cmd.Process.Kill()
			<-h.done
			t.Error("the child did not end when its input was closed")
		}
		page.Close()
	})
	return h
}

func newHost(t testing.TB, in io.WriteCloser, cmd *exec.Cmd, page *rpc.Page) *Host {
	return &Host{t: t, in: in, Cmd: cmd, Page: page, done: make(chan struct{}), pending: map[int]chan Answer{}, changed: make(chan struct{}), calls: map[string]func(json.RawMessage) (any, error){}}
}

func (h *Host) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *Error
		}
		if err := json.Unmarshal(line, &m); err != nil {
			h.t.Errorf("the child wrote %q", line)
			continue
		}
		switch {
		case m.Method == "":
			var id int
			_ = json.Unmarshal(m.ID, &id)
			h.mu.Lock()
			ch := h.pending[id]
			delete(h.pending, id)
			h.mu.Unlock()
			if ch != nil {
				ch <- Answer{m.Result, m.Error}
			}
		case len(m.ID) > 0:
			go h.answer(m.ID, m.Method, m.Params) // ends with what the test does for the call
		default:
			h.mu.Lock()
			h.notes = append(h.notes, Note{m.Method, m.Params})
			close(h.changed)
			h.changed = make(chan struct{})
			h.mu.Unlock()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, ch := range h.pending {
		ch <- Answer{Err: &Error{Message: "the child has ended"}}
		delete(h.pending, id)
	}
	h.pending = nil
}

func (h *Host) answer(id json.RawMessage, method string, params json.RawMessage) {
	h.mu.Lock()
	f := h.calls[method]
	h.mu.Unlock()
	var v any
	err := fmt.Errorf("the test does not expect a call of %s", method)
	if f != nil {
		v, err = f(params)
	}
	if err != nil {
		msg, _ := json.Marshal(err.Error())
		h.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%s}}`, id, msg))
		return
	}
	data, err := json.Marshal(v)
	if err != nil {
		h.t.Errorf("answer %s: %v", method, err)
	}
	h.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, data))
}

// OnCall says how the host answers a method of the child.
func (h *Host) OnCall(method string, f func(params json.RawMessage) (any, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls[method] = f
}

func (h *Host) write(line []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = h.in.Write(append(line, '\n'))
}

// Send sends a request; the answer comes on the channel.
func (h *Host) Send(method string, params any) (id int, answer <-chan Answer) {
	h.t.Helper()
	data, err := json.Marshal(params)
	if err != nil {
		h.t.Fatal(err)
	}
	ch := make(chan Answer, 1)
	h.mu.Lock()
	h.next++
	id = h.next
	if h.pending == nil {
		ch <- Answer{Err: &Error{Message: "the child has ended"}}
	} else {
		h.pending[id] = ch
	}
	h.mu.Unlock()
	h.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, data))
	return id, ch
}

// Call sends a request and waits for its answer.
func (h *Host) Call(method string, params any) (json.RawMessage, error) {
	h.t.Helper()
	_, ch := h.Send(method, params)
	return h.Await(method, ch)
}

// Await waits for an answer.
func (h *Host) Await(what string, ch <-chan Answer) (json.RawMessage, error) {
	h.t.Helper()
	select {
	case a := <-ch:
		if a.Err != nil {
			return nil, a.Err
		}
		return a.Result, nil
	case <-time.After(3 * time.Minute): // only what hangs takes so long, also where much else runs
		h.t.Fatalf("%s was not answered", what)
		return nil, errors.New("no answer")
	}
}

// Notify sends a notification.
func (h *Host) Notify(method string, params any) {
	data, err := json.Marshal(params)
	if err != nil {
		h.t.Fatal(err)
	}
	h.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, method, data))
}

// Begin sends initialize.
func (h *Host) Begin(cwd string) {
	h.t.Helper()
	if _, err := h.Call(rpc.MethodInitialize, rpc.Initialize{Protocol: rpc.Version, Version: "test",
		Session: rpc.Session{ID: "s_1", Cwd: cwd, ProjectRoot: cwd, Mode: "rpc"}, State: rpc.State{Idle: true}}); err != nil {
		h.t.Fatal(err)
	}
}

// Load loads an extension from files in dir, the first of which is its entry.
func (h *Host) Load(id, path string) (*rpc.Registration, error) {
	h.t.Helper()
	data, err := h.Call(rpc.MethodLoad, rpc.Load{Ext: id, Path: path, Scope: "user", Root: filepath.Dir(path), Reason: "startup"})
	if err != nil {
		return nil, err
	}
	var r rpc.Registration
	if err := json.Unmarshal(data, &r); err != nil {
		h.t.Fatal(err)
	}
	return &r, nil
}

// Hook calls a hook.
func (h *Host) Hook(ext, hook string, data any) (json.RawMessage, error) {
	h.t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.Call(rpc.MethodHook, rpc.HookCall{Ext: ext, Hook: hook, Data: raw})
}

// Note waits for a notification that fits.
func (h *Host) Note(method, contains string) Note {
	h.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		h.mu.Lock()
		for _, n := range h.notes {
			if n.Method == method && strings.Contains(string(n.Params), contains) {
				h.mu.Unlock()
				return n
			}
		}
		changed := h.changed
		h.mu.Unlock()
		select {
		case <-changed:
		case <-h.done:
			h.t.Fatalf("the child ended before it sent %s with %q; stderr: %s", method, contains, h.Stderr())
		case <-deadline:
			h.t.Fatalf("the child did not send %s with %q", method, contains)
		}
	}
}

// Notes returns all notifications of a method so far.
func (h *Host) Notes(method string) []Note {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []Note
	for _, n := range h.notes {
		if n.Method == method {
			all = append(all, n)
		}
	}
	return all
}

// Ended waits until the child has ended.
func (h *Host) Ended() {
	h.t.Helper()
	select {
	case <-h.done:
	case <-time.After(60 * time.Second):
		h.t.Fatal("the child did not end")
	}
}

// Done is closed when the child has ended.
func (h *Host) Done() <-chan struct{} { return h.done }

// Stderr is what the child wrote there, once it has ended.
func (h *Host) Stderr() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stderr.String()
}
