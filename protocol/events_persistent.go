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

// CustomMessage is a message of an extension; Kind names its renderer.
type CustomMessage struct {
	Kind    string          `json:"kind"`
	Message Message         `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// ItemKind says what a harness item is about.
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
)

// Origin says who added a harness item.
type Origin string

// The origins of harness items.
const (
	OriginUser      Origin = "user"
	OriginSystem    Origin = "system"
	OriginTool      Origin = "tool"
	OriginSkill     Origin = "skill"
	OriginExtension Origin = "extension"
)

// Visibility says how much of a harness item people see.
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

// BranchSummary stands for a branch that was left at FromEventID.
type BranchSummary struct {
	FromEventID EventID `json:"fromEventId"`
	Summary     string  `json:"summary"`
	Usage       *Usage  `json:"usage,omitempty"`
}

// Rewind sets the leaf to TargetEventID, or to the empty conversation.
type Rewind struct {
	TargetEventID *EventID `json:"targetEventId"`
}

// Branch sets the leaf to LeafEventID.
type Branch struct {
	LeafEventID EventID `json:"leafEventId"`
}

// ChannelInject records that a message came in through a channel.
type ChannelInject struct {
	Channel    string          `json:"channel"`
	ExternalID string          `json:"externalId"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
}

// SessionInfo changes the session's [Meta], or (with Mode) records that somebody set
// its permission mode. The newest mode counts, also for a later host of this device;
// one that came with an import does not. With Usage it records what a request beside
// the conversation, or a sub-agent in the background, has used, of the model that Asked
// names.
type SessionInfo struct {
	Changes MetaChanges `json:"changes"`
	Mode    string      `json:"mode,omitempty"`
	Asked   string      `json:"asked,omitempty"`
	Usage   *Usage      `json:"usage,omitempty"`
}

// OwnKind begins the kinds of custom events that are Scorel's own: extensions make
// none, and people are not shown them.
const OwnKind = "scorel."

// Custom is state of an extension, or of Scorel (see [OwnKind]).
type Custom struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// Label names an event for people; a nil Label removes the name.
type Label struct {
	TargetEventID EventID `json:"targetEventId"`
	Label         *string `json:"label"`
}

// InstructionSnapshot is the system prompt of the session.
type InstructionSnapshot struct {
	Snapshot Instructions `json:"snapshot"`
}

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

// SkillIndexDelta changes the skill index.
type SkillIndexDelta struct {
	Added   []Skill  `json:"added,omitempty"`
	Changed []Skill  `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// Decision is the answer to a permission question.
type Decision string

// The decisions. DecisionAsk is a rule's, never an answer's; cancelled and
// expired stand only in permission_resolved.
const (
	DecisionAllow     Decision = "allow"
	DecisionDeny      Decision = "deny"
	DecisionAsk       Decision = "ask"
	DecisionCancelled Decision = "cancelled"
	DecisionExpired   Decision = "expired"
)

// PermissionDecision records that a rule, a hook or a person decided about a call.
// Scope is "rule", "hook" (Reason names it), "once", "session" or "always".
type PermissionDecision struct {
	ToolCallID string   `json:"toolCallId"`
	Decision   Decision `json:"decision"`
	Rule       string   `json:"rule,omitempty"`
	Scope      string   `json:"scope"`
	Reason     string   `json:"reason,omitempty"`
}

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

// ContextCut moves the border of shrinking: tool results at or before
// ThroughEventID are sent without their bodies.
type ContextCut struct {
	Kind           string  `json:"kind"` // "shrink"
	ThroughEventID EventID `json:"throughEventId"`
}

// Repair says that the log was repaired, which left lines out: it names the gaps that
// are there since, so that they count as known.
type Repair struct {
	Gaps []RepairGap `json:"gaps"`
}

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

func (*MessageBody) EventType() EventType         { return TypeMessage }
func (*Compact) EventType() EventType             { return TypeCompact }
func (*CustomMessage) EventType() EventType       { return TypeCustomMessage }
func (*HarnessItem) EventType() EventType         { return TypeHarnessItem }
func (*BranchSummary) EventType() EventType       { return TypeBranchSummary }
func (*Rewind) EventType() EventType              { return TypeRewind }
func (*Branch) EventType() EventType              { return TypeBranch }
func (*ChannelInject) EventType() EventType       { return TypeChannelInject }
func (*SessionInfo) EventType() EventType         { return TypeSessionInfo }
func (*Custom) EventType() EventType              { return TypeCustom }
func (*Label) EventType() EventType               { return TypeLabel }
func (*InstructionSnapshot) EventType() EventType { return TypeInstructionSnapshot }
func (*QueueUpdate) EventType() EventType         { return TypeQueueUpdate }
func (*SkillIndexSnapshot) EventType() EventType  { return TypeSkillIndexSnapshot }
func (*SkillIndexDelta) EventType() EventType     { return TypeSkillIndexDelta }
func (*PermissionDecision) EventType() EventType  { return TypePermissionDecision }
func (*FileSnapshot) EventType() EventType        { return TypeFileSnapshot }
func (*ContextCut) EventType() EventType          { return TypeContextCut }
func (*Repair) EventType() EventType              { return TypeRepair }
func (u *Unknown) EventType() EventType           { return u.Type }

func (*MessageBody) class() Class         { return Conversation }
func (*Compact) class() Class             { return Conversation }
func (*CustomMessage) class() Class       { return Conversation }
func (*HarnessItem) class() Class         { return Conversation }
func (*BranchSummary) class() Class       { return Conversation }
func (*Rewind) class() Class              { return Control }
func (*Branch) class() Class              { return Control }
func (*ChannelInject) class() Class       { return Control }
func (*SessionInfo) class() Class         { return Control }
func (*Custom) class() Class              { return Control }
func (*Label) class() Class               { return Control }
func (*InstructionSnapshot) class() Class { return Control }
func (*QueueUpdate) class() Class         { return Control }
func (*SkillIndexSnapshot) class() Class  { return Control }
func (*SkillIndexDelta) class() Class     { return Control }
func (*PermissionDecision) class() Class  { return Control }
func (*FileSnapshot) class() Class        { return Control }
func (*ContextCut) class() Class          { return Control }
func (*Repair) class() Class              { return Control }
func (u *Unknown) class() Class           { return u.kind }
