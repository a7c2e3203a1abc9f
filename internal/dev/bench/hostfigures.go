package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"scorel/client"
	"scorel/protocol"
)

// repeats is how often what takes seconds is measured.
func repeats(n int) int { return max(1, n/7) }

// idle measures the memory of a host that has nothing to do.
func idle(ctx context.Context, b *bench, n int) ([]figure, error) {
	empty := figure{Key: "host", Name: "idle host, no sessions: anonymous", Unit: "MB", Goal: 15}
	full := figure{Key: "host.1000", Name: "idle host, 1,000 sessions, 20 used: anonymous", Unit: "MB", Goal: 25}
	for range repeats(n) {
		mb, err := b.idleHost(ctx, 0, 0)
		if err != nil {
			return []figure{empty, full}, err
		}
		empty.Values = append(empty.Values, mb)
		if mb, err = b.idleHost(ctx, b.load.idle, b.load.used); err != nil {
			return []figure{empty, full}, err
		}
		full.Values = append(full.Values, mb)
	}
	return []figure{empty, full}, nil
}

// settling is how long a host is left alone before its memory is read.
const settling = 2 * time.Second

// idleHost returns the anonymous memory, in megabytes, of a host that has sessions on
// disk, in some of which a turn has just been run.
func (b *bench) idleHost(ctx context.Context, sessions, used int) (float64, error) {
	s, err := b.serve(ctx, sessions)
	if err != nil {
		return 0, err
	}
	defer s.end()
	if used > 0 {
		if err := s.use(ctx, used); err != nil {
			return 0, err
		}
	}
	time.Sleep(settling)
	m, err := readMemory(s.cmd.Process.Pid)
	return m.Anonymous / mega, err
}

// use runs a turn in the newest sessions, and leaves.
func (s *serving) use(ctx context.Context, n int) error {
	if err := s.b.server.load(ctx, "{\"script\":1}\n{\"again\":true,\"do\":[{\"text\":\"I am there.\"}]}\n", true); err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	list, err := client.Call[*protocol.SessionList](ctx, c, "", &protocol.ListSessions{Limit: n})
	if err != nil || len(list.Sessions) < n {
		return fmt.Errorf("%d sessions are listed: %w", len(list.Sessions), err)
	}
	for _, sum := range list.Sessions {
		session, err := c.Open(ctx, sum.SessionID, 50)
		if err != nil {
			return err
		}
		if _, err := client.Call[*protocol.Sent](ctx, c, sum.SessionID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("Are you there?")}}); err != nil {
			return err
		}
		for ended := false; !ended; {
			u, err := session.Next(ctx)
			if err != nil {
				return err
			}
			for _, e := range u.Events {
				ended = ended || e.Type == protocol.TypeRuntimeEnd
			}
		}
		if err := session.Close(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fanOut measures one answer that a thousand clients see.
func fanOut(ctx context.Context, b *bench, n int) ([]figure, error) {
	p99 := figure{Key: "fanout", Name: "1 session, 1,000 clients, 200 deltas/s: delivery p99", Unit: "ms", Goal: 40}
	cores := figure{Key: "fanout.cpu", Name: "the same: the host computes", Unit: "cores", Goal: 1.2}
	rss := figure{Key: "fanout.rss", Name: "the same: the host's memory", Unit: "MB", Goal: 250}
	for range repeats(n) {
		out, err := b.stream(ctx, 1, b.load.listeners, b.load.pieces, 5)
		if err != nil {
			return []figure{p99, cores, rss}, err
		}
		p99.Values, cores.Values, rss.Values = append(p99.Values, out.P99), append(cores.Values, out.HostCores), append(rss.Values, out.HostRSS/mega)
		p99.Runs = appendRun(p99.Runs, out)
	}
	return []figure{p99, cores, rss}, nil
}

// manySessions measures a hundred answers at once, each for one client.
func manySessions(ctx context.Context, b *bench, n int) ([]figure, error) {
	p99 := figure{Key: "sessions", Name: "100 sessions stream, 1 client each: delivery p99", Unit: "ms", Goal: 50}
	for range repeats(n) {
		out, err := b.stream(ctx, b.load.sessions, b.load.sessions, b.load.pieces/3, 20)
		if err != nil {
			return []figure{p99}, err
		}
		p99.Values, p99.Runs = append(p99.Values, out.P99), appendRun(p99.Runs, out)
	}
	return []figure{p99}, nil
}

// latency measures what the host adds to an answer for one client.
func latency(ctx context.Context, b *bench, n int) ([]figure, error) {
	p50 := figure{Key: "latency", Name: "from the model's delta to a client: p50", Unit: "ms", Goal: 0.2}
	p99 := figure{Key: "latency.p99", Name: "from the model's delta to a client: p99", Unit: "ms", Goal: 2}
	for range repeats(n) {
		out, err := b.stream(ctx, 1, 1, b.load.pieces, 5)
		if err != nil {
			return []figure{p50, p99}, err
		}
		p50.Values, p99.Values = append(p50.Values, out.P50), append(p99.Values, out.P99)
		p50.Runs = appendRun(p50.Runs, out)
	}
	return []figure{p50, p99}, nil
}

func appendRun(runs any, out streamed) any {
	all, _ := runs.([]streamed)
	return append(all, out)
}

// reconnect measures how long a client that has missed events takes from dialling to
// the live state.
func reconnect(ctx context.Context, b *bench, n int) ([]figure, error) {
	f := figure{Key: "reconnect", Name: "reconnect with 1,000 missed events", Unit: "ms", Goal: 15}
	values, err := b.reconnects(ctx, b.load.missed, n)
	f.Values = values
	return []figure{f}, err
}

func (b *bench) reconnects(ctx context.Context, missed, n int) (series, error) {
	s, err := b.serve(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer s.end()
	id, _, err := s.world.session(2*missed, false)
	if err != nil {
		return nil, err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	session := protocol.SessionID(id)
	if _, err := c.Open(ctx, session, 0); err != nil { // so that it stays open
		return nil, err
	}
	var anchors protocol.Anchors
	connected, err := c.Connected(ctx)
	if err != nil {
		return nil, err
	}
	page, err := client.Call[*protocol.Events](ctx, c, session, &protocol.GetTree{Limit: missed})
	if err != nil {
		return nil, err
	}
	last := page.Events[len(page.Events)-1]
	anchors.DeviceID, anchors.PersistentLastSeq, anchors.PersistentLastID = connected.DeviceID, last.Seq, last.ID
	anchors.StreamEpoch, anchors.StreamLastSeq = protocol.NewEpoch(rand.Reader), last.Seq
	ws, err := s.address()
	if err != nil {
		return nil, err
	}
	var out series
	for range n {
		ms, err := comeBack(ctx, ws, session, anchors, missed)
		if err != nil {
			return nil, err
		}
		out = append(out, ms)
	}
	return out, nil
}

// comeBack dials, opens a session from where the client stood, and reads to the live
// state.
func comeBack(ctx context.Context, ws *client.WebSocket, session protocol.SessionID, anchors protocol.Anchors, missed int) (float64, error) {
	begun := time.Now()
	t, _, err := ws.Dial(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = t.Close() }()
	answered := make(chan error, 1)
	go func() { // ends with the answer, or the transport
		reply, err := t.Call(ctx, protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: session, Request: &protocol.OpenSession{Anchors: &anchors}})
		if err == nil && reply.Err != nil {
			err = reply.Err
		}
		answered <- err
	}()
	events := 0
	for {
		f, err := t.Recv(ctx)
		if err != nil {
			return 0, err
		}
		switch f := f.(type) {
		case *protocol.EventsFrame:
			events += len(f.Events)
		case *protocol.LiveFrame:
			took := milliseconds(time.Since(begun))
			if events != missed {
				return 0, fmt.Errorf("%d events came, and %d were missed", events, missed)
			}
			return took, <-answered
		}
	}
}
