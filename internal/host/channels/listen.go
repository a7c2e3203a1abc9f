package channels

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"scorel/internal/engine/mcp/pool"
	"scorel/internal/host/channels/senders"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// listener is the goroutine of a session that listens. Its fields belong to it.
type listener struct {
	c       *Channels
	s       *session
	refused map[named]string // what people were told last
	failed  map[*channel]bool
	detach  func() // of the session, which it keeps open; nil while it does not listen
	unwatch func() // of its questions, and of who can answer them; nil while no channel does
}

func (x *listener) run(ctx context.Context) {
	defer x.ends()
	flood := time.NewTimer(paceTime) // looks whether a flood has ended
	defer flood.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.s.look:
			x.look()
			flood.Reset(x.nextFlood())
		case e := <-x.s.events:
			x.take(ctx, e)
		case b := <-x.s.told:
			x.relay(ctx, b)
		case v := <-x.s.said:
			x.answer(ctx, v)
		case <-flood.C:
			x.flooded()
			flood.Reset(x.nextFlood())
		}
	}
}

// ends takes back what it holds of the session. What people were not told of floods is kept for
// who looks for a fault.
func (x *listener) ends() {
	_, _, listens := x.c.state(x.s)
	for _, ch := range listens {
		if n := x.c.takeFlood(ch); n > 0 {
			x.c.cfg.Log.Report(x.s.id, fmt.Sprintf("%d events of the channel %s were left out", n, ch.name), nil)
		}
	}
	x.c.listening(x.s, nil)
	x.hold(false, false)
}

func (x *listener) notify(level, format string, args ...any) {
	x.s.lane.Notices().Notify("", level, fmt.Sprintf(format, args...))
}

// look asks the gates again, and tells people what has changed.
func (x *listener) look() {
	names, in, before := x.c.state(x.s)
	listens := map[pool.Key]*channel{}
	relays := false
	var began []named
	for _, n := range names {
		p, refusal := gate(n, in)
		if p == nil {
			if refusal != "" && x.refused[n] != refusal {
				x.refused[n] = refusal
				x.notify("warning", "The channel %s does not listen: %s.", n, refusal)
			}
			continue
		}
		key := p.Lease.Key()
		ch := before[key]
		if ch == nil || ch.lease != p.Lease {
			ch = &channel{name: n, source: source(p.Entry), server: p.Entry.Hash(), lease: p.Lease,
				relays: p.Lease.Declares(relayCapability), pairs: p.Lease.Declares(pairingCapability)}
			began = append(began, n)
		}
		delete(x.refused, n)
		listens[key] = ch
		relays = relays || ch.relays
	}
	x.c.listening(x.s, listens)
	for key, ch := range before {
		if listens[key] != ch { // nobody counts for it any more
			x.leftOut(ch, x.c.takeFlood(ch))
		}
	}
	x.hold(len(listens) > 0, relays)
	for _, n := range began { // who reads it may push at once
		x.notify("info", "The channel %s listens: what it pushes begins a turn in this session.", n)
	}
	for name, why := range x.c.takeLost(x.s) {
		x.notify("warning", "The channel %s: %s.", name, why)
	}
	for _, ch := range x.flooding() {
		x.notify("warning", "The channel %s pushes more than %d events in a minute, or faster than they are taken; those beyond are left out.", ch.name, maxEvents)
	}
}

// hold keeps the session open while a channel may push, and watches its questions while one
// can pass them on.
func (x *listener) hold(listens, relays bool) {
	l := x.s.lane
	if relays && x.unwatch == nil {
		stop, leave := l.Listeners().Watch(x.watch), l.Questions().AttachRelay()
		x.unwatch = func() { stop(); leave() }
	} else if !relays && x.unwatch != nil {
		x.unwatch()
		x.unwatch = nil
	}
	if listens && x.detach == nil {
		x.detach = l.Listen()
	} else if !listens && x.detach != nil {
		x.detach()
		x.detach = nil
	}
}

// flooding returns the channels of which people are to be told that events are left out.
func (x *listener) flooding() (list []*channel) {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	for _, ch := range x.s.listens {
		if ch.pace.tell() {
			list = append(list, ch)
		}
	}
	return list
}

// flooded tells people of the floods that have ended.
func (x *listener) flooded() {
	now := x.c.cfg.Now()
	x.c.mu.Lock()
	over := map[*channel]int{}
	for _, ch := range x.s.listens {
		if n := ch.pace.over(now); n > 0 {
			over[ch] = n
		}
	}
	x.c.mu.Unlock()
	for ch, n := range over {
		x.leftOut(ch, n)
	}
}

// leftOut tells people how many events of a channel were left out.
func (x *listener) leftOut(ch *channel, n int) {
	switch {
	case n == 1:
		x.notify("warning", "1 event of the channel %s was left out.", ch.name)
	case n > 1:
		x.notify("warning", "%d events of the channel %s were left out.", n, ch.name)
	}
}

// nextFlood returns when the next flood may be over.
func (x *listener) nextFlood() time.Duration {
	now := x.c.cfg.Now()
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	next := paceTime
	for _, ch := range x.s.listens {
		if left := ch.pace.left(now); left > 0 {
			next = min(next, left)
		}
	}
	return next
}

// take has an event enter the session, where its sender is known.
func (x *listener) take(ctx context.Context, e event) {
	if e.wrong != nil {
		x.fails(e.from, e.wrong)
		return
	}
	id, err := e.sender()
	if err != nil {
		x.fails(e.from, err)
		return
	}
	who := senders.Sender{Channel: e.from.source, Server: e.from.server, ID: id}
	if who.ID != "" {
		known, err := x.c.store().Knows(who)
		if err != nil {
			x.fails(e.from, err)
			return
		}
		if !known {
			x.unknown(ctx, e, who)
			return
		}
	}
	in := &protocol.ChannelInject{Channel: e.from.source, ExternalID: who.ID, Content: wrap(e.from.source, e.pushed)}
	if len(e.Meta) > 0 {
		in.Metadata, _ = json.Marshal(e.Meta) // texts
	}
	err = x.s.lane.Inject(ctx, in)
	switch {
	case err == nil:
		delete(x.failed, e.from)
	case ctx.Err() == nil:
		x.fails(e.from, err)
	}
}

// fails tells people why an event did not enter; once until one does.
func (x *listener) fails(from *channel, err error) {
	x.c.cfg.Log.Report(x.s.id, "an event of a channel: "+err.Error(), nil)
	if x.failed[from] {
		return
	}
	if x.failed == nil {
		x.failed = map[*channel]bool{}
	}
	x.failed[from] = true
	x.notify("error", "What the channel %s has pushed was left out, and so may be what follows: %v", from.name, err)
}

// pairing is what a server is told for a sender that nobody knows.
type pairing struct {
	Sender  string            `json:"sender_id"`
	Code    string            `json:"code"`
	Seconds int               `json:"expires_in"`
	Text    string            `json:"text"` // to pass on
	Meta    map[string]string `json:"meta,omitempty"`
}

// unknown has a sender that nobody knows get a code; nothing that it has written enters.
func (x *listener) unknown(ctx context.Context, e event, who senders.Sender) {
	code, tell, err := x.c.store().Asked(who)
	if err != nil {
		x.fails(e.from, err)
		return
	}
	if !tell {
		return // it has a code, or too many others have
	}
	name := fmt.Sprintf("%.60q", promptsafe.Clean(who.ID))
	if !e.from.pairs {
		x.notify("warning", "Somebody unknown, %s, wrote through the channel %s; nothing of it was passed on. If you know them, run within an hour: scorel channels pair %s", name, e.from.name, code)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	err = e.from.lease.Notify(ctx, pairingMethod, pairing{who.ID, code, int(senders.CodeTime / time.Second),
		"Your pairing code is " + code + ". Give it to the owner, who has to enter it within an hour.", maps.Clone(e.Meta)})
	if err != nil {
		x.notify("warning", "Somebody unknown, %s, wrote through the channel %s and could not be sent a code: %v.", name, e.from.name, err)
		return
	}
	x.notify("warning", "Somebody unknown, %s, wrote through the channel %s and was sent a code; nothing else was passed on. If you know them, ask them for it, and run: scorel channels pair CODE", name, e.from.name)
}
