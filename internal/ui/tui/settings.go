package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/cell"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// ownKey begins the IDs of the UI's own settings in /config.
const ownKey = "tui."

// setting gives the value in force of a key of the host's configuration, "" while it is
// not known.
func (m *Model) setting(key string) string {
	if m.config == nil {
		return ""
	}
	i := slices.IndexFunc(m.config.Entries, func(e protocol.ConfigEntry) bool { return e.Key == key })
	if i < 0 {
		return ""
	}
	return strings.Trim(m.config.Entries[i].Value, `"`)
}

// loadConfig asks for the configuration, for the status line and the pickers.
func (m *Model) loadConfig() tea.Cmd {
	return ask(m, m.id, &protocol.GetConfig{WorkDir: m.cfg.WorkDir}, func(m *Model, r *protocol.ConfigReport, err error) tea.Cmd {
		if err == nil { // without it the status line shows less
			m.config = r
		}
		return m.firstRun()
	})
}

// settingDoc says what a setting is for.
func (m *Model) settingDoc(id string, width int) []string {
	var text []string
	if name, ok := strings.CutPrefix(id, ownKey); ok {
		i := slices.IndexFunc(prefs.Keys(), func(k prefs.Key) bool { return k.Name == name })
		k := prefs.Keys()[i]
		text = []string{k.Doc, "", "now: " + k.Value(m.settings), "default: " + k.Default}
		if len(k.Choices) > 0 {
			text = append(text, "one of: "+strings.Join(k.Choices, ", "))
		}
	} else if i := slices.IndexFunc(m.config.Entries, func(e protocol.ConfigEntry) bool { return e.Key == id }); i >= 0 {
		e := m.config.Entries[i]
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

// editSetting lets the person change a setting.
func (m *Model) editSetting(id string) tea.Cmd {
	if name, ok := strings.CutPrefix(id, ownKey); ok {
		i := slices.IndexFunc(prefs.Keys(), func(k prefs.Key) bool { return k.Name == name })
		k := prefs.Keys()[i]
		return m.edited(k.Name, k.Doc, k.Value(m.settings), k.Choices, func(m *Model, value string) tea.Cmd {
			if err := prefs.Set(disk.OS(), m.cfg.Dir, k.Name, value); err != nil {
				m.fail(err)
				return nil
			}
			return m.reread()
		})
	}
	i := slices.IndexFunc(m.config.Entries, func(e protocol.ConfigEntry) bool { return e.Key == id })
	if i < 0 { // the configuration has changed meanwhile
		return m.openConfig()
	}
	e := m.config.Entries[i]
	if !e.Settable {
		m.toast(levelInfo, e.Key+" cannot be set from here; it stands in "+e.Source)
		return nil
	}
	choices := []string(nil)
	if e.Type == "boolean" {
		choices = []string{"true", "false"}
	} else if rest := strings.ReplaceAll(e.Type, " or ", ", "); strings.Contains(rest, ", ") {
		choices = strings.Split(rest, ", ")
	}
	return m.edited(e.Key, e.Doc+" ("+e.Type+")", strings.Trim(e.Value, `"`), choices, func(m *Model, value string) tea.Cmd {
		return ask(m, m.id, &protocol.SetConfig{Key: e.Key, Value: value}, func(m *Model, _ *protocol.Done, err error) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			m.toast(levelInfo, e.Key+" is set; it counts from the next turn on")
			return m.loadConfig()
		})
	})
}

// edited lets the person pick a value, or type one.
func (m *Model) edited(key, doc, value string, choices []string, set func(m *Model, value string) tea.Cmd) tea.Cmd {
	if len(choices) > 0 {
		var items []list.Item
		for _, c := range choices {
			items = append(items, list.Item{ID: c, Title: c})
		}
		p := &picker{list: list.New(list.Config{Title: key + ": " + doc, Items: items, On: value})}
		p.onPick = func(m *Model, ids []string) tea.Cmd { return set(m, ids[0]) }
		return m.pick(p)
	}
	return m.prompt(promptConfig{title: key, message: doc, text: value}, set)
}

// openThemes picks how the UI looks.
func (m *Model) openThemes(name string) tea.Cmd {
	set := func(m *Model, name string) tea.Cmd {
		if err := prefs.Set(disk.OS(), m.cfg.Dir, "theme", name); err != nil {
			m.fail(err)
			return nil
		}
		return m.reread()
	}
	if name != "" {
		return set(m, name)
	}
	var items []list.Item
	for _, n := range m.themeNames() {
		it := list.Item{ID: n, Title: n}
		if n == theme.Auto {
			it.Detail = "dark or light, as the terminal's background"
		}
		items = append(items, it)
	}
	p := &picker{list: list.New(list.Config{Title: "Theme", Items: items, On: m.settings.Theme})}
	p.onPick = func(m *Model, ids []string) tea.Cmd { return set(m, ids[0]) }
	return m.pick(p)
}

// openLogin enters the key of a provider: it goes to the host's file of keys and is
// tried at once.
func (m *Model) openLogin(provider string) tea.Cmd {
	if prefs.Private("/login " + provider) {
		m.toast(levelWarning, "the key does not belong in the command: /login PROVIDER asks for it, unseen. What was typed is kept nowhere")
		return nil
	}
	if provider != "" {
		return m.enterKey(provider)
	}
	p := &picker{list: list.New(list.Config{Title: "Whose key?", Can: list.Filter, Loading: true})}
	p.onPick = func(m *Model, ids []string) tea.Cmd { return m.enterKey(ids[0]) }
	return tea.Batch(m.pick(p), ask(m, "", &protocol.ListModels{}, func(m *Model, got *protocol.ModelList, err error) tea.Cmd {
		items := []list.Item{{ID: "anthropic", Title: "anthropic", Detail: "Claude"}, {ID: "openai", Title: "openai", Detail: "GPT"}, {ID: "google", Title: "google", Detail: "Gemini"}, {ID: "openrouter", Title: "openrouter", Detail: "models of many"}}
		if err == nil {
			for _, x := range got.Models {
				name, _, ok := strings.Cut(x.Ref, "/")
				if !ok {
					continue
				}
				i := slices.IndexFunc(items, func(it list.Item) bool { return it.ID == name })
				if i < 0 {
					items = append(items, list.Item{ID: name, Title: name})
					i = len(items) - 1
				}
				if x.HasKey {
					items[i].Right = "has a key"
				}
			}
		}
		p.list.SetItems(items)
		return nil
	}))
}

// enterKey asks for a key, keeps it, and tries it.
func (m *Model) enterKey(provider string) tea.Cmd {
	return m.askKey(provider, "It is kept in "+filepath.Join(m.cfg.Dir, "credentials.json")+", which only you can read, and goes to the provider alone.")
}

// askKey says something and asks for a key. One that the provider refuses is not kept,
// and is asked for again.
func (m *Model) askKey(provider, message string) tea.Cmd {
	return m.prompt(promptConfig{title: "The key of " + line(provider), message: message, secret: true},
		func(m *Model, key string) tea.Cmd {
			if key = strings.TrimSpace(key); key == "" {
				return nil
			}
			return ask(m, "", &protocol.SetCredential{Provider: provider, Key: key}, func(m *Model, _ *protocol.Done, err error) tea.Cmd {
				if err != nil {
					m.fail(err)
					return nil
				}
				m.toast(levelInfo, "the key is kept; asking a model for a word")
				return m.tryKey(provider)
			})
		})
}

// tryKey asks a model of a provider for a word, and offers its models.
func (m *Model) tryKey(provider string) tea.Cmd {
	return ask(m, "", &protocol.ListModels{Query: provider}, func(m *Model, got *protocol.ModelList, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			return nil
		}
		i := slices.IndexFunc(got.Models, func(x protocol.ModelInfo) bool { return x.Ref == provider || strings.HasPrefix(x.Ref, provider+"/") })
		if i < 0 {
			m.toast(levelWarning, "no model of "+provider+" is known; an alias in config.toml describes one")
			return nil
		}
		ref, filter := got.Models[i].Ref, provider+"/"
		if ref == provider { // an alias
			filter = provider
		}
		return tea.Batch(m.loadModels(), ask(m, "", &protocol.TestModel{Model: ref}, func(m *Model, t *protocol.ModelTest, err error) tea.Cmd {
			switch {
			case err != nil:
				m.fail(err)
			case t.Code == protocol.CodeAuthFailed:
				return m.refusedKey(provider, t.Problem)
			case t.Problem != "":
				m.toast(levelError, t.Problem+" The key is kept; /model goes on with it.")
			default:
				m.toast(levelInfo, fmt.Sprintf("%s answers (%d ms)", t.Ref, t.LatencyMS))
				return m.openModels(filter)
			}
			return nil
		}))
	})
}

// refusedKey forgets a key that the provider does not take, and asks for another one.
func (m *Model) refusedKey(provider, why string) tea.Cmd {
	return ask(m, "", &protocol.SetCredential{Provider: provider}, func(m *Model, _ *protocol.Done, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			return nil
		}
		return tea.Batch(m.loadModels(), m.askKey(provider, display.Text(why)+" That key was not kept; enter another one, or leave with "+m.hint("list.close")+"."))
	})
}

// logout forgets the key of a provider.
func (m *Model) logout(provider string) tea.Cmd {
	if provider == "" {
		m.toast(levelWarning, "say whose: /logout PROVIDER")
		return nil
	}
	return ask(m, "", &protocol.SetCredential{Provider: provider}, func(m *Model, _ *protocol.Done, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			return nil
		}
		m.toast(levelInfo, "the key of "+provider+" is forgotten")
		return m.loadModels()
	})
}

// prompt asks for a line.
func (m *Model) prompt(cfg promptConfig, f func(m *Model, text string) tea.Cmd) tea.Cmd {
	p := &prompt{cfg: cfg, done: f}
	p.field.Insert(cfg.text)
	m.open(p)
	return nil
}
