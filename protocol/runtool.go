package protocol

import "encoding/json"

// ToolCallKind is the kind of the custom messages that precede a call which another program
// makes by [RunTool]: a message of the user, so that a model which goes on with the
// conversation knows that the call is not its own. Its data is a [ToolCallRun].
const ToolCallKind = OwnKind + "tool"

// ToolCallRun is the data of such a message. EventID is the message with the result.
type ToolCallRun struct {
	EventID  EventID `json:"eventId"`
	TurnID   TurnID  `json:"turnId"`
	ToolName string  `json:"toolName"`
}

// Requests about calls of tools that no model makes.
type (
	// RunTool runs a built-in tool in the session, as a turn of its own that asks no model:
	// with the rules, hooks, sandbox, snapshots and log of a model's call, in the session's
	// folder. Nobody is asked: what a person would have to allow is denied. Tools that ask
	// people or change only the session's own state cannot be run. It fails while another
	// turn runs. The answer is [ToolStarted], when it is durable that the call begins; the
	// result is the message that it names, and cancel ends the turn.
	RunTool struct {
		ToolName string          `json:"toolName" check:"required,max=MaxName"`
		Input    json.RawMessage `json:"input,omitempty"` // a JSON object; none is {}
	}
	// ListBuiltinTools lists the tools of a preset that [RunTool] can run, sorted by name,
	// as far as the configuration of the device has what they need; the answer is
	// [BuiltinTools].
	ListBuiltinTools struct {
		WorkDir string `json:"workDir" check:"required,max=MaxPath"` // whose configuration counts, by its whole path
		Preset  string `json:"preset" check:"required,max=MaxWord"`
	}
)

// What they are answered with.
type (
	// ToolStarted says that a call begins, in which turn, and which event has its result.
	ToolStarted struct {
		EventID EventID `json:"eventId"`
		TurnID  TurnID  `json:"turnId"`
	}
	// BuiltinTools is tools with what a caller needs to know of each.
	BuiltinTools struct {
		Tools []BuiltinTool `json:"tools"`
	}
	// BuiltinTool is a tool: Schema is the JSON Schema of its input.
	BuiltinTool struct {
		ToolInfo
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
	}
)

var (
	runToolSpec = Spec{
		Name: "run_tool", Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(RunTool) }, Reply: func() Response { return new(ToolStarted) }, Replay: toolStartedBy,
	}
	listBuiltinToolsSpec = Spec{
		Name: "list_builtin_tools", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(ListBuiltinTools) }, Reply: func() Response { return new(BuiltinTools) },
	}
)

// toolStartedBy is the answer to a request that began a call.
func toolStartedBy(e Event) Response {
	var run ToolCallRun
	if b, ok := e.Body.(*CustomMessage); ok && b.Kind == ToolCallKind && json.Unmarshal(b.Data, &run) == nil {
		return &ToolStarted{EventID: run.EventID, TurnID: run.TurnID}
	}
	return nil
}
