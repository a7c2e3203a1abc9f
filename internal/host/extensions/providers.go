package extensions

import (
	"cmp"
	"maps"
	"slices"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
)

// Provided returns the models that extensions of the user have registered in open sessions,
// by the names under which they are chosen.
func (xs *Extensions) Provided() map[string]resolve.Alias {
	xs.mu.Lock()
	var open []*Session
	for _, id := range slices.Sorted(maps.Keys(xs.open)) {
		open = append(open, xs.open[id])
	}
	xs.mu.Unlock()
	out := map[string]resolve.Alias{}
	for _, x := range open {
		for _, p := range x.set.Providers() {
			for _, m := range p.Models {
				name := p.Name + "/" + m.ID
				if _, there := out[name]; there {
					continue
				}
				a := resolve.Alias{Type: "custom", Provider: p.Name, ID: m.ID, API: model.API(cmp.Or(m.API, p.API)), BaseURL: cmp.Or(m.BaseURL, p.BaseURL),
					APIKeyEnv: p.APIKeyEnv, Headers: p.Headers, ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Reasoning: &m.Reasoning, Images: &m.Images}
				if m.Price != nil {
					price := model.Price(*m.Price)
					a.Price = &price
				}
				out[name] = a
			}
		}
	}
	return out
}
