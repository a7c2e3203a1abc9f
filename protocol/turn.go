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
		Content        []Block      `json:"content" check:"content"`
		WhenBusy       string       `json:"whenBusy,omitempty" check:"oneof=|followUp|steer|reject"`
		ExpectedLeafID *EventID     `json:"expectedLeafId,omitempty" check:"max=MaxWord"`
		Options        *TurnOptions `json:"options,omitempty"`
	}
	// Steer puts a message into the running turn; TurnID, when set, must be that
	// turn. When idle it sends.
	Steer struct {
		TurnID  TurnID  `json:"turnId,omitempty" check:"max=MaxWord"`
		Content []Block `json:"content" check:"content"`
	}
	// FollowUp queues a message for the end of the turn. When idle it sends.
	FollowUp struct {
		Content []Block `json:"content" check:"content"`
	}
	// RewriteQueue replaces a queue that the client has seen as Replaces.
	RewriteQueue struct {
		Queue    QueueName   `json:"queue" check:"oneof=steer|follow_up"`
		Replaces EventID     `json:"replaces,omitempty" check:"max=MaxWord"`
		Items    []QueueItem `json:"items"`
	}
	// ResumeQueue lets both queues go on if they are paused. It has no fields. When no
	// turn runs, the first message that waits begins one.
	ResumeQueue struct{}
	// Cancel ends a turn; the answer is [Cancelled].
	Cancel struct {
		TurnID TurnID `json:"turnId" check:"required,max=MaxWord"`
	}
	// SetMode sets the permission mode of the session's next calls, until another is
	// set. A session_info event tells all clients, and [Live] has it.
	SetMode struct {
		Mode string `json:"mode" check:"required,max=MaxWord"`
	}
)

// TurnOptions are what one message asks of its turn, above the configuration. The
// fields mean what the flags of `scorel -p` mean; Allow, Deny and AdditionalDirs
// (absolute paths) come in addition to the configuration's, and a deny rule beats
// every allow rule. Mode counts until somebody sets another one during the turn.
// MaxBudgetUSD, MaxTokens and MaxMinutes are limits of the turn, with all that sub-agents
// use for it; a tighter one of the configuration counts instead. MaxTokens counts all that
// models read and wrote, MaxMinutes the time without waits for a person's answers.
// Unattended denies at once what would have to be asked while nobody who could answer
// is attached.
type TurnOptions struct {
	Model          string   `json:"model,omitempty" check:"max=MaxModelRef"`
	Thinking       string   `json:"thinking,omitempty" check:"max=MaxWord"`
	Mode           string   `json:"mode,omitempty" check:"max=MaxWord"`
	Allow          []string `json:"allow,omitempty" check:"max=MaxRules,each=MaxPath"`
	Deny           []string `json:"deny,omitempty" check:"max=MaxRules,each=MaxPath"`
	Tools          string   `json:"tools,omitempty" check:"max=MaxSetting"`
	AdditionalDirs []string `json:"additionalDirs,omitempty" check:"max=MaxRules,each=MaxPath"`
	MaxSteps       int      `json:"maxSteps,omitempty" check:"min=0"`
	MaxBudgetUSD   float64  `json:"maxBudgetUSD,omitempty" check:"min=0"`
	MaxTokens      int      `json:"maxTokens,omitempty" check:"min=0"`
	MaxMinutes     float64  `json:"maxMinutes,omitempty" check:"min=0"`
	Sandbox        string   `json:"sandbox,omitempty" check:"max=MaxWord"`
	NoNetwork      bool     `json:"noNetwork,omitempty"`
	Unattended     bool     `json:"unattended,omitempty"`
	// Workspace is a folder that is allowed as the workspace of this turn though it is
	// the home or /, by its whole path; nil is none.
	Workspace *string `json:"workspace,omitempty" check:"required,max=MaxPath"`
	// MCPConfig are texts as in a file of MCP servers, whose servers beat those of the same
	// names in files; with StrictMCP there are no others, but those of an administrator. They
	// count from this turn on; StrictMCP does when the session's first turn in this host has it.
	// Their variables are replaced
	// as a project's, without keys of providers.
	MCPConfig []string `json:"mcpConfig,omitempty" check:"max=MaxMCPConfigs,each=MaxMCPConfig"`
	StrictMCP bool     `json:"strictMcp,omitempty"`
	// Channels are MCP servers that may push events into the session from this turn on, as
	// long as this host has the session open: "server:NAME" or "plugin:ID".
	Channels []string `json:"channels,omitempty" check:"max=MaxChannels,each=MaxChannel"`
}

// What they are answered with.
type (
	// Sent says what became of a message: EventID when it is in the log,
	// ItemID when it waits in a queue. TurnID is the turn that handles it; with ItemID the
	// one that runs, which takes it unless it is a compaction, a command, or, for a
	// follow-up, a turn with options.
	Sent struct {
		EventID EventID `json:"eventId,omitempty"`
		ItemID  ItemID  `json:"itemId,omitempty"`
		TurnID  TurnID  `json:"turnId,omitempty"`
		// Handled names the hook that has done all there was to do with the message:
		// nothing of it is stored, and the ids are empty.
		Handled string `json:"handled,omitempty"`
	}
	// Cancelled reports whether the named turn was running and is now ending.
	Cancelled struct {
		Cancelled bool `json:"cancelled"`
	}
)

var (
	sendMessageSpec = Spec{
		Name: "send_message", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Order: inSession,
		Method: "POST", Path: "/v1/sessions/{sessionId}/messages",
		New: func() Request { return new(SendMessage) }, Reply: func() Response { return new(Sent) }, Replay: sentBy,
	}
	steerSpec = Spec{
		Name: "steer", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Order: inSession,
		Method: "POST", Path: "/v1/sessions/{sessionId}/steer",
		New: func() Request { return new(Steer) }, Reply: func() Response { return new(Sent) }, Replay: sentBy,
	}
	followUpSpec = Spec{
		Name: "follow_up", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Order: inSession,
		New: func() Request { return new(FollowUp) }, Reply: func() Response { return new(Sent) }, Replay: sentBy,
	}
	rewriteQueueSpec = Spec{
		Name: "rewrite_queue", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Order: inSession,
		New: func() Request { return new(RewriteQueue) }, Reply: func() Response { return new(Sent) }, Replay: rewrittenBy,
	}
	resumeQueueSpec = Spec{
		Name: "resume_queue", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Order: inSession,
		New: func() Request { return new(ResumeQueue) }, Reply: func() Response { return new(Done) },
	}
	cancelSpec = Spec{
		Name: "cancel", Scope: ScopeSession, Grant: GrantAnswer, Mutates: true, Urgent: true,
		Method: "POST", Path: "/v1/sessions/{sessionId}/cancel",
		New: func() Request { return new(Cancel) }, Reply: func() Response { return new(Cancelled) },
	}
	setModeSpec = Spec{
		Name: "set_mode", Scope: ScopeSession, Grant: GrantControl, Mutates: true, Order: inSession,
		New: func() Request { return new(SetMode) }, Reply: func() Response { return new(Done) },
	}
)

// sentBy is the answer to a request that sent a message: it entered, or waits as the
// last one of the queue.
func sentBy(e Event) Response {
	switch b := e.Body.(type) {
	case *MessageBody:
		return &Sent{EventID: e.ID}
	case *QueueUpdate:
		if n := len(b.Items); n > 0 {
			return &Sent{ItemID: b.Items[n-1].ID}
		}
	}
	return nil
}

// rewrittenBy is the answer to one that rewrote a queue, which may have sent from it.
func rewrittenBy(e Event) Response {
	if _, ok := e.Body.(*MessageBody); ok {
		return &Sent{EventID: e.ID}
	}
	return nil
}

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *SendMessage) Check() *Problem {
	p := first(r.checkFields(), r.Options.Check())
	if p == nil && r.Options != nil && r.WhenBusy != "reject" {
		p = &Problem{"whenBusy", "A message with options begins a turn of its own; send it with whenBusy \"reject\"."}
	}
	return p
}
func (r *RewriteQueue) Check() *Problem {
	p := r.checkFields()
	if p == nil && len(r.Items) > MaxQueueItems {
		p = &Problem{"items", fmt.Sprintf("The field items has %d messages; a queue holds at most %d.", len(r.Items), MaxQueueItems)}
	}
	for i, it := range r.Items {
		at := fmt.Sprintf("items[%d].", i)
		p = first(p, atMost(at+"id", it.ID, MaxWord), CheckContent(at+"content", it.Content))
	}
	return p
}
