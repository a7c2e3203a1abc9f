package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a file; see docs/limits.md.
const (
	MaxFile  = 1 << 20 // bytes
	maxNodes = 50_000  // values
	maxDepth = 32      // objects and lists in each other
)

// node is a value of a JSON document that may have comments and trailing commas.
type node struct {
	kind     byte // '{', '[', '"', 'd' for a number, 't' for a boolean, 'n' for null
	from, to int  // in the document
	line     int
	text     string // of a text or number
	yes      bool
	members  []member
	items    []*node
}

// member is a key of an object with its value.
type member struct {
	key   string
	from  int // of the key
	line  int
	value *node
}

// get returns the last member of a key, which is the one that counts; nil for none.
func (n *node) get(key string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].key == key {
			return n.members[i].value
		}
	}
	return nil
}

// syntaxError is a document that is not JSON.
type syntaxError struct {
	line int
	text string
}

func (e *syntaxError) Error() string { return e.text }

// parseJSON reads a document. An empty one, or one of comments alone, is nil. The error
// is a *syntaxError.
func parseJSON(data []byte) (*node, error) {
	p := &parser{data: data, line: 1}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) { // some editors write a byte order mark
		p.at = 3
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at == len(p.data) {
		return nil, nil
	}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(p.data) {
		return nil, p.fail("there is more after the end of the value")
	}
	return n, nil
}

type parser struct {
	data  []byte
	at    int
	line  int
	nodes int
}

func (p *parser) fail(format string, args ...any) error {
	return &syntaxError{p.line, fmt.Sprintf(format, args...)}
}

// space passes white space and comments.
func (p *parser) space() error {
	for p.at < len(p.data) {
		switch c := p.data[p.at]; {
		case c == '\n':
			p.line++
			p.at++
		case c == ' ' || c == '\t' || c == '\r':
			p.at++
		case bytes.HasPrefix(p.data[p.at:], []byte("//")):
			end := bytes.IndexByte(p.data[p.at:], '\n')
			if end < 0 {
				end = len(p.data) - p.at
			}
			p.at += end
		case bytes.HasPrefix(p.data[p.at:], []byte("/*")):
			end := bytes.Index(p.data[p.at+2:], []byte("*/"))
			if end < 0 {
				return p.fail("a comment has no end")
			}
			p.line += bytes.Count(p.data[p.at:p.at+2+end], []byte("\n"))
			p.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

// peek returns the next byte after white space, 0 at the end.
func (p *parser) peek() (byte, error) {
	if err := p.space(); err != nil {
		return 0, err
	}
	if p.at == len(p.data) {
		return 0, nil
	}
	return p.data[p.at], nil
}

func (p *parser) value(depth int) (*node, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, p.fail("it has more than %d values", maxNodes)
	}
	c, err := p.peek()
	if err != nil {
		return nil, err
	}
	n := &node{kind: c, from: p.at, line: p.line}
	switch c {
	case 0:
		return nil, p.fail("it ends too early")
	case '{', '[':
		if depth == maxDepth {
			return nil, p.fail("it is nested more than %d deep", maxDepth)
		}
		p.at++
		if err := p.inside(n, depth+1); err != nil {
			return nil, err
		}
	case '"':
		if n.text, err = p.text(); err != nil {
			return nil, err
		}
	default:
		if err := p.word(n); err != nil {
			return nil, err
		}
	}
	n.to = p.at
	return n, nil
}

// inside reads what is in an object or list, to its end.
func (p *parser) inside(n *node, depth int) error {
	end := byte('}')
	if n.kind == '[' {
		end = ']'
	}
	for {
		c, err := p.peek()
		if err != nil {
			return err
		}
		if c == end {
			p.at++
			return nil
		}
		if n.kind == '{' {
			err = p.member(n, depth)
		} else {
			var item *node
			if item, err = p.value(depth); err == nil {
				n.items = append(n.items, item)
			}
		}
		if err != nil {
			return err
		}
		switch c, err := p.peek(); {
		case err != nil:
			return err
		case c == ',':
			p.at++
		case c == 0:
			return p.fail("it ends too early")
		case c != end:
			return p.fail("a comma or %q is missing", string(end))
		}
	}
}

func (p *parser) member(n *node, depth int) error {
	m := member{from: p.at, line: p.line}
	if p.at == len(p.data) {
		return p.fail("it ends too early")
	}
	if p.data[p.at] != '"' {
		return p.fail("a key in quotes is missing")
	}
	var err error
	if m.key, err = p.text(); err != nil {
		return err
	}
	c, err := p.peek()
	if err != nil {
		return err
	}
	if c != ':' {
		return p.fail("a colon is missing after the key %s", quote(m.key))
	}
	p.at++
	if m.value, err = p.value(depth); err != nil {
		return err
	}
	n.members = append(n.members, m)
	return nil
}

func (p *parser) text() (string, error) {
	for i := p.at + 1; i < len(p.data); i++ {
		switch p.data[i] {
		case '\\':
			i++
		case '\n':
			return "", p.fail("a text has no end")
		case '"':
			raw := p.data[p.at : i+1]
			var s string
			if !utf8.Valid(raw) {
				return "", p.fail("a text is not valid UTF-8")
			}
			if err := json.Unmarshal(raw, &s); err != nil {
				return "", p.fail("a text is not valid JSON")
			}
			p.at = i + 1
			return s, nil
		}
	}
	return "", p.fail("a text has no end")
}

// word reads a number, true, false or null.
func (p *parser) word(n *node) error {
	end := p.at
	for end < len(p.data) && !strings.ContainsRune(" \t\r\n,]}:/\"{[", rune(p.data[end])) {
		end++
	}
	raw := p.data[p.at:end]
	switch s := string(raw); {
	case s == "true", s == "false":
		n.kind, n.yes = 't', s == "true"
	case s == "null":
		n.kind = 'n'
	case len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') && json.Valid(raw):
		n.kind, n.text = 'd', s
	default:
		if len(raw) == 0 {
			raw = p.data[p.at : p.at+1]
		}
		return p.fail("%s is not a JSON value", quote(string(raw)))
	}
	p.at = end
	return nil
}
