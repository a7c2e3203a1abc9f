package protocol

import "strings"

// EventSpec says of a type of event all that is not in its fields. There is one for each
// type, beside the type of its body. It is static data: a program pays nothing for it when
// it starts. The type of the body gets its methods from it, by internal/dev/tsgen.
type EventSpec struct {
	Type  EventType
	Class Class
	// New makes an empty body.
	New func() Body
	// AnyTime says that a host may append the event whenever it has reason to, because
	// nothing but what folds events changes with it. All others have a way of their own into
	// the log.
	AnyTime bool
	// Display is how the event is shown to people.
	Display Display

	// The aspects of a persistent event; a transient event has none of them. Each is
	// [None], [Coded], or the path of a member.

	// Search is where a search of people finds words: one or more members that are texts,
	// separated by spaces. Coded: the method searchTexts.
	Search Aspect
	// Word is what a list of places that a search found calls the event; "" is its type.
	Word string
	// Usage is what calls of a model that are recorded by the event have used: the member
	// "usage" of the event, or "message.usage". UsageKind is how [GetUsage] counts it.
	Usage     Aspect
	UsageKind UsageKind
	// Payloads names what the event stores beside the log. Coded: the method payloads.
	Payloads Aspect
	// Leaf is the member that names the leaf from this control event on.
	Leaf Aspect
	// Context is what the event does to the context of a model. Coded: for a conversation
	// event the handler in internal/engine/session/history whose name is that of the variable of
	// the spec with ToLLM in the place of Spec; for a control event the walk in that package.
	Context Aspect
}

// Aspect returns how a type of event does something that not every type does. A value that is
// not one of the constants is the path of a member in JSON, such as "changes.name".
type Aspect string

const (
	None  Aspect = "none"  // the event does nothing of that kind
	Coded Aspect = "coded" // Go code says it
)

// Members returns the paths of the members that a names, nil for None and Coded.
func (a Aspect) Members() []string {
	if a == None || a == Coded {
		return nil
	}
	return strings.Fields(string(a))
}

// Display returns how an event is shown: as data, from which every client makes the same
// item, or by a View.
//
// Title, Text and Lines are templates. A template is text with parts in braces, in which
// members are named by their path:
//
//	{path}          the value of the member, nothing when it is missing
//	{path|filter}   the value in another form: count (with commas), duration (of
//	                milliseconds), plural:WORD (the number, or how many entries a list has,
//	                with the word); of a member that is missing, that of 0
//	{?path:…}       the template … if the member is not empty: not missing, null, false, 0,
//	                "" or a list without entries
//	{!path:…}       the template … if it is empty
//	{+path:…}       the template … if the member is there and not null; for nullable members
//	{?path=word:…}  the template … if the value is this word; {!path=word:…} if it is not
//
// A list of texts is written with commas. All values are made safe to show; those of Title
// and Lines are also put on one line.
type Display struct {
	// Kind is what the item is. It is empty with a View.
	Kind DisplayKind
	// View names the code that makes the item of an event whose shape is not data.
	View View
	// Place is where clients with a conversation on the screen show the item.
	Place Place
	Title string
	Text  string
	// Lines are templates in the place of Text, one a line. Lines that are empty are left out.
	Lines []string
	// Status is the status of the first case that holds.
	Status []StatusCase
	// HideEmpty makes an item without title and text one that is not shown.
	HideEmpty bool
	// Ref, ToolCallID, ToolName and ID are the paths of members with the event that the item
	// is about, its call, the tool of the call, and the question that it belongs to.
	Ref, ToolCallID, ToolName, ID string
}

// StatusCase is a status and the condition under which an item has it: that of a part of
// a template, such as "?isError" or "?decision=allow"; an empty one always holds.
type StatusCase struct {
	If     string
	Status DisplayStatus
}

// DisplayKind returns what an item is for a person.
type DisplayKind string

// The kinds of items.
const (
	DisplayBubble     DisplayKind = "bubble"     // what the user or the assistant says; parts in order
	DisplayThinking   DisplayKind = "thinking"   // a part of a bubble: what the model thought
	DisplayTool       DisplayKind = "tool"       // a call (a part of a bubble), its progress or its result
	DisplayNote       DisplayKind = "note"       // said by the user while the assistant worked
	DisplayNotice     DisplayKind = "notice"     // one line of the program
	DisplayFolded     DisplayKind = "folded"     // a title that opens to a long text
	DisplayMarker     DisplayKind = "marker"     // a place where the conversation jumps
	DisplayBadge      DisplayKind = "badge"      // where the next message came from
	DisplayLabel      DisplayKind = "label"      // a name for the event ref; no title: the name is removed
	DisplayQueue      DisplayKind = "queue"      // the whole of one queue; parts are what waits
	DisplayAudit      DisplayKind = "audit"      // who allowed or denied a call
	DisplayCheckpoint DisplayKind = "checkpoint" // a file was kept before it was written
	DisplayDetail     DisplayKind = "detail"     // belongs to the details of the session
	DisplayCustom     DisplayKind = "custom"     // an extension shows it; title is its kind
	DisplayShell      DisplayKind = "shell"      // a command that a person ran: title is the command, text what it printed
	DisplayStream     DisplayKind = "stream"     // a piece of the message ref that is being written
	DisplayState      DisplayKind = "state"      // the run or turn began or ended
	DisplayQuestion   DisplayKind = "question"   // somebody has to answer; or, with a status, has answered
	DisplayHidden     DisplayKind = "hidden"     // not shown
)

// DisplayStatus says the status of an item. Items whose kind has none leave it out.
type DisplayStatus string

// The statuses of items.
const (
	StatusRunning   DisplayStatus = "running"
	StatusOK        DisplayStatus = "ok"
	StatusFailed    DisplayStatus = "error"
	StatusPartial   DisplayStatus = "partial"
	StatusCancelled DisplayStatus = "cancelled"
	StatusPaused    DisplayStatus = "paused"
	StatusAllowed   DisplayStatus = "allow"
	StatusDenied    DisplayStatus = "deny"
	StatusExpired   DisplayStatus = "expired"
)

// View names the code that makes the item of an event, for those whose shape is not data:
// they have parts, depend on JSON that others write, or come so often that no template is
// read for them.
type View string

// The views.
const (
	ViewMessage   View = "message"   // a message with its blocks, of a conversation or of an extension
	ViewItem      View = "item"      // what the harness told the model
	ViewExtension View = "extension" // state of an extension
	ViewQueue     View = "queue"     // a queue with its messages
	ViewStream    View = "stream"    // a piece of a message that is coming in
	ViewCall      View = "call"      // a call that runs
	ViewQuestion  View = "question"  // a permission question or dialog
)

// Place returns where a client that has a conversation on the screen shows an item.
type Place string

// The places.
const (
	PlaceConversation Place = ""        // in the conversation, where it comes
	PlaceCall         Place = "call"    // with the call toolCallId
	PlaceSession      Place = "session" // with the details of the session
)

// SpecOfEvent returns the spec of a type of event, nil for one that this version does not
// know.
func SpecOfEvent(t EventType) *EventSpec { return eventSpec(t) }

// EventSpecs returns the specs of all types of events, as their types are declared. It is
// not to be changed.
func EventSpecs() []*EventSpec { return eventSpecs[:] }

// unknownSpec is the spec of what this version does not know.
var unknownSpec = EventSpec{Display: Display{Kind: DisplayHidden}, Search: None, Usage: None, Payloads: Coded, Leaf: None, Context: None}

// EventSpec returns the spec of events of unknown types, without a type and a class.
func (*Unknown) EventSpec() *EventSpec { return &unknownSpec }

// The optional aspects of a body; internal/dev/tsgen writes the methods of those that are
// members, and holds at compile time that there is a method where the spec says [Coded].
type (
	searchable interface{ searchTexts() []string }
	counted    interface{ usage() *Usage }
	mover      interface{ leaf() EventID }
	shown      interface{ member(path string) Member }
)

// SearchTexts returns the texts of the event in which a search of people finds words: what
// is said, thought and called, summaries, names and labels. IDs, keys, the system prompt and
// what is hidden are not among them.
func (e Event) SearchTexts() []string {
	if b, ok := e.Body.(searchable); ok {
		return b.searchTexts()
	}
	return nil
}

// Usage returns what the calls of a model that the event records have used, nil when it
// records none. It is not to be changed.
func (e Event) Usage() *Usage { return UsageOf(e.Body) }

// UsageOf is [Event.Usage] for a body.
func UsageOf(b Body) *Usage {
	if u, ok := b.(counted); ok {
		return u.usage()
	}
	return nil
}

// Leaf returns the leaf that a control event moves to, "" for the empty conversation, and
// reports whether it moves to one.
func (e Event) Leaf() (leaf EventID, moves bool) {
	if b, ok := e.Body.(mover); ok {
		return b.leaf(), true
	}
	return "", false
}

// Member is the value of a member of an event, for its [Display].
type Member struct {
	// Text is the value of a text; of a list of texts, the list with commas.
	Text string
	// Number is the value of a number, 1 for true, and how many entries a list has.
	Number int64
	// Is is the kind of the value; it is MissingMember for the zero value.
	Is MemberKind
}

// MemberKind is the kind of the value of a member.
type MemberKind uint8

// The kinds of values.
const (
	MissingMember MemberKind = iota // not there, or null
	TextMember
	NumberMember
	FlagMember
	ListMember
)

// Empty reports whether the value is nothing, as {!path:…} has it.
func (m Member) Empty() bool {
	if m.Is == TextMember {
		return m.Text == ""
	}
	return m.Number == 0
}

// MemberOf returns the value of a member of the body at a path that the spec of its type
// names; of any other, the zero value. It does not marshal.
func MemberOf(b Body, path string) Member {
	if s, ok := b.(shown); ok {
		return s.member(path)
	}
	return Member{}
}

func textMember(s string) Member  { return Member{Text: s, Is: TextMember} }
func numberMember(n int64) Member { return Member{Number: n, Is: NumberMember} }
func listMember(list int) Member  { return Member{Number: int64(list), Is: ListMember} }
func wordsMember(l []string) Member {
	return Member{Text: strings.Join(l, ", "), Number: int64(len(l)), Is: ListMember}
}

func flagMember(is bool) Member {
	m := Member{Is: FlagMember}
	if is {
		m.Number = 1
	}
	return m
}
