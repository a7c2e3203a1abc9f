package protocol

import (
	"encoding/json"
	"fmt"
)

// Requests about a session as a whole.
type (
	// CreateSession makes a session; the answer is a [SessionSummary]. It works in
	// Meta.WorkDir, by its whole path, and without one in the folder of the project; one
	// of the two must be said.
	CreateSession struct {
		ProjectID ProjectID `json:"projectId,omitempty" check:"max=MaxWord"`
		Meta      Meta      `json:"meta" check:"within"`
	}
	// CheckSession says why [CreateSession] would refuse to make a session that is described
	// so; it makes none. The answer is [Done].
	CheckSession struct {
		ProjectID ProjectID `json:"projectId,omitempty" check:"max=MaxWord"`
		Meta      Meta      `json:"meta" check:"within"`
	}
	// ListSessions lists sessions, newest first; the answer is a [SessionList].
	// Before continues after a session of an earlier list.
	ListSessions struct {
		ProjectID ProjectID `json:"projectId,omitempty" check:"max=MaxWord"`
		Query     string    `json:"query,omitempty" check:"max=MaxQuery"`
		Limit     int       `json:"limit,omitempty" check:"min=0"`
		Before    SessionID `json:"before,omitempty" check:"session"`
		// BeforeTime is the updatedAt of that session, with which Before must come.
		BeforeTime int64 `json:"beforeTime,omitempty"`
		// Subagents lists the sessions of sub-agents too, and ParentID only those of
		// one session.
		Subagents bool      `json:"subagents,omitempty"`
		ParentID  SessionID `json:"parentId,omitempty" check:"session"`
		// Jobs lists only jobs.
		Jobs bool `json:"jobs,omitempty"`
	}
	// OpenSession subscribes the connection to a session; the answer is
	// [SessionOpened], and frames follow: a [ResyncFrame], the events that the client
	// has missed since Anchors (or, on a full reload, the Tail newest events of the
	// path), a [LiveFrame], and then events as they come.
	OpenSession struct {
		Anchors *Anchors `json:"anchors,omitempty"`
		Tail    int      `json:"tail,omitempty" check:"min=0,max=MaxTail"`
	}
	// CloseSession ends a subscription.
	CloseSession struct{}
	// DeleteSession removes a session's log for good, those of its sub-agents, and the
	// payloads that only these name; the answer is [Deleted].
	DeleteSession struct{}
	// CloneSession copies the path to FromEventID (the leaf, when empty) of
	// another session into the new session that the call names; the answer is a
	// [SessionSummary].
	CloneSession struct {
		FromSessionID SessionID `json:"fromSessionId" check:"required,session"`
		FromEventID   EventID   `json:"fromEventId,omitempty" check:"max=MaxWord"`
		Name          string    `json:"name,omitempty" check:"max=MaxName,line"`
	}
	// ImportSession makes the session that the call names from a payload: a file
	// that export_session wrote as "jsonl" or "bundle". Blobs are its parts in
	// order, which this client has put for an import (or exported itself); the host drops
	// them when the request has been carried out. WorkDir, when set, is where the session works
	// from now on; LeafEventID, when set, where the conversation goes on, which must
	// be said when damage may have moved that. The answer is [Imported].
	ImportSession struct {
		Blobs       []string `json:"blobs" check:"required,max=MaxBlocks,each=payloadName"`
		WorkDir     string   `json:"workDir,omitempty" check:"max=MaxPath"`
		LeafEventID EventID  `json:"leafEventId,omitempty" check:"max=MaxWord"`
	}
	// ExportSession writes a session as "jsonl", "bundle" (with its payloads),
	// "markdown" or "html" into a file that the host keeps for this client for 10 minutes
	// after its last use; the answer is a [BlobRef], and get_blob reads it.
	ExportSession struct {
		Format string `json:"format" check:"oneof=jsonl|bundle|markdown|html"`
	}
	// VerifySession reads every byte of a log; the answer is a [SessionReport].
	VerifySession struct{}
	// RepairSession repairs the tail of a log. LeafEventID picks the leaf of a
	// session that is read-only because the damage may have moved it; the answer
	// is a [SessionReport].
	RepairSession struct {
		LeafEventID EventID `json:"leafEventId,omitempty" check:"max=MaxWord"`
	}
	// UpdateInfo changes the meta of a session.
	UpdateInfo struct {
		Changes MetaChanges `json:"changes"`
	}
	// SetLabel names an event; a nil Label removes the name.
	SetLabel struct {
		TargetEventID EventID `json:"targetEventId" check:"required,max=MaxWord"`
		Label         *string `json:"label" check:"max=MaxLabel,line"`
	}
)

// What they are answered with.
type (
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
		// Damaged says in a sentence why the log does not tell what the session is of:
		// its project is not known, and the lists of all have it.
		Damaged string `json:"damaged,omitempty"`
		// State is what goes on in it, nil while this host does not have it open.
		State *SessionState `json:"state,omitempty"`
		// Notices of clone_session say what the copy lacks, as the session itself does, and
		// what was found damaged in that.
		Notices []string `json:"notices,omitempty"`
	}
	// SessionState is what goes on in an open session. Asking says that somebody is
	// waited for; Queued counts the messages that wait, Tasks the background commands,
	// Clients the subscriptions. Activity and Question are lines for people of at most 120
	// characters: what the turn does, and what the oldest question asks. They are as of the
	// moment; no frame comes for each change of them. Failed is such a line too: why the newest
	// turn of this host has not come to its end; it is empty of one that was cancelled, and
	// while one runs. CostUSD is what the session has cost.
	SessionState struct {
		SessionID SessionID `json:"sessionId"`
		Name      string    `json:"name,omitempty"`
		Title     string    `json:"title,omitempty"` // the name, or the first line of the first prompt
		Running   bool      `json:"running,omitempty"`
		Asking    bool      `json:"asking,omitempty"`
		Queued    int       `json:"queued,omitempty"`
		Tasks     int       `json:"tasks,omitempty"`
		Clients   int       `json:"clients,omitempty"`
		WorkDir   string    `json:"workDir,omitempty"`
		Activity  string    `json:"activity,omitempty"`
		Question  string    `json:"question,omitempty"`
		Failed    string    `json:"failed,omitempty"`
		CostUSD   float64   `json:"costUSD,omitempty"`
		Job       *JobMeta  `json:"job,omitempty"`
		// Automation is how proactive mode stands, nil while it is off.
		Automation *Automation `json:"automation,omitempty"`
	}
	// SessionList is a page of sessions; More says that older ones follow.
	SessionList struct {
		Sessions []SessionSummary `json:"sessions"`
		More     bool             `json:"more,omitempty"`
	}
	// SessionOpened answers open_session. Findings are damage that was found,
	// one sentence each; ReadOnly says why nothing can be written, and NeedsLeaf that
	// this ends when repair_session names the place to go on from. Holds says, in a sentence
	// each, why what works in the session by itself does not go on now: schedules that are
	// paused at a limit, background work that has begun too many turns.
	SessionOpened struct {
		Summary   SessionSummary `json:"summary"`
		Findings  []string       `json:"findings,omitempty"`
		ReadOnly  string         `json:"readOnly,omitempty"`
		NeedsLeaf bool           `json:"needsLeaf,omitempty"`
		// Interrupted says that a host was killed in the middle of the newest answer, or of
		// calls, as a sentence with what to do.
		Interrupted string   `json:"interrupted,omitempty"`
		Holds       []string `json:"holds,omitempty"`
	}
	// Imported is a session that was made from a file. Findings say what was wrong
	// with the file and what it lacks, one sentence each, at most 20.
	Imported struct {
		Summary  SessionSummary `json:"summary"`
		Findings []string       `json:"findings,omitempty"`
	}
	// Deleted says what became of the payloads that deleted sessions named. Removed are
	// those that nobody else names, of Bytes in all. Later are such that are younger than a
	// day: the host removes them when they are older, if nobody names them then. Kept are
	// those that another session names. Notices say what of the session could not be
	// removed, at most five.
	Deleted struct {
		Removed int      `json:"removed,omitempty"`
		Bytes   int64    `json:"bytes,omitempty"`
		Later   int      `json:"later,omitempty"`
		Kept    int      `json:"kept,omitempty"`
		Notices []string `json:"notices,omitempty"`
	}
	// SessionReport is what verify and repair found. Sound says that the log can
	// be used as it is.
	SessionReport struct {
		Sound    bool     `json:"sound"`
		Events   int      `json:"events"`
		Bytes    int64    `json:"bytes"`
		Findings []string `json:"findings,omitempty"`
	}
)

var (
	createSessionSpec = Spec{
		Name: "create_session", Scope: ScopeNew, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(CreateSession) }, Reply: func() Response { return new(SessionSummary) },
	}
	checkSessionSpec = Spec{
		Name: "check_session", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(CheckSession) }, Reply: func() Response { return new(Done) },
	}
	listSessionsSpec = Spec{
		Name: "list_sessions", Scope: ScopeDevice, Grant: GrantView,
		Method: "GET", Path: "/v1/sessions",
		New: func() Request { return new(ListSessions) }, Reply: func() Response { return new(SessionList) },
	}
	openSessionSpec = Spec{
		Name: "open_session", Scope: ScopeSession, Grant: GrantView, Subscribes: true,
		New: func() Request { return new(OpenSession) }, Reply: func() Response { return new(SessionOpened) },
	}
	closeSessionSpec = Spec{
		Name: "close_session", Scope: ScopeSession, Grant: GrantView, Subscribes: true,
		New: func() Request { return new(CloseSession) }, Reply: func() Response { return new(Done) },
	}
	deleteSessionSpec = Spec{
		Name: "delete_session", Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(DeleteSession) }, Reply: func() Response { return new(Deleted) },
	}
	cloneSessionSpec = Spec{
		Name: "clone_session", Scope: ScopeNew, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(CloneSession) }, Reply: func() Response { return new(SessionSummary) },
	}
	importSessionSpec = Spec{
		Name: "import_session", Scope: ScopeNew, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(ImportSession) }, Reply: func() Response { return new(Imported) },
	}
	exportSessionSpec = Spec{
		Name: "export_session", Scope: ScopeSession, Grant: GrantView,
		New: func() Request { return new(ExportSession) }, Reply: func() Response { return new(BlobRef) },
	}
	verifySessionSpec = Spec{
		Name: "verify_session", Scope: ScopeSession, Grant: GrantView,
		New: func() Request { return new(VerifySession) }, Reply: func() Response { return new(SessionReport) },
	}
	repairSessionSpec = Spec{
		Name: "repair_session", Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(RepairSession) }, Reply: func() Response { return new(SessionReport) },
	}
	updateInfoSpec = Spec{
		Name: "update_info", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Order: inSession,
		New: func() Request { return new(UpdateInfo) }, Reply: func() Response { return new(Done) },
	}
	setLabelSpec = Spec{
		Name: "set_label", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Order: inSession,
		New: func() Request { return new(SetLabel) }, Reply: func() Response { return new(Done) },
	}
)

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *ListSessions) Check() *Problem {
	p := r.checkFields()
	switch {
	case p == nil && r.Before != "" && r.BeforeTime == 0:
		p = &Problem{"beforeTime", "The field beforeTime is missing; with before it is the updatedAt of that session."}
	case p == nil && r.Before == "" && r.BeforeTime != 0:
		p = &Problem{"before", "The field before is missing; with beforeTime it is the id of that session."}
	}
	return p
}

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *CreateSession) Check() *Problem {
	if r.ProjectID == "" && r.Meta.WorkDir == "" {
		return &Problem{"projectId", "A session needs the field projectId, or meta.workDir: the folder that it works in."}
	}
	return r.checkFields()
}

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *CheckSession) Check() *Problem { return (*CreateSession)(r).Check() }

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *UpdateInfo) Check() *Problem {
	return r.Changes.Check()
}

// Keep implements [Kept].
func (r *Imported) Keep(most int) Response {
	if data, err := json.Marshal(r.Findings); err == nil && len(data) <= most {
		return r
	}
	return &Imported{Summary: r.Summary, Findings: []string{fmt.Sprintf("%d things were found; verify_session of %s names what is wrong now", len(r.Findings), r.Summary.SessionID)}}
}

// UnreadLog is what [SessionSummary.Damaged] begins with where nothing of the log can be read.
const UnreadLog = "Its log cannot be read: "
