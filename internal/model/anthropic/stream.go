package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"scorel/internal/model"
	"scorel/internal/model/wire"
	"scorel/protocol"
)

// reader turns the events of one answer into deltas.
type reader struct {
	info  model.Info
	req   model.Request
	open  map[int64]*block // by the server's index
	count int              // blocks so far, in our numbering
	usage protocol.Usage
	stop  sdk.StopReason
	peer  wire.Peer
	seen  wire.Unlisted
	bad   error // why the answer is none, though it came to its end
	said  int   // estimated tokens of what came
	call  bool
	// broken: the answer makes no sense, a call has no id or no name.
	broken bool
}

// block is one that has not ended.
type block struct {
	index int
	kind  protocol.BlockType
	text  strings.Builder // text, thinking or the input of a call
	start json.RawMessage // input that came with the start of a call
	id    string
	name  string
	sign  strings.Builder
	data  string // of redacted thinking
}

// event reads one event. It says whether to go on: not when the answer is
// complete or the consumer has stopped.
func (r *reader) event(e *event, to func(model.Delta) bool) bool {
	yield := func(d model.Delta) bool {
		r.seen.Note(d)
		return to(d)
	}
	switch e.Type {
	case "message_start":
		u := e.SDK.Message.Usage
		r.usage.InputTokens = int(u.InputTokens)
		r.usage.CacheReadTokens = int(u.CacheReadInputTokens)
		r.usage.CacheWriteTokens = int(u.CacheCreationInputTokens)
		r.usage.OutputTokens = int(u.OutputTokens)
	case "content_block_start":
		return r.start(e, yield)
	case "content_block_delta":
		if b := r.open[e.Index]; b != nil {
			return b.delta(&e.Delta, yield)
		}
	case "content_block_stop":
		if b := r.open[e.Index]; b != nil {
			delete(r.open, e.Index)
			return r.end(b, yield)
		}
	case "message_delta":
		if stop := e.SDK.Delta.StopReason; stop != "" {
			r.stop = stop
		}
		r.addUsage(e.SDK.Usage)
	case "message_stop":
		for _, i := range slices.Sorted(maps.Keys(r.open)) { // of servers that end none
			if !r.end(r.open[i], yield) {
				return false
			}
		}
		if r.usage.ContextTokens() == 0 { // a server that counts nothing
			r.usage.InputTokens, r.usage.OutputTokens = model.EstimateRequest(r.req), r.said
		}
		r.usage.CostUSD = r.info.Price.Cost(r.usage)
		end := model.Done{StopReason: stopReason(r.stop, r.call), Usage: r.usage}
		if !listed(r.stop) {
			if end, r.bad = r.seen.Done(r.peer, string(r.stop), r.usage); r.bad != nil {
				return false
			}
		}
		yield(end)
		return false
	}
	return true
}

func (r *reader) start(e *event, yield func(model.Delta) bool) bool {
	c := &e.SDK.ContentBlock
	if old := r.open[e.Index]; old != nil { // its end got lost
		delete(r.open, e.Index)
		if !r.end(old, yield) {
			return false
		}
	}
	b := &block{index: r.count, id: c.ID, name: c.Name}
	switch c.Type {
	case "text":
		b.kind = protocol.BlockText
	case "thinking":
		b.kind = protocol.BlockThinking
		b.sign.WriteString(c.Signature)
	case "redacted_thinking":
		b.kind = protocol.BlockThinking
		b.data = c.Data
	case "tool_use":
		if c.ID == "" || c.Name == "" {
			r.broken = true
			return false
		}
		b.kind = protocol.BlockToolUse
		r.call = true
		b.start = json.RawMessage(c.JSON.Input.Raw())
	default:
		return true // blocks of server-side features, which are not asked for
	}
	if r.open == nil {
		r.open = map[int64]*block{}
	}
	r.open[e.Index] = b
	r.count++
	if !yield(model.BlockStart{Index: b.index, Type: b.kind, CallID: b.id, Name: b.name}) {
		return false
	}
	// Compatible servers put text into the start.
	switch {
	case c.Type == "text" && c.Text != "":
		b.text.WriteString(c.Text)
		return yield(model.TextDelta{Index: b.index, Text: c.Text})
	case c.Type == "thinking" && c.Thinking != "":
		b.text.WriteString(c.Thinking)
		return yield(model.ThinkingDelta{Index: b.index, Text: c.Thinking})
	}
	return true
}

func (b *block) delta(d *delta, yield func(model.Delta) bool) bool {
	switch {
	case d.Type == "text_delta" && b.kind == protocol.BlockText && d.Text != "":
		b.text.WriteString(d.Text)
		return yield(model.TextDelta{Index: b.index, Text: d.Text})
	case d.Type == "thinking_delta" && b.kind == protocol.BlockThinking && d.Thinking != "":
		b.text.WriteString(d.Thinking)
		return yield(model.ThinkingDelta{Index: b.index, Text: d.Thinking})
	case d.Type == "input_json_delta" && b.kind == protocol.BlockToolUse && d.PartialJSON != "":
		b.text.WriteString(d.PartialJSON)
		return yield(model.CallDelta{Index: b.index, JSON: d.PartialJSON})
	case d.Type == "signature_delta":
		b.sign.WriteString(d.Signature)
	}
	return true
}

func (r *reader) end(b *block, yield func(model.Delta) bool) bool {
	r.said += model.EstimateText(b.text.String())
	return yield(b.end(r.info))
}

// end makes the whole block.
func (b *block) end(info model.Info) model.BlockEnd {
	text := b.text.String()
	switch b.kind {
	case protocol.BlockText:
		return model.BlockEnd{Index: b.index, Block: protocol.Text(text)}
	case protocol.BlockThinking:
		out := protocol.Block{Type: b.kind, Thinking: text, Signature: b.sign.String()}
		data := json.RawMessage("{}")
		if b.data != "" {
			out.Redacted = true
			data, _ = json.Marshal(b.data)
		}
		out.Provider = &protocol.ProviderData{API: string(model.APIAnthropic), Model: info.ID, Data: data}
		return model.BlockEnd{Index: b.index, Block: out}
	}
	if text == "" {
		text = string(b.start)
	}
	return model.CallEnd(b.index, b.id, b.name, text)
}

// addUsage takes the counts of message_delta, which are totals and stand for
// those of message_start where they are given.
func (r *reader) addUsage(u sdk.MessageDeltaUsage) {
	if u.JSON.InputTokens.Valid() {
		r.usage.InputTokens = int(u.InputTokens)
	}
	if u.JSON.CacheReadInputTokens.Valid() {
		r.usage.CacheReadTokens = int(u.CacheReadInputTokens)
	}
	if u.JSON.CacheCreationInputTokens.Valid() {
		r.usage.CacheWriteTokens = int(u.CacheCreationInputTokens)
	}
	if u.JSON.OutputTokens.Valid() {
		r.usage.OutputTokens = int(u.OutputTokens)
	}
	if u.OutputTokensDetails.JSON.ThinkingTokens.Valid() {
		r.usage.ReasoningTokens = int(u.OutputTokensDetails.ThinkingTokens)
	}
}

// listed reports whether the stop reason is one of the vendor's list. Some compatible
// servers name none.
func listed(s sdk.StopReason) bool {
	switch s {
	case "", sdk.StopReasonEndTurn, sdk.StopReasonMaxTokens, sdk.StopReasonStopSequence, sdk.StopReasonToolUse,
		sdk.StopReasonPauseTurn, sdk.StopReasonRefusal, sdk.StopReasonModelContextWindowExceeded:
		return true
	}
	return false
}

func stopReason(s sdk.StopReason, called bool) protocol.StopReason {
	switch s {
	case "max_tokens", "model_context_window_exceeded":
		return protocol.StopMaxTokens
	case "refusal":
		return protocol.StopRefusal
	}
	if called { // some compatible servers say end_turn behind calls
		return protocol.StopToolUse
	}
	return protocol.StopEndTurn
}
