package protocol

// Requests about the events of a session.
type (
	// GetPath returns conversation events of a path, newest first; the answer is
	// [Events]. LeafID empty is the active path.
	GetPath struct {
		LeafID   EventID `json:"leafId,omitempty" check:"max=MaxWord"`
		BeforeID EventID `json:"beforeId,omitempty" check:"max=MaxWord"`
		Limit    int     `json:"limit,omitempty" check:"min=0"`
	}
	// GetTree returns all persistent events after AfterSeq in the order of the
	// log; the answer is [Events], with those of the active path named.
	GetTree struct {
		AfterSeq Seq `json:"afterSeq,omitempty"`
		Limit    int `json:"limit,omitempty" check:"min=0"`
	}
)

// What they are answered with.
type (
	// Events is a page of events; More says that there are further ones, and Older how
	// many of a path (0 in other answers). Active are the places in Events of those that
	// are on the active path, in an answer to get_tree.
	Events struct {
		Events []Event `json:"events"`
		LeafID EventID `json:"leafId,omitempty"`
		More   bool    `json:"more,omitempty"`
		Older  int     `json:"older,omitempty"`
		Active []int   `json:"active,omitempty"`
		// Findings say what is damaged in the log, on the first page only.
		Findings []string `json:"findings,omitempty"`
	}
)

var (
	getPathSpec = Spec{
		Name: "get_path", Scope: ScopeSession, Grant: GrantView,
		New: func() Request { return new(GetPath) }, Reply: func() Response { return new(Events) },
	}
	getTreeSpec = Spec{
		Name: "get_tree", Scope: ScopeSession, Grant: GrantView,
		New: func() Request { return new(GetTree) }, Reply: func() Response { return new(Events) },
	}
)
