package tui

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/theme"
)

// preferences are what the user has set for the UI, in files of the Scorel folder.
type preferences struct {
	dir      string
	settings prefs.Settings
	keys     keymap.Reader
	changed  loop.Then // takes settings that were read again
}

// readPreferences reads them. What is wrong with them is shown when there is a screen.
func readPreferences(dir string) (*preferences, prefs.Mistakes) {
	p := &preferences{dir: dir}
	return p, p.read()
}

func (p *preferences) read() prefs.Mistakes {
	var wrong prefs.Mistakes
	settings, problems := prefs.Read(p.dir)
	for _, w := range problems {
		wrong.Settings = append(wrong.Settings, w.String())
	}
	p.settings = settings
	p.keys = keymap.Reader{}
	p.keys.Map, wrong.Keys = keymap.Read(disk.OS(), filepath.Join(p.dir, "keys.toml"))
	return wrong
}

// Settings are those of tui.toml.
func (p *preferences) Settings() prefs.Settings { return p.settings }

// Themes names the themes that there are.
func (p *preferences) Themes() []string { return theme.List(filepath.Join(p.dir, "themes")) }

// Reread takes what has changed in the files.
func (p *preferences) Reread() tea.Cmd { return p.changed() }

// name is the key of an action, as a text writes it.
func (p *preferences) name(a keymap.Action) string { return p.keys.Map.Name(a) }

// hint names the key of an action.
func (p *preferences) hint(a keymap.Action) string { return p.keys.Map.Hint(a) }
