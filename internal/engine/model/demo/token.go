package demo

import "strings"

// token is a piece of a line.
type token struct {
	at, end int
	kind    tokenKind
}

type tokenKind int

const (
	word   tokenKind = iota // letters, digits and underscores, not beginning with a digit
	number                  // digits
	flag                    // a dash and letters
	operator
)

// tokensOf cuts a line into tokens; a comment at its end is none.
func tokensOf(line string) []token {
	var tokens []token
	for i := 0; i < len(line); {
		start, kind := i, operator
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '#' && i > 0 && line[i-1] == ' ' && i+1 < len(line) && line[i+1] == ' ':
			return tokens
		case isDigit(c):
			kind = number
			for i < len(line) && isDigit(line[i]) {
				i++
			}
		case isLetter(c):
			kind = word
			for i < len(line) && (isLetter(line[i]) || isDigit(line[i])) {
				i++
			}
		case c == '-' && i+1 < len(line) && isLetter(line[i+1]) && (i == 0 || line[i-1] == ' '):
			kind = flag
			for i++; i < len(line) && isLetter(line[i]); i++ {
			}
		default:
			i += len(operatorAt(line[i:]))
		}
		tokens = append(tokens, token{start, i, kind})
	}
	return tokens
}

func operatorAt(s string) string {
	for _, op := range [...]string{"<<<", "&&", "||", "==", "!=", "=~", ">=", "<=", "+=", "-=", "*=", "/=", "++", "--", "<<", ">>", "##", "%%", ",,", "^^", ">&"} {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return s[:1]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// within says whether what follows before stands between open and end.
func within(before, open, end string) bool {
	return strings.LastIndex(before, open) > strings.LastIndex(before, end)
}
