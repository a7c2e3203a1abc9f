package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/tool/search"
)

const (
	// serverWait is how long a search, or a call of a tool that is not known, waits for
	// servers that are being connected with.
	serverWait = 10 * time.Second
	// maxShownSchema is how long the schema of a found tool is shown, in bytes.
	maxShownSchema = 8 << 10
	// maxFoundText is how long the answer to a search is, in bytes; of further tools the
	// schema is left out.
	maxFoundText = 64 << 10
)

// ExtraServers are the MCP servers whose tools are among [Extras].
type ExtraServers interface {
	// Tools returns those that are known now, sorted by name. It is not to be changed.
	Tools() []Tool
	// Pending returns the names of the servers that are being connected with.
	Pending() []string
	// Settle waits until none is pending that was when it began, or ctx ends; with a name
	// only those are waited for that may have the tool of that name.
	Settle(ctx context.Context, name string)
}

// Extras are the tools of a turn that its model is not sent: it finds them with one tool
// and calls them with another. They may be used concurrently.
type Extras struct {
	Fixed   []Tool            // those that stay the same for the turn
	Servers ExtraServers      // nil for none
	Takes   func(t Tool) bool // reports whether the turn may have a tool
	Direct  []string          // the names of the tools that the model is sent
	Index   *ExtraIndex       // of the session

	mu   sync.Mutex
	of   []Tool // of servers, that all was made of
	all  []Tool
	made bool
}

// ExtraIndex keeps the index of the tools of a session, the newest alone. The zero value is
// ready, and may be used concurrently.
type ExtraIndex struct {
	mu    sync.Mutex
	docs  []search.Document
	index *search.Index
}

// of returns the index of tools.
func (x *ExtraIndex) of(tools []Tool) *search.Index {
	docs := make([]search.Document, len(tools))
	for i, t := range tools {
		spec := t.Spec()
		docs[i] = search.Document{Name: spec.Name, Description: spec.Description}
		if h, ok := t.(Hinted); ok {
			docs[i].Hint = h.Hint()
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index == nil || !slices.Equal(x.docs, docs) {
		x.docs, x.index = docs, search.New(docs, search.ToolWeights())
	}
	return x.index
}

// Own returns those that are not tools of servers.
func (x *Extras) Own() []Tool {
	if x == nil {
		return nil
	}
	return x.Fixed
}

// All returns the tools, sorted by name, without those that the model is sent. It is not to
// be changed.
func (x *Extras) All() []Tool {
	if x == nil {
		return nil
	}
	var served []Tool
	if x.Servers != nil {
		served = x.Servers.Tools()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.made && len(served) == len(x.of) && (len(served) == 0 || &served[0] == &x.of[0]) {
		return x.all
	}
	all := slices.Concat(x.Fixed, served)
	all = slices.DeleteFunc(all, func(t Tool) bool { return slices.Contains(x.Direct, t.Spec().Name) || !x.Takes(t) })
	slices.SortStableFunc(all, byName)
	x.all = slices.CompactFunc(all, func(a, b Tool) bool { return a.Spec().Name == b.Spec().Name })
	x.of, x.made = served, true
	return x.all
}

func byName(a, b Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) }

// Named returns the tool of a name, nil for none.
func (x *Extras) Named(name string) Tool {
	if x == nil {
		return nil
	}
	all := x.All()
	i, ok := slices.BinarySearchFunc(all, name, func(t Tool, name string) int { return strings.Compare(t.Spec().Name, name) })
	if !ok {
		return nil
	}
	return all[i]
}

// await returns the tool of a name, and waits for servers where there is none yet.
func (x *Extras) await(ctx context.Context, name string) Tool {
	if t := x.Named(name); t != nil || x == nil || slices.Contains(x.Direct, name) {
		return t
	}
	x.settle(ctx, name)
	return x.Named(name)
}

// settle is [ExtraServers.Settle] for a short time.
func (x *Extras) settle(ctx context.Context, name string) {
	if x.Servers == nil || name == "" && len(x.Servers.Pending()) == 0 { // one of a name may come with a list that is read later
		return
	}
	ctx, cancel := context.WithTimeout(ctx, serverWait)
	defer cancel()
	x.Servers.Settle(ctx, name)
}

// Suggest returns the tools that fit what a person says, at most so many, the best first. It
// waits for no server.
func (x *Extras) Suggest(text string, most int) (out []Tool) {
	if x == nil {
		return nil
	}
	all := x.All()
	if len(all) == 0 {
		return nil
	}
	for _, h := range x.Index.of(all).Suggest(text, most) {
		if i, ok := slices.BinarySearchFunc(all, h.Name, func(t Tool, name string) int { return strings.Compare(t.Spec().Name, name) }); ok {
			out = append(out, all[i])
		}
	}
	return out
}

// extrasFound is what a search has.
type extrasFound struct {
	tools   []Tool
	unknown []string // names of a selection
	direct  []string // of these, those that the model is sent
	nearest []string // names, where nothing was found
	pending []string // servers that are still not there
}

// find looks for tools. Those that the turn may not have are not there.
func (x *Extras) find(ctx context.Context, q search.Query, most int) extrasFound {
	x.settle(ctx, "")
	all := x.All()
	named := make(map[string]Tool, len(all))
	for _, t := range all {
		named[t.Spec().Name] = t
	}
	index := x.Index.of(all)
	hits, unknown := index.Find(q, most)
	var f extrasFound
	for _, h := range hits {
		f.tools = append(f.tools, named[h.Name])
	}
	for _, name := range unknown {
		if i := slices.IndexFunc(x.Direct, func(d string) bool { return strings.EqualFold(d, name) }); i >= 0 {
			f.direct = append(f.direct, x.Direct[i])
		} else {
			f.unknown = append(f.unknown, name)
		}
	}
	if len(f.tools) == 0 && len(f.direct) == 0 {
		words := q
		if q.Select != nil {
			words = search.Query{Words: search.Words(strings.Join(q.Select, " "))}
		}
		f.nearest = index.Nearest(words, maxNearest)
	}
	if x.Servers != nil {
		f.pending = x.Servers.Pending()
	}
	return f
}

// shownSchema returns the schema of a tool as a model is shown it: what is longer than 8 KiB
// loses texts first, then the depth. It is always valid JSON.
func shownSchema(schema json.RawMessage) string {
	if len(schema) <= maxShownSchema {
		return string(schema)
	}
	var v any
	if json.Unmarshal(schema, &v) != nil {
		return "{}"
	}
	for _, deep := range []int{1 << 20, 8, 5, 3, 2, 1} {
		if text, err := json.Marshal(pruned(v, deep)); err == nil && len(text) <= maxShownSchema {
			return string(text)
		}
	}
	return "{}"
}

// pruned returns a schema without the texts in it, and without what is deeper than so many
// levels.
func pruned(v any, deep int) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if _, text := value.(string); text && (key == "description" || key == "title" || key == "$comment") {
				continue
			}
			switch value.(type) {
			case map[string]any, []any:
				if deep == 0 {
					continue
				}
			}
			out[key] = pruned(value, deep-1)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = pruned(v[i], deep)
		}
		return out
	}
	return v
}

// text writes what a search has found, for a model.
func (f extrasFound) text(discover bool) string {
	var b strings.Builder
	for _, t := range f.tools {
		spec := t.Spec()
		fmt.Fprintf(&b, "%s\n%s\n", spec.Name, strings.TrimSpace(Described(t)))
		switch {
		case discover:
		case b.Len() > maxFoundText:
			fmt.Fprintf(&b, "Its schema is left out here; select:%s shows it.\n", spec.Name)
		default:
			b.WriteString("Schema of params: " + shownSchema(spec.Schema) + "\n")
		}
		b.WriteString("\n")
	}
	if len(f.tools) > 0 {
		b.WriteString("Call one with " + executeExtraName + ": tool_name is its name above, params fits its schema.\n")
	}
	if len(f.direct) > 0 {
		fmt.Fprintf(&b, "You have these already; call them directly: %s.\n", strings.Join(f.direct, ", "))
	}
	if len(f.unknown) > 0 {
		fmt.Fprintf(&b, "There is no tool of these names: %s.\n", strings.Join(f.unknown, ", "))
	}
	if len(f.tools) == 0 && len(f.direct) == 0 && len(f.unknown) == 0 {
		b.WriteString("No tool was found. Try other words, or do it with the tools that you have.\n")
	}
	if len(f.nearest) > 0 {
		fmt.Fprintf(&b, "Names that are near: %s.\n", strings.Join(f.nearest, ", "))
	}
	if len(f.pending) > 0 {
		fmt.Fprintf(&b, "Still being connected with, so their tools are not known yet: %s. Search again later.\n", strings.Join(f.pending, ", "))
	}
	return strings.TrimSpace(b.String())
}
