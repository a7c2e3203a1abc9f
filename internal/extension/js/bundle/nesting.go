package bundle

import "fmt"

// Bounds of how source may be nested. Stacks of 64 MiB hold about ten times as much.
const (
	maxDepth  = 2_000  // brackets within brackets
	maxPrefix = 10_000 // operators or keywords in a row that each hold the rest: !!!!x, a=>b=>c
)

// checkNesting refuses source that is nested so deeply that a parser which recurses runs
// out of stack. It looks at brackets outside of strings and comments, without knowing
// which slashes are expressions; a quote in one ends with its line.
func checkNesting(src []byte) error {
	depth, prefix, line := 0, 0, 1
	var quoted byte // the quote, / for a comment to the end of the line, * for one of blocks
	for i := 0; i < len(src); i++ {
		c := src[i]
		if c == '\n' {
			line++
		}
		switch quoted {
		case 0:
		case '`':
			switch {
			case c == '\\':
				i++
			case c == '`':
				quoted = 0
			case c == '$' && i+1 < len(src) && src[i+1] == '{':
				quoted = 0 // what is inside counts, and a brace that closes it
			}
			continue
		case '*':
			if c == '*' && i+1 < len(src) && src[i+1] == '/' {
				quoted = 0
				i++
			}
			continue
		case '/':
			if c == '\n' {
				quoted = 0
			}
			continue
		default:
			switch {
			case c == '\\':
				i++
			case c == quoted, c == '\n':
				quoted = 0
			}
			continue
		}
		switch c {
		case '\'', '"', '`':
			quoted = c
		case '/':
			if i+1 < len(src) && (src[i+1] == '/' || src[i+1] == '*') {
				quoted = src[i+1]
				i++
			}
		case '(', '[', '{':
			if depth++; depth > maxDepth {
				return fmt.Errorf("line %d: brackets are nested more than %d deep", line, maxDepth)
			}
		case ')', ']', '}':
			if depth > 0 {
				depth--
			}
		}
		switch c {
		case ';', ']', '}', ',':
			prefix = 0
		case '!', '~', '+', '-', '?', '>', '<', '*', '=', '&', '|', '^', '.':
			prefix++
		case 'f', 'n', 't', 'e', 'd': // the last letters of if, in, new, await, else, void
			if i > 0 && (i+1 == len(src) || src[i+1] == ' ' || src[i+1] == '(' || src[i+1] == '\n' || src[i+1] == '\t') {
				prefix++
			}
		}
		if prefix > maxPrefix {
			return fmt.Errorf("line %d: an expression or a statement has more than %d parts that hold the next", line, maxPrefix)
		}
	}
	return nil
}
