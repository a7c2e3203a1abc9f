package panel

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/disk"
	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// Preferences are what the user has set for the UI.
type Preferences interface {
	Settings() prefs.Settings
	Themes() []string // their names
	Reread() tea.Cmd  // takes what has changed in the files
}

// Settings shows and changes what is set for the UI and the host.
type Settings struct {
	Base
	info  *hostinfo.Info
	prefs Preferences
}

// NewSettings returns the settings.
func NewSettings(b Base, info *hostinfo.Info, p Preferences) *Settings {
	return &Settings{Base: b, info: info, prefs: p}
}

// ownKey begins the IDs of the UI's own settings in /config.
const ownKey = "tui."

// Open shows what is set, and where. Picking a key changes it.
func (x *Settings) Open() tea.Cmd {
	p := &overlay.Picker{}
	p.OnPick = func(ids []string) tea.Cmd { return x.edit(ids[0]) }
	p.OnWants = func(w list.Wants) tea.Cmd {
		if w.Preview != "" {
			p.List.SetPreview(w.Preview, x.doc(w.Preview, list.PreviewWidth(x.Screen.Width())))
		}
		return nil
	}
	return table(x.Base, list.Config{Title: "Configuration", Can: list.Preview}, &protocol.GetConfig{WorkDir: x.WorkDir}, func(r *protocol.ConfigReport) []list.Item {
		x.info.SetConfig(r)
		var items []list.Item
		for _, k := range prefs.Keys() {
			items = append(items, list.Item{ID: ownKey + k.Name, Title: k.Name, Detail: k.Value(x.prefs.Settings()), Group: "this UI (tui.toml)", Search: k.Doc})
		}
		for _, e := range r.Entries {
			it := list.Item{ID: e.Key, Title: e.Key, Detail: e.Value, Right: e.Source, Group: "the host (config.toml)", Search: e.Doc}
			items = append(items, it)
		}
		return items
	}, p)
}

// doc says what a setting is for.
func (x *Settings) doc(id string, width int) []string {
	var text []string
	if name, ok := strings.CutPrefix(id, ownKey); ok {
		i := slices.IndexFunc(prefs.Keys(), func(k prefs.Key) bool { return k.Name == name })
		k := prefs.Keys()[i]
		text = []string{k.Doc, "", "now: " + k.Value(x.prefs.Settings()), "default: " + k.Default}
		if len(k.Choices) > 0 {
			text = append(text, "one of: "+strings.Join(k.Choices, ", "))
		}
	} else if i := slices.IndexFunc(x.info.Config().Entries, func(e protocol.ConfigEntry) bool { return e.Key == id }); i >= 0 {
		e := x.info.Config().Entries[i]
		text = []string{e.Doc, "", "now: " + e.Value + " (" + e.Source + ")", "default: " + e.Default, "type: " + e.Type}
		if !e.Settable {
			text = append(text, "", "it is set in the file, not from here")
		}
	}
	var lines []string
	for _, t := range text {
		lines = append(lines, cell.Wrap(cell.Clean(t), max(1, width))...)
	}
	return lines
}

// edit lets the person change a setting.
func (x *Settings) edit(id string) tea.Cmd {
	if name, ok := strings.CutPrefix(id, ownKey); ok {
		i := slices.IndexFunc(prefs.Keys(), func(k prefs.Key) bool { return k.Name == name })
		k := prefs.Keys()[i]
		return x.value(k.Name, k.Doc, k.Value(x.prefs.Settings()), k.Choices, func(value string) tea.Cmd {
			if err := prefs.Set(disk.OS(), x.Dir, k.Name, value); err != nil {
				x.Toasts.Fail(err)
				return nil
			}
			return x.prefs.Reread()
		})
	}
	i := slices.IndexFunc(x.info.Config().Entries, func(e protocol.ConfigEntry) bool { return e.Key == id })
	if i < 0 { // the configuration has changed meanwhile
		return x.Open()
	}
	e := x.info.Config().Entries[i]
	if !e.Settable {
		x.Toasts.Info(e.Key + " cannot be set from here; it is in " + e.Source)
		return nil
	}
	choices := []string(nil)
	if e.Type == "boolean" {
		choices = []string{"true", "false"}
	} else if rest := strings.ReplaceAll(e.Type, " or ", ", "); strings.Contains(rest, ", ") {
		choices = strings.Split(rest, ", ")
	}
	return x.value(e.Key, e.Doc+" ("+e.Type+")", strings.Trim(e.Value, `"`), choices, func(value string) tea.Cmd {
		return ask(x.Base, &protocol.SetConfig{Key: e.Key, Value: value}, func(_ *protocol.Done) tea.Cmd {
			x.Toasts.Info(e.Key + " is set; it applies from the next turn on")
			return x.info.LoadConfig()
		})
	})
}

// value lets the person pick a value, or type one.
func (x *Settings) value(key, doc, value string, choices []string, set func(value string) tea.Cmd) tea.Cmd {
	if len(choices) > 0 {
		var items []list.Item
		for _, c := range choices {
			items = append(items, list.Item{ID: c, Title: c})
		}
		p := &overlay.Picker{List: list.New(list.Config{Title: key + ": " + doc, Items: items, On: value})}
		p.OnPick = func(ids []string) tea.Cmd { return set(ids[0]) }
		return x.Overlays.Pick(p)
	}
	return x.Overlays.Prompt(overlay.PromptConfig{Title: key, Message: doc, Text: value}, set)
}

// Themes picks how the UI looks.
func (x *Settings) Themes(name string) tea.Cmd {
	set := func(name string) tea.Cmd {
		if err := prefs.Set(disk.OS(), x.Dir, "theme", name); err != nil {
			x.Toasts.Fail(err)
			return nil
		}
		return x.prefs.Reread()
	}
	all := x.prefs.Themes()
	switch {
	case slices.Contains(all, name):
		return set(name)
	case name != "":
		x.Toasts.Fail(fmt.Errorf("there is no theme %q; choose one of %s", name, strings.Join(all, ", ")))
		return nil
	}
	var items []list.Item
	for _, n := range all {
		it := list.Item{ID: n, Title: n}
		if n == theme.Auto {
			it.Detail = "dark or light, as the terminal's background"
		}
		items = append(items, it)
	}
	p := &overlay.Picker{List: list.New(list.Config{Title: "Theme", Items: items, On: x.prefs.Settings().Theme})}
	p.OnPick = func(ids []string) tea.Cmd { return set(ids[0]) }
	return x.Overlays.Pick(p)
}
