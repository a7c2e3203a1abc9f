package audience

import (
	"scorel/internal/host/guard"
	"scorel/internal/host/registry"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// maxAnnounced is how many connections there may be for comings and goings to be told
// to all of them: a thousand clients that come would be half a million frames. With
// more, get_status says who is there.
const maxAnnounced = 100

// Member is a connection.
type Member interface {
	// Info describes the client.
	Info() protocol.ClientInfo
	// Notify has a frame of the device go to the client. It waits for nobody.
	Notify(f protocol.Frame)
}

// Watcher is told of the sessions of the device as clients are, also while nobody is connected.
// Its methods wait for nobody.
type Watcher interface {
	// Wants reports whether it is to be told.
	Wants() bool
	SessionChanged(sum protocol.SessionSummary)
	SessionDeleted(id protocol.SessionID)
}

// Audience is who is connected.
type Audience struct {
	watcher Watcher // nil for none

	mu      fault.Shared // guards all below; nothing is called with it held
	members map[Member]protocol.ClientID
	closed  bool
}

// New makes an audience of nobody.
func New(g *guard.Guard) *Audience {
	a := &Audience{members: map[Member]protocol.ClientID{}}
	g.Watch(&a.mu)
	return a
}

// Watch has a watcher told, too. It is called before anything runs.
func (a *Audience) Watch(w Watcher) { a.watcher = w }

// Join adds a connection and tells the others when its client has come. It reports
// false when the audience is closed.
func (a *Audience) Join(m Member) bool {
	info := m.Info()
	others, first, ok := a.add(m, info.ClientID)
	if first {
		for _, o := range others {
			o.Notify(&protocol.ClientJoined{ClientInfo: info})
		}
	}
	return ok
}

// add returns the connections of other clients, and whether this is the first of its own.
func (a *Audience) add(m Member, client protocol.ClientID) (others []Member, first, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, false, false
	}
	others, first = a.others(client)
	a.members[m] = client
	return others, first, true
}

// Leave takes a connection away and tells the others when its client has gone. It reports
// whether the connection was there.
func (a *Audience) Leave(m Member) bool {
	others, last, here := a.remove(m)
	if here && last {
		info := m.Info()
		for _, o := range others {
			o.Notify(&protocol.ClientLeft{ClientInfo: info})
		}
	}
	return here
}

func (a *Audience) remove(m Member) (others []Member, last, here bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	client, here := a.members[m]
	delete(a.members, m)
	others, last = a.others(client)
	return others, last, here
}

// others returns the connections of all clients but one, who are told of its coming and
// going, and whether that one has none. mu is held.
func (a *Audience) others(id protocol.ClientID) (list []Member, none bool) {
	none = true
	for m, client := range a.members {
		if client == id {
			none = false
		} else {
			list = append(list, m)
		}
	}
	if len(list) > maxAnnounced {
		list = nil
	}
	return list, none
}

// Members returns the connections of a client, of all clients for "", in no order.
func (a *Audience) Members(id protocol.ClientID) (list []Member) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for m, client := range a.members {
		if id == "" || client == id {
			list = append(list, m)
		}
	}
	return list
}

// Len returns how many connections there are.
func (a *Audience) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.members)
}

// Close lets nobody join any more and returns who has.
func (a *Audience) Close() []Member {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	list := make([]Member, 0, len(a.members))
	for m := range a.members {
		list = append(list, m)
	}
	return list
}

// Broadcast sends a frame to all clients of the device.
func (a *Audience) Broadcast(f protocol.Frame) {
	for _, m := range a.Members("") {
		m.Notify(f)
	}
}

// SessionChanged tells all clients what an open session is like now. It is called on
// the writer of the session's publisher, too.
func (a *Audience) SessionChanged(s *registry.Session) {
	if !s.Opened() || a.Len() == 0 && !a.watched() {
		return
	}
	s.Announce(a.SessionMade)
}

func (a *Audience) watched() bool { return a.watcher != nil && a.watcher.Wants() }

// SessionMade tells all clients of a session that is not open.
func (a *Audience) SessionMade(sum protocol.SessionSummary) {
	if a.watched() {
		a.watcher.SessionChanged(sum)
	}
	a.Broadcast(&protocol.SessionChanged{Summary: sum})
}

// SessionDeleted tells all clients that a session has gone.
func (a *Audience) SessionDeleted(id protocol.SessionID) {
	if a.watched() {
		a.watcher.SessionDeleted(id)
	}
	a.Broadcast(&protocol.SessionChanged{Summary: protocol.SessionSummary{SessionID: id}, Deleted: true})
}
