package connect

import (
	"encoding/json"
	"io"
	"slices"
	"sync"
)

// maxSchemas is how many schemas of forms are kept of a connection as the server has written
// them, each of at most [maxForm] bytes.
const maxSchemas = 8

// schemas are the last schemas of forms that a server has sent, byte for byte. The library
// of the protocol decodes them into maps, which lose the order of the fields. It may be used
// concurrently.
type schemas struct {
	mu   sync.Mutex
	kept []writtenSchema // the newest last
}

// writtenSchema is a schema as it was written, and as it is when it is written by the order
// of its names.
type writtenSchema struct {
	raw     json.RawMessage
	ordered string
}

// add keeps a schema; what is not JSON is left out.
func (s *schemas) add(raw []byte) {
	var decoded any
	if json.Unmarshal(raw, &decoded) != nil {
		return
	}
	ordered, err := json.Marshal(decoded)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) >= maxSchemas {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	s.kept = append(s.kept, writtenSchema{slices.Clone(raw), string(ordered)})
}

// asWritten returns a decoded schema as the server has written it, or with its names in
// order where that is not kept.
func (s *schemas) asWritten(decoded any) (json.RawMessage, error) {
	ordered, err := json.Marshal(decoded)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range slices.Backward(s.kept) {
		if w.ordered == string(ordered) {
			return w.raw, nil
		}
	}
	return ordered, nil
}

// schemaKey is the member that the schema of a form is in.
const schemaKey = `"requestedSchema"`

// schemaReader passes on what a server sends, and keeps the schemas of forms in it. It
// belongs to one reader.
type schemaReader struct {
	io.ReadCloser
	to *schemas

	matched int // bytes of schemaKey
	taking  bool
	raw     []byte // of the schema so far
	depth   int
	text    bool // within a string
	escaped bool
}

// Read implements [io.Reader].
func (r *schemaReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	for _, b := range p[:n] {
		if r.taking {
			r.take(b)
			continue
		}
		switch {
		case b == schemaKey[r.matched]:
			r.matched++
		case b == '"':
			r.matched = 1
		default:
			r.matched = 0
		}
		if r.matched == len(schemaKey) {
			r.matched, r.taking, r.raw, r.depth, r.text, r.escaped = 0, true, r.raw[:0], 0, false, false
		}
	}
	return n, err
}

// take takes the next byte after the key, until the object that is its value has ended.
func (r *schemaReader) take(b byte) {
	if r.depth == 0 && b != '{' {
		r.taking = b == ':' || b == ' ' || b == '\t' || b == '\r' || b == '\n'
		return
	}
	r.raw = append(r.raw, b)
	switch {
	case r.escaped:
		r.escaped = false
	case r.text:
		r.escaped, r.text = b == '\\', b != '"'
	case b == '"':
		r.text = true
	case b == '{':
		r.depth++
	case b == '}':
		r.depth--
	}
	switch {
	case len(r.raw) > maxForm:
		r.taking = false
	case r.depth == 0:
		r.taking = false
		r.to.add(r.raw)
	}
}
