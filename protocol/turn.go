package protocol

import "fmt"

// Requests that begin, feed and end turns.
type (
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
	// SetMode sets the permission mode of the session's next calls, until another is
	// set. A session_info event tells all clients, and [Live] has it.
	SetMode struct {
		Mode string `json:"mode"`
	}
)

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
	// Workspace is a folder that is allowed as the workspace of this turn though it is
	// the home or /, by its whole path; nil is none.
	Workspace *string `json:"workspace,omitempty"`
}

// What they are answered with.
type (
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
)

// RequestName is the type that stands on the wire.
func (*SendMessage) RequestName() string  { return "send_message" }
func (*Steer) RequestName() string        { return "steer" }
func (*FollowUp) RequestName() string     { return "follow_up" }
func (*RewriteQueue) RequestName() string { return "rewrite_queue" }
func (*ResumeQueue) RequestName() string  { return "resume_queue" }
func (*Cancel) RequestName() string       { return "cancel" }
func (*SetMode) RequestName() string      { return "set_mode" }

// Check says what of the request cannot be carried out; see [Call.Check].
func (r *SendMessage) Check() *Problem {
	return first(CheckContent("content", r.Content), one("whenBusy", r.WhenBusy, "", "followUp", "steer", "reject"), optional("expectedLeafId", r.ExpectedLeafID), r.Options.Check())
}
func (r *Steer) Check() *Problem {
	return first(CheckContent("content", r.Content), atMost("turnId", r.TurnID, MaxWord))
}
func (r *FollowUp) Check() *Problem {
	return CheckContent("content", r.Content)
}
func (r *RewriteQueue) Check() *Problem {
	p := first(one("queue", r.Queue, QueueSteer, QueueFollowUp), atMost("replaces", r.Replaces, MaxWord))
	if p == nil && len(r.Items) > MaxQueueItems {
		p = &Problem{"items", fmt.Sprintf("The field items has %d messages; a queue holds at most %d.", len(r.Items), MaxQueueItems)}
	}
	for i, it := range r.Items {
		at := fmt.Sprintf("items[%d].", i)
		p = first(p, atMost(at+"id", it.ID, MaxWord), CheckContent(at+"content", it.Content))
	}
	return p
}
func (*ResumeQueue) Check() *Problem { return nil }
func (r *Cancel) Check() *Problem {
	return need("turnId", r.TurnID, MaxWord)
}
func (r *SetMode) Check() *Problem {
	return need("mode", r.Mode, MaxWord)
}

func (*Sent) response()      {}
func (*Cancelled) response() {}
