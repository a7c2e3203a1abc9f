package protocol

import "fmt"

// CommandSource returns where a slash command comes from.
type CommandSource string

// The sources of slash commands.
const (
	CommandBuiltin   CommandSource = "builtin"   // of the host
	CommandTemplate  CommandSource = "template"  // commands/*.md
	CommandSkill     CommandSource = "skill"     // a skill, as /name or /skill:name
	CommandExtension CommandSource = "extension" // registered by an extension
	CommandMCP       CommandSource = "mcp"       // a prompt of an MCP server
)

// ShortcutPrefix begins the name of a command of an extension that is a shortcut: the key that
// runs it follows, such as alt+k. Clients with keys run the command when that key is pressed and
// means nothing else.
const ShortcutPrefix = "shortcut:"

// Requests about slash commands.
type (
	// ListCommands returns the slash commands of a session, or, without one, those of
	// WorkDir; the answer is a [CommandList].
	ListCommands struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
	// CompleteCommand returns what may stand where the arguments of a command end; the
	// answer is a [CompletionList].
	CompleteCommand struct {
		Name string `json:"name" check:"required,max=MaxName"`
		Args string `json:"args" check:"max=MaxArgs"` // as typed so far, up to the cursor
	}
	// RunCommand runs a slash command of a session; Args is the text after its name
	// as it was typed. One whose text becomes a message sends it as [SendMessage] does,
	// with WhenBusy and Options. Moves says that the client carries out the [Move] of the
	// answer: without it a command cannot lead to another session. The answer is a
	// [CommandResult].
	RunCommand struct {
		Name     string       `json:"name" check:"required,max=MaxName"`
		Args     string       `json:"args,omitempty" check:"max=MaxArgs"`
		WhenBusy string       `json:"whenBusy,omitempty" check:"oneof=|followUp|steer|reject"`
		Options  *TurnOptions `json:"options,omitempty"`
		Moves    bool         `json:"moves,omitempty"`
	}
	// ExpandCommand returns the text that a command becomes which is a template, for who uses
	// it elsewhere; nothing is sent. One with shell lines is refused: they run only in a
	// session. The answer is an [ExpandedCommand].
	ExpandCommand struct {
		WorkDir string `json:"workDir" check:"required,max=MaxPath"`
		Name    string `json:"name" check:"required,max=MaxName"`
		Args    string `json:"args,omitempty" check:"max=MaxArgs"`
	}
	// Reload looks for extensions, skills, commands, agents and hooks again and starts
	// the session's extensions again; the answer is a [Reloaded].
	Reload struct{}
)

// What they are answered with.
type (
	// CommandInfo is a slash command, for help and completion.
	CommandInfo struct {
		Name         string        `json:"name"` // what is typed after the slash; "name:source" where a name is taken twice, "name:id" where an extension before that of the id has it
		Description  string        `json:"description,omitempty"`
		ArgumentHint string        `json:"argumentHint,omitempty"`
		Source       CommandSource `json:"source"`
		Origin       string        `json:"origin,omitempty"`    // its file, extension or skill
		Scope        string        `json:"scope,omitempty"`     // user or project; builtin of a template that is part of the program
		Completes    bool          `json:"completes,omitempty"` // complete_command knows arguments
		// Refused says why it cannot be run now, "" when it can.
		Refused string `json:"refused,omitempty"`
	}
	// CommandList is the slash commands, sorted by name.
	CommandList struct {
		Commands []CommandInfo `json:"commands"`
		Problems []string      `json:"problems,omitempty"` // about what is not a command, sentences
	}
	// CompleteInput asks extensions what may stand where a message is being typed; those that
	// answer say so in a [UIState] of the place [PlaceCompletions]. Before is what of the line
	// is before the cursor. The answer, a [CompletionList], is that of the first one that has
	// something.
	CompleteInput struct {
		Before string `json:"before" check:"required,max=MaxArgs"`
	}
	// Completion is one thing that may stand as an argument.
	Completion struct {
		Value       string `json:"value"`
		Label       string `json:"label,omitempty"`
		Description string `json:"description,omitempty"`
	}
	// CompletionList is at most 100 completions.
	CompletionList struct {
		Items []Completion `json:"items"`
		// Prefix is what the items of a [CompleteInput] replace, before the cursor.
		Prefix string `json:"prefix,omitempty"`
	}
	// CommandResult is what a command did. Status is a sentence for the person. A
	// command that sends its text as a message has Sent; one that is carried out when
	// the running turn comes to its next boundary has Queued.
	CommandResult struct {
		Status string `json:"status,omitempty"`
		Sent   *Sent  `json:"sent,omitempty"`
		Queued bool   `json:"queued,omitempty"`
		Text   string `json:"text,omitempty"` // what it prints, for the person alone
		Move   *Move  `json:"move,omitempty"` // where the command leads the client that sent it
	}
	// Move is where a command of an extension leads the client that sent it, and no other
	// one: to a session, which the client shows, or, with Quit, to its end. Editor and Message
	// are for that session: a text for the editor, and a message that the client sends.
	Move struct {
		SessionID SessionID `json:"sessionId,omitempty"`
		Made      bool      `json:"made,omitempty"` // the session is empty: it was made for this
		Editor    string    `json:"editor,omitempty"`
		Message   string    `json:"message,omitempty"`
		Notices   []string  `json:"notices,omitempty"` // sentences for the person
		Quit      bool      `json:"quit,omitempty"`
	}
	// ExpandedCommand is the text of a command with its arguments in their places.
	ExpandedCommand struct {
		Text string `json:"text"`
	}
	// Reloaded says what a reload found. Problems are sentences.
	Reloaded struct {
		Extensions int      `json:"extensions"`
		Skills     int      `json:"skills"`
		Commands   int      `json:"commands"`
		Agents     int      `json:"agents"`
		Hooks      int      `json:"hooks"`
		Problems   []string `json:"problems,omitempty"`
	}
)

var (
	listCommandsSpec = Spec{
		Name: "list_commands", Scope: ScopeEither, Grant: GrantView,
		New: func() Request { return new(ListCommands) }, Reply: func() Response { return new(CommandList) },
	}
	completeCommandSpec = Spec{
		Name: "complete_command", Scope: ScopeSession, Grant: GrantControl,
		New: func() Request { return new(CompleteCommand) }, Reply: func() Response { return new(CompletionList) },
	}
	completeInputSpec = Spec{
		Name: "complete_input", Scope: ScopeSession, Grant: GrantControl,
		New: func() Request { return new(CompleteInput) }, Reply: func() Response { return new(CompletionList) },
	}
	runCommandSpec = Spec{
		Name: "run_command", Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(RunCommand) }, Reply: func() Response { return new(CommandResult) }, Replay: ranBy,
	}
	expandCommandSpec = Spec{
		Name: "expand_command", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(ExpandCommand) }, Reply: func() Response { return new(ExpandedCommand) },
	}
	reloadSpec = Spec{
		Name: "reload", Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(Reload) }, Reply: func() Response { return new(Reloaded) },
	}
)

// ranBy is the answer to a command from the event that it left.
func ranBy(e Event) Response {
	switch b := e.Body.(type) {
	case *MessageBody:
		return &CommandResult{Sent: &Sent{EventID: e.ID}}
	case *QueueUpdate:
		if n := len(b.Items); n > 0 {
			return &CommandResult{Sent: &Sent{ItemID: b.Items[n-1].ID}}
		}
	case *Compact:
		return &CommandResult{Status: fmt.Sprintf("compacted from %d to %d tokens", b.TokensBefore, b.TokensAfter)}
	}
	return nil
}

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *RunCommand) Check() *Problem {
	return first(r.checkFields(), r.Options.Check())
}

// Keep implements [Kept].
func (r *CommandResult) Keep(most int) Response {
	if len(r.Text) <= most {
		return r
	}
	short := *r
	short.Text = ""
	return &short
}

// NamedFolder returns the folder that the client names: see [NamesFolder].
func (r *ListCommands) NamedFolder() string { return r.WorkDir }
