package protocol

// MaxAreaLines bounds the lines of a header or footer of an extension.
const MaxAreaLines = 10

// The places of a [UIState] that an extension draws itself, at the width of each screen that
// asks with [RenderEntry]. Its lines only tell one version from the next.
const (
	PlaceHeader = "header"
	PlaceFooter = "footer"
)

// PlaceEditor is the place of a [UIState] whose lines an extension offers for the next
// message: a client puts them into its editor when they come, and not again later.
const PlaceEditor = "editor"

// The places of a [UIState] that is for terminal UIs alone.
const (
	PlaceIndicator = "indicator"
	PlaceThinking  = "thinking"
	PlaceTheme     = "theme"
	PlaceWorking   = "working" // with lines, nothing says that a turn runs
)

// PlaceCompletions is the place of a [UIState] of an extension that is asked with
// [CompleteInput].
const PlaceCompletions = "completions"

// Bounds of how long each picture of an indicator is shown, in milliseconds.
const (
	MinIndicatorMS = 50
	MaxIndicatorMS = 10_000
)

// Requests about how extensions draw what is in the conversation, and around it.
type (
	// RenderEntry asks the extensions that run how they draw a call of a tool, or a message
	// of an extension. EventID is the message with the call, a custom_message or a custom event; ResultID
	// is the event of the call's result, when there is one. Instead of an event, Source and
	// Place name the header or footer of an extension. It starts nothing: where no extension
	// runs that draws it, or none answers in time, the client shows it as it does without. The
	// answer is a [RenderedEntry].
	RenderEntry struct {
		EventID    EventID `json:"eventId,omitempty" check:"max=MaxWord"`
		ToolCallID string  `json:"toolCallId,omitempty" check:"max=MaxName"`
		ResultID   EventID `json:"resultId,omitempty" check:"max=MaxWord"`
		Source     string  `json:"source,omitempty" check:"max=MaxName"`
		Place      string  `json:"place,omitempty" check:"max=MaxWord"`
		Width      int     `json:"width" check:"min=0,max=MaxCells"`
		Expanded   bool    `json:"expanded,omitempty"`
	}
	// RenderedEntry is what is drawn: the call, and its result or the message. Nil is what
	// the extension does not draw. Lines hold no control sequences but SGR, as in a [UIFrame].
	RenderedEntry struct {
		Source string      `json:"source,omitempty"` // the extension; "" for none
		Call   *DrawnLines `json:"call,omitempty"`
		Body   *DrawnLines `json:"body,omitempty"`
	}
	// DrawnLines are lines of an extension, which may be none.
	DrawnLines struct {
		Lines []string `json:"lines,omitempty"`
	}
)

var renderEntrySpec = Spec{
	Name: "render_entry", Scope: ScopeSession, Grant: GrantView,
	New: func() Request { return new(RenderEntry) }, Reply: func() Response { return new(RenderedEntry) },
}
