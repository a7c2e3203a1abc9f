package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Endpoint is a server of models that [AddEndpoint] describes in a file.
type Endpoint struct {
	API, BaseURL string
	Provider     string          // whose key goes there
	Models       []EndpointModel // at least one
	Tiers        Tiers           // those that are not "" are set
}

// EndpointModel is an alias and what the server calls its model.
type EndpointModel struct {
	Alias, ID     string
	ContextWindow int // tokens, 0 when it is not known
}

// AddEndpoint returns the user's file with an alias for each model of an endpoint, and
// with its tiers; all else stays byte for byte. An alias that the file has already must
// be of the same model at the endpoint's address, and keeps the context window that the
// file gives it. The error is a sentence without an end. Unlike [Edit] it writes where keys are sent, so who calls it makes sure that no key
// but the endpoint's own is sent there.
func AddEndpoint(f File, e Endpoint) ([]byte, error) {
	cfg, _, err := Parse(f, File{}, nil)
	if err != nil {
		return nil, err
	}
	before, err := parseTOML(f)
	if err != nil {
		return nil, err
	}
	for _, m := range e.Models {
		if have, ok := cfg.Models[m.Alias]; ok {
			if have.BaseURL != e.BaseURL || have.API != e.API || have.ID != m.ID {
				return nil, fmt.Errorf("%s already describes another model %s; choose another name", f.Name, m.Alias)
			}
			if have.ContextWindow == 0 && m.ContextWindow > 0 {
				if f.Data, err = Edit(f, dotted([]string{"models", m.Alias, "contextWindow"}), strconv.Itoa(m.ContextWindow)); err != nil {
					return nil, err
				}
			}
			continue
		}
		var b strings.Builder
		if n := len(f.Data); n > 0 && f.Data[n-1] != '\n' {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s[%s]\ntype = \"custom\"\napi = %s\nprovider = %s\nbaseUrl = %s\nid = %s\n",
			gap(f.Data), dotted([]string{"models", m.Alias}), quoted(e.API), quoted(e.Provider), quoted(e.BaseURL), quoted(m.ID))
		if m.ContextWindow > 0 {
			fmt.Fprintf(&b, "contextWindow = %d\n", m.ContextWindow)
		}
		f.Data = slices.Concat(f.Data, []byte(b.String()))
	}
	for _, t := range [...]struct{ key, ref string }{{"tiers.haiku", e.Tiers.Haiku}, {"tiers.sonnet", e.Tiers.Sonnet}, {"tiers.opus", e.Tiers.Opus}} {
		if t.ref == "" {
			continue
		}
		if f.Data, err = Edit(f, t.key, quoted(t.ref)); err != nil {
			return nil, err
		}
	}
	return f.Data, kept(f, before, e)
}

// kept reports whether all that a file said before, besides the endpoint, it says still.
func kept(f File, before []entry, e Endpoint) error {
	after, err := parseTOML(f)
	if err != nil {
		return fmt.Errorf("the endpoint cannot be written into %s: %w", f.Name, err)
	}
	of := func(path []string) bool {
		return path[0] == "tiers" || path[0] == "models" && len(path) > 1 && slices.ContainsFunc(e.Models, func(m EndpointModel) bool { return m.Alias == path[1] })
	}
	others := func(list []entry) map[string]any {
		out := map[string]any{}
		for _, x := range list {
			if !of(x.path) && !emptyTable(x) {
				out[x.name()] = x.value
			}
		}
		return out
	}
	if !reflect.DeepEqual(others(before), others(after)) {
		return fmt.Errorf("%s is written in a way that cannot be added to; describe the endpoint there by hand", f.Name)
	}
	_, _, err = Parse(f, File{}, nil)
	return err
}
