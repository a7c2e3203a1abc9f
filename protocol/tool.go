package protocol

import "encoding/json"

// ToolInfo is what a tool means to everybody who reads its calls and results: clients,
// logs, permissions. It is said once, beside the tool; [FindTool] has those that are
// built in, list_tools those of a session. Nobody needs to know a tool by its name.
type ToolInfo struct {
	Name string `json:"name"`
	// Aliases are names that logs may have for it.
	Aliases []string `json:"aliases,omitempty"`
	Kind    ToolKind `json:"kind"`
	// View is how its calls and results are shown; "" is [ViewText].
	View ToolView `json:"view,omitempty"`
	// TitleField is the member of its input that says most in one line; "" where none does.
	TitleField string `json:"titleField,omitempty"`
	// Rule is what a permission rule for it takes in parentheses; "" is nothing.
	Rule ToolRule `json:"rule,omitempty"`
	// RuleName is the tool whose name is in rules that are offered for it; "" is its own.
	RuleName string `json:"ruleName,omitempty"`
	// AlsoRuledBy is the tool whose rules without parentheses hold for it, too, because a
	// call could do what that one does; "" is none.
	AlsoRuledBy string `json:"alsoRuledBy,omitempty"`
	// Tells is what its results tell of the state outside; "" is nothing.
	Tells ToolState `json:"tells,omitempty"`
	// PiNames are names that extensions for pi know it by; the first is the one that they
	// are told.
	PiNames []string `json:"piNames,omitempty"`
	// TargetField and ParamsField are of a tool whose calls are calls of another one: the
	// members of its input that name that tool and hold its input; see [Target].
	TargetField string `json:"targetField,omitempty"`
	ParamsField string `json:"paramsField,omitempty"`
}

// ToolKind is what sort of effect the calls of a tool have.
type ToolKind string

// The kinds of tools.
const (
	ToolReads  ToolKind = "read"  // reads files
	ToolWrites ToolKind = "write" // writes files
	ToolRuns   ToolKind = "exec"  // runs commands
	ToolSends  ToolKind = "net"   // reaches the network
	ToolOwn    ToolKind = "state" // changes only the session's own state; never asked for
)

// ToolView is how the calls and results of a tool are shown. Clients switch on it, and
// show a view that they do not know as [ViewText].
type ToolView string

// The views. Members of the input and of [ToolDetails] that they use are named.
const (
	ViewText      ToolView = "text"      // the text of the result
	ViewCommand   ToolView = "command"   // a command and its output: command; exitCode
	ViewFile      ToolView = "file"      // lines of a file: path; files
	ViewChange    ToolView = "change"    // a change of a file: path, content, edits; diff
	ViewFiles     ToolView = "files"     // a list of files: pattern, path
	ViewMatches   ToolView = "matches"   // lines that match, or files with mode "files": pattern, path, mode
	ViewTodos     ToolView = "todos"     // a todo list: todos; todos
	ViewPage      ToolView = "page"      // a page of the web: url
	ViewResults   ToolView = "results"   // results of a search of the web: query; links
	ViewAgent     ToolView = "agent"     // a sub-agent: agent, description, prompt; agent
	ViewQuestions ToolView = "questions" // questions to people: questions; asked
	ViewPlan      ToolView = "plan"      // a plan: plan; plan
	ViewSkill     ToolView = "skill"     // instructions that a model has read: name
)

// ToolRule is what a permission rule for a tool takes in parentheses.
type ToolRule string

// The forms of rules.
const (
	RuleCommand ToolRule = "command" // a command line, or its beginning
	RuleFiles   ToolRule = "files"   // a pattern of files
	RuleHost    ToolRule = "host"    // a domain
	RuleSkill   ToolRule = "skill"   // the name of a skill
)

// ToolState is what the results of a tool tell of the state outside.
type ToolState string

// What results can tell.
const (
	TellsTodos ToolState = "todos" // the todo list, in [ToolDetails.Todos]
	TellsDir   ToolState = "dir"   // the working directory of commands, in [ToolDetails.Dir]
	TellsFiles ToolState = "files" // what is known of files, in [ToolDetails.Files]
)

// Tools returns the tools that are built in, by name. It is not to be changed.
func Tools() []ToolInfo { return tools[:] }

// FindTool returns the built-in tool of a name, also of one that only logs have; the zero
// value for any other name. Extensions, servers and old logs have others.
func FindTool(name string) ToolInfo {
	if i := toolIndex(name); i >= 0 {
		return tools[i]
	}
	return ToolInfo{}
}

// ToolTells returns what results of a tool tell, given its name as it is in a log.
func ToolTells(name []byte) ToolState {
	if i := toolIndex(string(name)); i >= 0 {
		return tools[i].Tells
	}
	return ""
}

// ViewOf returns the view of a tool by its name.
func ViewOf(name string) ToolView {
	if v := FindTool(name).View; v != "" {
		return v
	}
	return ViewText
}

// Target returns the tool that a call is about and its input, for whoever shows the call:
// those that its input names where the tool calls others, else the call's own. An input
// that names none is returned with the call's own name.
func Target(name string, input json.RawMessage) (string, json.RawMessage) {
	info := FindTool(name)
	if info.TargetField == "" {
		return name, input
	}
	var fields map[string]json.RawMessage
	var target string
	if json.Unmarshal(input, &fields) != nil || json.Unmarshal(fields[info.TargetField], &target) != nil || target == "" {
		return name, input
	}
	params := fields[info.ParamsField]
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	return target, params
}

// WithTarget returns the block, of a call, with the name and the input of [Target].
func (b Block) WithTarget() Block {
	b.Name, b.Input = Target(b.Name, b.Input)
	return b
}

// Requests about tools.
type (
	// ListTools returns the tools that the model has in the session's next turn: those that
	// it is sent, and after them those that it can search for, as far as their servers are
	// connected. The answer is a [ToolList].
	ListTools struct{}
)

// What they are answered with.
type (
	// ToolList is tools: those that the model is sent, then those that it can search for, at
	// most 2,000; each sorted by name.
	ToolList struct {
		Tools   []ListedTool `json:"tools"`
		Omitted int          `json:"omitted,omitempty"` // further ones that it can search for
	}
	// ListedTool is a tool of a session.
	ListedTool struct {
		ToolInfo
		Extension   string `json:"extension,omitempty"` // that brings it; "" of another
		Server      string `json:"server,omitempty"`    // the MCP server that has it, as the tool's name writes it; "" of another
		Deferred    bool   `json:"deferred,omitempty"`  // the model is not sent it, and can search for it
		Description string `json:"description"`         // for the model; of a deferred one at most 500 bytes
	}
)

var (
	listToolsSpec = Spec{
		Name: "list_tools", Scope: ScopeSession, Grant: GrantView,
		New: func() Request { return new(ListTools) }, Reply: func() Response { return new(ToolList) },
	}
)
