package lane

import (
	"context"
	"encoding/json"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// requestKind is the kind of the custom events that tell of a request whose effects
// need not leave an event that names it: of an extension's command, of the shell lines
// of a template.
const requestKind = protocol.OwnKind + "request"

// RequestRun is the data of such an event: that a request begins to act, before it
// does, or what came of it.
type RequestRun struct {
	SessionID protocol.SessionID `json:"sessionId"` // a clone of the session has the event, too
	ClientID  protocol.ClientID  `json:"clientId"`
	RequestID protocol.RequestID `json:"requestId"`
	Body      string             `json:"body,omitempty"`
	Ended     bool               `json:"ended,omitempty"`
	Status    string             `json:"status,omitempty"`
	Error     *protocol.Error    `json:"error,omitempty"`
}

// RecordRequest stores the state of a request that a client has sent; it is durable on
// return. A caller without a request is none that is repeated, and nothing is stored.
func (l *Lane) RecordRequest(ctx context.Context, by Caller, run RequestRun) error {
	if by.Request == "" {
		return nil
	}
	run.SessionID, run.ClientID, run.RequestID, run.Body = l.ID(), by.Client, by.Request, by.Body
	data, err := json.Marshal(run)
	if err != nil {
		return err
	}
	return l.j.Record(ctx, &protocol.Custom{Kind: requestKind, Data: data}, journal.Author{Client: by.Client})
}

// FindRequest returns the newest that a log says of such a request.
func FindRequest(ctx context.Context, index *session.Index, client protocol.ClientID, request protocol.RequestID) (found RequestRun, ok bool, err error) {
	for e, err := range index.OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return found, ok, err
		}
		var run RequestRun
		b, custom := e.Body.(*protocol.Custom)
		if custom && b.Kind == requestKind && json.Unmarshal(b.Data, &run) == nil &&
			run.SessionID == index.SessionID() && run.ClientID == client && run.RequestID == request {
			found, ok = run, true
		}
	}
	return found, ok, nil
}
