package turnconfig

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/config"
	"scorel/internal/engine/fetch"
	"scorel/internal/engine/memory"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/prompt"
	engine "scorel/internal/engine/runtime"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/confinement"
	"scorel/internal/host/extensions"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/settings"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// summariser returns what makes the summaries of compactions, nil for the session's own
// model: the auxiliary one does only where the user wants that.
func (tc *Maker) summariser(id protocol.SessionID, cfg config.Config) func(context.Context, model.Request, bool) (protocol.Message, error) {
	if !cfg.Auxiliary.Summaries || cfg.Auxiliary.Model == "" {
		return nil
	}
	return func(ctx context.Context, req model.Request, priced bool) (protocol.Message, error) {
		m, err := resolve.Resolve(cfg.Auxiliary.Model, tc.settings.Resolver(cfg))
		if err != nil {
			return protocol.Message{}, failure.OfModel(err)
		}
		if err := engine.Unpriced(m.Info()); err != nil && priced {
			return protocol.Message{}, err
		}
		return tc.asker.AskUncounted(ctx, id, m, req) // the event of the compaction says what was used
	}
}

// Make makes ready what a turn of a session runs with; options, which may be nil, are
// those of the message that begins it.
type Make func(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*lane.TurnConfig, error)

// For returns what makes the turns of a session ready: the configuration is read again
// for each turn, so a change counts from the next message on. as is the agent of a
// sub-agent's session, nil for any other.
func (tc *Maker) For(id protocol.SessionID, as *Agent) Make {
	return func(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*lane.TurnConfig, error) {
		t := &turn{tc: tc, id: id, as: as, meta: meta, options: options}
		if options != nil {
			t.by = *options
		}
		return t.make(ctx)
	}
}

// Check returns why no turn could run in a session that is described so. It begins no servers
// but those whose tools the caller names: the first message says which ones the session has,
// and nobody listens yet to what is said of them.
func (tc *Maker) Check(ctx context.Context, id protocol.SessionID, meta protocol.Meta) error {
	t := &turn{tc: tc, id: id, meta: meta, checked: true}
	config, err := t.make(ctx)
	if err == nil {
		config.Close()
	}
	return err
}

// turn is a turn that is being made ready. Its steps follow each other.
type turn struct {
	tc      *Maker
	id      protocol.SessionID
	as      *Agent
	meta    protocol.Meta
	options *protocol.TurnOptions // may be nil
	foreign bool                  // of a call that no model makes: its tools are built in, and no server is awaited
	checked bool                  // no turn begins: see [Maker.Check]
	by      protocol.TurnOptions  // the same, or none

	// From where.
	over      settings.Overrides
	dir, root string
	cfg       config.Config

	models  models
	web     web
	notes   *memory.Store
	skills  skills
	tools   []tool.Tool
	confine confine
}

// models are those of a turn.
type models struct {
	model, fallback model.Model
	level           model.ThinkingLevel
}

// web is what a turn reaches other servers with.
type web struct {
	pages  *fetch.Client
	search settings.Search
}

// skills are those of a turn, and the index of them.
type skills struct {
	set   *skill.Set
	index []protocol.Skill
}

// confine is what a turn may do.
type confine struct {
	box    confinement.Box
	files  *files.Files
	policy *permission.Policy
}

func (t *turn) make(ctx context.Context) (*lane.TurnConfig, error) {
	if err := t.where(); err != nil {
		return nil, err
	}
	if err := t.with(ctx); err != nil {
		return nil, err
	}
	if err := t.within(); err != nil {
		return nil, err
	}
	release := t.tc.servers.Hold(t.id)
	setup, err := t.ready(ctx)
	if err != nil {
		release()
		t.confine.files.Close()
		return nil, err
	}
	setup.Close = func() {
		defer release()
		t.confine.files.Close()
	}
	return setup, nil
}

// where judges the folders and reads the configuration.
func (t *turn) where() (err error) {
	s := t.tc.settings
	if t.over, err = s.Overrides.With(t.options); err != nil {
		return err
	}
	if t.as != nil && t.as.Def.Servers.Own != "" {
		t.over.MCPConfig = append(slices.Clone(t.over.MCPConfig), t.as.Def.Servers.Own)
	}
	if t.by.Workspace != nil {
		if _, err := settings.Existing("options.workspace", *t.by.Workspace); err != nil {
			return err
		}
	}
	if t.dir, t.root, err = s.SessionWorkspace(t.meta.WorkDir, t.over.Wide); err != nil {
		return err
	}
	for i, extra := range t.over.AdditionalDirs {
		if _, err := s.Folder(fmt.Sprintf("options.additionalDirs[%d]", i), extra); err != nil {
			return err
		}
	}
	if t.cfg, err = s.Load(t.root); err != nil {
		return err
	}
	return s.Allowed(t.options, t.root)
}

// with finds what the turn works with: models, servers, notes, skills and tools.
func (t *turn) with(ctx context.Context) (err error) {
	s := t.tc.settings
	if t.models.model, t.models.fallback, err = s.Models(t.cfg, t.meta, t.over); err != nil { // it may be one of an extension
		if t.meta, err = t.tc.extensions.Start(ctx, t.id, t.meta); err != nil {
			return err
		}
		t.models.model, t.models.fallback, err = s.Models(t.cfg, t.meta, t.over)
	}
	if err != nil {
		return settings.InOptions("options.model", t.by.Model != "", err)
	}
	if err := t.begin(ctx); err != nil {
		return err
	}
	t.models.level = t.as.thinking(thinking(t.cfg, t.over, t.meta))
	if t.web.pages, t.web.search, err = s.Web(t.cfg); err != nil {
		return err
	}
	t.notes = s.Notes(t.cfg, t.dir)
	t.skills.set, t.skills.index = t.tc.SkillSet(ctx, t.dir, t.root)
	if t.foreign {
		t.tools, err = runnable(tool.Everything, t.web.search, t.tc.noter(t.notes) != nil)
		return err
	}
	if t.tools, err = t.tc.tools(t.cfg, t.over, t.web.search, t.tc.noter(t.notes) != nil, t.skills.set); err != nil {
		return settings.InOptions("options.tools", t.by.Tools != "", err)
	}
	return nil
}

// begin starts the extensions of the session, which may change the model at its start.
func (t *turn) begin(ctx context.Context) error {
	begun, err := t.tc.extensions.Start(ctx, t.id, t.meta)
	if err != nil {
		return err
	}
	if begun.Model == t.meta.Model && begun.ThinkingLevel == t.meta.ThinkingLevel {
		return nil
	}
	if t.meta = begun; t.meta.Model == "" {
		return nil
	}
	if t.models.model, t.models.fallback, err = t.tc.settings.Models(t.cfg, t.meta, t.over); err != nil {
		return settings.InOptions("options.model", t.by.Model != "", err)
	}
	return nil
}

// within finds what the turn may do. The files are open when it succeeds.
func (t *turn) within() (err error) {
	if t.confine.box, err = t.tc.boxes.Box(t.id, t.cfg, t.over, t.root); err != nil {
		return settings.InOptions("options.sandbox", t.by.Sandbox != "", err)
	}
	readable := t.skills.set.Readable()
	t.confine.box.Show(readable)
	files, err := t.tc.OpenFiles(t.cfg, t.over, t.root, readable...)
	if err != nil {
		return err
	}
	if t.confine.policy, err = t.judge(files, readable); err != nil {
		files.Close()
		return err
	}
	t.confine.files = files
	return nil
}

// judge compiles the mode and the rules of the turn.
func (t *turn) judge(files *files.Files, readable []string) (*permission.Policy, error) {
	policy, err := t.tc.policy(t.cfg, t.over, t.root, t.confine.box, files.Resolve, readable)
	if err != nil {
		if wrong := settings.CheckRules(t.options, settings.Canonical(t.tc.settings.UserHome), t.root); wrong != nil {
			return nil, wrong
		}
		return nil, settings.InOptions("options.mode", t.by.Mode != "", err)
	}
	if t.as == nil || t.as.Def.Mode == "" {
		return policy, nil
	}
	if policy, err = policy.WithMode(permission.Tighter(policy.Mode(), t.as.Def.Mode), os.Getuid()); err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return policy, nil
}

// offered is what a turn offers to its model: tools, those that it can search for, and what
// MCP servers say of theirs.
type offered struct {
	tools  []tool.Tool
	extras *tool.Extras
	lines  func() map[string]string
	words  serverWords
	prompt tool.Prompts // nil: none
	silent func() []string
	held   func(model.Model) model.Model // begins what was held back for a request; nil: nothing was
	update resourceUpdates
}

// offer returns what the turn offers. A call that no model makes has the built-in tools.
func (t *turn) offer(ctx context.Context, set *agent.Set) (o offered, err error) {
	if t.foreign {
		o.tools = t.tools
		return o, nil
	}
	servers, err := t.serverTools(ctx)
	if err != nil {
		return o, err
	}
	tools := t.tc.extensions.ForTurn(ctx, t.id, extensions.Turn{Config: t.cfg, Over: t.over, Model: t.models.model, Thinking: t.models.level, Tools: servers.with(t.tools)})
	if err := missingTool(t.over.ToolList(), tools); err != nil && (t.tc.sessions.Lane(t.id) != nil || !t.tc.mayExtend(ctx, t.root)) {
		return o, settings.InOptions("options.tools", t.by.Tools != "", err)
	}
	o.tools, o.extras = servers.extras(t.as.pick(tool.WithAgents(servers.deferExtensions(tools), choices(set))))
	o.lines, o.words = servers.lines, serverWords{servers.instructions()}
	o.update = servers.updates()
	o.prompt, o.silent = servers.prompts()
	o.held = servers.sending
	return o, nil
}

// lister returns what tells the model of prompts of servers, where it has what uses them.
func (o offered) lister(skills *skill.Set, window int) promptLister {
	p := promptLister{of: o.prompt, skills: skills, unlisted: o.silent, window: window}
	if !slices.ContainsFunc(o.tools, func(t tool.Tool) bool { return t.Spec().Needs == tool.NeedsSkills }) {
		p.of = nil
	}
	return p
}

// ready adds what extensions and agents have, and puts all together.
func (t *turn) ready(ctx context.Context) (*lane.TurnConfig, error) {
	tc, s, set := t.tc, t.tc.settings, t.tc.settings.Agents(t.root)
	o, err := t.offer(ctx, set)
	if err != nil {
		return nil, err
	}
	t.cfg.Hooks = t.as.hooks(t.cfg.Hooks)
	info := t.models.model.Info()
	if o.held != nil {
		t.models.model, t.models.fallback = o.held(t.models.model), o.held(t.models.fallback)
	}
	return &lane.TurnConfig{
		Hooks: tc.hooks(t.id, t.cfg, t.over, t.dir, t.root), Subagent: t.as != nil, Agents: lane.Agents{Set: set, Max: t.cfg.Agents.MaxParallel},
		Models: lane.Models{Main: t.models.model, Fallback: t.models.fallback, Thinking: t.models.level, Summary: tc.summariser(t.id, t.cfg)},
		Tools:  o.tools, Policy: t.confine.policy, WorkDir: t.dir,
		Setting: tool.Setting{Files: t.confine.files, Spawn: tc.boxes.Spawner(t.id, t.confine.box),
			Environ: s.ChildEnviron(t.cfg), Window: info.ContextWindow, Ripgrep: s.Program("rg", s.Writable(t.cfg, t.over, t.root)),
			Web: t.web.pages, Pages: &tc.pages, Search: t.web.search.Searcher, Withheld: t.confine.policy.Withheld(), Notes: tc.noter(t.notes), Skills: t.skills.set, Prompts: o.prompt, Extras: o.extras},
		Skills: t.skills.index, Items: skillItems(t.skills.set, slices.Concat(o.tools, o.extras.Own()), info.ContextWindow),
		Limits:     t.as.limit(limits(t.cfg, t.over)),
		Wake:       t.wake(),
		Compaction: t.cfg.Compaction.Auto, AskTimeout: t.cfg.Permissions.Timeout,
		Prompt: turnPrompt{nested: tc.nested(t.dir, t.root, info.ContextWindow), notify: func(sentence string) { tc.sessions.Notify(t.id, "warning", sentence) },
			items: tc.teller(t.id, t.cfg, t.notes, info.ContextWindow), announce: announcer{o.extras, o.lines, info.ContextWindow}, prompts: o.lister(t.skills.set, info.ContextWindow), discover: t.discoverer(o.extras), servers: o.words, updates: o.update, instructions: func() (protocol.Instructions, []string, error) {
				return tc.instructions(t.id, t.cfg, t.dir, t.root, info, t.as)
			}},
	}, nil
}

// wake returns what begins a turn by itself after this one: nothing in a host that ends with its
// command, and nothing for a sub-agent, for which the session above it waits.
func (t *turn) wake() lane.Wake {
	if !t.tc.settings.Serving || t.as != nil {
		return lane.WakeOff
	}
	return lane.Wake(t.cfg.Background.Wake)
}

func thinking(cfg config.Config, over settings.Overrides, meta protocol.Meta) model.ThinkingLevel {
	for _, level := range []string{over.Thinking, meta.ThinkingLevel, cfg.Model.Thinking} {
		if level != "" {
			return model.ThinkingLevel(level)
		}
	}
	return ""
}

func limits(cfg config.Config, over settings.Overrides) engine.Limits {
	l := engine.Limits{MaxSteps: cfg.Limits.MaxSteps}
	if over.MaxSteps > 0 {
		l.MaxSteps = over.MaxSteps
	}
	asked := engine.Spend{USD: over.MaxBudgetUSD, Tokens: over.MaxTokens, Time: engine.Minutes(over.MaxMinutes)}
	l.Spend = asked.Tighter(engine.Spend{USD: cfg.Limits.MaxBudgetUSD, Time: engine.Minutes(cfg.Limits.MaxTurnMinutes)})
	return l
}

func (tc *Maker) instructions(id protocol.SessionID, cfg config.Config, dir, root string, info model.Info, as *Agent) (protocol.Instructions, []string, error) {
	_, common := workspace.Root(dir, tc.settings.UserHome)
	in, notices, err := prompt.Build(prompt.Config{WorkDir: dir, Root: root, Home: settings.Canonical(tc.settings.UserHome), UserPrompt: cfg.Prompt,
		PromptSource: filepath.Join(tc.settings.Dir, "config.toml"), AppendPrompt: as.prompt(tc.settings.Overrides.AppendSystemPrompt), Now: tc.settings.Now(),
		Platform: runtime.GOOS, Shell: "bash", Git: common != "", GitBranch: workspace.Branch(dir, tc.settings.UserHome), Window: info.ContextWindow,
		UID: os.Getuid(), ProjectPrompt: cfg.ProjectPrompt, ProjectSource: cfg.ProjectFile})
	var sentences []string
	for _, n := range notices {
		tc.log.Report(id, n.Text, nil)
		sentences = append(sentences, n.Text)
	}
	return in, sentences, err
}

// nested finds the instruction files of folders that calls touch.
func (tc *Maker) nested(dir, root string, window int) *prompt.Nested {
	return prompt.NewNested(prompt.NestedConfig{WorkDir: dir, Root: root, Home: settings.Canonical(tc.settings.UserHome), UID: os.Getuid(), Window: window})
}

// Try returns why no turn could run with such options in a session so described, as far as
// that is known without starting anything, else its model; the zero model is one that an
// extension may provide.
func (tc *Maker) Try(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (model.Info, error) {
	t := &turn{tc: tc, meta: meta, options: options}
	if options != nil {
		t.by = *options
		meta.Model = cmp.Or(options.Model, meta.Model)
	}
	if err := t.where(); err != nil {
		return model.Info{}, err
	}
	if err := settings.CheckRules(options, settings.Canonical(tc.settings.UserHome), t.root); err != nil {
		return model.Info{}, err
	}
	m, _, err := tc.settings.Models(t.cfg, t.meta, t.over)
	switch {
	case err == nil:
		return m.Info(), nil
	case tc.MayBeProvided(ctx, "", meta):
		return model.Info{}, nil
	}
	return model.Info{}, settings.InOptions("options.model", t.by.Model != "", err)
}
