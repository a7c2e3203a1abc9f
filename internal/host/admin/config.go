package admin

import (
	"context"
	"path/filepath"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// auxiliaryNotice returns what is wrong with the auxiliary model, "" for nothing: nobody
// sees its requests, so nobody would see that there are none.
func (ad *Admin) auxiliaryNotice(cfg config.Config) string {
	switch {
	case cfg.Auxiliary.Model != "":
		if _, err := resolve.Resolve(cfg.Auxiliary.Model, ad.settings.Resolver(cfg)); err != nil {
			return "auxiliary.model: " + failure.Problem(err)
		}
	case cfg.Auxiliary.Summaries:
		return "auxiliary.summaries does nothing without auxiliary.model."
	case cfg.Memory.Consolidate:
		return "memory.consolidate does nothing without auxiliary.model."
	}
	return ""
}

// getConfig returns every key with its value in force in the folder of a session, or in
// workDir, and where it came from.
func (ad *Admin) getConfig(ctx context.Context, id protocol.SessionID, workDir string) (*protocol.ConfigReport, error) {
	dir, err := ad.folderOf(ctx, id, workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, ad.settings.UserHome)
	cfg, notices, err := ad.settings.Read(root)
	if err != nil {
		return nil, err
	}
	rep := &protocol.ConfigReport{Entries: []protocol.ConfigEntry{}}
	for _, s := range cfg.Settings(nil) {
		e := protocol.ConfigEntry{Key: s.Key, Value: s.Value, Source: s.Source.String()}
		if k, ok := config.KeyOf(s.Key); ok {
			e.Type, e.Default, e.Doc, e.Settable = k.Type, k.Default, k.Doc, k.Settable()
		}
		rep.Entries = append(rep.Entries, e)
	}
	for _, n := range notices {
		rep.Notices = append(rep.Notices, n.Text)
	}
	ad.claudeConfig(rep, cfg, root)
	if _, search, err := ad.settings.Web(cfg); err != nil {
		rep.Notices = append(rep.Notices, failure.Sentence(err)+".")
	} else if cfg.Search.Provider != "" && search.Searcher == nil {
		rep.Notices = append(rep.Notices, search.Missing())
	}
	if text := ad.auxiliaryNotice(cfg); text != "" {
		rep.Notices = append(rep.Notices, text)
	}
	if rep.Trust, err = ad.configTrust(ctx, root); err != nil {
		return nil, err
	}
	return rep, nil
}

// listModels returns the models that can be named, by the user's configuration.
func (ad *Admin) listModels(query string) (*protocol.ModelList, error) {
	cfg, err := config.Load(filepath.Join(ad.settings.Dir, "config.toml"))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	list := &protocol.ModelList{Models: []protocol.ModelInfo{}}
	for _, e := range resolve.List(query, ad.settings.Resolver(cfg)) {
		info := protocol.ModelInfo{Ref: e.Ref, API: string(e.Info.API), ContextWindow: e.Info.ContextWindow,
			MaxTokens: e.Info.MaxTokens, Images: e.Info.Images, Thinking: len(e.Info.Thinking) > 0, HasKey: e.HasKey}
		for _, level := range e.Info.Thinking {
			info.ThinkingLevels = append(info.ThinkingLevels, string(level))
		}
		if p := e.Info.Price; p != (model.Price{}) {
			price := protocol.ModelPrice(p)
			info.Price = &price
		}
		list.Models = append(list.Models, info)
	}
	return list, nil
}

// handleConfig enters the handlers of this file's requests.
func (ad *Admin) handleConfig(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.GetConfig) (protocol.Response, error) {
		return ad.getConfig(ctx, at.Call.SessionID, r.WorkDir)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.ListModels) (protocol.Response, error) {
		return ad.listModels(r.Query)
	})
}

// setConfig sets a key of the user's configuration. Who repeats it sets the same again.
func (ad *Admin) setConfig(r *protocol.SetConfig) error {
	name, err := disk.Personal(ad.settings.File())
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	lock, err := disk.WaitLock(ad.settings.FS, ad.settings.File()+".lock")
	if err != nil {
		return failure.Storage("lock the configuration", err)
	}
	defer func() { _ = lock.Unlock() }()
	file, err := config.Read(name)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	data, err := config.Edit(file, r.Key, r.Value)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if string(data) == string(file.Data) {
		return nil
	}
	if err := disk.WriteFile(ad.settings.FS, name, data); err != nil {
		return failure.Storage("write the configuration", err)
	}
	return nil
}
