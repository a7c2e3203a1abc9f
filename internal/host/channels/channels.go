package channels

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"scorel/internal/engine/config"
	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/host/channels/senders"
	"scorel/internal/host/guard"
	"scorel/internal/host/lane"
	"scorel/internal/host/mcpservers"
	"scorel/internal/host/settings"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// The methods of servers, and those that are sent to them.
const (
	eventMethod   = connect.ChannelPushed
	verdictMethod = connect.ChannelPushed + "/permission"
	askMethod     = connect.ChannelPushed + "/permission_request"
	pairingMethod = "notifications/scorel/channel/pairing"
)

const (
	// maxQueued is how many events of a session wait for its goroutine; further ones are left
	// out, and counted.
	maxQueued = 64
	// maxTold is how many questions and answers wait for it; a question that does not fit is
	// asked at the terminal alone.
	maxTold = 64
	// sendTime is how long a server has to read what is sent to it.
	sendTime = 10 * time.Second
)

// Lanes finds the lane of a session that is open, nil for another.
type Lanes interface {
	Lane(id protocol.SessionID) *lane.Lane
}

// Log keeps sentences for people who look for a fault.
type Log interface {
	Report(id protocol.SessionID, what string, detail []byte)
}

// Config is what [Channels] are made from.
type Config struct {
	Settings *settings.Settings
	Lanes    Lanes
	Log      Log
	Guard    *guard.Guard
	Now      func() time.Time
	Rand     io.Reader
}

// Channels are those of all open sessions. They may be used concurrently.
type Channels struct {
	cfg  Config
	life context.Context
	end  context.CancelFunc
	wg   sync.WaitGroup

	mu       fault.Shared // guards what follows; nothing is called with it held
	sessions map[protocol.SessionID]*session
	turns    int                 // that have begun
	asked    map[string]*relayed // questions that channels were sent, by the id that they have there
	closed   bool
}

// session is one that listens. The lock of [Channels] guards what is not said otherwise.
type session struct {
	id    protocol.SessionID
	lane  *lane.Lane
	names []named
	use   mcpservers.Use
	turn  int // the number of its newest turn
	// listens are the channels that may push into it, by the key of their connection.
	listens map[pool.Key]*channel

	cancel context.CancelFunc
	look   chan struct{}      // asks its goroutine to look at the gates; holds one
	events chan event         // holds maxQueued
	told   chan protocol.Body // questions, and how they ended; holds maxTold
	said   chan verdict       // holds maxTold
}

// channel is one that may push into a session. Its lock is that of [Channels] for pace and lost;
// the rest does not change.
type channel struct {
	name   named
	source string // the server's name
	server string // stands for its entry
	lease  *pool.Lease
	relays bool // it passes permissions on
	pairs  bool // it tells senders their codes
	pace   pace
	lost   string // why something of it did not arrive, of which people are to be told; "" for nothing
}

// event is what a channel has pushed.
type event struct {
	from *channel
	pushed
}

// New makes the channels of a host.
func New(cfg Config) *Channels {
	c := &Channels{cfg: cfg, sessions: map[protocol.SessionID]*session{}, asked: map[string]*relayed{}}
	c.life, c.end = context.WithCancel(context.Background())
	cfg.Guard.Watch(&c.mu)
	return c
}

// store is the file of senders.
func (c *Channels) store() senders.Store {
	return senders.Store{FS: c.cfg.Settings.FS, File: senders.File(c.cfg.Settings.Dir), Now: c.cfg.Now, Rand: c.cfg.Rand}
}

// Names implements [mcpservers.Pusher]: what was named for an earlier turn still counts, and
// the configuration's count in a serving host.
func (c *Channels) Names(id protocol.SessionID, cfg config.Config, over settings.Overrides) []mcp.Channel {
	l := c.cfg.Lanes.Lane(id)
	if l == nil || l.Log().Index().Header().Parent != nil { // a sub-agent works for another
		return nil
	}
	var given []named
	for _, text := range over.Channels {
		if n, err := mcp.ParseChannel(text); err == nil { // it has been checked
			given = append(given, named{Channel: n})
		}
	}
	if c.cfg.Settings.Serving {
		for _, n := range cfg.Channels.Listen {
			given = append(given, named{n, true})
		}
	}
	return c.name(id, l, given)
}

// name adds to the names of a session, which begins to listen with the first, and returns all.
func (c *Channels) name(id protocol.SessionID, l *lane.Lane, given []named) (all []mcp.Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	if s == nil && len(given) > 0 && !c.closed {
		s = &session{id: id, lane: l, listens: map[pool.Key]*channel{}, look: make(chan struct{}, 1),
			events: make(chan event, maxQueued), told: make(chan protocol.Body, maxTold), said: make(chan verdict, maxTold)}
		var ctx context.Context
		ctx, s.cancel = context.WithCancel(c.life)
		c.sessions[id] = s
		c.wg.Go(func() { // ends with ctx
			defer c.cfg.Guard.Rescue("listening to channels")
			(&listener{c: c, s: s, refused: map[named]string{}}).run(ctx)
		})
	}
	if s == nil {
		return nil
	}
	for _, n := range given {
		i := slices.IndexFunc(s.names, func(o named) bool { return o.Channel == n.Channel })
		switch {
		case i >= 0:
			s.names[i].config = s.names[i].config && n.config
		case len(s.names) < maxNames:
			s.names = append(s.names, n)
		}
	}
	for _, n := range s.names {
		all = append(all, n.Channel)
	}
	return all
}

// maxNames is how many channels a session can have: those of the configuration and of one
// message.
const maxNames = 2 * protocol.MaxChannels

// Turn implements [mcpservers.Pusher]. A channel whose process has ended is started again.
func (c *Channels) Turn(id protocol.SessionID, in mcpservers.Use) {
	c.mu.Lock()
	s := c.sessions[id]
	var names []named
	if s != nil {
		c.turns++
		s.turn, s.use, names = c.turns, in, s.names
	}
	c.mu.Unlock()
	if s == nil {
		return
	}
	for _, p := range in.Servers {
		if slices.ContainsFunc(names, func(n named) bool { return n.Names(p.Entry) }) && p.Lease.Status().State == pool.Failed {
			p.Lease.Reconnect()
		}
	}
	mark(s.look)
}

// Changed implements [mcpservers.Pusher].
func (c *Channels) Changed(id protocol.SessionID) {
	c.mu.Lock()
	s := c.sessions[id]
	c.mu.Unlock()
	if s != nil {
		mark(s.look)
	}
}

// mark leaves a mark where none is.
func mark(on chan struct{}) {
	select {
	case on <- struct{}{}:
	default:
	}
}

// Pushed implements [mcpservers.Pusher]. What comes from a server that nobody listens to is
// nobody's.
func (c *Channels) Pushed(key pool.Key, method string, params json.RawMessage) {
	switch method {
	case eventMethod:
		p, ok := parsePushed(params)
		if !ok {
			p = pushed{wrong: errNoEvent} // of which people are told
		}
		c.event(key, p)
	case verdictMethod:
		c.verdict(key, params)
	}
}

// Lost implements [mcpservers.Pusher]: the people of the session are told that would have had it.
func (c *Channels) Lost(key pool.Key, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		if ch := s.listens[key]; ch != nil {
			ch.lost = why
			mark(s.look)
		}
	}
}

// takeLost returns what people are to be told that was lost, by channel.
func (c *Channels) takeLost(s *session) map[named]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lost := map[named]string{}
	for _, ch := range s.listens {
		if ch.lost != "" {
			lost[ch.name], ch.lost = ch.lost, ""
		}
	}
	return lost
}

// takeFlood returns how many events of a channel were left out since people were told.
func (c *Channels) takeFlood(ch *channel) (lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lost, ch.pace.lost, ch.pace.told = ch.pace.lost, 0, false
	return lost
}

// event gives what was pushed to the session that listens to the server; of several to the one
// in which a turn has begun last.
func (c *Channels) event(key pool.Key, p pushed) {
	now := c.cfg.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	var to *session
	for _, s := range c.sessions {
		if s.listens[key] != nil && (to == nil || s.turn > to.turn) {
			to = s
		}
	}
	if to == nil {
		return
	}
	from := to.listens[key]
	if from.pace.take(now) {
		select {
		case to.events <- event{from, p}:
			return
		default:
			from.pace.lose(now)
		}
	}
	if !from.pace.told {
		mark(to.look) // people are told there
	}
}

// listening makes the list of channels that may push into a session.
func (c *Channels) listening(s *session, listens map[pool.Key]*channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.listens = listens
}

// state returns what the goroutine of a session looks at.
func (c *Channels) state(s *session) (names []named, in mcpservers.Use, listens map[pool.Key]*channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(s.names), s.use, s.listens
}

// Close ends what listens in a session. It does not wait.
func (c *Channels) Close(id protocol.SessionID) {
	c.mu.Lock()
	s := c.sessions[id]
	delete(c.sessions, id)
	for asked, r := range c.asked {
		if r.session == s {
			delete(c.asked, asked)
		}
	}
	c.mu.Unlock()
	if s != nil {
		s.cancel()
	}
}

// Shut ends all, and returns when it has ended.
func (c *Channels) Shut() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.wg.Wait()
}

// source is what a server is called in what the model reads.
func source(e mcp.Entry) string { return cmp.Or(e.Name, "channel") }
