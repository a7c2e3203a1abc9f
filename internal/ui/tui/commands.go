package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"scorel/protocol"
)

// command is a slash command that the UI carries out itself, because it is about what
// its person sees. The host has the others.
type command struct {
	name, hint, doc string
	run             func(m *Model, args string) tea.Cmd
}

// commands are the commands of the UI, by name.
func commands() []command {
	return []command{
		{"attach", "FILE", "Take in a file, also one from outside the project", (*Model).attachFile},
		{"clone", "[NAME]", "Go on in a copy of this session", (*Model).clone},
		{"compact", "[WHAT TO KEEP]", "Summarise the older part of the conversation", (*Model).compact},
		{"config", "", "What is set, and where", simple((*Model).openConfig)},
		{"context", "", "What fills the model's window", simple((*Model).openContext)},
		{"copy", "", "Copy the last answer", simple((*Model).copyAnswer)},
		{"cost", "", "What this session has used", simple((*Model).openCost)},
		{"doctor", "", "Look for what is wrong with the installation", simple((*Model).openDoctor)},
		{"export", "[FILE]", "Write the session to a .html, .md or .jsonl file", (*Model).export},
		{"extensions", "", "The extensions and how they stand", simple((*Model).openExtensions)},
		{"fork", "", "Go on from an earlier message in a session of its own", simple((*Model).openFork)},
		{"fullscreen", "", "The whole screen, or the terminal's scrollback", simple(func(m *Model) tea.Cmd { m.toggleScreen(); return nil })},
		{"help", "", "Keys and commands", simple((*Model).openHelp)},
		{"hooks", "", "The shell hooks that are configured", simple((*Model).openHooks)},
		{"login", "[PROVIDER]", "Enter the key of a model provider", (*Model).openLogin},
		{"logout", "PROVIDER", "Forget the key of a provider", (*Model).logout},
		{"mcp", "", "MCP servers", simple((*Model).openMCP)},
		{"memory", "[NOTE]", "The notes that sessions are told, or another one", (*Model).memory},
		{"mode", "[MODE]", "The permission mode", (*Model).openModes},
		{"model", "[MODEL]", "The model from the next turn on", (*Model).pickModel},
		{"new", "", "Begin another session", simple((*Model).newSession)},
		{"process", "", "How calls and background commands go", simple((*Model).openTasks)},
		{"queue", "", "What waits for the end of the turn", simple((*Model).openQueue)},
		{"quit", "", "Leave; the session stays", simple((*Model).leave)},
		{"reload", "", "Load extensions, skills and commands again", simple((*Model).reload)},
		{"rename", "NAME", "Name the session", (*Model).rename},
		{"resume", "[SESSION]", "Show another session", (*Model).resume},
		{"rewind", "", "Go back to before a message", simple(func(m *Model) tea.Cmd { return m.openTree(true) })},
		{"skills", "", "The skills that the model can use", simple((*Model).openSkills)},
		{"tools", "", "The tools that the model has in this session", simple((*Model).openTools)},
		{"agents", "", "The sub-agents that the model can start", simple((*Model).openAgents)},
		{"tasks", "", "Background commands and sub-agents", simple((*Model).openTasks)},
		{"theme", "[NAME]", "How the UI looks", (*Model).openThemes},
		{"thinking", "[LEVEL]", "How much the model thinks", (*Model).openThinking},
		{"tree", "", "All branches of the conversation", simple(func(m *Model) tea.Cmd { return m.openTree(false) })},
		{"trust", "", "What this project could do, and whether it may", simple((*Model).openTrust)},
	}
}

func simple(run func(m *Model) tea.Cmd) func(*Model, string) tea.Cmd {
	return func(m *Model, _ string) tea.Cmd { return run(m) }
}

// ownCommand finds a command of the UI.
func ownCommand(name string) (command, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return all[i], true
}

// loadCommands asks for the commands of the host, for completion.
func (m *Model) loadCommands() tea.Cmd {
	req := &protocol.ListCommands{}
	if m.id == "" {
		req.WorkDir = m.cfg.WorkDir
	}
	return ask(m, m.id, req, func(m *Model, list *protocol.CommandList, err error) tea.Cmd {
		return m.question(m.popup.Commands(unless(err, list)))
	})
}

// ownInfos describes the commands of the UI for completion.
func ownInfos() []protocol.CommandInfo {
	var all []protocol.CommandInfo
	for _, c := range commands() {
		all = append(all, protocol.CommandInfo{Name: c.name, ArgumentHint: c.hint, Description: c.doc, Source: protocol.CommandBuiltin})
	}
	return all
}

// slash carries out a line that begins with a slash.
func (m *Model) slash(typed, whenBusy string) tea.Cmd {
	name, args := strings.TrimPrefix(typed, "/"), ""
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name, args = name[:i], strings.TrimSpace(name[i:])
	}
	if c, ok := ownCommand(name); ok {
		return c.run(m, args)
	}
	return m.runCommand(typed, name, args, whenBusy)
}
