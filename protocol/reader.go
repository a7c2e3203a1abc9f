package protocol

import (
	"bytes"

	"scorel/protocol/jsonscan"
)

// Reader parses event lines whose memory the caller uses again. The texts of message
// events go one after the other into memory of the reader, so what stays of a log that is
// read through is about half of its bytes: keys, envelopes and escapes are left out. That
// memory is freed in pieces of 32 KiB, when no event has a part of one any more.
//
// The zero value is ready to use. A Reader is not safe for concurrent use; its events are
// independent of it.
type Reader struct{ memory jsonscan.Memory }

// Parse is [ParseEvent] for a line that it does not keep. Message events have no
// [Event.Raw], and [Event.AppendLine] refuses them.
func (r *Reader) Parse(line []byte) (Event, error) {
	var k Keys
	env, err := scanEnvelope(line, &k)
	if err != nil {
		return Event{}, err
	}
	if env.Type == TypeMessage {
		if body, ok := fastMessage(line, &r.memory); ok {
			return Event{Envelope: env, Body: body, sum: k.Sum(line), bare: true}, nil
		}
	}
	return ParseEvent(bytes.Clone(line))
}
