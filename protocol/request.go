package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"scorel/protocol/jsonscan"
)

// MaxMessage is the longest message of a client in bytes.
const MaxMessage = 1 << 20

// Request is what a client asks of a host. The set is closed: only types of this
// package implement it.
type Request interface {
	// Spec describes the request; it is the same for all of a type, also a nil one.
	Spec() *Spec
	// Check says what of it cannot be carried out; see [Call.Check].
	Check() *Problem
}

// Call is one request on its way. RequestID is drawn by the client; Repeat marks
// one whose answer was lost. SessionID names the session it is about, or the new
// one for create_session, clone_session and import_session, whose id the client
// draws.
type Call struct {
	RequestID RequestID
	SessionID SessionID
	Repeat    bool
	Request   Request
	// Body is the [BodyHash] of what the client has written, of a request that acts; ""
	// is that of the call as it is written here.
	Body string
}

// Reply answers a call: Data is set, or Err.
type Reply struct {
	RequestID RequestID
	Data      Response
	Err       *Error
}

// Response is the data of a [Reply]. The set is closed.
type Response interface{ response() }

type callEnvelope struct {
	Type      string    `json:"type"`
	RequestID RequestID `json:"requestId"`
	SessionID SessionID `json:"sessionId,omitempty"`
	Repeat    bool      `json:"repeat,omitempty"`
}

// MarshalJSON writes the call with the fields of its request beside its own.
func (c Call) MarshalJSON() ([]byte, error) {
	head, err := marshal(callEnvelope{c.Request.Spec().Name, c.RequestID, c.SessionID, c.Repeat})
	if err != nil {
		return nil, err
	}
	return joinObjects(head, c.Request)
}

// ParseCall reads a call. An unknown request, or one that does not fit its type, lacks a
// field that it must have or has one that is not known here, is an *Error with
// invalid_request, and so is a message that is not UTF-8. What its values may be says
// [Call.Check].
func ParseCall(data []byte) (Call, error) {
	if len(data) > MaxMessage {
		return Call{}, Errorf(CodePayloadTooLarge, "A message may have at most %d bytes; this one has %d.", MaxMessage, len(data))
	}
	if p := CheckText("message", data); p != nil {
		return Call{}, p.Err()
	}
	var e callEnvelope
	if err := json.Unmarshal(data, &e); err != nil || !jsonscan.IsObject(data) {
		return Call{}, NotJSON(err, "message", data, &e)
	}
	spec := SpecOf(e.Type)
	switch {
	case e.Type == "":
		return Call{}, (&Problem{"type", "The field type is missing or empty; it is the name of the request."}).Err()
	case spec == nil:
		return Call{}, (&Problem{"type", fmt.Sprintf("There is no request named %q.", clip(e.Type))}).Err()
	}
	if err := e.RequestID.Check(); err != nil {
		return Call{}, (&Problem{"requestId", fmt.Sprintf("The field requestId is wrong: %v.", err)}).Err()
	}
	if e.SessionID != "" {
		if p := session("sessionId", e.SessionID); p != nil {
			return Call{}, p.Err()
		}
	}
	req := spec.New()
	if err := json.Unmarshal(data, req); err != nil {
		return Call{}, NotJSON(err, spec.Name+" request", data, req)
	}
	if p := UnknownMember(spec.Name, data, req, append(MemberNames(req), envelope...)); p != nil {
		return Call{}, p.Err()
	}
	if p := LacksMember(spec.Name, data, req); p != nil {
		return Call{}, p.Err()
	}
	c := Call{RequestID: e.RequestID, SessionID: e.SessionID, Repeat: e.Repeat, Request: req}
	if spec.Mutates {
		c.Body = BodyHash(data)
	}
	return c, nil
}

// RequestIDIn looks for the requestId of a message that is no call, which may be cut off; it
// is "" where there is none. Inside a string the quotes would be escaped.
func RequestIDIn(data []byte) RequestID {
	var e struct {
		RequestID RequestID `json:"requestId"`
	}
	if json.Unmarshal(data, &e) != nil {
		_, rest, _ := bytes.Cut(data, []byte(`"requestId":"`))
		id, _, _ := bytes.Cut(rest[:min(len(rest), 64)], []byte(`"`))
		e.RequestID = RequestID(id)
	}
	if e.RequestID.Check() != nil {
		return ""
	}
	return e.RequestID
}

type replyJSON struct {
	Type      string          `json:"type"` // response or error
	RequestID RequestID       `json:"requestId"`
	Data      json.RawMessage `json:"data,omitempty"`
	Code      Code            `json:"code,omitempty"`
	Message   string          `json:"message,omitempty"`
	Details   json.RawMessage `json:"details,omitempty"`
}

// MarshalJSON writes the reply.
func (r Reply) MarshalJSON() ([]byte, error) {
	if r.Err != nil {
		return marshal(replyJSON{Type: "error", RequestID: r.RequestID, Code: r.Err.Code, Message: r.Err.Message, Details: r.Err.Details})
	}
	data, err := marshal(r.Data)
	if err != nil {
		return nil, err
	}
	return marshal(replyJSON{Type: "response", RequestID: r.RequestID, Data: data})
}

// ParseReply reads the reply to a request of the given name.
func ParseReply(data []byte, requestName string) (Reply, error) {
	var j replyJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return Reply{}, err
	}
	if j.Type == "error" {
		return Reply{RequestID: j.RequestID, Err: &Error{Code: j.Code, Message: j.Message, Details: j.Details}}, nil
	}
	spec := SpecOf(requestName)
	if spec == nil {
		return Reply{}, fmt.Errorf("protocol: a reply to the unknown request %q", requestName)
	}
	resp := spec.Reply()
	if err := json.Unmarshal(j.Data, resp); err != nil {
		return Reply{}, fmt.Errorf("protocol: the reply to %s: %w", requestName, err)
	}
	return Reply{RequestID: j.RequestID, Data: resp}, nil
}

// joinObjects appends the fields of v to the object in head.
func joinObjects(head []byte, v any) ([]byte, error) {
	fields, err := marshal(v)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(fields, []byte("{}")) {
		return head, nil
	}
	out := append(head[:len(head)-1], ',')
	return append(out, fields[1:]...), nil
}
