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
	n := nesting{src: src, line: 1}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' {
			n.line++
		}
		switch {
		case n.quoted != 0:
			i = n.quotedByte(i)
		case n.opensQuote(i):
			if n.quoted == '/' || n.quoted == '*' {
				i++ // of the two bytes that begin a comment
			}
		default:
			if err := n.codeByte(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// nesting is how deep source is nested at a place.
type nesting struct {
	src    []byte
	line   int
	depth  int
	prefix int
	quoted byte // the quote, / for a comment to the end of the line, * for one of blocks; 0 for code
}

// follows reports whether a byte comes after the one at i.
func (n *nesting) follows(i int, c byte) bool { return i+1 < len(n.src) && n.src[i+1] == c }

// opensQuote reports whether a string or a comment begins at i, and notes which.
func (n *nesting) opensQuote(i int) bool {
	switch c := n.src[i]; {
	case c == '\'', c == '"', c == '`':
		n.quoted = c
	case c == '/' && (n.follows(i, '/') || n.follows(i, '*')):
		n.quoted = n.src[i+1]
	default:
		return false
	}
	return true
}

// quotedByte passes over a byte of a string or comment, and returns the place of the last
// one that belongs to it.
func (n *nesting) quotedByte(i int) int {
	c := n.src[i]
	switch n.quoted {
	case '*':
		if c == '*' && n.follows(i, '/') {
			n.quoted = 0
			return i + 1
		}
		return i
	case '/':
		if c == '\n' {
			n.quoted = 0
		}
		return i
	}
	switch {
	case c == '\\':
		return i + 1
	case c == n.quoted, c == '\n' && n.quoted != '`':
		n.quoted = 0
	case c == '$' && n.quoted == '`' && n.follows(i, '{'):
		n.quoted = 0 // what is inside counts, and a brace that closes it
	}
	return i
}

// codeByte counts a byte outside of strings and comments.
func (n *nesting) codeByte(i int) error {
	c := n.src[i]
	switch c {
	case '(', '[', '{':
		if n.depth++; n.depth > maxDepth {
			return fmt.Errorf("line %d: brackets are nested more than %d deep", n.line, maxDepth)
		}
	case ')', ']', '}':
		n.depth = max(0, n.depth-1)
	}
	switch c {
	case ';', ']', '}', ',':
		n.prefix = 0
	case '!', '~', '+', '-', '?', '>', '<', '*', '=', '&', '|', '^', '.':
		n.prefix++
	case 'f', 'n', 't', 'e', 'd': // the last letters of if, in, new, await, else, void
		if i > 0 && (i+1 == len(n.src) || n.follows(i, ' ') || n.follows(i, '(') || n.follows(i, '\n') || n.follows(i, '\t')) {
			n.prefix++
		}
	}
	if n.prefix > maxPrefix {
		return fmt.Errorf("line %d: an expression or a statement has more than %d parts that hold the next", n.line, maxPrefix)
	}
	return nil
}
