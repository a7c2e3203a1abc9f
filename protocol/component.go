package protocol

// Bounds of what an extension draws itself, in a dialog of kind [DialogCustom].
const (
	MaxFrameLines = 200       // lines of a frame
	MaxFrameBytes = 64 << 10  // bytes of its lines
	MaxInputKeys  = 1024      // keys and pastes of one ui_input
	MaxInputBytes = 256 << 10 // bytes of them
	MaxCells      = 10_000    // columns and lines of a terminal
)

// UIOwner is the client that has a component on its screen.
type UIOwner struct {
	ClientID   ClientID `json:"clientId"`
	ClientName string   `json:"clientName,omitempty"`
}

// FrameState says what a [UIFrame] is.
type FrameState string

// The states of a component as one connection has them.
const (
	FrameDrawn FrameState = ""      // it has lines to show
	FrameGiven FrameState = "given" // the component is this connection's, which tells its size with take_ui
	FrameTaken FrameState = "taken" // another connection has taken it
)

// UIFrame is what an extension draws in a dialog of kind custom, for the one connection
// that has the component: no other one gets it, it is stored nowhere, and only the newest is
// kept for a client that is slow. Lines hold no control sequences but SGR (colours and
// weights); a client cuts what is wider than its screen. It may come before the ui_request.
type UIFrame struct {
	SessionID SessionID  `json:"sessionId"`
	UIID      string     `json:"uiId"`
	State     FrameState `json:"state,omitempty"`
	Rev       int64      `json:"rev"` // of the newest ui_input that it was drawn after
	Width     int        `json:"width,omitempty"`
	Lines     []string   `json:"lines,omitempty"`
	Cursor    *UICursor  `json:"cursor,omitempty"` // none: the cursor is hidden
}

// UICursor is a place in a frame, both from 0.
type UICursor struct {
	Row    int `json:"row"`    // index of the line
	Column int `json:"column"` // in cells
}

// FrameName is the type that is on the wire.
func (*UIFrame) FrameName() string { return "ui_frame" }

// Requests about what extensions draw.
type (
	// TakeUI makes the connection the one that has a component, at the size of its screen
	// in cells. Who had it is sent a ui_frame of the state taken.
	TakeUI struct {
		UIID   string `json:"uiId" check:"required,max=MaxWord"`
		Width  int    `json:"width" check:"min=0,max=MaxCells"`
		Height int    `json:"height" check:"min=0,max=MaxCells"`
	}
	// UITaken is its answer: Rev is that of the newest ui_input, from which the
	// connection goes on to count.
	UITaken struct {
		Rev int64 `json:"rev"`
	}
	// UIInput brings keys to a component: each member of Data is one key or one paste
	// (with its brackets, \x1b[200~ and \x1b[201~) as a terminal sends it. Rev counts up
	// from that of [UITaken]; one that is not newer changes nothing. Width and Height are
	// there when the size of the screen has changed.
	UIInput struct {
		UIID   string   `json:"uiId" check:"required,max=MaxWord"`
		Rev    int64    `json:"rev" check:"min=0"`
		Data   []string `json:"data,omitempty"`
		Width  int      `json:"width,omitempty" check:"min=0,max=MaxCells"`
		Height int      `json:"height,omitempty" check:"min=0,max=MaxCells"`
	}
)

var (
	takeUISpec = Spec{
		Name: "take_ui", Scope: ScopeSession, Grant: GrantAnswer, Subscribes: true, Order: inComponent,
		New: func() Request { return new(TakeUI) }, Reply: func() Response { return new(UITaken) },
	}
	uiInputSpec = Spec{
		Name: "ui_input", Scope: ScopeSession, Grant: GrantAnswer, Subscribes: true, Order: inComponent,
		New: func() Request { return new(UIInput) }, Reply: func() Response { return new(Done) },
	}
)

// inComponent keeps the order of what a connection sends to the components of a session.
func inComponent(c Call) string { return "ui " + string(c.SessionID) }

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *UIInput) Check() *Problem {
	if p := r.checkFields(); p != nil {
		return p
	}
	return checkKeys(r.Data)
}
