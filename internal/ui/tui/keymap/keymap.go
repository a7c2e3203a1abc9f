package keymap

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place returns where an action counts.
func (a Action) Place() Place {
	place, _, _ := strings.Cut(string(a), ".")
	return Place(place)
}

// Map says which keys do what.
type Map struct {
	keys    map[Action][]string
	actions map[Place]map[string]Action // by the key or the sequence of keys
}

// Keys returns the keys of an action, the first one first; none when it has none.
func (m *Map) Keys(a Action) []string { return m.keys[a] }

// Hint names the first key of an action.
func (m *Map) Hint(a Action) string {
	if keys := m.Keys(a); len(keys) > 0 {
		return keys[0]
	}
	return "no key"
}

// Name is [Map.Hint] as texts write it that have words around: Ctrl+C, Enter.
func (m *Map) Name(a Action) string {
	keys := m.Keys(a)
	if len(keys) == 0 {
		return "no key"
	}
	words := strings.Fields(keys[0])
	for i, w := range words {
		parts := strings.Split(strings.TrimSuffix(w, "+"), "+")
		for k, p := range parts {
			if p != "" && (len(parts) > 1 || utf8.RuneCountInString(p) > 1) { // a single k is another key than K
				r, n := utf8.DecodeRuneInString(p)
				parts[k] = string(unicode.ToUpper(r)) + p[n:]
			}
		}
		words[i] = strings.Join(parts, "+") + w[len(strings.TrimSuffix(w, "+")):]
	}
	return strings.Join(words, " ")
}

// Taken returns the action that a key does in one of the places, or begins a sequence of; ""
// for a key that is free there.
func (m *Map) Taken(key string, places ...Place) Action {
	for _, p := range places {
		if a, ok := m.actions[p][key]; ok {
			return a
		}
		var found []Action
		for k, a := range m.actions[p] {
			if overlap(k, key) {
				found = append(found, a)
			}
		}
		if len(found) > 0 {
			return slices.Min(found)
		}
	}
	return ""
}

// Shortcut returns the key that an extension names for a shortcut in the editor. Why says why it
// does not count there, "" where it does.
func (m *Map) Shortcut(text string) (key, why string) {
	key, ok := Parse(text)
	if !ok {
		return "", "is no key such as alt+k or f5"
	}
	if key == "space" || utf8.RuneCountInString(key) == 1 {
		return key, "is a character that is typed"
	}
	if taken := m.Taken(key, Editor, Global); taken != "" {
		return key, "is the key of " + string(taken) + ", which keys.toml can change"
	}
	return key, ""
}

// Reader finds the actions of keys, sequences included.
type Reader struct {
	Map     *Map
	pending string
}

// Key returns the action that a key does in the first of the places that knows it; ""
// when none does. With more set it begins a sequence, or goes on in one, and nothing
// is to be done yet. A sequence that leads nowhere is dropped with its last key.
func (r *Reader) Key(key string, places ...Place) (action Action, more bool) {
	if r.pending != "" {
		key = r.pending + " " + key
	}
	r.pending = ""
	for _, p := range places {
		if a, ok := r.Map.actions[p][key]; ok {
			return a, false
		}
	}
	for _, p := range places {
		for k := range r.Map.actions[p] {
			if strings.HasPrefix(k, key+" ") {
				r.pending = key
				return "", true
			}
		}
	}
	return "", false
}

// Pending returns the keys of a sequence that has begun.
func (r *Reader) Pending() string { return r.pending }
