package panel

import (
	"strings"

	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
)

// Shortcut is a key of an extension.
type Shortcut struct {
	Command protocol.CommandInfo // that it runs
	Text    string               // the key as the extension writes it
	Key     string               // as the keymap names it
	Why     string               // why it does not count, "" where it does
}

// Shortcuts returns the shortcuts among the commands of a session.
func Shortcuts(keys *keymap.Map, commands []protocol.CommandInfo) []Shortcut {
	var all []Shortcut
	owners := map[string]string{}
	for _, c := range commands {
		text, ok := shortcutOf(c)
		if !ok {
			continue
		}
		key, why := keys.Shortcut(text)
		switch {
		case why != "":
		case owners[key] != "":
			why = "is a shortcut of " + owners[key] + " already"
		default:
			owners[key] = c.Origin
		}
		all = append(all, Shortcut{c, text, key, why})
	}
	return all
}

// shortcutOf returns the key of a command that is a shortcut.
func shortcutOf(c protocol.CommandInfo) (key string, ok bool) {
	if c.Source != protocol.CommandExtension {
		return "", false
	}
	key, ok = strings.CutPrefix(c.Name, protocol.ShortcutPrefix)
	for _, owner := range []string{c.Origin, string(protocol.CommandExtension)} { // several have it
		if k, found := strings.CutSuffix(key, ":"+owner); found && k != "" {
			return k, ok
		}
	}
	return key, ok
}
