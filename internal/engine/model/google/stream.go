package google

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// chunk is an event of a stream: a GenerateContentResponse, or an error.
type chunk struct {
	ID         string `json:"responseId"`
	Candidates []struct {
		Content content `json:"content"`
		Finish  string  `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *counts         `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// counts of tokens. Prompt includes Cached; Output does not include Thoughts.
type counts struct {
	Prompt   httpx.Int `json:"promptTokenCount"`
	Cached   httpx.Int `json:"cachedContentTokenCount"`
	ToolUse  httpx.Int `json:"toolUsePromptTokenCount"`
	Output   httpx.Int `json:"candidatesTokenCount"`
	Thoughts httpx.Int `json:"thoughtsTokenCount"`
}

func (c counts) usage() protocol.Usage {
	return protocol.Usage{
		InputTokens:     int(max(0, c.Prompt-c.Cached) + c.ToolUse),
		CacheReadTokens: int(c.Cached),
		OutputTokens:    int(c.Output + c.Thoughts),
		ReasoningTokens: int(c.Thoughts),
	}
}

// reader turns the events of one answer into deltas. A text or thinking grows from
// event to event until something else comes; a call is whole in its event.
type reader struct {
	info    model.Info
	peer    httpx.Peer
	yield   func(model.Delta) bool
	stopped bool // the consumer has had enough

	id     string // of the answer
	count  int    // blocks so far
	said   *said  // the open text or thinking
	called bool
	finish string // why the answer ended; blocked when the prompt was refused
	usage  *counts
	seen   httpx.Unlisted
	output strings.Builder // all that came, for an estimate when no counts come
}

type said struct {
	index     int
	kind      protocol.BlockType
	text      strings.Builder
	signature string
}

// event reads one event.
func (r *reader) event(data []byte) error {
	if string(data) == "[DONE]" { // of servers that end a stream as OpenAI does
		return nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return r.peer.Event(data)
	}
	if c.ID != "" {
		r.id = c.ID
	}
	if c.Usage != nil && *c.Usage != (counts{}) { // others count nothing
		r.usage = c.Usage
	}
	if c.Feedback.Block != "" && len(c.Candidates) == 0 {
		r.finish = blocked
	}
	if len(c.Candidates) == 0 {
		return nil
	}
	for _, p := range c.Candidates[0].Content.Parts {
		if err := r.part(p); err != nil || r.stopped {
			return err
		}
	}
	if f := c.Candidates[0].Finish; f != "" && f != "FINISH_REASON_UNSPECIFIED" {
		r.finish = f
	}
	return nil
}

func (r *reader) part(p part) error {
	switch {
	case p.Call != nil:
		if p.Call.Name == "" {
			return r.peer.Broken("a call without a name")
		}
		r.call(p)
	case p.Inline != nil || p.Result != nil: // made by abilities that are not asked for
	case p.Thought:
		r.say(protocol.BlockThinking, p)
	default:
		r.say(protocol.BlockText, p)
	}
	return nil
}

// give hands a delta on.
func (r *reader) give(d model.Delta) bool {
	if !r.stopped {
		r.seen.Note(d)
		r.stopped = !r.yield(d)
	}
	return !r.stopped
}

// say adds to the open block or opens one. Pieces of a stream are pieces of one
// part, so that a signature on any of them is the part's; one that comes with no
// text, as it does at the end of an answer, belongs to the text before it.
func (r *reader) say(kind protocol.BlockType, p part) {
	s := r.said
	if p.Text == "" {
		if s != nil && s.kind == kind && s.signature == "" {
			s.signature = p.Signature
		}
		return
	}
	if s != nil && (s.kind != kind || s.signature != "" && p.Signature != "") && !r.hush() {
		return
	}
	if r.said == nil {
		r.said = &said{index: r.count, kind: kind}
		r.count++
		if !r.give(model.BlockStart{Index: r.said.index, Type: kind}) {
			return
		}
	}
	s = r.said
	s.text.WriteString(p.Text)
	r.output.WriteString(p.Text)
	if p.Signature != "" {
		s.signature = p.Signature
	}
	if kind == protocol.BlockThinking {
		r.give(model.ThinkingDelta{Index: s.index, Text: p.Text})
		return
	}
	r.give(model.TextDelta{Index: s.index, Text: p.Text})
}

// hush ends the open text or thinking.
func (r *reader) hush() bool {
	s := r.said
	if s == nil {
		return true
	}
	r.said = nil
	b := protocol.Block{Type: s.kind, Provider: model.GoogleData{ThoughtSignature: s.signature}.Block(r.info)}
	if s.kind == protocol.BlockThinking {
		b.Thinking = s.text.String()
	} else {
		b.Text = s.text.String()
	}
	return r.give(model.BlockEnd{Index: s.index, Block: b})
}

func (r *reader) call(p part) {
	if !r.hush() {
		return
	}
	r.called = true
	index := r.count
	r.count++
	id := p.Call.ID
	if id == "" {
		id = r.madeUp(index)
	}
	if !r.give(model.BlockStart{Index: index, Type: protocol.BlockToolUse, CallID: id, Name: p.Call.Name}) {
		return
	}
	var args bytes.Buffer
	if len(p.Call.Args) == 0 || string(p.Call.Args) == "null" || json.Compact(&args, p.Call.Args) != nil {
		args.Reset()
		args.WriteString("{}")
	}
	input := strings.ToValidUTF8(args.String(), "\uFFFD") // these bytes were not read as text
	r.output.WriteString(input)
	end := model.CallEnd(index, id, p.Call.Name, input)
	end.Block.Provider = model.GoogleData{ThoughtSignature: p.Signature, CallID: p.Call.ID}.Block(r.info)
	if r.give(model.CallDelta{Index: index, JSON: input}) {
		r.give(end)
	}
}

// madeUp is the id of a call that came without one, as those of models before
// Gemini 3 do.
func (r *reader) madeUp(index int) string {
	if r.id == "" {
		r.id = rand.Text()
	}
	sum := sha256.Sum256([]byte(r.id + "/" + strconv.Itoa(index)))
	return "call_" + hex.EncodeToString(sum[:12])
}

// done ends the answer, or says why it is none.
func (r *reader) done(req model.Request) error {
	if !r.hush() {
		return nil
	}
	u := protocol.Usage{InputTokens: model.EstimateRequest(req), OutputTokens: model.EstimateText(r.output.String())}
	if r.usage != nil {
		u = r.usage.usage()
	}
	u.CostUSD = r.info.Price.Cost(u)
	end := model.Done{Usage: u}
	var bad error
	if listed(r.finish) {
		end.StopReason, bad = stopReason(r.peer, r.finish, r.called)
	} else {
		end, bad = r.seen.Done(r.peer, r.finish, u)
	}
	if bad == nil {
		r.give(end)
	}
	return bad
}
