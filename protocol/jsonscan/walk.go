package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// ErrSyntax is the failure of what is not JSON.
var ErrSyntax = errors.New("the JSON object is malformed")

var (
	errNotObject = errors.New("the line is not a JSON object")
	errTruncated = errors.New("the JSON object does not end")
	errTrailing  = errors.New("there are bytes after the JSON object")
)

// Members goes over the members of one JSON object. The zero value is of no use.
type Members struct {
	// Key of the member, without quotes and with its escapes, and its value as it is written.
	// Both are slices of the data.
	Key, Value []byte
	// At is where in the data the value begins.
	At int

	data []byte
	name int // where the key begins, with its quote
	next int // where the next member begins; -1 after the last
	err  error
}

// NewMembers returns the members of the object in data, before the first.
func NewMembers(data []byte) Members {
	i := Space(data, 0)
	if i >= len(data) || data[i] != '{' {
		return Members{err: errNotObject}
	}
	m := Members{data: data, next: Space(data, i+1)}
	if i = m.next; i < len(data) && data[i] == '}' {
		m.end(i + 1)
	}
	return m
}

// Next goes to the next member, and returns false after the last one and at an error.
func (m *Members) Next() bool {
	data, i := m.data, m.next
	if m.err != nil || i < 0 {
		return false
	}
	if i >= len(data) {
		return m.fail(errTruncated)
	}
	if data[i] != '"' {
		return m.fail(ErrSyntax)
	}
	end, err := String(data, i)
	if err != nil {
		return m.fail(err)
	}
	m.name, m.Key = i, data[i+1:end-1]
	if i = Space(data, end); i >= len(data) {
		return m.fail(errTruncated)
	}
	if data[i] != ':' {
		return m.fail(ErrSyntax)
	}
	m.At = Space(data, i+1)
	if end, err = Value(data, m.At); err != nil {
		return m.fail(err)
	}
	m.Value = data[m.At:end]
	if i = Space(data, end); i >= len(data) {
		return m.last(errTruncated)
	}
	switch data[i] {
	case ',':
		m.next = Space(data, i+1)
	case '}':
		m.end(i + 1)
	default:
		return m.last(ErrSyntax)
	}
	return true
}

// Name returns the key with its escapes resolved.
func (m *Members) Name() ([]byte, error) {
	return Text(m.data[m.name : m.name+len(m.Key)+2])
}

// Err returns why the members ended: nil when data is one object and nothing else.
func (m *Members) Err() error { return m.err }

func (m *Members) fail(err error) bool {
	m.err = err
	return false
}

// last notes an error that comes after the present member.
func (m *Members) last(err error) bool {
	m.err = err
	return true
}

// end notes that the object ends before i.
func (m *Members) end(i int) {
	m.next = -1
	if Space(m.data, i) != len(m.data) {
		m.err = errTrailing
	}
}

// Space returns the index of the first byte from i on that is not white space.
func Space(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n') {
		i++
	}
	return i
}

// String returns the index after the closing quote of the string that
// opens at i.
func String(data []byte, i int) (int, error) {
	// Most strings are short: look at the first bytes without a call.
	j := i + 1
	for short := min(len(data), j+24); j < short && data[j] != '\\'; j++ {
		if data[j] == '"' {
			return j + 1, nil
		}
	}
	for {
		n := bytes.IndexByte(data[j:], '"')
		if n < 0 {
			return 0, errTruncated
		}
		j += n
		back := j
		for back > i+1 && data[back-1] == '\\' {
			back--
		}
		if (j-back)%2 == 0 {
			return j + 1, nil
		}
		j++
	}
}

// Value returns the index after the value that begins at i.
func Value(data []byte, i int) (int, error) {
	if i >= len(data) {
		return 0, errTruncated
	}
	switch data[i] {
	case '"':
		return String(data, i)
	case '{', '[':
		return nested(data, i)
	}
	j := i
	for j < len(data) {
		switch c := data[j]; {
		case c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n':
			if j == i {
				return 0, ErrSyntax
			}
			return j, nil
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			j++
		default:
			return 0, ErrSyntax
		}
	}
	return 0, errTruncated
}

// MaxDepth is the deepest JSON that is read, in objects and arrays within each other.
// encoding/json gives up at 10,000; nothing that Scorel writes comes near this.
const MaxDepth = 1000

func nested(data []byte, i int) (int, error) {
	var kinds [MaxDepth / 64]uint64 // one bit a level: set for an object
	depth := 0
	for j := i; j < len(data); {
		switch c := data[j]; c {
		case '"':
			end, err := String(data, j)
			if err != nil {
				return 0, err
			}
			j = end
			continue
		case '{', '[':
			if depth >= len(kinds)*64 {
				return 0, fmt.Errorf("the JSON is nested deeper than %d levels", len(kinds)*64)
			}
			if c == '{' {
				kinds[depth/64] |= 1 << (depth % 64)
			} else {
				kinds[depth/64] &^= 1 << (depth % 64)
			}
			depth++
		case '}', ']':
			depth--
			if object := kinds[depth/64]&(1<<(depth%64)) != 0; object != (c == '}') {
				return 0, ErrSyntax
			}
			if depth == 0 {
				return j + 1, nil
			}
		}
		j++
	}
	return 0, errTruncated
}

// Fields calls do with the members of a JSON object, which is valid, in their order; escapes
// in keys are resolved.
func Fields(data []byte, do func(key, value []byte)) {
	for m := NewMembers(data); m.Next(); {
		if name, err := m.Name(); err == nil {
			do(name, m.Value)
		}
	}
}

// Elements calls do with the values of a JSON array, which is valid, in their order.
func Elements(data []byte, do func(value []byte)) {
	i := Space(data, 0)
	if i >= len(data) || data[i] != '[' {
		return
	}
	for i = Space(data, i+1); i < len(data) && data[i] != ']'; i = Space(data, i+1) {
		end, err := Value(data, i)
		if err != nil {
			return
		}
		do(data[i:end])
		if i = Space(data, end); i >= len(data) || data[i] != ',' {
			return
		}
	}
}

// IsObject reports whether valid JSON is an object.
func IsObject(data []byte) bool {
	i := Space(data, 0)
	return i < len(data) && data[i] == '{'
}

// Digits reads a decimal number that fits 64 bits.
func Digits(value []byte) (uint64, bool) {
	if len(value) == 0 || len(value) > 20 || len(value) > 1 && value[0] == '0' {
		return 0, false
	}
	if len(value) == 20 {
		n, err := strconv.ParseUint(string(value), 10, 64)
		return n, err == nil
	}
	var n uint64
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

// Text returns the content of a JSON string, or of null (which is empty), as
// a slice of value where it holds no escapes.
func Text(value []byte) ([]byte, error) {
	if string(value) == "null" {
		return nil, nil
	}
	if len(value) < 2 || value[0] != '"' {
		return nil, fmt.Errorf("%s is not a string", clip(value))
	}
	inner := value[1 : len(value)-1]
	for _, c := range inner {
		if c == '\\' || c < 0x20 || c >= 0x80 {
			s, err := Unquote(value)
			return []byte(s), err
		}
	}
	return inner, nil
}

// Unquote returns the content of a JSON string.
func Unquote(value []byte) (string, error) {
	inner := value[1 : len(value)-1]
	plain := true
	for _, c := range inner {
		if c == '\\' || c < 0x20 || c >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		return string(inner), nil
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err
}

// clip shortens what is in an error.
func clip(value []byte) string {
	if len(value) > 64 {
		return string(value[:64]) + "…"
	}
	return string(value)
}

// Deeper reports whether JSON has more than so many objects and arrays within each other.
func Deeper(data []byte, levels int) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			end, err := String(data, i)
			if err != nil {
				return false
			}
			i = end - 1
		case '{', '[':
			if depth++; depth > levels {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}
