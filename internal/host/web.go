package host

import (
	"cmp"

	"scorel/internal/engine/config"
	"scorel/internal/engine/fetch"
	"scorel/protocol"
)

// search is the user's search service. Without a searcher WebSearch is not
// offered to a model, and why says what is missing.
type search struct {
	searcher *fetch.Searcher
	why      error
}

// missing says in a sentence how to get WebSearch.
func (s search) missing() string {
	if s.why == nil {
		return "WebSearch needs a search service: set search.provider in config.toml to brave, tavily or searxng."
	}
	return "WebSearch is not offered: " + sentence(s.why) + "."
}

// web makes what WebFetch and WebSearch work with. An unusable search service is
// no error: a turn does without it.
func (h *Host) web(cfg config.Config) (*fetch.Client, search, error) {
	client, err := fetch.New(fetch.Config{Version: h.cfg.Version, Proxy: cfg.Web.Proxy})
	if err != nil {
		return nil, search{}, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if cfg.Search.Provider == "" {
		return client, search{}, nil
	}
	sc := fetch.SearchConfig{Provider: fetch.Provider(cfg.Search.Provider), BaseURL: cfg.Search.BaseURL, KeyName: cfg.Search.APIKeyEnv}
	names := fetch.KeyVariables(sc.Provider)
	if cfg.Search.APIKeyEnv != "" {
		names = append([]string{cfg.Search.APIKeyEnv}, names...)
	}
	for _, name := range names {
		if key, _ := h.lookupEnv(name); key != "" {
			sc.Key, sc.KeyName = key, name
			break
		}
	}
	sc.KeyName = cmp.Or(sc.KeyName, cfg.Search.APIKeyEnv)
	s, err := fetch.NewSearcher(sc, client)
	if err != nil {
		return client, search{why: err}, nil
	}
	return client, search{searcher: s}, nil
}
