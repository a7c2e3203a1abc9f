package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"scorel/protocol/jsonscan"
)

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
	m := jsonscan.NewMembers(k.Cause)
	for m.Next() {
		var value []byte
		var err error
		switch string(m.Key) {
		case "clientId":
			value, err = jsonscan.Text(m.Value)
			c.ClientID = ClientID(value)
		case "requestId":
			value, err = jsonscan.Text(m.Value)
			c.RequestID = RequestID(value)
		case "body":
			value, err = jsonscan.Text(m.Value)
			c.Body = string(value)
		}
		if err != nil {
			return Envelope{}, err
		}
	}
	if err := m.Err(); err != nil {
		return Envelope{}, err
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

	session [2]int // where the value of the first sessionId is in the line
}

// ScanKeys is [ScanEnvelope] without its copies, for passes over whole logs. It
// overwrites k and allocates nothing for lines that Scorel wrote.
func ScanKeys(line []byte, k *Keys) error {
	*k = Keys{}
	m := jsonscan.NewMembers(line)
	for m.Next() {
		if k.session[1] == 0 && string(m.Key) == "sessionId" {
			k.session = [2]int{m.At, m.At + len(m.Value)}
		}
		if err := k.set(&m); err != nil {
			return err
		}
	}
	if err := m.Err(); err != nil {
		return err
	}
	return k.check()
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

func (k *Keys) set(m *jsonscan.Members) (err error) {
	key, value := m.Key, m.Value
	if bytes.IndexByte(key, '\\') >= 0 {
		if key, err = m.Name(); err != nil {
			return err
		}
	}
	switch string(key) {
	case "type":
		k.Type, err = jsonscan.Text(value)
	case "id":
		k.ID, err = jsonscan.Text(value)
	case "parentId":
		k.ParentID, err = jsonscan.Text(value)
	case "sessionId":
		k.SessionID, err = jsonscan.Text(value)
	case "clientId":
		if k.ClientID == nil {
			k.ClientID, err = jsonscan.Text(value)
		}
	case "turnId":
		k.TurnID, err = jsonscan.Text(value)
	case "cause":
		k.Cause = value
	case "message":
		k.Message = value
	case "usage":
		k.Usage = value
	case "control":
		k.Control = string(value) == "true"
	case "seq":
		n, ok := jsonscan.Digits(value)
		if !ok {
			return fmt.Errorf("seq is %s, not a number", clip(string(value)))
		}
		k.Seq = Seq(n)
	case "prev":
		n, ok := jsonscan.Digits(value)
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
