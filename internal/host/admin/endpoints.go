package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	"scorel/internal/platform/disk"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Bounds of asking servers for their models.
const (
	localServerTime = 300 * time.Millisecond // of each address of this device, side by side
	serverListTime  = 10 * time.Second       // of a server that a person names
	windowTime      = 3 * time.Second        // of asking a server for context windows
	maxAliasTries   = 100                    // names of an alias, each with another number
	maxAliasModel   = 40                     // bytes of a model's name in an alias
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
	case errors.Is(err, listing.ErrNeedsKey):
		return nil, protocol.About("key", "", protocol.CodeInvalidRequest, "%s. Enter one.", failure.Sentence(err))
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

// providerFor returns the name under which the key of an endpoint is kept: that of the
// models which the configuration has of this server already, else a new one, which is
// neither a provider of the catalogue, whose key would be meant, nor a model with another
// address, nor one for which a key was entered that belongs to another server.
func providerFor(want, base, api string, cfg config.Config, keys credentials.Keys) (name string, err error) {
	elsewhere := map[string]bool{} // providers of models that have another address
	for _, m := range cfg.Models {
		if m.BaseURL != base || m.API != api {
			elsewhere[m.Provider] = true
		}
	}
	for i := range maxAliasTries {
		if name = want; i > 0 {
			name = fmt.Sprintf("%s-%d", want, i+1)
		}
		if _, vendor := catalog.FindProvider(name); vendor || name == "demo" || elsewhere[name] {
			continue
		}
		for _, m := range cfg.Models {
			if m.Provider == name { // then it has this address
				return name, nil
			}
		}
		_, taken := cfg.Models[name]
		if _, key := keys.Get(name); !key && !taken {
			return name, nil
		}
	}
	return "", fmt.Errorf("there are too many models named %s; give the endpoint another name", want)
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
	name, err := providerFor(cmp.Or(r.Name, serverName(base)), base, r.API, cfg, keys)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	key := r.Key
	if key == "" {
		key, _ = keys.Get(name)
	}
	e, err := describeEndpoint(name, base, r, cfg)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	added := &protocol.EndpointAdded{Ref: e.Models[0].Alias}
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
	if err := ad.findWindows(ctx, &e, key, cfg, added); err != nil {
		return nil, err
	}
	return added, ad.keepEndpoint(e, r.Key)
}

// findWindows asks the server for the context windows of an endpoint's models, and says which
// one counts for the first.
func (ad *Admin) findWindows(ctx context.Context, e *config.Endpoint, key string, cfg config.Config, added *protocol.EndpointAdded) error {
	limited, cancel := context.WithTimeout(ctx, windowTime)
	defer cancel()
	var ids []string
	for _, m := range e.Models {
		ids = append(ids, m.ID)
	}
	windows := listing.Windows(limited, listing.Server{BaseURL: e.BaseURL, API: model.API(e.API), Key: key, HTTP: ad.settings.HTTP}, ids)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, m := range e.Models {
		e.Models[i].ContextWindow = windows[m.ID]
	}
	first := e.Models[0]
	if have := cfg.Models[first.Alias].ContextWindow; have > 0 { // a person's own
		added.ContextWindow = have
		return nil
	}
	m, err := resolve.Resolve(first.Alias, ad.endpointResolver(first, *e, key, cfg))
	if err != nil {
		return err
	}
	added.ContextWindow, added.WindowAssumed = m.Info().ContextWindow, first.ContextWindow == 0
	return nil
}

// describeEndpoint gives each different model of a request an alias: the one that the
// configuration has for it, else a name that nothing has yet.
func describeEndpoint(name, base string, r *protocol.AddEndpoint, cfg config.Config) (config.Endpoint, error) {
	e := config.Endpoint{API: r.API, BaseURL: base, Provider: name}
	alias := func(want, id string) (string, error) {
		if id == "" {
			return "", nil
		}
		as := ""
		for _, m := range e.Models {
			if m.ID == id {
				return m.Alias, nil
			}
		}
		for _, have := range slices.Sorted(maps.Keys(cfg.Models)) {
			if m := cfg.Models[have]; m.ID == id && m.Provider == name && m.BaseURL == base && m.API == r.API && (as == "" || have == want) {
				as = have
			}
		}
		if as == "" {
			var err error
			if as, err = freeAlias(want, name, id, e, cfg); err != nil {
				return "", err
			}
		}
		e.Models = append(e.Models, config.EndpointModel{Alias: as, ID: id})
		return as, nil
	}
	if _, err := alias(name, r.Model); err != nil {
		return e, err
	}
	for _, t := range [...]struct {
		ref      *string
		want, id string
	}{{&e.Tiers.Haiku, "haiku", r.Haiku}, {&e.Tiers.Sonnet, "sonnet", r.Sonnet}, {&e.Tiers.Opus, "opus", r.Opus}} {
		var err error
		if *t.ref, err = alias(name+"-"+t.want, t.id); err != nil {
			return e, err
		}
	}
	return e, nil
}

// freeAlias returns the alias that is wanted for a model; where another model has it, one
// after the model's name.
func freeAlias(want, provider, id string, e config.Endpoint, cfg config.Config) (string, error) {
	own := provider + "-" + cmp.Or(aliasWord(id[strings.LastIndexByte(id, '/')+1:]), "model")
	for i := range maxAliasTries {
		name := own
		switch {
		case i == 0:
			name = want
		case i > 1:
			name = fmt.Sprintf("%s-%d", own, i)
		}
		_, taken := cfg.Models[name]
		if _, vendor := catalog.FindProvider(name); vendor || taken || slices.ContainsFunc(e.Models, func(m config.EndpointModel) bool { return m.Alias == name }) {
			continue
		}
		return name, nil
	}
	return "", fmt.Errorf("there are too many models named %s; give the endpoint another name", own)
}

// aliasWord returns the letters and digits of a model's name, with one hyphen for what is
// between them.
func aliasWord(id string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(id) {
		switch {
		case b.Len() >= maxAliasModel:
		case r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r == '.':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimRight(b.String(), "-.")
}

// tryEndpoint asks a model of an endpoint that is not kept yet for a word.
func (ad *Admin) tryEndpoint(ctx context.Context, m config.EndpointModel, e config.Endpoint, key string, cfg config.Config) (*protocol.ModelTest, error) {
	test, cause, err := ad.tried(ctx, m.Alias, ad.endpointResolver(m, e, key, cfg))
	if failed := new(model.Error); err == nil && errors.As(cause, &failed) && failed.Class == model.ClassAuth {
		test.Problem = refusedBy(e.BaseURL, key, failed)
	}
	return test, err
}

// refusedBy says that an endpoint did not let a test in. Where the key of a stored model is
// does not help in a form.
func refusedBy(base, key string, failed *model.Error) string {
	host, does := base, "refuses this API key"
	if u, err := url.Parse(base); err == nil {
		host = u.Host
	}
	if key == "" {
		does = "asks for an API key"
	}
	if failed.Said == "" {
		return fmt.Sprintf("The server at %s %s.", host, does)
	}
	return fmt.Sprintf("The server at %s %s (%d: %s).", host, does, failed.Status, failed.Said)
}

// endpointResolver resolves a model of an endpoint that is not kept yet.
func (ad *Admin) endpointResolver(m config.EndpointModel, e config.Endpoint, key string, cfg config.Config) resolve.Config {
	at := ad.settings.Resolver(cfg)
	at.Aliases[m.Alias] = resolve.Alias{Type: "custom", API: model.API(e.API), Provider: e.Provider, ID: m.ID, BaseURL: e.BaseURL, ContextWindow: m.ContextWindow}
	at.Credentials = func(provider string) (string, error) {
		if provider == e.Provider {
			return key, nil
		}
		return "", nil
	}
	return at
}

// keepEndpoint writes the key, then the configuration. Where that could not be written, the
// key that was there before is put back, or none.
func (ad *Admin) keepEndpoint(e config.Endpoint, key string) error {
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
	data, err := config.AddEndpoint(file, e)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	before := ""
	if key != "" {
		keys, err := credentials.Load(ad.settings.FS, ad.settings.CredentialsFile())
		if err != nil {
			return failure.Storage("", err)
		}
		before, _ = keys.Get(e.Provider)
		if err := credentials.Set(ad.settings.FS, ad.settings.CredentialsFile(), e.Provider, key); err != nil {
			return failure.Storage("keep the key", err)
		}
	}
	if err := disk.WriteFile(ad.settings.FS, name, data); err != nil {
		if key != "" {
			err = errors.Join(err, credentials.Set(ad.settings.FS, ad.settings.CredentialsFile(), e.Provider, before))
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
