package questions

import (
	"strconv"
	"strings"

	"scorel/protocol"
	"scorel/protocol/display"
)

// Choice is an answer that a permission question offers.
type Choice struct {
	Label string
	// Rule is what the answer writes down, where the label does not have it; "" is
	// nothing. What is written down is seen exactly, whatever the label says.
	Rule string
	// Once says that it allows this call and nothing else.
	Once bool
	// Request is the answer.
	Request *protocol.AnswerPermission
}

// Choices returns the answers that a permission question offers, beside its denial.
func Choices(p *protocol.PermissionRequest) []Choice {
	var all []Choice
	for i, s := range p.Suggestions {
		c := Choice{Label: display.Line(display.Literal(s.Label)), Once: s.Scope == "once", Request: &protocol.AnswerPermission{PermissionID: p.PermissionID, Choice: i}}
		if rule := display.Line(display.Literal(s.Rule)); rule != "" && !strings.Contains(c.Label, rule) {
			c.Rule = rule
		}
		all = append(all, c)
	}
	return all
}

// Deny returns the denial of a call; the model is told the reason, unless it is empty.
func Deny(p *protocol.PermissionRequest, reason string) *protocol.AnswerPermission {
	return &protocol.AnswerPermission{PermissionID: p.PermissionID, Choice: -1, Reason: reason}
}

// Number reads a choice that is typed: its number from 1, or 0 for the denial, which a
// reason may follow.
func Number(text string) (n int, reason string, ok bool) {
	word, reason, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.Atoi(word)
	reason = strings.TrimSpace(reason)
	return n, reason, err == nil && n >= 0 && (n == 0 || reason == "")
}
