package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// reader turns the chunks of one answer into deltas. Text and thinking end when
// something else begins, calls at the end of the answer, because a server may
// mix the pieces of parallel calls.
type reader struct {
	info   model.Info
	peer   httpx.Peer
	seen   httpx.Unlisted
	yield  func(model.Delta) bool
	count  int   // blocks so far
	said   *said // the open text or thinking
	calls  []*call
	no     bool // the model refused: it says so in its text alone, and then ends as ever
	finish string
	usage  *protocol.Usage
	output strings.Builder // all that came, for an estimate when no counts come
}

type said struct {
	index int
	kind  protocol.BlockType
	text  strings.Builder
}

type call struct {
	slot  httpx.Int // the server's index
	index int       // ours, once started
	begun bool
	id    string
	name  string
	input strings.Builder
}

// read reads one event and reports whether the consumer goes on.
func (r *reader) read(data []byte) (bool, error) {
	var c chunk
	if err := httpx.Decode(data, &c); err != nil {
		return true, err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return true, r.peer.Event(data)
	}
	return r.chunk(&c), nil
}

// chunk reads one chunk and reports whether the consumer goes on.
func (r *reader) chunk(c *chunk) bool {
	if c.Usage != nil && *c.Usage != (counts{}) { // others count nothing
		r.usage = c.Usage.usage()
	}
	if len(c.Choices) == 0 {
		return true
	}
	choice := c.Choices[0]
	d := choice.Delta
	if t := d.thinking(); t != "" && !r.say(protocol.BlockThinking, t) {
		return false
	}
	if d.Content != "" && !r.say(protocol.BlockText, string(d.Content)) {
		return false
	}
	if d.Refusal != "" {
		if r.no = true; !r.say(protocol.BlockText, string(d.Refusal)) {
			return false
		}
	}
	for _, t := range d.ToolCalls {
		if !r.call(string(c.ID), t) {
			return false
		}
	}
	if choice.FinishReason != "" {
		r.finish = string(choice.FinishReason)
	}
	return true
}

func (r *reader) say(kind protocol.BlockType, text string) bool {
	if r.said != nil && r.said.kind != kind && !r.hush() {
		return false
	}
	if r.said == nil {
		r.said = &said{index: r.count, kind: kind}
		r.count++
		if !r.yield(model.BlockStart{Index: r.said.index, Type: kind}) {
			return false
		}
	}
	r.said.text.WriteString(text)
	r.output.WriteString(text)
	if kind == protocol.BlockThinking {
		return r.yield(model.ThinkingDelta{Index: r.said.index, Text: text})
	}
	return r.yield(model.TextDelta{Index: r.said.index, Text: text})
}

// hush ends the open text or thinking.
func (r *reader) hush() bool {
	s := r.said
	if s == nil {
		return true
	}
	r.said = nil
	if s.kind == protocol.BlockText {
		return r.yield(model.BlockEnd{Index: s.index, Block: protocol.Text(s.text.String())})
	}
	return r.yield(model.BlockEnd{Index: s.index, Block: protocol.Block{
		Type:     protocol.BlockThinking,
		Thinking: s.text.String(),
		Provider: &protocol.ProviderData{API: string(model.APIOpenAI), Model: r.info.ID, Data: json.RawMessage("{}")},
	}})
}

func (r *reader) call(answer string, t piece) bool {
	if !r.hush() {
		return false
	}
	c := r.find(t)
	if c.id == "" {
		c.id = string(t.ID)
	}
	if c.name == "" {
		c.name = string(t.Function.Name)
	}
	input := string(t.Function.Arguments)
	c.input.WriteString(input)
	r.output.WriteString(input)
	if c.begun {
		return input == "" || r.yield(model.CallDelta{Index: c.index, JSON: input})
	}
	if c.name == "" {
		return true
	}
	return r.begin(answer, c)
}

// find returns the call that a piece belongs to. A new id at a known place is a new
// call: some servers number all calls 0.
func (r *reader) find(t piece) *call {
	for i := len(r.calls) - 1; i >= 0; i-- {
		c := r.calls[i]
		if c.slot == t.Index && (t.ID == "" || c.id == "" || c.id == string(t.ID)) {
			return c
		}
	}
	c := &call{slot: t.Index}
	r.calls = append(r.calls, c)
	return c
}

func (r *reader) begin(answer string, c *call) bool {
	c.begun, c.index = true, r.count
	r.count++
	if c.id == "" {
		sum := sha256.Sum256([]byte(answer + "/" + strconv.Itoa(c.index)))
		c.id = "call_" + hex.EncodeToString(sum[:12])
	}
	if !r.yield(model.BlockStart{Index: c.index, Type: protocol.BlockToolUse, CallID: c.id, Name: c.name}) {
		return false
	}
	return c.input.Len() == 0 || r.yield(model.CallDelta{Index: c.index, JSON: c.input.String()})
}

// nameless reports that the answer holds a call without a name, which is none that can
// be run, and that this is not because it was cut.
func (r *reader) nameless() bool {
	return stopReason(r.finish, false, false) == protocol.StopEndTurn &&
		slices.ContainsFunc(r.calls, func(c *call) bool { return !c.begun && (c.id != "" || c.input.Len() > 0) })
}

// done ends what is open and the answer, or says why it is none.
func (r *reader) done(req model.Request) error {
	if !r.hush() {
		return nil
	}
	called := false
	for _, c := range r.calls {
		if !c.begun {
			continue // an empty piece, or one that was cut
		}
		called = true
		if !r.yield(model.CallEnd(c.index, c.id, c.name, c.input.String())) {
			return nil
		}
	}
	u := r.usage
	if u == nil {
		u = &protocol.Usage{InputTokens: model.EstimateRequest(req), OutputTokens: model.EstimateText(r.output.String())}
	}
	u.CostUSD = r.info.Price.Cost(*u)
	if !listed(r.finish) && !r.no {
		end, bad := r.seen.Done(r.peer, r.finish, *u)
		if bad == nil {
			r.yield(end)
		}
		return bad
	}
	r.yield(model.Done{StopReason: stopReason(r.finish, called, r.no), Usage: *u})
	return nil
}

// listed reports whether the finish reason is one of the vendor's list, or one that
// [stopReason] knows of other servers
// (https://platform.openai.com/docs/api-reference/chat-streaming/streaming).
func listed(finish string) bool {
	switch finish {
	case "stop", "length", "max_tokens", "tool_calls", "content_filter", "function_call":
		return true
	}
	return false
}

func stopReason(finish string, called, refused bool) protocol.StopReason {
	switch finish {
	case "length", "max_tokens":
		return protocol.StopMaxTokens
	case "content_filter":
		return protocol.StopRefusal
	}
	if refused {
		return protocol.StopRefusal
	}
	if called { // some servers say "stop" after calls
		return protocol.StopToolUse
	}
	return protocol.StopEndTurn
}

// finishError returns the failure that a server reports as a finish reason.
func finishError(p httpx.Peer, finish string) error {
	switch finish {
	case "error", "network_error": // OpenRouter, z.ai
		return p.Cut()
	case "model_context_window_exceeded": // z.ai
		return p.Event([]byte(`{"error":{"code":"context_length_exceeded","message":"the model's context window is exceeded"}}`))
	}
	return nil
}
