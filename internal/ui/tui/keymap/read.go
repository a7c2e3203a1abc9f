package keymap

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/config"
	"scorel/internal/platform/disk"
	"scorel/internal/text/spelling"
)

// Bounds of the user's keys.
const (
	maxFile = 64 << 10 // bytes; a longer file is not read
	maxKeys = 16       // of an action
	maxLong = 4        // keys in a sequence
)

func newMap() *Map {
	return &Map{keys: map[Action][]string{}, actions: map[Place]map[string]Action{}}
}

// add returns a key to an action. It says which other action of the place has it, or a
// longer or shorter sequence with it, and leaves it there then.
func (m *Map) add(a Action, key string) (other Action, key2 string) {
	at := m.actions[a.Place()]
	if at == nil {
		at = map[string]Action{}
		m.actions[a.Place()] = at
	}
	for k, other := range at {
		if overlap(k, key) {
			if other != a || k != key {
				return other, k
			}
			return "", ""
		}
	}
	at[key] = a
	m.keys[a] = append(m.keys[a], key)
	return "", ""
}

// overlap says that two keys or sequences cannot both be in one place: they are the
// same, or one begins the other.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+" ") || strings.HasPrefix(b, a+" ")
}

// remove takes a key from whoever has it in a place.
func (m *Map) remove(p Place, key string) {
	a := m.actions[p][key]
	delete(m.actions[p], key)
	m.keys[a] = slices.DeleteFunc(slices.Clone(m.keys[a]), func(k string) bool { return k == key })
}

// Read returns the default keys with those of the user's file over them. A file that is
// not there changes nothing. Each line is an action with its keys, which replace the
// default ones and are taken from other actions of the place:
//
//	"editor.submit" = ["ctrl+enter", "ctrl+x ctrl+s"]
//	"global.suspend" = "none"
//
// It always gives a map; the problems, a sentence each with file and line, say what of
// the file does not count.
func Read(fsys disk.FS, file string) (*Map, []string) {
	data, err := disk.ReadEdited(fsys, file, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Default(), []string{fmt.Sprintf("the keys cannot be read, so the default ones are used: %v", err)}
	}
	leaves, err := config.Leaves(config.File{Name: file, Data: data})
	if err != nil {
		return Default(), []string{err.Error()}
	}
	return over(leaves, file)
}

// over sets what a file says.
func over(leaves []config.Leaf, file string) (*Map, []string) {
	var problems []string
	infos := Infos()
	set := map[Action]bool{}
	type line struct {
		action Action
		keys   []string
		at     int
	}
	var lines []line
	for _, l := range leaves {
		problem := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%s:%d)", file, l.Line))
		}
		a := Action(strings.Join(l.Path, "."))
		if !slices.ContainsFunc(infos, func(i Info) bool { return i.Action == a }) {
			problem("there is no action %q%s", a, meant(a, infos))
			continue
		}
		texts, ok := list(l.Value)
		if !ok || len(texts) > maxKeys {
			problem("the keys of %s are a list of at most %d, such as [\"ctrl+g\", \"ctrl+x ctrl+e\"], or \"none\"", a, maxKeys)
			continue
		}
		var keys []string
		for _, text := range texts {
			key, err := parse(text)
			if err != nil {
				problem("%s: %v", a, err)
				continue
			}
			keys = append(keys, key)
		}
		if len(keys) == 0 && len(texts) > 0 {
			continue // none of them counts: the default ones stay
		}
		set[a] = true
		lines = append(lines, line{a, keys, l.Line})
	}
	m := newMap()
	for _, info := range infos {
		if !set[info.Action] {
			for _, k := range info.Keys {
				m.add(info.Action, k)
			}
		}
	}
	mine := newMap() // what the file has given so far
	for _, l := range lines {
		for _, k := range l.keys {
			if other, k2 := mine.add(l.action, k); other != "" {
				problems = append(problems, fmt.Sprintf("%s cannot have the key %q: %s has %q (%s:%d)", l.action, k, other, k2, file, l.at))
				continue
			}
			for other := range m.actions[l.action.Place()] {
				if overlap(other, k) {
					m.remove(l.action.Place(), other)
				}
			}
		}
	}
	for _, l := range lines {
		for _, k := range mine.keys[l.action] {
			m.add(l.action, k)
		}
	}
	return m, problems
}

// list returns the texts of a value; "none" and an empty list have none.
func list(value any) ([]string, bool) {
	switch v := value.(type) {
	case string:
		if v == "none" {
			return nil, true
		}
		return []string{v}, true
	case []any:
		var all []string
		for _, x := range v {
			text, ok := x.(string)
			if !ok {
				return nil, false
			}
			all = append(all, text)
		}
		return all, true
	}
	return nil, false
}

// Parse reads a single key, as it is written in the user's file, and returns its name as
// [Reader.Key] takes it; false for what is none, or a sequence of several.
func Parse(text string) (key string, ok bool) {
	key, err := parse(text)
	return key, err == nil && !strings.Contains(key, " ")
}

// parse reads a key or a sequence and writes it as Bubble Tea names it.
func parse(text string) (string, error) {
	parts := strings.Fields(text)
	if len(parts) == 0 || len(parts) > maxLong {
		return "", fmt.Errorf("%q is not a key; write one such as ctrl+g, or up to %d with blanks between them", text, maxLong)
	}
	for i, p := range parts {
		k, ok := parseKey(p)
		if !ok {
			return "", fmt.Errorf("%q is not a key; write a character or a name such as enter, esc, tab, space, backspace, up, pgdown or f5, after ctrl+, alt+, shift+ or super+", p)
		}
		parts[i] = k
	}
	return strings.Join(parts, " "), nil
}

// modifiers is their order in a key's name.
const modifiers = "ctrl alt shift meta hyper super"

// names are the keys that are not characters, but for f1 to f24.
const names = "enter tab backspace esc space up down left right begin insert delete pgup pgdown home end menu plus"

func parseKey(text string) (string, bool) {
	on, rest := parseModifiers(text)
	name, ok := keyName(rest)
	if !ok {
		return "", false
	}
	if utf8.RuneCountInString(rest) == 1 {
		switch {
		case len(on) == 1 && on["shift"]:
			on["shift"], name = false, strings.ToUpper(rest) // it comes as text
		case len(on) > 0:
			name = strings.ToLower(rest)
		}
	}
	var b strings.Builder
	for mod := range strings.SplitSeq(modifiers, " ") {
		if on[mod] {
			b.WriteString(mod + "+")
		}
	}
	return b.String() + name, true
}

// parseModifiers reads the modifiers that a key begins with, and returns what follows.
func parseModifiers(text string) (on map[string]bool, rest string) {
	on, rest = map[string]bool{}, text
	for {
		mod, after, ok := strings.Cut(rest, "+")
		mod = strings.ToLower(mod)
		switch mod {
		case "control":
			mod = "ctrl"
		case "option", "opt":
			mod = "alt"
		case "cmd", "command":
			mod = "super"
		}
		if !ok || after == "" || mod == "" || !slices.Contains(strings.Fields(modifiers), mod) || on[mod] {
			return on, rest
		}
		on[mod], rest = true, after
	}
}

// keyName returns a key without its modifiers as the terminal names it; false for none.
func keyName(text string) (string, bool) {
	if utf8.RuneCountInString(text) <= 1 {
		r, _ := utf8.DecodeRuneInString(text)
		return text, r != utf8.RuneError && r > ' ' && r != 0x7f
	}
	name := strings.ToLower(text)
	switch name {
	case "return":
		name = "enter"
	case "escape":
		name = "esc"
	case "pageup":
		name = "pgup"
	case "pagedown":
		name = "pgdown"
	case "del":
		name = "delete"
	}
	var f int
	if n, _ := fmt.Sscanf(name, "f%d", &f); n == 1 && f >= 1 && f <= 24 {
		return fmt.Sprintf("f%d", f), true
	}
	return name, slices.Contains(strings.Fields(names), name)
}

// meant says which action may have been meant.
func meant(a Action, infos []Info) string {
	best, least := Action(""), 4
	for _, i := range infos {
		if d := spelling.Distance(strings.ToLower(string(a)), strings.ToLower(string(i.Action))); d < least {
			best, least = i.Action, d
		}
	}
	if best == "" {
		return "; /help lists them"
	}
	return fmt.Sprintf("; perhaps %q", best)
}
