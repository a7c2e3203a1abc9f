package addition

import (
	"context"
	"encoding/json"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// waitingKind is the kind of the custom events that keep a message while it waits.
const waitingKind = protocol.OwnKind + "waiting"

// waitingMessage is the data of such an event. The message enters as the event of that
// id: where the log has it, it waits no more.
type waitingMessage struct {
	SessionID protocol.SessionID      `json:"sessionId"` // a clone of the session has the event, too
	EventID   protocol.EventID        `json:"eventId"`
	Message   *protocol.CustomMessage `json:"message"`
}

func (w waitingMessage) body() protocol.Body {
	return journal.Authored{Body: w.Message, By: journal.Author{Client: protocol.HostClient, ID: w.EventID}}
}

// foldWaiting returns the messages that waited when an earlier host was killed, the newest.
func foldWaiting(ctx context.Context, index *session.Index) ([]addition, error) {
	var waiting []addition
	for e, err := range index.OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return nil, err
		}
		var w waitingMessage
		b, ok := e.Body.(*protocol.Custom)
		if !ok || b.Kind != waitingKind || json.Unmarshal(b.Data, &w) != nil || w.SessionID != index.SessionID() ||
			w.Message == nil || w.EventID.Check() != nil || index.Has(w.EventID) {
			continue
		}
		waiting = append(waiting, addition{body: w.body()})
	}
	return waiting[max(0, len(waiting)-MaxWaiting-MaxLater):], nil
}
