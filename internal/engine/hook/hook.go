package hook

import (
	"context"
	"encoding/json"

	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// Scope says whose hooks they are.
type Scope string

// The scopes of subscribers. Built-in ones come first, then the user's, then the
// project's; within one they are sorted by name.
const (
	ScopeBuiltin Scope = "builtin"
	ScopeUser    Scope = "user"
	ScopeProject Scope = "project"
)

// Subscriber, with a field for each thing that it may be asked, is one source of handlers: a part of the program, a shell hook, or one
// extension, with a field for each thing that it may be asked. Each function may be nil. A subscriber keeps the time limits of its own
// handlers: it returns an error when one is over. Functions may be called side by side:
// a message comes in while a turn runs, and several calls of one message end at once.
type Subscriber struct {
	// Name is who it is for people: "extension permission-gate", "hook 2 of config.toml".
	Name  string
	Scope Scope
	// At is what people call the one event that it is asked about, as it is in their
	// configuration; "" for the names of the handlers.
	At string
	// Names are what the handlers are called in the file of who wrote them, by their names
	// here, where that is another name.
	Names map[string]string

	// BeforeTool is asked before each call. An error blocks the call, unless FailOpen.
	BeforeTool func(ctx context.Context, call ToolCall) (ToolDecision, error)
	FailOpen   bool
	// AfterTool is asked with each result. An error skips this layer.
	AfterTool func(ctx context.Context, call ToolCall, result ToolResult) (ToolPatch, error)

	// Context and TransformContext change the list of messages before each model
	// call, ConvertToLLM filters what is sent; see [history.Hooks]. An error skips the
	// layer.
	Context          func(ctx context.Context, list []history.Element) ([]history.Element, error)
	TransformContext func(ctx context.Context, list []history.Element) ([]history.Element, error)
	ConvertToLLM     func(ctx context.Context, messages []protocol.Message) ([]protocol.Message, error)

	// SessionStart is asked once for a loaded session, before its first turn.
	// Text that it gives is told to the model as a hidden note. Messages wait for it: it
	// must not send any.
	SessionStart func(ctx context.Context, s SessionStart) (note string, err error)
	// Prompt is asked with each message of a user before it is stored.
	Prompt func(ctx context.Context, p Prompt) (PromptDecision, error)
	// BeforeAgent is asked when a turn begins, after the stored message.
	BeforeAgent func(ctx context.Context, p Prompt, system string) (AgentStart, error)
	// Stop is asked when a turn would end; text that it gives is told to the model, and
	// the turn goes on.
	Stop func(ctx context.Context, s Stop) (text string, err error)
	// BeforeCompact may cancel a compaction or give its summary.
	BeforeCompact func(ctx context.Context, c Compaction) (CompactDecision, error)
	// BeforeMove may refuse a rewind or a change of branch.
	BeforeMove func(ctx context.Context, m Move) (MoveDecision, error)
	// UserCommand may refuse or answer a command that a person runs in the project,
	// outside of the conversation. An error refuses it.
	UserCommand func(ctx context.Context, c UserCommand) (UserCommandDecision, error)
	// BeforeRequest may replace the payload of a request to a provider, a JSON object;
	// nil leaves it. AfterResponse is told what came back.
	BeforeRequest func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error)
	AfterResponse func(ctx context.Context, status int, headers map[string]string)

	// Event is told of every persistent and transient event of the session, once and
	// in order, and Happened of what else happens in it. Both are called by a goroutine
	// of the subscriber's own, one at a time in the order in which things came to pass,
	// from the session's first turn on; see [Broadcast] for who does not
	// keep up.
	Event    func(protocol.Event)
	Happened func(ctx context.Context, h Happening)
}

// SessionStart is the start of a session in this host. Reason is startup for one
// without messages, else resume.
type SessionStart struct {
	Reason string
}

// ToolCall is a call that wants to run or has run.
type ToolCall struct {
	ID    string
	Name  string
	Input json.RawMessage
	Spec  tool.Spec
}

// Verdict is what a hook says of a call.
type Verdict string

// The verdicts. Deny beats ask beats allow, whoever says it. Allow skips a question
// only when it comes from the user's scope, and never an ask or deny rule.
const (
	Continue Verdict = ""
	Allow    Verdict = "allow"
	Ask      Verdict = "ask"
	Deny     Verdict = "deny"
)

// ToolDecision is what a hook says before a call. Deny blocks it with Reason for the
// model. Input replaces the input for the hooks that follow and for the call; nil
// leaves it. Result answers the call finally without running it and ends the chain.
// Context is told to the model as a hidden note. An allow holds for exactly the input
// that its subscriber has seen, or has given.
type ToolDecision struct {
	Verdict Verdict
	Reason  string
	Input   json.RawMessage
	Result  *ToolResult
	Context string
}

// ToolResult is a result as hooks see it.
type ToolResult struct {
	Content []protocol.Block
	Details json.RawMessage
	IsError bool
}

// ToolPatch replaces parts of a result; nil leaves a part. Context is told to the
// model as a hidden note.
type ToolPatch struct {
	Content []protocol.Block
	Details json.RawMessage
	IsError *bool
	Context string
}

// Prompt is a message of a user on its way into the log.
type Prompt struct {
	Content []protocol.Block
	Source  string // interactive, queue, extension, channel, schedule
	Busy    bool   // a turn runs
}

// PromptDecision is what a hook says of a message. Deny refuses it with Reason for
// the person. Content replaces it; Handled says that the hook has done all there is to
// do, and nothing is stored. Context is told to the model as a hidden note.
type PromptDecision struct {
	Verdict Verdict
	Reason  string
	Content []protocol.Block
	Handled bool
	Context string
}

// AgentStart is what a hook adds to a turn: a message for the model (kind, content,
// and what only people see), and another system prompt for this run.
type AgentStart struct {
	Message *protocol.CustomMessage
	System  *string
	Context string
}

// Stop is the end of a turn.
type Stop struct {
	Blocked  int // times in a row that a hook has let this turn go on
	Subagent bool
	Text     string // the last answer
}

// Compaction is one that is about to be made.
type Compaction struct {
	Reason       string // manual, threshold, overflow
	Instructions string
	Tokens       int
	Messages     []protocol.Message // what would be summarised
	FirstKept    protocol.EventID   // the first event that stays
	Previous     string             // the summary before
}

// CompactDecision cancels a compaction, with Reason for the person, or gives its
// summary. Instructions replaces what the summary should look at.
type CompactDecision struct {
	Cancel       bool
	Reason       string
	Summary      string
	Instructions *string
}

// Move is a rewind or a change of branch.
type Move struct {
	Kind   string // rewind, branch, MoveClone or MoveSwitch
	Target protocol.EventID
	Leaf   protocol.EventID
	// Of MoveSwitch: why, new or resume, and the session that the person goes to, "" for one
	// that does not exist yet.
	Reason  string
	Session protocol.SessionID
}

// MoveClone is the kind of a move that makes a copy of the session up to its target; the
// session itself stays as it is.
const MoveClone = "clone"

// MoveSwitch is the kind of a move that takes a person to another session; nothing of this
// one changes.
const MoveSwitch = "switch"

// MoveDecision refuses a move, with Reason for the person, or labels its target.
type MoveDecision struct {
	Cancel bool
	Reason string
	Label  string
}

// Happening is something that is no event of the log: session_start, session_end,
// prompt_submit, turn_finish, turn_error, notification, model_select,
// thinking_level_select, ui_prompt_start, ui_prompt_end. Data is its fields, an object.
type Happening struct {
	Type string
	Data json.RawMessage
}
