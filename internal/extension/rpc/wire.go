package rpc

import (
	"encoding/json"

	"scorel/protocol"
)

// Version is the version of this protocol.
const Version = 1

// MaxMessage bounds a message in bytes, both ways.
const MaxMessage = 64 << 20

// The methods that the host calls. A call that carries an extension's id in "ext" is
// for that one: one child holds several JavaScript extensions, any other process
// holds one and may ignore the field.
const (
	MethodInitialize = "initialize"       // [Initialize] → [Initialized]
	MethodLoad       = "extension/load"   // [Load] → [Registration]
	MethodUnload     = "extension/unload" // [Unload] → null
	MethodHook       = "hook"             // [HookCall] → by its name, null for no answer
	MethodTool       = "tool/run"         // [ToolRun] → [ToolResult]
	MethodCommand    = "command/run"      // [CommandRun] → [CommandDone] or null
	MethodComplete   = "command/complete" // [CommandComplete] → [protocol.CompletionList]
	MethodRender     = "ui/render"        // [Render] → [Rendered]
	MethodShutdown   = "shutdown"         // {} → null; the process ends after its answer
)

// The notifications of the host.
const (
	NoteEntries = "entries"         // [Entries]: the conversation as extensions see it
	NoteState   = "state"           // [State]
	NoteEvent   = "event"           // [EventNote], to those that subscribed to its type
	NoteInput   = "ui/input"        // [Input]: keys, or another size, for a component of the extension
	NoteCancel  = "$/cancelRequest" // [Cancel]: a request that runs is not wanted any more
)

// The methods that an extension calls. All carry "ext".
const (
	CallRegister      = "register"          // [Registration]: replaces tools, commands and events of the extension
	CallAppend        = "session/append"    // [AppendEntry] → {"id":…}
	CallSessionName   = "session/name"      // {"name":…} → null
	CallLabel         = "session/label"     // {"entryId":…,"label":…|null} → null
	CallSendMessage   = "agent/sendMessage" // [SendMessage] → null
	CallSendUser      = "agent/sendUser"    // [SendUser] → null
	CallCancel        = "agent/cancel"      // {} → null: the running turn
	CallCompact       = "agent/compact"     // {"instructions":…,"later":bool} → null; later: after the command that asks for it
	CallReload        = "agent/reload"      // {} → null: extensions are loaded again at the next step boundary
	CallMove          = "session/move"      // [Move] → {"cancelled":bool}: while a command runs
	CallCarry         = "session/carry"     // [Carry] → null: after session/move
	CallSetModel      = "agent/setModel"    // {"provider":…,"id":…} → {"ok":bool}
	CallSetThinking   = "agent/setThinking" // {"level":…} → null
	CallActiveTools   = "tools/setActive"   // {"names":[…]} → null
	CallBuiltin       = "tools/builtin"     // [BuiltinRun] → [ToolResult]: for a call of a tool that replaces a built-in one
	CallModels        = "models/list"       // {} → {"models":[…]}, with a key
	CallModelKey      = "models/key"        // {"provider":…,"id":…} → {"apiKey":…|null}; a handle for a project's
	CallComplete      = "models/complete"   // [Complete] → [Completed]
	CallDialog        = "ui/dialog"         // [Dialog] → {"value":…}, null when nobody answered, and for a component that was closed
	CallNotify        = "ui/notify"         // {"message":…,"level":…} → null
	CallUIState       = "ui/state"          // {"key":…,"place":…,"lines":[…]|null,"intervalMs":…} → null
	CallConfig        = "config/get"        // {} → the table [extensions.<id>]
	CallExec          = "exec"              // [Exec] → [ExecResult]
	NoteFrame         = "ui/frame"          // [Frame]: what a component looks like now
	NoteLog           = "log"               // {"level":…,"message":…}: into the diagnostics of the session
	NoteToolUpdate    = "tool/update"       // [ToolUpdate]
	NoteProcess       = "tool/process"      // [ToolProcess]
	NoteHandlerFailed = "handlerFailed"     // {"event":…,"error":…,"stack":…}: of one that only watches
	NoteBus           = "bus"               // {"channel":…,"data":…}: between extensions; passed on to the others as it is
)

// Initialize begins a connection.
type Initialize struct {
	Protocol int     `json:"protocol"`
	Version  string  `json:"version"` // of Scorel
	Session  Session `json:"session"`
	State    State   `json:"state"`
	Builtins []Tool  `json:"builtins,omitempty"` // the built-in tools that an extension may replace
}

// Initialized answers it. Entries says that a program wants the conversation too
// ([Entries]); the child with JavaScript always gets it.
type Initialized struct {
	Protocol int  `json:"protocol"`
	Entries  bool `json:"entries,omitempty"`
}

// Session is what does not change while a session is loaded.
type Session struct {
	ID          protocol.SessionID `json:"id"`
	Cwd         string             `json:"cwd"`
	ProjectRoot string             `json:"projectRoot"`
	File        string             `json:"file,omitempty"` // of the log, to show; it cannot be read
	Mode        string             `json:"mode"`           // tui, rpc, json, print
}

// State is what changes. It is sent before the call that needs it.
type State struct {
	Name          string   `json:"name,omitempty"`
	Model         *Model   `json:"model,omitempty"`
	ThinkingLevel string   `json:"thinkingLevel,omitempty"`
	PermMode      string   `json:"permissionMode,omitempty"`
	HasUI         bool     `json:"hasUI"`
	Idle          bool     `json:"idle"`
	Pending       bool     `json:"pending"` // messages wait in a queue
	ActiveTools   []string `json:"activeTools,omitempty"`
	AllTools      []Tool   `json:"allTools,omitempty"` // name and description
	Commands      []string `json:"commands,omitempty"` // of extensions
	// AllCommands are those of extensions, templates and skills.
	AllCommands   []NamedCommand `json:"allCommands,omitempty"`
	SystemPrompt  string         `json:"systemPrompt,omitempty"`
	ContextTokens int            `json:"contextTokens,omitempty"`
	LeafID        string         `json:"leafId,omitempty"`
	Trusted       bool           `json:"trusted"`
}

// NamedCommand is a slash command that can be run. Source is extension, template or skill.
type NamedCommand struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source"`
	Origin      string `json:"origin,omitempty"` // the file of a template or skill, the id of an extension
}

// Model is a model as extensions see it.
type Model struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Provider      string   `json:"provider"`
	API           string   `json:"api"`
	Reasoning     bool     `json:"reasoning"`
	Input         []string `json:"input"` // text, image
	ContextWindow int      `json:"contextWindow"`
	MaxTokens     int      `json:"maxTokens"`
}

// Load loads one extension. Files, when set, are all files that may be read for it
// with their SHA-256 (of a project's extensions: exactly what is trusted). Of a
// JavaScript extension Path is its file; Cache is the folder for its bundle. Kinds are
// those of the custom events of the session: which of them a JavaScript extension names
// are its EntryTypes.
type Load struct {
	Ext    string            `json:"ext"`
	Path   string            `json:"path,omitempty"`
	Scope  string            `json:"scope"`
	Root   string            `json:"root,omitempty"` // its folder, which Files are relative to
	Files  map[string]string `json:"files,omitempty"`
	Cache  string            `json:"cache,omitempty"`
	Config json.RawMessage   `json:"config,omitempty"` // its table of config.toml
	Reason string            `json:"reason"`           // startup or reload
	Kinds  []string          `json:"kinds,omitempty"`
	Check  bool              `json:"check,omitempty"` // it is only checked: Unsupported names what its files use, with file:line
}

// Unload ends one extension. Reason is quit, reload, new, resume or fork.
type Unload struct {
	Ext    string `json:"ext"`
	Reason string `json:"reason"`
}

// Registration is what an extension offers. Hooks are names of [HookCall]; Events are
// types of [EventNote] that it wants, "*" for all. Unsupported are sentences, and
// nothing of them fails the load.
type Registration struct {
	Ext         string     `json:"ext,omitempty"`
	Name        string     `json:"name,omitempty"`
	Version     string     `json:"version,omitempty"`
	API         string     `json:"api,omitempty"` // scorel, hooks or pi
	Tools       []Tool     `json:"tools,omitempty"`
	Commands    []Command  `json:"commands,omitempty"`
	Hooks       []string   `json:"hooks,omitempty"`
	Events      []string   `json:"events,omitempty"`
	Flags       []Flag     `json:"flags,omitempty"`
	Shortcuts   []Shortcut `json:"shortcuts,omitempty"`
	Providers   []Provider `json:"providers,omitempty"`   // of models; those of a project's extension do not count
	Renderers   []string   `json:"renderers,omitempty"`   // types of its messages that it draws
	Entries     []string   `json:"entries,omitempty"`     // types of its entries that it draws
	Completes   bool       `json:"completes,omitempty"`   // it completes what is typed
	EntryTypes  []string   `json:"entryTypes,omitempty"`  // kinds of custom events that it understands
	Unsupported []string   `json:"unsupported,omitempty"` // what it uses that does not exist, sentences
	Warnings    []string   `json:"warnings,omitempty"`
}

// Tool is a tool. Parameters is a JSON Schema. Kind (read, write, exec, net) is what
// permission rules see; exec when it is empty.
type Tool struct {
	Name        string          `json:"name"`
	Label       string          `json:"label,omitempty"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Kind        string          `json:"kind,omitempty"`
	Parallel    bool            `json:"parallel,omitempty"`
	Snippet     string          `json:"snippet,omitempty"`
	Renders     bool            `json:"renders,omitempty"` // it draws its calls, or what came of them
	Guidelines  []string        `json:"guidelines,omitempty"`
}

// Command is a slash command. Immediate ones run beside a turn and cannot append.
type Command struct {
	Name         string `json:"name"`
	Description  string `json:"description,omitempty"`
	ArgumentHint string `json:"argumentHint,omitempty"`
	Immediate    bool   `json:"immediate,omitempty"`
	Completes    bool   `json:"completes,omitempty"`
}

// Flag is a setting of an extension; its value stands in its table of config.toml.
type Flag struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"` // boolean or string
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
}

// Provider is a server with models, which a person can choose as Name/ID.
type Provider struct {
	Name      string            `json:"name"`
	API       string            `json:"api"`
	BaseURL   string            `json:"baseUrl"`
	APIKeyEnv string            `json:"apiKeyEnv,omitempty"` // the variable with the key; a key that was entered for Name counts too
	Headers   map[string]string `json:"headers,omitempty"`
	Models    []ProvidedModel   `json:"models"`
}

// ProvidedModel is a model of a [Provider]. API and BaseURL are the provider's when they
// are empty.
type ProvidedModel struct {
	ID            string `json:"id"`
	API           string `json:"api,omitempty"`
	BaseURL       string `json:"baseUrl,omitempty"`
	Reasoning     bool   `json:"reasoning,omitempty"`
	Images        bool   `json:"images,omitempty"`
	ContextWindow int    `json:"contextWindow,omitempty"` // tokens
	MaxTokens     int    `json:"maxTokens,omitempty"`
	Price         *Price `json:"price,omitempty"` // US dollars for a million tokens
}

// Price is what a million tokens cost, in US dollars.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

// Shortcut is a key of an extension, for clients that have keys; it is pressed by
// running the command "shortcut:" and the key.
type Shortcut struct {
	Key         string `json:"key"`
	Description string `json:"description,omitempty"`
}

// HookCall asks the handlers of one extension. Hook is the event's name as the
// extension API says it: tool_call ([ToolCallData] → [ToolCallAnswer]), tool_result
// ([ToolResultData] → [ToolResultAnswer]), input ([InputData] → [InputAnswer]),
// before_agent_start ([AgentStartData] → [AgentStartAnswer]), stop ([StopData] →
// [StopAnswer]), session_start (its fields as an event → null: the session waits for what
// is done in it), session_before_compact ([CompactData] → [CompactAnswer]),
// session_before_tree and session_before_fork ([TreeData] → [TreeAnswer]),
// session_before_switch ([SwitchData] → [TreeAnswer]),
// resources_discover ([ResourcesData] → [ResourcesAnswer]), user_bash
// ([UserCommandData] → [UserCommandAnswer]), before_provider_request ([RequestData]), and
// with lists of messages ([ContextData]) context, transformContext and convertToLlm.
type HookCall struct {
	Ext  string          `json:"ext"`
	Hook string          `json:"hook"`
	Data json.RawMessage `json:"data"`
}

// ContextData is the payload, and the answer, of the hooks context, transformContext
// and convertToLlm. An answer of null leaves the list as it was.
type ContextData struct {
	List []ListPart `json:"list"`
}

// ListPart is a part of a list of messages: [from, to] are the messages of the
// entries with these indexes, both inclusive, of which there are messages only; a
// message that no entry holds stands itself, in the form of Scorel's log.
type ListPart struct {
	Run     *[2]int
	Message json.RawMessage
}

// Entries is the conversation as extensions see it (extensions.md): of the list that
// was sent before, the first Keep stay, then come Add. Each is a JSON object in the
// form of [Entry].
type Entries struct {
	Keep int               `json:"keep"`
	Add  []json.RawMessage `json:"add"`
}

// Entry is one element of the conversation. Type is message, custom_message,
// compaction, branch_summary, or the kind of a custom event; Message has the form of
// Scorel's log. Data of a custom event are its fields, flat beside these in
// JavaScript.
type Entry struct {
	Type       string            `json:"type"`
	ID         protocol.EventID  `json:"id"`
	ParentID   protocol.EventID  `json:"parentId,omitempty"`
	Timestamp  int64             `json:"timestamp"` // Unix milliseconds
	Message    *protocol.Message `json:"message,omitempty"`
	CustomType string            `json:"customType,omitempty"` // of custom_message
	Custom     bool              `json:"custom,omitempty"`     // Type is the kind of a custom event
	Data       json.RawMessage   `json:"data,omitempty"`

	// Of a compaction.
	Summary             string `json:"summary,omitempty"`
	FirstKeptEntryIndex *int   `json:"firstKeptEntryIndex,omitempty"`
	TokensBefore        int    `json:"tokensBefore,omitempty"`
}

// EventNote is an event that happens. For an extension whose Registration.API is
// scorel, Type is the type of a persistent or transient event, or of a happening, and
// Event the whole event in its log or wire shape. For any other, Type is the name as
// the extension API has it and Event its fields; messages in it have the form of
// Scorel's log.
type EventNote struct {
	Ext   string          `json:"ext,omitempty"`
	Type  string          `json:"type"`
	Event json.RawMessage `json:"event"`
}

// Cancel says that a request is not wanted any more; its answer is still due.
type Cancel struct {
	ID json.RawMessage `json:"id"`
}

// ToolRun runs a tool.
type ToolRun struct {
	Ext        string          `json:"ext"`
	Tool       string          `json:"tool"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input"`
}

// ToolResult is what a tool gives. A tool that fails answers with an error instead.
type ToolResult struct {
	Content []protocol.Block `json:"content"`
	Details json.RawMessage  `json:"details,omitempty"`
	IsError bool             `json:"isError,omitempty"`
	// Terminate ends the turn when every call of the message gives it.
	Terminate bool `json:"terminate,omitempty"`
}

// BuiltinRun has the built-in tool run a call of the tool that replaces it, once. Input is
// that of the call.
type BuiltinRun struct {
	Ext        string          `json:"ext"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input"`
}

// ToolUpdate is output of a running tool, Text follows the text before.
type ToolUpdate struct {
	Ext        string `json:"ext"`
	ToolCallID string `json:"toolCallId"`
	Text       string `json:"text"`
}

// ToolProcess is a process event of a running tool.
type ToolProcess struct {
	Ext        string                 `json:"ext"`
	ToolCallID string                 `json:"toolCallId"`
	Update     protocol.ProcessUpdate `json:"update"`
}

// CommandRun runs a slash command.
type CommandRun struct {
	Ext     string   `json:"ext"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	ArgsRaw string   `json:"argsRaw"`
}

// CommandDone is what a command says when it is done.
type CommandDone struct {
	Status string `json:"status,omitempty"`
}

// CommandComplete asks for completions of an argument.
type CommandComplete struct {
	Ext     string `json:"ext"`
	Command string `json:"command"`
	Prefix  string `json:"prefix"`
}

// AppendEntry appends a custom event of an extension to the log.
type AppendEntry struct {
	Ext  string          `json:"ext"`
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data,omitempty"`
}

// SendMessage adds a message of an extension to the conversation.
type SendMessage struct {
	Ext         string           `json:"ext"`
	CustomType  string           `json:"customType"`
	Content     []protocol.Block `json:"content"`
	Display     bool             `json:"display"`
	Details     json.RawMessage  `json:"details,omitempty"`
	DeliverAs   string           `json:"deliverAs,omitempty"` // steer, followUp, nextTurn
	TriggerTurn bool             `json:"triggerTurn,omitempty"`
}

// SendUser sends a message as if the user had.
type SendUser struct {
	Ext       string           `json:"ext"`
	Content   []protocol.Block `json:"content"`
	DeliverAs string           `json:"deliverAs,omitempty"` // steer, followUp
}

// Complete asks a model once, beside the conversation. Messages have the form of
// Scorel's log.
type Complete struct {
	Ext       string             `json:"ext"`
	Provider  string             `json:"provider,omitempty"` // with Model; the session's when both are empty
	Model     string             `json:"model,omitempty"`
	System    string             `json:"system,omitempty"`
	Messages  []protocol.Message `json:"messages"`
	MaxTokens int                `json:"maxTokens,omitempty"`
	APIKey    string             `json:"apiKey,omitempty"` // as models/key gave it
}

// Completed is the answer of a model, a message of an assistant.
type Completed struct {
	Message protocol.Message `json:"message"`
}

// Dialog asks the attached people.
type Dialog struct {
	Ext         string            `json:"ext"`
	Kind        string            `json:"kind"` // select, confirm, input, editor, form, url, custom
	Title       string            `json:"title"`
	Message     string            `json:"message,omitempty"`
	Options     []protocol.Option `json:"options,omitempty"`
	Placeholder string            `json:"placeholder,omitempty"`
	Text        string            `json:"text,omitempty"`
	Schema      json.RawMessage   `json:"schema,omitempty"` // of form
	URL         string            `json:"url,omitempty"`    // of url
	ID          string            `json:"id,omitempty"`     // of custom: what the extension calls its component, 1 to 64 bytes
	TimeoutMS   int64             `json:"timeoutMs,omitempty"`
}

// Input is what reaches a component: first the size of the screen, then keys and pastes in
// their order, each as a terminal sends it. The extension answers it with a [Frame] of the
// same Rev.
type Input struct {
	Ext    string   `json:"ext"`
	ID     string   `json:"id"`  // of the component
	Rev    int64    `json:"rev"` // counts up
	Width  int      `json:"width"`
	Height int      `json:"height"` // of the whole screen
	Data   []string `json:"data,omitempty"`
}

// Frame is what a component looks like, at the width of the newest [Input]. Of control
// sequences only colours and weights (SGR) stay. Of frames that come faster than 30 a second
// only the newest is shown.
type Frame struct {
	Ext    string             `json:"ext"`
	ID     string             `json:"id"`  // of the component
	Rev    int64              `json:"rev"` // of the newest [Input] that it was drawn after
	Width  int                `json:"width"`
	Lines  []string           `json:"lines"`
	Cursor *protocol.UICursor `json:"cursor,omitempty"`
}

// Exec starts a program and waits for its end.
type Exec struct {
	Ext       string   `json:"ext"`
	Command   string   `json:"command"`
	Args      []string `json:"args"`
	Cwd       string   `json:"cwd,omitempty"`
	TimeoutMS int64    `json:"timeoutMs,omitempty"`
	Stdin     string   `json:"stdin,omitempty"`
}

// ExecResult is what a program gave; each stream is cut at 1 MiB.
type ExecResult struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Code   int    `json:"code"`
	Killed bool   `json:"killed,omitempty"` // by its time limit, or because it was cancelled
}
