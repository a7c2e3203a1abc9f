package httpx

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// Event is one of a stream. Its bytes are valid until the next is asked for.
type Event struct {
	Name []byte // empty when the server names none
	Data []byte
}

// Events returns the events of a stream in the format of
// https://html.spec.whatwg.org/multipage/server-sent-events.html: lines that end in
// LF or CRLF, comments, any fields, data of several lines. What has no data and what the
// stream ends in the middle of is no event.
//
// A stream that is longer than the bounds is an error: r is the body of an answer that
// a [Doer] gave, which holds them.
func Events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		const first = 16 << 10
		lines.Buffer(make([]byte, 0, first), MaxLine+first)
		var e Event
		some, start := false, true
		for lines.Scan() {
			line := lines.Bytes()
			if start {
				line, start = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), false
			}
			if len(line) == 0 {
				if some && !yield(e, nil) {
					return
				}
				e.Name, e.Data, some = e.Name[:0], e.Data[:0], false
				continue
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "event":
				e.Name = append(e.Name[:0], value...)
			case "data":
				if some {
					e.Data = append(e.Data, '\n')
				}
				e.Data, some = append(e.Data, value...), true
			}
		}
		if err := lines.Err(); err != nil {
			yield(Event{}, err)
		}
	}
}
