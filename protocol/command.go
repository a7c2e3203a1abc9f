package protocol

import "encoding/json"

// CommandSource says where a slash command comes from.
type CommandSource string

// The sources of slash commands.
const (
	CommandBuiltin   CommandSource = "builtin"   // of the host
	CommandTemplate  CommandSource = "template"  // commands/*.md
	CommandSkill     CommandSource = "skill"     // a skill, as /name or /skill:name
	CommandExtension CommandSource = "extension" // registered by an extension
	CommandMCP       CommandSource = "mcp"       // a prompt of an MCP server
)

// The responses about commands, extensions, skills, agents, memory and operations.
type (
	// CommandInfo is a slash command, for help and completion.
	CommandInfo struct {
		Name         string        `json:"name"` // what is typed behind the slash; "name:source" where a name is taken twice
		Description  string        `json:"description,omitempty"`
		ArgumentHint string        `json:"argumentHint,omitempty"`
		Source       CommandSource `json:"source"`
		Origin       string        `json:"origin,omitempty"`    // its file, extension or skill
		Scope        string        `json:"scope,omitempty"`     // user or project
		Completes    bool          `json:"completes,omitempty"` // complete_command knows arguments
		// Refused says why it cannot be run now, "" when it can.
		Refused string `json:"refused,omitempty"`
	}
	// CommandList is the slash commands, sorted by name.
	CommandList struct {
		Commands []CommandInfo `json:"commands"`
		Problems []string      `json:"problems,omitempty"` // about what is no command, sentences
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
	}
	// CommandResult is what a command did. Status is a sentence for the person. A
	// command that sends its text as a message has Sent; one that is carried out when
	// the running turn comes to its next border has Queued.
	CommandResult struct {
		Status string `json:"status,omitempty"`
		Sent   *Sent  `json:"sent,omitempty"`
		Queued bool   `json:"queued,omitempty"`
		Text   string `json:"text,omitempty"` // what it prints, for the person alone
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

	// ExtensionState says how an extension stands.
	ExtensionState string
	// ExtensionInfo is an extension that was found.
	ExtensionInfo struct {
		ID          string         `json:"id"`
		Name        string         `json:"name,omitempty"`
		Version     string         `json:"version,omitempty"`
		Path        string         `json:"path"`
		Scope       string         `json:"scope"` // user or project
		Kind        string         `json:"kind"`  // javascript or process
		State       ExtensionState `json:"state"`
		Problem     string         `json:"problem,omitempty"` // why it is not loaded, with file and line
		Tools       []string       `json:"tools,omitempty"`
		Commands    []string       `json:"commands,omitempty"`
		Hooks       []string       `json:"hooks,omitempty"` // events that it listens to
		Unsupported []string       `json:"unsupported,omitempty"`
	}
	// ExtensionList is what was found, in load order.
	ExtensionList struct {
		Extensions []ExtensionInfo `json:"extensions"`
		Problems   []string        `json:"problems,omitempty"`
	}

	// SkillInfo is a skill that was found.
	SkillInfo struct {
		Name        string   `json:"name"` // the name of its folder
		Label       string   `json:"label,omitempty"`
		Description string   `json:"description,omitempty"`
		Path        string   `json:"path"` // of SKILL.md
		Source      string   `json:"source"`
		Hash        string   `json:"hash,omitempty"`
		Entry       string   `json:"entry,omitempty"` // of an executable one
		State       string   `json:"state"`           // ok, shadowed, untrusted, broken
		Problems    []string `json:"problems,omitempty"`
		Tools       []string `json:"tools,omitempty"` // what it says that it uses; they grant nothing
		// TimeoutMS and Input, a JSON Schema, are those of an executable one.
		TimeoutMS int64           `json:"timeoutMs,omitempty"`
		Input     json.RawMessage `json:"input,omitempty"`
		Text      string          `json:"text,omitempty"` // what the model reads; only when it was asked for
	}
	// SkillList is what was found, sorted by name.
	SkillList struct {
		Skills   []SkillInfo `json:"skills"`
		Problems []string    `json:"problems,omitempty"`
	}

	// AgentInfo is an agent that Task can start.
	AgentInfo struct {
		Name        string   `json:"name"`
		Description string   `json:"description,omitempty"`
		Path        string   `json:"path,omitempty"` // "" of a built-in one
		Scope       string   `json:"scope"`          // builtin, user or project
		Model       string   `json:"model,omitempty"`
		Mode        string   `json:"mode,omitempty"`
		Tools       []string `json:"tools,omitempty"` // names, or a preset; "-name" is denied; none are those of the session
		MaxSteps    int      `json:"maxSteps,omitempty"`
		Prompt      string   `json:"prompt,omitempty"`
		State       string   `json:"state"`             // ok, shadowed, untrusted, broken
		Problem     string   `json:"problem,omitempty"` // why it does not count, or what of it has no effect
	}
	// AgentList is what was found, sorted by name.
	AgentList struct {
		Agents   []AgentInfo `json:"agents"`
		Problems []string    `json:"problems,omitempty"`
	}

	// MemoryFile is a file of memory.
	MemoryFile struct {
		Scope string `json:"scope"` // user, project or daily
		Path  string `json:"path"`
		Bytes int64  `json:"bytes"`
		Text  string `json:"text,omitempty"` // at most 64 KiB
	}
	// MemoryView is the memory of a session. Tokens is what of it is told to the model.
	MemoryView struct {
		Files   []MemoryFile `json:"files"`
		Tokens  int          `json:"tokens"`
		Problem string       `json:"problem,omitempty"`
	}

	// ProcessLine is a line of the log of an operation: an event, or a line that a
	// skill wrote to stderr.
	ProcessLine struct {
		Event  *ProcessEvent `json:"event,omitempty"`
		Stderr string        `json:"stderr,omitempty"`
		Note   string        `json:"note,omitempty"` // of the host: what was left out
	}
	// ProcessLog is a part of the log of an operation. Next is the offset behind it;
	// More says that something stands there already.
	ProcessLog struct {
		Lines []ProcessLine `json:"lines"`
		Next  int           `json:"next"`
		More  bool          `json:"more,omitempty"`
	}
)

// The states of an extension.
const (
	ExtensionFound     ExtensionState = "found"     // not started, because nobody needed it yet
	ExtensionLoaded    ExtensionState = "loaded"    //
	ExtensionDisabled  ExtensionState = "disabled"  // switched off by the user
	ExtensionUntrusted ExtensionState = "untrusted" // of a project, and not trusted
	ExtensionShadowed  ExtensionState = "shadowed"  // another one has its name
	ExtensionFailed    ExtensionState = "failed"    // it could not be loaded
	ExtensionStopped   ExtensionState = "stopped"   // switched off for the session, after three kills
)

func (*CommandList) response()    {}
func (*CompletionList) response() {}
func (*CommandResult) response()  {}
func (*Reloaded) response()       {}
func (*ExtensionInfo) response()  {}
func (*ExtensionList) response()  {}
func (*SkillList) response()      {}
func (*AgentList) response()      {}
func (*MemoryView) response()     {}
func (*ProcessLog) response()     {}
