package prefs

import (
	"fmt"
	"path/filepath"
	"strings"

	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// Mistakes are what does not count in the user's files for the UI.
type Mistakes struct {
	Settings, Keys, Theme []string // a sentence each, with file and line
}

// FindMistakes reads the files in a folder.
func FindMistakes(dir string) Mistakes {
	s, wrong := Read(dir)
	var m Mistakes
	for _, w := range wrong {
		m.Settings = append(m.Settings, w.String())
	}
	_, m.Keys = keymap.Read(disk.OS(), filepath.Join(dir, "keys.toml"))
	_, m.Theme = theme.New(theme.Options{Name: s.Theme, Dir: filepath.Join(dir, "themes"), FS: disk.OS()})
	return m
}

// Notice tells of them in one notice, as several would not all be seen; "" is none.
func (m Mistakes) Notice() string {
	var files []string
	var all []string
	for _, of := range []struct {
		name  string
		texts []string
	}{{"tui.toml", m.Settings}, {"keys.toml", m.Keys}, {"the theme", m.Theme}} {
		if n := len(of.texts); n > 0 {
			files = append(files, fmt.Sprintf("%d in %s", n, of.name))
			all = append(all, of.texts...)
		}
	}
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0]
	}
	return fmt.Sprintf("%d mistakes (%s); /doctor shows all. The first: %s", len(all), strings.Join(files, ", "), all[0])
}

// Checks returns a check that warns for each.
func (m Mistakes) Checks() []protocol.DoctorCheck {
	var checks []protocol.DoctorCheck
	add := func(id, advice string, texts []string) {
		for _, t := range texts {
			checks = append(checks, protocol.DoctorCheck{ID: id, State: "warn", Text: t, Advice: advice})
		}
	}
	add("ui-settings", "Correct this line of tui.toml; where the file is TOML, the rest of it counts.", m.Settings)
	add("ui-keys", "Correct this line of keys.toml; where the file is TOML, the rest of it counts.", m.Keys)
	add("ui-theme", "Correct this line of the theme, or choose another theme in tui.toml.", m.Theme)
	return checks
}
