package protocol

// Requests about what a model is sent and what that used.
type (
	// GetContext returns what the model would be sent; the answer is [ContextView].
	GetContext struct{}
	// GetUsage returns what the session has used, by model and sub-agent; the answer is a
	// [UsageReport].
	GetUsage struct{}
)

// What they are answered with.
type (
	// ContextView is what the model would be sent, with estimates in tokens. Parts are
	// what fills the window, in the order in which it is sent; their tokens together are
	// Tokens. Reserved is kept free for the answer: above
	// Window less that a compaction is due. Free is what is left below it.
	ContextView struct {
		System   string    `json:"system"`
		Messages []Message `json:"messages"`
		// OlderMessages is how many messages before those are only counted, because they
		// are far more than the window takes: they will be compacted, and are never sent.
		OlderMessages int `json:"olderMessages,omitempty"`
		Tokens        int `json:"tokens"`
		SystemTokens  int `json:"systemTokens"`
		ToolTokens    int `json:"toolTokens"`
		Window        int `json:"window"`

		Parts    []ContextPart `json:"parts,omitempty"`
		Reserved int           `json:"reserved"`
		Free     int           `json:"free"`
	}
	// ContextPart is one kind of what a model is sent. Count is how many there are.
	ContextPart struct {
		Name   ContextPartName `json:"name"`
		Tokens int             `json:"tokens"`
		Count  int             `json:"count"`
	}
	// UsageReport is what a session has used. Total is the sum of the rows, and what
	// [Live.Usage] says. Limits are those of the turn that runs, none while none does.
	UsageReport struct {
		Rows   []UsageRow `json:"rows"`
		Total  Usage      `json:"total"`
		Limits []LimitUse `json:"limits,omitempty"`
	}
	// UsageRow is what one model has used for one purpose, the costliest first. Agent is
	// the name of the sub-agent, of Kind "subagent"; its Model is "" where its session
	// cannot be read any more. Of a log with very many models a last row of each kind,
	// without names, sums up those that are left.
	UsageRow struct {
		Kind  UsageKind `json:"kind"`
		Model string    `json:"model,omitempty"` // provider/id
		Agent string    `json:"agent,omitempty"`
		Calls int       `json:"calls"`
		Usage Usage     `json:"usage"`
	}
)

// ContextPartName returns what a part of the context is.
type ContextPartName string

// The parts of a context.
const (
	PartSystem      ContextPartName = "system"      // the system prompt
	PartTools       ContextPartName = "tools"       // descriptions and schemas
	PartSummary     ContextPartName = "summary"     // of what was compacted, and of branches that were left
	PartMemory      ContextPartName = "memory"      // notes
	PartSkills      ContextPartName = "skills"      // their listing
	PartNotes       ContextPartName = "notes"       // what else the harness, hooks and extensions say
	PartUser        ContextPartName = "user"        // messages of people
	PartAssistant   ContextPartName = "assistant"   // answers
	PartThinking    ContextPartName = "thinking"    // of the model
	PartCalls       ContextPartName = "calls"       // inputs of calls
	PartToolResults ContextPartName = "toolResults" // results of calls
)

// UsageKind returns what was asked of a model.
type UsageKind string

// The kinds of usage.
const (
	UsageConversation UsageKind = "conversation"
	UsageSummary      UsageKind = "summary"  // of compactions and branches
	UsageAside        UsageKind = "aside"    // titles and what else goes on beside the conversation
	UsageSubagent     UsageKind = "subagent" //
)

var (
	getContextSpec = Spec{
		Name: "get_context", Scope: ScopeSession, Grant: GrantView,
		New: func() Request { return new(GetContext) }, Reply: func() Response { return new(ContextView) },
	}
	getUsageSpec = Spec{
		Name: "get_usage", Scope: ScopeSession, Grant: GrantView,
		New: func() Request { return new(GetUsage) }, Reply: func() Response { return new(UsageReport) },
	}
)
