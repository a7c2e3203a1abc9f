package protocol

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// What an event names as payload is declared here, once, for all that carries
// payloads, keeps, checks or gives them out. Each type of event says it with its
// payloads method. A field that names one is called blob, or ends with Blob, and in
// JSON that Scorel or an extension writes freely (details, data) a member does: tests
// hold that no such field is forgotten.

// IsPayload reports whether s is the name of a payload: the lower-case hex SHA-256 of its
// bytes.
func IsPayload(s string) bool {
	if len(s) != payloadName {
		return false
	}
	for i := range len(s) {
		if !isHexDigit(s[i]) {
			return false
		}
	}
	return true
}

// PayloadsMentioned gives every name of a payload that is in some bytes, whatever they
// are: for what is damaged, of which more is better kept.
func PayloadsMentioned(data []byte) []string {
	var n named
	start := 0 // of the hex digits that end here
	for i := 0; i <= len(data); i++ {
		if i < len(data) && isHexDigit(data[i]) {
			continue
		}
		if i-start == payloadName {
			n.add(string(data[start:i]))
		}
		start = i + 1
	}
	return n.list
}

// payloadName is the length of the name of a payload, in characters.
const payloadName = 64

func isHexDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// Payloads returns the payloads that the event names, each once, in their order. What a
// model, a vendor or a channel has written names none. An event of an unknown type
// names what its members called blob, or ending with Blob, name.
func (e Event) Payloads() []string {
	var n named
	if u, ok := e.Body.(*Unknown); ok && u != nil {
		n.open(e.raw)
	} else if e.Body != nil {
		e.Body.payloads(&n)
	}
	return n.list
}

// named collects payloads.
type named struct {
	list []string
	seen map[string]bool // nil until there are many; bounded by what a line holds
}

// maxNamedSlice is how many payloads are looked through one by one.
const maxNamedSlice = 16

// add takes one that is the name of a payload and not there yet.
func (n *named) add(sha256 string) {
	switch {
	case !IsPayload(sha256):
		return
	case n.seen == nil && slices.Contains(n.list, sha256), n.seen[sha256]:
		return
	}
	sha256 = strings.Clone(sha256) // it may be part of a line
	n.list = append(n.list, sha256)
	if n.seen == nil && len(n.list) > maxNamedSlice {
		n.seen = map[string]bool{}
		for _, s := range n.list {
			n.seen[s] = true
		}
	} else if n.seen != nil {
		n.seen[sha256] = true
	}
}

func (n *named) blocks(content []Block) {
	for i := range content {
		n.add(content[i].Blob)
		n.open(content[i].unknown)
	}
}

func (n *named) message(m *Message) {
	n.blocks(m.Content)
	n.open(m.Details)
}

// open looks through JSON whose shape is not known here.
func (n *named) open(raw json.RawMessage) {
	if !bytes.Contains(raw, []byte(`lob"`)) {
		return
	}
	var v any
	if json.Unmarshal(raw, &v) == nil {
		n.value(v)
	}
}

func (n *named) value(v any) {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			n.value(each)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if s, ok := v[key].(string); ok && namesPayload(key) {
				n.add(s)
			} else {
				n.value(v[key])
			}
		}
	}
}

// namesPayload reports whether a member of that name names a payload.
func namesPayload(key string) bool { return key == "blob" || strings.HasSuffix(key, "Blob") }

func (b *MessageBody) payloads(n *named) { n.message(&b.Message) }
func (b *CustomMessage) payloads(n *named) {
	n.message(&b.Message)
	n.open(b.Data)
}
func (b *HarnessItem) payloads(n *named) { n.open(b.Item.Data) }
func (b *Custom) payloads(n *named)      { n.open(b.Data) }
func (b *QueueUpdate) payloads(n *named) {
	for i := range b.Items {
		n.blocks(b.Items[i].Content)
	}
}
func (b *FileSnapshot) payloads(n *named) { n.add(b.Blob) }
func (*Unknown) payloads(*named)          {} // see Event.Payloads: its line says it
