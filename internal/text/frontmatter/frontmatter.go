package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Bounds of the block of fields.
const (
	MaxBlock = 64 << 10 // bytes
	MaxNodes = 4_000    // keys and values
	MaxDepth = 32       // lists and maps in each other
)

// Error is what is wrong with a file. Line counts from 1.
type Error struct {
	Line    int
	Problem string // a sentence without its full stop
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Problem) }

// At returns err as a sentence that begins with the name of the file and, for an
// [Error], the line: "agents/a.md:3: …".
func At(name string, err error) string {
	var e *Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s:%d: %s", name, e.Line, e.Problem)
	}
	return fmt.Sprintf("%s: %v", name, err)
}

// Document is a file.
type Document struct {
	Fields []Field // in the order of the file; none without a block
	Body   string  // what follows the block; all of a file without one
	// BodyLine is the line on which the body begins, from 1.
	BodyLine int
}

// Field is one field.
type Field struct {
	Name  string
	Line  int // of its name, from 1
	Value Value
}

// Field returns a field by its name.
func (d *Document) Field(name string) (Field, bool) {
	for _, f := range d.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Parse reads a file. A file that does not begin with a line of three dashes has no
// fields. The error is an [Error].
func Parse(data []byte) (*Document, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bad := invalidLine(data); bad > 0 {
		return nil, &Error{bad, "it is not text in UTF-8"}
	}
	block, body, bodyLine, err := split(data)
	if err != nil {
		return nil, err
	}
	d := &Document{Body: strings.ReplaceAll(string(body), "\r\n", "\n"), BodyLine: bodyLine}
	if len(bytes.TrimSpace(block)) == 0 {
		return d, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(block, &doc); err != nil {
		return nil, explain(err)
	}
	if len(doc.Content) == 0 {
		return d, nil // only comments
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, &Error{root.Line + 1, `the fields have the form "name: value"`}
	}
	nodes := 0
	if err := check(root, 0, &nodes); err != nil {
		return nil, err
	}
	for i := 0; i < len(root.Content); i += 2 {
		key := root.Content[i]
		d.Fields = append(d.Fields, Field{Name: key.Value, Line: key.Line + 1, Value: Value{key.Value, root.Content[i+1]}})
	}
	return d, nil
}

// invalidLine returns the first line that is not UTF-8, 0 when all are.
func invalidLine(data []byte) int {
	if utf8.Valid(data) {
		return 0
	}
	line := 1
	for l := range bytes.Lines(data) {
		if !utf8.Valid(l) {
			break
		}
		line++
	}
	return line
}

// split cuts the block of fields from what follows it.
func split(data []byte) (block, body []byte, bodyLine int, err error) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, data, 1, nil
	}
	at, line := 0, 1
	for l := range bytes.Lines(rest) {
		line++
		if string(bytes.TrimRight(l, " \t\r\n")) == "---" {
			return rest[:at], rest[at+len(l):], line + 1, nil
		}
		if at += len(l); at > MaxBlock {
			return nil, nil, 0, &Error{line, fmt.Sprintf("the fields take more than %d KiB; the line --- ends them", MaxBlock>>10)}
		}
	}
	return nil, nil, 0, &Error{1, "the fields do not end; put a line --- behind them"}
}

// check refuses what the fields of a file do not need, and too much.
func check(n *yaml.Node, depth int, nodes *int) error {
	*nodes++
	switch {
	case *nodes > MaxNodes:
		return &Error{n.Line + 1, fmt.Sprintf("there are more than %d keys and values", MaxNodes)}
	case depth > MaxDepth:
		return &Error{n.Line + 1, fmt.Sprintf("lists and maps stand in each other more than %d deep", MaxDepth)}
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return &Error{n.Line + 1, "a value that begins with & or * must stand in quotes"}
	case n.Style&yaml.TaggedStyle != 0:
		return &Error{n.Line + 1, "a value that begins with ! must stand in quotes"}
	}
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			switch {
			case key.Kind != yaml.ScalarNode:
				return &Error{key.Line + 1, "a name must be a word"}
			case key.ShortTag() == "!!merge":
				return &Error{key.Line + 1, "<< is not supported"}
			case seen[key.Value]:
				return &Error{key.Line + 1, fmt.Sprintf("%s stands there twice", key.Value)}
			}
			seen[key.Value] = true
		}
	}
	for _, c := range n.Content {
		if err := check(c, depth+1, nodes); err != nil {
			return err
		}
	}
	return nil
}

// explain makes an [Error] of what the YAML parser says.
func explain(err error) error {
	line, text := 0, strings.TrimPrefix(err.Error(), "yaml: ")
	var p *yaml.ParserError
	if errors.As(err, &p) {
		line, text = p.Line, p.Message
	} else if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, said, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, text = n, said
			}
		}
	}
	switch {
	case strings.Contains(text, "mapping values are not allowed"):
		text = `a value with ": " in it must stand in quotes`
	case strings.Contains(text, "cannot start any token") && strings.Contains(text, `\t`):
		text = "use spaces, not tabs, in front of a field"
	}
	return &Error{max(line, 1) + 1, strings.TrimRight(text, ".")}
}
