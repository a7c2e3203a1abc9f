package protocol

import (
	"bytes"
	"encoding/json"
)

func (b *MessageBody) searchTexts() []string   { return b.Message.searchTexts() }
func (b *CustomMessage) searchTexts() []string { return b.Message.searchTexts() }

func (b *HarnessItem) searchTexts() []string {
	if b.Item.Visibility == VisibilityHidden {
		return nil
	}
	return []string{b.Item.Content}
}

func (m *Message) searchTexts() []string {
	var out []string
	for _, b := range m.Content {
		switch b.Type {
		case BlockText:
			out = append(out, b.Text)
		case BlockThinking:
			out = append(out, b.Thinking)
		case BlockFile:
			out = append(out, b.Name)
		case BlockToolUse:
			out = append(out, stringsOf(b.Input)...)
		}
	}
	if m.ErrorMessage != "" {
		out = append(out, m.ErrorMessage)
	}
	return out
}

// stringsOf returns the strings of a JSON value that are not keys, in order.
func stringsOf(raw json.RawMessage) []string {
	var out []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	type level struct{ object, value bool } // value: what comes next is no key
	var stack []level
	for {
		tok, err := dec.Token()
		if err != nil {
			return out
		}
		top := len(stack) - 1
		key := top >= 0 && stack[top].object && !stack[top].value
		if top >= 0 && stack[top].object {
			stack[top].value = key // after a key comes a value, after that a key
		}
		switch v := tok.(type) {
		case json.Delim:
			switch v {
			case '{', '[':
				stack = append(stack, level{object: v == '{'})
			default:
				stack = stack[:top]
			}
		case string:
			if !key {
				out = append(out, v)
			}
		}
	}
}
