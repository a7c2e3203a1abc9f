package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/prefs"
	"scorel/protocol"
	"scorel/protocol/display"
)

// workDir is what requests that may do without a session are about.
func (m *Model) workDir() string {
	if m.id != "" {
		return ""
	}
	return m.cfg.WorkDir
}

// table lets the person look at the rows of something that is asked of the host.
func table[R protocol.Response](m *Model, cfg list.Config, req protocol.Request, rows func(m *Model, r R) []list.Item, p *picker) tea.Cmd {
	cfg.Can |= list.Filter
	cfg.Loading = true
	p.list = list.New(cfg)
	return tea.Batch(m.pick(p), load(m, p, req, rows))
}

// load asks for the rows of a picker.
func load[R protocol.Response](m *Model, p *picker, req protocol.Request, rows func(m *Model, r R) []list.Item) tea.Cmd {
	return ask(m, m.id, req, func(m *Model, r R, err error) tea.Cmd {
		if err != nil {
			p.list.SetProblem(err.Error())
			return nil
		}
		p.list.SetItems(rows(m, r))
		return p.wants(m)
	})
}

// openContext shows what fills the model's window.
func (m *Model) openContext() tea.Cmd {
	if m.id == "" {
		m.toast(levelInfo, "nothing was said yet")
		return nil
	}
	return ask(m, m.id, &protocol.GetContext{}, func(m *Model, v *protocol.ContextView, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			return nil
		}
		m.page("Context", m.contextLines(v))
		return nil
	})
}

func (m *Model) contextLines(v *protocol.ContextView) []string {
	row := func(name string, tokens, count int) string {
		what := ""
		if count > 0 {
			what = fmt.Sprintf("%6d×", count)
		}
		return fmt.Sprintf("%-14s %9s  %s  %s", name, thousands(tokens), m.share(tokens, v.Window, 20), what)
	}
	lines := []string{fmt.Sprintf("%s of %s tokens (estimated)", thousands(v.Tokens), thousands(v.Window)), ""}
	for _, p := range v.Parts {
		lines = append(lines, row(strings.Replace(string(p.Name), "toolResults", "tool results", 1), p.Tokens, p.Count))
	}
	return append(lines, row("reserved", v.Reserved, 0), row("free", v.Free, 0))
}

// share draws a part of a whole.
func (m *Model) share(n, of, width int) string {
	if of <= 0 {
		return strings.Repeat(" ", width)
	}
	full := min(width, (n*width+of/2)/of)
	return m.theme.Accent.On(strings.Repeat(m.theme.Box.BarFull, full)) + m.theme.Dim.On(strings.Repeat(m.theme.Box.BarEmpty, width-full)) + fmt.Sprintf(" %3d%%", n*100/of)
}

// openCost shows what the session has used.
func (m *Model) openCost() tea.Cmd {
	if m.id == "" {
		m.toast(levelInfo, "nothing was used yet")
		return nil
	}
	return ask(m, m.id, &protocol.GetUsage{}, func(m *Model, u *protocol.UsageReport, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			return nil
		}
		lines := []string{fmt.Sprintf("%-34s %6s %11s %11s %11s %9s", "", "calls", "in", "cached", "out", "cost"), ""}
		for _, r := range u.Rows {
			name := strings.TrimSpace(r.Model)
			switch r.Kind {
			case protocol.UsageSubagent:
				name = strings.TrimSpace("sub-agent " + r.Agent + " " + r.Model)
			case protocol.UsageSummary:
				name += " (summaries)"
			case protocol.UsageAside:
				name += " (titles and the like)"
			}
			lines = append(lines, usageLine(display.Line(name), r.Calls, r.Usage))
		}
		m.page("Cost", append(lines, "", usageLine("all", 0, u.Total)))
		return nil
	})
}

func usageLine(name string, calls int, u protocol.Usage) string {
	count := ""
	if calls > 0 {
		count = fmt.Sprint(calls)
	}
	return fmt.Sprintf("%-34s %6s %11s %11s %11s %9s", cut(name, 34), count, thousands(u.InputTokens), thousands(u.CacheReadTokens), thousands(u.OutputTokens), dollars(u))
}

// openConfig shows what is set, and where. Picking a key changes it.
func (m *Model) openConfig() tea.Cmd {
	p := &picker{}
	p.onPick = func(m *Model, ids []string) tea.Cmd { return m.editSetting(ids[0]) }
	p.onWants = func(m *Model, p *picker, w list.Wants) tea.Cmd {
		if w.Preview != "" {
			p.list.SetPreview(w.Preview, m.settingDoc(w.Preview, list.PreviewWidth(m.width)))
		}
		return nil
	}
	return table(m, list.Config{Title: "Configuration", Can: list.Preview}, &protocol.GetConfig{WorkDir: m.cfg.WorkDir}, func(m *Model, r *protocol.ConfigReport) []list.Item {
		m.config = r
		var items []list.Item
		for _, k := range prefs.Keys() {
			items = append(items, list.Item{ID: ownKey + k.Name, Title: k.Name, Detail: k.Value(m.settings), Group: "this UI (tui.toml)", Search: k.Doc})
		}
		for _, e := range r.Entries {
			it := list.Item{ID: e.Key, Title: e.Key, Detail: e.Value, Right: e.Source, Group: "the host (config.toml)", Search: e.Doc}
			items = append(items, it)
		}
		return items
	}, p)
}

// openDoctor looks for what is wrong with the installation.
func (m *Model) openDoctor() tea.Cmd {
	return table(m, list.Config{Title: "Doctor", TwoLines: true}, &protocol.Doctor{WorkDir: m.cfg.WorkDir}, func(m *Model, r *protocol.DoctorReport) []list.Item {
		var items []list.Item
		for _, c := range r.Checks {
			it := list.Item{ID: c.ID, Title: c.Text, Detail: c.Advice, Mark: m.theme.Box.Check, Tone: list.Good}
			switch c.State {
			case "warn":
				it.Mark, it.Tone = "!", list.Warn
			case "fail":
				it.Mark, it.Tone = m.theme.Box.Cross, list.Bad
			}
			items = append(items, it)
		}
		return items
	}, &picker{})
}

// openExtensions shows the extensions; picking one switches it on or off.
func (m *Model) openExtensions() tea.Cmd {
	p := &picker{}
	found := map[string]protocol.ExtensionInfo{}
	p.onPick = func(m *Model, ids []string) tea.Cmd {
		x := found[ids[0]]
		on := x.State == protocol.ExtensionDisabled
		return ask(m, m.id, &protocol.EnableExtension{ID: x.ID, Enabled: on}, func(m *Model, _ *protocol.Done, err error) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			m.toast(levelInfo, x.ID+map[bool]string{true: " is on", false: " is off"}[on]+" after /reload")
			return nil
		})
	}
	return table(m, list.Config{Title: "Extensions", TwoLines: true, Empty: "There is no extension; scorel extensions new NAME makes one."}, &protocol.ListExtensions{WorkDir: m.workDir()}, func(m *Model, r *protocol.ExtensionList) []list.Item {
		var items []list.Item
		for _, x := range r.Extensions {
			found[x.ID] = x
			it := list.Item{ID: x.ID, Title: strings.TrimSpace(x.ID + " " + x.Version), Right: string(x.State), Detail: x.Problem}
			if it.Detail == "" {
				it.Detail = counted(len(x.Tools), "tool") + ", " + counted(len(x.Commands), "command") + ", " + counted(len(x.Hooks), "hook") + " · " + x.Path
			}
			it.Mark, it.Tone = stateMark(m, string(x.State))
			items = append(items, it)
		}
		return append(items, problems(r.Problems)...)
	}, p)
}

// problems lists sentences about what does not count.
func problems(texts []string) []list.Item {
	var items []list.Item
	for i, t := range texts {
		items = append(items, list.Item{ID: fmt.Sprint("\x00", i), Title: t, Mark: "!", Tone: list.Warn, Group: "Problems", Disabled: "it is a problem"})
	}
	return items
}

func stateMark(m *Model, state string) (string, list.Tone) {
	switch state {
	case "loaded", "ok":
		return m.theme.Box.Check, list.Good
	case "failed", "broken", "stopped":
		return m.theme.Box.Cross, list.Bad
	case "untrusted", "changed":
		return "!", list.Warn
	}
	return m.theme.Box.Dot, list.Quiet
}

// openSkills shows the skills; picking one shows its text.
func (m *Model) openSkills() tea.Cmd {
	p := &picker{}
	p.onPick = func(m *Model, ids []string) tea.Cmd {
		return ask(m, m.id, &protocol.ListSkills{WorkDir: m.workDir(), Name: ids[0]}, func(m *Model, r *protocol.SkillList, err error) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			for _, s := range r.Skills {
				if s.Text != "" {
					m.page("Skill "+line(s.Name)+" "+line(s.Path), strings.Split(display.Text(s.Text), "\n"))
					return nil
				}
			}
			m.toast(levelWarning, "the skill has no text that counts")
			return nil
		})
	}
	return table(m, list.Config{Title: "Skills", TwoLines: true, Empty: "There is no skill."}, &protocol.ListSkills{WorkDir: m.workDir()}, func(m *Model, r *protocol.SkillList) []list.Item {
		var items []list.Item
		for _, s := range r.Skills {
			it := list.Item{ID: s.Name, Title: s.Name, Detail: s.Description, Right: s.Source}
			if len(s.Problems) > 0 {
				it.Detail = strings.Join(s.Problems, " ")
			}
			it.Mark, it.Tone = stateMark(m, s.State)
			items = append(items, it)
		}
		return append(items, problems(r.Problems)...)
	}, p)
}

// openTools shows the tools that the model has; picking one shows what the model reads of it.
func (m *Model) openTools() tea.Cmd {
	if m.id == "" {
		m.toast(levelInfo, "the tools of a session are known once it has begun")
		return nil
	}
	p := &picker{}
	about := map[string]string{}
	p.onPick = func(m *Model, ids []string) tea.Cmd {
		m.page("Tool "+line(ids[0]), strings.Split(display.Text(about[ids[0]]), "\n"))
		return nil
	}
	return table(m, list.Config{Title: "Tools", TwoLines: true}, &protocol.ListTools{}, func(m *Model, r *protocol.ToolList) []list.Item {
		var items []list.Item
		for _, t := range r.Tools {
			about[t.Name] = t.Description
			from := "built in"
			if t.Extension != "" {
				from = "extension " + line(t.Extension)
			}
			first, _, _ := strings.Cut(t.Description, "\n")
			items = append(items, list.Item{ID: t.Name, Title: t.Name, Detail: first, Right: string(t.Kind) + ", " + from})
		}
		return items
	}, p)
}

// openAgents shows the sub-agents that the model can start.
func (m *Model) openAgents() tea.Cmd {
	return table(m, list.Config{Title: "Sub-agents", TwoLines: true}, &protocol.ListAgents{WorkDir: m.workDir()}, func(m *Model, r *protocol.AgentList) []list.Item {
		var items []list.Item
		for _, a := range r.Agents {
			it := list.Item{ID: a.Scope + a.Name, Title: a.Name, Detail: a.Description, Right: a.Scope}
			if a.Problem != "" {
				it.Detail = a.Problem
			}
			it.Mark, it.Tone = stateMark(m, a.State)
			items = append(items, it)
		}
		return append(items, problems(r.Problems)...)
	}, &picker{})
}

// openHooks shows the shell hooks.
func (m *Model) openHooks() tea.Cmd {
	return table(m, list.Config{Title: "Hooks", TwoLines: true, Empty: "There is no hook; [[hooks]] in config.toml makes one."}, &protocol.ListHooks{WorkDir: m.workDir()}, func(m *Model, r *protocol.HookList) []list.Item {
		var items []list.Item
		for i, h := range r.Hooks {
			it := list.Item{ID: fmt.Sprint(i), Title: strings.TrimSpace(h.Event + " " + h.Matcher), Detail: h.Command, Right: h.Source}
			if h.Problem != "" {
				it.Detail = h.Problem
			}
			it.Mark, it.Tone = stateMark(m, h.State)
			items = append(items, it)
		}
		return append(items, problems(r.Problems)...)
	}, &picker{})
}

// openMCP says that there are none: no key does nothing.
func (m *Model) openMCP() tea.Cmd {
	m.toast(levelInfo, "MCP servers are not supported yet")
	return nil
}

// memory shows the notes, or adds one.
func (m *Model) memory(note string) tea.Cmd {
	if note != "" {
		return m.addNote("/memory "+note, "project", note)
	}
	files := map[string]protocol.MemoryFile{}
	p := &picker{}
	p.onPick = func(m *Model, ids []string) tea.Cmd {
		m.page(line(ids[0]), strings.Split(display.Text(files[ids[0]].Text), "\n"))
		return nil
	}
	return table(m, list.Config{Title: "Memory", Empty: "There is no note; # TEXT adds one for this project, ## TEXT one for all of yours."}, &protocol.GetMemory{WorkDir: m.workDir()}, func(m *Model, v *protocol.MemoryView) []list.Item {
		p.list.SetTitle(fmt.Sprintf("Memory (%s tokens are told to the model)", thousands(v.Tokens)))
		var items []list.Item
		for _, f := range v.Files {
			files[f.Path] = f
			items = append(items, list.Item{ID: f.Path, Title: f.Path, Right: fmt.Sprintf("%s bytes", thousands(int(f.Bytes))), Group: f.Scope})
		}
		if v.Problem != "" {
			items = append(items, problems([]string{v.Problem})...)
		}
		return items
	}, p)
}

// openHelp shows keys and commands.
func (m *Model) openHelp() tea.Cmd {
	cfg := list.Config{Title: "Help", Can: list.Filter}
	for _, c := range commands() {
		cfg.Items = append(cfg.Items, list.Item{ID: "/" + c.name, Title: strings.TrimSpace("/" + c.name + " " + c.hint), Detail: c.doc, Group: "Commands of this UI"})
	}
	for _, i := range keymap.Infos() {
		keys := strings.Join(m.keys.Map.Keys(i.Action), ", ")
		cfg.Items = append(cfg.Items, list.Item{ID: string(i.Action), Title: keys, Detail: i.Doc, Group: "Keys: " + string(i.Action.Place()), Search: string(i.Action)})
	}
	p := &picker{list: list.New(cfg)}
	p.onPick = func(m *Model, ids []string) tea.Cmd {
		if strings.HasPrefix(ids[0], "/") && m.editor.Empty() {
			m.editorSet(ids[0] + " ")
		}
		return m.typed()
	}
	return tea.Batch(m.pick(p), ask(m, m.id, &protocol.ListCommands{WorkDir: m.workDir()}, func(m *Model, r *protocol.CommandList, err error) tea.Cmd {
		if err != nil {
			return nil // those of the UI are there
		}
		items := slices.Clone(cfg.Items)
		for _, c := range r.Commands {
			if _, own := ownCommand(c.Name); !own {
				items = append(items, list.Item{ID: "/" + c.Name, Title: strings.TrimSpace("/" + c.Name + " " + c.ArgumentHint), Detail: c.Description, Right: c.Scope, Group: "Commands (" + string(c.Source) + ")"})
			}
		}
		p.list.SetItems(append(items, problems(r.Problems)...))
		return nil
	}))
}

// reload loads extensions, skills and commands again.
func (m *Model) reload() tea.Cmd {
	return askOrdered(m, &protocol.Reload{}, func(m *Model, r *protocol.Reloaded) tea.Cmd {
		m.toast(levelInfo, fmt.Sprintf("loaded %s; there are %s, %s, %s and %s", counted(r.Extensions, "extension"), counted(r.Skills, "skill"),
			counted(r.Commands, "command"), counted(r.Agents, "agent"), counted(r.Hooks, "hook")))
		for _, p := range r.Problems {
			m.toast(levelWarning, p)
		}
		m.popup.Forget()
		return m.typed()
	})
}
