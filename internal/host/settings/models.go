package settings

import (
	"cmp"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

// Usable reports whether a model that a project names is one that the user has.
func (st *Settings) Usable(user config.Config, ref string) bool {
	if _, alias := user.Models[ref]; alias {
		return true
	}
	if ref == "demo" || strings.HasPrefix(ref, "script:") {
		return false
	}
	_, err := resolve.Resolve(ref, st.Resolver(user))
	return err == nil
}

// Resolver returns where models and keys are looked up.
func (st *Settings) Resolver(cfg config.Config) resolve.Config {
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
	if st.Provided != nil {
		for name, a := range st.Provided() {
			if _, own := aliases[name]; !own {
				aliases[name] = a
			}
		}
	}
	return resolve.Config{Aliases: aliases, Default: cfg.Model.Name, Env: st.LookupEnv, Credentials: st.credentials(), Demo: st.Demo, HTTP: st.HTTP}
}

// Models resolves the model of a session and its fallback: the caller's wish,
// then the session's, then the configuration's.
func (st *Settings) Models(cfg config.Config, meta protocol.Meta, over Overrides) (m, fallback model.Model, err error) {
	ref := over.Model
	if ref == "" {
		ref = meta.Model
	}
	r := st.Resolver(cfg)
	if m, err = resolve.Resolve(ref, r); err != nil {
		return nil, nil, failure.OfModel(err)
	}
	name := cfg.Model.Fallback
	if a, ok := cfg.Models[cmp.Or(ref, cfg.Model.Name)]; ok && a.Fallback != "" {
		name = a.Fallback
	}
	if name != "" {
		if fallback, err = resolve.Resolve(name, r); err != nil {
			return nil, nil, failure.OfModel(err)
		}
	}
	return m, fallback, nil
}
