package history

import "scorel/protocol"

// What the model is told of damage, at its place in the conversation.
const (
	missingNote    = "The log of this conversation is damaged here: what was said between the message before this note and the one after it is lost."
	unreadableNote = "The log of this conversation is damaged here: an event behind the message before this note cannot be read."
	changedNote    = "The log of this conversation is damaged here: the message before this note was changed after it was written, and may not say what was said."
)

// harm is what a walk has seen of damage.
type harm struct {
	seen   bool
	parent protocol.EventID // that the event before in the walk, which is newer, names
	lost   bool             // events are lost after the next message with calls
}

// inspect looks for damage at the next older event of a walk, and leaves a note after
// it.
func (w *walker) inspect(ev protocol.Event, pos int) {
	if w.harm.seen && w.harm.parent != ev.ID {
		w.missing(pos)
	}
	w.harm.seen, w.harm.parent = true, ev.ParentID
	_, unknown := ev.Body.(*protocol.Unknown)
	_, stored := protocol.StoredClass([]byte(ev.Type))
	switch {
	case unknown && stored:
		w.harm.lost = true
		w.unread = append(w.unread, ev.ID)
		w.noteDamage(unreadableNote, pos)
	case ev.Sum() == protocol.SumWrong:
		w.noteDamage(changedNote, pos)
	}
}

// missing notes that events are lost after the place pos.
func (w *walker) missing(pos int) {
	w.harm.lost = true
	w.noteDamage(missingNote, pos)
}

func (w *walker) noteDamage(text string, pos int) {
	if w.full { // what is not kept is not sent
		return
	}
	w.notes = append(w.notes, note{pos + 1, protocol.Item{Kind: protocol.ItemLogDamage, Origin: protocol.OriginSystem,
		Content: text, Visibility: protocol.VisibilityHidden}})
}

// unsigned returns a message that was changed without what a provider has signed, and would
// refuse.
func unsigned(m *protocol.Message) *protocol.Message {
	out := *m
	out.Content = nil
	for _, b := range m.Content {
		if b.Type != protocol.BlockThinking {
			b.Provider = nil
			out.Content = append(out.Content, b)
		}
	}
	return &out
}
