package turnconfig

import (
	"scorel/internal/engine/fetch"
	"scorel/internal/engine/skill"
	"scorel/internal/host/completion"
	"scorel/internal/host/confinement"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/extensions"
	"scorel/internal/host/lane"
	"scorel/internal/host/mcpservers"
	"scorel/internal/host/settings"
	"scorel/internal/platform/lru"
	"scorel/protocol"
)

// Sessions knows the open sessions. It waits for nobody.
type Sessions interface {
	// Lane returns the lane of an open session, nil for another.
	Lane(id protocol.SessionID) *lane.Lane
	// Mode returns the permission mode that people have set in a session, "" for none.
	Mode(id protocol.SessionID) string
	// Notify shows the people of a session a sentence.
	Notify(id protocol.SessionID, level, text string)
}

// Config is what a [Maker] is made from.
type Config struct {
	Settings   *settings.Settings
	Boxes      *confinement.Boxes
	Extensions *extensions.Extensions
	Servers    *mcpservers.Servers
	Asker      *completion.Asker
	Sessions   Sessions
	Log        *diagnostics.Log
}

// Maker makes turns ready.
type Maker struct {
	settings   *settings.Settings
	boxes      *confinement.Boxes
	extensions *extensions.Extensions
	servers    *mcpservers.Servers
	asker      *completion.Asker
	sessions   Sessions
	log        *diagnostics.Log

	finder *skill.Finder
	pages  fetch.Cache // that sessions page through
	// unread has what people of a session were told of notes that cannot be read.
	unread *lru.Cache[protocol.SessionID, string]
}

// maxUnread bounds the sessions of which that is remembered; for the others their log is asked.
const maxUnread = 1000

// New makes a maker.
func New(cfg Config) *Maker {
	return &Maker{settings: cfg.Settings, boxes: cfg.Boxes, extensions: cfg.Extensions, servers: cfg.Servers, asker: cfg.Asker, sessions: cfg.Sessions, log: cfg.Log,
		finder: skill.NewFinder(cfg.Settings.Dir), unread: lru.New[protocol.SessionID, string](maxUnread, maxUnread)}
}
