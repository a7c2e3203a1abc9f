package protocol

import "encoding/json"

// ProcessVersion is the version of [ProcessEvent] that this package writes.
const ProcessVersion = 1

// ProcessTarget returns what a process event is about.
type ProcessTarget string

// The targets of process events.
const (
	ProcessOfTool     ProcessTarget = "tool"
	ProcessOfSkill    ProcessTarget = "skill"
	ProcessOfSubagent ProcessTarget = "subagent"
	ProcessOfTask     ProcessTarget = "task"
	ProcessOfRuntime  ProcessTarget = "runtime"
)

// ProcessSource returns who reports a process event.
type ProcessSource string

// The sources of process events.
const (
	ProcessBySkill    ProcessSource = "skill"
	ProcessByTool     ProcessSource = "tool"
	ProcessBySubagent ProcessSource = "subagent"
	ProcessByRuntime  ProcessSource = "runtime"
)

// ProcessStatus returns the state of an operation.
type ProcessStatus string

// The states of an operation. The last four are terminal.
const (
	ProcessQueued    ProcessStatus = "queued"
	ProcessStarted   ProcessStatus = "started"
	ProcessRunning   ProcessStatus = "running"
	ProcessCompleted ProcessStatus = "completed"
	ProcessFailed    ProcessStatus = "failed"
	ProcessCancelled ProcessStatus = "cancelled"
	ProcessSkipped   ProcessStatus = "skipped"
)

// Terminal reports that nothing follows in the operation.
func (s ProcessStatus) Terminal() bool {
	switch s {
	case ProcessCompleted, ProcessFailed, ProcessCancelled, ProcessSkipped:
		return true
	}
	return false
}

// ProcessLevel returns how much a process event matters.
type ProcessLevel string

// The levels of process events.
const (
	ProcessDebug   ProcessLevel = "debug"
	ProcessInfo    ProcessLevel = "info"
	ProcessWarning ProcessLevel = "warning"
	ProcessError   ProcessLevel = "error"
)

// ProcessUpdate is what a tool, a skill or a sub-agent reports of its work. Only
// Message is needed; the host fills in the rest ([ProcessEvent]). OperationID is
// the call's own when it is empty. Payload's values are cut down to scalars, and
// what looks like a secret is hidden.
type ProcessUpdate struct {
	OperationID       string          `json:"operationId,omitempty"`
	ParentOperationID string          `json:"parentOperationId,omitempty"`
	TargetType        ProcessTarget   `json:"targetType,omitempty"`
	Source            ProcessSource   `json:"source,omitempty"`
	TaskID            string          `json:"taskId,omitempty"`
	Stage             string          `json:"stage,omitempty"`
	Status            ProcessStatus   `json:"status,omitempty"`
	Level             ProcessLevel    `json:"level,omitempty"`
	Message           string          `json:"message"`
	Detail            string          `json:"detail,omitempty"`
	Current           *float64        `json:"current,omitempty"`
	Total             *float64        `json:"total,omitempty"`
	Percent           *float64        `json:"percent,omitempty"`
	Payload           json.RawMessage `json:"payload,omitempty"` // an object
	Timestamp         string          `json:"timestamp,omitempty"`
}

// ProcessEvent tells the state of an operation: the progress of a call, a skill, a
// sub-agent or a background command. It is for people and never reaches a model.
// Percent is from 0 to 100; Timestamp is RFC 3339; Sequence counts the events of an
// operation from 1.
type ProcessEvent struct {
	Version           int             `json:"version"`
	OperationID       string          `json:"operationId"`
	ParentOperationID string          `json:"parentOperationId,omitempty"`
	TargetType        ProcessTarget   `json:"targetType"`
	Source            ProcessSource   `json:"source"`
	TaskID            string          `json:"taskId,omitempty"`
	Stage             string          `json:"stage,omitempty"`
	Status            ProcessStatus   `json:"status"`
	Level             ProcessLevel    `json:"level"`
	Message           string          `json:"message"`
	Detail            string          `json:"detail,omitempty"`
	Current           *float64        `json:"current,omitempty"`
	Total             *float64        `json:"total,omitempty"`
	Percent           *float64        `json:"percent,omitempty"`
	Payload           json.RawMessage `json:"payload,omitempty"` // an object of scalars
	Timestamp         string          `json:"timestamp"`
	Sequence          int64           `json:"sequence"`
}

// ProcessLogKind is the kind of a [ProcessLogRef].
const ProcessLogKind = "runtime_process_log"

// ProcessLogRef names the whole log of an operation, for get_process_log.
type ProcessLogRef struct {
	Kind        string    `json:"kind"`
	SessionID   SessionID `json:"sessionId"`
	OperationID string    `json:"operationId"`
	ToolCallID  string    `json:"toolCallId,omitempty"`
}

// ProcessSummary is what a tool result keeps of the process events of its call:
// the newest of each operation's, at most 50 events (the first 10 and the last 40),
// and where the whole is.
type ProcessSummary struct {
	Latest *ProcessEvent  `json:"latest,omitempty"`
	Events []ProcessEvent `json:"events,omitempty"`
	LogRef *ProcessLogRef `json:"logRef,omitempty"`
}

// Requests about what operations told.
type (
	// GetProcessLog returns a part of the log of an operation, from the line Offset on;
	// the answer is a [ProcessLog].
	GetProcessLog struct {
		OperationID string `json:"operationId" check:"required,max=MaxName"`
		Offset      int    `json:"offset,omitempty" check:"min=0"`
		Limit       int    `json:"limit,omitempty" check:"min=0"` // lines, 1 to 1,000; 0: 200
	}
)

// What they are answered with.
type (
	// ProcessLog is a part of the log of an operation. Next is the offset after it;
	// More says that something is there already.
	ProcessLog struct {
		Lines []ProcessLine `json:"lines"`
		Next  int           `json:"next"`
		More  bool          `json:"more,omitempty"`
	}
	// ProcessLine is a line of the log of an operation: an event, or a line that a
	// skill wrote to stderr.
	ProcessLine struct {
		Event  *ProcessEvent `json:"event,omitempty"`
		Stderr string        `json:"stderr,omitempty"`
		Note   string        `json:"note,omitempty"` // of the host: what was left out
	}
)

var (
	getProcessLogSpec = Spec{
		Name: "get_process_log", Scope: ScopeSession, Grant: GrantView,
		Method: "GET", Path: "/v1/sessions/{sessionId}/processes/{operationId}",
		New: func() Request { return new(GetProcessLog) }, Reply: func() Response { return new(ProcessLog) },
	}
)
