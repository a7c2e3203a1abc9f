package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"scorel/protocol/jsonscan"
)

// Version is the version of the protocol between entries and hosts.
const Version = 1

// Frame is what a host sends unasked. [ResyncFrame], [EventsFrame], [LiveFrame]
// and [SessionClosed] belong to a subscription, [UIFrame] to the connection that has a
// component; the others go to all clients of the device. The set is closed.
type Frame interface {
	// FrameName is the type that is on the wire.
	FrameName() string
}

// Resync returns how a subscription goes on from what the client holds.
type Resync string

// The ways.
const (
	// StreamResume: everything that was missed follows, transient events too. What
	// the client holds stays.
	StreamResume Resync = "stream_resume"
	// PersistentFallback: the persistent events that were missed follow. What the
	// client holds of running messages and tools is void.
	PersistentFallback Resync = "persistent_fallback"
	// FullReload: the client drops all that it holds; the newest events of the path
	// follow.
	FullReload Resync = "full_reload"
)

// ResyncFrame begins the catching up of a subscription: at its opening, when the
// client was too slow for the ring, and at a new epoch. Events follow, and then a
// [LiveFrame] ends it. What came for the session before the first one belongs to an
// earlier subscription.
type ResyncFrame struct {
	SessionID SessionID `json:"sessionId"`
	Mode      Resync    `json:"mode"`
}

// EventsFrame carries events of one session in the order of seq.
type EventsFrame struct {
	SessionID SessionID `json:"sessionId"`
	Events    []Event   `json:"events"`
}

// LiveFrame ends the catching up of a subscription: it replaces all transient
// state that the client holds of the session.
type LiveFrame struct {
	SessionID SessionID `json:"sessionId"`
	Live      Live      `json:"live"`
}

// SessionClosed ends a subscription from the host's side.
type SessionClosed struct {
	SessionID SessionID `json:"sessionId"`
	Err       *Error    `json:"error,omitempty"`
}

// SessionChanged tells all clients of the device that a session has come, has
// changed, or (with Deleted) has gone.
type SessionChanged struct {
	Summary SessionSummary `json:"summary"`
	Deleted bool           `json:"deleted,omitempty"`
}

// ProjectsChanged tells all clients that the list of projects has changed.
type ProjectsChanged struct{}

// AutomationChanged tells all clients that schedules or their runs have changed.
type AutomationChanged struct{}

// EntriesChanged tells the clients with control that the list of entries has changed: one
// has been paired, waits to be confirmed, or has another name or grant.
type EntriesChanged struct{}

// GrantChanged tells a client that it may do something else from now on.
type GrantChanged struct {
	Grant Grant `json:"grant"`
}

// MCPChanged tells all clients that the state of an MCP server of a session has changed, or
// one of its lists. Several changes that a client has not been told are one frame.
type MCPChanged struct {
	SessionID SessionID `json:"sessionId"`
}

// ClientJoined and ClientLeft tell the other clients of the device who comes and
// goes.
type (
	ClientJoined struct{ ClientInfo }
	ClientLeft   struct{ ClientInfo }
)

// HostStopping tells all clients that the host ends: no new turn begins, and what
// runs is given GraceMS to come to a boundary. Restarting says that another host
// takes over.
type HostStopping struct {
	GraceMS    int64 `json:"graceMs"`
	Restarting bool  `json:"restarting,omitempty"`
}

// FrameName is the type that is on the wire.
func (*ResyncFrame) FrameName() string     { return "resync" }
func (*SessionChanged) FrameName() string  { return "session_changed" }
func (*ProjectsChanged) FrameName() string { return "projects_changed" }

// FrameName implements [Frame].
func (*AutomationChanged) FrameName() string { return "automation_changed" }
func (*EntriesChanged) FrameName() string    { return "entries_changed" }
func (*GrantChanged) FrameName() string      { return "grant_changed" }
func (*MCPChanged) FrameName() string        { return "mcp_changed" }
func (*ClientJoined) FrameName() string      { return "client_joined" }
func (*ClientLeft) FrameName() string        { return "client_left" }
func (*HostStopping) FrameName() string      { return "host_stopping" }

// FrameName is the type that is on the wire.
func (*EventsFrame) FrameName() string   { return "events" }
func (*LiveFrame) FrameName() string     { return "live" }
func (*SessionClosed) FrameName() string { return "session_closed" }

// MarshalFrame writes a frame.
func MarshalFrame(f Frame) ([]byte, error) { return AppendFrame(nil, f) }

// AppendFrame appends a frame to dst. Events that have their line (see
// [Event.Seal]) are joined as they are.
func AppendFrame(dst []byte, f Frame) ([]byte, error) {
	e, ok := f.(*EventsFrame)
	if !ok {
		data, err := marshalFrame(f)
		return append(dst, data...), err
	}
	start := len(dst)
	dst = append(dst, `{"type":"events","sessionId":`...)
	dst = jsonscan.AppendString(dst, string(e.SessionID))
	dst = append(dst, `,"events":[`...)
	for i, ev := range e.Events {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = ev.AppendLine(dst); err != nil {
			return dst[:start], err
		}
	}
	return append(dst, "]}"...), nil
}

func marshalFrame(f Frame) ([]byte, error) {
	head, err := marshal(struct {
		Type string `json:"type"`
	}{f.FrameName()})
	if err != nil {
		return nil, err
	}
	return joinObjects(head, f)
}

// ErrUnknownFrame reports that a frame is of a type that this version does not know.
var ErrUnknownFrame = errors.New("protocol: there is no frame of this type")

// ParseFrame reads a frame. The error of one of an unknown type is
// [ErrUnknownFrame]; a client skips it.
func ParseFrame(data []byte) (Frame, error) {
	var head struct {
		Type string `json:"type"`
	}
	if f := fastEvents(data); f != nil {
		return f, nil
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("protocol: a frame: %w", err)
	}
	var f Frame
	switch head.Type {
	case "resync":
		f = &ResyncFrame{}
	case "session_changed":
		f = &SessionChanged{}
	case "projects_changed":
		f = &ProjectsChanged{}
	case "automation_changed":
		f = &AutomationChanged{}
	case "entries_changed":
		f = &EntriesChanged{}
	case "grant_changed":
		f = &GrantChanged{}
	case "mcp_changed":
		f = &MCPChanged{}
	case "client_joined":
		f = &ClientJoined{}
	case "client_left":
		f = &ClientLeft{}
	case "host_stopping":
		f = &HostStopping{}
	case "ui_frame":
		f = &UIFrame{}
	case "events":
		f = &EventsFrame{}
	case "live":
		f = &LiveFrame{}
	case "session_closed":
		f = &SessionClosed{}
	default:
		return nil, fmt.Errorf("%w: %q", ErrUnknownFrame, clip(head.Type))
	}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("protocol: a %s frame: %w", head.Type, err)
	}
	return f, nil
}

// eventsHead is how [AppendFrame] begins a frame of events.
const eventsHead = `{"type":"events","sessionId":"`

// fastEvents reads a frame of events in the form in which a host writes it: nearly
// all bytes of a connection are such frames, and a general parser would look at each
// four times. It returns nil for anything else, however little it differs.
func fastEvents(data []byte) *EventsFrame {
	const idLen = len("ses_") + longID
	rest, ok := bytes.CutPrefix(data, []byte(eventsHead))
	if !ok || len(rest) < idLen {
		return nil
	}
	f := &EventsFrame{SessionID: SessionID(rest[:idLen]), Events: []Event{}}
	if rest, ok = bytes.CutPrefix(rest[idLen:], []byte(`","events":[`)); !ok || len(rest) == 0 || f.SessionID.Check() != nil {
		return nil
	}
	for len(f.Events) > 0 || rest[0] != ']' {
		end, err := jsonscan.Value(rest, 0)
		if err != nil || end >= len(rest) {
			return nil
		}
		e, err := ParseEvent(bytes.Clone(rest[:end])) // a kept event must not keep the whole frame
		if err != nil {
			return nil
		}
		f.Events = append(f.Events, e)
		if rest = rest[end:]; rest[0] != ',' {
			break
		}
		rest = rest[1:]
	}
	if string(rest) != "]}" {
		return nil
	}
	return f
}
