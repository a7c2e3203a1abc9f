package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/list"
	"scorel/protocol"
)

// loadModels asks which models there are: for the status line, and for the first run.
func (m *Model) loadModels() tea.Cmd {
	return ask(m, "", &protocol.ListModels{}, func(m *Model, got *protocol.ModelList, err error) tea.Cmd {
		if err != nil {
			return nil // the picker says it
		}
		m.setModels(got.Models)
		return m.firstRun()
	})
}

// pickModel sets the model, or lets the person pick one.
func (m *Model) pickModel(name string) tea.Cmd {
	if name != "" {
		return m.change(protocol.MetaChanges{Model: &name})
	}
	return m.openModels("")
}

// openModels lets the person pick a model. The filter is typed already.
func (m *Model) openModels(filter string) tea.Cmd {
	p := &picker{list: list.New(list.Config{Title: "Models", Can: list.Filter, Loading: true, On: m.live().Meta.Model,
		Empty: "There is no model with a key; /login enters one."})}
	p.list.Insert(filter)
	p.onPick = func(m *Model, ids []string) tea.Cmd {
		return tea.Batch(m.change(protocol.MetaChanges{Model: &ids[0]}), m.firstDefault(ids[0]))
	}
	return tea.Batch(m.pick(p), ask(m, "", &protocol.ListModels{}, func(m *Model, got *protocol.ModelList, err error) tea.Cmd {
		if err != nil {
			p.list.SetProblem(err.Error())
			return nil
		}
		m.setModels(got.Models)
		var items []list.Item
		for _, x := range got.Models {
			it := list.Item{ID: x.Ref, Title: x.Ref, Detail: modelDetail(x), Right: fmt.Sprintf("%dk", x.ContextWindow/1000)}
			if !x.HasKey {
				it.Mark, it.Tone, it.Detail = "·", list.Quiet, "no key: /login"
			}
			items = append(items, it)
		}
		p.list.SetItems(items)
		return nil
	}))
}

// firstDefault makes the model that was picked that of new sessions, where the
// configuration names none yet.
func (m *Model) firstDefault(ref string) tea.Cmd {
	if ref == demoModel {
		return nil
	}
	set := func(m *Model) tea.Cmd {
		if m.setting("model.name") != "" {
			return nil
		}
		return ask(m, m.id, &protocol.SetConfig{Key: "model.name", Value: ref}, func(m *Model, _ *protocol.Done, err error) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			m.toast(levelInfo, ref+" is the model of new sessions from now on; /config changes that")
			return m.loadConfig()
		})
	}
	return ask(m, m.id, &protocol.GetConfig{WorkDir: m.cfg.WorkDir}, func(m *Model, r *protocol.ConfigReport, err error) tea.Cmd {
		if err != nil {
			return nil // it stays the model of this session
		}
		m.config = r
		return set(m)
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

// model describes the model of the session; false when it is not known. Every frame asks,
// and there are thousands of models, so the last one is kept.
func (m *Model) model() (protocol.ModelInfo, bool) {
	if name := m.modelName(); m.described == nil || m.described.name != name {
		m.described = &described{name: name, at: slices.IndexFunc(m.models, func(x protocol.ModelInfo) bool {
			provider, ok := strings.CutSuffix(x.Ref, name)
			return ok && (provider == "" || strings.HasSuffix(provider, "/"))
		})}
	}
	if m.described.at < 0 {
		return protocol.ModelInfo{}, false
	}
	return m.models[m.described.at], true
}

// described is where the description of a model stands in the list of models.
type described struct {
	name string
	at   int // -1 for one that is not in it
}

// setModels takes the list of models.
func (m *Model) setModels(models []protocol.ModelInfo) { m.models, m.described = models, nil }

// modelName names the model that answers: the session's, else the one that answered
// last, else the configured one.
func (m *Model) modelName() string {
	if name := m.live().Meta.Model; name != "" {
		return name
	}
	if name := m.cfg.Start.Model; name != "" && m.id == "" {
		return name
	}
	if m.answered != "" {
		return m.answered
	}
	return m.setting("model.name")
}

// callable says whether a model other than the demo's can be called, as far as it is
// known.
func (m *Model) callable() bool {
	return slices.ContainsFunc(m.models, func(x protocol.ModelInfo) bool { return x.HasKey })
}

// modelHint says how to have a model where none is chosen.
func (m *Model) modelHint() string {
	switch {
	case m.models == nil || m.config == nil:
		return ""
	case m.callable():
		return "No model is chosen yet: /model picks one. Until then the demo answers."
	}
	return "No model can be called yet: /login keeps a key for one."
}

// levels gives the thinking levels of the model.
func (m *Model) levels() []string {
	if x, ok := m.model(); ok && len(x.ThinkingLevels) > 0 {
		return x.ThinkingLevels
	}
	return protocol.ThinkingLevels()
}

// openThinking sets how much the model thinks, or lets the person pick.
func (m *Model) openThinking(level string) tea.Cmd {
	set := func(m *Model, level string) tea.Cmd {
		return m.change(protocol.MetaChanges{ThinkingLevel: &level})
	}
	if level != "" {
		return set(m, level)
	}
	var items []list.Item
	for _, l := range m.levels() {
		items = append(items, list.Item{ID: l, Title: l})
	}
	p := &picker{list: list.New(list.Config{Title: "Thinking", Items: items, On: m.thinking()})}
	p.onPick = func(m *Model, ids []string) tea.Cmd { return set(m, ids[0]) }
	return m.pick(p)
}

func (m *Model) thinking() string {
	if level := m.live().Meta.ThinkingLevel; level != "" {
		return level
	}
	if level := m.cfg.Start.Thinking; level != "" && m.id == "" {
		return level
	}
	return m.setting("model.thinking")
}

// cycleThinking goes to the next thinking level.
func (m *Model) cycleThinking() tea.Cmd {
	levels := m.levels()
	next := levels[(slices.Index(levels, m.thinking())+1)%len(levels)]
	return m.change(protocol.MetaChanges{ThinkingLevel: &next})
}

// openModes sets the permission mode, or lets the person pick.
func (m *Model) openModes(mode string) tea.Cmd {
	if mode != "" {
		return m.act(&protocol.SetMode{Mode: mode}, "")
	}
	items := []list.Item{
		{ID: "default", Title: "default", Detail: "asks before anything changes"},
		{ID: "acceptEdits", Title: "acceptEdits", Detail: "edits of the project's files run without a question"},
		{ID: "plan", Title: "plan", Detail: "reads only, until a plan is approved"},
		{ID: "dontAsk", Title: "dontAsk", Detail: "what would be asked for is denied"},
		{ID: "bypassPermissions", Title: "bypassPermissions", Detail: "nothing is asked for; deny rules and the sandbox hold"},
	}
	p := &picker{list: list.New(list.Config{Title: "Permission mode", Items: items, On: m.mode()})}
	p.onPick = func(m *Model, ids []string) tea.Cmd { return m.setMode(ids[0]) }
	return m.pick(p)
}

// setMode sets a permission mode that there is: of the session, or where none is open yet
// of the next one, which is not made for that.
func (m *Model) setMode(mode string) tea.Cmd {
	m.nextMode = mode
	return inOrder(m, func(ctx context.Context, l *link) (struct{}, error) {
		return struct{}{}, l.setMode(ctx, mode)
	}, func(m *Model, _ struct{}, err error) tea.Cmd {
		if m.nextMode == mode {
			m.nextMode = ""
		}
		if err != nil {
			m.fail(err)
		} else if m.id == "" {
			m.startMode = mode
		}
		return nil
	})
}

// mode is the permission mode in force.
func (m *Model) mode() string {
	if mode := m.live().Mode; mode != "" {
		return mode
	}
	if mode := m.startMode; mode != "" && m.id == "" {
		return mode
	}
	if mode := m.setting("permissions.mode"); mode != "" {
		return mode
	}
	return "default"
}
