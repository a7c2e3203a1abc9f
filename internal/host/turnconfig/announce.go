package turnconfig

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/model"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

const (
	// announcedShare is the part of the model's window that the names of tools may take
	// which it can search for: one of so many. Beyond it servers are named and counted.
	announcedShare = 100
	// maxServerLine is how much of what a server says of itself is told, in bytes.
	maxServerLine = 160
)

// announcer tells a model which tools it can search for. What it has been told is in the
// items of the conversation, so that it is right after a rewind, a resume or a compaction.
type announcer struct {
	extras *tool.Extras // nil: none
	lines  func() map[string]string
	window int // tokens
}

// announced is the data of an item: what the model knows when it has been told it.
type announced struct {
	Names   []string       `json:"names,omitempty"`   // sorted
	Servers map[string]int `json:"servers,omitempty"` // how many tools, by the beginning of their names; "" for others
}

// items returns what the model has to be told, by what it has been told: nothing, or one
// item. The first says all, later ones what has changed.
func (a announcer) items(told history.Told) []protocol.Item {
	var known announced
	last, ok := told.Get(protocol.ItemToolChange)
	if ok && json.Unmarshal(last.Data, &known) != nil {
		ok, known = false, announced{}
	}
	all := a.extras.All()
	if len(all) == 0 && (!ok || len(known.Names)+len(known.Servers) == 0) {
		return nil
	}
	now := announced{Names: a.withPending(tool.Names(all), known.Names)}
	fresh := !ok || len(known.Names)+len(known.Servers) == 0
	text := a.named(now.Names, known.Names, fresh || len(known.Servers) > 0)
	whole := text
	if !fresh {
		whole = a.named(now.Names, nil, true)
	}
	waits := false // for a server that was counted
	for p := range known.Servers {
		waits = waits || a.pending(p)
	}
	if waits || model.EstimateText(whole) > cmp.Or(a.window, usualWindow)/announcedShare {
		now = announced{Servers: a.counts(now.Names)}
		for p, n := range known.Servers { // as in withPending
			if now.Servers[p] == 0 && a.pending(p) {
				now.Servers[p] = n
			}
		}
		text = a.counted(now.Servers, known.Servers, fresh || len(known.Names) > 0)
	}
	if text == "" {
		return nil
	}
	data, err := json.Marshal(now)
	if err != nil {
		return nil // strings and numbers can be written
	}
	return []protocol.Item{{Kind: protocol.ItemToolChange, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityHidden, Content: text, Data: data}}
}

// withPending adds the names that are known of servers which are being connected with, as
// after a resume: they are not gone.
func (a announcer) withPending(names, known []string) []string {
	names = slices.Clone(names)
	for _, name := range without(known, names) {
		if a.pending(prefixOf(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// pending reports whether the server is being connected with whose tools' names begin so.
func (a announcer) pending(prefix string) bool {
	return a.extras != nil && a.extras.Servers != nil && slices.ContainsFunc(a.extras.Servers.Pending(), func(server string) bool { return connect.Prefix(server) == prefix })
}

const moreTools = "There are more tools than those that you were given. Before you call one with " +
	"ExecuteExtraTool, look its schema up with SearchExtraTools."

// named says which tools there are, or have come and gone since known; "" for no change.
func (a announcer) named(names, known []string, whole bool) string {
	var b strings.Builder
	come := names
	if !whole {
		come = without(names, known)
	}
	switch {
	case len(names) == 0:
		return "The tools that you could search for are no longer there."
	case whole:
		b.WriteString(moreTools + " A name is the beginning of its line together with one of the words after it:")
	case len(come) > 0:
		b.WriteString("Tools that have come, to be searched for like the others:")
	}
	groups := map[string][]string{}
	for _, name := range come {
		p := prefixOf(name)
		groups[p] = append(groups[p], strings.TrimPrefix(name, p))
	}
	for _, p := range slices.Sorted(maps.Keys(groups)) {
		b.WriteString("\n- " + cmp.Or(p, "(whole names)") + " " + strings.Join(groups[p], ", "))
	}
	if gone := without(known, names); !whole && len(gone) > 0 {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString("These tools are no longer there: " + strings.Join(gone, ", ") + ".")
	}
	return b.String()
}

// without returns the names of list that are not in other; both are sorted.
func without(list, other []string) []string {
	var out []string
	for _, name := range list {
		if _, ok := slices.BinarySearch(other, name); !ok {
			out = append(out, name)
		}
	}
	return out
}

// prefixOf returns what the names of the tools of a server begin with, "" for other tools.
func prefixOf(name string) string {
	rest, ok := strings.CutPrefix(name, "mcp__")
	server, _, has := strings.Cut(rest, "__")
	if !ok || !has {
		return ""
	}
	return "mcp__" + server + "__"
}

// counts returns how many tools each server has.
func (a announcer) counts(names []string) map[string]int {
	counts := map[string]int{}
	for _, name := range names {
		counts[prefixOf(name)]++
	}
	return counts
}

// counted says which servers have how many tools, or what of that has changed since known;
// "" for no change.
func (a announcer) counted(now, known map[string]int, whole bool) string {
	var b strings.Builder
	lines := a.lines()
	room := cmp.Or(a.window, usualWindow) / announcedShare * 4 // characters
	for _, p := range slices.Sorted(maps.Keys(now)) {
		if !whole && known[p] == now[p] {
			continue
		}
		line := fmt.Sprintf("\n- %s*: %d tools", p, now[p])
		if p == "" {
			line = fmt.Sprintf("\n- of extensions and built in: %d tools", now[p])
		}
		if text := oneLine(lines[p]); text != "" {
			line += ". It calls itself: " + text
		}
		if room -= len(line); room < 0 {
			b.WriteString("\n- and others")
			break
		}
		b.WriteString(line)
	}
	var gone []string
	for _, p := range slices.Sorted(maps.Keys(known)) {
		if now[p] == 0 && !whole {
			gone = append(gone, p+"*")
		}
	}
	text := b.String()
	switch {
	case text != "" && whole:
		text = moreTools + " They are too many to be named here:" + text
	case text != "":
		text = "The number of tools that you can search for has changed:" + text
	}
	if len(gone) > 0 {
		text = strings.TrimSpace(text + "\nNo longer there: " + strings.Join(gone, ", ") + ".")
	}
	return text
}

// oneLine makes what a server says of itself fit for a line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(promptsafe.Escape(promptsafe.Clean(s))), " ")
	if len(s) > maxServerLine {
		s = strings.ToValidUTF8(s[:maxServerLine], "") + "…"
	}
	return s
}
