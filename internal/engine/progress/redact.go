package progress

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"scorel/protocol/jsonscan"
)

// Bounds of a payload. What is beyond is left out.
const (
	maxKeys         = 32
	maxKey          = 100 // characters of a key
	maxPayloadText  = 500 // characters of a value; longer ones are cut and end with "..."
	maxPayload      = 16 << 10
	maxPayloadInput = 256 << 10 // bytes; a larger one is not looked at
	maxDistinct     = 64        // fields among which a repeated one is looked for
)

// field is one entry of a payload. Value is JSON.
type field struct {
	key   string
	value json.RawMessage
}

// Redact returns an object with the scalars of payload: values of keys that look like
// secrets become "[redacted]", long strings are cut, and values that are objects or
// lists become "[object]". What is not an object, or an empty one, gives nil.
func Redact(payload json.RawMessage) json.RawMessage {
	if len(payload) == 0 || len(payload) > maxPayloadInput {
		return nil
	}
	fields, ok := object(payload)
	if !ok {
		return nil
	}
	return join(redacted(fields))
}

// redacted cuts fields down.
func redacted(fields []field) []field {
	out := make([]field, 0, min(len(fields), maxKeys))
	size := 0
	for _, f := range fields {
		if len(out) == maxKeys {
			break
		}
		g := field{key: cut(f.key, maxKey), value: scalar(f.key, f.value)}
		if size += len(g.key) + len(g.value) + 4; size > maxPayload {
			break
		}
		out = append(out, g)
	}
	return out
}

// scalar returns a value of a payload as it may be shown.
func scalar(key string, value json.RawMessage) json.RawMessage {
	if secret(key) {
		return json.RawMessage(`"[redacted]"`)
	}
	switch value[0] {
	case '"':
		s, _ := text(value)
		if len(s) <= maxPayloadText && utf8.Valid(value) {
			return value
		}
		return quote(cut(s, maxPayloadText))
	case '{', '[':
		return json.RawMessage(`"[object]"`)
	case 't', 'f', 'n':
		return value
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil { // larger than any number that a client could read
		return json.RawMessage("null")
	}
	if len(value) > 32 {
		return json.RawMessage(strconv.FormatFloat(n, 'g', -1, 64))
	}
	return value
}

// secret reports whether a key names what nobody should see.
func secret(key string) bool {
	key = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(key))
	for _, word := range [...]string{"apikey", "token", "password", "passwd", "passphrase", "secret", "authorization", "credential", "privatekey"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

// object returns the fields of a JSON object in their order, of repeated ones the
// last; false for anything else. Their values are parts of data.
func object(data []byte) ([]field, bool) {
	if !json.Valid(data) || !jsonscan.IsObject(data) {
		return nil, false
	}
	var fields []field
	jsonscan.Fields(data, func(name, value []byte) {
		key := string(name)
		if len(fields) <= maxDistinct {
			if i := slices.IndexFunc(fields, func(f field) bool { return f.key == key }); i >= 0 {
				fields[i].value = value
				return
			}
		}
		fields = append(fields, field{key, value})
	})
	return fields, true
}

// join makes an object of fields, nil of none.
func join(fields []field) json.RawMessage {
	if len(fields) == 0 {
		return nil
	}
	out := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, quote(f.key)...)
		out = append(out, ':')
		out = append(out, f.value...)
	}
	return append(out, '}')
}

// with returns a payload in which a number stands besides.
func with(payload json.RawMessage, key string, n int64) json.RawMessage {
	fields, _ := object(payload)
	fields = slices.DeleteFunc(fields, func(f field) bool { return f.key == key })
	return join(append(fields, field{key, strconv.AppendInt(nil, n, 10)}))
}

func quote(s string) json.RawMessage {
	q, _ := json.Marshal(s) // a string can always be written
	return q
}
