package runtime

import (
	"io"
	"strings"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// answer collects a streamed answer.
type answer struct {
	id        protocol.EventID
	info      model.Info
	announced bool // message_start was yielded
	blocks    []*openBlock
	used      map[string]bool   // ids of its calls
	invalid   map[string]string // call id → why it cannot run
	length    int               // what was added, as JSON writes it
	stop      protocol.StopReason
	usage     protocol.Usage
}

// openBlock is a block that is coming in.
type openBlock struct {
	block    protocol.Block
	text     strings.Builder
	complete bool
}

// own returns a delta in which each call has an id of its own: a model may repeat
// one or leave it out, and then results could not be told apart.
func (a *answer) own(delta model.Delta, rand io.Reader) model.Delta {
	switch d := delta.(type) {
	case model.BlockStart:
		if d.Type != protocol.BlockToolUse {
			break
		}
		d.Name = headOf(d.Name, maxName)
		if d.CallID == "" || len(d.CallID) > maxName || a.used[d.CallID] {
			d.CallID = "call_" + string(protocol.NewItemID(rand))[4:]
		}
		if a.used == nil {
			a.used = map[string]bool{}
		}
		a.used[d.CallID] = true
		return d
	case model.BlockEnd:
		if d.Block.Type == protocol.BlockToolUse {
			d.Block.ID, d.Block.Name = a.callID(d.Index), headOf(d.Block.Name, maxName)
			return d
		}
	}
	return delta
}

// refuse says of a call why it cannot run.
func (a *answer) refuse(call, why string) {
	if a.invalid == nil {
		a.invalid = map[string]string{}
	}
	a.invalid[call] = why
}

// add takes a delta and reports whether it was the end event.
func (a *answer) add(delta model.Delta) bool {
	a.length += length(delta)
	switch d := delta.(type) {
	case model.BlockStart:
		a.block(d.Index).block = protocol.Block{Type: d.Type, ID: d.CallID, Name: d.Name}
	case model.TextDelta:
		a.block(d.Index).text.WriteString(d.Text)
	case model.ThinkingDelta:
		a.block(d.Index).text.WriteString(d.Text)
	case model.BlockEnd:
		b := a.block(d.Index)
		b.block, b.complete = d.Block, true
		b.text.Reset() // the block has it
		if d.Invalid {
			a.refuse(d.Block.ID, "The input of this call is not a valid JSON object, so it was not run: "+clip(d.Raw, 500))
		}
	case model.Done:
		a.stop, a.usage = d.StopReason, d.Usage
		return true
	}
	return false
}

func (a *answer) block(i int) *openBlock {
	for len(a.blocks) <= i {
		a.blocks = append(a.blocks, &openBlock{})
	}
	return a.blocks[i]
}

func (a *answer) callID(i int) string { return a.block(i).block.ID }

// shownLength is how many bytes of text a person has seen.
func (a answer) shownLength() int {
	n := 0
	for _, b := range a.blocks {
		switch {
		case b.complete && b.block.Type == protocol.BlockText:
			n += len(b.block.Text)
		case b.complete && b.block.Type == protocol.BlockToolUse:
			n++
		case !b.complete && b.block.Type == protocol.BlockText:
			n += b.text.Len()
		}
	}
	return n
}

// content returns the blocks to store. Of an answer that broke off, an incomplete
// call and unsigned thinking are dropped and an incomplete text is kept; of any
// answer, empty blocks and incomplete calls are dropped.
func (a answer) content(broken bool) []protocol.Block {
	var out []protocol.Block
	for _, b := range a.blocks {
		block := b.block
		if !b.complete {
			if block.Type != protocol.BlockText {
				continue
			}
			block.Text = b.text.String()
		}
		switch block.Type {
		case protocol.BlockText:
			if strings.TrimSpace(block.Text) == "" {
				continue
			}
		case protocol.BlockThinking:
			if broken && block.Signature == "" && !block.Redacted {
				continue
			}
			if block.Thinking == "" && block.Signature == "" && !block.Redacted && block.Provider == nil {
				continue
			}
		case "":
			continue
		}
		out = append(out, block)
	}
	return out
}
