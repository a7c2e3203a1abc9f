package tool

import (
	"context"
	"io"
	"time"

	"scorel/internal/engine/background"
	"scorel/internal/engine/fetch"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool/files"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Setting is what the tools of a turn work in. A tool whose part is missing says so when
// it is called.
type Setting struct {
	Files *files.Files // the workspace
	Spawn sandbox.Spawner
	// Environ is the scrubbed environment for children.
	Environ []string
	// Window is the context window of the model in tokens.
	Window int
	// Ripgrep is the path of rg, "" to search with the built-in code.
	Ripgrep string
	// Withheld reports which files below a folder a search of the folder leaves out;
	// nil: none.
	Withheld func(folder, file string) bool
	// Web fetches pages; Pages keeps those that are paged through, nil for none.
	Web   *fetch.Client
	Pages *fetch.Cache
	// Search asks the user's search service.
	Search *fetch.Searcher
	// Skills are those of the turn; nil: none.
	Skills *skill.Set
	// Prompts are those of MCP servers that the turn may use; nil: none.
	Prompts Prompts
	Notes   Notes
	// Extras are the tools that the model is not sent; nil: none.
	Extras *Extras
}

// Session is what the tools of a turn know and change of its session. A tool whose part is
// missing says so when it is called.
type Session struct {
	// Seen is what the model has seen of files, in the active path. The tools note in it
	// what their own results say.
	Seen *files.Seen
	// Dir is the working directory of Bash, absolute; Bash changes it.
	Dir *Dir
	// Tasks are the background commands of the session.
	Tasks     *background.Set
	Results   Results
	Blobs     Blobs
	Todos     Todos
	People    People
	Agents    Agents
	Protected Protected
	Schedules Schedules // nil where nothing would be due
	Sleeper   Sleeper   // nil where proactive mode is off
}

// Results finds what earlier calls gave.
type Results interface {
	// StoredResult returns the whole stored result or spilled output of a call on
	// the active path, for Read of "result:<toolCallId>".
	StoredResult(ctx context.Context, toolCallID string) (io.ReadCloser, error)
}

// Blobs keeps payloads.
type Blobs interface {
	// PutBlob stores a payload and returns its SHA-256 when it is durable.
	PutBlob(ctx context.Context, r io.Reader) (string, error)
}

// Todos is the todo list of the active path.
type Todos interface{ Todos() []protocol.Todo }

// People are asked, and waited for. An error is for the model: nobody could be asked,
// nobody answered in time, or ctx has ended.
type People interface {
	// Ask puts questions; nil answers mean that somebody closed them.
	Ask(ctx context.Context, toolCallID string, questions []protocol.Question) (protocol.Answers, error)
	// Plan puts a plan.
	Plan(ctx context.Context, toolCallID, plan string) (PlanVerdict, error)
	// EnterPlan proposes to plan, and why; with a yes plan mode is on when it returns.
	EnterPlan(ctx context.Context, toolCallID, reason string) (PlanProposal, error)
}

// Agents starts sub-agents.
type Agents interface {
	// RunAgent starts one and returns its result, or that of its start in the background.
	RunAgent(ctx context.Context, call AgentCall) (Result, error)
}

// Schedules are those of the host.
type Schedules interface {
	// Arm proposes a schedule of the session to people, and arms it with their yes. It returns
	// nil when they do not want it.
	Arm(ctx context.Context, toolCallID string, r protocol.CreateSchedule) (*protocol.Schedule, error)
	// Schedules returns all there are, oldest first.
	Schedules() ([]protocol.Schedule, error)
	// Disarm deletes one.
	Disarm(id protocol.ScheduleID) error
}

// Prompts are those of MCP servers, which a model uses like skills. They may be used
// concurrently.
type Prompts interface {
	// List returns those that are known now, sorted by name.
	List() []skill.Skill
	// Find returns a prompt with its arguments, as a model gives them. It waits a short time
	// for a server that may have it. An error is for the model.
	Find(ctx context.Context, name, args string) (Prompt, error)
}

// Prompt is a prompt of an MCP server, ready to be filled in.
type Prompt struct {
	Server string // as rules name it
	Label  string // for people
	// Fill asks the server for the text, in the course of a call.
	Fill func(ctx context.Context, callID string) (Result, error)
}

// Sleeper waits.
type Sleeper interface {
	// Sleep returns after d, or earlier with why: a clause for the model, "" for none.
	Sleep(ctx context.Context, d time.Duration) (slept time.Duration, why string, err error)
}

// Notes keeps daily notes of a project.
type Notes interface {
	// Note keeps one and returns where. An error is for the model.
	Note(ctx context.Context, text string) (where string, err error)
}

// Protected tells people of protected files that a command has changed and of what was set
// aside, and the model, for which text is. Without it the result tells it.
type Protected interface {
	// NotifyProtected may be called by any goroutine.
	NotifyProtected(n protocol.ProtectedNotice, text string)
}

// Needy is a tool that needs something of a turn.
type Needy interface {
	// With returns the tool with just that.
	With(g Setting, s Session) Tool
}

// Bind returns the tools of a turn, each with what it needs. Those that need nothing stay
// as they are.
func Bind(tools []Tool, g Setting, s Session) []Tool {
	bound := make([]Tool, len(tools))
	for i, t := range tools {
		if n, ok := t.(Needy); ok {
			t = n.With(g, s)
		}
		bound[i] = t
	}
	return bound
}
