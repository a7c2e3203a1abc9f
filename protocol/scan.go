package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// The hand scanner walks the top level of one JSON object without decoding the
// values. It checks structure (balanced brackets, closed strings), not every
// rule of JSON: a line is validated in full when it is first decoded.

var (
	errNotObject = errors.New("the line is not a JSON object")
	errTruncated = errors.New("the JSON object does not end")
	errTrailing  = errors.New("there are bytes behind the JSON object")
	errSyntax    = errors.New("the JSON object is malformed")
)

// scanObject calls f with each key (without quotes, escapes untouched) and the
// raw value of the object in data, until f returns false.
func scanObject(data []byte, f func(key, value []byte) bool) error {
	i := skipSpace(data, 0)
	if i >= len(data) || data[i] != '{' {
		return errNotObject
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return scanRest(data, i+1)
	}
	for {
		if i >= len(data) {
			return errTruncated
		}
		if data[i] != '"' {
			return errSyntax
		}
		end, err := skipString(data, i)
		if err != nil {
			return err
		}
		key := data[i+1 : end-1]
		i = skipSpace(data, end)
		if i >= len(data) {
			return errTruncated
		}
		if data[i] != ':' {
			return errSyntax
		}
		start := skipSpace(data, i+1)
		end, err = skipValue(data, start)
		if err != nil {
			return err
		}
		if !f(key, data[start:end]) {
			return nil
		}
		i = skipSpace(data, end)
		if i >= len(data) {
			return errTruncated
		}
		switch data[i] {
		case ',':
			i = skipSpace(data, i+1)
		case '}':
			return scanRest(data, i+1)
		default:
			return errSyntax
		}
	}
}

func scanRest(data []byte, i int) error {
	if skipSpace(data, i) != len(data) {
		return errTrailing
	}
	return nil
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the index behind the closing quote of the string that
// opens at i.
func skipString(data []byte, i int) (int, error) {
	for j := i + 1; ; {
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

// skipValue returns the index behind the value that begins at i.
func skipValue(data []byte, i int) (int, error) {
	if i >= len(data) {
		return 0, errTruncated
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		return skipNested(data, i)
	}
	j := i
	for j < len(data) {
		switch c := data[j]; {
		case c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n':
			if j == i {
				return 0, errSyntax
			}
			return j, nil
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			j++
		default:
			return 0, errSyntax
		}
	}
	return 0, errTruncated
}

// maxNesting is the deepest JSON that an event may hold. encoding/json gives up
// at 10,000; nothing that Scorel writes comes near this.
const maxNesting = 1000

func skipNested(data []byte, i int) (int, error) {
	var kinds [maxNesting / 64]uint64 // one bit a level: set for an object
	depth := 0
	for j := i; j < len(data); {
		switch c := data[j]; c {
		case '"':
			end, err := skipString(data, j)
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
				return 0, errSyntax
			}
			if depth == 0 {
				return j + 1, nil
			}
		}
		j++
	}
	return 0, errTruncated
}

// ScanEnvelope reads the envelope of an event line without decoding the rest.
// It fails for a line that is not a JSON object of sound structure, has no type,
// or is persistent (has an id) without a seq. Unknown keys and any order of keys
// are accepted. The result shares no memory with line.
func ScanEnvelope(line []byte) (Envelope, error) {
	var e Envelope
	var bad error
	err := scanObject(line, func(key, value []byte) bool {
		bad = e.scanField(key, value)
		return bad == nil
	})
	switch {
	case err != nil:
		return Envelope{}, err
	case bad != nil:
		return Envelope{}, bad
	case e.Type == "":
		return Envelope{}, errors.New("the event has no type")
	case e.Seq == 0:
		return Envelope{}, errors.New("the event has no seq")
	}
	if e.ID != "" {
		if err := e.ID.Check(); err != nil {
			return Envelope{}, err
		}
	}
	return e, nil
}

func (e *Envelope) scanField(key, value []byte) error {
	switch string(key) {
	case "type":
		s, err := scanString(value)
		e.Type = internType(s)
		return err
	case "id":
		s, err := scanString(value)
		e.ID = EventID(s)
		return err
	case "parentId":
		s, err := scanString(value)
		e.ParentID = EventID(s)
		return err
	case "seq":
		n, err := strconv.ParseUint(string(value), 10, 64)
		if err != nil {
			return fmt.Errorf("seq is %s, not a number", clip(string(value)))
		}
		e.Seq = Seq(n)
	case "cause":
		c := &Cause{}
		err := scanObject(value, func(key, value []byte) bool {
			s, err := scanString(value)
			switch {
			case err != nil:
			case string(key) == "clientId":
				c.ClientID = ClientID(s)
			case string(key) == "requestId":
				c.RequestID = RequestID(s)
			}
			return true
		})
		if err != nil {
			return err
		}
		e.Cause = c
	case "control":
		e.Control = string(value) == "true"
	case "sessionId":
		s, err := scanString(value)
		e.SessionID = SessionID(s)
		return err
	case "clientId":
		s, err := scanString(value)
		if s == string(HostClient) {
			s = string(HostClient)
		}
		e.ClientID = ClientID(s)
		return err
	case "ts":
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return fmt.Errorf("ts is %s, not a number", clip(string(value)))
		}
		e.TS = n
	case "turnId":
		s, err := scanString(value)
		e.TurnID = TurnID(s)
		return err
	}
	return nil
}

// scanString decodes a JSON string or null (which gives "").
func scanString(value []byte) (string, error) {
	if string(value) == "null" {
		return "", nil
	}
	if len(value) < 2 || value[0] != '"' {
		return "", fmt.Errorf("%s is not a string", clip(string(value)))
	}
	return unquote(value)
}
