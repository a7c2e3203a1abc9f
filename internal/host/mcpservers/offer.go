package mcpservers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/config"
	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/engine/mcptool"
	"scorel/internal/engine/tool"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// maxNamedFaults is how many faults of what a server offers people are told.
const maxNamedFaults = 50

// maxBrought is how many texts of servers the messages of a session may bring.
const maxBrought = 4 * protocol.MaxMCPConfigs

// session is what a session uses.
type session struct {
	one   chan struct{} // held while servers are begun and while a choice is made
	index tool.ExtraIndex
	held  int  // turns that begin or run; guarded by the lock of [Servers], as ends is
	ends  bool // it is closed when none does any more

	mu     sync.Mutex
	begun  bool
	closed bool
	over   settings.Overrides // of the turn that has begun the servers
	stamp  string             // of the project's files that are trusted
	// switched are the names of servers that a person has switched on or off since the last
	// turn; at most as many as there are entries.
	switched []string
	used     []*used
	choice   *Choice
	all      []tool.Tool              // of all servers, sorted by name; replaced, never changed
	read     []tool.Tool              // for resources; none where no server has some
	denied   func(server string) bool // by a rule; nil: none is
	watched  []watched                // resources that were read, the oldest first
	typed    context.CancelFunc       // ends the newest completion, nil for none so far
}

func newSession() *session { return &session{one: make(chan struct{}, 1)} }

// used is a server that a session uses. The session's lock guards what follows lease.
type used struct {
	session protocol.SessionID
	entry   mcpconfig.Entry
	lease   *pool.Lease

	told     bool            // people know that it cannot be used
	named    map[string]bool // faults that people know of
	of       []connect.Tool  // what tools was made of
	tools    []tool.Tool
	line     string // what it calls itself, "" for nothing
	says     string // of its use, "" for nothing
	readable bool   // it has resources
	prompts  []connect.Prompt
}

// Choice is what a session decides once about the tools that its model is sent.
type Choice struct {
	Tools  []tool.Tool // of servers, sorted by name
	Search bool        // the model can search for the others
	Direct []string    // the tools of extensions that it is sent, where it can search
	Skills bool        // the model is sent what uses skills, because prompts of servers are used like them
}

// Offer is what the servers of a session offer. It may be used concurrently, and implements
// [tool.ExtraServers].
type Offer struct {
	s       *Servers
	x       *session
	id      protocol.SessionID
	timeout time.Duration // of a question to people; 0: no limit
}

// Offer begins the servers that are configured for a session whose workspace is root, where
// they are not begun, and waits for none. What is wrong with one is told to people. An error
// is that ctx has ended before.
func (s *Servers) Offer(ctx context.Context, id protocol.SessionID, root string, cfg config.Config, over settings.Overrides) (*Offer, error) {
	o := &Offer{s, s.of(id), id, cfg.Permissions.Timeout}
	if err := o.x.enter(ctx); err != nil {
		return nil, err
	}
	defer o.x.leave()
	o.x.mu.Lock()
	begun := o.x.begun || o.x.closed
	o.x.mu.Unlock()
	if !begun {
		o.begin(root, cfg, over)
	} else {
		o.trusted(root, cfg, over)
		o.brought(root, cfg, over)
	}
	for _, u := range o.servers() {
		u.lease.Retry()
	}
	o.push(root, cfg, over)
	return o, nil
}

// enter waits until nobody else begins or decides. The caller leaves.
func (x *session) enter(ctx context.Context) error {
	select {
	case x.one <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *session) leave() { <-x.one }

func (o *Offer) warn(format string, args ...any) {
	o.s.cfg.People.Notify(o.id, "warning", fmt.Sprintf(format, args...))
}

// begin acquires the servers. Nobody else does.
func (o *Offer) begin(root string, cfg config.Config, over settings.Overrides) {
	stamp := o.s.stamp(root)
	set := o.s.Configured(root, cfg, over)
	for _, f := range set.Faults {
		if f.Dropped {
			o.warn("%v.", f)
		}
	}
	all := o.acquire(set.Entries, set.Policy, root, cfg, over)
	o.x.mu.Lock()
	o.x.begun, o.x.stamp, o.x.over = true, stamp, over
	o.x.mu.Unlock()
	o.use(all)
}

// trusted begins the servers of a project that has been trusted since, and those that somebody
// has switched on, and ends those that no longer count. A person who trusts a project wants to use it: where the model cannot
// search yet, the choice is made again.
func (o *Offer) trusted(root string, cfg config.Config, over settings.Overrides) {
	stamp := o.s.stamp(root)
	o.x.mu.Lock()
	switched := o.x.switched
	same := o.x.stamp == stamp && len(switched) == 0 || o.x.closed
	o.x.stamp, o.x.switched = stamp, nil
	given := o.x.over
	o.x.mu.Unlock()
	if same {
		return
	}
	over.MCPConfig, over.StrictMCP = given.MCPConfig, given.StrictMCP
	set := o.s.Configured(root, cfg, over)
	asked := func(e mcpconfig.Entry) bool {
		return e.OfProject() || slices.Contains(switched, e.Name)
	}
	var kept []*used
	for _, u := range o.servers() {
		e, ok := set.Lookup(u.entry.Name)
		if asked(u.entry) && (!ok || e.Disabled || e.Hash() != u.entry.Hash()) {
			u.lease.Release()
			continue
		}
		kept = append(kept, u)
	}
	added := o.acquire(slices.DeleteFunc(set.Entries, func(e mcpconfig.Entry) bool {
		return !asked(e) || slices.ContainsFunc(kept, func(u *used) bool { return u.entry.Name == e.Name })
	}), set.Policy, root, cfg, over)
	o.x.mu.Lock()
	if len(added) > 0 && o.x.choice != nil && !o.x.choice.Search {
		o.x.choice = nil
	}
	o.x.mu.Unlock()
	o.use(append(kept, added...))
}

// brought begins the servers that a turn brings, or switches on by name, and that the session
// did not have when its servers were begun, such as those of a session that is resumed.
func (o *Offer) brought(root string, cfg config.Config, over settings.Overrides) {
	o.x.mu.Lock()
	given := o.x.over
	texts := slices.DeleteFunc(slices.Clone(over.MCPConfig), func(text string) bool { return slices.Contains(given.MCPConfig, text) })
	if len(texts) == 0 || o.x.closed {
		o.x.mu.Unlock()
		return
	}
	given.MCPConfig = slices.Concat(given.MCPConfig, texts)
	if n := len(given.MCPConfig); n > maxBrought {
		o.x.mu.Unlock()
		o.warn("The servers of this message do not count: the session has been brought %d texts of servers, which is the most; put them into one file.", maxBrought)
		return
	}
	o.x.over.MCPConfig = given.MCPConfig
	o.x.mu.Unlock()
	over.MCPConfig, over.StrictMCP = given.MCPConfig, given.StrictMCP
	set := o.s.Configured(root, cfg, over)
	for _, f := range set.Faults {
		if f.Dropped && f.Scope == mcpconfig.ScopeSession {
			o.warn("%v.", f)
		}
	}
	kept := o.servers()
	added := o.acquire(slices.DeleteFunc(set.Entries, func(e mcpconfig.Entry) bool {
		return e.Scope != mcpconfig.ScopeSession && !e.Awaited || slices.ContainsFunc(kept, func(u *used) bool { return u.entry.Name == e.Name })
	}), set.Policy, root, cfg, over)
	o.x.mu.Lock()
	if len(added) > 0 && o.x.choice != nil && !o.x.choice.Search {
		o.x.choice = nil
	}
	o.x.mu.Unlock()
	o.use(slices.Concat(kept, added))
}

// acquire begins the servers of entries. People are told of those that cannot be.
func (o *Offer) acquire(entries []mcpconfig.Entry, policy mcpconfig.Policies, root string, cfg config.Config, over settings.Overrides) (all []*used) {
	for _, e := range entries {
		if e.Disabled {
			continue
		}
		u := &used{session: o.id, entry: e}
		// The pool tells of changes also before the lease is there: those are looked at later.
		l, err := o.s.acquire(o.id, root, cfg, over, e, policy, func() { o.changed(u) }, func(uri string) { o.x.resourceChanged(e.Name, uri) })
		if err != nil {
			o.warn("The MCP server %s is not used: %v.", e.Name, err)
			continue
		}
		o.x.mu.Lock()
		u.lease = l
		o.x.mu.Unlock()
		all = append(all, u)
	}
	return all
}

// use makes these the servers of the session, and looks at each.
func (o *Offer) use(all []*used) {
	o.x.mu.Lock()
	closed := o.x.closed
	if !closed {
		o.x.used = all
		o.gather() // what was connected meanwhile
	}
	o.x.mu.Unlock()
	for _, u := range all {
		if closed {
			u.lease.Release()
			continue
		}
		o.changed(u)
	}
}

// changed looks at what has become of a server: it keeps its tools, also when the
// connection ends, and tells people once that it cannot be used.
func (o *Offer) changed(u *used) {
	o.x.mu.Lock()
	l := u.lease
	o.x.mu.Unlock()
	if l == nil {
		return
	}
	o.s.announce(o.id)
	defer o.s.cfg.Pusher.Changed(o.id)
	status := l.Status()
	switch status.State {
	case pool.Connected:
		o.connected(u, status)
	case pool.NeedsAuth:
		o.fails(u, "The MCP server %s wants you to sign in: scorel mcp login %s.", u.entry.Name, u.entry.Name)
	case pool.Failed:
		o.fails(u, "The MCP server %s cannot be used: %s.", u.entry.Name, status.Problem)
	}
}

// fails tells people what is wrong with a server that has not been connected.
func (o *Offer) fails(u *used, format string, args ...any) {
	o.x.mu.Lock()
	told := u.told || u.of != nil || o.x.closed
	u.told = true
	o.x.mu.Unlock()
	if !told {
		o.warn(format, args...)
	}
}

// connected takes the tools of a server in.
func (o *Offer) connected(u *used, status pool.Status) {
	defer o.faults(u, status.Faults)
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	o.resources(u, status)
	if status.Listed {
		u.prompts = status.Lists.Prompts
	}
	if u.of != nil && len(u.of) == len(status.Tools) && (len(u.of) == 0 || &u.of[0] == &status.Tools[0]) {
		return
	}
	u.of = status.Tools
	if u.of == nil {
		u.of = []connect.Tool{}
	}
	u.line, u.says = status.Title, status.Instructions
	u.tools = nil
	for _, t := range status.Tools {
		if u.entry.Takes(t.Own) {
			u.tools = append(u.tools, mcptool.New(o.source(u), t, u.lease, o.people(), payloads{o.s.cfg.Blobs}))
		}
	}
	o.gather()
}

// faults tells people once what is left out of what a server offers.
func (o *Offer) faults(u *used, list []string) {
	o.x.mu.Lock()
	if u.named == nil {
		u.named = map[string]bool{}
	}
	var fresh []string
	for _, f := range list {
		if n := len(u.named); !u.named[f] && n <= maxNamedFaults {
			if n == maxNamedFaults {
				f = "there is more; see scorel mcp test " + u.entry.Name
			}
			u.named[f] = true
			fresh = append(fresh, f)
		}
	}
	o.x.mu.Unlock()
	for _, f := range fresh {
		o.warn("The MCP server %s: %s.", u.entry.Name, f)
	}
}

// source is the server of tools as it is configured.
func (o *Offer) source(u *used) mcptool.Source {
	return mcptool.Source{Name: u.entry.Name, Time: time.Duration(u.entry.TimeoutMS) * time.Millisecond, Offers: func(own string) bool {
		s := u.lease.Status()
		return s.State != pool.Connected || slices.ContainsFunc(s.Tools, func(t connect.Tool) bool { return t.Own == own })
	}}
}

// people are those of the session.
func (o *Offer) people() mcptool.People {
	return mcptool.People{Session: string(o.id), Ask: func(ctx context.Context, d protocol.Dialog) (json.RawMessage, bool) {
		return o.s.cfg.People.Ask(ctx, o.id, d, o.timeout)
	}, Sample: o.sample}
}

// gather makes the list of all tools. mu is held.
func (o *Offer) gather() {
	var all []tool.Tool
	for _, u := range o.x.used {
		all = append(all, u.tools...)
	}
	o.makeResourceTools()
	all = append(all, o.x.read...)
	slices.SortFunc(all, byName)
	o.x.all = all
}

func byName(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) }

// servers returns those that the session uses.
func (o *Offer) servers() []*used {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	return o.x.used
}

// Any reports whether the session uses a server, connected or not.
func (o *Offer) Any() bool { return len(o.servers()) > 0 }

// Tools implements [tool.ExtraServers].
func (o *Offer) Tools() []tool.Tool {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	return o.x.all
}

// Pending implements [tool.ExtraServers].
func (o *Offer) Pending() []string {
	var names []string
	for _, u := range o.servers() {
		if s := u.lease.Status(); s.State == pool.Pending && s.Problem == "" {
			names = append(names, u.entry.Name)
		}
	}
	return names
}

// Unlisted returns the names of the servers that have not said yet what they have besides
// tools.
func (o *Offer) Unlisted() []string {
	var names []string
	for _, u := range o.servers() {
		if s := u.lease.Status(); s.Problem == "" && (s.State == pool.Pending || s.State == pool.Connected && !s.Listed) {
			names = append(names, u.entry.Name)
		}
	}
	return names
}

// Settle implements [tool.ExtraServers].
func (o *Offer) Settle(ctx context.Context, name string) {
	if mcptool.OfResources(name) { // they exist once a server has said that it has some
		_ = o.awaitResources(ctx) // what is known by then counts
		return
	}
	list := o.servers()
	if name != "" {
		list = slices.DeleteFunc(slices.Clone(list), func(u *used) bool { return !u.mayHave(name) })
	}
	begin(list)
	for _, u := range list {
		if o.await(ctx, []*used{u}) != nil {
			return // what is known by then counts
		}
	}
}

// mayHave reports whether the server can have a tool of a name.
func (u *used) mayHave(name string) bool {
	return strings.HasPrefix(name, connect.Prefix(u.entry.Name)) || connect.MayBeCut(u.entry.Name, name)
}

// Begin lets the connections be begun that wait for that: with the first request of a turn on
// its way, so that they do not delay it. What waits for a server begins it, too.
func (o *Offer) Begin() { begin(o.servers()) }

func begin(list []*used) {
	for _, u := range list {
		u.lease.Begin()
	}
}

// await waits for the first try of servers, and takes in what came of it.
func (o *Offer) await(ctx context.Context, list []*used) error {
	begin(list)
	for _, u := range list {
		if err := u.lease.Settled(ctx); err != nil {
			return err
		}
		o.changed(u)
	}
	return nil
}

// AwaitAlwaysLoaded waits for the servers whose entries say alwaysLoad, each at most half a
// minute, and returns their tools, and those that other servers of the person or of an
// administrator want sent and that are known, sorted by name.
func (o *Offer) AwaitAlwaysLoaded(ctx context.Context) ([]tool.Tool, error) {
	tools, err := o.awaitTools(ctx, func(u *used) bool { return u.entry.AlwaysLoad })
	if err != nil {
		return nil, err
	}
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	for _, u := range o.x.used {
		switch u.entry.Scope {
		case mcpconfig.ScopeUser, mcpconfig.ScopeLocal, mcpconfig.ScopeManaged:
		default:
			continue
		}
		for _, t := range u.tools {
			if wants, ok := t.(interface{ AlwaysLoad() bool }); ok && !u.entry.AlwaysLoad && wants.AlwaysLoad() {
				tools = append(tools, t)
			}
		}
	}
	slices.SortFunc(tools, byName)
	return tools, nil
}

// AwaitSwitchedOn waits for the servers that the session has switched on by name: who wants one
// learns at once that it cannot be used.
func (o *Offer) AwaitSwitchedOn(ctx context.Context) error {
	_, err := o.awaitTools(ctx, func(u *used) bool { return u.entry.Awaited })
	return err
}

// AwaitAll is AwaitAlwaysLoaded for all servers.
func (o *Offer) AwaitAll(ctx context.Context) ([]tool.Tool, error) {
	tools, err := o.awaitTools(ctx, func(*used) bool { return true })
	if err == nil {
		err = o.awaitResources(ctx)
	}
	if err != nil {
		return nil, err
	}
	tools = append(tools, o.resourceTools()...)
	slices.SortFunc(tools, byName)
	return tools, nil
}

// AwaitNamed waits for the servers that can have a tool of these names, or that a rule of
// these names is for, and returns the tools of these names.
func (o *Offer) AwaitNamed(ctx context.Context, names []string) ([]tool.Tool, error) {
	tools, err := o.awaitTools(ctx, func(u *used) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return u.mayHave(name) || strings.TrimSuffix(name, "__*")+"__" == connect.Prefix(u.entry.Name)
		})
	})
	return slices.DeleteFunc(tools, func(t tool.Tool) bool { return !slices.Contains(names, t.Spec().Name) }), err
}

// awaitTools waits for some servers and returns their tools, sorted by name. People are told
// of an address that is still tried.
func (o *Offer) awaitTools(ctx context.Context, which func(*used) bool) ([]tool.Tool, error) {
	list := slices.DeleteFunc(slices.Clone(o.servers()), func(u *used) bool { return !which(u) })
	if err := o.await(ctx, list); err != nil {
		return nil, err
	}
	var tools []tool.Tool
	for _, u := range list {
		if s := u.lease.Status(); s.State == pool.Pending {
			o.fails(u, "The MCP server %s cannot be used: %s.", u.entry.Name, s.Problem)
		}
		o.x.mu.Lock()
		tools = append(tools, u.tools...)
		o.x.mu.Unlock()
	}
	slices.SortFunc(tools, byName)
	return tools, nil
}

// Decide returns the choice of the session, which decide makes when there is none yet. An
// error is that of decide, or of ctx; then there is no choice.
func (o *Offer) Decide(ctx context.Context, decide func() (Choice, error)) (Choice, error) {
	if err := o.x.enter(ctx); err != nil {
		return Choice{}, err
	}
	defer o.x.leave()
	o.x.mu.Lock()
	made := o.x.choice
	o.x.mu.Unlock()
	if made != nil {
		return *made, nil
	}
	c, err := decide()
	if err != nil {
		return Choice{}, err
	}
	o.x.mu.Lock()
	o.x.choice = &c
	o.x.mu.Unlock()
	return c, nil
}

// Amend changes the choice of the session as far as it says nothing yet: it sets Search and
// Direct where Direct is nil, and returns what holds.
func (o *Offer) Amend(search bool, direct []string) Choice {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	if o.x.choice == nil {
		o.x.choice = &Choice{}
	}
	if c := o.x.choice; c.Direct == nil {
		c.Search, c.Direct = search, direct
		if c.Direct == nil {
			c.Direct = []string{}
		}
	}
	return *o.x.choice
}

// Index is that of the tools of the session.
func (o *Offer) Index() *tool.ExtraIndex { return &o.x.index }

// Instructions returns what servers say of their use, by their names: those that have been
// connected, and that no rule denies.
func (o *Offer) Instructions() map[string]string {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	says := map[string]string{}
	for _, u := range o.x.used {
		if u.says != "" && (o.x.denied == nil || !o.x.denied(connect.PlainName(u.entry.Name))) {
			says[u.entry.Name] = u.says
		}
	}
	return says
}

// Lines returns what servers call themselves, by the beginning of their tools' names.
func (o *Offer) Lines() map[string]string {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	lines := map[string]string{}
	for _, u := range o.x.used {
		lines[connect.Prefix(u.entry.Name)] = u.line
	}
	return lines
}
