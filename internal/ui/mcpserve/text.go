package mcpserve

import (
	"strings"

	"scorel/protocol/display"
)

// Bounds of texts, in bytes.
const (
	maxStep     = 300       // what a session does
	maxAnswer   = 64 << 10  // the answer of a turn
	maxMessage  = 8 << 10   // a message on a page
	maxQuestion = 4 << 10   // each text of a question
	maxAsked    = 32 << 10  // the input of a call that a question is about
	maxError    = 2 << 10   // why a turn has failed
	maxResource = 256 << 10 // a conversation as a resource
)

// clip cuts a text to at most n bytes, and says so where that is the case.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// clean makes a text of a session safe to pass on, in at most n bytes.
func clean(s string, n int) string {
	if len(s) > 4*n { // what is cut need not be cleaned
		s = s[:4*n]
	}
	return clip(display.Text(s), n)
}
