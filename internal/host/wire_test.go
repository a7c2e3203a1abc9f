package host_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// wire is a client at the level of calls and frames, with its own id.
type wire struct {
	w    *world
	conn *host.Conn
	id   protocol.ClientID
	rest []protocol.Event // of a frame, behind what was waited for
}

// plug connects a client of a grant to the world's host.
func (w *world) plug(name string, interactive bool, grant protocol.Grant) *wire {
	w.t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return w.plugAs(protocol.ClientIDOf(key), name, interactive, grant)
}

func (w *world) plugAs(id protocol.ClientID, name string, interactive bool, grant protocol.Grant) *wire {
	w.t.Helper()
	conn, err := w.host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: id, ClientName: name, Interactive: interactive}, grant)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	return &wire{w: w, conn: conn, id: id}
}

func (c *wire) try(id protocol.SessionID, r protocol.Request) (protocol.Response, *protocol.Error) {
	c.w.t.Helper()
	reply, err := c.conn.Call(context.Background(), newCall(id, r))
	if err != nil {
		c.w.t.Fatalf("%s: %v", r.Spec().Name, err)
	}
	return reply.Data, reply.Err
}

func (c *wire) do(id protocol.SessionID, r protocol.Request) protocol.Response {
	c.w.t.Helper()
	data, err := c.try(id, r)
	if err != nil {
		c.w.t.Fatalf("%s: %v", r.Spec().Name, err)
	}
	return data
}

// frame waits for the next frame.
func (c *wire) frame() protocol.Frame {
	c.w.t.Helper()
	select {
	case f := <-c.conn.Frames():
		return f
	case <-time.After(patience):
		c.w.t.Fatal("no frame came")
	case <-c.conn.Done():
		c.w.t.Fatal("the connection has ended")
	}
	return nil
}

// news waits for the next frame of a type that fits. Others are passed over.
func news[F protocol.Frame](c *wire, fits func(F) bool) F {
	c.w.t.Helper()
	for {
		if f, ok := c.frame().(F); ok && fits(f) {
			return f
		}
	}
}

// caughtUp is a catching up: how it began, what came, and the state at its end.
type caughtUp struct {
	mode   protocol.Resync
	events []protocol.Event
	live   protocol.Live
}

// catchUp takes the frames of a catching up, passing over those of the device.
func (c *wire) catchUp() (got caughtUp) {
	c.w.t.Helper()
	for {
		switch f := c.frame().(type) {
		case *protocol.ResyncFrame:
			got.mode = f.Mode
		case *protocol.EventsFrame:
			got.events = append(got.events, f.Events...)
		case *protocol.LiveFrame:
			got.live = f.Live
			return got
		case *protocol.SessionClosed:
			c.w.t.Fatalf("the session was closed: %v", f.Err)
		}
	}
}

// open subscribes and catches up.
func (c *wire) open(id protocol.SessionID, a *protocol.Anchors, tail int) caughtUp {
	c.w.t.Helper()
	c.do(id, &protocol.OpenSession{Anchors: a, Tail: tail})
	c.rest = nil
	return c.catchUp()
}

// until takes events until one fits, and gives all of them.
func (c *wire) until(fits func(protocol.Event) bool) (all []protocol.Event) {
	c.w.t.Helper()
	for {
		for len(c.rest) > 0 {
			e := c.rest[0]
			c.rest, all = c.rest[1:], append(all, e)
			if fits(e) {
				return all
			}
		}
		if f, ok := c.frame().(*protocol.EventsFrame); ok {
			c.rest = f.Events
		}
	}
}

// newSession makes a session without opening it.
func (c *wire) newSession() protocol.SessionID {
	c.w.t.Helper()
	p := c.do("", &protocol.RegisterProject{WorkDir: c.w.project}).(*protocol.Project)
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	c.do(id, &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: c.w.project}})
	return id
}

// written writes a session of messages into the store, each with so many bytes, as if
// a host had; it gives its events.
func (w *world) written(sizes ...int) (protocol.SessionID, []protocol.Event) {
	w.t.Helper()
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	head := fmt.Sprintf(`{"version":1,"sessionId":%q,"deviceId":"dev_0000000000000000","createdAt":1,"meta":{"workDir":%q}}`, id, w.project)
	log := bytes.NewBufferString(head + "\n")
	var events []protocol.Event
	parent := protocol.EventID("")
	for i, size := range sizes {
		e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText(string(bytes.Repeat([]byte{byte('a' + i%26)}, size)))})
		e.ID, e.ParentID, e.Seq, e.SessionID, e.ClientID, e.TS = protocol.NewEventID(rand.Reader), parent, protocol.Seq(i+1), id, protocol.HostClient, 1
		e, err := e.Seal()
		if err != nil {
			w.t.Fatal(err)
		}
		log.Write(e.Raw())
		log.WriteByte('\n')
		parent = e.ID
		events = append(events, e)
	}
	w.write(filepath.Join(w.home, ".scorel", "sessions", string(id)+".jsonl"), log.String())
	return id, events
}

// sized gives n sizes.
func sized(n, size int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = size
	}
	return out
}

// diagnostics reads the diagnostics file of a session.
func (w *world) diagnostics(id protocol.SessionID) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.home, ".scorel", "sessions", string(id)+".log"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// servingWorld makes a world with a serving host.
func servingWorld(t *testing.T, s setting, lines ...string) *world {
	t.Helper()
	w := newWorld(t, s, lines...)
	w.config.Serving = true
	w.restart()
	return w
}

func (w *world) readAll(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}
