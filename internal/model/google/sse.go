package google

import (
	"bufio"
	"bytes"
	"io"
	"iter"

	"scorel/internal/model/wire"
)

// events gives the data of each event of a stream in the format of
// https://html.spec.whatwg.org/multipage/server-sent-events.html: lines that end in
// LF or CRLF, comments, any fields, data of several lines. What the stream ends in
// the middle of is no event. The bytes are valid until the next event is asked for.
//
// A stream that is longer than wire's bounds is an error: r is a body of a
// [wire.Doer], which holds them.
func events(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(r)
		const first = 16 << 10
		lines.Buffer(make([]byte, 0, first), wire.MaxLine+first)
		var data []byte
		some, start := false, true
		for lines.Scan() {
			line := lines.Bytes()
			if start {
				line, start = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), false
			}
			if len(line) == 0 {
				if some && !yield(data, nil) {
					return
				}
				data, some = data[:0], false
				continue
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			if string(field) != "data" {
				continue
			}
			if some {
				data = append(data, '\n')
			}
			data, some = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}
