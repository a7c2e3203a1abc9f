package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxMessage is the longest message of a client in bytes.
const MaxMessage = 1 << 20

// Request is what a client asks of a host. The set is closed: only types of this
// package implement it.
type Request interface {
	// RequestName is the type that stands on the wire.
	RequestName() string
}

// Call is one request on its way. RequestID is drawn by the client; Repeat marks
// one whose answer was lost. SessionID names the session it is about, or the new
// one for create_session, clone_session and import_session, whose id the client
// draws.
type Call struct {
	RequestID RequestID
	SessionID SessionID
	Repeat    bool
	Request   Request
}

// Reply answers a call: Data is set, or Err.
type Reply struct {
	RequestID RequestID
	Data      Response
	Err       *Error
}

// Response is the data of a [Reply]. The set is closed.
type Response interface{ response() }

// The requests.
type (
	// Ping answers at once.
	Ping struct{}

	// GetStatus gives what the host is doing; the answer is [Status].
	GetStatus struct{}
	// StopHost ends a serving host: what runs is brought to a border first. With
	// Restarting another host takes over at once.
	StopHost struct {
		Restarting bool `json:"restarting,omitempty"`
	}
	// TestModel asks a model, the configured one when Model is empty, once for a
	// word; the answer is [ModelTest].
	TestModel struct {
		Model string `json:"model"`
	}
	// SetCredential keeps the key of a model provider, or forgets it when Key is
	// empty. What a provider is called stands before the slash in list_models; an
	// alias with a server of its own has a key of its own. A key is printable ASCII
	// without spaces, at most 4 KiB.
	SetCredential struct {
		Provider string `json:"provider"`
		Key      string `json:"key"`
	}
	// ListFiles gives the files of a project whose paths match Query, best first,
	// for @: all letters of each word in their order, in any case. The answer is
	// [FileList]. Hidden and ignored files are left out. Limit is at most 200, 50 when
	// it is 0.
	ListFiles struct {
		ProjectID ProjectID `json:"projectId"`
		Query     string    `json:"query,omitempty"`
		Limit     int       `json:"limit,omitempty"`
	}
	// ListEntries gives the entries that may come in with their own key; the answer
	// is [EntryList]. Every client with control may change the list, for itself and
	// for others. The holder of the device's token stands in no list and always has
	// control, so the last word is the owner's.
	ListEntries struct{}
	// RenameEntry gives an entry another label.
	RenameEntry struct {
		ClientID ClientID `json:"clientId"`
		Label    string   `json:"label"`
	}
	// SetGrant changes what an entry may do, from now on, on open connections too.
	SetGrant struct {
		ClientID ClientID `json:"clientId"`
		Grant    Grant    `json:"grant"`
	}
	// RevokeEntry takes an entry off the list and closes its connections. One that
	// revokes itself may not get the answer.
	RevokeEntry struct {
		ClientID ClientID `json:"clientId"`
	}

	// ListDirectories gives the folders inside a folder, the user's home when Path is
	// empty; the answer is [DirectoryList]. Path is absolute or begins with ~/. Hidden
	// folders are left out unless a name in Path begins with a dot: /srv/. gives those
	// of /srv.
	ListDirectories struct {
		Path string `json:"path,omitempty"`
	}
	// RemoveProject takes a project off the list. Its sessions and files stay.
	RemoveProject struct {
		ProjectID ProjectID `json:"projectId"`
	}
	// RegisterProject makes the project of a working directory known; the answer
	// is a [Project].
	RegisterProject struct {
		WorkDir string `json:"workDir"`
	}
	// ListProjects gives the projects that are known; the answer is [ProjectList].
	ListProjects struct{}
	// GetTrust gives what of a project could act, file by file; the answer is
	// [TrustReport].
	GetTrust struct {
		ProjectID ProjectID `json:"projectId"`
	}
	// TrustProject trusts the files that Hash names, as a [TrustReport] gave it, or
	// takes all trust from the project. Another hash fails with conflict, whose
	// details are the report as it is now. The answer is [ProjectTrust].
	TrustProject struct {
		ProjectID ProjectID `json:"projectId"`
		Hash      string    `json:"hash,omitempty"`
		Trusted   bool      `json:"trusted"`
	}
	// Doctor looks for what is wrong with the installation, and with the project of
	// WorkDir when it is given; the answer is [DoctorReport].
	Doctor struct {
		WorkDir string `json:"workDir,omitempty"`
	}
	// CheckConfig gives every key of the configuration with its value in force
	// and where it came from; the answer is a [ConfigReport].
	CheckConfig struct {
		WorkDir string `json:"workDir,omitempty"`
	}

	// ListModels gives the models whose names contain every word of Query; the
	// answer is a [ModelList].
	ListModels struct {
		Query string `json:"query,omitempty"`
	}
	// PruneBlobs removes payloads that are older than a day and that no log names;
	// the answer is [Pruned].
	PruneBlobs struct{}

	// CreateSession makes a session; the answer is a [SessionSummary].
	CreateSession struct {
		ProjectID ProjectID `json:"projectId"`
		Meta      Meta      `json:"meta"`
	}
	// ListSessions lists sessions, newest first; the answer is a [SessionList].
	// Before continues behind a session of an earlier list.
	ListSessions struct {
		ProjectID ProjectID `json:"projectId,omitempty"`
		Query     string    `json:"query,omitempty"`
		Limit     int       `json:"limit,omitempty"`
		Before    SessionID `json:"before,omitempty"`
		// BeforeTime is the updatedAt of that session.
		BeforeTime int64 `json:"beforeTime,omitempty"`
		// Subagents lists the sessions of sub-agents too, and ParentID only those of
		// one session.
		Subagents bool      `json:"subagents,omitempty"`
		ParentID  SessionID `json:"parentId,omitempty"`
	}
	// SearchSessions looks through all sessions for events in which every one of
	// Words (at most 16, of at most 256 bytes) stands as written, newest sessions
	// first. Words without capitals are found in any case, unless MatchCase. Limit
	// is at most 500 events, 50 when it is 0; the answer is [SearchResult].
	SearchSessions struct {
		Words     []string  `json:"words"`
		ProjectID ProjectID `json:"projectId,omitempty"`
		MatchCase bool      `json:"matchCase,omitempty"`
		Limit     int       `json:"limit,omitempty"`
	}
	// OpenSession subscribes the connection to a session; the answer is
	// [SessionOpened], and frames follow: a [ResyncFrame], the events that the client
	// has missed since Anchors (or, on a full reload, the Tail newest events of the
	// path), a [LiveFrame], and then events as they come.
	OpenSession struct {
		Anchors *Anchors `json:"anchors,omitempty"`
		Tail    int      `json:"tail,omitempty"`
	}
	// CloseSession ends a subscription.
	CloseSession struct{}
	// DeleteSession removes a session's log for good.
	DeleteSession struct{}
	// CloneSession copies the path to FromEventID (the leaf, when empty) of
	// another session into the new session that the call names; the answer is a
	// [SessionSummary].
	CloneSession struct {
		FromSessionID SessionID `json:"fromSessionId"`
		FromEventID   EventID   `json:"fromEventId,omitempty"`
		Name          string    `json:"name,omitempty"`
	}
	// ImportSession makes the session that the call names from a payload: a file
	// that export_session wrote as "jsonl" or "bundle". Blobs are its parts in
	// order, put on this connection. WorkDir, when set, is where the session works
	// from now on; LeafEventID, when set, where the conversation goes on, which must
	// be said when damage may have moved that. The answer is [Imported].
	ImportSession struct {
		Blobs       []string `json:"blobs"`
		WorkDir     string   `json:"workDir,omitempty"`
		LeafEventID EventID  `json:"leafEventId,omitempty"`
	}
	// ExportSession writes a session as "jsonl", "bundle" (with its payloads),
	// "markdown" or "html" into blobs; the answer is a [BlobRef].
	ExportSession struct {
		Format string `json:"format"`
	}
	// VerifySession reads every byte of a log; the answer is a [SessionReport].
	VerifySession struct{}
	// RepairSession repairs the tail of a log. LeafEventID picks the leaf of a
	// session that is read-only because the damage may have moved it; the answer
	// is a [SessionReport].
	RepairSession struct {
		LeafEventID EventID `json:"leafEventId,omitempty"`
	}
	// UpdateInfo changes the meta of a session.
	UpdateInfo struct {
		Changes MetaChanges `json:"changes"`
	}
	// SetLabel names an event; a nil Label removes the name.
	SetLabel struct {
		TargetEventID EventID `json:"targetEventId"`
		Label         *string `json:"label"`
	}

	// SendMessage sends a user message. While a turn runs it follows WhenBusy:
	// "followUp" (also when empty), "steer" or "reject". The answer is [Sent].
	//
	// Options count for the turn that the message begins, above the configuration, and
	// for nothing that follows it. They are not stored: the events of the turn tell what
	// it ran with (the model of each answer, the rule of each decision). With them
	// whenBusy must be "reject".
	SendMessage struct {
		Content        []Block      `json:"content"`
		WhenBusy       string       `json:"whenBusy,omitempty"`
		ExpectedLeafID *EventID     `json:"expectedLeafId,omitempty"`
		Options        *TurnOptions `json:"options,omitempty"`
	}
	// Steer puts a message into the running turn; TurnID, when set, must be that
	// turn. When idle it sends.
	Steer struct {
		TurnID  TurnID  `json:"turnId,omitempty"`
		Content []Block `json:"content"`
	}
	// FollowUp queues a message for the end of the turn. When idle it sends.
	FollowUp struct {
		Content []Block `json:"content"`
	}
	// RewriteQueue replaces a queue that the client has seen as Replaces.
	RewriteQueue struct {
		Queue    QueueName   `json:"queue"`
		Replaces EventID     `json:"replaces,omitempty"`
		Items    []QueueItem `json:"items"`
	}
	// ResumeQueue lets a paused queue go on.
	ResumeQueue struct{}
	// Cancel ends a turn; the answer is [Cancelled].
	Cancel struct {
		TurnID TurnID `json:"turnId"`
	}
	// RewindTo sets the leaf to an earlier event, or (null) to the empty
	// conversation; the answer is [Moved]. With Summarise [SummariseBranch] a model
	// first summarises what is left, as Instructions (at most 8 KiB) ask for, and the
	// summary becomes the leaf, on the target. That is a run which can be cancelled;
	// when it fails or is cancelled nothing has moved.
	RewindTo struct {
		TargetEventID  *EventID `json:"targetEventId"`
		ExpectedLeafID *EventID `json:"expectedLeafId,omitempty"`
		RestoreFiles   bool     `json:"restoreFiles,omitempty"`
		CancelFirst    TurnID   `json:"cancelFirst,omitempty"`
		Summarise      string   `json:"summarise,omitempty"` // "" or "yes"
		Instructions   string   `json:"instructions,omitempty"`
	}
	// BranchTo sets the leaf to any conversation event; the answer is [Moved]. With
	// Summarise it does what [RewindTo] does with that.
	BranchTo struct {
		LeafEventID    EventID  `json:"leafEventId"`
		ExpectedLeafID *EventID `json:"expectedLeafId,omitempty"`
		CancelFirst    TurnID   `json:"cancelFirst,omitempty"`
		Summarise      string   `json:"summarise,omitempty"` // "" or "yes"
		Instructions   string   `json:"instructions,omitempty"`
	}
	// CompactSession summarises the older part of the context; the answer is
	// [Compacted]. Like the moves above it needs CancelFirst while a turn runs.
	CompactSession struct {
		Instructions   string   `json:"instructions,omitempty"`
		ExpectedLeafID *EventID `json:"expectedLeafId,omitempty"`
		CancelFirst    TurnID   `json:"cancelFirst,omitempty"`
	}
	// SetMode sets the permission mode of the session's next calls, until another is
	// set. A session_info event tells all clients, and [Live] has it.
	SetMode struct {
		Mode string `json:"mode"`
	}

	// GetPath gives conversation events of a path, newest first; the answer is
	// [Events]. LeafID empty is the active path.
	GetPath struct {
		LeafID   EventID `json:"leafId,omitempty"`
		BeforeID EventID `json:"beforeId,omitempty"`
		Limit    int     `json:"limit,omitempty"`
	}
	// GetTree gives all persistent events behind AfterSeq in the order of the
	// log; the answer is [Events].
	GetTree struct {
		AfterSeq Seq `json:"afterSeq,omitempty"`
		Limit    int `json:"limit,omitempty"`
	}
	// GetContext gives what the model would be sent; the answer is [ContextView].
	GetContext struct{}
	// GetBlob reads a part (at most 48 KiB) of a payload that the session names
	// or an export made; the answer is [BlobPart].
	GetBlob struct {
		SHA256 string `json:"sha256"`
		Offset int64  `json:"offset"`
		Length int    `json:"length"`
	}
	// PutBlob sends a part of a payload; the answer to the last one names it.
	PutBlob struct {
		UploadID string `json:"uploadId"`
		Offset   int64  `json:"offset"`
		Data     []byte `json:"data"`
		Last     bool   `json:"last,omitempty"`
	}

	// AnswerPermission answers a permission_request: Choice is the index of an
	// offered suggestion, -1 denies.
	AnswerPermission struct {
		PermissionID PermissionID `json:"permissionId"`
		Choice       int          `json:"choice"`
		Reason       string       `json:"reason,omitempty"`
	}
	// AnswerUI answers a ui_request. For a dialog of kind question Value is
	// [Answers]; null closes the dialog without an answer.
	AnswerUI struct {
		UIID  string          `json:"uiId"`
		Value json.RawMessage `json:"value"`
	}

	// ListCommands gives the slash commands of a session, or, without one, those of
	// WorkDir; the answer is a [CommandList].
	ListCommands struct {
		WorkDir string `json:"workDir,omitempty"`
	}
	// CompleteCommand gives what may stand where the arguments of a command end; the
	// answer is a [CompletionList].
	CompleteCommand struct {
		Name string `json:"name"`
		Args string `json:"args"` // as typed so far, up to the cursor
	}
	// RunCommand runs a slash command of a session; Args is the text behind its name
	// as it was typed. One whose text becomes a message sends it as [SendMessage] does,
	// with WhenBusy and Options. The answer is a [CommandResult].
	RunCommand struct {
		Name     string       `json:"name"`
		Args     string       `json:"args,omitempty"`
		WhenBusy string       `json:"whenBusy,omitempty"`
		Options  *TurnOptions `json:"options,omitempty"`
	}
	// Reload looks for extensions, skills, commands, agents and hooks anew and starts
	// the session's extensions again; the answer is a [Reloaded].
	Reload struct{}
	// ListExtensions gives the extensions of a session, or, without one, those of
	// WorkDir, which are then not started; the answer is an [ExtensionList].
	ListExtensions struct {
		WorkDir string `json:"workDir,omitempty"`
	}
	// CheckExtension loads one extension by its file or folder, in a child of its own
	// and without a session, and says what it registers; the answer is an
	// [ExtensionInfo].
	CheckExtension struct {
		Path string `json:"path"`
	}
	// EnableExtension switches an extension on or off, for all sessions of the user.
	EnableExtension struct {
		ID      string `json:"id"`
		Enabled bool   `json:"enabled"`
	}
	// ListSkills gives the skills of a session, or, without one, those of WorkDir; the
	// answer is a [SkillList]. With Name it is those of that name, with the text of the
	// one that counts.
	ListSkills struct {
		WorkDir string `json:"workDir,omitempty"`
		Name    string `json:"name,omitempty"`
	}
	// ListAgents gives the agents that Task can start; the answer is an [AgentList].
	ListAgents struct {
		WorkDir string `json:"workDir,omitempty"`
	}
	// AddMemory adds a note to the memory of the session's project, without one of that
	// of WorkDir, or to the user's.
	AddMemory struct {
		Scope   string `json:"scope"` // project, user or daily
		Text    string `json:"text"`  // at most 8 KiB, 2 KiB a line
		WorkDir string `json:"workDir,omitempty"`
	}
	// GetMemory gives the files of the session's memory, or, without one, of that of
	// WorkDir; the answer is a [MemoryView].
	GetMemory struct {
		WorkDir string `json:"workDir,omitempty"`
	}
	// GetProcessLog gives a part of the log of an operation, from the line Offset on;
	// the answer is a [ProcessLog].
	GetProcessLog struct {
		OperationID string `json:"operationId"`
		Offset      int    `json:"offset,omitempty"`
		Limit       int    `json:"limit,omitempty"` // lines, 1 to 1,000; 0: 200
	}

	// RunShell runs a command of the person who sends it, as bash, in the session's
	// folder and its sandbox; nobody is asked, and no rule or mode is. The answer is
	// [ShellStarted], at once. All clients see it run as a tool_execution_start with
	// [ToolExecutionStart.Shell], its output as updates, and at the end the custom
	// message of kind [ShellKind] that the start has announced. With InContext the model
	// is told of command and output with its next call; otherwise no model ever is. A
	// running turn is not disturbed: the message enters at its next step border.
	RunShell struct {
		Command   string `json:"command"` // bash source, at most 100,000 bytes
		InContext bool   `json:"inContext,omitempty"`
	}
	// StopShell ends a running command of a person, by the event that its start has
	// announced; what it printed is stored. The answer is [Cancelled].
	StopShell struct {
		EventID EventID `json:"eventId"`
	}
	// ListHooks gives the shell hooks of the configuration of a session, or, without one,
	// of WorkDir; the answer is a [HookList].
	ListHooks struct {
		WorkDir string `json:"workDir,omitempty"`
	}
	// GetUsage gives what the session has used, by model and sub-agent; the answer is a
	// [UsageReport].
	GetUsage struct{}
	// SetConfig sets a key of the user's config.toml, whose other lines and comments stay.
	// Value is what stands behind the = in the file; where the key takes a text, words
	// without quotes are that text. An empty Value takes the key out, so that its default
	// counts. What would make the file wrong is refused, and so is everything that may
	// hold a secret: keys of providers go to set_credential.
	SetConfig struct {
		Key   string `json:"key"`   // dotted, as [CheckConfig] gives it
		Value string `json:"value"` // at most 16 KiB
	}
	// GetProjectState gives what a status line shows of the folder of a session, or,
	// without one, of WorkDir; the answer is a [ProjectState]. It starts no process.
	GetProjectState struct {
		WorkDir string `json:"workDir,omitempty"`
	}

	// ListTasks gives the background commands of a session; the answer is a
	// [TaskList].
	ListTasks struct{}
	// StopTask ends a background command; the answer is its [TaskInfo].
	StopTask struct {
		TaskID string `json:"taskId"`
	}
)

// SummariseBranch is the value of Summarise that asks for a summary.
const SummariseBranch = "yes"

// TurnOptions are what one message asks of its turn, above the configuration. The
// fields mean what the flags of `scorel -p` mean; Allow, Deny and AdditionalDirs
// (absolute paths) come in addition to the configuration's, and a deny rule beats
// every allow rule. Mode counts until somebody sets another one during the turn.
// Unattended denies at once what would have to be asked while nobody who could answer
// is attached.
type TurnOptions struct {
	Model          string   `json:"model,omitempty"`
	Thinking       string   `json:"thinking,omitempty"`
	Mode           string   `json:"mode,omitempty"`
	Allow          []string `json:"allow,omitempty"`
	Deny           []string `json:"deny,omitempty"`
	Tools          string   `json:"tools,omitempty"`
	AdditionalDirs []string `json:"additionalDirs,omitempty"`
	MaxSteps       int      `json:"maxSteps,omitempty"`
	MaxBudgetUSD   float64  `json:"maxBudgetUSD,omitempty"`
	Sandbox        string   `json:"sandbox,omitempty"`
	NoNetwork      bool     `json:"noNetwork,omitempty"`
	Unattended     bool     `json:"unattended,omitempty"`
}

// RequestName is the type that stands on the wire.
func (*GetStatus) RequestName() string       { return "get_status" }
func (*StopHost) RequestName() string        { return "stop_host" }
func (*TestModel) RequestName() string       { return "test_model" }
func (*SetCredential) RequestName() string   { return "set_credential" }
func (*ListFiles) RequestName() string       { return "list_files" }
func (*ListEntries) RequestName() string     { return "list_entries" }
func (*RenameEntry) RequestName() string     { return "rename_entry" }
func (*SetGrant) RequestName() string        { return "set_grant" }
func (*RevokeEntry) RequestName() string     { return "revoke_entry" }
func (*ListDirectories) RequestName() string { return "list_directories" }
func (*RemoveProject) RequestName() string   { return "remove_project" }

// RequestName is the type that stands on the wire.
func (*Ping) RequestName() string             { return "ping" }
func (*RegisterProject) RequestName() string  { return "register_project" }
func (*ListProjects) RequestName() string     { return "list_projects" }
func (*GetTrust) RequestName() string         { return "get_trust" }
func (*TrustProject) RequestName() string     { return "trust_project" }
func (*Doctor) RequestName() string           { return "doctor" }
func (*CheckConfig) RequestName() string      { return "get_config" }
func (*ListModels) RequestName() string       { return "list_models" }
func (*PruneBlobs) RequestName() string       { return "prune_blobs" }
func (*CreateSession) RequestName() string    { return "create_session" }
func (*ListSessions) RequestName() string     { return "list_sessions" }
func (*SearchSessions) RequestName() string   { return "search_sessions" }
func (*OpenSession) RequestName() string      { return "open_session" }
func (*CloseSession) RequestName() string     { return "close_session" }
func (*DeleteSession) RequestName() string    { return "delete_session" }
func (*CloneSession) RequestName() string     { return "clone_session" }
func (*ImportSession) RequestName() string    { return "import_session" }
func (*ExportSession) RequestName() string    { return "export_session" }
func (*VerifySession) RequestName() string    { return "verify_session" }
func (*RepairSession) RequestName() string    { return "repair_session" }
func (*UpdateInfo) RequestName() string       { return "update_info" }
func (*SetLabel) RequestName() string         { return "set_label" }
func (*SendMessage) RequestName() string      { return "send_message" }
func (*Steer) RequestName() string            { return "steer" }
func (*FollowUp) RequestName() string         { return "follow_up" }
func (*RewriteQueue) RequestName() string     { return "rewrite_queue" }
func (*ResumeQueue) RequestName() string      { return "resume_queue" }
func (*Cancel) RequestName() string           { return "cancel" }
func (*RewindTo) RequestName() string         { return "rewind" }
func (*BranchTo) RequestName() string         { return "branch" }
func (*CompactSession) RequestName() string   { return "compact" }
func (*SetMode) RequestName() string          { return "set_mode" }
func (*GetPath) RequestName() string          { return "get_path" }
func (*GetTree) RequestName() string          { return "get_tree" }
func (*GetContext) RequestName() string       { return "get_context" }
func (*GetBlob) RequestName() string          { return "get_blob" }
func (*PutBlob) RequestName() string          { return "put_blob" }
func (*AnswerPermission) RequestName() string { return "answer_permission" }
func (*AnswerUI) RequestName() string         { return "answer_ui" }
func (*ListCommands) RequestName() string     { return "list_commands" }
func (*CompleteCommand) RequestName() string  { return "complete_command" }
func (*RunCommand) RequestName() string       { return "run_command" }
func (*Reload) RequestName() string           { return "reload" }
func (*ListExtensions) RequestName() string   { return "list_extensions" }
func (*CheckExtension) RequestName() string   { return "check_extension" }
func (*EnableExtension) RequestName() string  { return "enable_extension" }
func (*ListSkills) RequestName() string       { return "list_skills" }
func (*ListAgents) RequestName() string       { return "list_agents" }
func (*AddMemory) RequestName() string        { return "add_memory" }
func (*GetMemory) RequestName() string        { return "get_memory" }
func (*GetProcessLog) RequestName() string    { return "get_process_log" }
func (*RunShell) RequestName() string         { return "run_shell" }
func (*StopShell) RequestName() string        { return "stop_shell" }
func (*ListHooks) RequestName() string        { return "list_hooks" }
func (*GetUsage) RequestName() string         { return "get_usage" }
func (*SetConfig) RequestName() string        { return "set_config" }
func (*GetProjectState) RequestName() string  { return "get_project_state" }
func (*ListTasks) RequestName() string        { return "list_tasks" }
func (*StopTask) RequestName() string         { return "stop_task" }

// Acts says whether carrying out a request changes a session or the host, so that
// a second one with the same requestId must not act again. Reads are simply
// repeated; so are payloads, whose parts name their place, and subscriptions,
// which belong to their connection.
func Acts(r Request) bool {
	switch r.(type) {
	case *StopHost, *SetCredential, *RenameEntry, *SetGrant, *RevokeEntry, *RemoveProject, *TrustProject, *CreateSession, *DeleteSession, *CloneSession, *ImportSession, *RepairSession, *UpdateInfo, *SetLabel, *SendMessage, *Steer, *FollowUp,
		*RewriteQueue, *ResumeQueue, *Cancel, *RewindTo, *BranchTo, *CompactSession, *SetMode, *AnswerPermission,
		*AnswerUI, *StopTask, *RunCommand, *Reload, *EnableExtension, *AddMemory, *RunShell, *StopShell, *SetConfig:
		return true
	}
	return false
}

// newRequest makes an empty request and the empty response that belongs to it.
func newRequest(name string) (Request, Response) {
	switch name {
	case "ping":
		return &Ping{}, &Done{}
	case "get_status":
		return &GetStatus{}, &Status{}
	case "stop_host":
		return &StopHost{}, &Done{}
	case "test_model":
		return &TestModel{}, &ModelTest{}
	case "set_credential":
		return &SetCredential{}, &Done{}
	case "list_files":
		return &ListFiles{}, &FileList{}
	case "list_entries":
		return &ListEntries{}, &EntryList{}
	case "rename_entry":
		return &RenameEntry{}, &Done{}
	case "set_grant":
		return &SetGrant{}, &Done{}
	case "revoke_entry":
		return &RevokeEntry{}, &Done{}
	case "list_directories":
		return &ListDirectories{}, &DirectoryList{}
	case "remove_project":
		return &RemoveProject{}, &Done{}
	case "register_project":
		return &RegisterProject{}, &Project{}
	case "list_projects":
		return &ListProjects{}, &ProjectList{}
	case "get_trust":
		return &GetTrust{}, &TrustReport{}
	case "trust_project":
		return &TrustProject{}, &ProjectTrust{}
	case "doctor":
		return &Doctor{}, &DoctorReport{}
	case "get_config":
		return &CheckConfig{}, &ConfigReport{}
	case "list_models":
		return &ListModels{}, &ModelList{}
	case "prune_blobs":
		return &PruneBlobs{}, &Pruned{}
	case "create_session":
		return &CreateSession{}, &SessionSummary{}
	case "list_sessions":
		return &ListSessions{}, &SessionList{}
	case "search_sessions":
		return &SearchSessions{}, &SearchResult{}
	case "open_session":
		return &OpenSession{}, &SessionOpened{}
	case "close_session":
		return &CloseSession{}, &Done{}
	case "delete_session":
		return &DeleteSession{}, &Done{}
	case "clone_session":
		return &CloneSession{}, &SessionSummary{}
	case "import_session":
		return &ImportSession{}, &Imported{}
	case "export_session":
		return &ExportSession{}, &BlobRef{}
	case "verify_session":
		return &VerifySession{}, &SessionReport{}
	case "repair_session":
		return &RepairSession{}, &SessionReport{}
	case "update_info":
		return &UpdateInfo{}, &Done{}
	case "set_label":
		return &SetLabel{}, &Done{}
	case "send_message":
		return &SendMessage{}, &Sent{}
	case "steer":
		return &Steer{}, &Sent{}
	case "follow_up":
		return &FollowUp{}, &Sent{}
	case "rewrite_queue":
		return &RewriteQueue{}, &Sent{}
	case "resume_queue":
		return &ResumeQueue{}, &Done{}
	case "cancel":
		return &Cancel{}, &Cancelled{}
	case "rewind":
		return &RewindTo{}, &Moved{}
	case "branch":
		return &BranchTo{}, &Moved{}
	case "compact":
		return &CompactSession{}, &Compacted{}
	case "set_mode":
		return &SetMode{}, &Done{}
	case "get_path":
		return &GetPath{}, &Events{}
	case "get_tree":
		return &GetTree{}, &Events{}
	case "get_context":
		return &GetContext{}, &ContextView{}
	case "get_blob":
		return &GetBlob{}, &BlobPart{}
	case "put_blob":
		return &PutBlob{}, &BlobRef{}
	case "answer_permission":
		return &AnswerPermission{}, &Done{}
	case "answer_ui":
		return &AnswerUI{}, &Done{}
	case "list_commands":
		return &ListCommands{}, &CommandList{}
	case "complete_command":
		return &CompleteCommand{}, &CompletionList{}
	case "run_command":
		return &RunCommand{}, &CommandResult{}
	case "reload":
		return &Reload{}, &Reloaded{}
	case "list_extensions":
		return &ListExtensions{}, &ExtensionList{}
	case "check_extension":
		return &CheckExtension{}, &ExtensionInfo{}
	case "enable_extension":
		return &EnableExtension{}, &Done{}
	case "list_skills":
		return &ListSkills{}, &SkillList{}
	case "list_agents":
		return &ListAgents{}, &AgentList{}
	case "add_memory":
		return &AddMemory{}, &Done{}
	case "get_memory":
		return &GetMemory{}, &MemoryView{}
	case "get_process_log":
		return &GetProcessLog{}, &ProcessLog{}
	case "run_shell":
		return &RunShell{}, &ShellStarted{}
	case "stop_shell":
		return &StopShell{}, &Cancelled{}
	case "list_hooks":
		return &ListHooks{}, &HookList{}
	case "get_usage":
		return &GetUsage{}, &UsageReport{}
	case "set_config":
		return &SetConfig{}, &Done{}
	case "get_project_state":
		return &GetProjectState{}, &ProjectState{}
	case "list_tasks":
		return &ListTasks{}, &TaskList{}
	case "stop_task":
		return &StopTask{}, &TaskInfo{}
	}
	return nil, nil
}

type callEnvelope struct {
	Type      string    `json:"type"`
	RequestID RequestID `json:"requestId"`
	SessionID SessionID `json:"sessionId,omitempty"`
	Repeat    bool      `json:"repeat,omitempty"`
}

// MarshalJSON writes the call with the fields of its request beside its own.
func (c Call) MarshalJSON() ([]byte, error) {
	head, err := marshal(callEnvelope{c.Request.RequestName(), c.RequestID, c.SessionID, c.Repeat})
	if err != nil {
		return nil, err
	}
	return joinObjects(head, c.Request)
}

// ParseCall reads a call. An unknown request, or one that does not fit its type,
// is an *Error with invalid_request.
func ParseCall(data []byte) (Call, error) {
	if len(data) > MaxMessage {
		return Call{}, Errorf(CodePayloadTooLarge, "A message may have at most %d bytes; this one has %d.", MaxMessage, len(data))
	}
	var e callEnvelope
	if err := json.Unmarshal(data, &e); err != nil {
		return Call{}, Errorf(CodeInvalidRequest, "The message is not valid JSON: %v.", err)
	}
	req, _ := newRequest(e.Type)
	if req == nil {
		return Call{}, Errorf(CodeInvalidRequest, "There is no request named %q.", clip(e.Type))
	}
	if err := e.RequestID.Check(); err != nil {
		return Call{}, Errorf(CodeInvalidRequest, "requestId: %v.", err)
	}
	if e.SessionID != "" {
		if err := e.SessionID.Check(); err != nil {
			return Call{}, Errorf(CodeInvalidRequest, "sessionId: %v.", err)
		}
	}
	if err := json.Unmarshal(data, req); err != nil {
		return Call{}, Errorf(CodeInvalidRequest, "The %s request does not fit its form: %v.", e.Type, err)
	}
	return Call{RequestID: e.RequestID, SessionID: e.SessionID, Repeat: e.Repeat, Request: req}, nil
}

type replyJSON struct {
	Type      string          `json:"type"` // response or error
	RequestID RequestID       `json:"requestId"`
	Data      json.RawMessage `json:"data,omitempty"`
	Code      Code            `json:"code,omitempty"`
	Message   string          `json:"message,omitempty"`
	Details   json.RawMessage `json:"details,omitempty"`
}

// MarshalJSON writes the reply.
func (r Reply) MarshalJSON() ([]byte, error) {
	if r.Err != nil {
		return marshal(replyJSON{Type: "error", RequestID: r.RequestID, Code: r.Err.Code, Message: r.Err.Message, Details: r.Err.Details})
	}
	data, err := marshal(r.Data)
	if err != nil {
		return nil, err
	}
	return marshal(replyJSON{Type: "response", RequestID: r.RequestID, Data: data})
}

// ParseReply reads the reply to a request of the given name.
func ParseReply(data []byte, requestName string) (Reply, error) {
	var j replyJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return Reply{}, err
	}
	if j.Type == "error" {
		return Reply{RequestID: j.RequestID, Err: &Error{Code: j.Code, Message: j.Message, Details: j.Details}}, nil
	}
	_, resp := newRequest(requestName)
	if resp == nil {
		return Reply{}, fmt.Errorf("protocol: a reply to the unknown request %q", requestName)
	}
	if err := json.Unmarshal(j.Data, resp); err != nil {
		return Reply{}, fmt.Errorf("protocol: the reply to %s: %w", requestName, err)
	}
	return Reply{RequestID: j.RequestID, Data: resp}, nil
}

// joinObjects appends the fields of v to the object in head.
func joinObjects(head []byte, v any) ([]byte, error) {
	fields, err := marshal(v)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(fields, []byte("{}")) {
		return head, nil
	}
	out := append(head[:len(head)-1], ',')
	return append(out, fields[1:]...), nil
}
