package rpc

import (
	"encoding/json"

	"scorel/protocol"
)

// What each hook is told ([HookCall].Data) and what it may answer. Of context,
// transformContext and convertToLlm both are [ContextData]. An answer of null, or a
// field that is missing, leaves things as they are. Contents are blocks in the form of
// Scorel's log.

// ToolCallData is the payload of tool_call.
type ToolCallData struct {
	ToolName   string          `json:"toolName"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input"`
}

// ToolCallAnswer answers tool_call. Decision is allow, ask or deny; Block says deny.
// Result answers the call finally without running it.
type ToolCallAnswer struct {
	Block    bool            `json:"block,omitempty"`
	Decision string          `json:"decision,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Result   *ToolResult     `json:"result,omitempty"`
}

// ToolResultData is the payload of tool_result.
type ToolResultData struct {
	ToolName   string           `json:"toolName"`
	ToolCallID string           `json:"toolCallId"`
	Input      json.RawMessage  `json:"input"`
	Content    []protocol.Block `json:"content"`
	Details    json.RawMessage  `json:"details,omitempty"`
	IsError    bool             `json:"isError"`
}

// ToolResultAnswer answers tool_result.
type ToolResultAnswer struct {
	Content []protocol.Block `json:"content,omitempty"`
	Details json.RawMessage  `json:"details,omitempty"`
	IsError *bool            `json:"isError,omitempty"`
}

// InputData is the payload of input: a message of a user on its way into the log.
// Images are the blocks of it that are not text.
type InputData struct {
	Text              string           `json:"text"`
	Images            []protocol.Block `json:"images,omitempty"`
	Source            string           `json:"source"`                      // interactive, rpc, extension
	StreamingBehavior string           `json:"streamingBehavior,omitempty"` // steer or followUp while a turn runs
}

// InputAnswer answers input. Action is continue, transform, handled (nothing is
// stored) or block (refused, Reason is for the person).
type InputAnswer struct {
	Action string           `json:"action"`
	Text   string           `json:"text,omitempty"`
	Images []protocol.Block `json:"images,omitempty"` // as in InputData; of transform, all that stay
	Reason string           `json:"reason,omitempty"`
}

// AgentStartData is the payload of before_agent_start.
type AgentStartData struct {
	Prompt       string           `json:"prompt"`
	Images       []protocol.Block `json:"images,omitempty"`
	SystemPrompt string           `json:"systemPrompt"`
}

// AgentStartAnswer answers before_agent_start. SystemPrompt holds for this run.
type AgentStartAnswer struct {
	Message      *AgentStartMessage `json:"message,omitempty"`
	SystemPrompt *string            `json:"systemPrompt,omitempty"`
}

// AgentStartMessage is told to the model after the message of the user.
type AgentStartMessage struct {
	CustomType string           `json:"customType"`
	Content    []protocol.Block `json:"content"`
	Display    bool             `json:"display"`
	Details    json.RawMessage  `json:"details,omitempty"`
}

// StopData is the payload of stop: a turn would end.
type StopData struct {
	Blocked  int    `json:"blocked"` // times in a row that a hook has let this turn go on
	Subagent bool   `json:"subagent,omitempty"`
	Text     string `json:"text"` // the last answer
}

// StopAnswer answers stop. Text is told to the model, and the turn goes on.
type StopAnswer struct {
	Text string `json:"text,omitempty"`
}

// CompactData is the payload of session_before_compact.
type CompactData struct {
	Reason             string             `json:"reason"` // manual, threshold, overflow
	CustomInstructions string             `json:"customInstructions,omitempty"`
	TokensBefore       int                `json:"tokensBefore"`
	Messages           []protocol.Message `json:"messages"` // what would be summarised
	FirstKeptEntryID   protocol.EventID   `json:"firstKeptEntryId,omitempty"`
	PreviousSummary    string             `json:"previousSummary,omitempty"`
}

// CompactAnswer answers session_before_compact. Summary is a ready one; where the
// compaction cuts is the host's.
type CompactAnswer struct {
	Cancel             bool    `json:"cancel,omitempty"`
	Reason             string  `json:"reason,omitempty"`
	Summary            string  `json:"summary,omitempty"`
	CustomInstructions *string `json:"customInstructions,omitempty"`
}

// TreeData is the payload of session_before_tree: a rewind or a change of branch; and of
// session_before_fork: the session is copied to the target.
type TreeData struct {
	Kind      string           `json:"kind"`               // rewind or branch
	TargetID  protocol.EventID `json:"targetId,omitempty"` // "" is the empty conversation
	OldLeafID protocol.EventID `json:"oldLeafId,omitempty"`
}

// SwitchData is the payload of session_before_switch: a person goes to another session.
type SwitchData struct {
	Reason          string             `json:"reason"`                    // new or resume
	TargetSessionID protocol.SessionID `json:"targetSessionId,omitempty"` // "" for one that does not exist yet
}

// TreeAnswer answers session_before_tree, session_before_fork and session_before_switch. Label is set on the target.
type TreeAnswer struct {
	Cancel bool   `json:"cancel,omitempty"`
	Reason string `json:"reason,omitempty"`
	Label  string `json:"label,omitempty"`
}

// UserCommandData is the payload of user_bash: a command that a person runs in the project.
type UserCommandData struct {
	Command            string `json:"command"`
	Cwd                string `json:"cwd"`
	ExcludeFromContext bool   `json:"excludeFromContext,omitempty"` // the model is not told of it
}

// UserCommandAnswer answers user_bash. Block keeps the command from running; Result is what
// the extension has done in its place.
type UserCommandAnswer struct {
	Block  bool               `json:"block,omitempty"`
	Reason string             `json:"reason,omitempty"`
	Result *UserCommandResult `json:"result,omitempty"`
}

// UserCommandResult is what is shown of a command.
type UserCommandResult struct {
	Output    string `json:"output"`
	ExitCode  *int   `json:"exitCode,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
}

// ResourcesData is the payload of resources_discover.
type ResourcesData struct {
	Cwd    string `json:"cwd"`
	Reason string `json:"reason"` // startup or reload
}

// ResourcesAnswer answers resources_discover: further files and folders, by absolute paths
// or from the folder of the extension.
type ResourcesAnswer struct {
	SkillPaths  []string `json:"skillPaths,omitempty"`
	PromptPaths []string `json:"promptPaths,omitempty"` // templates of commands
	ThemePaths  []string `json:"themePaths,omitempty"`  // not used
}

// RequestData is the payload, and the answer, of before_provider_request.
type RequestData struct {
	Payload json.RawMessage `json:"payload"`
}
