package protocol

import "encoding/json"

// ShellKind is the kind of the events about a command that a person ran: first a custom
// event with [ShellRun], stored before the command begins, then a custom message with
// [ShellResult]. The message is of the user where the model is told of it, else internal.
// Its last block is what the command printed.
const ShellKind = OwnKind + "shell"

// ShellRun is the data of the event that precedes a command. EventID is the message that
// will say how it went.
type ShellRun struct {
	SessionID SessionID `json:"sessionId"` // in which it ran: a clone did not run it
	EventID   EventID   `json:"eventId"`
	Command   string    `json:"command"`
	InContext bool      `json:"inContext"`
}

// ShellResult is the data of the message about a command that has ended. ExitCode is nil
// where it is not known: Lost says that its host was killed while it ran.
type ShellResult struct {
	Command    string `json:"command"`
	InContext  bool   `json:"inContext"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	DurationMS int64  `json:"durationMs,omitempty"`
	Cancelled  bool   `json:"cancelled,omitempty"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	Failed     string `json:"failed,omitempty"` // why it did not even start
	Lost       bool   `json:"lost,omitempty"`
	FullBlob   string `json:"fullBlob,omitempty"` // the uncut output, where it was cut
	// Shown says which of the output is for people; nil in logs of older versions.
	Shown *ShownText `json:"shown,omitempty"`
	// ChangedProtected are the protected files that it made, changed or removed.
	ChangedProtected []string `json:"changedProtected,omitempty"`
	// SetAside is what it put into a repository and was moved away.
	SetAside []SetAside `json:"setAside,omitempty"`
}

// ShellOf returns the result that a message of kind [ShellKind] carries and what the
// command printed. It is false for any other message.
func ShellOf(b *CustomMessage) (result ShellResult, output string, ok bool) {
	if b.Kind != ShellKind || json.Unmarshal(b.Data, &result) != nil {
		return ShellResult{}, "", false
	}
	if n := len(b.Message.Content); n > 0 {
		output = b.Message.Content[n-1].Text
	}
	return result, output, true
}

// OutputForPeople returns what a command printed, without what is for the model alone.
func (r *ShellResult) OutputForPeople(output string) string {
	if r.Shown == nil {
		return oldTextForPeople(ViewCommand, output, ToolDetails{ExitCode: r.ExitCode})
	}
	return r.Shown.Of(output)
}

// Requests about commands of a person.
type (
	// RunShell runs a command of the person who sends it, as bash, in the session's
	// folder and its sandbox; nobody is asked, and no rule or mode is. The answer is
	// [ShellStarted], at once. All clients see it run as a tool_execution_start with
	// [ToolExecutionStart.Shell], its output as updates, and at the end the custom
	// message of kind [ShellKind] that the start has announced. With InContext the model
	// is told of command and output with its next call; otherwise no model ever is. A
	// running turn is not disturbed: the message enters at its next step boundary.
	RunShell struct {
		Command   string `json:"command" check:"required,max=MaxShell"` // bash source, at most 100,000 bytes
		InContext bool   `json:"inContext,omitempty"`
		// Monitor starts the command in the background, where it runs until it ends, is
		// stopped (stop_task) or the session ends. The model is told of each line that it
		// prints, as with the tool Monitor; the message says that it was started, and the
		// model is told of that whatever InContext says.
		Monitor bool `json:"monitor,omitempty"`
	}
	// StopShell ends a running command of a person, by the event that its start has
	// announced; what it printed is stored. The answer is [Cancelled].
	StopShell struct {
		EventID EventID `json:"eventId" check:"required,max=MaxWord"`
	}
)

// What they are answered with.
type (
	// ShellStarted says that a command of a person runs. EventID is the event that will
	// say how it went.
	ShellStarted struct {
		EventID EventID `json:"eventId"`
	}
)

var (
	runShellSpec = Spec{
		Name: "run_shell", Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(RunShell) }, Reply: func() Response { return new(ShellStarted) }, Replay: startedBy,
	}
	stopShellSpec = Spec{
		Name: "stop_shell", Scope: ScopeSession, Grant: GrantAnswer, Mutates: true,
		New: func() Request { return new(StopShell) }, Reply: func() Response { return new(Cancelled) },
	}
)

// startedBy is the answer to a request that started a command.
func startedBy(e Event) Response {
	var run ShellRun
	if b, ok := e.Body.(*Custom); ok && b.Kind == ShellKind && json.Unmarshal(b.Data, &run) == nil {
		return &ShellStarted{EventID: run.EventID}
	}
	return nil
}
