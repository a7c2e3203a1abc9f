package protocol

import (
	"iter"
	"slices"
	"strings"
)

// ModelAnswer is the newest answer of a turn, over all messages that it has: a host has a model
// continue an answer that its output limit has cut, and the continuation is a message of its
// own. The zero value has no answer. It is used by one goroutine.
type ModelAnswer struct {
	// Text is what the model has said, without anything between the pieces: a cut may be
	// inside a word.
	Text string
	// Open reports whether the next message of the model continues the answer.
	Open bool
}

// Add takes the next message of the conversation. It reports whether a message of the model
// continues the answer; any other one begins an answer. A message of the user ends it, and so
// does the reason why the turn has failed.
func (a *ModelAnswer) Add(m Message) (continues bool) {
	switch {
	case m.Role == RoleUser || m.IsFailure():
		a.Open = false
		return false
	case m.Role != RoleAssistant:
		return false
	}
	if continues = a.Open; !continues {
		a.Text = ""
	}
	a.Text += m.PlainText()
	a.Open = m.Continued()
	return continues
}

// End notes that the turn has ended: what the model says next is another answer.
func (a *ModelAnswer) End() { a.Open = false }

// Continued reports whether the next message of the model in the turn continues m, if there
// is one.
func (m Message) Continued() bool {
	return m.Role == RoleAssistant && m.StopReason == StopMaxTokens && !m.Partial && len(m.Calls()) == 0
}

// NewestAnswer returns the messages of the newest answer that has a text, the oldest first, of
// a conversation whose newest message comes first. It reads no more of it than it needs.
func NewestAnswer(newestFirst iter.Seq[Message]) (pieces []Message) {
	for m := range newestFirst {
		switch {
		case len(pieces) == 0:
			if m.Role == RoleAssistant && strings.TrimSpace(m.PlainText()) != "" {
				pieces = append(pieces, m)
			}
			continue
		case m.Role != RoleUser && m.Role != RoleAssistant:
			continue
		case !m.Continued():
			slices.Reverse(pieces)
			return pieces
		}
		pieces = append(pieces, m)
	}
	slices.Reverse(pieces)
	return pieces
}

// AnswerText joins the messages of one answer, as [ModelAnswer] does.
func AnswerText(pieces []Message) string {
	var text strings.Builder
	for _, m := range pieces {
		text.WriteString(m.PlainText())
	}
	return text.String()
}
