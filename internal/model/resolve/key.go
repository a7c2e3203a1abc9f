package resolve

import (
	"net/url"
	"slices"
	"strings"

	"scorel/internal/model"
	"scorel/internal/model/catalog"
)

// providerKey gives the key for a provider's own server and the name of where it
// comes from, or the variable that should be set. The order: apiKeyEnv,
// credentials, the vendor's usual variables.
func (c Config) providerKey(provider, apiKeyEnv string) (key, name string) {
	p, _ := catalog.FindProvider(provider)
	if key = c.env(apiKeyEnv); key != "" {
		return key, apiKeyEnv
	}
	if key = c.credential(provider); key != "" {
		return key, credentialName(provider)
	}
	for _, v := range p.KeyEnv {
		if key = c.env(v); key != "" {
			return key, v
		}
	}
	switch {
	case apiKeyEnv != "":
		return "", apiKeyEnv
	case len(p.KeyEnv) > 0:
		return "", p.KeyEnv[0]
	}
	return "", "apiKeyEnv of the model"
}

// customKey gives the key for a server that is not the provider's own. A vendor's
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
	return "", "the variable that apiKeyEnv of models." + alias + " names"
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
	v, ok := c.Credentials(provider)
	if !ok {
		return ""
	}
	return strings.TrimSpace(v)
}

// ownServer says whether the model is reached at its provider's own host.
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
