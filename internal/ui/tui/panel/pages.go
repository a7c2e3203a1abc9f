package panel

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/text/cell"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/prefs"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Typed is what is typed, as far as pages change it.
type Typed interface {
	AddNote(typed, scope, text string) tea.Cmd
	// Forget has the completion ask the host again, with what is typed after Changed.
	Forget()
	Changed() tea.Cmd
}

// Pages are the lists and texts about the session and the host which only show.
type Pages struct {
	Base
	typed Typed
}

// NewPages returns the pages.
func NewPages(b Base, typed Typed) *Pages { return &Pages{Base: b, typed: typed} }

// Context shows what fills the model's window.
func (x *Pages) Context() tea.Cmd {
	if x.Session.ID() == "" {
		x.Toasts.Info("nothing has been sent yet")
		return nil
	}
	return ask(x.Base, &protocol.GetContext{}, func(v *protocol.ContextView) tea.Cmd {
		x.Overlays.Page("Context", x.contextLines(v))
		return nil
	})
}

// Notices shows what was told, also what is seen no longer.
func (x *Pages) Notices() tea.Cmd {
	lines := x.Toasts.Past(x.Screen.Theme())
	if len(lines) == 0 {
		lines = []string{"There was no notice yet."}
	}
	x.Overlays.Page("Notices", lines)
	return nil
}

func (x *Pages) contextLines(v *protocol.ContextView) []string {
	row := func(name string, tokens, count int) string {
		what := ""
		if count > 0 {
			what = fmt.Sprintf("%6d×", count)
		}
		return fmt.Sprintf("%-14s %9s  %s  %s", name, plain.Thousands(tokens), x.share(tokens, v.Window, 20), what)
	}
	lines := []string{fmt.Sprintf("%s of %s tokens (estimated)", plain.Thousands(v.Tokens), plain.Thousands(v.Window)), ""}
	for _, p := range v.Parts {
		lines = append(lines, row(strings.Replace(string(p.Name), "toolResults", "tool results", 1), p.Tokens, p.Count))
	}
	return append(lines, row("reserved", v.Reserved, 0), row("free", v.Free, 0))
}

// share draws a part of a whole.
func (x *Pages) share(n, of, width int) string {
	if of <= 0 {
		return strings.Repeat(" ", width)
	}
	full := min(width, (n*width+of/2)/of)
	return x.Screen.Theme().Accent.On(strings.Repeat(x.Screen.Theme().Box.BarFull, full)) + x.Screen.Theme().Dim.On(strings.Repeat(x.Screen.Theme().Box.BarEmpty, width-full)) + fmt.Sprintf(" %3d%%", n*100/of)
}

// Cost shows what the session has used.
func (x *Pages) Cost() tea.Cmd {
	if x.Session.ID() == "" {
		x.Toasts.Info("nothing has been used yet")
		return nil
	}
	return ask(x.Base, &protocol.GetUsage{}, func(u *protocol.UsageReport) tea.Cmd {
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
		lines = append(lines, "", usageLine("all", 0, u.Total))
		if len(u.Limits) > 0 {
			lines = append(lines, "", "limits of the turn that runs")
		}
		for _, limit := range u.Limits {
			lines = append(lines, cell.Pad("  "+limitName(limit), 34)+" "+limit.String())
		}
		x.Overlays.Page("Cost", lines)
		return nil
	})
}

// limitName says what a limit bounds, and whose it is.
func limitName(u protocol.LimitUse) string {
	name := string(u.Kind)
	switch u.Where {
	case protocol.LimitAbove:
		name += " of the turn that it works for"
	case protocol.LimitOfDay:
		name += " of the day's automated runs"
	}
	return name
}

func usageLine(name string, calls int, u protocol.Usage) string {
	count := ""
	if calls > 0 {
		count = fmt.Sprint(calls)
	}
	return cell.Pad(cut(name, 34), 34) + fmt.Sprintf(" %6s %11s %11s %11s %9s", count, plain.Thousands(u.InputTokens), plain.Thousands(u.CacheReadTokens), plain.Thousands(u.OutputTokens), dollars(u))
}

// Doctor looks for what is wrong with the installation. Shortcuts are those of extensions that
// do not count.
func (x *Pages) Doctor(shortcuts []protocol.DoctorCheck) tea.Cmd {
	whole := map[string]protocol.DoctorCheck{} // by the id of its row, which may cut it
	p := &overlay.Picker{}
	p.OnPick = func(ids []string) tea.Cmd {
		if c, ok := whole[ids[0]]; ok {
			x.Overlays.PageOf(display.Line(c.ID), []string{display.Line(c.Text), display.Line(c.Advice)}, func() tea.Cmd { return x.Doctor(shortcuts) })
		}
		return nil
	}
	return table(x.Base, list.Config{Title: "Doctor", TwoLines: true, PickWord: "show"}, &protocol.Doctor{WorkDir: x.WorkDir}, func(r *protocol.DoctorReport) []list.Item {
		var items []list.Item
		for i, c := range slices.Concat(prefs.FindMistakes(x.Dir).Checks(), shortcuts, r.Checks) {
			id := fmt.Sprint(i, " ", c.ID)
			whole[id] = c
			it := list.Item{ID: id, Title: c.ID + ": " + c.Text, Detail: c.Advice, Mark: x.Screen.Theme().Box.Check, Tone: list.Good}
			switch c.State {
			case "warn":
				it.Mark, it.Tone = "!", list.Warn
			case "fail":
				it.Mark, it.Tone = x.Screen.Theme().Box.Cross, list.Bad
			}
			items = append(items, it)
		}
		return items
	}, p)
}

// Extensions shows the extensions; picking one switches it on or off.
func (x *Pages) Extensions() tea.Cmd {
	p := &overlay.Picker{}
	found := map[string]protocol.ExtensionInfo{}
	p.OnPick = func(ids []string) tea.Cmd {
		ext := found[ids[0]]
		on := ext.State == protocol.ExtensionDisabled
		return ask(x.Base, &protocol.EnableExtension{ID: ext.ID, Enabled: on}, func(_ *protocol.Done) tea.Cmd {
			x.Toasts.Info(ext.ID + map[bool]string{true: " is on", false: " is off"}[on] + " after /reload")
			return nil
		})
	}
	return table(x.Base, list.Config{Title: "Extensions", TwoLines: true, PickWord: "switch on or off", Empty: "No extensions. scorel extensions new NAME creates one."}, &protocol.ListExtensions{WorkDir: x.workDir()}, func(r *protocol.ExtensionList) []list.Item {
		var items []list.Item
		for _, ext := range r.Extensions {
			found[ext.ID] = ext
			it := list.Item{ID: ext.ID, Title: strings.TrimSpace(ext.ID + " " + ext.Version), Right: string(ext.State), Detail: ext.Problem}
			if it.Detail == "" {
				it.Detail = counted(len(ext.Tools), "tool") + ", " + counted(len(ext.Commands), "command") + ", " + counted(len(ext.Hooks), "hook") + " · " + ext.Path
			}
			it.Mark, it.Tone = x.stateMark(string(ext.State))
			items = append(items, it)
		}
		return append(items, problems(r.Problems)...)
	}, p)
}

// Skills shows the skills; picking one shows its text.
func (x *Pages) Skills() tea.Cmd {
	p := &overlay.Picker{}
	p.OnPick = func(ids []string) tea.Cmd {
		return ask(x.Base, &protocol.ListSkills{WorkDir: x.workDir(), Name: ids[0]}, func(r *protocol.SkillList) tea.Cmd {
			for _, s := range r.Skills {
				if s.Text != "" {
					x.Overlays.Page("Skill "+line(s.Name)+" "+line(s.Path), strings.Split(display.Text(s.Text), "\n"))
					return nil
				}
			}
			x.Toasts.Warn("the skill has no text that can be used")
			return nil
		})
	}
	return table(x.Base, list.Config{Title: "Skills", TwoLines: true, PickWord: "show", Empty: "No skills."}, &protocol.ListSkills{WorkDir: x.workDir()}, func(r *protocol.SkillList) []list.Item {
		var items []list.Item
		for _, s := range r.Skills {
			it := list.Item{ID: s.Name, Title: s.Name, Detail: s.Description, Right: s.Source}
			if len(s.Problems) > 0 {
				it.Detail = strings.Join(s.Problems, " ")
			}
			it.Mark, it.Tone = x.stateMark(s.State)
			items = append(items, it)
		}
		return append(items, problems(r.Problems)...)
	}, p)
}

// Tools shows the tools that the model has; picking one shows what the model reads of it.
func (x *Pages) Tools() tea.Cmd {
	if x.Session.ID() == "" {
		x.Toasts.Info("the tools of a session are known once it has begun")
		return nil
	}
	p := &overlay.Picker{}
	about := map[string]string{}
	p.OnPick = func(ids []string) tea.Cmd {
		x.Overlays.Page("Tool "+line(ids[0]), strings.Split(display.Text(about[ids[0]]), "\n"))
		return nil
	}
	return table(x.Base, list.Config{Title: "Tools", TwoLines: true, PickWord: "show"}, &protocol.ListTools{}, func(r *protocol.ToolList) []list.Item {
		var items []list.Item
		for _, t := range r.Tools {
			about[t.Name] = t.Description
			from := "built in"
			if t.Extension != "" {
				from = "extension " + line(t.Extension)
			} else if t.Server != "" {
				from = "MCP server " + line(t.Server)
			}
			if t.Deferred {
				from += ", searched for"
			}
			first, _, _ := strings.Cut(t.Description, "\n")
			items = append(items, list.Item{ID: t.Name, Title: t.Name, Detail: first, Right: string(t.Kind) + ", " + from})
		}
		if r.Omitted > 0 {
			items = append(items, list.Item{Title: plain.More(r.Omitted, "tool") + " that the model can search for"})
		}
		return items
	}, p)
}

// Agents shows the sub-agents that the model can start.
func (x *Pages) Agents() tea.Cmd {
	p, whole := x.whole(x.Agents)
	return table(x.Base, list.Config{Title: "Sub-agents", TwoLines: true, PickWord: "show"}, &protocol.ListAgents{WorkDir: x.workDir()}, func(r *protocol.AgentList) []list.Item {
		var items []list.Item
		for _, a := range r.Agents {
			whole[a.Scope+a.Name] = []string{line(a.Name) + " (" + line(a.Scope) + ")", line(a.Description), line(a.Problem)}
			it := list.Item{ID: a.Scope + a.Name, Title: a.Name, Color: a.Color, Detail: a.Description, Right: a.Scope}
			if a.Problem != "" {
				it.Detail = a.Problem
			}
			it.Mark, it.Tone = x.stateMark(a.State)
			items = append(items, it)
		}
		return append(items, problems(r.Problems)...)
	}, p)
}

// whole returns a picker that shows the lines of a row, of which the first is the title; back
// opens the list again.
func (x *Pages) whole(back func() tea.Cmd) (*overlay.Picker, map[string][]string) {
	rows := map[string][]string{}
	return &overlay.Picker{OnPick: func(ids []string) tea.Cmd {
		if of := rows[ids[0]]; len(of) > 0 {
			x.Overlays.PageOf(of[0], slices.DeleteFunc(slices.Clone(of[1:]), func(s string) bool { return s == "" }), back)
		}
		return nil
	}}, rows
}

// Hooks shows the shell hooks.
func (x *Pages) Hooks() tea.Cmd {
	p, whole := x.whole(x.Hooks)
	return table(x.Base, list.Config{Title: "Hooks", TwoLines: true, PickWord: "show", Empty: "No hooks. Add [[hooks]] to config.toml."}, &protocol.ListHooks{WorkDir: x.workDir()}, func(r *protocol.HookList) []list.Item {
		var items []list.Item
		for i, h := range r.Hooks {
			whole[fmt.Sprint(i)] = []string{line(h.Event + " " + h.Matcher), line(h.Command), line(h.Source), line(h.Problem)}
			it := list.Item{ID: fmt.Sprint(i), Title: strings.TrimSpace(h.Event + " " + h.Matcher), Detail: h.Command, Right: h.Source}
			if h.Problem != "" {
				it.Detail = h.Problem
			}
			it.Mark, it.Tone = x.stateMark(h.State)
			items = append(items, it)
		}
		return append(items, problems(r.Problems)...)
	}, p)
}

// Memory shows the notes, or adds one.
func (x *Pages) Memory(note string) tea.Cmd {
	if note != "" {
		return x.typed.AddNote("/memory "+note, "project", note)
	}
	files := map[string]protocol.MemoryFile{}
	p := &overlay.Picker{}
	p.OnPick = func(ids []string) tea.Cmd {
		x.Overlays.Page(line(ids[0]), strings.Split(display.Text(files[ids[0]].Text), "\n"))
		return nil
	}
	return table(x.Base, list.Config{Title: "Memory", PickWord: "show", Empty: "There is no note; # TEXT adds one for this project, ## TEXT one for all of yours."}, &protocol.GetMemory{WorkDir: x.workDir()}, func(v *protocol.MemoryView) []list.Item {
		p.List.SetTitle(fmt.Sprintf("Memory (%s tokens are sent to the model)", plain.Thousands(v.Tokens)))
		var items []list.Item
		for _, f := range v.Files {
			files[f.Path] = f
			items = append(items, list.Item{ID: f.Path, Title: f.Path, Right: fmt.Sprintf("%s bytes", plain.Thousands(int(f.Bytes))), Group: f.Scope})
		}
		if v.Problem != "" {
			items = append(items, problems([]string{v.Problem})...)
		}
		return items
	}, p)
}

// Reload loads extensions, skills and commands again.
func (x *Pages) Reload(then func() tea.Cmd) tea.Cmd {
	return ordered(x.Base, &protocol.Reload{}, func(r *protocol.Reloaded) tea.Cmd {
		x.Toasts.Info(fmt.Sprintf("loaded %s; there are %s, %s, %s and %s", counted(r.Extensions, "extension"), counted(r.Skills, "skill"),
			counted(r.Commands, "command"), counted(r.Agents, "agent"), counted(r.Hooks, "hook")))
		switch n := len(r.Problems); {
		case n == 1:
			x.Toasts.Warn(r.Problems[0])
		case n > 1: // as notices, they would not all be seen
			text := []string{}
			for _, p := range r.Problems {
				text = append(text, display.Line(p), "")
			}
			x.Overlays.Page(counted(n, "problem")+" of what was loaded", text[:len(text)-1])
		}
		x.typed.Forget()
		return tea.Batch(x.typed.Changed(), then())
	})
}
