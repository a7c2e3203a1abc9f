package panel

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/protocol"
)

// Models sets which model answers, how much it thinks, and what it may.
type Models struct {
	Base
	info *hostinfo.Info
}

// NewModels returns the pickers of models, levels and modes.
func NewModels(b Base, info *hostinfo.Info) *Models { return &Models{Base: b, info: info} }

// Set sets the model, or lets the person pick one, also where a name fits several.
func (x *Models) Set(name string) tea.Cmd {
	if name == "" {
		return x.Open("")
	}
	return askOf(x.Base, "", &protocol.ListModels{}, func(got *protocol.ModelList) tea.Cmd {
		x.info.SetModels(got.Models)
		switch found := named(got.Models, name); len(found) {
		case 0: // such as one of a script; the host knows
			return change(x.Base, protocol.MetaChanges{Model: &name})
		case 1:
			if !found[0].HasKey {
				x.Toasts.Warn(found[0].Ref + " needs a key: " + loginFor(found[0].Ref))
				return nil
			}
			return change(x.Base, protocol.MetaChanges{Model: &found[0].Ref})
		}
		x.Toasts.Info("several models fit " + line(name) + "; pick one")
		return x.Open(name)
	})
}

// named returns the models that a name can mean: the one of that reference, else those whose
// name it is without the provider, else those in whose references it is.
func named(models []protocol.ModelInfo, name string) []protocol.ModelInfo {
	fits := [...]func(ref string) bool{
		func(ref string) bool { return ref == name },
		func(ref string) bool { return strings.HasSuffix(ref, "/"+name) },
		func(ref string) bool { return strings.Contains(strings.ToLower(ref), strings.ToLower(name)) },
	}
	for _, fit := range fits {
		var found []protocol.ModelInfo
		for _, m := range models {
			if fit(m.Ref) {
				found = append(found, m)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// loginFor names the command that enters the key of a model.
func loginFor(ref string) string {
	provider, _, _ := strings.Cut(ref, "/")
	return "/login " + line(provider)
}

// Open lets the person pick a model: those that can be used, and with something typed all
// of them. The filter is typed already.
func (x *Models) Open(filter string) tea.Cmd {
	p := &overlay.Picker{List: list.New(list.Config{Title: "Models", Can: list.Filter | list.Query, Loading: true, On: x.Session.Live().Meta.Model,
		Empty: "There is no model with a key; /login enters one."})}
	p.List.Insert(filter)
	var usable, all []list.Item
	show := func() {
		switch {
		case all == nil: // they are on their way
		case filter == "":
			p.List.SetItems(usable)
		default:
			p.List.SetItems(all)
		}
	}
	p.OnWants = func(w list.Wants) tea.Cmd {
		if w.Asks {
			filter = w.Typed
			show()
		}
		return nil
	}
	p.OnPick = func(ids []string) tea.Cmd {
		return tea.Batch(change(x.Base, protocol.MetaChanges{Model: &ids[0]}), x.firstDefault(ids[0]))
	}
	return tea.Batch(x.Overlays.Pick(p), link.Ask(x.Link, "", &protocol.ListModels{}, func(got *protocol.ModelList, err error) tea.Cmd {
		if err != nil {
			p.List.SetProblem(err.Error())
			return nil
		}
		x.info.SetModels(got.Models)
		usable, all = modelItems(got.Models)
		show()
		return nil
	}))
}

// modelItems lists the models that can be used, those that the configuration names first,
// with a line about the others; and all of them.
func modelItems(models []protocol.ModelInfo) (usable, all []list.Item) {
	var keyed, keyless []list.Item
	for _, m := range models {
		it := list.Item{ID: m.Ref, Title: m.Ref, Detail: modelDetail(m), Right: fmt.Sprintf("%dk", m.ContextWindow/1000)}
		switch {
		case !m.HasKey:
			it.Mark, it.Tone, it.Disabled = "·", list.Quiet, "needs a key: "+loginFor(m.Ref)
			it.Group = "Need a key"
			keyless = append(keyless, it)
		case strings.Contains(m.Ref, "/"):
			it.Group = "Ready to use"
			keyed = append(keyed, it)
		default: // an alias: somebody has given it a name
			it.Group = "Favorites ([models] in config.toml)"
			usable = append(usable, it)
		}
	}
	usable = append(usable, keyed...)
	all = slices.Concat(usable, keyless)
	if n := len(keyless); n > 0 {
		usable = append(usable, list.Item{ID: "\x00keyless", Title: plain.More(n, "model") + " of providers without a key", Group: "Need a key", Disabled: "type to search them"})
	}
	return usable, all
}

// firstDefault makes the model that was picked that of new sessions, where the
// configuration names none yet.
func (x *Models) firstDefault(ref string) tea.Cmd {
	if ref == demoModel {
		return nil
	}
	set := func() tea.Cmd {
		if x.info.Setting("model.name") != "" {
			return nil
		}
		return ask(x.Base, &protocol.SetConfig{Key: "model.name", Value: ref}, func(_ *protocol.Done) tea.Cmd {
			x.Toasts.Info(ref + " is the model of new sessions from now on; /config changes that")
			return x.info.LoadConfig()
		})
	}
	return link.Ask(x.Link, x.Session.ID(), &protocol.GetConfig{WorkDir: x.WorkDir}, func(r *protocol.ConfigReport, err error) tea.Cmd {
		if err != nil {
			return nil // it stays the model of this session
		}
		x.info.SetConfig(r)
		return set()
	})
}

func modelDetail(x protocol.ModelInfo) string {
	var parts []string
	if x.Price != nil {
		parts = append(parts, fmt.Sprintf("$%g in, $%g out", x.Price.Input, x.Price.Output))
	}
	if x.Images {
		parts = append(parts, "images")
	}
	if x.Thinking {
		parts = append(parts, "thinks")
	}
	return strings.Join(parts, ", ")
}

// Thinking sets how much the model thinks, or lets the person pick.
func (x *Models) Thinking(level string) tea.Cmd {
	set := func(level string) tea.Cmd {
		return change(x.Base, protocol.MetaChanges{ThinkingLevel: &level})
	}
	if level != "" {
		return set(level)
	}
	var items []list.Item
	for _, l := range x.info.Levels() {
		items = append(items, list.Item{ID: l, Title: l})
	}
	p := &overlay.Picker{List: list.New(list.Config{Title: "Thinking", Items: items, On: x.info.Thinking()})}
	p.OnPick = func(ids []string) tea.Cmd { return set(ids[0]) }
	return x.Overlays.Pick(p)
}

// CycleThinking goes to the next thinking level.
func (x *Models) CycleThinking() tea.Cmd {
	levels := x.info.Levels()
	next := levels[(slices.Index(levels, x.info.Thinking())+1)%len(levels)]
	return change(x.Base, protocol.MetaChanges{ThinkingLevel: &next})
}

// Modes sets the permission mode, or lets the person pick.
func (x *Models) Modes(mode string) tea.Cmd {
	if mode != "" {
		return act(x.Base, &protocol.SetMode{Mode: mode}, "")
	}
	items := []list.Item{
		{ID: "default", Title: "default", Detail: "asks before anything changes"},
		{ID: "acceptEdits", Title: "acceptEdits", Detail: "edits of the project's files run without a question"},
		{ID: "plan", Title: "plan", Detail: "reads only, until a plan is approved"},
		{ID: "dontAsk", Title: "dontAsk", Detail: "what would be asked for is denied"},
		{ID: "bypassPermissions", Title: "bypassPermissions", Detail: "nothing is asked for; deny rules and the sandbox hold"},
	}
	p := &overlay.Picker{List: list.New(list.Config{Title: "Permission mode", Items: items, On: x.info.Mode()})}
	p.OnPick = func(ids []string) tea.Cmd { return x.SetMode(ids[0]) }
	return x.Overlays.Pick(p)
}

// SetMode sets a permission mode that there is.
func (x *Models) SetMode(mode string) tea.Cmd { return x.info.SetMode(mode, x.Toasts.Fail) }

// CycleMode goes to the next permission mode.
func (x *Models) CycleMode() tea.Cmd {
	modes := [...]string{"default", "acceptEdits", "plan"}
	next := modes[0]
	for i, mode := range modes {
		if mode == x.info.WantedMode() {
			next = modes[(i+1)%len(modes)]
		}
	}
	return x.SetMode(next)
}
