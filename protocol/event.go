package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"scorel/protocol/jsonscan"
)

// Sizes of what is in a log.
const (
	// MaxLine is the longest event line in bytes, without the newline.
	MaxLine = 4 << 20
	// MaxInline is the largest payload (an image, a file, spilled output) in
	// bytes that is in an event; larger ones are blobs.
	MaxInline = 32 << 10
)

// EventType names a kind of event.
type EventType string

// Class returns how an event behaves.
type Class int

// The classes of events.
const (
	// Conversation events are persistent, hang on their parent and can be the leaf.
	Conversation Class = iota
	// Control events are persistent; their parentId is the leaf that they saw,
	// nothing hangs on them and they are never the leaf.
	Control
	// Transient events are sent and never stored.
	Transient
)

// Cause names the request that an event completes. Body is the [BodyHash] of what the
// client asked for, "" where it was not kept: a second request of that name with another
// body is another request.
type Cause struct {
	ClientID  ClientID  `json:"clientId"`
	RequestID RequestID `json:"requestId"`
	Body      string    `json:"body,omitempty"`
}

// Envelope is what all events have. ID and ParentID belong to persistent
// events, TurnID to transient ones. An empty ParentID is null: the event is the
// first of its path. TS is in Unix milliseconds.
type Envelope struct {
	Type      EventType
	ID        EventID
	ParentID  EventID
	Seq       Seq
	Cause     *Cause
	Control   bool
	SessionID SessionID
	ClientID  ClientID
	TS        int64
	TurnID    TurnID
}

// Class returns how the event behaves. An unknown type is a control event when its
// envelope says so, transient when it has no id, else a conversation event.
func (e Envelope) Class() Class {
	switch {
	case e.ID == "":
		return Transient
	case e.Control:
		return Control
	}
	return Conversation
}

// Body is the part of an event that its type decides. The set is closed: only
// types of this package implement it.
type Body interface {
	// EventType is the type that is in the envelope.
	EventType() EventType
	// EventSpec is what is known of the type besides its fields; not to be changed.
	EventSpec() *EventSpec
	class() Class
	payloads(*named)
}

// Event is one event, persistent or transient. One that was parsed keeps the
// bytes it was read from and is written back as exactly these, so a change of
// its fields is not written; build a new one instead.
type Event struct {
	Envelope
	Body Body

	raw  []byte
	sum  Sum
	bare bool // parsed by a Reader, which keeps no line
}

// Sum reports whether the line that the event was parsed from is as it was written;
// unknown for a new event.
func (e Event) Sum() Sum { return e.sum }

// NewEvent makes an event of body, with its type and control mark set.
func NewEvent(body Body) Event {
	return Event{Envelope: Envelope{Type: body.EventType(), Control: body.class() == Control}, Body: body}
}

// Message returns the message of a message or custom_message event.
func (e Event) Message() (Message, bool) {
	switch b := e.Body.(type) {
	case *MessageBody:
		return b.Message, true
	case *CustomMessage:
		return b.Message, true
	}
	return Message{}, false
}

// Raw is the line that the event was parsed from, nil for a new one and for one that
// [Reader.Parse] returned. It must not be changed.
func (e Event) Raw() []byte { return e.raw }

// ParseEvent reads one event line (without its newline). The event keeps line, and its
// strings are parts of it: the caller must not change it afterwards. An unknown type gives an
// [Unknown] body. It fails where [ScanEnvelope] fails, for what is not valid
// JSON, and for fields of a known type that have the wrong shape.
func ParseEvent(line []byte) (Event, error) {
	var k Keys
	env, err := scanEnvelope(line, &k)
	if err != nil {
		return Event{}, err
	}
	sum := k.Sum(line)
	if env.Type == TypeMessage {
		if body, ok := fastMessage(line, nil); ok {
			return Event{Envelope: env, Body: body, raw: line, sum: sum}, nil
		}
	}
	body := newBody(env.Type)
	if body == nil {
		if !json.Valid(line) {
			return Event{}, jsonscan.ErrSyntax
		}
		body = &Unknown{Type: env.Type, kind: env.Class()}
	} else if err := json.Unmarshal(line, body); err != nil {
		return Event{}, fmt.Errorf("event %s of type %s: %w", env.ID, clip(string(env.Type)), err)
	}
	return Event{Envelope: env, Body: body, raw: line, sum: sum}, nil
}

// AppendLine appends the event as compact JSON without a newline. A parsed event
// gives the bytes it was read from. A new one is checked first: it needs the
// envelope fields of its class, and may not be longer than [MaxLine] nor, when it is
// stored, nested deeper than what [ScanEnvelope] reads.
func (e Event) AppendLine(dst []byte) ([]byte, error) {
	if e.raw != nil {
		return append(dst, e.raw...), nil
	}
	return e.appendLine(dst, nil)
}

// appendLine writes a new event, with prev and a checksum when there is a prev.
func (e Event) appendLine(dst []byte, prev *Seq) ([]byte, error) {
	if err := e.check(); err != nil {
		return dst, err
	}
	start := len(dst)
	dst = append(dst, `{"type":`...)
	dst = jsonscan.AppendString(dst, string(e.Type))
	transient := e.Body.class() == Transient
	if !transient {
		dst = append(dst, `,"id":`...)
		dst = jsonscan.AppendString(dst, string(e.ID))
		dst = append(dst, `,"parentId":`...)
		if e.ParentID == "" {
			dst = append(dst, "null"...)
		} else {
			dst = jsonscan.AppendString(dst, string(e.ParentID))
		}
	}
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendUint(dst, uint64(e.Seq), 10)
	if e.Cause != nil {
		dst = append(dst, `,"cause":{"clientId":`...)
		dst = jsonscan.AppendString(dst, string(e.Cause.ClientID))
		dst = append(dst, `,"requestId":`...)
		dst = jsonscan.AppendString(dst, string(e.Cause.RequestID))
		if e.Cause.Body != "" {
			dst = append(dst, `,"body":`...)
			dst = jsonscan.AppendString(dst, e.Cause.Body)
		}
		dst = append(dst, '}')
	}
	if e.Control {
		dst = append(dst, `,"control":true`...)
	}
	dst = append(dst, `,"sessionId":`...)
	session := len(dst)
	dst = jsonscan.AppendString(dst, string(e.SessionID))
	sessionEnd := len(dst)
	dst = append(dst, `,"clientId":`...)
	dst = jsonscan.AppendString(dst, string(e.ClientID))
	dst = append(dst, `,"ts":`...)
	dst = strconv.AppendInt(dst, e.TS, 10)
	if prev != nil {
		dst = append(dst, `,"prev":`...)
		dst = strconv.AppendUint(dst, uint64(*prev), 10)
	}
	if transient && e.TurnID != "" {
		dst = append(dst, `,"turnId":`...)
		dst = jsonscan.AppendString(dst, string(e.TurnID))
	}
	var err error
	if dst, err = appendFields(dst, e.Body); err != nil {
		return dst[:start], fmt.Errorf("protocol: write a %s event: %w", e.Type, err)
	}
	dst = escapeSeparators(append(dst, '}'), start)
	if prev != nil {
		dst = append(dst[:start], appendSum(dst[start:], session-start, sessionEnd-start)...)
	}
	if len(dst)-start > MaxLine {
		n := len(dst) - start
		return dst[:start], fmt.Errorf("protocol: a %s event of %d bytes is longer than %d", e.Type, n, MaxLine)
	}
	if !transient {
		if _, err := jsonscan.Value(dst, start); err != nil {
			return dst[:start], fmt.Errorf("protocol: write a %s event: %w", e.Type, err)
		}
	}
	return dst, nil
}

// appendFields appends the fields of a body after others, each with a comma
// before it.
func appendFields(dst []byte, body Body) ([]byte, error) {
	if m, ok := body.(*MessageBody); ok {
		w := writer{dst: append(dst, `,"message":`...)}
		w.message(&m.Message)
		return w.dst, w.err
	}
	fields, err := marshal(body)
	if err != nil || len(fields) <= len("{}") {
		return dst, err
	}
	return append(append(dst, ','), fields[1:len(fields)-1]...), nil
}

func (e Event) check() error {
	switch {
	case e.bare:
		return fmt.Errorf("protocol: write the %s event %s: it was read without its line", e.Type, e.ID)
	case e.Body == nil:
		return errors.New("protocol: an event has no body")
	case e.Type != e.Body.EventType():
		return fmt.Errorf("protocol: an event of type %q has the body of %q", e.Type, e.Body.EventType())
	case e.Seq == 0:
		return fmt.Errorf("protocol: a %s event has no seq", e.Type)
	case e.ClientID == "" || e.SessionID == "":
		return fmt.Errorf("protocol: a %s event lacks its client or session", e.Type)
	}
	if _, ok := e.Body.(*Unknown); ok {
		return fmt.Errorf("protocol: an event of the unknown type %q cannot be written anew", e.Type)
	}
	class := e.Body.class()
	if class == Transient {
		if e.ID != "" || e.ParentID != "" || e.Control || e.Cause != nil {
			return fmt.Errorf("protocol: a transient %s event has fields of a persistent one", e.Type)
		}
		return nil
	}
	if err := e.ID.Check(); err != nil {
		return fmt.Errorf("protocol: a %s event: %w", e.Type, err)
	}
	if e.ParentID != "" {
		if err := e.ParentID.Check(); err != nil {
			return fmt.Errorf("protocol: parent of a %s event: %w", e.Type, err)
		}
	}
	if e.Control != (class == Control) {
		return fmt.Errorf("protocol: the control mark of a %s event is wrong", e.Type)
	}
	return nil
}

// MarshalJSON writes the event as its line.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendLine(nil) }

// UnmarshalJSON reads an event as [ParseEvent] does.
func (e *Event) UnmarshalJSON(data []byte) error {
	ev, err := ParseEvent(bytes.Clone(data))
	if err != nil {
		return err
	}
	*e = ev
	return nil
}

// WithSession returns the line of a persistent event with another sessionId and
// all other bytes as they were. A line without a sessionId is returned as it is.
func WithSession(line []byte, id SessionID) ([]byte, error) {
	var out []byte
	m := jsonscan.NewMembers(line)
	for m.Next() {
		if string(m.Key) == "sessionId" && out == nil {
			out = append(out, line[:m.At]...)
			out = jsonscan.AppendString(out, string(id))
			out = append(out, line[m.At+len(m.Value):]...)
		}
	}
	if err := m.Err(); err != nil {
		return nil, err
	}
	if out == nil {
		return line, nil
	}
	return out, nil
}

// escapeSeparators writes U+2028 and U+2029 of dst[from:] as escapes: they are
// legal in JSON but end a line for some readers.
func escapeSeparators(dst []byte, from int) []byte {
	if !bytes.Contains(dst[from:], []byte("\u2028")) && !bytes.Contains(dst[from:], []byte("\u2029")) {
		return dst
	}
	s := bytes.ReplaceAll(dst[from:], []byte("\u2028"), []byte(`\u2028`))
	s = bytes.ReplaceAll(s, []byte("\u2029"), []byte(`\u2029`))
	return append(dst[:from:from], s...)
}

// Seal returns the event with its line made, so that it is marshalled once however
// often it is written. It fails as [Event.AppendLine] does.
func (e Event) Seal() (Event, error) {
	if e.raw != nil {
		return e, nil
	}
	line, err := e.AppendLine(nil)
	if err != nil {
		return e, err
	}
	e.raw = line
	return e, nil
}

// SealAfter is [Event.Seal] for an event that goes into a log: its line says that it
// follows on the event of seq prev (0: on none), and carries a checksum. An event that
// is sealed already stays as it is.
func (e Event) SealAfter(prev Seq) (Event, error) {
	if e.raw != nil {
		return e, nil
	}
	line, err := e.appendLine(nil, &prev)
	if err != nil {
		return e, err
	}
	e.raw, e.sum = line, SumRight
	return e, nil
}

// IsTransient reports whether the event is sent and never stored.
func (e Event) IsTransient() bool {
	if e.Body != nil {
		return e.Body.class() == Transient
	}
	return e.Class() == Transient
}

// internType returns the constant for a known type, so that an index of many
// events does not hold many copies of "message".
func internType(s []byte) EventType {
	switch EventType(s) {
	case TypeMessage:
		return TypeMessage
	case TypeCompact:
		return TypeCompact
	case TypeHarnessItem:
		return TypeHarnessItem
	case TypePermissionDecision:
		return TypePermissionDecision
	case TypeFileSnapshot:
		return TypeFileSnapshot
	}
	return EventType(s)
}
