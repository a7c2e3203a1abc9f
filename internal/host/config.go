package host

import (
	"context"
	"path/filepath"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// getConfig gives every key with its value in force and where it came from.
func (h *Host) getConfig(ctx context.Context, workDir string) (*protocol.ConfigReport, error) {
	dir, err := h.lookedAt(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	cfg, notices, err := h.readConfig(root)
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
	if _, search, err := h.web(cfg); err != nil {
		rep.Notices = append(rep.Notices, sentence(err)+".")
	} else if cfg.Search.Provider != "" && search.searcher == nil {
		rep.Notices = append(rep.Notices, search.missing())
	}
	if text := h.auxiliaryNotice(cfg); text != "" {
		rep.Notices = append(rep.Notices, text)
	}
	if rep.Trust, err = h.configTrust(ctx, root); err != nil {
		return nil, err
	}
	return rep, nil
}

// listModels gives the models that can be named, by the user's configuration.
func (h *Host) listModels(query string) (*protocol.ModelList, error) {
	cfg, err := config.Load(filepath.Join(h.cfg.Dir, "config.toml"))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	list := &protocol.ModelList{Models: []protocol.ModelInfo{}}
	for _, e := range resolve.List(query, h.resolver(cfg)) {
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

// handleConfig registers the handlers of this file's requests.
func (h *Host) handleConfig(t handlers) {
	on(t, func(ctx context.Context, _ *target, r *protocol.GetConfig) (protocol.Response, error) {
		return h.getConfig(ctx, r.WorkDir)
	})
	on(t, func(_ context.Context, _ *target, r *protocol.ListModels) (protocol.Response, error) {
		return h.listModels(r.Query)
	})
}
