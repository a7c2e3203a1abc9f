package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/slash"
	"scorel/protocol"
)

// command is a slash command that the UI handles itself; the host has the others.
type command struct {
	slash.Command
	run func(m *Model, args string) tea.Cmd
}

// commands returns the commands of the UI.
func commands() []command {
	runs := handlers()
	var all []command
	for _, c := range slash.For(slash.Screen) {
		all = append(all, command{c, runs[c.Name]})
	}
	return all
}

// handlers says what each command of the UI does, by its name in package slash.
func handlers() map[string]func(m *Model, args string) tea.Cmd {
	return map[string]func(m *Model, args string) tea.Cmd{
		"add":            func(m *Model, file string) tea.Cmd { return m.input.Add(file) },
		"bg":             func(m *Model, prompt string) tea.Cmd { return m.panels.sessions.Background(prompt) },
		"clone":          func(m *Model, name string) tea.Cmd { return m.panels.sessions.Clone(name) },
		"compact":        func(m *Model, keep string) tea.Cmd { return m.panels.branches.Compact(keep) },
		"config":         simple(func(m *Model) tea.Cmd { return m.panels.settings.Open() }),
		"context":        simple(func(m *Model) tea.Cmd { return m.panels.pages.Context() }),
		"copy":           simple(func(m *Model) tea.Cmd { return m.reading.copyAnswer() }),
		"cost":           simple(func(m *Model) tea.Cmd { return m.panels.pages.Cost() }),
		"doctor":         simple(func(m *Model) tea.Cmd { return m.panels.pages.Doctor(m.keys.wrong) }),
		"export":         func(m *Model, file string) tea.Cmd { return m.panels.sessions.Export(file) },
		"extensions":     simple(func(m *Model) tea.Cmd { return m.panels.pages.Extensions() }),
		"fork":           simple(func(m *Model) tea.Cmd { return m.panels.branches.Fork() }),
		"fullscreen":     simple(func(m *Model) tea.Cmd { m.reading.toggleScreen(); return nil }),
		"help":           simple(func(m *Model) tea.Cmd { return m.panels.help.Open(m.prefs.keys.Map) }),
		"hooks":          simple(func(m *Model) tea.Cmd { return m.panels.pages.Hooks() }),
		"login":          func(m *Model, provider string) tea.Cmd { return m.panels.login.Open(provider) },
		"logout":         func(m *Model, provider string) tea.Cmd { return m.panels.login.Forget(provider) },
		"mcp":            func(m *Model, args string) tea.Cmd { return m.panels.mcp.Run(args) },
		"memory":         func(m *Model, note string) tea.Cmd { return m.panels.pages.Memory(note) },
		"mode":           func(m *Model, mode string) tea.Cmd { return m.panels.models.Modes(mode) },
		"model":          func(m *Model, name string) tea.Cmd { return m.panels.models.Set(name) },
		"monitor":        func(m *Model, command string) tea.Cmd { return m.input.Monitor(command) },
		"new":            simple(func(m *Model) tea.Cmd { return m.panels.sessions.New() }),
		"notices":        simple(func(m *Model) tea.Cmd { return m.panels.pages.Notices() }),
		"process":        simple(func(m *Model) tea.Cmd { return m.panels.tasks.Open() }),
		"ps":             simple(func(m *Model) tea.Cmd { return m.panels.sessions.AtWork() }),
		"queue":          simple(func(m *Model) tea.Cmd { return m.panels.queue.Open() }),
		"quit":           simple((*Model).close),
		"reload":         simple((*Model).reload),
		"remote-control": simple(func(m *Model) tea.Cmd { return m.panels.remote.Open() }),
		"rename":         func(m *Model, name string) tea.Cmd { return m.panels.sessions.Rename(name) },
		"resume":         func(m *Model, name string) tea.Cmd { return m.panels.sessions.Resume(name) },
		"rewind":         simple(func(m *Model) tea.Cmd { return m.panels.branches.Tree(true) }),
		"skills":         simple(func(m *Model) tea.Cmd { return m.panels.pages.Skills() }),
		"tools":          simple(func(m *Model) tea.Cmd { return m.panels.pages.Tools() }),
		"agents":         simple(func(m *Model) tea.Cmd { return m.panels.pages.Agents() }),
		"tasks":          simple(func(m *Model) tea.Cmd { return m.panels.tasks.Open() }),
		"theme":          func(m *Model, name string) tea.Cmd { return m.panels.settings.Themes(name) },
		"thinking":       func(m *Model, level string) tea.Cmd { return m.panels.models.Thinking(level) },
		"tree":           simple(func(m *Model) tea.Cmd { return m.panels.branches.Tree(false) }),
		"trust":          simple(func(m *Model) tea.Cmd { return m.panels.folder.Trust() }),
	}
}

func simple(run func(m *Model) tea.Cmd) func(*Model, string) tea.Cmd {
	return func(m *Model, _ string) tea.Cmd { return run(m) }
}

// ownCommand returns the command of the UI that a name, an alias or a former name means.
func ownCommand(name string) (command, bool) {
	c := slash.Find(name)
	if c == nil || !c.Has(slash.Screen) {
		return command{}, false
	}
	return command{*c, handlers()[c.Name]}, true
}

// commandInfos describes the commands of the UI for completion.
func commandInfos() []protocol.CommandInfo {
	var all []protocol.CommandInfo
	for _, c := range commands() {
		all = append(all, protocol.CommandInfo{Name: c.Name, ArgumentHint: c.Args(slash.Screen), Description: c.Doc, Source: protocol.CommandBuiltin})
	}
	return all
}

// completedInfos are commandInfos with a row for each alias: what is typed whole is what Enter
// takes, and not another command that has the same letters.
func completedInfos() []protocol.CommandInfo {
	all := commandInfos()
	for _, c := range commands() {
		for _, alias := range c.Aliases {
			all = append(all, protocol.CommandInfo{Name: alias, ArgumentHint: c.Args(slash.Screen), Description: c.Doc, Source: protocol.CommandBuiltin})
		}
	}
	return all
}

// excess returns why a line that begins with a slash is not run and stays in the editor; ""
// when it is run.
func excess(typed string) string {
	name, args := parted(typed)
	if c, ok := ownCommand(name); ok {
		return c.Excess(slash.Screen, name, args)
	}
	return ""
}

func parted(typed string) (name, args string) {
	name = strings.TrimPrefix(typed, "/")
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name, args = name[:i], strings.TrimSpace(name[i:])
	}
	return name, args
}

// runSlash runs a line that begins with a slash.
func (m *Model) runSlash(typed, whenBusy string) tea.Cmd {
	name, args := parted(typed)
	if c, ok := ownCommand(name); ok {
		if name == c.Was {
			m.toasts.Info("/" + name + " is /" + c.Name + " now")
		}
		return c.run(m, args)
	}
	m.keys.forget() // it may register others
	return m.input.RunCommand(typed, name, args, whenBusy)
}

// reload loads extensions, skills and commands again, between two steps of a turn.
func (m *Model) reload() tea.Cmd {
	m.drawn.off = ""
	if m.session.Live().Running {
		m.toasts.Info("extensions are loaded again after this step of the turn")
	}
	m.keys.forget()
	return m.panels.pages.Reload(m.keys.refresh)
}
