package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/permission/rules"
	"scorel/internal/engine/prompt"
	engine "scorel/internal/engine/runtime"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool"
	"scorel/internal/extension"
	"scorel/internal/host/lane"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// setup gives the function that makes ready what a turn of a session runs with:
// the configuration is read anew for each turn, so a change counts from the next
// message on. as is the agent of a sub-agent's session, nil for any other.
func (h *Host) setup(id protocol.SessionID, as *asAgent) func(context.Context, protocol.Meta, *protocol.TurnOptions) (*lane.Setup, error) {
	return func(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*lane.Setup, error) {
		over, err := h.cfg.Overrides.with(options)
		if err != nil {
			return nil, err
		}
		by := protocol.TurnOptions{}
		if options != nil {
			by = *options
		}
		if by.Workspace != nil {
			if _, err := existing("options.workspace", *by.Workspace); err != nil {
				return nil, err
			}
		}
		dir, root, err := h.workspace(meta.WorkDir, over.Wide)
		if err != nil {
			return nil, err
		}
		for i, extra := range over.AdditionalDirs {
			if _, err := h.folder(fmt.Sprintf("options.additionalDirs[%d]", i), extra); err != nil {
				return nil, err
			}
		}
		cfg, err := h.loadConfig(root)
		if err != nil {
			return nil, err
		}
		if err := h.allowed(options, root); err != nil {
			return nil, err
		}
		m, fallback, err := h.models(cfg, meta, over)
		if err != nil {
			return nil, inOptions("options.model", by.Model != "", err)
		}
		pages, search, err := h.web(cfg)
		if err != nil {
			return nil, err
		}
		notes := h.notes(cfg, dir)
		skills, index := h.skillSet(ctx, dir, root)
		tools, err := h.tools(cfg, over, search, h.noter(notes) != nil, skills)
		if err != nil {
			return nil, inOptions("options.tools", by.Tools != "", err)
		}
		box, err := h.sandbox(id, cfg, over, root)
		if err != nil {
			return nil, inOptions("options.sandbox", by.Sandbox != "", err)
		}
		box.show(skills.Readable())
		files, err := h.openFiles(cfg, over, root, skills.Readable()...)
		if err != nil {
			return nil, err
		}
		policy, err := h.policy(cfg, over, root, box, files.Resolve, skills.Readable())
		if err != nil {
			files.Close()
			if wrong := checkRules(options, canonical(h.cfg.UserHome), root); wrong != nil {
				return nil, wrong
			}
			return nil, inOptions("options.mode", by.Mode != "", err)
		}
		if as != nil && as.def.Mode != "" {
			if policy, err = policy.WithMode(permission.Tighter(policy.Mode(), as.def.Mode), os.Getuid()); err != nil {
				files.Close()
				return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
			}
		}
		info := m.Info()
		level := thinking(cfg, over, meta)
		set := h.agents(root)
		if tools, err = h.extendTurn(ctx, id, cfg, over, m, level, tools); err != nil {
			files.Close()
			return nil, err
		}
		if err := missingTool(over.toolList(), tools); err != nil && (h.open(id) != nil || !h.mayExtend(ctx, root)) {
			files.Close()
			return nil, inOptions("options.tools", by.Tools != "", err)
		}
		tools = as.pick(tool.WithAgents(tools, choices(set)))
		hooks := h.hooks(id, cfg, over, dir, root)
		return &lane.Setup{
			Hooks: hooks, Subagent: as != nil, Agents: set, MaxAgents: cfg.Agents.MaxParallel,
			Model: m, Fallback: fallback, Thinking: level, Tools: tools, Policy: policy, WorkDir: dir,
			Env: tool.Env{Files: files, Spawn: confiner{h, id, box},
				Environ: h.childEnviron(cfg), Window: info.ContextWindow, Ripgrep: h.program("rg", h.writable(cfg, over, root)),
				Web: pages, Pages: &h.pages, Search: search.searcher, Withheld: policy.Withheld(), Note: h.noter(notes), Skills: skills},
			Tell:   h.teller(id, cfg, notes, info.ContextWindow),
			Skills: index, Items: skillItems(skills, tools, info.ContextWindow),
			Limits:     as.limit(limits(cfg, over)),
			Compaction: cfg.Compaction.Auto, AskTimeout: cfg.Permissions.Timeout, Summary: h.summariser(id, cfg),
			Instructions: func() (protocol.Instructions, []string, error) {
				return h.instructions(id, cfg, dir, root, info, as)
			},
			Close: files.Close,
		}, nil
	}
}

// files opens the folders of a session.
func (h *Host) files(meta protocol.Meta) (*tool.Files, error) {
	dir, err := h.workDir(meta.WorkDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	cfg, err := h.loadConfig(root)
	if err != nil {
		return nil, err
	}
	return h.openFiles(cfg, h.cfg.Overrides, root)
}

func (h *Host) openFiles(cfg config.Config, over Overrides, root string, readable ...string) (*tool.Files, error) {
	extra := slices.Concat(cfg.Directories(h.cfg.UserHome), over.AdditionalDirs)
	files, err := tool.NewFiles(tool.Config{Root: root, Additional: extra, Home: h.cfg.UserHome, Reach: h.cfg.Dir, Readable: readable})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	return files, nil
}

// loadConfig reads the user's and the project's configuration. What a project's
// file may not set is told when the project is registered.
func (h *Host) loadConfig(root string) (config.Config, error) {
	cfg, _, err := h.readConfig(root)
	return cfg, err
}

// readConfig reads both files. A project's counts by whether exactly the bytes
// that are parsed are trusted.
func (h *Host) readConfig(root string) (config.Config, []config.Notice, error) {
	user, project, warning, err := h.configFiles(root)
	if err != nil {
		return config.Config{}, nil, err
	}
	cfg, notices, err := config.Parse(user, project, h.usable)
	if err != nil {
		return config.Config{}, nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	if warning != "" {
		notices = append(notices, config.Notice{Text: warning})
	}
	return cfg, notices, nil
}

// projectConfig is the name of a project's configuration.
const projectConfig = ".scorel/config.toml"

func projectConfigOf(root string) string { return filepath.Join(root, projectConfig) }

// configFile is the user's configuration.
func (h *Host) configFile() string { return filepath.Join(h.cfg.Dir, "config.toml") }

// usable says whether a model that a project names is one that the user has.
func (h *Host) usable(user config.Config, ref string) bool {
	if _, alias := user.Models[ref]; alias {
		return true
	}
	if ref == "demo" || strings.HasPrefix(ref, "script:") {
		return false
	}
	_, err := resolve.Resolve(ref, h.resolver(user))
	return err == nil
}

// resolver gives where models and keys are looked up.
func (h *Host) resolver(cfg config.Config) resolve.Config {
	aliases := make(map[string]resolve.Alias, len(cfg.Models))
	for name, a := range cfg.Models {
		r := resolve.Alias{Type: a.Type, API: model.API(a.API), Provider: a.Provider, ID: a.ID, BaseURL: a.BaseURL, APIKeyEnv: a.APIKeyEnv,
			ContextWindow: a.ContextWindow, MaxTokens: a.MaxTokens, Reasoning: a.Reasoning, Images: a.Images, Headers: a.Headers, Fallback: a.Fallback}
		if a.Price != nil {
			p := model.Price(*a.Price)
			r.Price = &p
		}
		aliases[name] = r
	}
	return resolve.Config{Aliases: aliases, Default: cfg.Model.Name, Env: h.lookupEnv, Credentials: h.credentials(), Demo: h.cfg.Demo, HTTP: h.cfg.HTTP}
}

func (h *Host) lookupEnv(name string) (string, bool) {
	for _, kv := range h.cfg.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// models resolves the model of a session and its fallback: the caller's wish,
// then the session's, then the configuration's.
func (h *Host) models(cfg config.Config, meta protocol.Meta, over Overrides) (m, fallback model.Model, err error) {
	ref := over.Model
	if ref == "" {
		ref = meta.Model
	}
	r := h.resolver(cfg)
	if m, err = resolve.Resolve(ref, r); err != nil {
		return nil, nil, providerError(err)
	}
	name := cfg.Model.Fallback
	if a, ok := cfg.Models[cmp.Or(ref, cfg.Model.Name)]; ok && a.Fallback != "" {
		name = a.Fallback
	}
	if name != "" {
		if fallback, err = resolve.Resolve(name, r); err != nil {
			return nil, nil, providerError(err)
		}
	}
	return m, fallback, nil
}

// providerError is why a model cannot be used, as a client is told of it.
func providerError(err error) error {
	var me *model.Error
	if errors.As(err, &me) {
		code := protocol.CodeInvalidRequest
		if me.Class == model.ClassAuth {
			code = protocol.CodeProviderError
		}
		return protocol.About("model", "", code, "%s", wholeSentence(me.Message))
	}
	return protocol.Errorf(protocol.CodeProviderError, "%s", wholeSentence(err.Error()))
}

// modelProblem is why a model cannot be used, as the end of a sentence.
func modelProblem(err error) string {
	var me *model.Error
	if errors.As(err, &me) {
		return me.Message
	}
	return err.Error()
}

func thinking(cfg config.Config, over Overrides, meta protocol.Meta) model.ThinkingLevel {
	for _, level := range []string{over.Thinking, meta.ThinkingLevel, cfg.Model.Thinking} {
		if level != "" {
			return model.ThinkingLevel(level)
		}
	}
	return ""
}

func (h *Host) tools(cfg config.Config, over Overrides, search search, notes bool, skills *skill.Set) ([]tool.Tool, error) {
	// Overrides name a preset or a list of tools.
	preset, list := cmp.Or(over.Preset, cfg.Tools.Preset), over.toolList()
	if list != nil {
		preset = "none"
	}
	list, _ = builtinNames(list)
	tools, err := tool.Select(preset, list)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	return useful(tools, list, search, notes, skills)
}

// useful leaves out the tools for what a session has not. What was asked for by name is an
// error then; tools for skills stay.
func useful(tools []tool.Tool, named []string, search search, notes bool, skills *skill.Set) ([]tool.Tool, error) {
	var problem error
	tools = slices.DeleteFunc(tools, func(t tool.Tool) bool {
		spec := t.Spec()
		asked := slices.Contains(named, spec.Name)
		switch spec.Needs {
		case tool.NeedsSearch:
			if asked && search.searcher == nil {
				problem = protocol.Errorf(protocol.CodeInvalidRequest, "%s", search.missing())
			}
			return search.searcher == nil
		case tool.NeedsNotes:
			if asked && !notes {
				problem = protocol.Errorf(protocol.CodeInvalidRequest, "%s needs memory.enabled in config.toml, and a session that is kept.", spec.Name)
			}
			return !notes
		case tool.NeedsSkills:
			return len(skills.All()) == 0 && !asked
		case tool.NeedsPrograms:
			return !skills.Programs() && !asked
		}
		return false
	})
	return tools, problem
}

// builtinNames parts the names of built-in tools from those that only an extension can
// have.
func builtinNames(list []string) (builtin, others []string) {
	all := tool.Names(tool.Named())
	for _, name := range list {
		if slices.Contains(all, name) {
			builtin = append(builtin, name)
		} else {
			others = append(others, name)
		}
	}
	return builtin, others
}

// mayExtend says whether a session of a project could have extensions: they are loaded
// only when it is open.
func (h *Host) mayExtend(ctx context.Context, root string) bool {
	return slices.ContainsFunc(h.findExtensions(ctx, root).Extensions, func(e extension.Extension) bool { return e.State == protocol.ExtensionFound })
}

// missingTool says which tool of a list nobody has, if so. Those of extensions are
// among tools.
func missingTool(list []string, tools []tool.Tool) error {
	_, others := builtinNames(list)
	for _, name := range others {
		if !slices.ContainsFunc(tools, func(t tool.Tool) bool { return t.Spec().Name == name }) {
			return protocol.Errorf(protocol.CodeInvalidRequest, "There is no tool %.80q, and no extension here has one of that name: there are %s.", name, strings.Join(tool.Names(tool.Named()), ", "))
		}
	}
	return nil
}

// policy compiles mode and rules: the configuration's, those answered "always"
// for the project, and the caller's. resolve follows links; readable are the folders
// of skills.
func (h *Host) policy(cfg config.Config, over Overrides, root string, box box, resolve func(string) permission.Path, readable []string) (*permission.Policy, error) {
	mode, err := permission.ParseMode(cmp.Or(over.Mode, cfg.Permissions.Mode))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	name := h.rulesFile()
	always, err := rules.Load(name, h.readRules)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	user, project := cfg.Permissions.User, cfg.Permissions.Project
	layers := []permission.Layer{
		{Name: user.File, Scope: permission.ScopeUser, Allow: user.Allow, Ask: user.Ask, Deny: user.Deny},
		{Name: project.File, Scope: permission.ScopeProject, Ask: project.Ask, Deny: project.Deny},
		always.Layer(name, root),
		{Name: "the command line", Scope: permission.ScopeUser, Allow: over.Allow, Deny: over.Deny},
	}
	p, err := permission.Compile(permission.Config{Mode: mode, Layers: layers, Home: canonical(h.cfg.UserHome), Root: root, Resolve: resolve, Readable: readable, UID: os.Getuid(),
		Confined: box.profile != nil, Unconfined: box.missing})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	return p, nil
}

// canonical gives a path without symlinks, as it is where it cannot be resolved.
func canonical(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// remember stores a rule that a person answered "always" to.
func (h *Host) remember(meta protocol.Meta, rule string) error {
	root, _ := workspace.Root(meta.WorkDir, h.cfg.UserHome)
	name := h.rulesFile()
	lock, err := disk.WaitLock(h.cfg.FS, name+".lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	return rules.Add(name, root, rule, h.readRules, func(name string, data []byte) error {
		return disk.WriteFile(h.cfg.FS, name, data)
	})
}

func (h *Host) rulesFile() string { return filepath.Join(h.cfg.Dir, "rules.json") }

func (h *Host) readRules(name string) ([]byte, error) {
	return disk.ReadFile(h.cfg.FS, name, rules.MaxFile)
}

func limits(cfg config.Config, over Overrides) engine.Limits {
	l := engine.Limits{MaxSteps: cfg.Limits.MaxSteps, MaxCostUSD: cfg.Limits.MaxBudgetUSD}
	if over.MaxSteps > 0 {
		l.MaxSteps = over.MaxSteps
	}
	if over.MaxBudgetUSD > 0 {
		l.MaxCostUSD = over.MaxBudgetUSD
	}
	return l
}

func (h *Host) instructions(id protocol.SessionID, cfg config.Config, dir, root string, info model.Info, as *asAgent) (protocol.Instructions, []string, error) {
	_, common := workspace.Root(dir, h.cfg.UserHome)
	in, notices, err := prompt.Build(prompt.Config{WorkDir: dir, Root: root, Home: canonical(h.cfg.UserHome), UserPrompt: cfg.Prompt,
		PromptSource: filepath.Join(h.cfg.Dir, "config.toml"), AppendPrompt: as.prompt(h.cfg.Overrides.AppendSystemPrompt), Now: h.cfg.Now(),
		Platform: runtime.GOOS, Shell: "bash", Git: common != "", GitBranch: workspace.Branch(dir, h.cfg.UserHome), Window: info.ContextWindow,
		UID: os.Getuid(), ProjectPrompt: cfg.ProjectPrompt, ProjectSource: cfg.ProjectFile})
	var sentences []string
	for _, n := range notices {
		h.report(id, n.Text, nil)
		sentences = append(sentences, n.Text)
	}
	return in, sentences, err
}

// secretNames says which variables hold a key, so that no child gets them.
func (h *Host) secretNames(cfg config.Config) func(string) bool {
	names := map[string]bool{cfg.Search.APIKeyEnv: true}
	for _, n := range resolve.KeyVariables(h.resolver(cfg)) {
		names[n] = true
	}
	return func(name string) bool { return names[name] }
}

// childEnviron is the environment of children. They get the SSH agent only when
// the user's configuration says so.
func (h *Host) childEnviron(cfg config.Config) []string {
	env := sandbox.Environ(h.cfg.Environ, h.secretNames(cfg))
	if agent, ok := h.lookupEnv("SSH_AUTH_SOCK"); ok && cfg.Sandbox.SSHAgent {
		env = append(env, "SSH_AUTH_SOCK="+agent)
	}
	return env
}

// runDir is where the process groups of a session's children are recorded.
func (h *Host) runDir(id protocol.SessionID) string {
	return filepath.Join(h.cfg.StoreDir, "run", string(id))
}

func reapChildren(dir string) (int, error) { return sandbox.Reap(dir) }

// program finds a program on the PATH that children get, "" when it is not there.
// What lies in one of the folders does not count: commands write there, and what
// they put there must not run unasked.
func (h *Host) program(called string, except []string) string {
	path, _ := h.lookupEnv("PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		name := filepath.Join(dir, called)
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if !inAny(canonical(dir), except) && !inAny(canonical(name), except) {
			return name
		}
	}
	return ""
}

// inAny says whether a path without symlinks lies in one of the folders. With /
// as the workspace, which cannot be confined, every program does: then none
// counts as lying in it.
func inAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		real := canonical(dir)
		rel, err := filepath.Rel(real, path)
		return real != "/" && err == nil && filepath.IsLocal(rel)
	})
}

// writable are the folders of a workspace, where its commands write: root and the
// additional ones.
func (h *Host) writable(cfg config.Config, over Overrides, root string) []string {
	return slices.Concat([]string{root}, cfg.Directories(h.cfg.UserHome), over.AdditionalDirs)
}

// UserHome gives the user's home folder: HOME, or the one of the account.
func UserHome(environ []string) (string, error) {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "HOME="); ok && filepath.IsAbs(v) {
			return filepath.Clean(v), nil
		}
	}
	u, err := user.Current()
	if err != nil || u.HomeDir == "" {
		return "", protocol.Errorf(protocol.CodeInvalidRequest, "HOME is not set; set it to your home folder.")
	}
	return u.HomeDir, nil
}
