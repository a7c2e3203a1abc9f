package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/protocol"
)

// clientOf is a client of the library that keeps itself connected to the socket.
func (w *world) clientOf(name string) *client.Client {
	w.t.Helper()
	ws := &client.WebSocket{URL: "unix:" + w.socket, Token: testToken, ClientID: protocol.ClientIDOf([]byte(name)), ClientName: name, Interactive: true}
	c := client.Connect(client.Config{Dial: ws.Dial})
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// follower reads a session as an entry does.
type follower struct {
	t      *testing.T
	s      *client.Session
	screen *client.Projection
	got    []protocol.Event // persistent events
	resync []protocol.Resync
}

func (w *world) follow(c *client.Client, id protocol.SessionID, tail int) *follower {
	w.t.Helper()
	s, err := c.Open(w.t.Context(), id, tail)
	if err != nil {
		w.t.Fatal(err)
	}
	return &follower{t: w.t, s: s, screen: client.NewProjection()}
}

// until reads on until something holds.
func (f *follower) until(what string, holds func() bool) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	for !holds() {
		u, err := f.s.Next(ctx)
		if err != nil {
			f.t.Fatalf("waiting for %s: %v", what, err)
		}
		if u.Resync != "" {
			f.resync = append(f.resync, u.Resync)
		}
		for _, e := range u.Events {
			if !e.IsTransient() {
				f.got = append(f.got, e)
			}
		}
		f.screen.Apply(u, &f.s.Live)
	}
}

// answered says whether so many answers have come and nothing runs.
func (f *follower) answered(n int) func() bool {
	return func() bool {
		count := 0
		for _, e := range f.got {
			if m, ok := e.Message(); ok && m.Role == protocol.RoleAssistant {
				count++
			}
		}
		return count == n && !f.s.Live.Running
	}
}

// shows gives the screen with what it lacked.
func (f *follower) shows() string {
	f.t.Helper()
	if err := f.s.Complete(f.t.Context(), f.screen); err != nil {
		f.t.Fatal(err)
	}
	data, err := json.Marshal(f.screen.Screen())
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

func (w *world) newSession(c *client.Client) protocol.SessionID {
	w.t.Helper()
	p, err := client.Call[*protocol.Project](w.t.Context(), c, "", &protocol.RegisterProject{WorkDir: w.project})
	if err != nil {
		w.t.Fatal(err)
	}
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	if _, err := client.Call[*protocol.SessionSummary](w.t.Context(), c, id, &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: w.project}}); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *world) say(c *client.Client, id protocol.SessionID, text string) {
	w.t.Helper()
	if _, err := client.Call[*protocol.Sent](w.t.Context(), c, id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text(text)}}); err != nil {
		w.t.Fatal(err)
	}
}

func TestASubscriptionSurvivesTheRestartOfItsHost(t *testing.T) {
	answer := `{"do":[{"text":"Hello."}]}`
	w := newWorld(t, setting{answers: []string{answer, answer, answer}})
	c := w.clientOf("one")
	id := w.newSession(c)
	f := w.follow(c, id, 10)
	w.say(c, id, "one")
	f.until("an answer", f.answered(1))
	w.restart()
	w.say(c, id, "two") // it waits for the connection
	f.until("an answer of the next host", f.answered(2))
	page, err := client.Call[*protocol.Events](t.Context(), c, id, &protocol.GetTree{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b protocol.Event) bool { return string(a.Raw()) == string(b.Raw()) }
	if !slices.EqualFunc(f.got, page.Events, same) {
		t.Errorf("it was given %d events, and the log has %d", len(f.got), len(page.Events))
	}
	if len(f.resync) < 2 || f.resync[0] != protocol.FullReload || slices.Contains(f.resync[1:], protocol.FullReload) {
		t.Errorf("it was brought up to date by %v", f.resync)
	}
	late := w.clientOf("two")
	g := w.follow(late, id, 1)
	g.until("the state", func() bool { return g.s.Live.ThroughSeq >= f.s.Live.ThroughSeq })
	if a, b := f.shows(), g.shows(); a != b {
		t.Errorf("who was there shows\n%s\nand who has joined\n%s", a, b)
	}
}

func TestAPageOfLongMessagesFitsIntoAMessageOfTheHost(t *testing.T) {
	const n = 8 // of 3.5 MB: more than a client takes at once
	w := newWorld(t, setting{})
	c := w.clientOf("one")
	id := w.newSession(c)
	ref, err := client.Call[*protocol.BlobRef](t.Context(), c, id, &protocol.ExportSession{Format: "jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if err := c.Fetch(t.Context(), id, ref, &log); err != nil {
		t.Fatal(err)
	}
	var parent protocol.EventID
	for i := range protocol.Seq(n) {
		e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText(strings.Repeat("long ", 700_000))})
		e.ID, e.ParentID, e.Seq, e.SessionID, e.ClientID = protocol.NewEventID(rand.Reader), parent, i+1, id, protocol.ClientIDOf([]byte("one"))
		line, err := e.AppendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(append(line, '\n'))
		parent = e.ID
	}
	put, err := c.Put(t.Context(), bytes.NewReader(log.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	other := protocol.NewSessionID(time.Now(), rand.Reader)
	if _, err := client.Call[*protocol.Imported](t.Context(), c, other, &protocol.ImportSession{Blobs: []string{put.SHA256}, WorkDir: w.project}); err != nil {
		t.Fatal(err)
	}
	f := w.follow(c, other, 0)
	f.until("the state", func() bool { return f.s.Live.LeafID != "" })
	f.shows()
	if s := f.screen.Screen(); len(s.Events) != n || s.More {
		t.Errorf("it holds %d events, more: %v", len(s.Events), s.More)
	}
	for after, got := protocol.Seq(0), 0; got < n; {
		page, err := client.Call[*protocol.Events](t.Context(), c, other, &protocol.GetTree{AfterSeq: after, Limit: 1000})
		if err != nil || len(page.Events) == 0 {
			t.Fatalf("behind %d: %d events, %v", after, len(page.Events), err)
		}
		got += len(page.Events)
		after = page.Events[len(page.Events)-1].Seq
	}
}
