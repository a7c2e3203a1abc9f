package hosttest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// Caller is a client that sends calls as they are, with ids of its own.
type Caller struct {
	W    *World
	Key  protocol.ClientID
	Conn *host.Conn
}

func (w *World) Caller() *Caller {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	c := &Caller{W: w, Key: protocol.ClientIDOf(key)}
	c.Connect()
	return c
}

// Connect connects again, as after a lost connection or a restart of the host.
func (c *Caller) Connect() {
	c.W.T.Helper()
	conn, err := c.W.Host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: c.Key, ClientName: "test"}, protocol.GrantControl)
	if err != nil {
		c.W.T.Fatal(err)
	}
	c.Conn = conn
	c.W.T.Cleanup(func() { _ = conn.Close() })
}

func (c *Caller) Call(call protocol.Call) protocol.Reply {
	c.W.T.Helper()
	r, err := c.Conn.Call(context.Background(), call)
	if err != nil {
		c.W.T.Fatal(err)
	}
	return r
}

func AsText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func NewCall(id protocol.SessionID, r protocol.Request) protocol.Call {
	return protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: id, Request: r}
}

// Caused returns the events of the log that completed a request.
func (w *World) Caused(call protocol.Call) (ids []protocol.EventID) {
	for _, e := range w.Log(call.SessionID) {
		if e.Cause != nil && e.Cause.RequestID == call.RequestID {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// Twice sends a request, loses its answer with the host, and repeats it: at the next
// host and, there, after more other results than are remembered.
func (c *Caller) Twice(w *World, sent protocol.Call) (before, after protocol.Reply) {
	w.T.Helper()
	before = c.Call(sent)
	if before.Err != nil {
		w.T.Fatalf("%s: %v", sent.Request.Spec().Name, before.Err)
	}
	w.Restart()
	c.Connect()
	sent.Repeat = true
	after = c.Call(sent)
	for range 257 {
		c.Call(NewCall(sent.SessionID, &protocol.Cancel{TurnID: "trn_0000000000000000"}))
	}
	third := c.Call(sent)
	if AsText(w.T, third) != AsText(w.T, after) {
		w.T.Errorf("%s: answered %s, and behind 257 others %s", sent.Request.Spec().Name, AsText(w.T, after), AsText(w.T, third))
	}
	return before, after
}

// Wire is a client at the level of calls and frames, with its own id.
type Wire struct {
	W    *World
	Conn *host.Conn
	Id   protocol.ClientID
	rest []protocol.Event // of a frame, after what was waited for
}

// Plug connects a client of a grant to the world's host.
func (w *World) Plug(name string, interactive bool, grant protocol.Grant) *Wire {
	w.T.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return w.PlugAs(protocol.ClientIDOf(key), name, interactive, grant)
}

func (w *World) PlugAs(id protocol.ClientID, name string, interactive bool, grant protocol.Grant) *Wire {
	w.T.Helper()
	conn, err := w.Host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: id, ClientName: name, Interactive: interactive}, grant)
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = conn.Close() })
	return &Wire{W: w, Conn: conn, Id: id}
}

func (c *Wire) Try(id protocol.SessionID, r protocol.Request) (protocol.Response, *protocol.Error) {
	c.W.T.Helper()
	reply, err := c.Conn.Call(context.Background(), NewCall(id, r))
	if err != nil {
		c.W.T.Fatalf("%s: %v", r.Spec().Name, err)
	}
	return reply.Data, reply.Err
}

func (c *Wire) Do(id protocol.SessionID, r protocol.Request) protocol.Response {
	c.W.T.Helper()
	data, err := c.Try(id, r)
	if err != nil {
		c.W.T.Fatalf("%s: %v", r.Spec().Name, err)
	}
	return data
}

// Frame waits for the next frame.
func (c *Wire) Frame() protocol.Frame {
	c.W.T.Helper()
	select {
	case f := <-c.Conn.Frames():
		return f
	case <-time.After(Patience):
		c.W.T.Fatal("no frame came")
	case <-c.Conn.Done():
		c.W.T.Fatal("the connection has ended")
	}
	return nil
}

// caughtUp is a catching up: how it began, what came, and the state at its end.
type caughtUp struct {
	Mode   protocol.Resync
	Events []protocol.Event
	Live   protocol.Live
}

// catchUp takes the frames of a catching up, passing over those of the device.
func (c *Wire) catchUp() (got caughtUp) {
	c.W.T.Helper()
	for {
		switch f := c.Frame().(type) {
		case *protocol.ResyncFrame:
			got.Mode = f.Mode
		case *protocol.EventsFrame:
			got.Events = append(got.Events, f.Events...)
		case *protocol.LiveFrame:
			got.Live = f.Live
			return got
		case *protocol.SessionClosed:
			c.W.T.Fatalf("the session was closed: %v", f.Err)
		}
	}
}

// Open subscribes and catches up.
func (c *Wire) Open(id protocol.SessionID, a *protocol.Anchors, tail int) caughtUp {
	c.W.T.Helper()
	c.Do(id, &protocol.OpenSession{Anchors: a, Tail: tail})
	c.rest = nil
	return c.catchUp()
}

// Until takes events until one fits, and returns all of them.
func (c *Wire) Until(fits func(protocol.Event) bool) (all []protocol.Event) {
	c.W.T.Helper()
	for {
		for len(c.rest) > 0 {
			e := c.rest[0]
			c.rest, all = c.rest[1:], append(all, e)
			if fits(e) {
				return all
			}
		}
		if f, ok := c.Frame().(*protocol.EventsFrame); ok {
			c.rest = f.Events
		}
	}
}

// NewSession makes a session without opening it.
func (c *Wire) NewSession() protocol.SessionID {
	c.W.T.Helper()
	p := c.Do("", &protocol.RegisterProject{WorkDir: c.W.Project}).(*protocol.Project)
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	c.Do(id, &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: c.W.Project}})
	return id
}

// Written writes a session of messages into the store, each with so many bytes, as if
// a host had; it gives its events.
func (w *World) Written(sizes ...int) (protocol.SessionID, []protocol.Event) {
	w.T.Helper()
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	head := fmt.Sprintf(`{"version":1,"sessionId":%q,"deviceId":"dev_0000000000000000","createdAt":1,"meta":{"workDir":%q}}`, id, w.Project)
	log := bytes.NewBufferString(head + "\n")
	var events []protocol.Event
	parent := protocol.EventID("")
	for i, size := range sizes {
		e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText(string(bytes.Repeat([]byte{byte('a' + i%26)}, size)))})
		e.ID, e.ParentID, e.Seq, e.SessionID, e.ClientID, e.TS = protocol.NewEventID(rand.Reader), parent, protocol.Seq(i+1), id, protocol.HostClient, 1
		e, err := e.Seal()
		if err != nil {
			w.T.Fatal(err)
		}
		log.Write(e.Raw())
		log.WriteByte('\n')
		parent = e.ID
		events = append(events, e)
	}
	w.Write(filepath.Join(w.Home, ".scorel", "sessions", string(id)+".jsonl"), log.String())
	return id, events
}

// Sized returns n sizes.
func Sized(n, size int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = size
	}
	return out
}

// Diagnostics reads the diagnostics file of a session.
func (w *World) Diagnostics(id protocol.SessionID) string {
	w.T.Helper()
	data, err := os.ReadFile(filepath.Join(w.Home, ".scorel", "sessions", string(id)+".log"))
	if err != nil {
		w.T.Fatal(err)
	}
	return string(data)
}

// ServingWorld makes a world with a serving host.
func ServingWorld(t *testing.T, s Setting, lines ...string) *World {
	t.Helper()
	w := New(t, s, lines...)
	w.Config.Serving = true
	w.Restart()
	return w
}

func (w *World) ReadAll(name string) string {
	w.T.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		w.T.Fatal(err)
	}
	return string(data)
}
