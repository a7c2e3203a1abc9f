package host

import (
	"net/http"

	"scorel/internal/engine/trust"
	"scorel/internal/host/admin"
	"scorel/internal/host/automation"
	"scorel/internal/host/channels"
	"scorel/internal/host/commands"
	"scorel/internal/host/completion"
	"scorel/internal/host/confinement"
	"scorel/internal/host/extensions"
	"scorel/internal/host/filelist"
	"scorel/internal/host/jobs"
	"scorel/internal/host/library"
	"scorel/internal/host/mcpservers"
	"scorel/internal/host/notes"
	"scorel/internal/host/pairing"
	"scorel/internal/host/settings"
	"scorel/internal/host/subagent"
	"scorel/internal/host/title"
	"scorel/internal/host/transfer"
	"scorel/internal/host/turnconfig"
	"scorel/internal/host/webpush"
)

// rooms are the parts of a host that know no connection. A room knows those above it in
// this list, or, through an interface of its own, what it needs of others.
type rooms struct {
	settings   *settings.Settings
	boxes      *confinement.Boxes
	asker      *completion.Asker
	extensions *extensions.Extensions
	servers    *mcpservers.Servers
	channels   *channels.Channels
	turns      *turnconfig.Maker
	library    *library.Library
	files      *filelist.Files
	admin      *admin.Admin
	transfers  *transfer.Transfers
	subagents  *subagent.Starter
	titles     *title.Titles
	jobs       *jobs.Jobs
	notes      *notes.Notes
	automation *automation.Automation
	commands   *commands.Commands
	pairings   *pairing.Pairings
	pushes     *webpush.Pushes
}

// newRooms makes the rooms of a host whose store, sessions and audience are there.
func newRooms(h *Host) (r rooms) {
	cfg, device := h.cfg, h.identity.id
	r.settings = settings.New(settings.Config{Dir: cfg.Dir, UserHome: cfg.UserHome, StoreDir: cfg.StoreDir, Ephemeral: cfg.Ephemeral, FS: cfg.FS, Environ: cfg.Environ,
		Overrides: cfg.Overrides, Unattended: cfg.Unattended, Serving: cfg.Serving, Terminal: cfg.Terminal, Version: cfg.Version, Demo: cfg.Demo, HTTP: cfg.HTTP,
		Now: cfg.Now, Rand: cfg.Rand, Sleep: cfg.Sleep, Silence: cfg.Silence, Confinement: cfg.Confinement,
		Trust: trust.New(trust.Config{FS: cfg.FS, Dir: cfg.Dir, Now: cfg.Now})})
	r.boxes = confinement.New(r.settings, h.log, h.guard)
	r.asker = completion.New(r.settings, h.sessions, h.log)
	r.extensions = extensions.New(extensions.Config{Settings: r.settings, Asker: r.asker, Sessions: h.sessions, Upper: upper{h}, Blobs: h.store.Blobs(), Log: h.log, Guard: h.guard})
	r.settings.Provided = r.extensions.Provided
	r.channels = channels.New(channels.Config{Settings: r.settings, Lanes: h.sessions, Log: h.log, Guard: h.guard, Now: cfg.Now, Rand: cfg.Rand})
	r.servers = mcpservers.New(mcpservers.Config{Settings: r.settings, Blobs: h.store.Blobs(), People: h.sessions, Announcer: h.audience, Pusher: r.channels, Asker: r.asker, Guard: h.guard, Extensions: r.extensions.Find})
	r.turns = turnconfig.New(turnconfig.Config{Settings: r.settings, Boxes: r.boxes, Extensions: r.extensions, Servers: r.servers, Asker: r.asker, Sessions: h.sessions, Log: h.log})
	r.library = library.New(library.Config{Settings: r.settings, Store: h.store, Device: device, Opener: h.sessions, Lanes: h.sessions, Reader: h.sessions, Keeper: h.sessions,
		Announcer: h.audience, Turns: r.turns, Log: h.log})
	r.files = filelist.New(r.settings)
	r.automation = automation.New(automation.Config{Settings: r.settings, Sessions: h.sessions, Library: r.library, Announcer: h.audience, Turns: r.turns,
		Log: h.log, Say: cfg.Say, Now: cfg.Now, Clock: cfg.Clock, Rand: cfg.Rand})
	transport := r.settings.PushTransport
	if cfg.Push.Transport != nil {
		transport = func() (http.RoundTripper, error) { return cfg.Push.Transport, nil }
	}
	r.pushes = webpush.New(webpush.Config{Dir: cfg.Dir, FS: cfg.FS, Serving: cfg.Serving && !cfg.Ephemeral, Entries: h.entries, Sessions: h.sessions, Watcher: h,
		Log: h.log, Guard: h.guard, Now: cfg.Now, Rand: cfg.Rand, Pace: cfg.Push.Pace, Services: r.settings.PushServices, Transport: transport})
	r.admin = admin.New(admin.Config{Settings: r.settings, Boxes: r.boxes, Entries: h.entries, Store: h.store, Connections: h, Announcer: h.audience,
		Stored: r.library, Skills: r.turns, Files: r.files, Servers: r.servers, Heartbeats: r.automation, Pushes: r.pushes, Counts: h.counts})
	r.transfers = transfer.New(transfer.Config{Settings: r.settings, Store: h.store, Device: device, Sessions: h.sessions, Announcer: h.audience, Projects: r.admin, Log: h.log})
	r.subagents = subagent.New(subagent.Config{Settings: r.settings, Turns: r.turns, Device: device, Sessions: h.sessions, Views: h.sessions,
		Announcer: h.audience, Texts: r.transfers, Life: h.sessions.Life()})
	r.titles = title.New(r.settings, r.asker, h.sessions, h.sessions, h.log)
	r.jobs = jobs.New(jobs.Config{Settings: r.settings, Asker: r.asker, Sessions: h.sessions, Library: r.library, Log: h.log})
	r.notes = notes.New(r.settings, r.asker, h.sessions, h.sessions, h.log)
	r.commands = commands.New(commands.Config{Settings: r.settings, Boxes: r.boxes, Extensions: r.extensions, Turns: r.turns, Editor: r.library, Notes: r.notes, Automation: r.automation, Jobs: r.jobs})
	r.pairings = pairing.New(pairing.Config{Entries: h.entries, Listener: cfg.Web, Watcher: h, Guard: h.guard, Now: cfg.Now, Rand: cfg.Rand})
	return r
}

// close ends what the rooms keep for all sessions.
func (r *rooms) close() {
	r.pairings.Close()
	r.pushes.Close()
	r.automation.Shut()
	r.channels.Shut()
	r.files.Close()
	r.servers.Shut()
	r.transfers.Close()
	r.extensions.Shut()
}
