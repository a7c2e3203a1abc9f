package mcpservers

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"scorel/internal/engine/config"
	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/engine/model"
	"scorel/internal/engine/tool"
	"scorel/internal/host/confinement"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Handle enters the handlers of this package's requests.
func (s *Servers) Handle(t request.Table) {
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.ListMCPServers) (protocol.Response, error) {
		p, err := s.place(at.Lane, r.WorkDir)
		if err != nil {
			return nil, err
		}
		return s.list(p), nil
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.EnableMCPServer) (protocol.Response, error) {
		return &protocol.Done{}, s.enable(at.Lane, r)
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.ReconnectMCPServer) (protocol.Response, error) {
		u, err := s.usedBy(at.Call.SessionID, r.Name)
		if err != nil {
			return nil, err
		}
		u.lease.Reconnect()
		return &protocol.Done{}, nil
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.GetMCPLog) (protocol.Response, error) {
		u, err := s.usedBy(at.Call.SessionID, r.Name)
		if err != nil {
			return nil, err
		}
		status := u.lease.Status()
		return &protocol.MCPLog{Text: cmp.Or(status.Log, sentences([]string{status.Problem}))}, nil // a failed start has its last lines in the reason
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.SetMCPInput) (protocol.Response, error) {
		return &protocol.Done{}, s.setInput(at.Lane, r)
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.BeginMCPLogin) (protocol.Response, error) {
		return s.beginLogin(at.Lane, r)
	})
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.AwaitMCPLogin) (protocol.Response, error) {
		return &protocol.Done{}, s.logins.await(ctx, r)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.CancelMCPLogin) (protocol.Response, error) {
		return &protocol.Done{}, s.logins.cancel(r.LoginID)
	})
}

// place is what a request about servers is about.
type place struct {
	id   protocol.SessionID // "" for none
	root string
	cfg  config.Config
	over settings.Overrides
}

// place finds that of a session, or of a folder where lane is nil.
func (s *Servers) place(l *lane.Lane, workDir string) (p place, err error) {
	p.over = s.cfg.Settings.Overrides
	if l != nil {
		p.id, workDir = l.ID(), l.Meta().WorkDir
		x := s.of(p.id)
		x.mu.Lock()
		if x.begun {
			p.over = x.over
		}
		x.mu.Unlock()
	}
	if workDir != "" {
		dir, err := s.cfg.Settings.LookedAt(workDir)
		if err != nil {
			return p, err
		}
		p.root, _ = workspace.Root(dir, s.cfg.Settings.UserHome)
	}
	p.cfg, err = s.cfg.Settings.Load(p.root)
	return p, err
}

// list returns the servers of a place, those that do not count last.
func (s *Servers) list(p place) *protocol.MCPServerList {
	set := s.Configured(p.root, p.cfg, p.over)
	out := &protocol.MCPServerList{Servers: []protocol.MCPServerInfo{}}
	for _, f := range set.Faults {
		out.Problems = append(out.Problems, f.Error()+".")
	}
	servers, choice := s.usesOf(p.id)
	for _, e := range set.Entries {
		info := shown(e)
		info.Inputs = s.questions(e)
		i := slices.IndexFunc(servers, func(u *used) bool { return u.entry.Name == e.Name && u.entry.Hash() == e.Hash() })
		switch {
		case e.Disabled:
			info.State = protocol.MCPDisabled
		case i >= 0:
			s.fill(&info, servers[i], choice, &out.SavedTokens)
		}
		s.judge(&info, e, set.Policy, p)
		out.Servers = append(out.Servers, info)
	}
	for _, x := range set.Suppressed {
		info := shown(x.Entry)
		info.State, info.Problem = protocol.MCPSuppressed, x.Reason+"."
		out.Servers = append(out.Servers, info)
	}
	return out
}

// shown describes an entry.
func shown(e mcpconfig.Entry) protocol.MCPServerInfo {
	return protocol.MCPServerInfo{Name: e.Name, Scope: string(e.Scope), Source: e.Source.String(), Type: string(e.Type), Target: e.Shown(),
		State: protocol.MCPConfigured, AlwaysLoad: e.AlwaysLoad}
}

// Diagnose returns how many servers count for the project at root, "" for none, and a sentence
// about each thing that is wrong with one or with a file of them. None is connected with.
func (s *Servers) Diagnose(root string) (count int, problems []string, err error) {
	read := func() (config.Config, error) { return s.cfg.Settings.Load(root) }
	if root == "" {
		read = s.cfg.Settings.User
	}
	cfg, err := read()
	if err != nil {
		return 0, nil, err
	}
	list := s.list(place{root: root, cfg: cfg, over: s.cfg.Settings.Overrides})
	for _, x := range list.Servers {
		switch x.State {
		case protocol.MCPConfigured:
			count++
		case protocol.MCPRefused:
			problems = append(problems, "The MCP server "+x.Name+": "+x.Problem)
		}
	}
	return count, append(problems, list.Problems...), nil
}

// usesOf returns the servers that a session uses, and what it decided; nil where it has not
// had a turn yet.
func (s *Servers) usesOf(id protocol.SessionID) ([]*used, *Choice) {
	s.mu.Lock()
	x := s.open[id]
	s.mu.Unlock()
	if x == nil {
		return nil, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.used, x.choice
}

// usedBy returns the server of a name that a session uses.
func (s *Servers) usedBy(id protocol.SessionID, name string) (*used, error) {
	list, _ := s.usesOf(id)
	if i := slices.IndexFunc(list, func(u *used) bool { return u.entry.Name == name }); i >= 0 {
		return list[i], nil
	}
	return nil, protocol.About("name", "", protocol.CodeNotFound, "This session has no MCP server %.100q. /mcp lists them.", name)
}

// fill says what a server is like in a session, and adds to saved what its tools would take
// that the model searches for instead.
func (s *Servers) fill(info *protocol.MCPServerInfo, u *used, c *Choice, saved *int) {
	status := u.lease.Status()
	info.State, info.Title = states[status.State], status.Title
	info.Prompts, info.Resources = len(status.Lists.Prompts), len(status.Lists.Resources)
	info.Problem = sentences(append([]string{status.Problem}, status.Faults...))
	x := s.of(u.session)
	x.mu.Lock()
	tools := u.tools
	x.mu.Unlock()
	info.Tools = len(tools)
	if c == nil || !c.Search {
		return
	}
	for _, t := range tools {
		spec := t.Spec()
		if !slices.ContainsFunc(c.Tools, func(o tool.Tool) bool { return o.Spec().Name == spec.Name }) {
			*saved += model.EstimateText(spec.Name) + model.EstimateText(spec.Description) + model.EstimateText(string(spec.Schema))
		}
	}
}

// states are those of connections, as clients see them.
var states = map[pool.State]protocol.MCPState{
	pool.Pending: protocol.MCPPending, pool.Connected: protocol.MCPConnected, pool.NeedsAuth: protocol.MCPNeedsAuth, pool.Failed: protocol.MCPFailed,
}

// sentences makes one text of sentences without a subject.
func sentences(list []string) string {
	text := strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), "; ")
	if text != "" {
		text += "."
	}
	return text
}

// judge reports whether an entry may be used, and whether somebody can sign in, or has.
func (s *Servers) judge(info *protocol.MCPServerInfo, e mcpconfig.Entry, policy mcpconfig.Policies, p place) {
	if e.Disabled {
		return
	}
	r, err := s.reach(e, policy, p)
	if err != nil {
		if info.State == protocol.MCPConfigured {
			info.State, info.Problem = protocol.MCPRefused, failure.Sentence(err)+"."
		}
		return
	}
	login, err := NewLogin(e, r, s.cfg.Settings.FS, s.cfg.Settings.CredentialsFile(), s.cfg.Settings.Version)
	if err != nil || login == nil {
		return
	}
	info.SignedIn = login.Session().Has("")
	// What lets it in already asks nobody.
	info.CanSignIn = info.SignedIn || e.OAuth != nil || info.State != protocol.MCPConnected && e.HeadersHelper == ""
}

// reach says how the server of an entry is reached from a place.
func (s *Servers) reach(e mcpconfig.Entry, policy mcpconfig.Policies, p place) (Reached, error) {
	in := Surroundings{Environ: s.cfg.Settings.ChildEnviron(p.cfg), Root: p.root, Trust: s.cfg.Settings.Trust, Answers: s.answers(),
		Profile: func() (*sandbox.Profile, error) {
			return confinement.ForServer(s.cfg.Settings, p.cfg, p.over, p.root)
		}}
	return Reach(e, policy, s.vars(p.root, p.cfg), in)
}

// enable switches a server on or off.
func (s *Servers) enable(l *lane.Lane, r *protocol.EnableMCPServer) error {
	p, err := s.place(l, r.WorkDir)
	if err != nil {
		return err
	}
	set := s.Configured(p.root, p.cfg, p.over)
	if set.Managed {
		return protocol.Errorf(protocol.CodeForbidden, "An administrator's file decides which MCP servers are used here.")
	}
	e, ok := set.Lookup(r.Name)
	if !ok {
		return missing(set, r.Name)
	}
	store := mcpconfig.Store{FS: s.cfg.Settings.FS, File: mcpconfig.UserFile(s.cfg.Settings.Dir)}
	if err := store.Enable(p.root, e, r.Enabled); err != nil {
		return protocol.Errorf(protocol.CodeStorageError, "%s.", failure.Sentence(err))
	}
	s.again(p.id, r.Name)
	return nil
}

// missing says that no server of a name counts, and why, where that is known.
func missing(set mcpconfig.Set, name string) error {
	for _, x := range set.Suppressed {
		if x.Entry.Name == name {
			return protocol.About("name", "", protocol.CodeInvalidRequest, "The MCP server %.100q does not count: %s.", name, x.Reason)
		}
	}
	return protocol.About("name", "", protocol.CodeNotFound, "There is no MCP server %.100q here.", name)
}

// announce tells clients that something has changed about the servers of a session.
func (s *Servers) announce(id protocol.SessionID) {
	s.cfg.Announcer.Broadcast(&protocol.MCPChanged{SessionID: id})
}
