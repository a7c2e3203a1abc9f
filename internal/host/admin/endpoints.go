package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/catalog"
	"scorel/internal/engine/model/credentials"
	"scorel/internal/engine/model/listing"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Bounds of asking servers for their models.
const (
	localServerTime = 300 * time.Millisecond // of each address of this device, side by side
	serverListTime  = 10 * time.Second       // of a server that a person names
	maxAliasTries   = 100                    // names of an alias, each with another number
)

// localServers are where servers of models usually are on a device. All speak OpenAI's Chat
// Completions and list their models.
var localServers = [...]struct{ name, alias, host string }{
	{"Ollama", "ollama", "127.0.0.1:11434"},
	{"llama.cpp", "llamacpp", "127.0.0.1:8080"},
	{"LM Studio", "lmstudio", "127.0.0.1:1234"},
	{"vLLM", "vllm", "127.0.0.1:8000"},
}

// localModels asks the usual addresses of this device for models, without a key. Servers
// that do not answer in time are left out.
func (ad *Admin) localModels(ctx context.Context) *protocol.ServerList {
	ctx, cancel := context.WithTimeout(ctx, localServerTime)
	defer cancel()
	var found [len(localServers)]*protocol.ModelServer
	var wg fault.Group
	for i, s := range localServers {
		wg.Go(func() { // ends with ctx
			base := "http://" + s.host + "/v1"
			ids, err := listing.Models(ctx, listing.Server{BaseURL: base, API: model.APIOpenAI, HTTP: ad.settings.HTTP})
			if err == nil {
				found[i] = &protocol.ModelServer{Name: s.name, BaseURL: base, API: string(model.APIOpenAI), Models: ids}
			}
		})
	}
	wg.Wait()
	list := &protocol.ServerList{Servers: []protocol.ModelServer{}}
	for _, s := range found {
		if s != nil {
			list.Servers = append(list.Servers, *s)
		}
	}
	return list
}

// serverModels asks a server for its models.
func (ad *Admin) serverModels(ctx context.Context, r *protocol.ListServerModels) (*protocol.ServerList, error) {
	if err := checkEndpoint(r.API, r.Key); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, serverListTime)
	defer cancel()
	ids, err := listing.Models(limited, listing.Server{BaseURL: r.BaseURL, API: model.API(r.API), Key: r.Key, HTTP: ad.settings.HTTP})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, listing.ErrRefused):
		return nil, protocol.About("key", "", protocol.CodeInvalidRequest, "%s. Enter another key.", failure.Sentence(err))
	case err != nil:
		return &protocol.ServerList{Servers: []protocol.ModelServer{}, Problem: failure.Sentence(err) + "."}, nil
	}
	return &protocol.ServerList{Servers: []protocol.ModelServer{{Name: serverName(r.BaseURL), BaseURL: r.BaseURL, API: r.API, Models: ids}}}, nil
}

// checkEndpoint refuses a wire format that there is not, and what cannot be a key.
func checkEndpoint(api, key string) error {
	if !slices.Contains(model.APIs(), model.API(api)) {
		return protocol.About("api", "", protocol.CodeInvalidRequest, "The wire format is one of %s.", words(model.APIs()))
	}
	if key == "" {
		return nil
	}
	if err := credentials.Check(key); err != nil {
		return protocol.About("key", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return nil
}

func words(list []model.API) string {
	var out []string
	for _, a := range list {
		out = append(out, string(a))
	}
	return strings.Join(out, ", ")
}

// serverName returns the name of an alias for the server at an address: that of the
// program that usually has the port on this device, else the middle of the host's name.
func serverName(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "endpoint"
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || host == "localhost" {
		for _, s := range localServers {
			if strings.HasSuffix(s.host, ":"+u.Port()) {
				return s.alias
			}
		}
		return "local"
	}
	labels := strings.Split(host, ".")
	name := labels[max(0, len(labels)-2)]
	if net.ParseIP(host) != nil {
		name = "endpoint"
	}
	return cmp.Or(strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(name)), "endpoint")
}

// aliasFor returns a name under which an endpoint can be kept: neither a provider of the
// catalogue, whose key would be meant, nor an alias with another address, nor one for which
// a key was entered that belongs to another server. Again reports that the alias is there and has this address.
func (ad *Admin) aliasFor(want, base, api string, cfg config.Config, keys credentials.Keys) (name string, again bool, err error) {
	for i := range maxAliasTries {
		if name = want; i > 0 {
			name = fmt.Sprintf("%s-%d", want, i+1)
		}
		if _, vendor := catalog.FindProvider(name); vendor || name == "demo" {
			continue
		}
		if have, ok := cfg.Models[name]; ok {
			if have.BaseURL == base && have.API == api && have.Provider == name {
				return name, true, nil
			}
			continue
		}
		if _, key := keys.Get(name); !key {
			return name, false, nil
		}
	}
	return "", false, fmt.Errorf("there are too many models named %s; give the endpoint another name", want)
}

// addEndpoint tries the models of an endpoint, and keeps them and the key. No error of it
// quotes the key.
func (ad *Admin) addEndpoint(ctx context.Context, r *protocol.AddEndpoint) (*protocol.EndpointAdded, error) {
	if err := checkEndpoint(r.API, r.Key); err != nil {
		return nil, err
	}
	ad.endpoints.Lock() // names are chosen and written by one at a time
	defer ad.endpoints.Unlock()
	cfg, err := ad.settings.User()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	keys, err := credentials.Load(ad.settings.FS, ad.settings.CredentialsFile())
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeStorageError, "%s.", failure.Sentence(err))
	}
	base := strings.TrimRight(strings.TrimSpace(r.BaseURL), "/")
	name, again, err := ad.aliasFor(cmp.Or(r.Name, serverName(base)), base, r.API, cfg, keys)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	key := r.Key
	if key == "" && again {
		key, _ = keys.Get(name)
	}
	e := describeEndpoint(name, base, r)
	added := &protocol.EndpointAdded{Ref: name}
	for _, m := range slices.Backward(e.Models) { // the first one, whose time is told, last
		test, err := ad.tryEndpoint(ctx, m, e, key, cfg)
		if err != nil {
			return nil, err
		}
		if test.Problem != "" {
			added.Problem, added.Code = test.Problem, test.Code
			return added, nil
		}
		added.LatencyMS = test.LatencyMS
	}
	return added, ad.keepEndpoint(e, r.Key)
}

// describeEndpoint gives each different model of a request an alias.
func describeEndpoint(name, base string, r *protocol.AddEndpoint) config.Endpoint {
	e := config.Endpoint{API: r.API, BaseURL: base, Provider: name}
	alias := func(as, id string) string {
		if id == "" {
			return ""
		}
		for _, m := range e.Models {
			if m.ID == id {
				return m.Alias
			}
		}
		e.Models = append(e.Models, config.EndpointModel{Alias: as, ID: id})
		return as
	}
	alias(name, r.Model)
	e.Tiers = config.Tiers{Haiku: alias(name+"-haiku", r.Haiku), Sonnet: alias(name+"-sonnet", r.Sonnet), Opus: alias(name+"-opus", r.Opus)}
	return e
}

// tryEndpoint asks a model of an endpoint that is not kept yet for a word.
func (ad *Admin) tryEndpoint(ctx context.Context, m config.EndpointModel, e config.Endpoint, key string, cfg config.Config) (*protocol.ModelTest, error) {
	at := ad.settings.Resolver(cfg)
	at.Aliases[m.Alias] = resolve.Alias{Type: "custom", API: model.API(e.API), Provider: e.Provider, ID: m.ID, BaseURL: e.BaseURL}
	at.Credentials = func(provider string) (string, error) {
		if provider == e.Provider {
			return key, nil
		}
		return "", nil
	}
	return ad.test(ctx, m.Alias, at)
}

// keepEndpoint writes the key, then the configuration; a key whose endpoint could not be
// written is forgotten again.
func (ad *Admin) keepEndpoint(e config.Endpoint, key string) error {
	name := settings.Canonical(ad.settings.File())
	lock, err := disk.WaitLock(ad.settings.FS, ad.settings.File()+".lock")
	if err != nil {
		return failure.Storage("lock the configuration", err)
	}
	defer func() { _ = lock.Unlock() }()
	file, err := config.Read(name)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	data, err := config.AddEndpoint(file, e)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if key != "" {
		if err := credentials.Set(ad.settings.FS, ad.settings.CredentialsFile(), e.Provider, key); err != nil {
			return failure.Storage("keep the key", err)
		}
	}
	if err := disk.WriteFile(ad.settings.FS, name, data); err != nil {
		if key != "" {
			err = errors.Join(err, credentials.Set(ad.settings.FS, ad.settings.CredentialsFile(), e.Provider, ""))
		}
		return failure.Storage("write the configuration", err)
	}
	return nil
}

// handleEndpoints enters the handlers of this file's requests.
func (ad *Admin) handleEndpoints(t request.Table) {
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.ListServerModels) (protocol.Response, error) {
		if r.BaseURL == "" {
			return ad.localModels(ctx), nil
		}
		return ad.serverModels(ctx, r)
	})
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.AddEndpoint) (protocol.Response, error) {
		return ad.addEndpoint(ctx, r)
	})
}
