package protocol

import "scorel/protocol/jsonscan"

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

// stringsOf returns the strings of a JSON value, at any depth, that are not keys, in order.
func stringsOf(value []byte) (all []string) {
	switch i := jsonscan.Space(value, 0); {
	case i == len(value):
	case value[i] == '"':
		if s, err := jsonscan.Text(value[i:]); err == nil {
			all = append(all, string(s))
		}
	case value[i] == '[':
		jsonscan.Elements(value, func(v []byte) { all = append(all, stringsOf(v)...) })
	case value[i] == '{':
		for m := jsonscan.NewMembers(value); m.Next(); {
			all = append(all, stringsOf(m.Value)...)
		}
	}
	return all
}
