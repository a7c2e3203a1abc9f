package lane

import (
	"context"
	"encoding/json"
	"fmt"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// damageKind is the kind of the custom event that keeps what was found damaged and has
// been set right by opening the log, until the conversation goes on.
const damageKind = protocol.OwnKind + "damage"

// damageNote is the data of such an event.
type damageNote struct {
	Text string `json:"text"`
}

// rememberDamage notes what the model must be told of damage: what was found now, or
// when the log was opened before and nobody has gone on since.
func (l *Lane) rememberDamage(ctx context.Context) error {
	l.damage = l.cfg.Damage
	if l.damage == "" {
		var err error
		l.damage, err = Lost(ctx, l.cfg.Log.Index())
		return err
	}
	if readOnly, _ := l.cfg.Log.ReadOnly(); !l.cfg.Passing || readOnly {
		return nil
	}
	data, err := json.Marshal(damageNote{l.damage})
	if err != nil {
		return err
	}
	l.mu.Lock()
	_, ticket, err := l.append(ctx, &protocol.Custom{Kind: damageKind, Data: data}, byHost())
	l.mu.Unlock()
	return waitFor(ctx, ticket, err)
}

// Lost says in a sentence what an earlier opening found lost in a log, and has set right,
// as long as the conversation has not gone on; else it is empty.
func Lost(ctx context.Context, index *session.Index) (string, error) {
	newest := index.LastConversation()
	text := ""
	for e, err := range index.OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return "", err
		}
		var n damageNote
		if b, ok := e.Body.(*protocol.Custom); ok && b.Kind == damageKind && e.Seq > newest && json.Unmarshal(b.Data, &n) == nil {
			text = n.Text
		}
	}
	return text, nil
}

// Damage says in a sentence what the log has lost, for people; empty when nothing is
// known.
func (l *Lane) Damage() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.damage
}

// damageItem is what the model is told of it.
func damageItem(text string) protocol.Item {
	return protocol.Item{Kind: protocol.ItemLogDamage, Origin: protocol.OriginSystem, Content: text, Visibility: protocol.VisibilityDisplay}
}

// tellUnread tells people of events on the path that cannot be read, before anything is
// sent; the model finds a note in the place of each.
func (l *Lane) tellUnread(events []protocol.EventID) {
	l.mu.Lock()
	known := l.unread
	l.unread = max(known, len(events))
	l.mu.Unlock()
	if len(events) <= known {
		return
	}
	l.Notify("", "warning", fmt.Sprintf("The log of this session is damaged: %d events of the conversation cannot be read, the first is %s.", len(events), events[0]))
}
