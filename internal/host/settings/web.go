package settings

import (
	"cmp"
	"net/http"

	"scorel/internal/engine/config"
	"scorel/internal/engine/fetch"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

// Search is the user's search service. Without a searcher WebSearch is not
// offered to a model, and why says what is missing.
type Search struct {
	Searcher *fetch.Searcher
	why      error
}

// Missing says in a sentence how to get WebSearch.
func (s Search) Missing() string {
	if s.why == nil {
		return "WebSearch needs a search service: set search.provider in config.toml to brave, tavily or searxng."
	}
	return "WebSearch is not offered: " + failure.Sentence(s.why) + "."
}

// Web makes what WebFetch and WebSearch work with. An unusable search service is
// no error: a turn does without it.
func (st *Settings) Web(cfg config.Config) (*fetch.Client, Search, error) {
	client, err := fetch.New(fetch.Config{Version: st.Version, Proxy: cfg.Web.Proxy})
	if err != nil {
		return nil, Search{}, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if cfg.Search.Provider == "" {
		return client, Search{}, nil
	}
	sc := fetch.SearchConfig{Provider: fetch.Provider(cfg.Search.Provider), BaseURL: cfg.Search.BaseURL, KeyName: cfg.Search.APIKeyEnv}
	names := fetch.KeyVariables(sc.Provider)
	if cfg.Search.APIKeyEnv != "" {
		names = append([]string{cfg.Search.APIKeyEnv}, names...)
	}
	for _, name := range names {
		if key, _ := st.LookupEnv(name); key != "" {
			sc.Key, sc.KeyName = key, name
			break
		}
	}
	sc.KeyName = cmp.Or(sc.KeyName, cfg.Search.APIKeyEnv)
	s, err := fetch.NewSearcher(sc, client)
	if err != nil {
		return client, Search{why: err}, nil
	}
	return client, Search{Searcher: s}, nil
}

// maxPushAnswer bounds the answer of a push service in bytes; nothing of it is used.
const maxPushAnswer = 64 << 10

// PushServices returns the origins of push services of the user's own network. Without
// settings that can be read there is none.
func (st *Settings) PushServices() []string {
	cfg, err := st.User()
	if err != nil {
		return nil
	}
	return cfg.Host.PushServices
}

// PushTransport returns what asks push services: those of the user's own wherever they are,
// others only at public addresses. It follows no redirect.
func (st *Settings) PushTransport() (http.RoundTripper, error) {
	cfg, err := st.User()
	if err != nil {
		return nil, err
	}
	client, err := fetch.New(fetch.Config{Version: st.Version, Proxy: cfg.Web.Proxy})
	if err != nil {
		return nil, err
	}
	return client.RoundTripper(maxPushAnswer, cfg.Host.PushServices...), nil
}
