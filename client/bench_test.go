package client

import (
	"testing"

	"scorel/protocol"
)

// BenchmarkCatchingUp is a reader that comes back to 1,000 persistent events it has
// missed, from its dialling to the state after them.
func BenchmarkCatchingUp(b *testing.B) {
	l := newListener(b)
	const missed = 1000
	frames := make([]*protocol.EventsFrame, 0, missed/250)
	for i := range missed {
		if i%250 == 0 {
			frames = append(frames, events())
		}
		f := frames[len(frames)-1]
		f.Events = append(f.Events, hung(protocol.Seq(i+1), protocol.Seq(i)))
	}
	l.call = func(p *peer, c protocol.Call) {
		p.reply(c, &protocol.SessionOpened{})
		p.frame(resync(protocol.PersistentFallback))
		for _, f := range frames {
			p.frame(f)
		}
		p.frame(alive("epo_1", missed, missed))
	}
	w := l.unix()
	b.ReportAllocs()
	for b.Loop() {
		c := Connect(Config{Dial: w.Dial})
		s, err := c.Open(b.Context(), one, 0)
		n := 0
		for fresh := false; err == nil && !fresh; {
			var u Update
			u, err = s.Next(b.Context())
			n, fresh = n+len(u.Events), u.Fresh
		}
		if err != nil || n != missed {
			b.Fatalf("%d events, %v", n, err)
		}
		_ = c.Close()
		<-l.joined
	}
}

// BenchmarkDelta is a delta on its way from the host's socket to the reader's screen.
func BenchmarkDelta(b *testing.B) {
	l := newListener(b)
	p := make(chan *peer, 1)
	l.call = func(at *peer, c protocol.Call) {
		at.reply(c, &protocol.SessionOpened{})
		at.frame(resync(protocol.FullReload))
		at.frame(alive("epo_1", 1, 1))
		p <- at
	}
	c := Connect(Config{Dial: l.unix().Dial})
	defer c.Close()
	s, err := c.Open(b.Context(), one, 0)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Next(b.Context()); err != nil {
		b.Fatal(err)
	}
	at, screen, seq := <-p, NewProjection(), protocol.Seq(1)
	b.ReportAllocs()
	for b.Loop() {
		seq++
		e := protocol.NewEvent(&protocol.TextDelta{EventID: eventID(2), Delta: "some words "})
		e.Seq, e.SessionID, e.ClientID = seq, one, "cli_x"
		at.frame(events(e))
		u, err := s.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		screen.Apply(u, &s.Live)
	}
}
