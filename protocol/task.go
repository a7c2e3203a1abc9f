package protocol

// TaskState returns the state of a background command.
type TaskState string

// The states of a background command.
const (
	TaskRunning  TaskState = "running"
	TaskExited   TaskState = "exited"    // by itself, or by a signal that Scorel did not send
	TaskStopped  TaskState = "stopped"   // somebody stopped it, or its session was closed
	TaskTimedOut TaskState = "timed_out" // it ran longer than it was given
	TaskLost     TaskState = "lost"      // the host was killed while it ran
)

// TaskInfo describes a background command of a session. Times are Unix
// milliseconds; EndedAt, ExitCode and Signal are set when it has ended. ExitCode
// is 128 + the signal's number when a signal ended it.
type TaskInfo struct {
	TaskID     string    `json:"taskId"`
	Command    string    `json:"command"` // at most 2,000 characters
	State      TaskState `json:"state"`
	StartedAt  int64     `json:"startedAt"`
	EndedAt    int64     `json:"endedAt,omitempty"`
	Bytes      int64     `json:"bytes"` // of output so far
	ExitCode   *int      `json:"exitCode,omitempty"`
	Signal     string    `json:"signal,omitempty"`
	ToolCallID string    `json:"toolCallId,omitempty"` // the call that started it
	// SessionID is that of a sub-agent in the background, and Agent its name; Command
	// is then what it is to do, in short.
	SessionID SessionID `json:"sessionId,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	// LastLine is the last line of output that is not blank, at most 200 characters.
	LastLine string `json:"lastLine,omitempty"`
	// Tokens is what the models of a sub-agent have answered so far, in tokens.
	Tokens int `json:"tokens,omitempty"`
}

// TaskNotice is the data of a harness item that tells of a background command:
// its end, with State, or, with Pattern, lines that a monitor matched.
type TaskNotice struct {
	TaskID   string    `json:"taskId"`
	Command  string    `json:"command,omitempty"` // its first line, cut
	State    TaskState `json:"state,omitempty"`
	ExitCode *int      `json:"exitCode,omitempty"`
	Signal   string    `json:"signal,omitempty"`
	Pattern  string    `json:"pattern,omitempty"`
	Lines    int       `json:"lines,omitempty"` // that matched, shown or not
	// SessionID is that of a sub-agent in the background, Agent its name, and Usage
	// what it used.
	SessionID SessionID `json:"sessionId,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Usage     *Usage    `json:"usage,omitempty"`

	Process *ProcessSummary `json:"process,omitempty"` // of a command that has ended
}

// Requests about background commands.
type (
	// ListTasks returns the background commands of a session; the answer is a
	// [TaskList].
	ListTasks struct{}
	// StopTask ends a background command; the answer is its [TaskInfo].
	StopTask struct {
		TaskID string `json:"taskId" check:"required,max=MaxWord"`
	}
	// GetTaskOutput returns the newest output of a background command, also while it runs.
	// It changes nothing of what a model is told. The answer is [TaskOutput].
	GetTaskOutput struct {
		TaskID string `json:"taskId" check:"required,max=MaxWord"`
	}
)

// What they are answered with.
type (
	// TaskOutput is the newest output of a background command, stdout and stderr as they
	// were printed, at most 64 KiB and from the beginning of a line on. Omitted is how many
	// bytes were printed before it.
	TaskOutput struct {
		Task    TaskInfo `json:"task"`
		Text    string   `json:"text"`
		Omitted int64    `json:"omitted,omitempty"`
	}
	// TaskList is the background commands of a session that are remembered, oldest
	// first.
	TaskList struct {
		Tasks []TaskInfo `json:"tasks"`
	}
)

var (
	listTasksSpec = Spec{
		Name: "list_tasks", Scope: ScopeSession, Grant: GrantView,
		New: func() Request { return new(ListTasks) }, Reply: func() Response { return new(TaskList) },
	}
	getTaskOutputSpec = Spec{
		Name: "get_task_output", Scope: ScopeSession, Grant: GrantView,
		New: func() Request { return new(GetTaskOutput) }, Reply: func() Response { return new(TaskOutput) },
	}
	stopTaskSpec = Spec{
		Name: "stop_task", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Urgent: true,
		New: func() Request { return new(StopTask) }, Reply: func() Response { return new(TaskInfo) },
	}
)

// Keep implements [Kept].
func (t *TaskInfo) Keep(most int) Response {
	if len(t.Command) <= most {
		return t
	}
	short := *t
	short.Command = ""
	return &short
}
