package prelude

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/extension/js"
	"scorel/internal/extension/rpc"
)

// child is the engine that runs extensions, served in the test's own process, and the
// host's end of its pipes.
type child struct {
	d   *double
	dir string // the extensions' files

	write sync.Mutex // one line at a time, in the order in which things happen
	in    io.WriteCloser
	sent  int // entries that the child has

	mu      sync.Mutex
	next    int
	exts    int
	pending map[int]chan answered
	closed  bool
}

type answered struct {
	result json.RawMessage
	err    error
}

// extension is one that is loaded.
type extension struct {
	d   *double
	c   *child
	id  string
	reg rpc.Registration
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// start serves a child until the test's end.
func (d *double) start() *child {
	d.t.Helper()
	in, host := io.Pipe()
	out, toHost := io.Pipe()
	c := &child{d: d, dir: d.t.TempDir(), in: host, pending: map[int]chan answered{}}
	served := make(chan error, 1)
	go func() { // ends when the host's end is closed
		err := js.Serve(js.Config{In: in, Out: toHost, Prelude: Scripts(), Env: []string{"HOME=/home/u"}, Version: "test", MaxCall: d.maxCall, Watch: d.watch})
		toHost.Close()
		served <- err
	}()
	go c.read(out) // ends with the child
	d.t.Cleanup(func() {
		c.in.Close()
		if err := <-served; err != nil {
			d.t.Errorf("the child ended with %v", err)
		}
	})
	if _, err := c.call(rpc.MethodInitialize, rpc.Initialize{Protocol: rpc.Version, Version: "test", Session: d.session, State: d.state}); err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (c *child) read(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			c.d.t.Errorf("the child wrote %q", line)
			continue
		}
		switch {
		case m.Method == "":
			var id int
			_ = json.Unmarshal(m.ID, &id)
			a := answered{result: m.Result}
			if m.Error != nil {
				a.err = errors.New(m.Error.Message)
			}
			c.mu.Lock()
			ch := c.pending[id]
			delete(c.pending, id)
			c.mu.Unlock()
			if ch != nil {
				ch <- a
			}
		case m.ID == nil:
			c.d.noted(m.Method, m.Params)
		default:
			c.d.record(m.Method, m.Params)
			go c.serve(m) // ends with its answer: a call may wait for another
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, ch := range c.pending {
		ch <- answered{err: errors.New("the child has ended")}
	}
}

func (c *child) serve(m message) {
	v, err := c.d.serve(m.Method, m.Params)
	c.d.served(m.Method)
	if err != nil {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, m.ID, rpc.ErrFailed, marshal(err.Error())))
		return
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, marshal(v)))
}

// send writes a line after what has changed of the conversation.
func (c *child) send(line string) {
	c.write.Lock()
	defer c.write.Unlock()
	c.d.mu.Lock()
	note := rpc.Entries{Keep: min(c.sent, len(c.d.entries)), Add: []json.RawMessage{}}
	if c.d.replaced {
		note.Keep = 0
	}
	for _, e := range c.d.entries[note.Keep:] {
		note.Add = append(note.Add, marshal(e))
	}
	changed := note.Keep != c.sent || len(note.Add) > 0
	c.sent, c.d.replaced = len(c.d.entries), false
	state := marshal(c.d.state)
	c.d.mu.Unlock()
	if changed {
		fmt.Fprintf(c.in, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", rpc.NoteEntries, marshal(note))
	}
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", rpc.NoteState, state)
	fmt.Fprintln(c.in, line)
}

// begin sends a request; its answer comes on the channel.
func (c *child) begin(method string, params any) <-chan answered {
	ch := make(chan answered, 1)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		ch <- answered{err: errors.New("the child has ended")}
		return ch
	}
	c.next++
	id := c.next
	c.pending[id] = ch
	c.mu.Unlock()
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, marshal(params))
	if method == rpc.MethodInitialize {
		fmt.Fprintln(c.in, line)
	} else {
		c.send(line)
	}
	return ch
}

func (c *child) call(method string, params any) (json.RawMessage, error) {
	select {
	case a := <-c.begin(method, params):
		return a.result, a.err
	case <-time.After(2 * time.Minute):
		return nil, fmt.Errorf("%s was not answered", method)
	}
}

// ask sends a request to the extension.
func (e *extension) ask(method string, params any) (json.RawMessage, error) {
	return e.c.call(method, e.own(params))
}

// own returns parameters with the extension's id.
func (e *extension) own(params any) map[string]any {
	var fields map[string]any
	mustUnmarshal(e.d.t, marshal(params), &fields)
	fields["ext"] = e.id
	return fields
}

// tell sends a notification to the extension, and waits until it has been taken: what an
// extension is told and asked it takes in order.
func (e *extension) tell(method string, params any) {
	e.send(method, params)
	if _, err := e.ask(rpc.MethodComplete, rpc.CommandComplete{Command: "none"}); err != nil {
		e.d.t.Fatal(err)
	}
}

// send sends a notification to the extension.
func (e *extension) send(method string, params any) {
	e.c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, marshal(e.own(params))))
}

// load loads a file as an extension.
func (d *double) load(file string) *extension {
	d.t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		d.t.Fatal(err)
	}
	e, err := d.loadPath(path)
	if err != nil {
		d.t.Fatalf("%s: %v", file, err)
	}
	return e
}

func (d *double) loadSource(source string) *extension {
	d.t.Helper()
	e, err := d.tryLoad(source)
	if err != nil {
		d.t.Fatal(err)
	}
	return e
}

func (d *double) tryLoad(source string) (*extension, error) {
	path := filepath.Join(d.t.TempDir(), "extension.ts")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return d.loadPath(path)
}

func (d *double) loadPath(path string) (*extension, error) {
	if d.child == nil {
		d.child = d.start()
	}
	d.child.mu.Lock()
	d.child.exts++
	id := fmt.Sprintf("ext%d", d.child.exts)
	d.child.mu.Unlock()
	e := &extension{d: d, c: d.child, id: id}
	data, err := e.ask(rpc.MethodLoad, rpc.Load{Path: path, Scope: "user", Root: filepath.Dir(path), Config: d.config, Reason: "startup"})
	if err != nil {
		return nil, err
	}
	mustUnmarshal(d.t, data, &e.reg)
	return e, nil
}
