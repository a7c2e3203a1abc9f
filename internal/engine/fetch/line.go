package fetch

import (
	"strings"

	"scorel/internal/text/promptsafe"
)

// oneLine returns a text in one line of at most n characters, cleaned.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(promptsafe.Clean(s)), " ")
	count := 0
	for i := range s {
		if count++; count > n {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}
