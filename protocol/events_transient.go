package protocol

import "encoding/json"

// The types of transient events.
const (
	TypeMessageStart        EventType = "message_start"
	TypeTextDelta           EventType = "text_delta"
	TypeThinkingDelta       EventType = "thinking_delta"
	TypeToolCallDelta       EventType = "tool_call_delta"
	TypeToolExecutionStart  EventType = "tool_execution_start"
	TypeToolExecutionUpdate EventType = "tool_execution_update"
	TypeToolExecutionEnd    EventType = "tool_execution_end"
	TypeTurnStart           EventType = "turn_start"
	TypeTurnEnd             EventType = "turn_end"
	TypeRuntimeStart        EventType = "runtime_start"
	TypeRuntimeEnd          EventType = "runtime_end"
	TypeMessageCancelled    EventType = "message_cancelled"
	TypeToolProcess         EventType = "tool_process_event"
	TypeNotice              EventType = "notice"
	TypeUIState             EventType = "ui_state"
	TypePermissionRequest   EventType = "permission_request"
	TypePermissionResolved  EventType = "permission_resolved"
	TypeRetry               EventType = "retry"
	TypeUIRequest           EventType = "ui_request"
	TypeUIResolved          EventType = "ui_resolved"
	TypeTodos               EventType = "todos"
	TypeTaskUpdate          EventType = "task_update"
	TypeAutomationUpdate    EventType = "automation_update"
)

// MessageStart announces the persistent message EventID. It is followed by
// exactly one of: that event, message_cancelled, or a new epoch.
type MessageStart struct {
	EventID  EventID `json:"eventId"`
	ParentID EventID `json:"parentId"`
	Role     Role    `json:"role"`
	Model    string  `json:"model,omitempty"`
}

var messageStartSpec = EventSpec{Type: TypeMessageStart, Class: Transient, New: func() Body { return new(MessageStart) },
	Display: Display{View: ViewStream}}

// TextDelta adds to a text block of a running message.
type TextDelta struct {
	EventID    EventID `json:"eventId"`
	BlockIndex int     `json:"blockIndex"`
	Delta      string  `json:"delta"`
}

var textDeltaSpec = EventSpec{Type: TypeTextDelta, Class: Transient, New: func() Body { return new(TextDelta) },
	Display: Display{View: ViewStream}}

// ThinkingDelta adds to a thinking block of a running message.
type ThinkingDelta struct {
	EventID    EventID `json:"eventId"`
	BlockIndex int     `json:"blockIndex"`
	Delta      string  `json:"delta"`
}

var thinkingDeltaSpec = EventSpec{Type: TypeThinkingDelta, Class: Transient, New: func() Body { return new(ThinkingDelta) },
	Display: Display{View: ViewStream}}

// ToolCallDelta adds to the input (as JSON text) of a call in a running message.
type ToolCallDelta struct {
	EventID    EventID `json:"eventId"`
	BlockIndex int     `json:"blockIndex"`
	ToolCallID string  `json:"toolCallId"`
	ToolName   string  `json:"toolName,omitempty"`
	Delta      string  `json:"delta"`
}

var toolCallDeltaSpec = EventSpec{Type: TypeToolCallDelta, Class: Transient, New: func() Body { return new(ToolCallDelta) },
	Display: Display{View: ViewStream}}

// ToolExecutionStart announces that a call runs; EventID is its result to come. With
// Shell it is a command of a person: EventID is its custom message to come, ParentID is
// empty, ToolCallID is that EventID, and Args hold the command. It belongs to no run and
// outlives the end of one; a message_cancelled takes it back when its message cannot
// be stored.
type ToolExecutionStart struct {
	EventID    EventID         `json:"eventId"`
	ParentID   EventID         `json:"parentId"`
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Args       json.RawMessage `json:"args"`
	Shell      *Shell          `json:"shell,omitempty"`
	AgentColor string          `json:"agentColor,omitempty"` // of the sub-agent that works; see [AgentInfo]
}

var toolExecutionStartSpec = EventSpec{Type: TypeToolExecutionStart, Class: Transient, New: func() Body { return new(ToolExecutionStart) },
	Display: Display{View: ViewCall}}

// Shell marks a command of a person.
type Shell struct {
	Command   string `json:"command"`
	InContext bool   `json:"inContext"`
}

// ToolExecutionUpdate carries output that a running call produced since the
// last update.
type ToolExecutionUpdate struct {
	EventID    EventID `json:"eventId"`
	ToolCallID string  `json:"toolCallId"`
	Partial    string  `json:"partial"`
}

var toolExecutionUpdateSpec = EventSpec{Type: TypeToolExecutionUpdate, Class: Transient, New: func() Body { return new(ToolExecutionUpdate) },
	Display: Display{View: ViewCall}}

// ToolExecutionEnd reports that a call has ended; its result follows.
type ToolExecutionEnd struct {
	EventID    EventID `json:"eventId"`
	ToolCallID string  `json:"toolCallId"`
	ToolName   string  `json:"toolName"`
	DurationMS int64   `json:"durationMs"`
	IsError    bool    `json:"isError"`
}

var toolExecutionEndSpec = EventSpec{Type: TypeToolExecutionEnd, Class: Transient, New: func() Body { return new(ToolExecutionEnd) },
	Display: Display{Kind: DisplayTool, Title: "{durationMs|duration}", ToolCallID: "toolCallId", ToolName: "toolName", Ref: "eventId",
		Status: []StatusCase{{"?isError", StatusFailed}, {"", StatusOK}}}}

// TurnStart begins a turn of the run: one message with all its steps. TurnIndex counts
// the turns of the run from 0.
type TurnStart struct {
	TurnIndex int `json:"turnIndex"`
}

var turnStartSpec = EventSpec{Type: TypeTurnStart, Class: Transient, New: func() Body { return new(TurnStart) },
	Display: Display{Kind: DisplayHidden}}

// TurnEnd ends a turn.
type TurnEnd struct {
	TurnIndex  int        `json:"turnIndex"`
	Usage      *Usage     `json:"usage,omitempty"`
	StopReason StopReason `json:"stopReason,omitempty"`
}

var turnEndSpec = EventSpec{Type: TypeTurnEnd, Class: Transient, New: func() Body { return new(TurnEnd) },
	Display: Display{Kind: DisplayHidden}}

// RuntimeStart begins a run. Command is the name of the slash command that the run is, such as
// one of an extension; "" of a turn, in which a model is asked.
type RuntimeStart struct {
	Command string `json:"command,omitempty"`
}

var runtimeStartSpec = EventSpec{Type: TypeRuntimeStart, Class: Transient, New: func() Body { return new(RuntimeStart) },
	Display: Display{Kind: DisplayState, Status: []StatusCase{{"", StatusRunning}}}}

// EndReason says in one word how a run ended.
type EndReason string

// The reasons for the end of a run.
const (
	EndCompleted EndReason = "completed"
	EndCancelled EndReason = "cancelled"
	EndError     EndReason = "error"
)

// Terminal says exactly how a run ended.
type Terminal string

// The terminal reasons.
const (
	TerminalCompleted     Terminal = "completed"
	TerminalMaxSteps      Terminal = "max_steps"
	TerminalMaxTokens     Terminal = "max_tokens"
	TerminalPromptTooLong Terminal = "prompt_too_long"
	TerminalCancelled     Terminal = "cancelled"
	TerminalRefused       Terminal = "refused"
	TerminalModelError    Terminal = "model_error"
	TerminalHookStopped   Terminal = "hook_stopped"
	TerminalBudget        Terminal = "budget"
	TerminalStorageError  Terminal = "storage_error"
	TerminalLoop          Terminal = "loop"           // the model repeated itself, and nobody let it go on
	TerminalInternalError Terminal = "internal_error" // a fault inside Scorel
	// TerminalSchemaMismatch is how a run of scorel -p has ended that no answer of fits the
	// schema that it asked for; its turns have completed.
	TerminalSchemaMismatch Terminal = "schema_mismatch"
)

// RuntimeEnd ends a run. Limit is the limit that was reached, of the terminal reason budget;
// the code of Error says its kind, too.
type RuntimeEnd struct {
	Reason   EndReason `json:"reason"`
	Terminal Terminal  `json:"terminal"`
	Error    *Error    `json:"error,omitempty"`
	Limit    *LimitUse `json:"limit,omitempty"`
}

var runtimeEndSpec = EventSpec{Type: TypeRuntimeEnd, Class: Transient, New: func() Body { return new(RuntimeEnd) },
	Display: Display{Kind: DisplayState, Title: "{terminal}", Text: "{error.message}",
		Status: []StatusCase{{"?reason=completed", StatusOK}, {"?reason=cancelled", StatusCancelled}, {"", StatusFailed}}}}

// CancelReason returns why an announced message does not come.
type CancelReason string

// The reasons of message_cancelled.
const (
	CancelUser      CancelReason = "user_cancel"
	CancelError     CancelReason = "error"
	CancelMaxTokens CancelReason = "max_tokens"
	CancelRetry     CancelReason = "retry"
	CancelStorage   CancelReason = "storage"
)

// MessageCancelled takes back what was shown of a running message.
type MessageCancelled struct {
	EventID EventID      `json:"eventId"`
	Reason  CancelReason `json:"reason"`
}

var messageCancelledSpec = EventSpec{Type: TypeMessageCancelled, Class: Transient, New: func() Body { return new(MessageCancelled) },
	Display: Display{Kind: DisplayStream, Title: "{reason}", Ref: "eventId", Status: []StatusCase{{"", StatusCancelled}}}}

// ToolProcess is a process event of a call. AssistantEventID is the message with the
// call; both are empty for a background command whose call has ended.
type ToolProcess struct {
	ToolCallID       string       `json:"toolCallId,omitempty"`
	ToolName         string       `json:"toolName,omitempty"`
	ToolLabel        string       `json:"toolLabel,omitempty"` // for people, of a skill or a sub-agent its name
	AssistantEventID EventID      `json:"assistantEventId,omitempty"`
	Event            ProcessEvent `json:"event"`
}

var toolProcessSpec = EventSpec{Type: TypeToolProcess, Class: Transient, New: func() Body { return new(ToolProcess) },
	Display: Display{View: ViewCall}}

// Notice is a sentence for people from an extension, a hook or the host. Level is
// info, warning or error.
type Notice struct {
	Source string `json:"source,omitempty"` // who says it, "" for the host
	Level  string `json:"level"`
	Text   string `json:"text"`
}

var noticeSpec = EventSpec{Type: TypeNotice, Class: Transient, New: func() Body { return new(Notice) },
	Display: Display{Kind: DisplayNotice, Title: "{?source:{source}: }{text}",
		Status: []StatusCase{{"?level=error", StatusFailed}}}}

// UIState is something that an extension shows until it replaces or removes it: a
// word in the status line, or lines above or below the editor. Source and Key name
// it; without lines it is removed.
type UIState struct {
	Source string `json:"source"`
	Key    string `json:"key"`
	// Place is status, above, below, title, editor, header, footer; or, for terminal UIs,
	// indicator (the pictures of what shows that a turn runs), thinking (the heading of folded
	// thoughts) or theme (the name of one).
	Place string   `json:"place"`
	Lines []string `json:"lines,omitempty"`
	// IntervalMS is for how long each picture of an indicator is shown, 0 for the usual time.
	IntervalMS int `json:"intervalMs,omitempty"`
}

var uiStateSpec = EventSpec{Type: TypeUIState, Class: Transient, New: func() Body { return new(UIState) },
	Display: Display{Kind: DisplayHidden}}

// Suggestion is one answer that a permission question offers. Rule is what
// would be allowed from then on for Scope "session" or "always"; it is empty
// for "once".
type Suggestion struct {
	Label string `json:"label"`
	Scope string `json:"scope"` // once, session, always
	Rule  string `json:"rule,omitempty"`
}

// PermissionRequest asks whether a call may run, with its exact input. With Subagent
// it is a sub-agent of the session that wants to make the call, and ToolCallID the
// call of Task that it works for.
type PermissionRequest struct {
	PermissionID PermissionID    `json:"permissionId"`
	ToolCallID   string          `json:"toolCallId"`
	ToolName     string          `json:"toolName"`
	Args         json.RawMessage `json:"args"`
	Reason       string          `json:"reason,omitempty"`
	Suggestions  []Suggestion    `json:"suggestions"`
	Subagent     *Subagent       `json:"subagent,omitempty"`
	Preview      *ChangePreview  `json:"preview,omitempty"` // of a call that writes a file
}

// ChangePreview is what a call that waits for permission would do to a file, by the file
// as it was when the question was asked.
type ChangePreview struct {
	Path        string `json:"path"`                  // absolute
	Exists      bool   `json:"exists"`                // the file is there; else the call makes it
	LinesBefore int    `json:"linesBefore,omitempty"` // of the file as it is
	LinesAfter  int    `json:"linesAfter,omitempty"`  // of the file after the call
	// Diff is the whole difference in unified form, ≤ 64 KiB; "" where nothing changes and
	// where it is omitted.
	Diff string `json:"diff,omitempty"`
	// Omitted says that the difference is longer, or that one of the two contents has more
	// than 1 MiB.
	Omitted bool `json:"omitted,omitempty"`
}

var permissionRequestSpec = EventSpec{Type: TypePermissionRequest, Class: Transient, New: func() Body { return new(PermissionRequest) },
	Display: Display{View: ViewQuestion}}

// PermissionResolved closes a permission question. The event's clientId is who
// answered; the host's, when nobody did.
type PermissionResolved struct {
	PermissionID PermissionID `json:"permissionId"`
	Decision     Decision     `json:"decision"`
}

var permissionResolvedSpec = EventSpec{Type: TypePermissionResolved, Class: Transient, New: func() Body { return new(PermissionResolved) },
	Display: Display{Kind: DisplayQuestion, ID: "permissionId",
		Status: []StatusCase{{"?decision=allow", StatusAllowed}, {"?decision=cancelled", StatusCancelled}, {"?decision=expired", StatusExpired}, {"", StatusDenied}}}}

// Retry reports that the model is called again after a wait.
type Retry struct {
	Attempt     int    `json:"attempt"`
	MaxAttempts int    `json:"maxAttempts"`
	DelayMS     int64  `json:"delayMs"`
	Error       string `json:"error"`
}

var retrySpec = EventSpec{Type: TypeRetry, Class: Transient, New: func() Body { return new(Retry) },
	Display: Display{Kind: DisplayNotice, Title: "Trying again in {delayMs|duration} ({attempt} of {maxAttempts})", Text: "{error}",
		Status: []StatusCase{{"", StatusRunning}}}}

// UIRequest is a dialog that somebody is to answer with answer_ui.
type UIRequest struct {
	UIID string `json:"uiId"`
	Data Dialog `json:"data"`
}

var uiRequestSpec = EventSpec{Type: TypeUIRequest, Class: Transient, New: func() Body { return new(UIRequest) },
	Display: Display{View: ViewQuestion}}

// UIResolved closes a dialog. The event's clientId is who answered; the host's,
// when nobody did, and then Decision is cancelled or expired.
type UIResolved struct {
	UIID     string   `json:"uiId"`
	Decision Decision `json:"decision,omitempty"`
}

var uiResolvedSpec = EventSpec{Type: TypeUIResolved, Class: Transient, New: func() Body { return new(UIResolved) },
	Display: Display{Kind: DisplayQuestion, ID: "uiId",
		Status: []StatusCase{{"!decision", StatusOK}, {"?decision=allow", StatusAllowed}, {"?decision=cancelled", StatusCancelled}, {"?decision=expired", StatusExpired}, {"", StatusDenied}}}}

// Todos is the todo list of the active path, after the leaf has moved to another. What
// changes on the path itself the results of TodoWrite say.
type Todos struct {
	Todos []Todo `json:"todos"`
}

var todosSpec = EventSpec{Type: TypeTodos, Class: Transient, New: func() Body { return new(Todos) },
	Display: Display{Kind: DisplayHidden}}

// TaskUpdate returns how a background command, or a sub-agent in the background, stands:
// when it begins and ends, and at most once a second while it prints.
type TaskUpdate struct {
	Task TaskInfo `json:"task"`
}

var taskUpdateSpec = EventSpec{Type: TypeTaskUpdate, Class: Transient, New: func() Body { return new(TaskUpdate) },
	Display: Display{Kind: DisplayHidden}}

// AutomationUpdate returns how proactive mode stands whenever that changes; without an
// automation it is off.
type AutomationUpdate struct {
	Automation *Automation `json:"automation,omitempty"`
}

var automationUpdateSpec = EventSpec{Type: TypeAutomationUpdate, Class: Transient, New: func() Body { return new(AutomationUpdate) },
	Display: Display{Kind: DisplayHidden}}
