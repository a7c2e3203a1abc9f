package protocol

// Bounds of the time between the end of a turn and the next that proactive mode begins, in
// seconds.
const (
	MinProactiveSeconds = 5
	MaxProactiveSeconds = 3600
)

// SetProactive switches proactive mode of a session on or off: while it is on, a turn begins a
// while after the end of the turn before, without a message of a person. [Live.Automation] has
// its state. EverySeconds is that while, 0 for that of the configuration; with Files, a turn also
// begins when something else has changed a file that the session has read. Options count for
// the turns that begin so.
type SetProactive struct {
	On           bool         `json:"on"`
	EverySeconds int          `json:"everySeconds,omitempty" check:"min=0,max=MaxProactiveSeconds"`
	Files        bool         `json:"files,omitempty"`
	Options      *TurnOptions `json:"options,omitempty"`
}

var setProactiveSpec = Spec{
	Name: "set_proactive", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Order: inSession,
	New: func() Request { return new(SetProactive) }, Reply: func() Response { return new(Done) },
}

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *SetProactive) Check() *Problem {
	return first(r.checkFields(), r.Options.Check())
}

// AutomationState returns what proactive mode does.
type AutomationState string

// The states of proactive mode.
const (
	AutomationStandby  AutomationState = "standby"
	AutomationSleeping AutomationState = "sleeping" // a call of Sleep waits
)

// Automation is the proactive mode of a session in which it is on. Times are Unix milliseconds.
// NextTickAt is when the next turn begins by itself, 0 while one runs; Until is when a call of
// Sleep ends. Why says why no turn begins though the mode is on.
type Automation struct {
	State        AutomationState `json:"state"`
	NextTickAt   int64           `json:"nextTickAt,omitempty"`
	Until        int64           `json:"until,omitempty"`
	EverySeconds int             `json:"everySeconds"`
	Files        bool            `json:"files,omitempty"`
	Why          string          `json:"why,omitempty"`
}
