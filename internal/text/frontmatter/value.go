package frontmatter

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Value is what a field holds. The errors of its methods are [Error]s that name the
// field.
type Value struct {
	name string
	node *yaml.Node
}

func (v Value) wrong(what string) error {
	return &Error{v.node.Line + 1, v.name + " must be " + what}
}

// Empty reports that nothing is after the name.
func (v Value) Empty() bool {
	return v.node.Kind == yaml.ScalarNode && v.node.ShortTag() == "!!null"
}

// Text returns a single value as it is written, without quotes: numbers and yes and
// no are texts too. Nothing is "".
func (v Value) Text() (string, error) {
	if v.Empty() {
		return "", nil
	}
	if v.node.Kind != yaml.ScalarNode {
		return "", v.wrong("one text")
	}
	return strings.TrimSpace(v.node.Value), nil
}

// List returns a list of texts, written as a list of YAML or as words between commas.
// Empty ones are left out. Commas inside of round brackets separate nothing, so that
// permission rules stay whole.
func (v Value) List() ([]string, error) {
	if v.node.Kind != yaml.SequenceNode {
		text, err := v.Text()
		if err != nil {
			return nil, v.wrong("a list of texts")
		}
		return commas(text), nil
	}
	var out []string
	for _, n := range v.node.Content {
		text, err := (Value{v.name, n}).Text()
		if err != nil {
			return nil, &Error{n.Line + 1, v.name + " must be a list of texts"}
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out, nil
}

func commas(text string) []string {
	var out []string
	deep, from := 0, 0
	put := func(word string) {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	for i := range len(text) {
		switch text[i] {
		case '(':
			deep++
		case ')':
			deep = max(0, deep-1)
		case ',':
			if deep == 0 {
				put(text[from:i])
				from = i + 1
			}
		}
	}
	put(text[from:])
	return out
}

// Int returns a whole number from low to high.
func (v Value) Int(low, high int) (int, error) {
	text, err := v.Text()
	n, convErr := strconv.Atoi(text)
	if err != nil || convErr != nil || n < low || n > high {
		return 0, v.wrong(fmt.Sprintf("a whole number from %d to %d", low, high))
	}
	return n, nil
}

// Bool returns true or false.
func (v Value) Bool() (bool, error) {
	text, err := v.Text()
	switch {
	case err == nil && text == "true":
		return true, nil
	case err == nil && text == "false":
		return false, nil
	}
	return false, v.wrong("true or false")
}

// JSON returns any value as JSON, with the keys of maps in the order of the file:
// numbers, true, false and null as such where they are without quotes.
func (v Value) JSON() (json.RawMessage, error) {
	return v.json(nil, v.node)
}

func (v Value) json(out []byte, n *yaml.Node) ([]byte, error) {
	switch n.Kind {
	case yaml.MappingNode:
		out = append(out, '{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				out = append(out, ',')
			}
			key, err := json.Marshal(n.Content[i].Value)
			if err != nil {
				return nil, v.wrong("a value that JSON knows")
			}
			if out, err = v.json(append(append(out, key...), ':'), n.Content[i+1]); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case yaml.SequenceNode:
		out = append(out, '[')
		for i, c := range n.Content {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = v.json(out, c); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	}
	var value any = n.Value
	switch n.ShortTag() {
	case "!!null", "!!bool", "!!int", "!!float":
		if err := n.Decode(&value); err != nil {
			return nil, &Error{n.Line + 1, fmt.Sprintf("%s: %q cannot be read", v.name, n.Value)}
		}
	}
	data, err := json.Marshal(value)
	if err != nil { // .inf and .nan
		return nil, &Error{n.Line + 1, fmt.Sprintf("%s: JSON knows no %s", v.name, n.Value)}
	}
	return append(out, data...), nil
}
