package modeltest

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Answer is a streamed answer put together.
type Answer struct {
	Content []protocol.Block // complete blocks by index
	Invalid []string         // raw inputs of calls that were no JSON
	Text    string           // all text deltas
	Open    int              // blocks that began and did not end
	Deltas  int
	Done    *model.Done // nil: the answer did not complete
}

// Message is the answer as a message of the model.
func (a Answer) Message(info model.Info) protocol.Message {
	m := protocol.Message{Role: protocol.RoleAssistant, Content: a.Content, Provider: info.Provider, Model: info.ID}
	if a.Done != nil {
		m.StopReason, m.Usage = a.Done.StopReason, &a.Done.Usage
	}
	return m
}

// Collect runs a stream to its end. It returns what came, and the stream's error,
// or one that says which rule of [model.Model] the stream broke.
func Collect(stream iter.Seq2[model.Delta, error]) (Answer, error) {
	var a Answer
	open := map[int]*strings.Builder{}
	kinds := map[int]protocol.BlockType{}
	var failed, broken error
	breaks := func(format string, args ...any) {
		if broken == nil {
			broken = fmt.Errorf("modeltest: "+format, args...)
		}
	}
	add := func(index int, kind protocol.BlockType, text string) {
		switch b := open[index]; {
		case b == nil:
			breaks("a delta for block %d, which is not open", index)
		case kinds[index] != kind:
			breaks("a %s delta for the %s block %d", kind, kinds[index], index)
		default:
			b.WriteString(text)
		}
	}
	for d, err := range stream {
		if failed != nil || a.Done != nil {
			breaks("something came behind the end")
		}
		if err != nil {
			failed = err
			continue
		}
		a.Deltas++
		switch d := d.(type) {
		case model.BlockStart:
			if d.Index != len(kinds) {
				breaks("block %d began as number %d", d.Index, len(kinds))
			}
			if d.Type == protocol.BlockToolUse && (d.CallID == "" || d.Name == "") {
				breaks("a call began without id or name")
			}
			kinds[d.Index], open[d.Index] = d.Type, &strings.Builder{}
			a.Content = append(a.Content, protocol.Block{})
		case model.TextDelta:
			a.Text += d.Text
			add(d.Index, protocol.BlockText, d.Text)
		case model.ThinkingDelta:
			add(d.Index, protocol.BlockThinking, d.Text)
		case model.CallDelta:
			add(d.Index, protocol.BlockToolUse, d.JSON)
		case model.BlockEnd:
			b := open[d.Index]
			if b == nil {
				breaks("block %d ended and was not open", d.Index)
				continue
			}
			delete(open, d.Index)
			if bad := compare(b.String(), d); bad != nil {
				breaks("block %d: %w", d.Index, bad)
			}
			a.Content[d.Index] = d.Block
			if d.Invalid {
				a.Invalid = append(a.Invalid, d.Raw)
			}
		case model.Done:
			if len(open) > 0 {
				breaks("the answer ended with %d open blocks", len(open))
			}
			a.Done = &d
		}
	}
	a.Open = len(open)
	if failed == nil && a.Done == nil {
		breaks("the stream ended without Done and without an error")
	}
	return a, errors.Join(broken, failed)
}

// compare reports whether the deltas of a block give what its end says.
func compare(streamed string, end model.BlockEnd) error {
	whole := end.Block.Text
	switch {
	case end.Block.Type == protocol.BlockThinking:
		whole = end.Block.Thinking
	case end.Invalid:
		whole = end.Raw
	case end.Block.Type == protocol.BlockToolUse:
		whole = string(end.Block.Input)
		if streamed == "" {
			return nil // an input may come with the end alone
		}
	}
	if whole != streamed {
		return fmt.Errorf("deltas give %q and the end %q", streamed, whole)
	}
	return nil
}
