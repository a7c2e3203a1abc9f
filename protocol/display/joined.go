package display

import (
	"iter"
	"slices"

	"scorel/protocol"
)

// Joined gives events with an answer in one message, the first, that the output limit of the
// model has cut into several: a cut may be inside a word or a block of code. What comes between
// them and is not shown in a conversation comes after. alone, which may be nil, reports whether
// something hangs on a message, so that it stays as it is; so does one of which a part is stored
// elsewhere, or that was changed after it was written.
func Joined(events iter.Seq2[protocol.Event, error], alone func(protocol.Event) bool) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		var held []protocol.Event // an answer that may go on, and what came since
		flush := func() bool {
			for i, e := range held {
				if !yield(e, nil) {
					return false
				}
				held[i] = protocol.Event{}
			}
			held = held[:0]
			return true
		}
		for e, err := range events {
			if err != nil {
				_ = flush() && yield(e, err)
				return
			}
			m := answerOf(e, alone)
			switch {
			case len(held) == 0:
				held = append(held, e)
			case m != nil:
				before := &held[0].Body.(*protocol.MessageBody).Message
				held[0].Body = &protocol.MessageBody{Message: withRest(*before, *m)}
			case e.Body != nil && (!InConversation(e.Body) || Of(e).Kind == Hidden):
				held = append(held, e)
				continue
			default:
				if !flush() {
					return
				}
				held = append(held, e)
			}
			if m = answerOf(held[0], alone); (m == nil || !m.Continued()) && !flush() {
				return
			}
		}
		flush()
	}
}

// answerOf returns the message of the model that an event is, if it may be joined to others.
func answerOf(e protocol.Event, alone func(protocol.Event) bool) *protocol.Message {
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok || b.Message.Role != protocol.RoleAssistant || b.Message.IsFailure() || b.Message.IsCut() || Changed(e) != "" || alone != nil && alone(e) {
		return nil
	}
	return &b.Message
}

// withRest returns an answer with the message that continues it.
func withRest(m, rest protocol.Message) protocol.Message {
	content := slices.Clone(m.Content)
	for i, b := range rest.Content {
		if n := len(content); i == 0 && n > 0 && b.Type == protocol.BlockText && content[n-1].Type == protocol.BlockText {
			content[n-1].Text += b.Text
		} else {
			content = append(content, b)
		}
	}
	whole := rest
	whole.Content = content
	return whole
}
