package httpx

import (
	"slices"
	"strings"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Unlisted judges an answer that its server ended for a reason that is not in the
// vendor's list, as proxies do. What is complete counts: it returns why the answer ended,
// or the failure that it is. Its methods are not safe for concurrent use.
type Unlisted struct {
	called  bool // there is a complete call
	said    bool // there is text
	invalid bool // a call cannot be read
	cut     bool // a text or call did not come to its end
}

// Note takes a delta of the answer.
func (u *Unlisted) Note(d model.Delta) {
	switch d := d.(type) {
	case model.TextDelta:
		u.said = u.said || strings.TrimSpace(d.Text) != ""
	case model.BlockEnd:
		u.invalid = u.invalid || d.Invalid
		u.called = u.called || d.Block.Type == protocol.BlockToolUse
	}
}

// Cut notes that something of the answer did not come to its end.
func (u *Unlisted) Cut() { u.cut = true }

// Words of other vendors and of proxies, in lower case, for what is not a complete answer.
var (
	limitWords   = []string{"length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "model_context_window_exceeded"}
	refusalWords = []string{"content_filter", "content_filtered", "refusal", "safety", "guardrail_intervened"}
	failureWords = []string{"error", "network_error", "server_error", "internal_error", "timeout", "abort", "aborted", "cancelled", "canceled",
		"insufficient_system_resource", "malformed_function_call"}
)

// Done ends the answer of a peer for the reason that it said.
func (u *Unlisted) Done(p Peer, reason string, usage protocol.Usage) (model.Done, error) {
	done := model.Done{Usage: usage, Unlisted: Word(reason)}
	lower := strings.ToLower(reason)
	switch {
	case slices.Contains(failureWords, lower):
		return done, p.Cut()
	case slices.Contains(limitWords, lower):
		done.StopReason = protocol.StopMaxTokens
	case slices.Contains(refusalWords, lower):
		done.StopReason = protocol.StopRefusal
	case u.cut:
		return done, p.Cut()
	case u.invalid, !u.called && !u.said:
		return done, p.Broken("an answer that ended for another reason: " + done.Unlisted)
	case u.called:
		done.StopReason = protocol.StopToolUse
	default:
		done.StopReason = protocol.StopEndTurn
	}
	return done, nil
}

// maxWord is how many bytes of a server's word are quoted.
const maxWord = 40

// Word makes a value of a server's enumeration fit for a sentence.
func Word(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
	return s[:min(len(s), maxWord)]
}
