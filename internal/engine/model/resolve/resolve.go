package resolve

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/anthropic"
	"scorel/internal/engine/model/catalog"
	"scorel/internal/engine/model/google"
	"scorel/internal/engine/model/httpx"
	"scorel/internal/engine/model/openai"
	"scorel/internal/engine/model/responses"
	"scorel/internal/engine/model/script"
)

// Alias is an entry of the table [models.<alias>].
type Alias struct {
	Type          string // "builtin": of the catalogue; "custom"; empty: custom when there is a BaseURL
	API           model.API
	Provider      string
	ID            string
	BaseURL       string
	APIKeyEnv     string
	ContextWindow int   // tokens; 0: the catalogue's
	MaxTokens     int   // 0: the catalogue's
	Reasoning     *bool // nil: the catalogue's, else none
	Images        *bool // nil: the catalogue's, else by the API
	Headers       map[string]string
	Fallback      string        // the ref to use when this one is overloaded; not resolved here
	Compat        *model.Compat // nil: the catalogue's, else by the API
	Price         *model.Price  // nil: the catalogue's
}

// Config is what names are looked up in.
type Config struct {
	Aliases map[string]Alias
	Default string // for an empty ref; empty: demo
	// Env looks a variable up; an empty value counts as none.
	Env func(string) (string, bool)
	// Credentials returns the key that was entered for a provider, "" when none was. An
	// error, which holds no key, says why that is not known.
	Credentials func(provider string) (string, error)
	// Demo makes the demo model.
	Demo func() (model.Model, error)
	// Script makes the model of a script file; nil plays it by the real clock.
	Script func(file string) (model.Model, error)
	HTTP   *http.Client // for all adapters; nil: http.DefaultTransport
}

// Resolve returns the model that ref names.
func Resolve(ref string, c Config) (model.Model, error) {
	if ref = strings.TrimSpace(ref); ref == "" {
		ref = strings.TrimSpace(c.Default)
	}
	if ref == "" {
		ref = "demo"
	}
	if alias, ok := c.Aliases[ref]; ok {
		return c.alias(ref, alias)
	}
	if file, ok := strings.CutPrefix(ref, "script:"); ok {
		return c.script(file)
	}
	if ref == "demo" {
		if c.Demo == nil {
			return nil, invalid("there is no demo model here")
		}
		return c.Demo()
	}
	m, err := c.find(ref)
	if err != nil {
		return nil, err
	}
	return c.builtin(m)
}

func (c Config) script(file string) (model.Model, error) {
	if file == "" {
		return nil, invalid("script: needs a file, as in script:answers.jsonl")
	}
	if c.Script != nil {
		return c.Script(file)
	}
	s, err := script.Load(file)
	if err != nil {
		return nil, &model.Error{Class: model.ClassInvalid, Message: err.Error(), Err: err}
	}
	return script.New(script.Config{Script: s}), nil
}

// find looks ref up in the catalogue.
func (c Config) find(ref string) (catalog.Model, error) {
	if provider, id, ok := strings.Cut(ref, "/"); ok {
		if m, ok := catalog.Find(provider, id); ok {
			return m, nil
		}
	}
	list := catalog.FindID(ref)
	if len(list) > 1 {
		list = c.withKey(list)
	}
	switch len(list) {
	case 1:
		return list[0], nil
	case 0:
		return catalog.Model{}, c.unknown(ref)
	}
	names := make([]string, 0, len(list))
	for _, m := range list {
		names = append(names, m.Provider+"/"+m.ID)
	}
	return catalog.Model{}, invalid("several providers have the model %s: write %s", ref, either(names))
}

// withKey narrows to the models whose provider has a key, if there are any.
func (c Config) withKey(list []catalog.Model) []catalog.Model {
	var out []catalog.Model
	for _, m := range list {
		if key, _ := c.providerKey(m.Provider, ""); key != "" {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return list
	}
	return out
}

func (c Config) builtin(m catalog.Model) (model.Model, error) {
	key, name := c.providerKey(m.Provider, "")
	return c.make(m.Info(), key, name, m.Headers)
}

func (c Config) alias(name string, a Alias) (model.Model, error) {
	info, headers, err := describe(name, a)
	if err != nil {
		return nil, err
	}
	var key, keyName string
	if ownServer(info) {
		key, keyName = c.providerKey(info.Provider, a.APIKeyEnv)
	} else {
		key, keyName = c.customKey(name, info.Provider, a.APIKeyEnv)
	}
	return c.make(info, key, keyName, headers)
}

// describe returns the model of an alias: the catalogue's entry, changed by what
// the alias says, or a new one.
func describe(name string, a Alias) (model.Info, map[string]string, error) {
	custom := a.Type == "custom" || a.Type == "" && a.BaseURL != ""
	switch {
	case a.Type != "" && a.Type != "builtin" && a.Type != "custom":
		return model.Info{}, nil, invalid("models.%s: type is builtin or custom, not %q", name, a.Type)
	case a.ID == "":
		return model.Info{}, nil, invalid("models.%s: id is missing", name)
	case a.API != "" && !slices.Contains(model.APIs(), a.API):
		return model.Info{}, nil, invalid("models.%s: api is %s, not %q", name, either(model.APIs()), a.API)
	}
	known, found := catalog.Find(a.Provider, a.ID)
	if !found && custom {
		known, found = behindProxy(a)
	}
	info := known.Info()
	headers := map[string]string{}
	for k, v := range known.Headers {
		headers[k] = v
	}
	switch {
	case !found && !custom:
		return info, nil, Config{}.unknown(a.Provider + "/" + a.ID)
	case !found && (a.BaseURL == "" || a.API == ""):
		p, ok := catalog.FindProvider(a.Provider)
		if !ok {
			return info, nil, invalid("models.%s: a custom model needs api and baseUrl", name)
		}
		info = model.Info{Provider: p.ID, ID: a.ID, API: p.API, BaseURL: p.BaseURL}
		info.Images = p.API.SeesImages()
	case !found:
		info = model.Info{Provider: a.Provider, ID: a.ID, Images: a.API.SeesImages()}
	}
	override(&info, a, found)
	if custom && a.Provider != "" {
		info.Provider = a.Provider
	}
	if info.Provider == "" {
		info.Provider = name
	}
	info.Ref = name
	for k, v := range a.Headers {
		headers[k] = v
	}
	return info, headers, nil
}

// behindProxy finds the vendor's own model that a custom server passes on, so
// that its window and abilities are known. It is the server's own model then, not
// the vendor's: its key is not.
func behindProxy(a Alias) (catalog.Model, bool) {
	m, ok := catalog.Find(a.API.Vendor(), a.ID)
	if !ok || a.BaseURL == "" {
		return catalog.Model{}, false
	}
	m.Provider = a.Provider
	return m, true
}

// Defaults of a custom model that says nothing.
const (
	customWindow    = 128_000
	customMaxTokens = 8_192
)

func override(info *model.Info, a Alias, found bool) {
	if a.API != "" {
		info.API = a.API
	}
	if a.BaseURL != "" {
		info.BaseURL = a.BaseURL
	}
	if !found {
		info.ContextWindow, info.MaxTokens = customWindow, customMaxTokens
		info.Cache = info.API.CacheMarks()
		if info.API == model.APIOpenAI && !ownServer(*info) {
			info.Compat.MaxTokensField = "max_tokens" // the older name, which all servers know
		}
	}
	if a.ContextWindow > 0 {
		info.ContextWindow = a.ContextWindow
		info.MaxTokens = min(info.MaxTokens, a.ContextWindow)
	}
	if a.MaxTokens > 0 {
		info.MaxTokens = a.MaxTokens
	}
	if a.Images != nil {
		info.Images = *a.Images
	}
	switch {
	case a.Reasoning == nil:
	case !*a.Reasoning:
		info.Thinking = nil
	case len(info.Thinking) == 0:
		info.Thinking = []model.ThinkingLevel{model.ThinkingLow, model.ThinkingMedium, model.ThinkingHigh}
	}
	if a.Price != nil {
		info.Price, info.PriceKnown = *a.Price, true
	}
	if a.Compat != nil {
		levels := info.Compat.Levels
		info.Compat = *a.Compat
		if info.Compat.Levels == nil {
			info.Compat.Levels = levels
		}
	}
}

func (c Config) make(info model.Info, key, keyName string, headers map[string]string) (model.Model, error) {
	if key == "" && !loopback(info.BaseURL) && !carriesAuth(headers) {
		text := fmt.Sprintf("%s needs a key: set %s, or enter the key with /login", info.Ref, keyName)
		if c.Credentials != nil {
			if _, err := c.Credentials(info.Provider); err != nil {
				text += "; " + err.Error()
			}
		}
		return nil, &model.Error{Class: model.ClassAuth, Message: text}
	}
	m, err := open(httpx.Config{Info: info, Key: key, KeyName: keyName, Headers: headers, HTTP: c.HTTP})
	if err != nil {
		return nil, invalid("%s: %v", info.Ref, err)
	}
	return m, nil
}

// open makes a model by the adapter of its API. It knows all of [model.APIs].
func open(c httpx.Config) (model.Model, error) {
	switch c.Info.API {
	case model.APIOpenAI:
		return made(openai.New(c))
	case model.APIResponses:
		return made(responses.New(c))
	case model.APIAnthropic:
		return made(anthropic.New(c))
	case model.APIGoogle:
		return made(google.New(c))
	}
	return nil, fmt.Errorf("the api %q is not known", c.Info.API)
}

// made keeps a nil pointer of an adapter from becoming a model.
func made[M model.Model](m M, err error) (model.Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

func carriesAuth(headers map[string]string) bool {
	for k := range headers {
		switch strings.ToLower(k) {
		case "authorization", "x-api-key", "api-key", "x-goog-api-key":
			return true
		}
	}
	return false
}

// loopback reports whether the address is this machine, where servers need no key.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

func invalid(format string, args ...any) *model.Error {
	return &model.Error{Class: model.ClassInvalid, Message: fmt.Sprintf(format, args...)}
}
