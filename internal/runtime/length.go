package runtime

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"scorel/internal/model"
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

// pieces gives a delta in parts that each fit an event, cut between characters.
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

// headOf gives the first n bytes of a text, or fewer, so that no character is torn.
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

// fit gives the content of an answer so that it fits an event line. What is cut is a
// blob that its block names: an input that is too long is an empty object, and its call
// is among those that cannot run; when the rest is too long, each long text keeps its
// head; and what then still has no room is joined to one text in front. With an error, of
// the store, the content fits nevertheless.
func (l *loop) fit(ans *answer, content []protocol.Block) ([]protocol.Block, error) {
	var failure error
	keep := func(whole string) (sha string) {
		if failure == nil {
			sha, failure = l.Env.PutBlob(context.Background(), strings.NewReader(whole))
		}
		return sha
	}
	total, inputs := 0, 0
	for i := range content {
		b := &content[i]
		if n := len(b.Input); inputs+n > maxInputs {
			b.Blob = keep(string(b.Input))
			b.Input, b.Provider = []byte("{}"), nil
			ans.refuse(b.ID, fmt.Sprintf("The input of this call has %d bytes, and the calls of one answer may have %d together, so it was not run. Do it in smaller parts.", n, maxInputs))
		}
		inputs += len(b.Input)
		total += stored(*b)
	}
	if total <= maxStored {
		return content, failure
	}
	room := maxStored
	for i := range content {
		b := &content[i]
		if b.Type != protocol.BlockToolUse && stored(*b) > cutText {
			b.Signature, b.Provider = "", nil // they are for the whole
			switch whole := b.Text + b.Thinking; {
			case len(whole) <= cutText:
			case b.Type == protocol.BlockThinking:
				b.Thinking, b.Blob = cut(whole), keep(whole)
			default:
				b.Text, b.Blob = cut(whole), keep(whole)
			}
		}
		if b.Type == protocol.BlockToolUse {
			room -= stored(*b)
		}
	}
	var out []protocol.Block
	var rest strings.Builder
	for _, b := range content {
		if b.Type != protocol.BlockToolUse {
			if room -= stored(b); room < 0 {
				rest.WriteString(b.Text + b.Thinking)
				continue
			}
		}
		out = append(out, b)
	}
	if rest.Len() > 0 {
		b := protocol.Text(cut(rest.String()))
		b.Blob = keep(rest.String())
		out = append([]protocol.Block{b}, out...)
	}
	return out, failure
}

// cut gives the head of a text and says so.
func cut(whole string) string {
	head := headOf(whole, cutText)
	return fmt.Sprintf("%s\n\n[cut here: the first %d of %d bytes; the whole is kept beside the session]", head, len(head), len(whole))
}
