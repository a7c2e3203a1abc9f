package protocol

import "encoding/json"

// Requests that move the leaf or shorten the context.
type (
	// RewindTo sets the leaf to an earlier event, or (null) to the empty
	// conversation; the answer is [Moved]. With Summarise [SummariseBranch] a model
	// first summarises what is left, as Instructions (at most 8 KiB) ask for, and the
	// summary becomes the leaf, on the target. That is a run which can be cancelled;
	// when it fails or is cancelled nothing has moved.
	//
	// RestoreFiles takes back the files that the part which is left has written, as far as
	// they are still as the agent left them, in content, mode and existence. Files names
	// further ones (absolute paths, as [SkippedFile] gives them) that are taken back though
	// somebody changed them since; those of the moves before count too, as long as nothing
	// was said since.
	RewindTo struct {
		TargetEventID  *EventID `json:"targetEventId" check:"max=MaxWord"`
		ExpectedLeafID *EventID `json:"expectedLeafId,omitempty" check:"max=MaxWord"`
		RestoreFiles   bool     `json:"restoreFiles,omitempty"`
		Files          []string `json:"files,omitempty"`
		CancelFirst    TurnID   `json:"cancelFirst,omitempty" check:"max=MaxWord"`
		Summarise      string   `json:"summarise,omitempty" check:"oneof=|yes"` // "" or "yes"
		Instructions   string   `json:"instructions,omitempty" check:"max=MaxInstructions"`
	}
	// BranchTo sets the leaf to any conversation event; the answer is [Moved]. With
	// Summarise it does what [RewindTo] does with that.
	BranchTo struct {
		LeafEventID    EventID  `json:"leafEventId" check:"required,max=MaxWord"`
		ExpectedLeafID *EventID `json:"expectedLeafId,omitempty" check:"max=MaxWord"`
		CancelFirst    TurnID   `json:"cancelFirst,omitempty" check:"max=MaxWord"`
		Summarise      string   `json:"summarise,omitempty" check:"oneof=|yes"` // "" or "yes"
		Instructions   string   `json:"instructions,omitempty" check:"max=MaxInstructions"`
	}
	// CompactSession summarises the older part of the context; the answer is
	// [Compacted]. Like the moves above it needs CancelFirst while a turn runs.
	CompactSession struct {
		Instructions   string   `json:"instructions,omitempty" check:"max=MaxInstructions"`
		ExpectedLeafID *EventID `json:"expectedLeafId,omitempty" check:"max=MaxWord"`
		CancelFirst    TurnID   `json:"cancelFirst,omitempty" check:"max=MaxWord"`
	}
	// LeaveSession asks whether a person may go from the session to another one, which
	// extensions of the session that run may refuse: then the answer is an error of the code
	// permission_denied with their reason, and the client stays. Nothing else happens. A
	// client asks before /new and /resume. TargetSessionID is the session that it goes to,
	// "" for one that does not exist yet.
	LeaveSession struct {
		Reason          string    `json:"reason" check:"required,oneof=new|resume"`
		TargetSessionID SessionID `json:"targetSessionId,omitempty" check:"session"`
	}
)

// SummariseBranch is the value of Summarise that asks for a summary.
const SummariseBranch = "yes"

// MaxInstructions bounds what somebody asks of a summary, in bytes.
const MaxInstructions = 8 << 10

// What they are answered with.
type (
	// Moved says where the leaf is now, and what became of the files. SummaryID is the
	// summary of what was left, "" without one; it is the leaf then. Removed are files
	// that were not there before; what was as before already is not named.
	Moved struct {
		LeafID    EventID `json:"leafId"`
		SummaryID EventID `json:"summaryId,omitempty"`

		Restored []string      `json:"restored,omitempty"`
		Removed  []string      `json:"removed,omitempty"`
		Skipped  []SkippedFile `json:"skipped,omitempty"`
	}
	// SkippedFile is a file that was not restored, and why. The path is empty when damage
	// to the log hides it. Offered says that [RewindTo.Files] can name it.
	SkippedFile struct {
		Path    string `json:"path"`
		Why     string `json:"why"`
		Offered bool   `json:"offered,omitempty"`
	}
	// Compacted says what a compaction did. EventID is empty when there was
	// nothing to compact.
	Compacted struct {
		EventID      EventID `json:"eventId,omitempty"`
		TokensBefore int     `json:"tokensBefore"`
		TokensAfter  int     `json:"tokensAfter"`
	}
)

var (
	rewindToSpec = Spec{
		Name: "rewind_to", Aliases: []string{"rewind"}, Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		Method: "POST", Path: "/v1/sessions/{sessionId}/rewind",
		New: func() Request { return new(RewindTo) }, Reply: func() Response { return new(Moved) }, Replay: movedBy,
	}
	branchToSpec = Spec{
		Name: "branch_to", Aliases: []string{"branch"}, Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		Method: "POST", Path: "/v1/sessions/{sessionId}/branch",
		New: func() Request { return new(BranchTo) }, Reply: func() Response { return new(Moved) }, Replay: movedBy,
	}
	compactSessionSpec = Spec{
		Name: "compact_session", Aliases: []string{"compact"}, Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		Method: "POST", Path: "/v1/sessions/{sessionId}/compact",
		New: func() Request { return new(CompactSession) }, Reply: func() Response { return new(Compacted) }, Replay: compactedBy,
	}
)

var leaveSessionSpec = Spec{
	Name: "leave_session", Scope: ScopeSession, Grant: GrantControl,
	New: func() Request { return new(LeaveSession) }, Reply: func() Response { return new(Done) },
}

// movedBy is the answer to a request that moved the leaf. A summary that stands after
// the event the host adds.
func movedBy(e Event) Response {
	switch b := e.Body.(type) {
	case *Rewind:
		if b.TargetEventID != nil {
			return &Moved{LeafID: *b.TargetEventID}
		}
	case *Branch:
		return &Moved{LeafID: b.LeafEventID}
	}
	return nil
}

func compactedBy(e Event) Response {
	if b, ok := e.Body.(*Compact); ok {
		return &Compacted{EventID: e.ID, TokensBefore: b.TokensBefore, TokensAfter: b.TokensAfter}
	}
	return nil
}

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *RewindTo) Check() *Problem {
	if r.TargetEventID != nil && *r.TargetEventID == "" {
		return &Problem{"targetEventId", "The field targetEventId is empty; name an event, or null for the empty conversation."}
	}
	return r.checkFields()
}

// Keep implements [Kept].
func (m *Moved) Keep(most int) Response {
	if data, err := json.Marshal(m); err != nil || len(data) > most {
		return &Moved{LeafID: m.LeafID}
	}
	return m
}
