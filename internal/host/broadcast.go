package host

import "scorel/protocol"

// broadcast sends a frame to all clients of the device. It waits for nobody: a
// client that has not yet taken the last one gets no second.
func (h *Host) broadcast(f protocol.Frame) {
	for _, c := range h.connections(func(*Conn) bool { return true }) {
		c.mu.Lock()
		skip := c.news || c.subs == nil
		if !skip {
			c.news = true
			c.wg.Add(1)
		}
		c.mu.Unlock()
		if skip {
			continue
		}
		go func() { // ends when the client takes the frame, or with the connection
			defer c.wg.Done()
			_ = c.send(c.ctx, f) // the end of the connection needs no news
			c.mu.Lock()
			c.news = false
			c.mu.Unlock()
		}()
	}
}

// SetGrantOf changes what the open connections of a client may do, from now on.
func (h *Host) SetGrantOf(id protocol.ClientID, grant protocol.Grant) {
	for _, c := range h.connections(func(c *Conn) bool { return c.client == id }) {
		c.mu.Lock()
		c.grant = grant
		c.mu.Unlock()
	}
}

// Disconnect ends the open connections of a client: no call of theirs is taken and
// no frame follows. Whoever holds them closes them when Done is.
func (h *Host) Disconnect(id protocol.ClientID, _ string) {
	for _, c := range h.connections(func(c *Conn) bool { return c.client == id }) {
		c.stop()
	}
}

func (h *Host) connections(which func(*Conn) bool) (list []*Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if which(c) {
			list = append(list, c)
		}
	}
	return list
}
