package claude

import "strings"

// counterpart returns the tool here that one of Claude Code is under another name, "" where
// there is none; differs is false for a name that is the same here.
func counterpart(theirs string) (name string, differs bool) {
	switch theirs {
	case "MultiEdit":
		return "Edit", true
	case "NotebookRead", "LS":
		return "Read", true
	case "Agent":
		return "Task", true
	case "BashOutput", "AgentOutputTool":
		return "TaskOutput", true
	case "KillShell", "KillBash":
		return "TaskStop", true
	case "AskUserQuestion":
		return "AskUser", true
	case "ListMcpResourcesTool":
		return "ListMcpResources", true
	case "ReadMcpResourceTool":
		return "ReadMcpResource", true
	case "SlashCommand", "TodoRead", "ToolSearch", "LSP", "PowerShell",
		"TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "EnterWorktree", "ExitWorktree":
		return "", true
	}
	return theirs, false
}

// ToolHere returns the name that a tool of Claude Code has here: "" where there is none.
// Exact reports that it is the very tool: a rule for MultiEdit about files is one for
// Edit, but who denies MultiEdit does not deny Edit.
func ToolHere(theirs string) (name string, exact bool) {
	name, differs := counterpart(theirs)
	switch {
	case !differs:
		return name, true
	case theirs == "MultiEdit" || theirs == "NotebookRead" || theirs == "LS":
		return name, false
	}
	return name, name != ""
}

// ToolsThere returns the names that Claude Code has, or had, for a tool of ours, the one
// that hooks are told first.
func ToolsThere(name string) []string {
	switch name {
	case "AskUser":
		return []string{"AskUserQuestion"}
	case "Task":
		return []string{"Task", "Agent"}
	case "TaskOutput":
		return []string{"TaskOutput", "BashOutput"}
	case "TaskStop":
		return []string{"TaskStop", "KillShell", "KillBash"}
	}
	return []string{name}
}

// NamesOf returns all names by which a matcher may mean a tool of ours.
func NamesOf(name string) []string {
	names := append(ToolsThere(name), name)
	if name == "Edit" { // one call can have several edits
		names = append(names, "MultiEdit")
	}
	return names
}

// AgentTool returns the tool here that an agent's list of tools names, "" for none: a
// rule in parentheses does not count there.
func AgentTool(theirs string) (name string, note string) {
	bare, arg, has := strings.Cut(theirs, "(")
	name, _ = ToolHere(strings.TrimSpace(bare))
	switch {
	case bare == "LS" || bare == "NotebookRead":
		return bare, "" // no tool here does just that
	case name == "":
		return "", "there is no tool " + bare + " in Scorel"
	case has && arg != "*)":
		note = "of " + theirs + " only the tool counts; what it may do is for permission rules"
	case name != bare:
		note = bare + " is " + name + " in Scorel"
	}
	return name, note
}
