package protocol

import (
	"encoding/json"
	"fmt"
)

// Version is the version of the protocol between entries and hosts.
const Version = 1

// Hello is how a client introduces itself. Interactive says that it can put a
// question to a person.
type Hello struct {
	ProtocolVersion int      `json:"protocolVersion"`
	ClientID        ClientID `json:"clientId"`
	ClientName      string   `json:"clientName"`
	Interactive     bool     `json:"interactive"`
}

// Frame is what a host sends unasked: [EventsFrame], [LiveFrame] or
// [SessionClosed]. The set is closed.
type Frame interface {
	// FrameName is the type that stands on the wire.
	FrameName() string
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

// FrameName is the type that stands on the wire.
func (*EventsFrame) FrameName() string   { return "events" }
func (*LiveFrame) FrameName() string     { return "live" }
func (*SessionClosed) FrameName() string { return "session_closed" }

// MarshalFrame writes a frame.
func MarshalFrame(f Frame) ([]byte, error) {
	head, err := marshal(struct {
		Type string `json:"type"`
	}{f.FrameName()})
	if err != nil {
		return nil, err
	}
	return joinObjects(head, f)
}

// ParseFrame reads a frame.
func ParseFrame(data []byte) (Frame, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("protocol: a frame: %w", err)
	}
	var f Frame
	switch head.Type {
	case "events":
		f = &EventsFrame{}
	case "live":
		f = &LiveFrame{}
	case "session_closed":
		f = &SessionClosed{}
	default:
		return nil, fmt.Errorf("protocol: there is no frame named %q", clip(head.Type))
	}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("protocol: a %s frame: %w", head.Type, err)
	}
	return f, nil
}
