package protocol

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
		TargetEventID  *EventID `json:"targetEventId"`
		ExpectedLeafID *EventID `json:"expectedLeafId,omitempty"`
		RestoreFiles   bool     `json:"restoreFiles,omitempty"`
		Files          []string `json:"files,omitempty"`
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

// movedBy is the answer to a request that moved the leaf. A summary that stands behind
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

// Spec describes the request.
func (*RewindTo) Spec() *Spec       { return &rewindToSpec }
func (*BranchTo) Spec() *Spec       { return &branchToSpec }
func (*CompactSession) Spec() *Spec { return &compactSessionSpec }

// Check says what of the request cannot be carried out; see [Call.Check].
func (r *RewindTo) Check() *Problem {
	if r.TargetEventID != nil && *r.TargetEventID == "" {
		return &Problem{"targetEventId", "The field targetEventId is empty; name an event, or null for the empty conversation."}
	}
	return first(checkMove(r.ExpectedLeafID, r.CancelFirst, r.Summarise, r.Instructions), optional("targetEventId", r.TargetEventID))
}
func (r *BranchTo) Check() *Problem {
	return first(need("leafEventId", r.LeafEventID, MaxWord), checkMove(r.ExpectedLeafID, r.CancelFirst, r.Summarise, r.Instructions))
}
func (r *CompactSession) Check() *Problem {
	return checkMove(r.ExpectedLeafID, r.CancelFirst, "", r.Instructions)
}

// checkMove looks at what the moves of a conversation have in common.
func checkMove(expected *EventID, cancelFirst TurnID, summarise, instructions string) *Problem {
	return first(optional("expectedLeafId", expected), atMost("cancelFirst", cancelFirst, MaxWord), one("summarise", summarise, "", SummariseBranch),
		atMost("instructions", instructions, MaxInstructions))
}

func (*Moved) response()     {}
func (*Compacted) response() {}
