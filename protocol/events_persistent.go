package protocol

import (
	"encoding/json"
)

// The types of persistent events.
const (
	TypeMessage             EventType = "message"
	TypeCompact             EventType = "compact"
	TypeCustomMessage       EventType = "custom_message"
	TypeHarnessItem         EventType = "harness_item"
	TypeBranchSummary       EventType = "branch_summary"
	TypeRewind              EventType = "rewind"
	TypeBranch              EventType = "branch"
	TypeChannelInject       EventType = "channel_inject"
	TypeSessionInfo         EventType = "session_info"
	TypeCustom              EventType = "custom"
	TypeLabel               EventType = "label"
	TypeInstructionSnapshot EventType = "instruction_snapshot"
	TypeQueueUpdate         EventType = "queue_update"
	TypeSkillIndexSnapshot  EventType = "skill_index_snapshot"
	TypeSkillIndexDelta     EventType = "skill_index_delta"
	TypePermissionDecision  EventType = "permission_decision"
	TypeFileSnapshot        EventType = "file_snapshot"
	TypeContextCut          EventType = "context_cut"
	TypeRepair              EventType = "repair"
)

// MessageBody is a message event.
type MessageBody struct {
	Message Message `json:"message"`
}

var messageSpec = EventSpec{Type: TypeMessage, Class: Conversation, New: func() Body { return new(MessageBody) },
	Display: Display{View: ViewMessage},
	Search:  Coded, Usage: "message.usage", UsageKind: UsageConversation, Payloads: Coded, Leaf: None, Context: Coded}

// CompactDetails lists the files that the summarised part touched.
type CompactDetails struct {
	ReadFiles     []string `json:"readFiles,omitempty"`
	ModifiedFiles []string `json:"modifiedFiles,omitempty"`
}

// Compact stands for everything up to and including CompactedThrough on its
// path. TurnMessageID names the user message of the turn in which the cut fell.
type Compact struct {
	Summary          string          `json:"summary"`
	CompactedThrough EventID         `json:"compactedThrough"`
	TurnMessageID    EventID         `json:"turnMessageId,omitempty"`
	TokensBefore     int             `json:"tokensBefore"`
	TokensAfter      int             `json:"tokensAfter"`
	Usage            *Usage          `json:"usage,omitempty"`
	Details          *CompactDetails `json:"details,omitempty"`
	// ResultChars, when set, is how many characters of each tool result older
	// than this event are still sent: the mark of a harder compaction.
	ResultChars int `json:"resultChars,omitempty"`
}

var compactSpec = EventSpec{Type: TypeCompact, Class: Conversation, New: func() Body { return new(Compact) },
	Display: Display{Kind: DisplayFolded, Text: "{summary}",
		Title: "Earlier conversation summarised ({tokensBefore|count} to {tokensAfter|count} tokens)"},
	Search: "summary", Word: "summary", Usage: "usage", UsageKind: UsageSummary, Payloads: None, Leaf: None, Context: Coded}

// CustomMessage is a message of an extension; Kind names its renderer.
type CustomMessage struct {
	Kind    string          `json:"kind"`
	Message Message         `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

var customMessageSpec = EventSpec{Type: TypeCustomMessage, Class: Conversation, New: func() Body { return new(CustomMessage) }, AnyTime: true,
	Display: Display{View: ViewMessage},
	Search:  Coded, Usage: None, Payloads: Coded, Leaf: None, Context: Coded}

// ItemKind returns what a harness item is about.
type ItemKind string

// The kinds of harness items.
const (
	ItemAttachment     ItemKind = "attachment"
	ItemSkillListing   ItemKind = "skill_listing"
	ItemSkillDelta     ItemKind = "skill_delta"
	ItemMemory         ItemKind = "memory"
	ItemDateChange     ItemKind = "date_change"
	ItemToolChange     ItemKind = "tool_change"
	ItemHookContext    ItemKind = "hook_context"
	ItemChannelContext ItemKind = "channel_context"
	ItemRuntimeNotice  ItemKind = "runtime_notice"
	ItemToolDiscovery  ItemKind = "tool_discovery"
	ItemMode           ItemKind = "permission_mode"
	ItemLogDamage      ItemKind = "log_damage"
	ItemServers        ItemKind = "server_instructions" // what MCP servers say of their use
	ItemServerPrompts  ItemKind = "server_prompts"      // the prompts of MCP servers, which are used like skills
	ItemInstructions   ItemKind = "instructions"        // files of folders below the workspace that calls have touched
)

// Origin returns who added a harness item.
type Origin string

// The origins of harness items.
const (
	OriginUser      Origin = "user"
	OriginSystem    Origin = "system"
	OriginTool      Origin = "tool"
	OriginSkill     Origin = "skill"
	OriginExtension Origin = "extension"
)

// Visibility returns how much of a harness item people see.
type Visibility string

// The visibilities of harness items.
const (
	VisibilityDisplay Visibility = "display"
	VisibilityCompact Visibility = "compact"
	VisibilityHidden  Visibility = "hidden"
)

// Item is what the harness tells the model besides messages.
type Item struct {
	Kind       ItemKind        `json:"kind"`
	Origin     Origin          `json:"origin"`
	Content    string          `json:"content"`
	Visibility Visibility      `json:"visibility"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// HarnessItem is the event of an [Item].
type HarnessItem struct {
	Item Item `json:"item"`
}

var harnessItemSpec = EventSpec{Type: TypeHarnessItem, Class: Conversation, New: func() Body { return new(HarnessItem) }, AnyTime: true,
	Display: Display{View: ViewItem},
	Search:  Coded, Word: "note", Usage: None, Payloads: Coded, Leaf: None, Context: Coded}

// BranchSummary stands for a branch that was left at FromEventID.
type BranchSummary struct {
	FromEventID EventID `json:"fromEventId"`
	Summary     string  `json:"summary"`
	Usage       *Usage  `json:"usage,omitempty"`
}

var branchSummarySpec = EventSpec{Type: TypeBranchSummary, Class: Conversation, New: func() Body { return new(BranchSummary) }, AnyTime: true,
	Display: Display{Kind: DisplayFolded, Title: "Summary of the branch that was left", Text: "{summary}", Ref: "fromEventId"},
	Search:  "summary", Word: "summary", Usage: "usage", UsageKind: UsageSummary, Payloads: None, Leaf: None, Context: Coded}

// Rewind sets the leaf to TargetEventID, or to the empty conversation.
type Rewind struct {
	TargetEventID *EventID `json:"targetEventId"`
}

var rewindSpec = EventSpec{Type: TypeRewind, Class: Control, New: func() Body { return new(Rewind) },
	Display: Display{Kind: DisplayMarker, Title: "Rewound{!targetEventId: to the beginning}", Ref: "targetEventId"},
	Search:  None, Usage: None, Payloads: None, Leaf: "targetEventId", Context: None}

// Branch sets the leaf to LeafEventID.
type Branch struct {
	LeafEventID EventID `json:"leafEventId"`
}

var branchSpec = EventSpec{Type: TypeBranch, Class: Control, New: func() Body { return new(Branch) },
	Display: Display{Kind: DisplayMarker, Title: "Another branch", Ref: "leafEventId"},
	Search:  None, Usage: None, Payloads: None, Leaf: "leafEventId", Context: None}

// ChannelInject records that something came in through a channel, before it has an effect.
// Content is what the model is told of it, which the user message MessageID contains, with all
// others that name this message: without that message they wait for the next turn. ExternalID
// is the sender, "" where the channel names none; Metadata is an object of texts that the
// channel has sent along.
type ChannelInject struct {
	Channel    string          `json:"channel"`
	ExternalID string          `json:"externalId"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Content    string          `json:"content,omitempty"`
	MessageID  EventID         `json:"messageId,omitempty"`
}

var channelInjectSpec = EventSpec{Type: TypeChannelInject, Class: Control, New: func() Body { return new(ChannelInject) },
	Display: Display{Kind: DisplayBadge, Title: "{channel}"},
	Search:  None, Usage: None, Payloads: None, Leaf: None, Context: None}

// SessionInfo changes the session's [Meta], or (with Mode) records that somebody set
// its permission mode. The newest mode counts, also for a later host of this device;
// one that came with an import does not. With Usage it records what a request beside
// the conversation, or a sub-agent in the background, has used, of the model that Asked
// names; Agent is the name of the sub-agent, and Steps how often it called its model.
type SessionInfo struct {
	Changes MetaChanges `json:"changes"`
	Mode    string      `json:"mode,omitempty"`
	Asked   string      `json:"asked,omitempty"`
	Agent   string      `json:"agent,omitempty"`
	Steps   int         `json:"steps,omitempty"`
	Usage   *Usage      `json:"usage,omitempty"`
}

var sessionInfoSpec = EventSpec{Type: TypeSessionInfo, Class: Control, New: func() Body { return new(SessionInfo) },
	Display: Display{Kind: DisplayNotice, Place: PlaceSession, HideEmpty: true, Lines: []string{
		"{+changes.name:Name: {changes.name}}", "{+changes.model:Model: {changes.model}}", "{+changes.thinkingLevel:Thinking: {changes.thinkingLevel}}",
		"{+changes.workDir:Working directory: {changes.workDir}}", "{+changes.jobState:Job: {changes.jobState}}", "{?mode:Permission mode: {mode}}"}},
	Search: "changes.name", Word: "name", Usage: "usage", UsageKind: UsageAside, Payloads: None, Leaf: None, Context: None}

// OwnKind begins the kinds of custom events that are Scorel's own: extensions make
// none, and people are not shown them.
const OwnKind = "scorel."

// Custom is state of an extension, or of Scorel (see [OwnKind]).
type Custom struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

var customSpec = EventSpec{Type: TypeCustom, Class: Control, New: func() Body { return new(Custom) }, AnyTime: true,
	Display: Display{View: ViewExtension, Place: PlaceSession},
	Search:  None, Usage: None, Payloads: Coded, Leaf: None, Context: None}

// Label names an event for people; a nil Label removes the name.
type Label struct {
	TargetEventID EventID `json:"targetEventId"`
	Label         *string `json:"label"`
}

var labelSpec = EventSpec{Type: TypeLabel, Class: Control, New: func() Body { return new(Label) }, AnyTime: true,
	Display: Display{Kind: DisplayLabel, Place: PlaceSession, Title: "{label}", Ref: "targetEventId"},
	Search:  "label", Usage: None, Payloads: None, Leaf: None, Context: None}

// InstructionSnapshot is the system prompt of the session.
type InstructionSnapshot struct {
	Snapshot Instructions `json:"snapshot"`
}

var instructionSnapshotSpec = EventSpec{Type: TypeInstructionSnapshot, Class: Control, New: func() Body { return new(InstructionSnapshot) },
	Display: Display{Kind: DisplayDetail, Place: PlaceSession, Title: "System prompt{?snapshot.cut: (cut: {snapshot.cut})}", Text: "{snapshot.text}",
		Status: []StatusCase{{"?snapshot.cut", StatusPartial}}},
	Search: None, Usage: None, Payloads: None, Leaf: None, Context: None}

// Instructions is a system prompt with its sections and their sources. Text is
// what is sent, byte for byte. Cut names what did not fit the budget.
type Instructions struct {
	Version  int                  `json:"version"`
	Text     string               `json:"text"`
	Sections []InstructionSection `json:"sections"`
	Cut      []string             `json:"cut,omitempty"`
	// Source names the hook or extension whose prompt this is: it holds for the turn at
	// whose beginning it stands, and for no later one.
	Source string `json:"source,omitempty"`
}

// InstructionSection is one part of the system prompt; a higher Priority is cut
// later.
type InstructionSection struct {
	Name     string              `json:"name"`
	Priority int                 `json:"priority"`
	Text     string              `json:"text"`
	Sources  []InstructionSource `json:"sources,omitempty"`
}

// InstructionSource is a file or setting that a section was made from.
type InstructionSource struct {
	Path     string `json:"path,omitempty"`
	Scope    string `json:"scope"` // builtin, user, project, session
	Priority int    `json:"priority"`
	Content  string `json:"content"`
}

// QueueName names one of the two queues of a session.
type QueueName string

// The queues.
const (
	QueueSteer    QueueName = "steer"
	QueueFollowUp QueueName = "follow_up"
)

// MaxQueueItems is how many messages may wait in one queue.
const MaxQueueItems = 32

// QueueItem is one message that waits.
type QueueItem struct {
	ID       ItemID   `json:"id"`
	Content  []Block  `json:"content"`
	ClientID ClientID `json:"clientId"`
	TS       int64    `json:"ts"`
	// Context is what hooks have said of the message: the model is told of it, hidden,
	// when the message is taken.
	Context []string `json:"context,omitempty"`
	// Meta says where the message comes from when no person sent it; nil for a person's. It
	// goes with the message when that is taken.
	Meta *MessageMeta `json:"meta,omitempty"`
}

// QueueUpdate replaces a queue. Replaces is the update that its author had
// seen. AnchorEventID is the leaf at that time, for people.
type QueueUpdate struct {
	Queue         QueueName   `json:"queue"`
	Items         []QueueItem `json:"items"`
	Paused        bool        `json:"paused"`
	Replaces      EventID     `json:"replaces,omitempty"`
	AnchorEventID EventID     `json:"anchorEventId,omitempty"`
}

var queueUpdateSpec = EventSpec{Type: TypeQueueUpdate, Class: Control, New: func() Body { return new(QueueUpdate) },
	Display: Display{View: ViewQueue, Place: PlaceSession},
	Search:  None, Usage: None, Payloads: Coded, Leaf: None, Context: None}

// Skill is an entry of the skill index.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Path        string `json:"path"`
	Source      string `json:"source"`
	Hash        string `json:"hash"`
}

// SkillIndexSnapshot is the whole skill index.
type SkillIndexSnapshot struct {
	Entries []Skill `json:"entries"`
}

var skillIndexSnapshotSpec = EventSpec{Type: TypeSkillIndexSnapshot, Class: Control, New: func() Body { return new(SkillIndexSnapshot) }, AnyTime: true,
	Display: Display{Kind: DisplayHidden},
	Search:  None, Usage: None, Payloads: None, Leaf: None, Context: None}

// SkillIndexDelta changes the skill index.
type SkillIndexDelta struct {
	Added   []Skill  `json:"added,omitempty"`
	Changed []Skill  `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

var skillIndexDeltaSpec = EventSpec{Type: TypeSkillIndexDelta, Class: Control, New: func() Body { return new(SkillIndexDelta) }, AnyTime: true,
	Display: Display{Kind: DisplayHidden},
	Search:  None, Usage: None, Payloads: None, Leaf: None, Context: None}

// Decision is the answer to a permission question.
type Decision string

// The decisions. DecisionAsk is a rule's, never an answer's; cancelled and
// expired are only in permission_resolved.
const (
	DecisionAllow     Decision = "allow"
	DecisionDeny      Decision = "deny"
	DecisionAsk       Decision = "ask"
	DecisionCancelled Decision = "cancelled"
	DecisionExpired   Decision = "expired"
)

// PermissionDecision records that a rule, a hook or a person decided about a call.
// Scope is "rule", "hook", "once", "session" or "always". By names the hook, which Reason
// does in older logs.
type PermissionDecision struct {
	ToolCallID string   `json:"toolCallId"`
	Decision   Decision `json:"decision"`
	Rule       string   `json:"rule,omitempty"`
	Scope      string   `json:"scope"`
	By         string   `json:"by,omitempty"`
	Reason     string   `json:"reason,omitempty"`
}

var permissionDecisionSpec = EventSpec{Type: TypePermissionDecision, Class: Control, New: func() Body { return new(PermissionDecision) },
	Display: Display{Kind: DisplayAudit, Place: PlaceCall, ToolCallID: "toolCallId", Text: "{reason}",
		Title: "{?decision=allow:Allowed}{!decision=allow:Denied}" +
			"{?rule:{?scope=rule: by the rule {rule}}{!scope=rule: ({scope}): {rule}}}{!rule:{?by: by {by}}{!by:{?scope: ({scope})}}}",
		Status: []StatusCase{{"?decision=allow", StatusAllowed}, {"", StatusDenied}}},
	Search: "rule by reason", Word: "permission", Usage: None, Payloads: None, Leaf: None, Context: None}

// FileSnapshot keeps a file as it was before a tool wrote it. Mode is the
// permission bits.
type FileSnapshot struct {
	ToolCallID string `json:"toolCallId"`
	Path       string `json:"path"`
	Existed    bool   `json:"existed"`
	Restorable bool   `json:"restorable"`
	Blob       string `json:"blob,omitempty"`
	Mode       uint32 `json:"mode,omitempty"`
}

var fileSnapshotSpec = EventSpec{Type: TypeFileSnapshot, Class: Control, New: func() Body { return new(FileSnapshot) },
	Display: Display{Kind: DisplayCheckpoint, Place: PlaceCall, ToolCallID: "toolCallId", Title: "{path}", Text: "{!restorable:cannot be restored}",
		Status: []StatusCase{{"?restorable", StatusOK}, {"", StatusFailed}}},
	Search: None, Usage: None, Payloads: Coded, Leaf: None, Context: None}

// ContextCut moves the boundary of shrinking: tool results at or before
// ThroughEventID are sent without their bodies.
type ContextCut struct {
	Kind           string  `json:"kind"` // "shrink"
	ThroughEventID EventID `json:"throughEventId"`
}

var contextCutSpec = EventSpec{Type: TypeContextCut, Class: Control, New: func() Body { return new(ContextCut) },
	Display: Display{Kind: DisplayHidden},
	Search:  None, Usage: None, Payloads: None, Leaf: None, Context: Coded}

// Repair reports that the log was repaired, which left lines out: it names the gaps that
// are there since, so that they count as known.
type Repair struct {
	Gaps []RepairGap `json:"gaps"`
}

var repairSpec = EventSpec{Type: TypeRepair, Class: Control, New: func() Body { return new(Repair) },
	Display: Display{Kind: DisplayNotice,
		Text: "The log of this session was repaired: what was damaged in {gaps|plural:place} is missing from here on."},
	Search: None, Usage: None, Payloads: None, Leaf: None, Context: None}

// RepairGap is a place where lines are missing: the event Before names the parent
// Missing, or follows on the seq Prev, and the log has neither.
type RepairGap struct {
	Before  EventID `json:"before"`
	Missing EventID `json:"missing,omitempty"`
	Prev    Seq     `json:"prev,omitempty"`
}

// MaxRepairGaps is the most gaps that one repair event names.
const MaxRepairGaps = 1000

// Unknown is the body of an event whose type this version does not know.
type Unknown struct {
	Type EventType
	kind Class
}

// EventType returns the type that the event has on the wire.
func (u *Unknown) EventType() EventType { return u.Type }

func (u *Unknown) class() Class { return u.kind }
