package lane

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// damage is what the log of a session has lost. The journal's lock guards it.
type damage struct {
	text   string // as the model is to be told
	unread int    // events that cannot be read, as people were told
}

// damageKind is the kind of the custom event that keeps what was found damaged and has
// been set right by opening the log, until the conversation goes on.
const damageKind = session.DamageKind

// maxDamage bounds what is told of several openings of a damaged log, in bytes.
const maxDamage = 4 << 10

// rememberDamage notes what the model must be told of damage: what was found now, or
// when the log was opened before and nobody has gone on since.
func (l *Lane) rememberDamage(ctx context.Context) error {
	earlier, err := Lost(ctx, l.j.Index())
	if err != nil {
		return err
	}
	l.damage.text = l.cfg.Damage
	switch {
	case l.damage.text == "":
		l.damage.text = earlier
		return nil
	case strings.Contains(earlier, l.damage.text):
		l.damage.text = earlier
	case earlier != "" && len(earlier) < maxDamage:
		l.damage.text = earlier + " " + l.damage.text
	}
	if !l.cfg.Passing || l.j.ReadOnly() != nil {
		return nil
	}
	data, err := json.Marshal(session.DamageNote{Text: l.damage.text})
	if err != nil {
		return err
	}
	return l.j.Force(ctx, &protocol.Custom{Kind: damageKind, Data: data}, journal.ByHost())
}

// Lost says in a sentence what an earlier opening found lost in a log, and has set right,
// as long as the conversation has not gone on; else it is empty. What came from a file does
// not count: a model would be told of it as of the harness.
func Lost(ctx context.Context, index *session.Index) (string, error) {
	newest := index.LastConversation()
	text := ""
	for e, err := range index.OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return "", err
		}
		var n session.DamageNote
		if b, ok := e.Body.(*protocol.Custom); ok && b.Kind == damageKind && e.Seq > newest && !index.Imported(e.Seq) && json.Unmarshal(b.Data, &n) == nil {
			text = n.Text
		}
	}
	return text, nil
}

// logPlaced tells people that another program had taken the log away. The commit that has
// found it does not wait: who holds the journal may wait for that.
func (l *Lane) logPlaced(sentence string) {
	go func() { // ends with the notice
		defer func() {
			if r := recover(); r != nil {
				l.Panicked(r)
			}
		}()
		l.notices.Notify("", "warning", sentence)
		if data, err := json.Marshal(session.DamageNote{Text: sentence}); err == nil { // for who is not here
			_ = l.j.Force(context.Background(), &protocol.Custom{Kind: damageKind, Data: data}, journal.ByHost())
		}
	}()
}

// Damage says in a sentence what the log has lost, for people; empty when nothing is
// known.
func (l *Lane) Damage() string {
	l.j.Lock()
	defer l.j.Unlock()
	return l.damage.text
}

// damageItem is what the model is told of it.
func damageItem(text string) protocol.Item {
	return protocol.Item{Kind: protocol.ItemLogDamage, Origin: protocol.OriginSystem, Content: text, Visibility: protocol.VisibilityDisplay}
}

// notifyUnread tells people of events on the path that cannot be read, before anything is
// sent; the model finds a note in the place of each.
func (l *Lane) notifyUnread(events []protocol.EventID) {
	l.j.Lock()
	known := l.damage.unread
	l.damage.unread = max(known, len(events))
	l.j.Unlock()
	if len(events) <= known {
		return
	}
	l.notices.Notify("", "warning", fmt.Sprintf("The log of this session is damaged: %d events of the conversation cannot be read, the first is %s.", len(events), events[0]))
}
