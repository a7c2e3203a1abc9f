package admin

import (
	"context"
	"sync"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/engine/skill"
	"scorel/internal/host/clients"
	"scorel/internal/host/confinement"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// Connections are the open connections of clients.
type Connections interface {
	// Online reports whether a client is connected.
	Online(id protocol.ClientID) bool
	// SetGrantOf changes what the connections of a client may do.
	SetGrantOf(id protocol.ClientID, grant protocol.Grant)
	// EntriesChanged tells the clients with control that the list of entries has changed.
	EntriesChanged()
	// Disconnect ends the connections of a client, for a reason of one sentence.
	Disconnect(id protocol.ClientID, reason string)
}

// Announcer tells all clients of the device.
type Announcer interface {
	Broadcast(f protocol.Frame)
}

// Stored knows which sessions are stored, and reads them.
type Stored interface {
	View(ctx context.Context, id protocol.SessionID) (index *session.Index, report health.Report, done func(), err error)
	HasLog(id protocol.SessionID) (bool, error)
}

// Skills finds the skills of a folder in a project.
type Skills interface {
	FindSkills(ctx context.Context, dir, root string) *skill.Found
}

// Files has lists of the files of projects.
type Files interface {
	Forget(id protocol.ProjectID)
}

// Servers knows the MCP servers that are configured.
type Servers interface {
	// Diagnose returns how many servers count for the project at root, "" for none, and a
	// sentence about each thing that is wrong with one or with a file of them.
	Diagnose(root string) (count int, problems []string, err error)
	// OfProject returns the names of the servers in the files of the project at root that are
	// not switched off, trusted or not.
	OfProject(root string) ([]string, error)
	// LeaveOut switches servers of the project's files off for the person.
	LeaveOut(root string, names []string) error
}

// Pushes are the push subscriptions of clients.
type Pushes interface {
	// Of returns how the subscription of a client stands, "" without one.
	Of(id protocol.ClientID) protocol.PushState
	// Forget removes that of a client that was taken off the list.
	Forget(id protocol.ClientID)
	// Check returns how many are stored, and why nothing is pushed to them, if so.
	Check() (stored int, err error)
}

// Config is what an [Admin] is made from.
type Config struct {
	Settings    *settings.Settings
	Boxes       *confinement.Boxes
	Entries     *clients.Store
	Store       *session.Store
	Connections Connections
	Announcer   Announcer
	Stored      Stored
	Skills      Skills
	Files       Files
	Servers     Servers
	Heartbeats  Heartbeats
	Pushes      Pushes
	// Counts returns how many sessions are open and how many connections there are.
	Counts func() (sessions, connections int)
}

// Admin looks after a host.
type Admin struct {
	settings    *settings.Settings
	boxes       *confinement.Boxes
	entries     *clients.Store
	store       *session.Store
	connections Connections
	announcer   Announcer
	stored      Stored
	skills      Skills
	files       Files
	servers     Servers
	heartbeats  Heartbeats
	pushes      Pushes
	counts      func() (sessions, connections int)

	tests     chan struct{} // a place for each model that is being tested
	endpoints sync.Mutex    // held while one is tried and kept; no other lock is taken under it
}

// New makes an admin.
func New(cfg Config) *Admin {
	return &Admin{settings: cfg.Settings, boxes: cfg.Boxes, entries: cfg.Entries, store: cfg.Store, connections: cfg.Connections, announcer: cfg.Announcer,
		stored: cfg.Stored, skills: cfg.Skills, files: cfg.Files, servers: cfg.Servers, heartbeats: cfg.Heartbeats, pushes: cfg.Pushes, counts: cfg.Counts, tests: make(chan struct{}, maxModelTests)}
}

// Handle enters the handlers of this package's requests.
func (ad *Admin) Handle(t request.Table) {
	ad.handleAgents(t)
	ad.handleConfig(t)
	ad.handleCredentials(t)
	ad.handleDirectories(t)
	ad.handleDoctor(t)
	ad.handleEndpoints(t)
	ad.handleEntries(t)
	ad.handleFolders(t)
	ad.handleModelTests(t)
	ad.handleProjects(t)
	ad.handleRules(t)
	ad.handleSkills(t)
	ad.handleTrust(t)
}
