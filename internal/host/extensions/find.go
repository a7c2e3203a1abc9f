package extensions

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"scorel/internal/engine/config"
	"scorel/internal/engine/trust"
	"scorel/internal/extension"
	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// projectExtensions is where a project's extensions are, relative to it.
const projectExtensions = ".scorel/extensions"

// Find looks for the user's extensions and those of a project.
func (xs *Extensions) Find(ctx context.Context, root string) extension.Found {
	return Find(ctx, xs.settings, root)
}

// Find looks for the user's extensions and those of the project at root, "" for none. It
// starts nothing.
func Find(ctx context.Context, st *settings.Settings, root string) extension.Found {
	sources := []extension.Source{{Dir: filepath.Join(st.Dir, "extensions"), Scope: extension.User}}
	if dir := filepath.Join(root, projectExtensions); root != "" && settings.Canonical(filepath.Dir(dir)) != settings.Canonical(st.Dir) {
		sources = append(sources, extension.Source{Dir: dir, Base: root, Scope: extension.Project,
			Trusted: func() (map[string]string, string) { return trustedExtensions(ctx, st, root) }})
	}
	if !slices.ContainsFunc(sources, extension.Source.Exists) {
		return extension.Found{}
	}
	off, err := switchedOff(st, root)
	if err != nil { // what is switched off must not run, and which names hold keys is not known
		return extension.Found{Problems: []string{failure.Sentence(err) + "; until then no extension runs."}}
	}
	return extension.Find(sources, func(id string) bool { return slices.Contains(off, id) })
}

// trustedExtensions returns the files that a project's extensions may consist of, or why
// there are none.
func trustedExtensions(ctx context.Context, st *settings.Settings, root string) (map[string]string, string) {
	r, err := st.Trust.Status(ctx, root)
	if err != nil {
		return nil, failure.Sentence(err) + "."
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

// settingsOf returns the table of an extension.
func (xs *Extensions) settingsOf(root string, e extension.Extension) json.RawMessage {
	return xs.settingsIn(root)(e)
}

// settingsIn reads the configuration, and returns what returns the table of an extension in
// it: of a project's the project's own, since the user's, which may hold keys, are for
// another one of that name.
func (xs *Extensions) settingsIn(root string) func(extension.Extension) json.RawMessage {
	cfg, err := xs.settings.Load(root)
	if err != nil {
		return func(extension.Extension) json.RawMessage { return nil }
	}
	return func(e extension.Extension) json.RawMessage { return tableOf(cfg, e) }
}

func tableOf(cfg config.Config, e extension.Extension) json.RawMessage {
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

// listExtensions returns what extensions there are: of a session how they stand in it,
// else what is found for a folder.
func (xs *Extensions) listExtensions(ctx context.Context, id protocol.SessionID, workDir string) (*protocol.ExtensionList, error) {
	if id != "" {
		s, err := xs.sessions.Acquire(ctx, id)
		if err != nil {
			return nil, err
		}
		defer xs.sessions.Release(s)
		if x := xs.Of(id); x != nil {
			return x.set.List(ctx), nil
		}
	}
	root := ""
	if workDir != "" {
		dir, err := xs.settings.LookedAt(workDir)
		if err != nil {
			return nil, err
		}
		root, _ = workspace.Root(dir, xs.settings.UserHome)
	}
	found := xs.Find(ctx, root)
	out := &protocol.ExtensionList{Extensions: []protocol.ExtensionInfo{}, Problems: found.Problems}
	for _, e := range found.Extensions {
		out.Extensions = append(out.Extensions, e.Info())
	}
	return out, nil
}
