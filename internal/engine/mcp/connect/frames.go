package connect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"scorel/protocol/jsonscan"
)

const (
	// maxMessage is the longest message that a server may send, in bytes.
	maxMessage = 16 << 20
	// maxDeep is how deep a message may be.
	maxDeep = 200
	// maxNotices is how many notifications count in a second; more are left out.
	maxNotices = 200
)

// errTooLong ends the connection to a server that sends more than a message may have.
var errTooLong = fmt.Errorf("it sent a message of more than %d MiB", maxMessage>>20)

// errTooDeep ends the connection to a server that sends a deeper message than there may be.
var errTooDeep = fmt.Errorf("it sent a message of more than %d levels", maxDeep)

// heard are the notifications that a client does something with. A server may send any
// number of others, which reach nobody.
func heard(method string) bool {
	switch method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed",
		"notifications/resources/updated", "notifications/progress", "notifications/message", "notifications/cancelled",
		"notifications/elicitation/complete", "notifications/subscriptions/acknowledged":
		return true
	}
	return false
}

// frames passes on the messages among the lines that a server writes, one line each: what
// is not a message is counted and left out. It belongs to one reader, but for what is said otherwise.
type frames struct {
	in   *bufio.Reader
	shut func() error
	left func(line []byte) // is told of a line that is not a message
	filter

	entries entries // may be used by anybody

	rest   []byte // of the message that is being read
	failed error
	over   atomic.Bool // nothing more comes; may be read by anybody
}

func newFrames(in io.ReadCloser, left func(line []byte)) *frames {
	return &frames{in: bufio.NewReaderSize(in, 8<<10), shut: in.Close, left: left, filter: filter{now: time.Now}}
}

// Read implements [io.Reader].
func (f *frames) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.failed != nil {
			return 0, f.failed
		}
		line, err := f.line()
		if err != nil {
			f.failed = err // what has no end is not a message
			f.over.Store(true)
			return 0, err
		}
		if len(line) > 0 && (line[0] == '{' || line[0] == '[') && jsonscan.Deeper(line, maxDeep) { // an answer that nobody gets would be waited for
			f.failed = errTooDeep
			f.over.Store(true)
			return 0, errTooDeep
		}
		if f.passes(line) {
			if line[0] == '{' {
				line = f.entries.formed(line)
			}
			f.rest = append(line, '\n')
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Close implements [io.Closer].
func (f *frames) Close() error { return f.shut() }

// line reads a line, without its end.
func (f *frames) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := f.in.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > maxMessage+1 {
			return nil, errTooLong
		}
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if len(line) > 0 {
				f.left(line)
			}
			return nil, err
		}
	}
}

// passes reports whether a line is a message that somebody listens to.
func (f *frames) passes(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	if line[0] == '[' && json.Valid(line) {
		return true // a batch of the versions that had them
	}
	verdict := f.judge(line)
	if verdict == noMessage {
		f.left(line)
	}
	return verdict == passes
}

// filter judges messages; notifications count by the second. It belongs to one reader.
type filter struct {
	// pushed takes the notifications of channels; nil where nobody wants them.
	pushed func(method string, params json.RawMessage)
	now    func() time.Time
	second time.Time
	told   int // notifications in that second
}

// verdict is what becomes of a message of a server.
type verdict int

const (
	passes    verdict = iota
	unheard           // a notification that nobody listens to, or one too many
	noMessage         // no JSON-RPC
)

func (f *filter) judge(message []byte) verdict {
	if len(message) == 0 || message[0] != '{' || !json.Valid(message) || jsonscan.Deeper(message, maxDeep) {
		return noMessage
	}
	var method string
	var params []byte
	asks := false
	jsonscan.Fields(message, func(key, value []byte) {
		switch string(key) {
		case "method":
			_ = json.Unmarshal(value, &method) // what is not text is no method
		case "params":
			params = value
		case "id":
			asks = true
		}
	})
	if method == "" || asks {
		return passes
	}
	if f.pushed != nil && strings.HasPrefix(method, ChannelPushed) {
		f.pushed(method, bytes.Clone(params))
		return unheard
	}
	if !heard(method) {
		return unheard
	}
	if now := f.now(); now.Sub(f.second) >= time.Second {
		f.second, f.told = now, 0
	}
	if f.told++; f.told > maxNotices {
		return unheard
	}
	return passes
}

// ring keeps the last bytes of what is written to it. It may be used concurrently by
// nobody: who has it guards it.
type ring struct {
	kept []byte
	most int
}

// add appends bytes and forgets the oldest.
func (r *ring) add(p []byte) {
	if len(p) >= r.most {
		r.kept = append(r.kept[:0], p[len(p)-r.most:]...)
		return
	}
	if over := len(r.kept) + len(p) - r.most; over > 0 {
		r.kept = slices.Delete(r.kept, 0, over)
	}
	r.kept = append(r.kept, p...)
}
