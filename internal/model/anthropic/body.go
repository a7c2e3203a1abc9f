package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// body writes a request. The SDK writes each block, each message and the whole
// one after the other and checks all of it every time, which takes most of the
// time of a long conversation; here usual blocks are written once, with the bytes
// that the SDK would write, and all else is left to it.
func body(p sdk.MessageNewParams) ([]byte, error) {
	messages := p.Messages
	p.Messages = nil
	rest, err := p.MarshalJSON()
	if err != nil {
		return nil, err
	}
	at := bytes.Index(rest, []byte(`,"model":`)) // where the SDK has the messages
	if at < 0 {
		return nil, errors.New("anthropic: the request has no model")
	}
	out := make([]byte, 0, len(rest)+sizeOf(messages))
	out = append(append(out, rest[:at]...), `,"messages":[`...)
	for i := range messages {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendMessage(out, &messages[i]); err != nil {
			return nil, err
		}
	}
	return append(append(out, ']'), rest[at:]...), nil
}

// sizeOf guesses how long messages become.
func sizeOf(messages []sdk.MessageParam) int {
	n := 64
	add := func(text string) { n += len(text) + len(text)/16 + 64 }
	for i := range messages {
		n += 64
		for _, b := range messages[i].Content {
			switch {
			case b.OfText != nil:
				add(b.OfText.Text)
			case b.OfToolUse != nil:
				n += 256
			case b.OfToolResult != nil:
				n += 64
				for _, c := range b.OfToolResult.Content {
					if c.OfText != nil {
						add(c.OfText.Text)
					}
				}
			}
		}
	}
	return n
}

func appendMessage(dst []byte, m *sdk.MessageParam) ([]byte, error) {
	dst = append(dst, `{"content":[`...)
	var err error
	for i := range m.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendBlock(dst, &m.Content[i]); err != nil {
			return nil, err
		}
	}
	dst = append(dst, `],"role":`...)
	return append(appendString(dst, string(m.Role)), '}'), nil
}

func appendBlock(dst []byte, b *sdk.ContentBlockParamUnion) ([]byte, error) {
	plain := b.GetCacheControl() == nil || b.GetCacheControl().Type == ""
	switch {
	case plain && b.OfText != nil && b.OfText.Citations == nil:
		return appendText(dst, b.OfText.Text), nil
	case plain && b.OfToolUse != nil:
		input, ok := b.OfToolUse.Input.(json.RawMessage)
		if !ok || !json.Valid(input) {
			break
		}
		dst = appendString(append(dst, `{"id":`...), b.OfToolUse.ID)
		dst = append(dst, `,"input":`...)
		buf := bytes.NewBuffer(dst)
		var tidy bytes.Buffer
		if err := json.Compact(&tidy, input); err != nil {
			return nil, err
		}
		json.HTMLEscape(buf, tidy.Bytes())
		dst = appendString(append(buf.Bytes(), `,"name":`...), b.OfToolUse.Name)
		return append(dst, `,"type":"tool_use"}`...), nil
	case plain && b.OfToolResult != nil && onlyTexts(b.OfToolResult.Content):
		dst = appendString(append(dst, `{"tool_use_id":`...), b.OfToolResult.ToolUseID)
		if b.OfToolResult.IsError.Valid() {
			dst = strconv.AppendBool(append(dst, `,"is_error":`...), b.OfToolResult.IsError.Value)
		}
		if len(b.OfToolResult.Content) > 0 {
			dst = append(dst, `,"content":[`...)
			for i, c := range b.OfToolResult.Content {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = appendText(dst, c.OfText.Text)
			}
			dst = append(dst, ']')
		}
		return append(dst, `,"type":"tool_result"}`...), nil
	}
	raw, err := b.MarshalJSON()
	return append(dst, raw...), err
}

// onlyTexts says whether a result consists of texts that carry nothing else.
func onlyTexts(content []sdk.ToolResultBlockParamContentUnion) bool {
	for _, c := range content {
		if c.OfText == nil || c.OfText.Citations != nil || c.OfText.CacheControl.Type != "" {
			return false
		}
	}
	return true
}

func appendText(dst []byte, text string) []byte {
	return append(appendString(append(dst, `{"text":`...), text), `,"type":"text"}`...)
}

// appendString writes a JSON string as encoding/json does by default.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		var r rune
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			if (r != utf8.RuneError || size > 1) && r != '\u2028' && r != '\u2029' {
				i += size
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c < utf8.RuneSelf:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case r == utf8.RuneError:
			dst = append(dst, `\ufffd`...)
		default:
			dst = append(dst, `\u202`...)
			dst = append(dst, hex[r&15])
		}
		i += size
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
