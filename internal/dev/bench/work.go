package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"scorel/client"
	"scorel/protocol"
)

// What a host at work has to do: turns in four sessions of 10,000 messages each (7 MB of
// log), each of which three clients follow.
const (
	workedSessions = 4
	followers      = 3 // of each
	workedTurns    = 25
)

// atWork measures the memory of a host whose long sessions are worked in.
func atWork(ctx context.Context, b *bench, n int) ([]figure, error) {
	rss := figure{Key: "work", Name: "4 sessions of 10,000 messages at work, 12 clients: resident", Unit: "MB", Goal: 100}
	peak := figure{Key: "work.peak", Name: "the same: the most", Unit: "MB"}
	anonymous := figure{Key: "work.anonymous", Name: "the same: anonymous", Unit: "MB"}
	median := figure{Key: "work.median", Name: "the same: resident during the turns, median", Unit: "MB"}
	for range repeats(n) {
		m, during, err := b.worked(ctx)
		if err != nil {
			return []figure{rss, peak, anonymous, median}, err
		}
		rss.Values = append(rss.Values, m.Resident/mega)
		peak.Values = append(peak.Values, m.Peak/mega)
		anonymous.Values = append(anonymous.Values, m.Anonymous/mega)
		median.Values = append(median.Values, during/mega)
	}
	return []figure{rss, peak, anonymous, median}, nil
}

// sampling is how often the memory of a host is read while it works.
const sampling = 20 * time.Millisecond

// worked returns the memory of the host when the last turn has ended, and the median of what
// was resident during the turns, in bytes: what one moment shows depends on the collector.
func (b *bench) worked(ctx context.Context) (memory, float64, error) {
	var ids []protocol.SessionID
	s, err := b.serveAfter(ctx, func(s *serving) error {
		for i := range workedSessions {
			id, _, err := s.world.session(b.load.long+4*i, false)
			if err != nil {
				return err
			}
			ids = append(ids, protocol.SessionID(id))
		}
		return nil
	})
	if err != nil {
		return memory{}, 0, err
	}
	defer s.end()
	answers := slices.Repeat([]string{`{"text":"It is done, and nothing is left over."}`}, workedSessions*workedTurns)
	if err := b.server.load(ctx, inOrder(0, answers...), false); err != nil {
		return memory{}, 0, err
	}
	errs := make(chan error, len(ids)*followers)
	for _, id := range ids {
		for i := range followers {
			c, err := s.connect(ctx)
			if err != nil {
				return memory{}, 0, err
			}
			defer func() { _ = c.Close() }()
			session, err := c.Open(ctx, id, 50)
			if err != nil {
				return memory{}, 0, err
			}
			turns := 0
			if i == 0 {
				turns = workedTurns
			}
			go func() { errs <- follow(ctx, c, session, id, turns) }() // ends with the turns, or the connection
		}
	}
	var during series
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	for ended := 0; ended < len(ids); {
		select {
		case err := <-errs:
			if err != nil {
				return memory{}, 0, err
			}
			ended++
		case <-tick.C:
			bytes, err := resident(s.cmd.Process.Pid)
			if err != nil {
				return memory{}, 0, err
			}
			during = append(during, bytes)
		}
	}
	m, err := readMemory(s.cmd.Process.Pid)
	return m, during.median(), err
}

// follow takes the events of a session. With turns it sends so many messages, each when
// the turn before it has ended, and returns after the last one; without it follows until
// the connection ends.
func follow(ctx context.Context, c *client.Client, session *client.Session, id protocol.SessionID, turns int) error {
	for sent := 0; ; {
		if sent == 0 && turns > 0 {
			if err := sendPart(ctx, c, id, sent); err != nil {
				return err
			}
			sent++
		}
		u, err := session.Next(ctx)
		if err != nil {
			if turns == 0 {
				return nil
			}
			return err
		}
		for _, e := range u.Events {
			if e.Type != protocol.TypeRuntimeEnd || turns == 0 {
				continue
			}
			if end := e.Body.(*protocol.RuntimeEnd); end.Terminal != protocol.TerminalCompleted {
				return fmt.Errorf("a turn ended with %s", end.Terminal)
			}
			if sent == turns {
				return nil
			}
			if err := sendPart(ctx, c, id, sent); err != nil {
				return err
			}
			sent++
		}
	}
}

func sendPart(ctx context.Context, c *client.Client, id protocol.SessionID, n int) error {
	_, err := client.Call[*protocol.Sent](ctx, c, id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text(fmt.Sprintf("Go on with part %d.", n))}})
	return err
}
