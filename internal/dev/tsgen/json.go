package main

import (
	"bytes"
	"encoding/json"
)

// members are a JSON object whose members are written in their order.
type members []member

type member struct {
	key   string
	value any
}

// with returns the object with one more member.
func (o members) with(key string, value any) members { return append(o, member{key, value}) }

// and returns the object with a member when its value is not empty.
func (o members) and(key, value string) members {
	if value == "" {
		return o
	}
	return o.with(key, value)
}

// MarshalJSON writes the members.
func (o members) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := plain(m.key)
		if err != nil {
			return nil, err
		}
		value, err := plain(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}

// plain writes JSON in which < and > stay what they are.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// document writes a JSON document for people to read.
func document(v any) ([]byte, error) {
	line, err := plain(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
