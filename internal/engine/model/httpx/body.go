package httpx

import (
	"encoding/base64"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Body is a JSON document, written from its beginning to its end into one buffer, so
// that a conversation of many megabytes is in memory once and not as a tree beside.
// Commas come by themselves. That what is opened is closed is up to the caller. A Body
// is not safe for concurrent use.
type Body struct {
	out []byte
	// escape: '<', '>' and '&' are written as escapes, also inside raw JSON.
	escape bool
}

// Room for what stands around texts, in bytes.
const (
	roomRequest = 1 << 10
	roomMessage = 64
	roomBlock   = 192
)

// NewBody begins the body of a request. There is room in it for the request's system
// prompt and tools and for the messages, which are those of [model.Fit], but not for
// images and files. With escape the characters '<', '>' and '&' are written as escapes.
func NewBody(req model.Request, messages []protocol.Message, escape bool) *Body {
	b := &Body{escape: escape}
	n := roomRequest + b.room(req.System)
	for _, t := range req.Tools {
		n += roomBlock + len(t.Name) + b.room(t.Description) + roomJSON(t.Schema)
	}
	for _, m := range messages {
		n += roomMessage
		for _, c := range m.Content {
			n += roomBlock + b.room(c.Text) + b.room(c.Thinking) + len(c.Signature) + roomJSON(c.Input)
			if c.Provider != nil {
				n += roomJSON(c.Provider.Data)
			}
		}
	}
	b.out = make([]byte, 0, n)
	return b
}

// room is how long a text becomes. What is rare in texts is not looked at.
func (b *Body) room(text string) int {
	n := len(text) + strings.Count(text, `"`) + strings.Count(text, `\`) + strings.Count(text, "\n") + strings.Count(text, "\t")
	if b.escape {
		n += (len(`\u0000`) - 1) * (strings.Count(text, "<") + strings.Count(text, ">") + strings.Count(text, "&"))
	}
	return n
}

// roomJSON is how long JSON becomes, also as a text.
func roomJSON(raw []byte) int { return len(raw) + len(raw)/4 }

// Bytes is what was written so far.
func (b *Body) Bytes() []byte { return b.out }

// Object opens an object.
func (b *Body) Object() { b.out = append(b.next(), '{') }

// EndObject closes it.
func (b *Body) EndObject() { b.out = append(b.out, '}') }

// List opens a list.
func (b *Body) List() { b.out = append(b.next(), '[') }

// EndList closes it.
func (b *Body) EndList() { b.out = append(b.out, ']') }

// Key begins a member of an object. Its value comes next. The name must need no escapes.
func (b *Body) Key(name string) {
	b.out = append(append(append(b.next(), '"'), name...), '"', ':')
}

// Field writes a member that is a text.
func (b *Body) Field(name, text string) {
	b.Key(name)
	b.Text(text)
}

// FieldIf writes a member that is a text, unless it is empty.
func (b *Body) FieldIf(name, text string) {
	if text != "" {
		b.Field(name, text)
	}
}

// Text writes a string. What is not UTF-8 in it becomes U+FFFD.
func (b *Body) Text(text string) {
	b.OpenText()
	b.AddText(text)
	b.CloseText()
}

// Lines writes texts as one string, each a line or more.
func (b *Body) Lines(texts []string) {
	b.OpenText()
	for i, t := range texts {
		if i > 0 {
			b.AddText("\n")
		}
		b.AddText(t)
	}
	b.CloseText()
}

// OpenText begins a string that is written in pieces, each of whole characters.
func (b *Body) OpenText() { b.out = append(b.next(), '"') }

// AddText adds a piece to the open string.
func (b *Body) AddText(text string) { b.out = appendEscaped(b.out, text, b.escape) }

// AddJSON adds valid JSON as text to the open string, without white space.
func (b *Body) AddJSON(raw []byte) {
	for piece := range compacted(raw) {
		b.out = appendEscaped(b.out, piece, b.escape)
	}
}

// AddBase64 adds data to the open string.
func (b *Body) AddBase64(data []byte) { b.out = base64.StdEncoding.AppendEncode(b.out, data) }

// CloseText ends the open string.
func (b *Body) CloseText() { b.out = append(b.out, '"') }

// Raw writes a value that is valid JSON already, without white space.
func (b *Body) Raw(raw []byte) {
	b.out = b.next()
	for piece := range compacted(raw) {
		if b.escape {
			b.out = appendHTML(b.out, piece)
		} else {
			b.out = append(b.out, piece...)
		}
	}
}

// Int writes a number.
func (b *Body) Int(n int) { b.out = strconv.AppendInt(b.next(), int64(n), 10) }

// Bool writes true or false.
func (b *Body) Bool(v bool) { b.out = strconv.AppendBool(b.next(), v) }

// next returns the buffer to append a value or key to: after a comma, unless it is the
// first of its kind.
func (b *Body) next() []byte {
	if n := len(b.out); n > 0 && !slices.Contains([]byte("{[:"), b.out[n-1]) {
		return append(b.out, ',')
	}
	return b.out
}

// compacted returns the pieces of valid JSON between white space.
func compacted(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		from, quoted := 0, false
		for i := 0; i < len(raw); i++ {
			switch c := raw[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case !quoted && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
				if from < i && !yield(raw[from:i]) {
					return
				}
				from = i + 1
			}
		}
		if from < len(raw) {
			yield(raw[from:])
		}
	}
}

const hex = "0123456789abcdef"

// appendHTML appends JSON with the escapes that encoding/json has for HTML: all that
// they stand for can only be inside strings.
func appendHTML(dst, raw []byte) []byte {
	from := 0
	for i, c := range raw {
		switch {
		case c == '<' || c == '>' || c == '&':
			dst = append(append(dst, raw[from:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			from = i + 1
		case c == 0xe2 && i+2 < len(raw) && raw[i+1] == 0x80 && raw[i+2]&^1 == 0xa8: // U+2028, U+2029
			dst = append(append(dst, raw[from:i]...), '\\', 'u', '2', '0', '2', hex[raw[i+2]&15])
			from = i + 3
		}
	}
	return append(dst, raw[from:]...)
}

// appendEscaped appends the inside of a JSON string as encoding/json writes it, with or
// without its escapes for HTML.
func appendEscaped[T string | []byte](dst []byte, s T, html bool) []byte {
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf && (!html || c != '<' && c != '>' && c != '&') {
			i++
			continue
		}
		size := 1
		var r rune
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
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
			dst = append(dst, '\\', 'u', '2', '0', '2', hex[r&15])
		}
		i += size
		from = i
	}
	return append(dst, s[from:]...)
}
