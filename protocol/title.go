package protocol

import (
	"scorel/protocol/framed"
	"strings"
	"unicode/utf8"
)

// MaxTitle is the longest title of a session in characters.
const MaxTitle = 80

// Title is what a session is called: its name, or the first line of its first prompt,
// at most [MaxTitle] characters; "" before there is either.
func Title(name, firstPrompt string) string {
	for _, text := range [...]string{name, firstPrompt} {
		line, _, _ := strings.Cut(framed.Unframed(strings.TrimSpace(text)), "\n")
		line = strings.TrimSpace(line)
		if utf8.RuneCountInString(line) > MaxTitle {
			line = string([]rune(line)[:MaxTitle-1]) + "…"
		}
		if line != "" {
			return line
		}
	}
	return ""
}

// Title is what a list calls the session.
func (s SessionSummary) Title() string { return Title(s.Meta.Name, s.FirstPrompt) }
