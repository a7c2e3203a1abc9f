package anthropic

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// event is an event of a stream. Most events are deltas of a few letters, for
// which the SDK's decoder takes many times as long as what is done with them: it
// looks up all fields of all kinds of events. Deltas are decoded here, all others
// and whatever has an odd form by the SDK.
type event struct {
	Type  string
	Index int64
	Delta delta
	// SDK is the event as the SDK decodes it; nil for a usual delta. It is a
	// pointer because it has more than 5 KB.
	SDK *sdk.MessageStreamEventUnion
}

// delta is what a content_block_delta adds to its block.
type delta struct {
	Type        string
	Text        string
	Thinking    string
	PartialJSON string
	Signature   string
}

// decode reads an event from its JSON.
func decode(data []byte) (*event, error) {
	e := &event{}
	if json.Valid(data) && e.usual(data) {
		return e, nil
	}
	u := &sdk.MessageStreamEventUnion{}
	if err := json.Unmarshal(data, u); err != nil {
		return nil, err
	}
	d := u.Delta
	return &event{Type: u.Type, Index: u.Index, SDK: u,
		Delta: delta{Type: d.Type, Text: d.Text, Thinking: d.Thinking, PartialJSON: d.PartialJSON, Signature: d.Signature}}, nil
}

// usual reads a delta from valid JSON, and says no of what is none or has a field of an
// odd form.
func (e *event) usual(data []byte) bool {
	var given []byte
	for key, value := range fields(data) {
		ok := true
		switch key {
		case "type":
			ok = text(value, &e.Type)
		case "index":
			var err error
			e.Index, err = strconv.ParseInt(string(value), 10, 64)
			ok = err == nil
		case "delta":
			given, ok = value, value[0] == '{'
		}
		if !ok {
			return false
		}
	}
	if e.Type != "content_block_delta" || given == nil {
		return false
	}
	for key, value := range fields(given) {
		var to *string
		switch key {
		case "type":
			to = &e.Delta.Type
		case "text":
			to = &e.Delta.Text
		case "thinking":
			to = &e.Delta.Thinking
		case "partial_json":
			to = &e.Delta.PartialJSON
		case "signature":
			to = &e.Delta.Signature
		}
		if to != nil && !text(value, to) {
			return false
		}
	}
	return true
}

// fields gives the keys of an object, as they are written, and the JSON of their
// values. The JSON must be valid.
func fields(object []byte) iter.Seq2[string, []byte] {
	const space = " \t\r\n"
	return func(yield func(string, []byte) bool) {
		rest := bytes.TrimLeft(object, space+"{")
		for len(rest) > 0 && rest[0] == '"' {
			n := length(rest)
			key := rest[1 : n-1]
			rest = bytes.TrimLeft(rest[n:], space+":")
			n = length(rest)
			if !yield(string(key), rest[:n]) {
				return
			}
			rest = bytes.TrimLeft(rest[n:], space+",")
		}
	}
}

// length says how many bytes the value has with which valid JSON begins.
func length(data []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
			continue
		case c == '{' || c == '[':
			depth++
			continue
		case c == '}' || c == ']':
			if depth--; depth < 0 { // it ends what the value stands in
				return i
			}
		case depth == 0 && bytes.IndexByte([]byte(", \t\r\n"), c) >= 0:
			return i
		default:
			continue
		}
		if depth == 0 && !quoted {
			return i + 1
		}
	}
	return len(data)
}

// text reads a text from its JSON.
func text(value []byte, to *string) bool {
	if value[0] != '"' {
		return false
	}
	if bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
		*to = string(value[1 : len(value)-1])
		return true
	}
	return json.Unmarshal(value, to) == nil
}
