package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// Bounds of one answer, in bytes as JSON writes them unless it says otherwise.
const (
	// maxPiece is the most text of one event that is shown, in bytes of text: it fits a
	// frame with every byte escaped.
	maxPiece = 64 << 10
	// maxAnswer is all of one answer. A client that comes in the middle gets what has come
	// so far in one message of at most 16 MiB, with queues of 4 MiB.
	maxAnswer = 11 << 20
	// maxStored is the answer's share of the 4 MiB of an event line: above it, texts are cut.
	maxStored = 3 << 20
	// cutText is what stays of a text that is cut, in bytes of text; the whole is a blob.
	cutText = 64 << 10
	// maxInputs is the inputs of all calls of an answer together, in bytes: each is an
	// argument of further events. A call beyond it does not run.
	maxInputs = 1 << 20
	// maxDetails is the details of a result, in bytes.
	maxDetails = 1 << 20
	// maxName is a name or an id that a model gives a call, in bytes.
	maxName = 256
	// blockSize is what a block counts as besides what it carries.
	blockSize = 64
)

// errLong ends an answer that does not stop.
func errLong() error {
	return &model.Error{Class: model.ClassInvalid,
		Message: fmt.Sprintf("The model's answer is longer than %d MiB, so it was ended there; ask for it in smaller parts.", maxAnswer>>20)}
}

// pieces returns a delta in parts that each fit an event, cut between characters.
func pieces(delta model.Delta) iter.Seq[model.Delta] {
	return func(yield func(model.Delta) bool) {
		var text string
		var part func(string) model.Delta
		switch d := delta.(type) {
		case model.TextDelta:
			text, part = d.Text, func(s string) model.Delta { return model.TextDelta{Index: d.Index, Text: s} }
		case model.ThinkingDelta:
			text, part = d.Text, func(s string) model.Delta { return model.ThinkingDelta{Index: d.Index, Text: s} }
		case model.CallDelta:
			text, part = d.JSON, func(s string) model.Delta { return model.CallDelta{Index: d.Index, JSON: s} }
		}
		if len(text) <= maxPiece {
			yield(delta)
			return
		}
		for text != "" {
			head := headOf(text, maxPiece)
			if !yield(part(head)) {
				return
			}
			text = text[len(head):]
		}
	}
}

// headOf returns the first n bytes of a text, or fewer, so that no character is torn.
func headOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := 0; back < utf8.UTFMax-1 && !utf8.RuneStart(s[n]); back++ {
		n--
	}
	return s[:n]
}

// written is how long a text is at most as JSON writes it.
func written(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			n++
		case c < 0x20, c == 0x7f, c == '<', c == '>', c == '&':
			n += 5
		case c == 0xe2 && strings.HasPrefix(s[i:], "\u2028"), c == 0xe2 && strings.HasPrefix(s[i:], "\u2029"):
			n += 3
		}
	}
	return n
}

// length is what a delta adds to an answer.
func length(delta model.Delta) int {
	switch d := delta.(type) {
	case model.BlockStart:
		return 4 * (blockSize + written(d.Name) + written(d.CallID)) // so that calls alone fit a line
	case model.TextDelta:
		return written(d.Text)
	case model.ThinkingDelta:
		return written(d.Text)
	case model.CallDelta:
		return written(d.JSON)
	}
	return 0
}

// stored is what a block takes of an event line.
func stored(b protocol.Block) int {
	n := blockSize + written(b.Text) + written(b.Thinking) + written(b.Signature) + written(b.Name) + written(b.ID) + len(b.Input)
	if b.Provider != nil {
		n += len(b.Provider.API) + len(b.Provider.Model) + len(b.Provider.Data)
	}
	return n
}

// keeper stores what is cut. After an error it stores nothing more.
type keeper struct {
	blobs tool.Blobs // nil for none
	err   error
}

// keep returns the name of a payload, "" when it is not stored.
func (k *keeper) keep(r io.Reader) (sha string) {
	switch {
	case k.err != nil:
	case k.blobs == nil:
		k.err = errors.New("there is no place for it")
	default:
		sha, k.err = k.blobs.PutBlob(context.Background(), r) // also when the run is cancelled
	}
	return sha
}

// fit returns the content of an answer so that it fits an event line. An input that is too
// long becomes an empty object whose block names the whole as a payload, and its call is
// among those that cannot run. Texts are cut by fitTexts when all of it is too long. An
// error is that of the store; the content fits nevertheless.
func (l *loop) fit(ans *answer, content []protocol.Block) ([]protocol.Block, error) {
	k := &keeper{blobs: l.Blobs}
	inputs := 0
	for i := range content {
		b := &content[i]
		if n := len(b.Input); inputs+n > maxInputs {
			b.Blob = k.keep(bytes.NewReader(b.Input))
			b.Input, b.Provider = []byte("{}"), nil
			ans.refuse(b.ID, fmt.Sprintf("The input of this call has %d bytes, and the calls of one answer may have %d together, so it was not run. Do it in smaller parts.", n, maxInputs))
		}
		inputs += len(b.Input)
	}
	return fitTexts(k, content, maxStored), k.err
}

// fitResult returns the result of a call so that it fits an event line: tools keep to less,
// but extensions and hooks may give anything.
func (l *loop) fitResult(m *protocol.Message) {
	if len(m.Details) > maxDetails {
		l.Report(fmt.Sprintf("details of %s: %d bytes are left out; they may have %d", m.ToolName, len(m.Details), maxDetails), nil)
		m.Details = nil
	}
	k := &keeper{blobs: l.Blobs}
	if m.Content = fitTexts(k, m.Content, maxStored-len(m.Details)); k.err != nil {
		m.Content = append(m.Content, protocol.Text("The whole output could not be kept: "+k.err.Error()))
	}
}

// fitTexts returns content that takes no more than room, as stored counts it, where texts
// and thinking are what is too much. When all of it does not fit, each long one keeps
// its head and names the whole as a payload; signatures, which are for the whole, are
// left out with it. What then still has no room is joined to one text in front. Other
// blocks stay; of a call what is the vendor's goes when there is no room.
func fitTexts(k *keeper, content []protocol.Block, room int) []protocol.Block {
	total, others := 0, 0
	for _, b := range content {
		n := stored(b)
		if total += n; !isText(b) {
			others += n
		}
	}
	if total <= room {
		return content
	}
	room -= others
	var out []protocol.Block
	var rest strings.Builder
	for _, b := range content {
		if !isText(b) {
			if room < 0 && b.Provider != nil {
				room += stored(b)
				b.Provider = nil
				room -= stored(b)
			}
			out = append(out, b)
			continue
		}
		whole, head := b.Text+b.Thinking, b
		if len(whole) > cutText {
			head.Signature, head.Provider = "", nil
			if b.Type == protocol.BlockThinking {
				head.Thinking = cut(whole)
			} else {
				head.Text = cut(whole)
			}
		}
		if n := stored(head); n <= room {
			room -= n
			if len(whole) > cutText {
				head.Blob = k.keep(strings.NewReader(whole))
			}
			out = append(out, head)
			continue
		}
		rest.WriteString(whole)
	}
	if rest.Len() == 0 {
		return out
	}
	b := protocol.Text(rest.String())
	if rest.Len() > cutText {
		b.Text, b.Blob = cut(b.Text), k.keep(strings.NewReader(b.Text))
	}
	return append([]protocol.Block{b}, out...)
}

func isText(b protocol.Block) bool {
	return b.Type == protocol.BlockText || b.Type == protocol.BlockThinking
}

// cut returns the head of a text and says so.
func cut(whole string) string {
	head := headOf(whole, cutText)
	return fmt.Sprintf("%s\n\n[cut here: the first %d of %d bytes; the whole is kept beside the session]", head, len(head), len(whole))
}
