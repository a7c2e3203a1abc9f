package audience

import (
	"slices"
	"sync"

	"scorel/protocol"
)

// Bounds of the frames of the device that wait for one connection. At the bound the
// oldest go: the lists that these frames are about can be asked for.
const (
	maxNewsFrames   = 64
	maxNewsSessions = 1024
	maxNewsClients  = 256
)

// Outbox holds the frames of the device that wait for one connection: of each session
// the newest, one that says that its MCP servers have changed, one that says that the projects
// have, one that schedules have, one that entries have, the newest grant, and of each component the newest that was drawn. Its methods wait for
// nobody.
type Outbox struct {
	mu         sync.Mutex // guards all below; nothing else is locked under it
	stopping   *protocol.HostStopping
	frames     []*protocol.UIFrame // of each component one, oldest first
	clients    []protocol.Frame    // who came and went, oldest first
	projects   bool
	automation bool
	entries    bool
	grant      *protocol.GrantChanged
	order      []protocol.SessionID // of sessions, oldest first
	sessions   map[protocol.SessionID]*protocol.SessionChanged
	servers    []protocol.SessionID // whose MCP servers have changed, oldest first
	sending    bool                 // a goroutine takes what there is
	closed     bool
}

// Put adds a frame. It is true when the caller has to start a goroutine that takes
// what there is; start is called for that, with the lock held.
func (o *Outbox) Put(f protocol.Frame, start func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	switch f := f.(type) {
	case *protocol.HostStopping:
		o.stopping = f
	case *protocol.ProjectsChanged:
		o.projects = true
	case *protocol.AutomationChanged:
		o.automation = true
	case *protocol.EntriesChanged:
		o.entries = true
	case *protocol.GrantChanged:
		o.grant = f
	case *protocol.SessionChanged:
		o.putSession(f)
	case *protocol.MCPChanged:
		if slices.Contains(o.servers, f.SessionID) {
			break
		}
		if len(o.servers) == maxNewsSessions {
			o.servers = slices.Delete(o.servers, 0, 1)
		}
		o.servers = append(o.servers, f.SessionID)
	case *protocol.UIFrame:
		o.putFrame(f)
	default:
		if len(o.clients) == maxNewsClients {
			o.clients = slices.Delete(o.clients, 0, 1)
		}
		o.clients = append(o.clients, f)
	}
	if o.sending {
		return false
	}
	o.sending = true
	start()
	return true
}

// putFrame replaces what waits for the same component. mu is held.
func (o *Outbox) putFrame(f *protocol.UIFrame) {
	i := slices.IndexFunc(o.frames, func(w *protocol.UIFrame) bool { return w.UIID == f.UIID && w.SessionID == f.SessionID })
	if i >= 0 {
		o.frames[i] = f
		return
	}
	if len(o.frames) == maxNewsFrames {
		o.frames = slices.Delete(o.frames, 0, 1)
	}
	o.frames = append(o.frames, f)
}

// putSession replaces what waits for the same session. mu is held.
func (o *Outbox) putSession(f *protocol.SessionChanged) {
	id := f.Summary.SessionID
	if o.sessions == nil {
		o.sessions = map[protocol.SessionID]*protocol.SessionChanged{}
	}
	if o.sessions[id] == nil {
		if len(o.order) == maxNewsSessions {
			delete(o.sessions, o.order[0])
			o.order = slices.Delete(o.order, 0, 1)
		}
		o.order = append(o.order, id)
	}
	o.sessions[id] = f
}

// Take returns the next frame; nil means that there is none and that the goroutine
// ends.
func (o *Outbox) Take() protocol.Frame {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
	case o.stopping != nil:
		f := o.stopping
		o.stopping = nil
		return f
	case o.grant != nil:
		f := o.grant
		o.grant = nil
		return f
	case len(o.frames) > 0: // somebody waits for what came of a key
		f := o.frames[0]
		o.frames = slices.Delete(o.frames, 0, 1)
		return f
	case len(o.clients) > 0:
		f := o.clients[0]
		o.clients = slices.Delete(o.clients, 0, 1)
		return f
	case o.projects:
		o.projects = false
		return &protocol.ProjectsChanged{}
	case o.automation:
		o.automation = false
		return &protocol.AutomationChanged{}
	case o.entries:
		o.entries = false
		return &protocol.EntriesChanged{}
	case len(o.servers) > 0:
		f := &protocol.MCPChanged{SessionID: o.servers[0]}
		o.servers = slices.Delete(o.servers, 0, 1)
		return f
	case len(o.order) > 0:
		f := o.sessions[o.order[0]]
		delete(o.sessions, o.order[0])
		o.order = slices.Delete(o.order, 0, 1)
		return f
	}
	o.sending = false
	return nil
}

// Close drops what waits; nothing is added any more.
func (o *Outbox) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.frames, o.clients, o.order, o.sessions, o.servers = true, nil, nil, nil, nil, nil
}
