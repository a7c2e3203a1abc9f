package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/engine/permission/rules"
	"scorel/internal/engine/progress"
	"scorel/internal/engine/trust"
	"scorel/internal/host/doctor"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// doctor runs all checks. The list is the place for those of further parts.
func (h *Host) doctor(ctx context.Context, r *protocol.Doctor) (*protocol.DoctorReport, error) {
	root := ""
	if r.WorkDir != "" {
		dir, err := h.lookedAt(r.WorkDir)
		if err != nil {
			return nil, err
		}
		root, _ = workspace.Root(dir, h.cfg.UserHome)
	}
	checks := []doctor.Check{
		doctor.Home(h.cfg.Dir, os.Getuid()),
		doctor.Space(h.cfg.FS, h.cfg.Dir),
		doctor.Mount(h.cfg.Dir, disk.MountOf),
		{ID: "config", Look: h.checkUserConfig},
		{ID: "keys", Look: h.checkKeys},
		{ID: "credentials", Look: h.checkCredentials},
		{ID: "model", Look: h.checkModel},
		{ID: "rules", Look: h.checkRules},
		{ID: "entries", Look: h.checkEntries},
	}
	if root != "" {
		checks = append(checks, doctor.Check{ID: "project", Look: func(ctx context.Context) doctor.Finding { return h.checkProject(ctx, root) }})
	}
	cfg, cfgErr := h.doctorConfig(root) // what is wrong with it the checks above say
	start, done, err := h.probing()
	if err != nil {
		checks = append(checks, doctor.Check{ID: "temporary", Look: func(context.Context) doctor.Finding {
			return doctor.Fail(sentence(err), "Until then commands do not start, and the programs were not looked at.")
		}})
	} else {
		defer done()
		except := h.writable(cfg, h.cfg.Overrides, root)
		if root == "" {
			except = except[1:]
		}
		find := func(name string) string { return h.program(name, except) }
		for _, p := range doctor.Programs() {
			checks = append(checks, doctor.Installed(p, find, start, sandbox.Environ(h.cfg.Environ, nil)))
		}
	}
	checks = append(checks,
		doctor.Sessions(h.store),
		doctor.Children(h.cfg.FS, h.cfg.StoreDir),
		doctor.Blobs(h.store.Blobs()),
		doctor.Processes(func(ctx context.Context) (progress.Usage, error) {
			return progress.Look(ctx, h.cfg.FS, h.cfg.StoreDir, h.cfg.Now().Add(-minLogAge), h.hasLog)
		}),
		doctor.Clock(h.cfg.Now, filepath.Join(h.cfg.StoreDir, "sessions")),
		doctor.Memory(doctor.Heap, h.counts),
	)
	if cfgErr == nil {
		mode, err := sandbox.ParseMode(cmp.Or(h.cfg.Overrides.Sandbox, cfg.Sandbox.Mode))
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
		}
		checks = append(checks, doctor.Sandbox(mode, cfg.Sandbox.Network && !h.cfg.Overrides.NoNetwork, h.cfg.Confinement())...)
	}
	return &protocol.DoctorReport{Checks: doctor.Run(ctx, checks)}, nil
}

// doctorConfig is the configuration in force in a project, or without one.
func (h *Host) doctorConfig(root string) (config.Config, error) {
	if root == "" {
		return h.userConfig()
	}
	return h.loadConfig(root)
}

// counts says how many sessions and connections there are.
func (h *Host) counts() (sessions, connections int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.lanes), len(h.conns)
}

func (h *Host) userConfig() (config.Config, error) {
	return config.Load(filepath.Join(h.cfg.Dir, "config.toml"))
}

func (h *Host) checkUserConfig(context.Context) doctor.Finding {
	cfg, err := h.userConfig()
	if err != nil {
		return doctor.Fail(strings.ReplaceAll(err.Error(), "\n", "; "), "Correct the file; docs/configuration.md lists the keys.")
	}
	if _, search, err := h.web(cfg); err != nil {
		return doctor.Fail(sentence(err), "Correct the tables [web] and [search] of config.toml.")
	} else if cfg.Search.Provider != "" && search.searcher == nil {
		return doctor.Warn(search.missing(), "Until then the model has no WebSearch.")
	}
	set := 0
	for _, s := range cfg.Settings(nil) {
		if s.Source.Kind == config.SourceUser {
			set++
		}
	}
	return doctor.OK("%d keys are set; scorel config check shows what is in force", set)
}

// checkKeys names the providers that have a key, and never the key.
func (h *Host) checkKeys(context.Context) doctor.Finding {
	cfg, err := h.userConfig()
	if err != nil {
		return doctor.Warn("not known without the configuration", "Correct config.toml first.")
	}
	var names []string
	for _, e := range resolve.Ready(h.resolver(cfg)) {
		names = append(names, e.Info.Provider)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return doctor.Warn("no provider has a key: only the demo model answers", "Set the vendor's variable, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or configure a model of your own server (docs/configuration.md).")
	}
	return doctor.OK("usable: %s", strings.Join(names, ", "))
}

func (h *Host) checkModel(context.Context) doctor.Finding {
	cfg, err := h.userConfig()
	if err != nil {
		return doctor.Warn("not known without the configuration", "Correct config.toml first.")
	}
	for _, name := range []string{cfg.Model.Name, cfg.Model.Fallback} {
		if name == "" {
			continue
		}
		if _, err := resolve.Resolve(name, h.resolver(cfg)); err != nil {
			return doctor.Fail(fmt.Sprintf("the model %s cannot be used: %s", name, modelProblem(err)), "Set its key, or name another one as model.name; scorel models lists them.")
		}
	}
	if cfg.Model.Name == "" {
		return doctor.Warn("none is configured: the demo model answers", "Name one as [model] name in config.toml; scorel models lists those that you have a key for.")
	}
	return doctor.OK("%s", cfg.Model.Name)
}

func (h *Host) checkRules(context.Context) doctor.Finding {
	f, err := rules.Load(h.rulesFile(), h.readRules)
	if err != nil {
		return doctor.Fail(err.Error(), "No turn can run until the file is right: correct it, or move it away and answer anew.")
	}
	n := 0
	for _, p := range f.Projects {
		n += len(p.Allow)
	}
	return doctor.OK("%d rules answered \"always\" in %d projects", n, len(f.Projects))
}

// checkProject checks the configuration of a project and how its files stand.
func (h *Host) checkProject(ctx context.Context, root string) doctor.Finding {
	r, err := h.trust.Status(ctx, root)
	if err != nil {
		return doctor.Fail(err.Error(), "Make the folder readable for you.")
	}
	if r.Warning != "" {
		return doctor.Fail(r.Warning, "Look at the file, and trust your projects anew with scorel trust.")
	}
	if user, project, _, err := h.configFiles(root); err == nil { // a fault of the user's own file is another finding
		own, _, _ := config.Parse(user, config.File{}, h.usable)
		usable := func(_ config.Config, ref string) bool { return h.usable(own, ref) }
		if _, _, err := config.Parse(config.File{}, project, usable); err != nil {
			return doctor.Fail(strings.ReplaceAll(err.Error(), "\n", "; "), "No turn can run in this project until the file is right.")
		}
	}
	_, notices, err := h.readConfig(root)
	switch {
	case err == nil && len(notices) > 0 && !notices[0].Untrusted:
		return doctor.Warn(notices[0].Text, "scorel config check lists everything that is ignored.")
	}
	const advice = "Look at them with scorel trust, which asks whether they may."
	switch stateOf(r) {
	case protocol.TrustNotPossible:
		return doctor.Warn(r.Problem, "Remove what is not needed from its skills and extensions.")
	case protocol.TrustNothing:
		return doctor.Warn(fmt.Sprintf("%s is not trusted; what could act and does not: %s", root, names(r)), advice)
	case protocol.TrustPart:
		return doctor.Warn(fmt.Sprintf("%s was trusted; what has changed since and does not act: %s", root, names(r)), advice)
	case protocol.TrustAll:
		return doctor.OK("%s is trusted", root)
	}
	return doctor.OK("%s has nothing that needs trust", root)
}

// names gives the first items of a project that are not trusted.
func names(r *trust.Report) string {
	var list []string
	for _, it := range r.Items {
		if it.Status == trust.StatusTrusted {
			continue
		}
		if len(list) == maxIgnored {
			return strings.Join(list, ", ") + ", …"
		}
		list = append(list, it.Name)
	}
	return strings.Join(list, ", ")
}

// handleDoctor registers the handlers of this file's requests.
func (h *Host) handleDoctor(t handlers) {
	on(t, func(ctx context.Context, _ *target, r *protocol.Doctor) (protocol.Response, error) {
		return h.doctor(ctx, r)
	})
}
