package extensions

import (
	"context"
	"encoding/json"
	"fmt"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// modelName names a model by provider and id.
type modelName struct{ Provider, ID string }

// find returns the model that an extension names, which the user has a key for.
func (x *Session) find(n *modelName) (resolve.Entry, bool, error) {
	cfg, err := x.exts.settings.User()
	if err != nil {
		return resolve.Entry{}, false, err
	}
	for _, m := range resolve.List(n.ID, x.exts.settings.Resolver(cfg)) {
		if m.Info.Provider == n.Provider && m.Info.ID == n.ID {
			return m, true, nil
		}
	}
	return resolve.Entry{}, false, nil
}

func (x *Session) setModel(ctx context.Context, n *modelName) (any, error) {
	m, ok, err := x.find(n)
	if err != nil {
		return nil, err
	}
	if ok = ok && m.HasKey; ok {
		err = x.exts.upper.UpdateInfo(ctx, x.lane, x.caller(), protocol.MetaChanges{Model: &m.Ref})
	}
	return struct {
		OK bool `json:"ok"`
	}{ok}, err
}

// models returns the models that the user has a key for.
func (x *Session) models() (any, error) {
	cfg, err := x.exts.settings.User()
	if err != nil {
		return nil, err
	}
	list := []*rpc.Model{}
	ready := resolve.Ready(x.exts.settings.Resolver(cfg))
	for _, m := range ready[:min(len(ready), maxListedModels)] {
		list = append(list, modelOf(m.Info))
	}
	return map[string]any{"models": list}, nil
}

// key returns the key of a model: itself to an extension of the user, a handle to one of
// a project.
func (x *Session) key(e extension.Extension, n *modelName) (any, error) {
	m, ok, err := x.find(n)
	if err != nil {
		return nil, err
	}
	var key *string
	if ok && m.HasKey {
		text := keyHandle + m.Ref
		if e.Scope == extension.User {
			cfg, err := x.exts.settings.User()
			if err != nil {
				return nil, err
			}
			text = resolve.Key(m.Ref, x.exts.settings.Resolver(cfg))
			x.keys.Set(x.exts.settings.KeyValues(cfg)) // it may have been entered since the process was started
		}
		if text != "" {
			key = &text
		}
	}
	return struct {
		APIKey *string `json:"apiKey"`
	}{key}, nil
}

// question is [rpc.Complete], with images as they come.
type question struct {
	rpc.Complete
	Messages []json.RawMessage `json:"messages"`
}

// complete asks a model beside the conversation, with the user's key: the one that the
// extension names, or the session's.
func (x *Session) complete(ctx context.Context, p *question) (any, error) {
	ref := ""
	if p.Model != "" {
		m, ok, err := x.find(&modelName{p.Provider, p.Model})
		switch {
		case err != nil:
			return nil, err
		case ok && m.HasKey:
			ref = m.Ref
		case !x.sessionModel(&p.Complete):
			return nil, fmt.Errorf("there is no model %.100s/%.100s that the user has a key for", p.Provider, p.Model)
		}
	}
	req := model.Request{System: p.System, MaxTokens: p.MaxTokens,
		Blob: x.readBlob}
	for i, data := range p.Messages {
		m, err := x.set.Message(ctx, data)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		if len(m.Content) == 0 {
			return nil, fmt.Errorf("message %d is empty", i)
		}
		req.Messages = append(req.Messages, *m)
	}
	if ref == "" {
		meta := x.lane.Meta()
		root, _ := workspace.Root(meta.WorkDir, x.exts.settings.UserHome)
		cfg, err := x.exts.settings.Load(root)
		if err != nil {
			return nil, err
		}
		m, _, err := x.exts.settings.Models(cfg, meta, x.exts.settings.Overrides)
		if err != nil {
			return nil, err
		}
		msg, err := x.exts.asker.CompleteWith(ctx, x.lane.ID(), m, req)
		return rpc.Completed{Message: msg}, err
	}
	msg, err := x.exts.asker.Complete(ctx, x.lane.ID(), ref, req)
	return rpc.Completed{Message: msg}, err
}

// maxBlob bounds a payload that is sent to a model, in bytes.
const maxBlob = 32 << 20

// readBlob reads a payload that a message names.
func (x *Session) readBlob(ctx context.Context, sha string) ([]byte, error) {
	return x.exts.blobs.Read(ctx, sha, maxBlob)
}

// sessionModel reports whether an extension names the model of the session, which need
// not be one of the catalogue.
func (x *Session) sessionModel(p *rpc.Complete) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.turn.model != nil && x.turn.model.ID == p.Model && x.turn.model.Provider == p.Provider
}
