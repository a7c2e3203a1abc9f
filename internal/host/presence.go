package host

import "scorel/protocol"

// maxAnnounced is how many connections there may be for comings and goings to be told
// to all of them: a thousand clients that come would be half a million frames. With
// more, get_status says who is there.
const maxAnnounced = 100

// join puts a connection on the list and tells the others when a client has come. It
// is false when the host is closing.
func (h *Host) join(c *Conn) bool {
	others, first, ok := h.enlist(c)
	if first {
		for _, o := range others {
			o.tell(&protocol.ClientJoined{ClientInfo: c.info()})
		}
	}
	return ok
}

// enlist gives the connections of other clients, and whether this is the first of its
// own.
func (h *Host) enlist(c *Conn) (others []*Conn, first, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false, false
	}
	others, first = h.others(c.client)
	h.conns[c] = struct{}{}
	return others, first, true
}

// leave takes a connection off the list, once, and tells the others when its client
// has gone.
func (h *Host) leave(c *Conn) {
	h.mu.Lock()
	_, here := h.conns[c]
	delete(h.conns, c)
	others, last := h.others(c.client)
	h.ended()
	h.mu.Unlock()
	if !here || !last {
		return
	}
	for _, o := range others {
		o.tell(&protocol.ClientLeft{ClientInfo: c.info()})
	}
}

// others gives the connections of all clients but one, who are told of its coming and
// going, and whether that one has none. mu is held.
func (h *Host) others(id protocol.ClientID) (list []*Conn, none bool) {
	none = true
	for c := range h.conns {
		if c.client == id {
			none = false
		} else {
			list = append(list, c)
		}
	}
	if len(list) > maxAnnounced {
		list = nil
	}
	return list, none
}

// SetGrantOf changes what the open connections of a client may do, from now on: also
// whether they count as able to answer.
func (h *Host) SetGrantOf(id protocol.ClientID, grant protocol.Grant) {
	for _, c := range h.connections(func(c *Conn) bool { return c.client == id }) {
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
	for _, c := range h.connections(func(c *Conn) bool { return c.client == id }) {
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
