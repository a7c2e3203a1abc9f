package resolve

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/catalog"
	"scorel/internal/text/spelling"
)

// Entry is a model that can be named.
type Entry struct {
	Ref    string
	Info   model.Info
	HasKey bool // it can be called as things stand
}

// List returns the models whose ref contains every word of query, in any case:
// aliases first, then those with a key, then the rest of the catalogue, each by
// name.
func List(query string, c Config) []Entry {
	words := strings.Fields(strings.ToLower(query))
	fits := func(ref string) bool {
		for _, w := range words {
			if !strings.Contains(strings.ToLower(ref), w) {
				return false
			}
		}
		return true
	}
	keys := c.keys()
	aliases := c.aliases(fits)
	var ready, rest []Entry
	for m := range catalog.Matching(fits) {
		e := Entry{Ref: m.Provider + "/" + m.ID, Info: m.Info(), HasKey: keys[m.Provider]}
		if e.HasKey {
			ready = append(ready, e)
		} else {
			rest = append(rest, e)
		}
	}
	return slices.Concat(aliases, ready, rest)
}

// Ready returns the models of List("", c) that have a key, in the same order. It decodes
// no others, so it takes a small part of the time.
func Ready(c Config) []Entry {
	keys := c.keys()
	out := slices.DeleteFunc(c.aliases(func(string) bool { return true }), func(e Entry) bool { return !e.HasKey })
	for m := range catalog.Matching(func(ref string) bool {
		provider, _, _ := strings.Cut(ref, "/")
		return keys[provider]
	}) {
		out = append(out, Entry{Ref: m.Provider + "/" + m.ID, Info: m.Info(), HasKey: true})
	}
	return out
}

// aliases returns the aliases that fit, by name.
func (c Config) aliases(fits func(ref string) bool) []Entry {
	var out []Entry
	for _, name := range slices.Sorted(maps.Keys(c.Aliases)) {
		a := c.Aliases[name]
		info, headers, err := describe(name, a)
		if err != nil || !fits(name+" "+a.Provider+"/"+a.ID) {
			continue
		}
		_, err = c.alias(name, a)
		out = append(out, Entry{Ref: name, Info: info, HasKey: err == nil || carriesAuth(headers)})
	}
	return out
}

// keys says of each provider whether it has a key.
func (c Config) keys() map[string]bool {
	keys := map[string]bool{}
	for p := range catalog.Providers() {
		key, _ := c.providerKey(p.ID, "")
		keys[p.ID] = key != ""
	}
	return keys
}

// maxNear is how many names an error lists.
const maxNear = 5

// unknown is the error for a name that nothing has, with names that are near it.
func (c Config) unknown(ref string) *model.Error {
	names := c.near(ref)
	if len(names) == 0 {
		return invalid("there is no model %s: use a name from the list of models, an alias of config.toml, demo or script:FILE", ref)
	}
	return invalid("there is no model %s: did you mean %s?", ref, either(names))
}

func either[S ~string](list []S) string {
	var names []string
	for _, s := range list[:min(len(list), maxNear)] {
		names = append(names, string(s))
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// near returns the names most like ref: by edit distance to the whole ref or to
// its part after the provider, or because one contains the other.
func (c Config) near(ref string) []string {
	type scored struct {
		name  string
		score int
	}
	var list []scored
	want := strings.ToLower(ref)
	_, wantID, hasProvider := strings.Cut(want, "/")
	add := func(ref, id string) {
		name, id := strings.ToLower(ref), strings.ToLower(id)
		d := spelling.Distance(want, name)
		if hasProvider {
			d = min(d, spelling.Distance(wantID, id)+1)
		} else {
			d = min(d, spelling.Distance(want, id))
		}
		if len(want) >= 3 && strings.Contains(name, want) {
			d = min(d, 1+(len(name)-len(want))/8)
		}
		if d <= 1+len(want)/4 {
			list = append(list, scored{ref, d})
		}
	}
	for name := range c.Aliases {
		add(name, name)
	}
	for provider, id := range catalog.Refs() {
		add(provider+"/"+id, id)
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, s := range list[:min(len(list), maxNear)] {
		out = append(out, s.name)
	}
	return out
}
