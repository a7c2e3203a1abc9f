package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/engine/permission/rules"
	"scorel/internal/engine/trust"
	"scorel/internal/host/doctor"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

func (ad *Admin) checkUserConfig(context.Context) doctor.Finding {
	cfg, err := ad.settings.User()
	if err != nil {
		return doctor.Fail(strings.ReplaceAll(err.Error(), "\n", "; "), "Correct the file; docs/configuration.md lists the keys.")
	}
	if _, search, err := ad.settings.Web(cfg); err != nil {
		return doctor.Fail(failure.Sentence(err), "Correct the tables [web] and [search] of config.toml.")
	} else if cfg.Search.Provider != "" && search.Searcher == nil {
		return doctor.Warn(search.Missing(), "Until then the model has no WebSearch.")
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
func (ad *Admin) checkKeys(context.Context) doctor.Finding {
	cfg, err := ad.settings.User()
	if err != nil {
		return doctor.Warn("not known without the configuration", "Correct config.toml first.")
	}
	var names []string
	for _, e := range resolve.Ready(ad.settings.Resolver(cfg)) {
		names = append(names, e.Info.Provider)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return doctor.Warn("no provider has a key: only the demo model answers", "Set the vendor's variable, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or configure a model of your own server (docs/configuration.md).")
	}
	return doctor.OK("usable: %s", strings.Join(names, ", "))
}

func (ad *Admin) checkModel(context.Context) doctor.Finding {
	cfg, err := ad.settings.User()
	if err != nil {
		return doctor.Warn("not known without the configuration", "Correct config.toml first.")
	}
	for _, name := range []string{cfg.Model.Name, cfg.Model.Fallback} {
		if name == "" {
			continue
		}
		if _, err := resolve.Resolve(name, ad.settings.Resolver(cfg)); err != nil {
			return doctor.Fail(fmt.Sprintf("the model %s cannot be used: %s", name, failure.ModelProblem(err)), "Set its key, or name another one as model.name; scorel models lists them.")
		}
	}
	if cfg.Model.Name == "" {
		return doctor.Warn("none is configured: the demo model answers", "Name one as [model] name in config.toml; scorel models lists those that you have a key for.")
	}
	return doctor.OK("%s", cfg.Model.Name)
}

// checkMCP checks the MCP servers that are configured, without a connection to one.
func (ad *Admin) checkMCP(root string) doctor.Finding {
	n, problems, err := ad.servers.Diagnose(root)
	switch {
	case err != nil:
		return doctor.Fail(failure.Sentence(err), "Until then no session uses an MCP server.")
	case len(problems) > 0:
		text := problems[0]
		if len(problems) > 1 {
			text += fmt.Sprintf(" And %d more.", len(problems)-1)
		}
		return doctor.Warn(text, "scorel mcp list shows all; scorel mcp test NAME connects with one.")
	case n == 0:
		return doctor.OK("no MCP servers are configured")
	case n == 1:
		return doctor.OK("1 MCP server is configured")
	}
	return doctor.OK("%d MCP servers are configured", n)
}

func (ad *Admin) checkRules(context.Context) doctor.Finding {
	f, err := rules.Load(ad.settings.RulesFile(), ad.settings.ReadRules)
	if err != nil {
		return doctor.Fail(err.Error(), "No turn can run until the file is right: correct it, or move it away and answer again.")
	}
	n := 0
	for _, p := range f.Projects {
		n += len(p.Allow)
	}
	return doctor.OK("%d rules answered \"always\" in %d projects", n, len(f.Projects))
}

// checkProject checks the configuration of a project and how its files stand.
func (ad *Admin) checkProject(ctx context.Context, root string) doctor.Finding {
	r, err := ad.settings.Trust.Status(ctx, root)
	if err != nil {
		return doctor.Fail(err.Error(), "Make the folder readable for you.")
	}
	if r.Warning != "" {
		return doctor.Fail(r.Warning, "Look at the file, and trust your projects again with scorel trust.")
	}
	if user, project, _, err := ad.settings.Files(root); err == nil { // a fault of the user's own file is another finding
		own, _, _ := config.Parse(user, config.File{}, ad.settings.Usable)
		usable := func(_ config.Config, ref string) bool { return ad.settings.Usable(own, ref) }
		if _, _, err := config.Parse(config.File{}, project, usable); err != nil {
			return doctor.Fail(strings.ReplaceAll(err.Error(), "\n", "; "), "No turn can run in this project until the file is right.")
		}
	}
	_, notices, err := ad.settings.Read(root)
	switch {
	case err == nil && len(notices) > 0 && !notices[0].Untrusted:
		return doctor.Warn(notices[0].Text, "scorel config check lists everything that is ignored.")
	}
	const advice = "Look at them with scorel trust, which asks whether they may."
	switch stateOf(r) {
	case protocol.TrustNotPossible:
		return doctor.Warn(r.Problem, "Remove what is not needed from its skills and extensions.")
	case protocol.TrustNothing:
		return doctor.Warn(fmt.Sprintf("%s is not trusted; these files are ignored: %s", root, names(r)), advice)
	case protocol.TrustPart:
		return doctor.Warn(fmt.Sprintf("%s was trusted; these files have changed since and are ignored: %s", root, names(r)), advice)
	case protocol.TrustAll:
		return doctor.OK("%s is trusted", root)
	}
	return doctor.OK("%s has nothing that needs trust", root)
}

// names returns the first items of a project that are not trusted.
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
