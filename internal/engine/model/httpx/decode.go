package httpx

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"
)

// Decode reads an event into a struct. A field of an odd form, as compatible servers
// send them, is passed over; that the event is not an object is an error, and so is what is
// no JSON.
func Decode(data []byte, to any) error {
	err := json.Unmarshal(data, to)
	var odd *json.UnmarshalTypeError
	if errors.As(err, &odd) && odd.Field != "" {
		return nil
	}
	return err
}

// Text is a text of an event. In the place of one any JSON counts as its own text: some
// servers write ids as numbers and inputs of calls as objects. null is empty.
type Text string

// UnmarshalJSON reads a value of any form and never fails.
func (t *Text) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		*t = ""
	case len(data) < 2 || data[0] != '"':
		*t = Text(data)
	case bytes.IndexByte(data, '\\') < 0 && utf8.Valid(data):
		*t = Text(data[1 : len(data)-1])
	default:
		return json.Unmarshal(data, (*string)(t))
	}
	return nil
}

// Int is a number of an event, also as a text and with decimals. What is none is 0, and so is
// what is below: it would give back what a budget has spent.
type Int int

// UnmarshalJSON reads a value of any form and never fails.
func (n *Int) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(string(bytes.Trim(data, `"`)), 64)
	if err != nil || !(f >= 0 && f <= math.MaxInt32) { // far above any count; also NaN
		f = 0
	}
	*n = Int(f)
	return nil
}
