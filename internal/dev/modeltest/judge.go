package modeltest

import (
	"strings"
	"unicode/utf8"
)

// What every vendor demands of a request.

// judgeBytes returns why the text of a request is refused: it is not UTF-8, or an escape
// stands for half a character (Anthropic: "The request body is not valid JSON: no
// low surrogate in string: line 1 column 129185 (char 129184)").
func judgeBytes(body []byte) string {
	if !utf8.Valid(body) {
		return "The request body is not valid UTF-8."
	}
	s := string(body)
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return ""
		}
		if s = s[i:]; s[1] != 'u' {
			s = s[2:]
			continue
		}
		switch surrogate(s) {
		case 0:
			s = s[6:]
		case high:
			if surrogate(s[6:]) != low {
				return "The request body is not valid JSON: no low surrogate in string"
			}
			s = s[12:]
		case low:
			return "The request body is not valid JSON: unexpected low surrogate in string"
		}
	}
}

const (
	high = 'h'
	low  = 'l'
)

// surrogate returns which half of a pair the escape at the beginning of s is; 0: none.
func surrogate(s string) rune {
	if len(s) < 6 || s[:2] != `\u` || (s[2] != 'd' && s[2] != 'D') {
		return 0
	}
	switch {
	case strings.IndexByte("89abAB", s[3]) >= 0:
		return high
	case strings.IndexByte("cdefCDEF", s[3]) >= 0:
		return low
	}
	return 0
}

// toolName reports whether a tool may be named so, also in a call of it.
func toolName(name string, most int) bool {
	return name != "" && len(name) <= most && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// Lengths of tools' names.
const (
	anthropicName = 128
	openaiName    = 64
)
