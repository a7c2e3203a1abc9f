package resolve

import (
	"net/url"
	"slices"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/catalog"
	"scorel/internal/text/spelling"
)

// providerKey returns the key for a provider's own server and the name of where it
// comes from, or the variable that should be set. The order: apiKeyEnv, the
// vendor's usual variables, credentials: who starts a program with a variable means
// that one.
func (c Config) providerKey(provider, apiKeyEnv string) (key, name string) {
	p, _ := catalog.FindProvider(provider)
	if key = c.env(apiKeyEnv); key != "" {
		return key, apiKeyEnv
	}
	for _, v := range p.KeyEnv {
		if key = c.env(v); key != "" {
			return key, v
		}
	}
	if key = c.credential(provider); key != "" {
		return key, credentialName(provider)
	}
	switch {
	case apiKeyEnv != "":
		return "", apiKeyEnv
	case len(p.KeyEnv) > 0:
		return "", p.KeyEnv[0]
	}
	return "", "apiKeyEnv of the model"
}

// customKey returns the key for a server that is not the provider's own. A vendor's
// key never goes there by itself: only what apiKeyEnv names, or what was entered
// for the alias, or for a provider that the catalogue does not know.
func (c Config) customKey(alias, provider, apiKeyEnv string) (key, name string) {
	if key = c.env(apiKeyEnv); key != "" {
		return key, apiKeyEnv
	}
	for _, p := range []string{alias, provider} {
		if _, vendor := catalog.FindProvider(p); vendor {
			continue
		}
		if key = c.credential(p); key != "" {
			return key, credentialName(p)
		}
	}
	if apiKeyEnv != "" {
		return "", apiKeyEnv
	}
	return "", "the variable that apiKeyEnv of the model " + alias + " names"
}

func credentialName(provider string) string { return "the credentials for " + provider }

func (c Config) env(name string) string {
	if name == "" || c.Env == nil {
		return ""
	}
	v, ok := c.Env(name)
	if !ok {
		return ""
	}
	return strings.TrimSpace(v)
}

func (c Config) credential(provider string) string {
	if provider == "" || c.Credentials == nil {
		return ""
	}
	v, err := c.Credentials(provider)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(v)
}

// CheckProvider says in one sentence why there is nothing that a key entered for
// name could be for: it is neither a provider of the catalogue nor an alias or its
// own provider.
func CheckProvider(name string, c Config) error {
	if _, ok := catalog.FindProvider(name); ok {
		return nil
	}
	if _, ok := c.Aliases[name]; ok {
		return nil
	}
	var near []string
	consider := func(id string) {
		if len(name) <= maxProviderName && spelling.Distance(strings.ToLower(name), strings.ToLower(id)) <= 1+len(id)/4 {
			near = append(near, id)
		}
	}
	for p := range catalog.Providers() {
		consider(p.ID)
	}
	for alias, a := range c.Aliases {
		if a.Provider == name && name != "" {
			return nil
		}
		consider(alias)
	}
	if len(name) > maxProviderName {
		name = name[:maxProviderName] + "…"
	}
	if len(near) == 0 {
		return invalid("there is no provider %q: its name is what is before the slash in the list of models, or an alias of config.toml", name)
	}
	slices.Sort(near)
	return invalid("there is no provider %q: did you mean %s?", name, either(near))
}

// maxProviderName is how many bytes of a name an error quotes.
const maxProviderName = 64

// ownServer reports whether the model is reached at its provider's own host.
func ownServer(info model.Info) bool {
	p, ok := catalog.FindProvider(info.Provider)
	if !ok {
		return false
	}
	own, err1 := url.Parse(p.BaseURL)
	used, err2 := url.Parse(info.BaseURL)
	return err1 == nil && err2 == nil && used.Scheme == own.Scheme && used.Host == own.Host
}

// KeyVariables names every variable that may hold a key: those of the catalogue's
// providers and of the aliases, sorted. Children must not inherit them.
func KeyVariables(c Config) []string {
	var out []string
	for p := range catalog.Providers() {
		out = append(out, p.KeyEnv...)
	}
	for _, a := range c.Aliases {
		if a.APIKeyEnv != "" {
			out = append(out, a.APIKeyEnv)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Key returns the key with which the model of a ref is called, "" without one.
func Key(ref string, c Config) string {
	var key string
	if a, ok := c.Aliases[ref]; ok {
		info, _, err := describe(ref, a)
		switch {
		case err != nil:
		case ownServer(info):
			key, _ = c.providerKey(info.Provider, a.APIKeyEnv)
		default:
			key, _ = c.customKey(ref, info.Provider, a.APIKeyEnv)
		}
	} else if m, err := c.find(ref); err == nil {
		key, _ = c.providerKey(m.Provider, "")
	}
	return key
}
