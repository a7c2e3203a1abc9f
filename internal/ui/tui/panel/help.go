package panel

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/slash"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/protocol"
)

// Help is the list of keys and commands.
type Help struct {
	Base
	editor   Editor
	commands []protocol.CommandInfo
}

// NewHelp returns the help with the commands of the UI itself.
func NewHelp(b Base, e Editor, commands []protocol.CommandInfo) *Help {
	return &Help{Base: b, editor: e, commands: commands}
}

// Open shows keys and commands.
func (x *Help) Open(keys *keymap.Map) tea.Cmd {
	cfg := list.Config{Title: "Help", Can: list.Filter}
	for _, c := range x.commands {
		cfg.Items = append(cfg.Items, list.Item{ID: "/" + c.Name, Title: strings.TrimSpace("/" + c.Name + " " + c.ArgumentHint), Detail: c.Description, Group: "Commands of this UI"})
	}
	for _, i := range keymap.Infos() {
		keys := strings.Join(keys.Keys(i.Action), ", ")
		cfg.Items = append(cfg.Items, list.Item{ID: string(i.Action), Title: keys, Detail: i.Doc, Group: "Keys: " + string(i.Action.Place()), Search: string(i.Action)})
	}
	p := &overlay.Picker{List: list.New(cfg)}
	p.OnPick = func(ids []string) tea.Cmd {
		if strings.HasPrefix(ids[0], "/") && x.editor.Empty() {
			return x.editor.Set(ids[0] + " ")
		}
		return nil
	}
	return tea.Batch(x.Overlays.Pick(p), link.Ask(x.Link, x.Session.ID(), &protocol.ListCommands{WorkDir: x.workDir()}, func(r *protocol.CommandList, err error) tea.Cmd {
		if err != nil {
			return nil // those of the UI are there
		}
		items, others := slices.Clone(cfg.Items), []list.Item{}
		works := map[string]string{}
		for _, k := range Shortcuts(keys, r.Commands) {
			if k.Why == "" {
				works[k.Command.Name] = k.Text
			}
		}
		for _, c := range slash.Beside(slash.Screen, r.Commands) {
			if key, ok := works[c.Name]; ok {
				items = append(items, list.Item{ID: "/" + c.Name, Title: key, Detail: c.Description, Right: c.Origin, Group: "Keys: extensions", Search: c.Name})
				continue
			}
			others = append(others, list.Item{ID: "/" + c.Name, Title: strings.TrimSpace("/" + c.Name + " " + c.ArgumentHint), Detail: c.Description, Right: c.Scope, Group: "Commands (" + string(c.Source) + ")"})
		}
		slices.SortStableFunc(others, func(a, b list.Item) int { return strings.Compare(a.Group, b.Group) })
		p.List.SetItems(slices.Concat(items, others, problems(r.Problems)))
		return nil
	}))
}
