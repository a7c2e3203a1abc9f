package protocol

import (
	"bytes"
	"unsafe"
)

// Reader parses event lines whose memory the caller uses again. The texts of message
// events go one after the other into memory of the reader, so what stays of a log that is
// read through is about half of its bytes: keys, envelopes and escapes are left out. That
// memory is freed in pieces of 32 KiB, when no event has a part of one any more.
//
// The zero value is ready to use. A Reader is not safe for concurrent use; its events are
// independent of it.
type Reader struct {
	free []byte // of the piece that is being filled
}

// A piece of a reader's memory, in bytes, and how long a text is that gets its own.
const (
	readerPiece = 32 << 10
	readerOwn   = readerPiece / 8
)

// Parse is [ParseEvent] for a line that it does not keep. Message events have no
// [Event.Raw], and [Event.AppendLine] refuses them.
func (r *Reader) Parse(line []byte) (Event, error) {
	var k Keys
	env, err := scanEnvelope(line, &k)
	if err != nil {
		return Event{}, err
	}
	if env.Type == TypeMessage {
		if body, ok := fastMessage(line, r); ok {
			return Event{Envelope: env, Body: body, sum: k.Sum(line), bare: true}, nil
		}
	}
	return ParseEvent(bytes.Clone(line))
}

// room returns n bytes, of which [Reader.take] takes what is used; append goes no further.
func (r *Reader) room(n int) []byte {
	if n >= readerOwn {
		return make([]byte, 0, n)
	}
	if n > len(r.free) {
		r.free = make([]byte, readerPiece)
	}
	return r.free[:0:n]
}

// take returns the text that was written into what room returned.
func (r *Reader) take(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	s := unsafe.String(unsafe.SliceData(text), len(text))
	if cap(text) < readerOwn { // it is the beginning of free
		r.free = r.free[len(text):]
	}
	return s
}

// copy returns a text that is not part of the line.
func (r *Reader) copy(text string) string {
	return r.take(append(r.room(len(text)), text...))
}
