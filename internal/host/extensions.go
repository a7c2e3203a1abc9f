package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/hook"
	"scorel/internal/engine/model"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/trust"
	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/lane"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// maxKinds bounds the kinds of custom events of a conversation that are looked at.
const maxKinds = 64

// projectExtensions is where a project's extensions are, relative to it.
const projectExtensions = ".scorel/extensions"

// extended is what the host keeps of the extensions of an open session.
type extended struct {
	h    *Host
	lane *lane.Lane
	set  *extension.Set
	ctx  context.Context // of commands that run behind their request; ends with the session
	end  context.CancelFunc
	wg   sync.WaitGroup // of them
	keys knownKeys

	seen seen
	kept kept

	// mu may be held while the lane is watched and the set is asked what it has, and never
	// while the lane is asked anything: who holds the lane's lock may wait for the
	// publisher's writer.
	mu       sync.Mutex
	model    *rpc.Model // of the newest turn
	tools    []rpc.Tool // that its model could be given
	active   []string   // names of tools that extensions have chosen, nil for all
	names    []string   // of tools that it was given
	commands []string
	thinking string
	mode     string
	trusted  bool
	prompt   string
	shown    []protocol.UIState // what extensions show, without its lines
	shownAt  time.Time          // where the pace of what they show stands
	unwatch  func()             // ends the watch of the session; nil: nothing was loaded yet
	told     []string           // problems that people have been told of
	looked   bool               // for entries that nobody understands
	queued   int                // commands that wait behind their request
}

// seen is what is noted on the publisher's writer. Nothing is called with mu held.
type seen struct {
	mu     sync.Mutex
	own    int  // messages that extensions have sent since a person did
	tokens int  // of the active path
	stale  bool // tokens are to be found anew
}

// extend makes the extensions of a session that has been opened. Nothing of them is
// looked for yet.
func (h *Host) extend(l *lane.Lane) {
	x := &extended{h: h, lane: l, seen: seen{stale: true}}
	x.ctx, x.end = context.WithCancel(context.Background())
	id, index := l.ID(), l.Log().Index()
	meta := l.Meta()
	root, _ := workspace.Root(meta.WorkDir, h.cfg.UserHome)
	reason := "startup"
	if index.Leaf() != "" {
		reason = "resume"
	}
	mode := "rpc"
	switch {
	case h.cfg.Unattended:
		mode = "print"
	case h.cfg.Serving:
		mode = "tui"
	}
	x.set = extension.New(extension.Config{Host: x, Log: index, Version: h.cfg.Version, Reason: reason,
		Session:  rpc.Session{ID: id, Cwd: meta.WorkDir, ProjectRoot: root, File: filepath.Join(h.cfg.StoreDir, "sessions", string(id)+".jsonl"), Mode: mode},
		Find:     func(ctx context.Context) extension.Found { return h.findExtensions(ctx, root) },
		Settings: func(e extension.Extension) json.RawMessage { return h.extensionSettings(root, e) },
		Cache:    filepath.Join(h.cfg.Dir, "cache", "extensions"), Record: h.runDir(id),
		Environ: func() ([]string, error) {
			cfg, err := h.loadConfig(root)
			if err != nil { // it would not be known which variables hold keys
				return nil, err
			}
			x.keys.set(h.keyValues(cfg))
			return h.childEnviron(cfg), nil
		},
		Clean:  x.keys.clean,
		Fault:  func(p *fault.Panic) { x.lane.Panicked(p) },
		Report: func(what string, detail []byte) { h.report(id, what, detail) }})
	h.mu.Lock()
	h.extended[id] = x
	h.mu.Unlock()
}

// extensionsOf gives the extensions of an open session, nil for another.
func (h *Host) extensionsOf(id protocol.SessionID) *extended {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.extended[id]
}

// shorten ends the extensions of a session that is being closed.
func (h *Host) shorten(id protocol.SessionID) {
	h.mu.Lock()
	x := h.extended[id]
	delete(h.extended, id)
	h.mu.Unlock()
	if x == nil {
		return
	}
	x.set.Close()
	x.mu.Lock()
	x.end() // nothing is begun any more
	if x.unwatch != nil {
		x.unwatch()
	}
	x.mu.Unlock()
	x.wg.Wait()
}

// watch takes note of what happens in the session. It does not wait.
func (x *extended) watch(e protocol.Event) {
	x.seen.mu.Lock()
	defer x.seen.mu.Unlock()
	_, compact := e.Body.(*protocol.Compact)
	if _, moves := e.Leaf(); moves || compact {
		x.seen.stale = true
	}
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok {
		return
	}
	switch u := b.Message.Usage; {
	case b.Message.Role == protocol.RoleAssistant && u != nil:
		x.seen.tokens, x.seen.stale = u.ContextTokens(), false
	case b.Message.Role == protocol.RoleUser && e.ClientID != protocol.HostClient:
		x.seen.own = 0
	}
}

// findExtensions looks for the user's extensions and those of a project.
func (h *Host) findExtensions(ctx context.Context, root string) extension.Found {
	sources := []extension.Source{{Dir: filepath.Join(h.cfg.Dir, "extensions"), Scope: extension.User}}
	if dir := filepath.Join(root, projectExtensions); root != "" && canonical(filepath.Dir(dir)) != canonical(h.cfg.Dir) {
		sources = append(sources, extension.Source{Dir: dir, Base: root, Scope: extension.Project,
			Trusted: func() (map[string]string, string) { return h.trustedExtensions(ctx, root) }})
	}
	if !slices.ContainsFunc(sources, extension.Source.Exists) {
		return extension.Found{}
	}
	off, err := h.switchedOff(root)
	if err != nil { // what is switched off must not run, and which names hold keys is not known
		return extension.Found{Problems: []string{sentence(err) + "; until then no extension runs."}}
	}
	return extension.Find(sources, func(id string) bool { return slices.Contains(off, id) })
}

// trustedExtensions gives the files that a project's extensions may consist of, or why
// there are none.
func (h *Host) trustedExtensions(ctx context.Context, root string) (map[string]string, string) {
	r, err := h.trust.Status(ctx, root)
	if err != nil {
		return nil, sentence(err) + "."
	}
	if r.Problem != "" {
		return nil, r.Problem
	}
	it := r.Find(trust.KindExtension, projectExtensions)
	switch {
	case it == nil:
		return nil, "The project is not trusted; scorel trust shows its files and asks."
	case it.Problem != "":
		return nil, it.Name + " " + it.Problem + "."
	case it.Status == trust.StatusChanged:
		return nil, "Its files have changed since they were trusted; scorel trust shows the change and asks."
	case it.Status != trust.StatusTrusted:
		return nil, "The project's extensions are not trusted; scorel trust shows their files and asks."
	}
	files := make(map[string]string, len(it.Files))
	for _, f := range it.Files {
		if f.Target == "" {
			files[f.Name] = f.SHA256
		}
	}
	return files, "It is a link to another file, which is not followed."
}

// extensionSettings gives the table of an extension: of a project's the project's own,
// since the user's, which may hold keys, are for another one of that name.
func (h *Host) extensionSettings(root string, e extension.Extension) json.RawMessage {
	cfg, err := h.loadConfig(root)
	if err != nil {
		return nil
	}
	tables := cfg.Extensions.User
	if e.Scope == extension.Project {
		tables = cfg.Extensions.Project
	}
	table, ok := tables[e.ID]
	if !ok {
		return nil
	}
	data, err := json.Marshal(table)
	if err != nil {
		return nil
	}
	return data
}

// load starts the extensions of a session, when they do not run, and tells people once
// which entries of the conversation no extension understands. The error is that of ctx.
func (x *extended) load(ctx context.Context) error {
	if err := x.set.Load(ctx); err != nil {
		return err
	}
	if !x.set.Loaded() {
		return nil
	}
	x.mu.Lock()
	looked := x.looked
	if x.looked = true; !looked {
		x.unwatch = x.lane.Watch(x.watch)
	}
	x.mu.Unlock()
	if looked {
		return nil
	}
	index := x.lane.Log().Index()
	var kinds []string
	for e, err := range index.Controls(ctx, index.Leaf(), protocol.TypeCustom) {
		if b, ok := e.Body.(*protocol.Custom); err == nil && ok && !strings.HasPrefix(b.Kind, protocol.OwnKind) && !slices.Contains(kinds, b.Kind) {
			if kinds = append(kinds, b.Kind); len(kinds) == maxKinds {
				break
			}
		}
	}
	x.set.Warn(kinds)
	return nil
}

// extendTurn loads the extensions of a session, and gives the tools of a turn with
// theirs; they stay the same while it runs. An error is that of ctx: no turn begins
// without the extensions that are to judge it.
func (h *Host) extendTurn(ctx context.Context, id protocol.SessionID, cfg config.Config, over Overrides, m model.Model, thinking model.ThinkingLevel, own []tool.Tool) ([]tool.Tool, error) {
	x := h.extensionsOf(id)
	if x == nil {
		return own, nil
	}
	if err := x.load(ctx); err != nil {
		return nil, err
	}
	if !x.set.Loaded() {
		return own, nil
	}
	trusted := x.projectTrusted(ctx)
	x.mu.Lock()
	x.trusted = trusted
	x.mu.Unlock()
	tools := own
	list := over.toolList()
	if list != nil || over.Preset == "" || over.Preset == "coding" || over.Preset == "all" {
		builtin := tool.Names(tool.All())
		more, problems := x.set.Tools(func(name string) bool {
			return slices.Contains(builtin, name) || slices.Contains(tool.Names(own), name)
		})
		if list != nil {
			more = slices.DeleteFunc(more, func(t tool.Tool) bool { return !slices.Contains(list, t.Spec().Name) })
		}
		if list != nil || cfg.Tools.Preset != "readonly" && cfg.Tools.Preset != "none" {
			tools = append(slices.Clone(own), more...)
			slices.SortStableFunc(tools, func(a, b tool.Tool) int { return cmp.Compare(a.Spec().Name, b.Spec().Name) })
		}
		for _, p := range problems {
			x.tellOnce(p)
		}
	}
	return x.note(cfg, over, m, thinking, tools), nil
}

// show shows something of an extension until it is replaced.
func (x *extended) show(u protocol.UIState) error {
	const most = 256
	same := func(o protocol.UIState) bool { return o.Source == u.Source && o.Key == u.Key && o.Place == u.Place }
	x.mu.Lock()
	x.shown = slices.DeleteFunc(x.shown, same)
	full := len(x.shown) >= most
	if len(u.Lines) > 0 && !full {
		x.shown = append(x.shown, protocol.UIState{Source: u.Source, Key: u.Key, Place: u.Place})
	}
	x.mu.Unlock()
	if full && len(u.Lines) > 0 {
		return fmt.Errorf("extensions show %d things already", most)
	}
	x.lane.SetUI(u)
	return nil
}

// hide takes away what extensions show.
func (x *extended) hide() {
	x.mu.Lock()
	shown := x.shown
	x.shown = nil
	x.mu.Unlock()
	for _, u := range shown {
		x.lane.SetUI(u)
	}
}

// tellOnce tells people of a problem, once while the session is open.
func (x *extended) tellOnce(problem string) {
	const most = 64
	x.mu.Lock()
	fresh := !slices.Contains(x.told, problem) && len(x.told) < most
	if fresh {
		x.told = append(x.told, problem)
	}
	x.mu.Unlock()
	if fresh {
		x.Notify("warning", problem)
	}
}

// projectTrusted says whether something of the project is trusted.
func (x *extended) projectTrusted(ctx context.Context) bool {
	root, _ := workspace.Root(x.lane.Meta().WorkDir, x.h.cfg.UserHome)
	r, err := x.h.trust.Status(ctx, root)
	return err == nil && !r.TrustedAt.IsZero()
}

// note keeps what extensions are told of a turn, and gives the tools that they have
// left active.
func (x *extended) note(cfg config.Config, over Overrides, m model.Model, thinking model.ThinkingLevel, tools []tool.Tool) []tool.Tool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.model, x.thinking, x.mode = modelOf(m.Info()), string(thinking), cmp.Or(over.Mode, cfg.Permissions.Mode)
	x.tools, x.names = nil, nil
	active := x.active
	out := make([]tool.Tool, 0, len(tools))
	for _, t := range tools {
		s := t.Spec()
		x.tools = append(x.tools, rpc.Tool{Name: s.Name, Description: s.Description})
		if active == nil || slices.Contains(active, s.Name) {
			x.names = append(x.names, s.Name)
			out = append(out, t)
		}
	}
	x.commands = nil
	for _, c := range x.set.Commands() {
		x.commands = append(x.commands, c.Name)
	}
	return out
}

// modelOf gives a model as extensions see it.
func modelOf(i model.Info) *rpc.Model {
	m := &rpc.Model{ID: i.ID, Name: i.ID, Provider: i.Provider, API: string(i.API), Reasoning: len(i.Thinking) > 0, Input: []string{"text"},
		ContextWindow: i.ContextWindow, MaxTokens: i.MaxTokens}
	if i.Images {
		m.Input = append(m.Input, "image")
	}
	return m
}

// State implements [extension.Host].
func (x *extended) State() rpc.State {
	meta := x.lane.Meta()
	working := x.lane.Working()
	waiting, _ := x.lane.Waiting()
	mode, attended, leaf := x.lane.Mode(), x.lane.Attended(), x.lane.Log().Index().Leaf()
	tokens := x.contextTokens()
	x.mu.Lock()
	known := x.prompt != ""
	x.mu.Unlock()
	prompt := ""
	if !known {
		for e, err := range x.lane.Log().Index().OfType(x.ctx, protocol.TypeInstructionSnapshot) {
			if b, ok := e.Body.(*protocol.InstructionSnapshot); ok && err == nil {
				prompt = b.Snapshot.Text
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.prompt = cmp.Or(x.prompt, prompt)
	return rpc.State{Name: meta.Name, Model: x.model, ThinkingLevel: cmp.Or(meta.ThinkingLevel, x.thinking), PermMode: cmp.Or(string(mode), x.mode),
		HasUI: attended, Idle: !working, Pending: waiting > 0, ActiveTools: x.names, AllTools: x.tools, Commands: x.commands,
		SystemPrompt: x.prompt, LeafID: string(leaf), Trusted: x.trusted, ContextTokens: tokens}
}

// contextTokens is how many tokens of the window the active path fills.
func (x *extended) contextTokens() int {
	x.seen.mu.Lock()
	tokens, stale := x.seen.tokens, x.seen.stale
	x.seen.stale = false
	x.seen.mu.Unlock()
	if !stale {
		return tokens
	}
	index := x.lane.Log().Index()
	tokens = protocol.ContextTokens(func(yield func(protocol.Event) bool) {
		for e, err := range index.Back(x.ctx, index.Leaf()) {
			if err != nil || !yield(e) {
				return
			}
		}
	})
	x.seen.mu.Lock()
	defer x.seen.mu.Unlock()
	if !x.seen.stale {
		x.seen.tokens = tokens
	}
	return tokens
}

// Notify implements [extension.Host].
func (x *extended) Notify(level, text string) { x.lane.Notify("", level, text) }

// PutBlob implements [extension.Host].
func (x *extended) PutBlob(ctx context.Context, data []byte) (string, error) {
	sha, _, err := x.h.store.Blobs().Put(ctx, bytes.NewReader(data))
	return sha, err
}

// extensionSubscribers gives the hooks of extensions outside of turns.
func (h *Host) extensionSubscribers(id protocol.SessionID) []hook.Subscriber {
	if x := h.extensionsOf(id); x != nil {
		return x.set.Subscribers()
	}
	return nil
}

// listExtensions says what extensions there are: of a session how they stand in it,
// else what is found for a folder.
func (h *Host) listExtensions(ctx context.Context, id protocol.SessionID, workDir string) (*protocol.ExtensionList, error) {
	if id != "" {
		s, err := h.acquire(ctx, id)
		if err != nil {
			return nil, err
		}
		defer h.release(s)
		if x := h.extensionsOf(id); x != nil {
			return x.set.List(ctx), nil
		}
	}
	root := ""
	if workDir != "" {
		dir, err := h.lookedAt(workDir)
		if err != nil {
			return nil, err
		}
		root, _ = workspace.Root(dir, h.cfg.UserHome)
	}
	found := h.findExtensions(ctx, root)
	out := &protocol.ExtensionList{Extensions: []protocol.ExtensionInfo{}, Problems: found.Problems}
	for _, e := range found.Extensions {
		out.Extensions = append(out.Extensions, e.Info())
	}
	return out, nil
}

// reload looks for the extensions of a session anew and starts them again.
func (h *Host) reload(ctx context.Context, l *lane.Lane) (*protocol.Reloaded, error) {
	out := &protocol.Reloaded{}
	x := h.extensionsOf(l.ID())
	if x == nil {
		return out, nil
	}
	err := l.AtBorder(ctx, func(ctx context.Context) error {
		x.hide()
		list := x.set.Reload(ctx)
		out.Problems = list.Problems
		for _, e := range list.Extensions {
			switch e.State {
			case protocol.ExtensionLoaded:
				out.Extensions++
			case protocol.ExtensionFailed, protocol.ExtensionUntrusted:
				out.Problems = append(out.Problems, fmt.Sprintf("%s: %s", e.ID, e.Problem))
			}
		}
		return nil
	})
	if c, cerr := h.commandsOf(l, lane.Caller{}, ""); err == nil && cerr == nil {
		out.Commands = len(c.registry().List(ctx).Commands)
		agents := h.agents(c.root)
		out.Agents = len(agents.Usable())
		out.Problems = append(out.Problems, agents.Problems...)
		if cfg, cerr := h.loadConfig(c.root); cerr == nil {
			out.Hooks = len(cfg.Hooks)
		} else {
			out.Problems = append(out.Problems, sentence(cerr)+".")
		}
		found := h.findSkills(ctx, c.dir, c.root)
		out.Skills = len(found.Counting())
		out.Problems = append(out.Problems, found.Problems...)
	}
	return out, err
}

// handleExtensions registers the handlers of this file's requests.
func (h *Host) handleExtensions(t handlers) {
	on(t, func(ctx context.Context, at *target, r *protocol.ListExtensions) (protocol.Response, error) {
		return h.listExtensions(ctx, at.call.SessionID, r.WorkDir)
	})
	inSession(t, func(ctx context.Context, at *target, _ *protocol.Reload) (protocol.Response, error) {
		return h.reload(ctx, at.lane)
	})
}
