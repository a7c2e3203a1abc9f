package tool

import (
	"context"
	"encoding/json"
	"io"

	"scorel/internal/fetch"
	"scorel/internal/permission"
	"scorel/internal/sandbox"
	"scorel/internal/skill"
	"scorel/internal/task"
	"scorel/protocol"
)

// Tool is one tool. It may be used by several goroutines at once.
type Tool interface {
	Spec() Spec
	// Prepare takes an input that is valid under the schema. An error is the
	// text of an error result, written for the model: what was wrong and what to
	// do instead. It changes nothing outside.
	Prepare(ctx context.Context, env *Env, call Call) (Prepared, error)
}

// Spec describes a tool.
type Spec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the input, an object with additionalProperties false
	Kind        permission.Kind
	// Parallel says that calls of one message may run side by side.
	Parallel bool
	// Finishes says that a running call is not cancelled: it ends by itself soon.
	Finishes bool
	// Waits says that a call waits for or looks at something that goes on by itself, or
	// for a person: to make it again and again is no loop.
	Waits bool
}

// Call is one call. Process tells people how its work goes on, Stderr keeps a line
// that a child wrote to stderr in the log of that. Both may be nil, may be called by
// any goroutine until Run has returned, and never wait for a client. What they are told
// never reaches a model.
type Call struct {
	ID      string
	Input   json.RawMessage
	Process func(protocol.ProcessUpdate)
	Stderr  func(line string)
}

// Report is Process where there is one.
func (c Call) Report(u protocol.ProcessUpdate) {
	if c.Process != nil {
		c.Process(u)
	}
}

// LogStderr is Stderr where there is one.
func (c Call) LogStderr(line string) {
	if c.Stderr != nil {
		c.Stderr(line)
	}
}

// Labelled is a [Prepared] that has a name for people: that of its skill or sub-agent.
type Labelled interface{ Label() string }

// GitRuled is a [Prepared] that runs otherwise where a rule about Git allowed it: before
// Run, Git is told to take no folder for a bare repository by itself.
type GitRuled interface{ AllowedByGitRule() }

// Prepared is a call that is ready to run, with its handles open.
type Prepared interface {
	// Action is what Run will do.
	Action() permission.Action
	// Snapshots gives the state of the files that Run will write, as it is now.
	// Content is read at most once and is nil for a file that did not exist or
	// cannot be restored.
	Snapshots(ctx context.Context) ([]Snapshot, error)
	// Run does it. A failure that the model should see is a Result with IsError;
	// an error is one too, with the error's text. update may be called with
	// output as it comes; the strings follow each other.
	Run(ctx context.Context, update func(output string)) (Result, error)
	// Close releases the handles. It is always called, also when Run was not.
	Close()
}

// Snapshot is a file before it is written.
type Snapshot struct {
	Path       string // absolute
	Existed    bool
	Restorable bool // false above 10 MiB, and for what is not a regular file
	Mode       uint32
	Content    []byte
}

// Result is what a call gives. Content is already bounded for the model; what
// was cut is whole in Full, for the host to keep in a blob.
type Result struct {
	Content []protocol.Block
	IsError bool
	Details any           // marshalled into details; nil without
	Full    io.ReadCloser // the uncut output when Content was cut, ≤ 64 MiB, else nil
	// Usage is what a sub-agent used for it, nil without one.
	Usage *protocol.Usage
	// Process is how the background command went whose end the result tells of. It
	// counts where the call itself has reported nothing.
	Process *protocol.ProcessSummary
}

// Details is what results of the built-in tools carry for clients and for the
// rules about unread files.
type Details struct {
	Files []FileState `json:"files,omitempty"`
	Diff  string      `json:"diff,omitempty"` // unified, of Write and Edit, ≤ 16 KiB
	// ExitCode of Bash.
	ExitCode *int `json:"exitCode,omitempty"`
	// Dir is the working directory behind a Bash call.
	Dir string `json:"dir,omitempty"`
	// Todos of TodoWrite: the list before and after.
	OldTodos []Todo `json:"oldTodos,omitempty"`
	Todos    []Todo `json:"todos,omitempty"`
	// TaskID is the background command that the result is about.
	TaskID string `json:"taskId,omitempty"`
	// Agent is the sub-agent that the result is from.
	Agent *AgentState `json:"agent,omitempty"`
	// Plan of ExitPlanMode: what became of it.
	Plan *Planned `json:"plan,omitempty"`
	// Asked of AskUser: the questions with what was answered.
	Asked []Asked `json:"asked,omitempty"`
	// FullBlob names the blob with the uncut output; the host sets it.
	FullBlob string `json:"fullBlob,omitempty"`
	// ChangedProtected are the protected files that a command made, changed or
	// removed, absolute; at most 100.
	ChangedProtected []string `json:"changedProtected,omitempty"`
	// SetAside is what a command has put into a repository and was moved away; at most 100.
	SetAside []protocol.SetAside `json:"setAside,omitempty"`
	// Cancelled and TimedOut say why a command was ended.
	Cancelled bool `json:"cancelled,omitempty"`
	TimedOut  bool `json:"timedOut,omitempty"`
}

// FileState is a file as a tool saw or left it. Whole says that the model has
// seen all of it (or wrote it); else From and To are the lines that it saw in
// full, of Of lines, 0 when some were cut.
type FileState struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Whole  bool   `json:"whole,omitempty"`
	From   int    `json:"from,omitempty"`
	To     int    `json:"to,omitempty"`
	Of     int    `json:"of,omitempty"`
	Mode   uint32 `json:"mode,omitempty"` // its permission bits, where it was written
}

// Todo is one entry of the todo list.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress, completed
}

// Env is what the tools of one session share. The host makes it for each turn
// from the log. StoredResult, PutBlob, Todos, Tasks and Ask may be nil: then there
// are none. So may Web, Search and Note, of whose tools the calls then fail.
type Env struct {
	Files *Files // the workspace
	Spawn sandbox.Spawner
	// Environ is the scrubbed environment for children.
	Environ []string
	// Window is the context window of the model in tokens.
	Window int
	// Seen says what the model has seen of files, in the active path. The tools
	// note in it what their own results say.
	Seen *Seen
	// Dir is the working directory of Bash, absolute; Bash changes it.
	Dir *Dir
	// StoredResult gives the whole stored result or spilled output of a call on
	// the active path, for Read of "result:<toolCallId>".
	StoredResult func(ctx context.Context, toolCallID string) (io.ReadCloser, error)
	// PutBlob stores a payload and returns its SHA-256 when it is durable.
	PutBlob func(ctx context.Context, r io.Reader) (string, error)
	// Todos is the todo list of the active path.
	Todos func() []Todo
	// Tasks are the background commands of the session.
	Tasks *task.Set
	// Ask puts questions to people and waits for their answers; nil answers mean
	// that somebody closed the questions. An error is for the model: nobody could
	// be asked, nobody answered in time, or ctx has ended.
	Ask func(ctx context.Context, toolCallID string, questions []protocol.Question) (protocol.Answers, error)
	// Plan puts a plan to people and waits for what they say; nil: nobody approves plans
	// here. An error is for the model, as of Ask.
	Plan func(ctx context.Context, toolCallID, plan string) (PlanVerdict, error)
	// Agent starts a sub-agent and gives its result, or that of its start in the
	// background; nil: there are none here.
	Agent func(ctx context.Context, call AgentCall) (Result, error)
	// Note keeps a daily note of the project and says where; nil: notes are off. An
	// error is for the model.
	Note func(ctx context.Context, text string) (where string, err error)
	// Web fetches pages; Pages keeps those that are paged through, nil for none.
	Web   *fetch.Client
	Pages *fetch.Cache
	// Search asks the user's search service.
	Search *fetch.Searcher
	// Withheld says which files below a folder a search of the folder leaves out;
	// nil: none.
	Withheld func(folder, file string) bool
	// Skills are those of the turn; nil: none.
	Skills *skill.Set
	// Protected tells people of protected files that a command has changed and of what was
	// set aside, and the model, for which text is; nil: the result tells it. It may be
	// called by any goroutine.
	Protected func(n protocol.ProtectedNotice, text string)
	// Ripgrep is the path of rg, "" to search with the built-in code.
	Ripgrep string
}
