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
// are accepted. Of a key that is repeated the last one counts, but of clientId the
// first: the body of some transient events has one too. Likewise the parentId of
// a transient event is its body's. The result shares no memory with line.
func ScanEnvelope(line []byte) (Envelope, error) {
	var k Keys
	return scanEnvelope(line, &k)
}

// scanEnvelope is ScanEnvelope that leaves the keys in k.
func scanEnvelope(line []byte, k *Keys) (Envelope, error) {
	if err := ScanKeys(line, k); err != nil {
		return Envelope{}, err
	}
	e := Envelope{Type: internType(k.Type), ID: EventID(k.ID), ParentID: EventID(k.ParentID), Seq: k.Seq,
		Control: k.Control, SessionID: SessionID(k.SessionID), TS: k.TS, TurnID: TurnID(k.TurnID)}
	if e.ID == "" {
		e.ParentID = ""
	}
	if string(k.ClientID) == string(HostClient) {
		e.ClientID = HostClient
	} else {
		e.ClientID = ClientID(k.ClientID)
	}
	if k.Cause == nil || string(k.Cause) == "null" {
		return e, nil
	}
	c := &Cause{}
	var bad error
	err := scanObject(k.Cause, func(key, value []byte) bool {
		switch string(key) {
		case "clientId":
			value, bad = scanString(value)
			c.ClientID = ClientID(value)
		case "requestId":
			value, bad = scanString(value)
			c.RequestID = RequestID(value)
		case "body":
			value, bad = scanString(value)
			c.Body = string(value)
		}
		return bad == nil
	})
	if err != nil {
		return Envelope{}, err
	}
	if bad != nil {
		return Envelope{}, bad
	}
	e.Cause = c
	return e, nil
}

// Keys is the envelope of a line as slices of that line (or, where a string
// holds escapes, of a decoded copy). Absent and null strings are empty. Cause is
// the raw object, and so are Message and Usage, the fields of a body in which a
// message, and the usage of a compact event, stand.
type Keys struct {
	Type, ID, ParentID, SessionID, ClientID, TurnID, Cause []byte

	Message, Usage []byte

	Seq     Seq
	Prev    Seq // with HasPrev
	TS      int64
	Control bool
	HasPrev bool

	session [2]int // where the value of the first sessionId stands in the line
}

// ScanKeys is [ScanEnvelope] without its copies, for passes over whole logs. It
// overwrites k and allocates nothing for lines that Scorel wrote.
func ScanKeys(line []byte, k *Keys) error {
	*k = Keys{}
	i := skipSpace(line, 0)
	if i >= len(line) || line[i] != '{' {
		return errNotObject
	}
	i = skipSpace(line, i+1)
	if i < len(line) && line[i] == '}' {
		return errors.New("the event has no type")
	}
	for {
		if i >= len(line) {
			return errTruncated
		}
		if line[i] != '"' {
			return errSyntax
		}
		end, err := skipString(line, i)
		if err != nil {
			return err
		}
		key := line[i+1 : end-1]
		i = skipSpace(line, end)
		if i >= len(line) {
			return errTruncated
		}
		if line[i] != ':' {
			return errSyntax
		}
		start := skipSpace(line, i+1)
		end, err = skipValue(line, start)
		if err != nil {
			return err
		}
		if k.session[1] == 0 && string(key) == "sessionId" {
			k.session = [2]int{start, end}
		}
		if err := k.set(key, line[start:end]); err != nil {
			return err
		}
		i = skipSpace(line, end)
		if i >= len(line) {
			return errTruncated
		}
		if line[i] == '}' {
			if err := scanRest(line, i+1); err != nil {
				return err
			}
			return k.check()
		}
		if line[i] != ',' {
			return errSyntax
		}
		i = skipSpace(line, i+1)
	}
}

func (k *Keys) check() error {
	switch {
	case len(k.Type) == 0:
		return errors.New("the event has no type")
	case k.Seq == 0:
		return errors.New("the event has no seq")
	case len(k.ID) != 0 && !isEventID(k.ID):
		return fmt.Errorf("%q is not the id of an event", clip(string(k.ID)))
	}
	return nil
}

// isEventID is EventID.Check without making a string.
func isEventID(id []byte) bool {
	if len(id) != len("evt_")+shortID || string(id[:4]) != "evt_" {
		return false
	}
	for _, c := range id[4:] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'v') {
			return false
		}
	}
	return true
}

func (k *Keys) set(key, value []byte) (err error) {
	if bytes.IndexByte(key, '\\') >= 0 {
		plain, err := unquote(append(append([]byte{'"'}, key...), '"'))
		if err != nil {
			return err
		}
		key = []byte(plain)
	}
	switch string(key) {
	case "type":
		k.Type, err = scanString(value)
	case "id":
		k.ID, err = scanString(value)
	case "parentId":
		k.ParentID, err = scanString(value)
	case "sessionId":
		k.SessionID, err = scanString(value)
	case "clientId":
		if k.ClientID == nil {
			k.ClientID, err = scanString(value)
		}
	case "turnId":
		k.TurnID, err = scanString(value)
	case "cause":
		k.Cause = value
	case "message":
		k.Message = value
	case "usage":
		k.Usage = value
	case "control":
		k.Control = string(value) == "true"
	case "seq":
		n, ok := scanDigits(value)
		if !ok {
			return fmt.Errorf("seq is %s, not a number", clip(string(value)))
		}
		k.Seq = Seq(n)
	case "prev":
		n, ok := scanDigits(value)
		k.Prev, k.HasPrev = Seq(n), ok // a type of a later version may have another prev
	case "ts":
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return fmt.Errorf("ts is %s, not a number", clip(string(value)))
		}
		k.TS = n
	}
	return err
}

// scanDigits reads a decimal number that fits 64 bits.
func scanDigits(value []byte) (uint64, bool) {
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

// scanString gives the content of a JSON string, or of null (which is empty), as
// a slice of value where it holds no escapes.
func scanString(value []byte) ([]byte, error) {
	if string(value) == "null" {
		return nil, nil
	}
	if len(value) < 2 || value[0] != '"' {
		return nil, fmt.Errorf("%s is not a string", clip(string(value)))
	}
	inner := value[1 : len(value)-1]
	for _, c := range inner {
		if c == '\\' || c < 0x20 || c >= 0x80 {
			s, err := unquote(value)
			return []byte(s), err
		}
	}
	return inner, nil
}
