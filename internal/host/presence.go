package host

import (
	"slices"

	"scorel/internal/host/clients"
	"scorel/protocol"
)

// Info implements [audience.Member].
func (c *Conn) Info() protocol.ClientInfo {
	return protocol.ClientInfo{ClientID: c.client, ClientName: c.name, Grant: c.granted(), Interactive: c.interactive}
}

// Notify implements [audience.Member]: the frame goes to the client after those that wait.
func (c *Conn) Notify(f protocol.Frame) {
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
	}
}

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
