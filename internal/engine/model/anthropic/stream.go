package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// reader turns the events of one answer into deltas.
type reader struct {
	info  model.Info
	req   model.Request
	peer  httpx.Peer
	yield func(model.Delta) bool
	over  bool // the answer is complete, or the consumer has had enough

	now   event                // that is read, kept for its memory
	open  map[httpx.Int]*block // by the server's index
	count int                  // blocks so far, in our numbering
	usage protocol.Usage
	stop  string
	seen  httpx.Unlisted
	said  int // estimated tokens of what came
	call  bool
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

// give hands a delta on.
func (r *reader) give(d model.Delta) {
	if !r.over {
		r.seen.Note(d)
		r.over = !r.yield(d)
	}
}

// event reads one event.
func (r *reader) event(e *event) error {
	switch e.Type {
	case "message_start":
		r.addUsage(e.Message.Usage)
	case "content_block_start":
		return r.start(e)
	case "content_block_delta":
		if b := r.open[e.Index]; b != nil {
			r.add(b, &e.Delta)
		}
	case "content_block_stop":
		if b := r.open[e.Index]; b != nil {
			delete(r.open, e.Index)
			r.end(b)
		}
	case "message_delta":
		if stop := e.Delta.StopReason; stop != "" {
			r.stop = string(stop)
		}
		r.addUsage(e.Usage)
	case "message_stop":
		return r.done()
	}
	return nil
}

// done ends the answer, or says why it is none.
func (r *reader) done() error {
	for _, i := range slices.Sorted(maps.Keys(r.open)) { // of servers that end none
		r.end(r.open[i])
	}
	if r.usage.ContextTokens() == 0 { // a server that counts nothing
		r.usage.InputTokens, r.usage.OutputTokens = model.EstimateRequest(r.req), r.said
	}
	r.usage.CostUSD = r.info.Price.Cost(r.usage)
	end := model.Done{StopReason: stopReason(r.stop, r.call), Usage: r.usage}
	if !listed(r.stop) {
		var bad error
		if end, bad = r.seen.Done(r.peer, r.stop, r.usage); bad != nil {
			return bad
		}
	}
	r.give(end)
	r.over = true
	return nil
}

func (r *reader) start(e *event) error {
	c := &e.Block
	if old := r.open[e.Index]; old != nil { // its end got lost
		delete(r.open, e.Index)
		r.end(old)
	}
	b := &block{index: r.count, id: string(c.ID), name: string(c.Name)}
	switch c.Type {
	case "text":
		b.kind = protocol.BlockText
	case "thinking":
		b.kind = protocol.BlockThinking
		b.sign.WriteString(string(c.Signature))
	case "redacted_thinking":
		b.kind = protocol.BlockThinking
		b.data = string(c.Data)
	case "tool_use":
		if c.ID == "" || c.Name == "" {
			return r.peer.Broken("a call without id or name")
		}
		b.kind = protocol.BlockToolUse
		r.call = true
		b.start = c.Input
	default:
		return nil // blocks of server-side features, which are not asked for
	}
	if r.open == nil {
		r.open = map[httpx.Int]*block{}
	}
	r.open[e.Index] = b
	r.count++
	r.give(model.BlockStart{Index: b.index, Type: b.kind, CallID: b.id, Name: b.name})
	switch c.Type { // compatible servers put text into the start
	case "text":
		r.add(b, &delta{Type: "text_delta", Text: c.Text})
	case "thinking":
		r.add(b, &delta{Type: "thinking_delta", Thinking: c.Thinking})
	}
	return nil
}

// add adds a piece to a block.
func (r *reader) add(b *block, d *delta) {
	switch {
	case d.Type == "text_delta" && b.kind == protocol.BlockText && d.Text != "":
		b.text.WriteString(string(d.Text))
		r.give(model.TextDelta{Index: b.index, Text: string(d.Text)})
	case d.Type == "thinking_delta" && b.kind == protocol.BlockThinking && d.Thinking != "":
		b.text.WriteString(string(d.Thinking))
		r.give(model.ThinkingDelta{Index: b.index, Text: string(d.Thinking)})
	case d.Type == "input_json_delta" && b.kind == protocol.BlockToolUse && d.PartialJSON != "":
		b.text.WriteString(string(d.PartialJSON))
		r.give(model.CallDelta{Index: b.index, JSON: string(d.PartialJSON)})
	case d.Type == "signature_delta":
		b.sign.WriteString(string(d.Signature))
	}
}

func (r *reader) end(b *block) {
	r.said += model.EstimateText(b.text.String())
	r.give(b.end(r.info))
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

// addUsage takes the counts of message_start, and those of message_delta, which are
// totals and stand for the first where they are given.
func (r *reader) addUsage(u counts) {
	for _, c := range [...]struct {
		from *httpx.Int
		to   *int
	}{
		{u.Input, &r.usage.InputTokens},
		{u.CacheRead, &r.usage.CacheReadTokens},
		{u.CacheWrite, &r.usage.CacheWriteTokens},
		{u.Output, &r.usage.OutputTokens},
		{u.OutputDetails.Thinking, &r.usage.ReasoningTokens},
	} {
		if c.from != nil {
			*c.to = int(*c.from)
		}
	}
}

// listed reports whether the stop reason is one of the vendor's list
// (https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons). Some
// compatible servers name none.
func listed(stop string) bool {
	switch stop {
	case "", "end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "model_context_window_exceeded":
		return true
	}
	return false
}

func stopReason(stop string, called bool) protocol.StopReason {
	switch stop {
	case "max_tokens", "model_context_window_exceeded":
		return protocol.StopMaxTokens
	case "refusal":
		return protocol.StopRefusal
	}
	if called { // some compatible servers say end_turn after calls
		return protocol.StopToolUse
	}
	return protocol.StopEndTurn
}
