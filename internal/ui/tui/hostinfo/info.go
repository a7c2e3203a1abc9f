package hostinfo

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Session is the open session.
type Session interface {
	ID() protocol.SessionID
	Live() *protocol.Live
	Answered() string // the model that has answered last
}

// Start is what a session begins with that is not made yet: at first, what the command line
// says; "" leaves it.
type Start struct{ Model, Thinking, Mode string }

// Config is what an Info needs.
type Config struct {
	Link    *link.Link
	Session Session
	Start   Start
	WorkDir string // "" with a host elsewhere
}

// Info is what is known of the host.
type Info struct {
	link    *link.Link
	session Session
	start   Start
	workDir string
	loaded  loop.Then // called when the configuration or the models have come

	project   *protocol.Project
	config    *protocol.ConfigReport
	models    []protocol.ModelInfo
	described *described // of the models; nil after a change of them
	branch    string     // of Git

	nextMode string // of permissions, that was asked for, until the host has answered
}

// described is where the description of a model is in the list of models.
type described struct {
	name string
	at   int // -1 for one that is not in it
}

// New returns an Info that knows nothing yet.
func New(cfg Config) *Info {
	return &Info{link: cfg.Link, session: cfg.Session, start: cfg.Start, workDir: cfg.WorkDir}
}

// OnLoaded sets what is done when the configuration or the models have come.
func (x *Info) OnLoaded(f loop.Then) { x.loaded = f }

// Project is the project of the folder, nil while there is none.
func (x *Info) Project() *protocol.Project { return x.project }

// SetProject takes the project of the folder.
func (x *Info) SetProject(p *protocol.Project) { x.project = p }

// Config is the configuration of the host, nil while it is not known.
func (x *Info) Config() *protocol.ConfigReport { return x.config }

// SetConfig takes the configuration of the host.
func (x *Info) SetConfig(r *protocol.ConfigReport) { x.config = r }

// Models are those of the host, nil while they are not known.
func (x *Info) Models() []protocol.ModelInfo { return x.models }

// SetModels takes the models of the host.
func (x *Info) SetModels(models []protocol.ModelInfo) { x.models, x.described = models, nil }

// Branch is the branch of Git that is checked out, safe to be in a line.
func (x *Info) Branch() string { return x.branch }

// LoadModels asks which models there are.
func (x *Info) LoadModels() tea.Cmd {
	return link.Ask(x.link, "", &protocol.ListModels{}, func(got *protocol.ModelList, err error) tea.Cmd {
		if err != nil {
			return nil // the picker says it
		}
		x.SetModels(got.Models)
		return x.loaded()
	})
}

// LoadConfig asks for the configuration.
func (x *Info) LoadConfig() tea.Cmd {
	return link.Ask(x.link, x.session.ID(), &protocol.GetConfig{WorkDir: x.workDir}, func(r *protocol.ConfigReport, err error) tea.Cmd {
		if err == nil { // without it the status line shows less
			x.config = r
		}
		return x.loaded()
	})
}

// LoadBranch asks which branch of Git is checked out. WorkDir says where; "" is the
// folder of the session.
func (x *Info) LoadBranch(workDir string) tea.Cmd {
	return link.Ask(x.link, x.session.ID(), &protocol.GetProjectState{WorkDir: workDir}, func(s *protocol.ProjectState, err error) tea.Cmd {
		if err == nil { // without it the status line shows less
			x.branch = display.Line(s.Branch)
		}
		return nil
	})
}

// Setting returns the value in force of a key of the host's configuration, "" while it is
// not known.
func (x *Info) Setting(key string) string {
	if x.config == nil {
		return ""
	}
	i := slices.IndexFunc(x.config.Entries, func(e protocol.ConfigEntry) bool { return e.Key == key })
	if i < 0 {
		return ""
	}
	return strings.Trim(x.config.Entries[i].Value, `"`)
}
