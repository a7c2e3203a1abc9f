package host

import (
	"slices"
	"time"

	"scorel/internal/host/clients"
	"scorel/internal/host/pairing"
	"scorel/protocol"
)

// Info implements [audience.Member].
func (c *Conn) Info() protocol.ClientInfo {
	return protocol.ClientInfo{ClientID: c.client, ClientName: c.name, Grant: c.granted(), Interactive: c.interactive}
}

// Notify implements [audience.Member]: the frame goes to the client after those that wait.
// One that waits to be confirmed is told only of its grant and of the host's end.
func (c *Conn) Notify(f protocol.Frame) {
	if !c.granted().Allows(protocol.GrantView) {
		switch f.(type) {
		case *protocol.GrantChanged, *protocol.HostStopping:
		default:
			return
		}
	}
	if !c.notifications.Put(f, func() { c.wg.Add(1) }) {
		return
	}
	go func() { // ends when the client has taken all, or with the connection
		defer c.wg.Done()
		defer c.h.Rescue("telling a client")
		for f := c.notifications.Take(); f != nil; f = c.notifications.Take() {
			if c.send(c.ctx, f) != nil {
				return
			}
		}
	}()
}

// connections returns those of a client, of all for "", in no order.
func (h *Host) connections(id protocol.ClientID) (list []*Conn) {
	for _, m := range h.audience.Members(id) {
		list = append(list, m.(*Conn))
	}
	return list
}

// Online reports whether a client is connected.
func (h *Host) Online(id protocol.ClientID) bool {
	return slices.ContainsFunc(h.connections(id), func(c *Conn) bool { return c.ctx.Err() == nil })
}

// SetGrantOf changes what the open connections of a client may do, from now on: also
// whether they count as able to answer.
func (h *Host) SetGrantOf(id protocol.ClientID, grant protocol.Grant) {
	for _, c := range h.connections(id) {
		c.mu.Lock()
		c.grant = grant
		subs := make([]*subscription, 0, len(c.subs))
		for _, s := range c.subs {
			subs = append(subs, s)
		}
		c.mu.Unlock()
		for _, s := range subs {
			s.attend()
		}
		c.Notify(&protocol.GrantChanged{Grant: grant})
	}
}

// EntriesChanged tells the clients with control that the list of entries has changed.
func (h *Host) EntriesChanged() {
	for _, c := range h.connections("") {
		if c.granted().Allows(protocol.GrantControl) {
			c.Notify(&protocol.EntriesChanged{})
		}
	}
}

// expirePending ends the connection of a client that waits to be confirmed when its time
// is over. It returns what stops that.
func (c *Conn) expirePending() (stop func() bool) {
	e, ok, err := c.h.entries.Get(c.client)
	var left time.Duration // of one that is not on the list any more: nothing
	if err == nil && ok {
		left = e.PendingUntil().Sub(c.h.cfg.Now())
	}
	return time.AfterFunc(left, func() {
		defer c.h.Rescue("ending a client that nobody has confirmed")
		if c.granted() != protocol.GrantPending {
			return
		}
		c.End(protocol.Errorf(protocol.CodeForbidden, "Nobody has confirmed this client for %d minutes; ask for a new code on the machine of the host.", int(clients.PendingTime.Minutes())))
		c.h.EntriesChanged()
	}).Stop
}

// Pairings returns the codes with which clients come in, for servers.
func (h *Host) Pairings() *pairing.Pairings { return h.rooms.pairings }

// Disconnect ends the open connections of a client. [Conn.Why] gives the reason, which
// is one sentence.
func (h *Host) Disconnect(id protocol.ClientID, reason string) {
	for _, c := range h.connections(id) {
		c.End(protocol.Errorf(protocol.CodeForbidden, "%s", reason))
	}
}

// End ends the connection from the side of the host, for the reason that [Conn.Why]
// gives then: no call of the client is taken and no frame follows.
func (c *Conn) End(why *protocol.Error) {
	c.mu.Lock()
	c.why = why
	c.mu.Unlock()
	_ = c.Close() // it never fails
}

// Entries returns the list of the device's entries, for servers, which look keys up
// in it, and for pairing. What is changed in it by requests counts
// at once on open connections; whoever changes it otherwise calls [Host.SetGrantOf]
// or [Host.Disconnect].
func (h *Host) Entries() *clients.Store { return h.entries }

// counts returns how many sessions and connections there are.
func (h *Host) counts() (sessions, connections int) {
	return h.sessions.Len(), h.audience.Len()
}
