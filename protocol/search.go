package protocol

// Requests that look for something in all sessions.
type (
	// SearchSessions looks through all sessions for events in which every one of
	// Words (at most 16, of at most 256 bytes) stands as written, newest sessions
	// first. Words without capitals are found in any case, unless MatchCase. Limit
	// is at most 500 events, 50 when it is 0; the answer is [SearchResult].
	SearchSessions struct {
		Words     []string  `json:"words" check:"required"`
		ProjectID ProjectID `json:"projectId,omitempty" check:"max=MaxWord"`
		MatchCase bool      `json:"matchCase,omitempty"`
		Limit     int       `json:"limit,omitempty" check:"min=0"`
	}
)

// What they are answered with.
type (
	// SearchResult is what a search found. More says that the limit ended it;
	// Unreadable are sessions that could not be searched, and Damaged those of which damaged
	// lines could not; at most 100 of each.
	SearchResult struct {
		Sessions   []FoundSession `json:"sessions"`
		More       bool           `json:"more,omitempty"`
		Unreadable []SessionID    `json:"unreadable,omitempty"`
		Damaged    []SessionID    `json:"damaged,omitempty"`
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
	// SnippetPart is a piece of the text around a hit; Match says that it is what
	// was looked for. Its text is safe to show and is on one line.
	SnippetPart struct {
		Text  string `json:"text"`
		Match bool   `json:"match,omitempty"`
	}
)

var (
	searchSessionsSpec = Spec{
		Name: "search_sessions", Scope: ScopeDevice, Grant: GrantView,
		New: func() Request { return new(SearchSessions) }, Reply: func() Response { return new(SearchResult) },
	}
)
