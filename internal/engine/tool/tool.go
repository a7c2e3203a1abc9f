package tool

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

// Tool is one tool. It may be used by several goroutines at once.
type Tool interface {
	Spec() Spec
	// Prepare takes an input that is valid under the schema. An error is the
	// text of an error result, written for the model: what was wrong and what to
	// do instead. It changes nothing outside.
	Prepare(ctx context.Context, call Call) (Prepared, error)
}

// Spec describes a tool: what it means to others, and how it is called.
type Spec struct {
	protocol.ToolInfo
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the input, an object with additionalProperties false
	// Preset is the smallest preset that has it; "" is [Coding].
	Preset Preset
	// Needs is what a session must have for the tool to be of use; "" is nothing.
	Needs Need
	// Parallel says that calls of one message may run side by side: only of tools that
	// change nothing themselves, which those of the kinds write and exec may do.
	Parallel bool
	// Finishes says that a running call is not cancelled: it ends by itself soon.
	Finishes bool
	// Deferred says that a model is not sent the tool where it can search for tools.
	Deferred bool
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

// Cautious is a [Prepared] that has something to say to people who are asked whether it may
// run, "" for nothing. It has no effect on whether they are asked.
type Cautious interface{ Caution() string }

// Labelled is a [Prepared] that has a name for people: that of its skill or sub-agent.
type Labelled interface{ Label() string }

// Colored is a [Prepared] whose sub-agent may have a color, "" for none.
type Colored interface{ Color() string }

// Redirecting is a [Tool] whose calls are calls of other tools. Whoever runs a call asks it
// first, so that hooks, rules, questions and limits are those of the other tool.
type Redirecting interface {
	// Target returns the tool that a call with this input is for, and the input for that. It
	// may wait some seconds for the server of the tool. An error is the text of an error
	// result, for the model.
	Target(ctx context.Context, input json.RawMessage) (Tool, json.RawMessage, error)
	// Behind returns the tool of a name that calls can be redirected to, nil for none. It
	// does not wait.
	Behind(name string) Tool
}

// Checked is a [Tool] that checks its inputs itself, before hooks and rules: its schema is
// somebody else's, and a check by it may take too long. An error is for the model.
type Checked interface {
	Check(input json.RawMessage) error
}

// Served is a [Tool] of an MCP server.
type Served interface{ Server() string }

// Described returns the description of a tool as a model reads it. That of a tool of an MCP
// server begins with a mark of the server, and none of its lines begins where a line of ours
// would, so that it is taken neither for a text of Scorel nor for one of another tool.
func Described(t Tool) string {
	text := t.Spec().Description
	s, ok := t.(Served)
	if !ok || text == "" {
		return text
	}
	return "[" + s.Server() + " says] " + strings.ReplaceAll(text, "\n", "\n  ")
}

// Hinted is a [Tool] with words to find it by, "" for none.
type Hinted interface{ Hint() string }

// Extended is a [Tool] that an extension brings.
type Extended interface{ Extension() string }

// Previewer is a [Prepared] that can show what Run would do to a file.
type Previewer interface {
	Preview() *protocol.ChangePreview
}

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

// Snapshot is [files.Snapshot].
type Snapshot = files.Snapshot

// Result is what a call gives. Content is already bounded for the model; what
// was cut is whole in Full, for the host to keep in a blob.
type Result struct {
	Content []protocol.Block
	IsError bool
	Details any           // marshalled into details; nil without
	Full    io.ReadCloser // the uncut output when Content was cut, ≤ 64 MiB, else nil
	// Ends says that the turn is over with this result, when every call of its message
	// says so.
	Ends bool
	// Usage is what a sub-agent used for it, nil without one.
	Usage *protocol.Usage
	// Process is how the background command went whose end the result tells of. It
	// counts where the call itself has reported nothing.
	Process *protocol.ProcessSummary
}

// TextForPeople returns the text of the result without what is for the model alone.
func (r Result) TextForPeople() string {
	text := protocol.Message{Content: r.Content}.PlainText()
	if d, ok := r.Details.(protocol.ToolDetails); ok {
		return d.Shown.Of(text)
	}
	return text
}
