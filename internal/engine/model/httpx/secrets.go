package httpx

import (
	"strings"
	"unicode"

	"scorel/internal/text/secret"
)

const maxQuote = 400 // characters of a server's text that are passed on

// quote makes a server's text fit to be shown: one line, bounded, without keys.
func (p Peer) quote(text string) string {
	text = p.redact(text)
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(text); len(r) > maxQuote {
		text = string(r[:maxQuote]) + "…"
	}
	return strings.TrimRight(text, ". ")
}

// redact takes out the peer's key, the values of its headers and whatever looks
// like a key: servers repeat in their errors what they were sent, in part or
// with stars in it.
func (p Peer) redact(text string) string {
	const shortest = 6          // a shorter value is no secret, and would cut words apart
	if len(p.Key) >= shortest { // it may hold the value of a header
		text = strings.ReplaceAll(text, p.Key, "[key]")
	}
	for _, v := range p.Headers {
		if len(v) >= shortest {
			text = strings.ReplaceAll(text, v, "[header]")
		}
	}
	return secret.Redact(text)
}
