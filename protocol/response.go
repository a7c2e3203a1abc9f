package protocol

// TrustState says how a project's files stand as a whole.
type TrustState string

// The states.
const (
	TrustNone        TrustState = "none"        // nothing of it could act
	TrustAll         TrustState = "trusted"     // all that could act may
	TrustPart        TrustState = "changed"     // it was trusted; something is new or changed
	TrustNothing     TrustState = "untrusted"   // nothing that could act may
	TrustNotPossible TrustState = "untrustable" // there is too much of it
)

// The responses.
type (
	// Done answers what gives nothing back.
	Done struct{}

	// ClientInfo is a client that is connected.
	ClientInfo struct {
		ClientID    ClientID `json:"clientId"`
		ClientName  string   `json:"clientName"`
		Grant       Grant    `json:"grant"`
		Interactive bool     `json:"interactive,omitempty"`
	}
	// Status is what a host is doing. Sessions are those that are open, by id;
	// Addresses is where it listens. Times are in Unix milliseconds.
	Status struct {
		DeviceID  DeviceID       `json:"deviceId"`
		Version   string         `json:"version"`
		PID       int            `json:"pid"`
		StartedAt int64          `json:"startedAt"`
		Addresses []string       `json:"addresses,omitempty"`
		Stopping  bool           `json:"stopping,omitempty"`
		Clients   []ClientInfo   `json:"clients"`
		Sessions  []SessionState `json:"sessions"`
	}
	// SessionState is what goes on in an open session. Asking says that somebody is
	// waited for; Queued counts the messages that wait, Tasks the background commands,
	// Clients the subscriptions.
	SessionState struct {
		SessionID SessionID `json:"sessionId"`
		Name      string    `json:"name,omitempty"`
		Title     string    `json:"title,omitempty"` // the name, or the first line of the first prompt
		Running   bool      `json:"running,omitempty"`
		Asking    bool      `json:"asking,omitempty"`
		Queued    int       `json:"queued,omitempty"`
		Tasks     int       `json:"tasks,omitempty"`
		Clients   int       `json:"clients,omitempty"`
	}
	// ModelTest is what came of asking a model for a word. LatencyMS is the time to
	// the first piece of the answer. Problem says in one sentence why it failed, ""
	// when it did not, and Code is auth_failed when the key is missing or wrong.
	ModelTest struct {
		Ref       string `json:"ref"`
		LatencyMS int64  `json:"latencyMs"`
		Problem   string `json:"problem,omitempty"`
		Code      Code   `json:"code,omitempty"`
	}
	// FileList is the files that match, best first, relative to the project's folder.
	FileList struct {
		Files []string `json:"files"`
		More  bool     `json:"more,omitempty"`
	}
	// DirectoryList is the folders inside a folder, by name. Path has no links in it;
	// Parent is "" at the top.
	DirectoryList struct {
		Path    string      `json:"path"`
		Parent  string      `json:"parent,omitempty"`
		Entries []Directory `json:"entries"`
		More    bool        `json:"more,omitempty"`
	}
	// Directory is one of them; ProjectID is set when it is a known project.
	Directory struct {
		Name      string    `json:"name"`
		ProjectID ProjectID `json:"projectId,omitempty"`
		Git       bool      `json:"git,omitempty"`
	}
	// EntryList is the entries that may come in with their own key, by label.
	EntryList struct {
		Entries []Entry `json:"entries"`
	}
	// Entry is one of them. Times are in Unix milliseconds; LastSeen is 0 for one
	// that never came.
	Entry struct {
		ClientID ClientID `json:"clientId"`
		Label    string   `json:"label"`
		Grant    Grant    `json:"grant"`
		AddedAt  int64    `json:"addedAt"`
		LastSeen int64    `json:"lastSeen,omitempty"`
		Online   bool     `json:"online,omitempty"`
	}

	// Project is a folder that sessions belong to. Root is its canonical path.
	// Notices are what of its configuration does not count, one sentence each.
	Project struct {
		ProjectID ProjectID `json:"projectId"`
		Root      string    `json:"root"`
		WorkDir   string    `json:"workDir"`
		Notices   []string  `json:"notices,omitempty"`
		// Trust is how its files stand; nil in a list.
		Trust *ProjectTrust `json:"trust,omitempty"`
		// TrustedAt is when the folder was trusted, 0 when it is not.
		TrustedAt int64 `json:"trustedAt,omitempty"`
	}
	// ProjectList is the known projects and trusted folders, by path. Notices are
	// what is wrong with the lists.
	ProjectList struct {
		Projects []Project `json:"projects"`
		Notices  []string  `json:"notices,omitempty"`
	}
	// ProjectTrust says how a project's files stand. Ignored names at most 5 of
	// those that do not count, and Count says how many there are.
	ProjectTrust struct {
		State   TrustState `json:"state"`
		Ignored []string   `json:"ignored,omitempty"`
		Count   int        `json:"count,omitempty"`
		Notices []string   `json:"notices,omitempty"`
	}
	// TrustReport is what of a project could act. Hash names exactly this list.
	// Problem says why nothing of it can be trusted.
	TrustReport struct {
		ProjectID ProjectID   `json:"projectId"`
		Root      string      `json:"root"`
		State     TrustState  `json:"state"`
		TrustedAt int64       `json:"trustedAt,omitempty"`
		Hash      string      `json:"hash,omitempty"`
		Items     []TrustItem `json:"items"`
		Problem   string      `json:"problem,omitempty"`
		Notices   []string    `json:"notices,omitempty"`
	}
	// TrustItem is what is trusted as a whole: Kind is config, hook, mcp, agent,
	// command, skill or extension; Status is trusted, changed, new or untrusted.
	// Problem, where there is one, says why it cannot be trusted. Does and the
	// names are text of the project.
	TrustItem struct {
		Kind    string      `json:"kind"`
		Name    string      `json:"name"`
		Status  string      `json:"status"`
		Problem string      `json:"problem,omitempty"`
		Does    []string    `json:"does,omitempty"`
		Files   []TrustFile `json:"files,omitempty"`
		Gone    []string    `json:"gone,omitempty"`
	}
	// TrustFile is one file of it; Change is "changed" or "new" in an item that
	// was trusted with another content.
	TrustFile struct {
		Name   string `json:"name"`
		Target string `json:"target,omitempty"`
		SHA256 string `json:"sha256"`
		Size   int64  `json:"size"`
		Change string `json:"change,omitempty"`
	}
	// DoctorReport is what the checks found, in a fixed order.
	DoctorReport struct {
		Checks []DoctorCheck `json:"checks"`
	}
	// DoctorCheck is one of them. State is "ok", "warn" or "fail"; Advice says what
	// to do, "" when nothing need be done.
	DoctorCheck struct {
		ID     string `json:"id"`
		State  string `json:"state"`
		Text   string `json:"text"`
		Advice string `json:"advice,omitempty"`
	}
	// ConfigEntry is one key with its value in force; Source says where it came
	// from: "default", "flag", or file:line.
	//
	// Type, Default and Doc are what the documentation says of the key, for people;
	// Settable says that set_config takes it.
	ConfigEntry struct {
		Key      string `json:"key"`
		Value    string `json:"value"`
		Source   string `json:"source"`
		Type     string `json:"type,omitempty"`
		Default  string `json:"default,omitempty"`
		Doc      string `json:"doc,omitempty"`
		Settable bool   `json:"settable,omitempty"`
	}
	// ConfigReport is the configuration in force; Notices are what was ignored.
	// Trust is the state of the project's file: trusted, changed, new or untrusted,
	// and "" where there is none.
	ConfigReport struct {
		Entries []ConfigEntry `json:"entries"`
		Trust   string        `json:"trust,omitempty"`
		Notices []string      `json:"notices,omitempty"`
	}

	// ModelInfo describes a model that can be named. ContextWindow and MaxTokens
	// are in tokens; HasKey says that it can be called as things stand. ThinkingLevels
	// are those that it knows, the least first; Price is nil where it is not known.
	ModelInfo struct {
		Ref           string `json:"ref"`
		API           string `json:"api"`
		ContextWindow int    `json:"contextWindow"`
		MaxTokens     int    `json:"maxTokens,omitempty"`
		Images        bool   `json:"images,omitempty"`
		Thinking      bool   `json:"thinking,omitempty"`
		HasKey        bool   `json:"hasKey"`

		ThinkingLevels []string    `json:"thinkingLevels,omitempty"`
		Price          *ModelPrice `json:"price,omitempty"`
	}
	// ModelPrice is in US dollars per million tokens.
	ModelPrice struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cacheRead,omitempty"`
		CacheWrite float64 `json:"cacheWrite,omitempty"`
	}
	// ModelList is the models that can be named: aliases first, then those with a
	// key.
	ModelList struct {
		Models []ModelInfo `json:"models"`
	}
	// Pruned says what was removed.
	Pruned struct {
		Blobs       int   `json:"blobs"`
		Bytes       int64 `json:"bytes"`                 // of all
		ProcessLogs int   `json:"processLogs,omitempty"` // deleted sessions whose process logs were left
	}

	// SessionSummary describes a session in a list. Times are Unix milliseconds.
	SessionSummary struct {
		SessionID   SessionID   `json:"sessionId"`
		Meta        Meta        `json:"meta"`
		CreatedAt   int64       `json:"createdAt"`
		UpdatedAt   int64       `json:"updatedAt"`
		FirstPrompt string      `json:"firstPrompt,omitempty"`
		LeafID      EventID     `json:"leafId,omitempty"`
		Events      int         `json:"events,omitempty"`
		Bytes       int64       `json:"bytes,omitempty"`
		ClonedFrom  *ClonedFrom `json:"clonedFrom,omitempty"`
		Parent      *Parent     `json:"parent,omitempty"` // of a sub-agent's session
		LockedBy    string      `json:"lockedBy,omitempty"`
		Damaged     string      `json:"damaged,omitempty"`
		// State is what goes on in it, nil while this host does not have it open.
		State *SessionState `json:"state,omitempty"`
	}
	// SessionList is a page of sessions; More says that older ones follow.
	SessionList struct {
		Sessions []SessionSummary `json:"sessions"`
		More     bool             `json:"more,omitempty"`
	}
	// SnippetPart is a piece of the text around a hit; Match says that it is what
	// was looked for. Its text is safe to show and stands on one line.
	SnippetPart struct {
		Text  string `json:"text"`
		Match bool   `json:"match,omitempty"`
	}
	// SearchHit is an event in which all words stand. EventID is empty for the name
	// in the session's header. Role is set for messages; Active says that the event
	// belongs to the active path. TS is in Unix milliseconds.
	SearchHit struct {
		EventID EventID       `json:"eventId,omitempty"`
		Seq     Seq           `json:"seq,omitempty"`
		Type    EventType     `json:"type,omitempty"`
		Role    Role          `json:"role,omitempty"`
		TS      int64         `json:"ts,omitempty"`
		Active  bool          `json:"active"`
		Snippet []SnippetPart `json:"snippet"`
	}
	// FoundSession is a session with hits, the newest first. More counts further
	// ones; at 1,000 there may be still more.
	FoundSession struct {
		SessionID   SessionID   `json:"sessionId"`
		Meta        Meta        `json:"meta"`
		UpdatedAt   int64       `json:"updatedAt"`
		FirstPrompt string      `json:"firstPrompt,omitempty"`
		Hits        []SearchHit `json:"hits"`
		More        int         `json:"more,omitempty"`
	}
	// SearchResult is what a search found. More says that the limit ended it;
	// Unreadable are sessions that could not be searched.
	SearchResult struct {
		Sessions   []FoundSession `json:"sessions"`
		More       bool           `json:"more,omitempty"`
		Unreadable []SessionID    `json:"unreadable,omitempty"`
	}
	// Imported is a session that was made from a file. Findings say what was wrong
	// with the file and what it lacks, one sentence each; they are empty in the
	// answer to a repeat.
	Imported struct {
		Summary  SessionSummary `json:"summary"`
		Findings []string       `json:"findings,omitempty"`
	}
	// SessionOpened answers open_session. Findings are damage that was found,
	// one sentence each; ReadOnly says why nothing can be written.
	SessionOpened struct {
		Summary  SessionSummary `json:"summary"`
		Findings []string       `json:"findings,omitempty"`
		ReadOnly string         `json:"readOnly,omitempty"`
	}
	// SessionReport is what verify and repair found. Sound says that the log can
	// be used as it is.
	SessionReport struct {
		Sound    bool     `json:"sound"`
		Events   int      `json:"events"`
		Bytes    int64    `json:"bytes"`
		Findings []string `json:"findings,omitempty"`
	}

	// Sent says what became of a message: EventID when it stands in the log,
	// ItemID when it waits in a queue. TurnID is the turn that handles it.
	Sent struct {
		EventID EventID `json:"eventId,omitempty"`
		ItemID  ItemID  `json:"itemId,omitempty"`
		TurnID  TurnID  `json:"turnId,omitempty"`
		// Handled names the hook that has done all there was to do with the message:
		// nothing of it is stored, and the ids are empty.
		Handled string `json:"handled,omitempty"`
	}
	// Cancelled says whether the named turn was running and is now ending.
	Cancelled struct {
		Cancelled bool `json:"cancelled"`
	}
	// SkippedFile is a file that was not restored, and why.
	SkippedFile struct {
		Path string `json:"path"`
		Why  string `json:"why"`
	}
	// Moved says where the leaf is now, and what became of the files. SummaryID is the
	// summary of what was left, "" without one; it is the leaf then.
	Moved struct {
		LeafID    EventID `json:"leafId"`
		SummaryID EventID `json:"summaryId,omitempty"`

		Restored []string      `json:"restored,omitempty"`
		Skipped  []SkippedFile `json:"skipped,omitempty"`
	}
	// Compacted says what a compaction did. EventID is empty when there was
	// nothing to compact.
	Compacted struct {
		EventID      EventID `json:"eventId,omitempty"`
		TokensBefore int     `json:"tokensBefore"`
		TokensAfter  int     `json:"tokensAfter"`
	}

	// Events is a page of events; More says that there are further ones, and Older how
	// many of a path (0 in other answers).
	Events struct {
		Events []Event `json:"events"`
		LeafID EventID `json:"leafId,omitempty"`
		More   bool    `json:"more,omitempty"`
		Older  int     `json:"older,omitempty"`
	}
	// ContextView is what the model would be sent, with estimates in tokens. Parts are
	// what fills the window, in the order in which it is sent; their tokens together are
	// Tokens. Reserved is kept free for the answer: above
	// Window less that a compaction is due. Free is what is left below it.
	ContextView struct {
		System       string    `json:"system"`
		Messages     []Message `json:"messages"`
		Tokens       int       `json:"tokens"`
		SystemTokens int       `json:"systemTokens"`
		ToolTokens   int       `json:"toolTokens"`
		Window       int       `json:"window"`

		Parts    []ContextPart `json:"parts,omitempty"`
		Reserved int           `json:"reserved"`
		Free     int           `json:"free"`
	}
	// ContextPart is one kind of what a model is sent. Count is how many there are.
	ContextPart struct {
		Name   ContextPartName `json:"name"`
		Tokens int             `json:"tokens"`
		Count  int             `json:"count"`
	}
	// ShellStarted says that a command of a person runs. EventID is the event that will
	// say how it went.
	ShellStarted struct {
		EventID EventID `json:"eventId"`
	}
	// HookList is the shell hooks, the user's before the project's, in the order of
	// their files. Problems are sentences about what does not count.
	HookList struct {
		Hooks    []HookInfo `json:"hooks"`
		Problems []string   `json:"problems,omitempty"`
	}
	// HookInfo is a shell hook. State is ok, untrusted (a project's that the user does not
	// trust), or changed (a file that it runs has changed since it was trusted). Source is
	// file:line.
	HookInfo struct {
		Event     string `json:"event"`
		Matcher   string `json:"matcher,omitempty"` // of tools; "" is all
		Command   string `json:"command"`
		TimeoutMS int64  `json:"timeoutMs"`
		Blocks    bool   `json:"blocks,omitempty"` // a failure of it counts as a refusal
		Scope     string `json:"scope"`            // user or project
		Source    string `json:"source"`
		State     string `json:"state"`
		Problem   string `json:"problem,omitempty"`
	}
	// UsageReport is what a session has used. Total is the sum of the rows, and what
	// [Live.Usage] says.
	UsageReport struct {
		Rows  []UsageRow `json:"rows"`
		Total Usage      `json:"total"`
	}
	// UsageRow is what one model has used for one purpose, the costliest first. Agent is
	// the name of the sub-agent, of Kind "subagent"; its Model is "" where its session
	// cannot be read any more. Of a log with very many models a last row of each kind,
	// without names, sums up those that are left.
	UsageRow struct {
		Kind  UsageKind `json:"kind"`
		Model string    `json:"model,omitempty"` // provider/id
		Agent string    `json:"agent,omitempty"`
		Calls int       `json:"calls"`
		Usage Usage     `json:"usage"`
	}
	// ProjectState is what a status line shows of a folder. Branch is that of Git, or the
	// first 12 characters of a commit that is checked out by itself, "" without either.
	ProjectState struct {
		WorkDir string `json:"workDir"`
		Root    string `json:"root"`
		Git     bool   `json:"git,omitempty"`
		Branch  string `json:"branch,omitempty"`
	}
	// TaskList is the background commands of a session that are remembered, oldest
	// first.
	TaskList struct {
		Tasks []TaskInfo `json:"tasks"`
	}
	// BlobRef names a payload. One of an export that is too large for one blob is
	// its Parts, in order, and has no SHA256 of its own. Notices say what an export
	// lacks.
	BlobRef struct {
		SHA256  string    `json:"sha256,omitempty"`
		Size    int64     `json:"size"`
		Parts   []BlobRef `json:"parts,omitempty"`
		Notices []string  `json:"notices,omitempty"`
	}
	// BlobPart is a part of a payload.
	BlobPart struct {
		Data []byte `json:"data"`
		Size int64  `json:"size"` // of the whole
	}
)

// ContextPartName says what a part of the context is.
type ContextPartName string

// The parts of a context.
const (
	PartSystem      ContextPartName = "system"      // the system prompt
	PartTools       ContextPartName = "tools"       // descriptions and schemas
	PartSummary     ContextPartName = "summary"     // of what was compacted, and of branches that were left
	PartMemory      ContextPartName = "memory"      // notes
	PartSkills      ContextPartName = "skills"      // their listing
	PartNotes       ContextPartName = "notes"       // what else the harness, hooks and extensions say
	PartUser        ContextPartName = "user"        // messages of people
	PartAssistant   ContextPartName = "assistant"   // answers
	PartThinking    ContextPartName = "thinking"    // of the model
	PartCalls       ContextPartName = "calls"       // inputs of calls
	PartToolResults ContextPartName = "toolResults" // results of calls
)

// UsageKind says what was asked of a model.
type UsageKind string

// The kinds of usage.
const (
	UsageConversation UsageKind = "conversation"
	UsageSummary      UsageKind = "summary"  // of compactions and branches
	UsageAside        UsageKind = "aside"    // titles and what else goes on beside the conversation
	UsageSubagent     UsageKind = "subagent" //
)

func (*Done) response()           {}
func (*Status) response()         {}
func (*ModelTest) response()      {}
func (*FileList) response()       {}
func (*DirectoryList) response()  {}
func (*EntryList) response()      {}
func (*Project) response()        {}
func (*ProjectList) response()    {}
func (*ProjectTrust) response()   {}
func (*TrustReport) response()    {}
func (*DoctorReport) response()   {}
func (*ConfigReport) response()   {}
func (*ModelList) response()      {}
func (*Pruned) response()         {}
func (*SessionSummary) response() {}
func (*SessionList) response()    {}
func (*SearchResult) response()   {}
func (*Imported) response()       {}
func (*SessionOpened) response()  {}
func (*SessionReport) response()  {}
func (*Sent) response()           {}
func (*Cancelled) response()      {}
func (*Moved) response()          {}
func (*Compacted) response()      {}
func (*Events) response()         {}
func (*ContextView) response()    {}
func (*ShellStarted) response()   {}
func (*HookList) response()       {}
func (*UsageReport) response()    {}
func (*ProjectState) response()   {}
func (*TaskList) response()       {}
func (*TaskInfo) response()       {}
func (*BlobRef) response()        {}
func (*BlobPart) response()       {}
