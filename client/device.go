package client

import (
	"context"
	"slices"

	"scorel/protocol"
)

// maxNews bounds what is kept of a device's changes until somebody asks: sessions,
// and comings and goings of clients, each. maxFrames does so for components, of each of
// which the newest frame is kept.
const (
	maxNews   = 256
	maxFrames = 64
)

// DeviceChanges is what has changed on the host's device since the last time it was
// asked: of each session the newest summary, in the order in which they changed
// first.
type DeviceChanges struct {
	Sessions   []protocol.SessionChanged
	Clients    []ClientChange
	Projects   bool                   // the list of projects
	Automation bool                   // schedules or runs have changed
	Entries    bool                   // the list of entries; told with control only
	Grant      protocol.Grant         // what this client may do from now on, "" as before
	MCP        []protocol.SessionID   // whose MCP servers have changed
	Stopping   *protocol.HostStopping // the host ends
	// Frames are the newest of what extensions draw for this connection, one of each
	// component.
	Frames []*protocol.UIFrame
	// Missed says that there was more: the connection was gone for a while, or too
	// much has changed. Lists have to be asked for again.
	Missed bool
}

// ClientChange is a client that has come, or (with Left) has gone.
type ClientChange struct {
	protocol.ClientInfo
	Left bool
}

// deviceNotifications gathers changes; Client.mu guards it.
type deviceNotifications struct {
	changes DeviceChanges
	index   map[protocol.SessionID]int // in changes.Sessions
	any     bool
	before  bool // there was a connection before
	changed chan struct{}
}

func (n *deviceNotifications) init() { n.changed = make(chan struct{}) }

func (n *deviceNotifications) wake() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// connected begins again with a connection: nothing was told in between.
func (n *deviceNotifications) connected() {
	if n.before {
		n.miss()
	}
	n.before = true
}

func (n *deviceNotifications) miss() {
	n.changes, n.index, n.any = DeviceChanges{Missed: true, Frames: n.changes.Frames, Grant: n.changes.Grant}, nil, true
	n.wake()
}

// take notes a frame.
func (n *deviceNotifications) take(frame protocol.Frame) {
	d := &n.changes
	switch f := frame.(type) {
	case *protocol.SessionChanged:
		id := f.Summary.SessionID
		i, known := n.index[id]
		switch {
		case known:
			d.Sessions[i] = *f
		case len(d.Sessions) == maxNews:
			n.miss()
			return
		default:
			if n.index == nil {
				n.index = map[protocol.SessionID]int{}
			}
			n.index[id] = len(d.Sessions)
			d.Sessions = append(d.Sessions, *f)
		}
	case *protocol.ProjectsChanged:
		d.Projects = true
	case *protocol.AutomationChanged:
		d.Automation = true
	case *protocol.EntriesChanged:
		d.Entries = true
	case *protocol.GrantChanged:
		d.Grant = f.Grant
	case *protocol.MCPChanged:
		if len(d.MCP) == maxNews {
			n.miss()
			return
		}
		if !slices.Contains(d.MCP, f.SessionID) {
			d.MCP = append(d.MCP, f.SessionID)
		}
	case *protocol.ClientJoined:
		n.client(ClientChange{ClientInfo: f.ClientInfo})
	case *protocol.ClientLeft:
		n.client(ClientChange{ClientInfo: f.ClientInfo, Left: true})
	case *protocol.HostStopping:
		d.Stopping = f
	case *protocol.UIFrame:
		n.frame(f)
	default:
		return
	}
	n.any = true
	n.wake()
}

// frame replaces the one before of the same component.
func (n *deviceNotifications) frame(f *protocol.UIFrame) {
	frames := n.changes.Frames
	i := slices.IndexFunc(frames, func(o *protocol.UIFrame) bool { return o.UIID == f.UIID && o.SessionID == f.SessionID })
	switch {
	case i >= 0:
		frames[i] = f
		return
	case len(frames) == maxFrames:
		frames = slices.Delete(frames, 0, 1)
	}
	n.changes.Frames = append(frames, f)
}

func (n *deviceNotifications) client(c ClientChange) {
	if len(n.changes.Clients) == maxNews {
		n.miss()
		return
	}
	n.changes.Clients = append(n.changes.Clients, c)
}

// NextDevice waits until something has changed on the device and returns all that has
// changed since its last call, or since the client was made. Each change is given
// once, so one goroutine should ask. It fails when ctx or the client has ended.
func (c *Client) NextDevice(ctx context.Context) (DeviceChanges, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.notifications
	for {
		switch {
		case n.any:
			d := n.changes
			n.changes, n.index, n.any = DeviceChanges{}, nil, false
			return d, nil
		case c.err != nil:
			return DeviceChanges{}, c.err
		}
		changed := n.changed
		c.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-ctx.Done():
			err = ctx.Err()
		}
		c.mu.Lock()
		if err != nil {
			return DeviceChanges{}, err
		}
	}
}
