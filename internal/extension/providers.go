package extension

import (
	"fmt"
	"net/url"
	"slices"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/catalog"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// Bounds of the providers of an extension.
const (
	maxProviders = 16
	maxModels    = 64 // of a provider
	maxHeaders   = 32 // of a provider
	maxHeader    = 4 << 10
	maxModelID   = 200
)

// checked returns the providers and models that can be used, and says what is wrong with
// the others.
func checked(m *member, given []rpc.Provider, warn func(string, ...any)) (out []rpc.Provider) {
	if len(given) > 0 && m.Scope == Project {
		warn("It registers providers of models, which an extension of a project may not: requests with your conversations would go there. Put it into ~/.scorel/extensions if you want that.")
		return nil
	}
	for _, p := range given {
		switch _, known := catalog.FindProvider(p.Name); {
		case len(out) == maxProviders:
			warn("It registers more than %d providers; only the first count.", maxProviders)
			return out
		case !name(p.Name) || p.Name == "demo":
			warn("The provider %.60q is left out: its name may have letters, digits, dots, dashes and underscores, at most %d.", p.Name, maxName)
			continue
		case known:
			warn("The provider %s is left out: Scorel has one of this name. Add the models to [models.<alias>] of config.toml, with baseUrl.", p.Name)
			continue
		case slices.ContainsFunc(out, func(o rpc.Provider) bool { return o.Name == p.Name }):
			warn("The provider %s is registered twice; only the first counts.", p.Name)
			continue
		case len(p.Headers) > maxHeaders:
			warn("The provider %s is left out: it has more than %d headers.", p.Name, maxHeaders)
			continue
		}
		for k, v := range p.Headers {
			if len(k)+len(v) > maxHeader {
				warn("A header of the provider %s is left out: it has more than %d bytes.", p.Name, maxHeader)
				delete(p.Headers, k)
			}
		}
		all := p.Models
		p.Models = nil
		for _, pm := range all {
			if len(p.Models) == maxModels {
				warn("The provider %s has more than %d models; only the first count.", p.Name, maxModels)
				break
			}
			if why := wrong(p, pm); why != "" {
				warn("The model %.60q of the provider %s is left out: %s.", pm.ID, p.Name, why)
				continue
			}
			p.Models = append(p.Models, pm)
		}
		if len(p.Models) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// wrong says why a model cannot be used, "" when it can.
func wrong(p rpc.Provider, m rpc.ProvidedModel) string {
	api, base := either(m.API, p.API), either(m.BaseURL, p.BaseURL)
	u, err := url.Parse(base)
	switch {
	case m.ID == "" || len(m.ID) > maxModelID || !plain(m.ID):
		return fmt.Sprintf("its id is not a word of at most %d bytes", maxModelID)
	case !slices.Contains(model.APIs(), model.API(api)):
		return fmt.Sprintf("its api is %.60q; it can be %s", api, joined(model.APIs()))
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Sprintf("its baseUrl %.100q is not an address that begins with http:// or https://", base)
	case m.ContextWindow < 0 || m.MaxTokens < 0:
		return "its contextWindow or maxTokens is negative"
	}
	return ""
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// plain reports whether a text is one word of visible characters of ASCII.
func plain(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

func joined(list []model.API) (text string) {
	for i, a := range list {
		switch {
		case i > 0 && i == len(list)-1:
			text += " or "
		case i > 0:
			text += ", "
		}
		text += string(a)
	}
	return text
}

// Providers returns those of the extensions that are loaded, in load order.
func (s *Set) Providers() (out []rpc.Provider) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.members {
		if m.State == protocol.ExtensionLoaded {
			out = append(out, m.registered.Providers...)
		}
	}
	return out
}
