package responses

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
	peer  httpx.Peer
	req   model.Request
	seen  httpx.Unlisted
	yield func(model.Delta) bool

	count    int           // blocks so far
	open     map[int]*open // items that have not ended, by the server's index
	thoughts int           // reasoning items since the last other one
	thought  string        // the id of the last of them
	called   bool
	refused  bool
	tokens   int // estimate of what came
}

// open is an item that has not ended.
type open struct {
	answer                 // what is known of it
	after   int            // reasoning items directly before
	follows string         // the id of the last of them
	blocks  map[int]*block // by part; of calls and reasoning number 0
}

// block is one that has not ended.
type block struct {
	index int
	kind  protocol.BlockType
	text  strings.Builder
	at    place // where the last piece of thinking stood
}

// place is a part of reasoning: of its summary, or of its text where the server
// shows that.
type place struct {
	raw   bool
	index int
}

// event reads one event. It reports whether to go on: not when the answer is complete
// or the consumer has had enough.
func (r *reader) event(e *event) (more bool, err error) {
	switch e.Type {
	case "response.output_item.added":
		if e.Item != nil {
			return r.begin(e.OutputIndex, *e.Item)
		}
	case "response.output_text.delta":
		return r.say(e)
	case "response.refusal.delta":
		r.refused = true
		return r.say(e)
	case "response.reasoning_summary_text.delta":
		return r.think(e, place{index: e.SummaryIndex})
	case "response.reasoning_text.delta":
		return r.think(e, place{raw: true, index: e.ContentIndex})
	case "response.function_call_arguments.delta":
		if o := r.open[e.OutputIndex]; o != nil && o.Type == typeCall {
			return r.add(o.blocks[0], e.Delta), nil
		}
	case "response.function_call_arguments.done":
		if o := r.open[e.OutputIndex]; o != nil && o.Type == typeCall {
			return r.fill(o, e.Arguments)
		}
	case "response.output_item.done":
		if e.Item != nil {
			return r.done(e.OutputIndex, *e.Item)
		}
	case "response.completed", "response.incomplete":
		return false, r.finish(e)
	case "response.failed":
		return false, r.failed(e)
	case "error":
		return false, r.peer.Event(e.raw)
	}
	return true, nil
}

// begin opens an item. One of a kind that was not asked for is passed over.
func (r *reader) begin(at int, a answer) (bool, error) {
	if old := r.open[at]; old != nil { // its end got lost
		if more, err := r.end(at, old, answer{}); err != nil || !more {
			return more, err
		}
	}
	// Other fields may be incomplete before the item ends, its encrypted content
	// above all.
	o := &open{answer: answer{Type: a.Type, ID: a.ID, Phase: a.Phase, CallID: a.CallID, Name: a.Name}, blocks: map[int]*block{}}
	switch a.Type {
	case typeMessage, typeCall:
		o.after, o.follows, r.thoughts, r.thought = r.thoughts, r.thought, 0, ""
	case typeReasoning:
		r.thoughts, r.thought = r.thoughts+1, usableID(a.ID)
	default:
		return true, nil
	}
	if r.open == nil {
		r.open = map[int]*open{}
	}
	r.open[at] = o
	switch a.Type {
	case typeReasoning:
		return r.start(o, 0, model.BlockStart{Type: protocol.BlockThinking}), nil
	case typeCall:
		if a.CallID == "" || a.Name == "" {
			return false, r.peer.Broken("a call without id or name")
		}
		r.called = true
		if !r.start(o, 0, model.BlockStart{Type: protocol.BlockToolUse, CallID: a.CallID, Name: a.Name}) {
			return false, nil
		}
	}
	return true, nil
}

// start opens a block of an item.
func (r *reader) start(o *open, part int, s model.BlockStart) bool {
	s.Index = r.count
	o.blocks[part] = &block{index: s.Index, kind: s.Type}
	r.count++
	return r.yield(s)
}

// add adds a piece to a block.
func (r *reader) add(b *block, text string) bool {
	if text == "" {
		return true
	}
	b.text.WriteString(text)
	switch b.kind {
	case protocol.BlockThinking:
		return r.yield(model.ThinkingDelta{Index: b.index, Text: text})
	case protocol.BlockToolUse:
		return r.yield(model.CallDelta{Index: b.index, JSON: text})
	}
	return r.yield(model.TextDelta{Index: b.index, Text: text})
}

// item returns the open item of an event, which some servers do not announce.
func (r *reader) item(e *event, kind string) (o *open, more bool, err error) {
	if o = r.open[e.OutputIndex]; o == nil || o.Type != kind {
		if more, err = r.begin(e.OutputIndex, answer{Type: kind, ID: e.ItemID}); err != nil || !more {
			return nil, more, err
		}
	}
	return r.open[e.OutputIndex], true, nil
}

// say adds a piece of text. A part of a message is a block, which begins with its
// first piece.
func (r *reader) say(e *event) (bool, error) {
	if e.Delta == "" {
		return true, nil
	}
	o, more, err := r.item(e, typeMessage)
	if err != nil || !more {
		return more, err
	}
	return r.sayIn(o, e.ContentIndex, e.Delta), nil
}

func (r *reader) sayIn(o *open, part int, text string) bool {
	if text == "" {
		return true
	}
	if o.blocks[part] == nil && !r.start(o, part, model.BlockStart{Type: protocol.BlockText}) {
		return false
	}
	return r.add(o.blocks[part], text)
}

// think adds a piece of thinking. Parts stand an empty line apart.
func (r *reader) think(e *event, at place) (bool, error) {
	if e.Delta == "" {
		return true, nil
	}
	o, more, err := r.item(e, typeReasoning)
	if err != nil || !more {
		return more, err
	}
	b := o.blocks[0]
	if b.at != at && b.text.Len() > 0 && !r.add(b, "\n\n") {
		return false, nil
	}
	b.at = at
	return r.add(b, e.Delta), nil
}

// fill adds what is missing of a call's input. Pieces that do not give the whole
// are no call that can be run.
func (r *reader) fill(o *open, whole string) (bool, error) {
	rest, ok := strings.CutPrefix(whole, o.blocks[0].text.String())
	switch {
	case whole == "":
		return true, nil
	case !ok:
		return false, r.peer.Broken("a call whose pieces do not give its input")
	}
	return r.add(o.blocks[0], rest), nil
}

// done ends an item. Reasoning without its encrypted content stays open, because
// Azure sends that with the end of the answer alone
// (https://github.com/earendil-works/pi/issues/6409).
func (r *reader) done(at int, a answer) (bool, error) {
	o := r.open[at]
	if o == nil || o.Type != a.Type {
		if more, err := r.begin(at, a); err != nil || !more {
			return more, err
		}
		if o = r.open[at]; o == nil || o.Type != a.Type {
			return true, nil
		}
	}
	if a.Type == typeReasoning && a.Sealed == "" {
		o.answer = a
		return true, nil
	}
	return r.end(at, o, a)
}

// end closes the blocks of an item. a is the whole item, or nothing where the
// server does not say.
func (r *reader) end(at int, o *open, a answer) (bool, error) {
	delete(r.open, at)
	if a.Type == "" {
		a = o.answer
	}
	if a.Status == "incomplete" {
		r.seen.Cut()
	}
	switch o.Type {
	case typeReasoning:
		return r.endThinking(o.blocks[0], a), nil
	case typeCall:
		if more, err := r.fill(o, a.Arguments); err != nil || !more {
			return more, err
		}
		b := o.blocks[0]
		end := model.CallEnd(b.index, o.CallID, o.Name, b.text.String())
		end.Block.Provider = providerData(r.info.ID, origin{ID: usableID(a.ID), After: o.after, Follows: o.follows})
		return r.close(b, end), nil
	}
	return r.endMessage(o, a), nil
}

func (r *reader) endThinking(b *block, a answer) bool {
	summary, raw := texts(a.Summary), texts(a.Content)
	whole := strings.Join(summary, "\n\n")
	if whole == "" {
		whole = strings.Join(raw, "\n\n")
	}
	if rest, ok := strings.CutPrefix(whole, b.text.String()); ok && !r.add(b, rest) {
		return false
	}
	end := model.BlockEnd{Index: b.index, Block: protocol.Block{Type: b.kind, Thinking: b.text.String()}}
	if a.Sealed != "" {
		end.Block.Provider = providerData(r.info.ID, thought{ID: usableID(a.ID), Sealed: a.Sealed, Summary: summary})
	}
	return r.close(b, end)
}

func (r *reader) endMessage(o *open, a answer) bool {
	for i, p := range a.Content {
		whole := p.Text
		if p.Refusal != "" {
			whole, r.refused = p.Refusal, true
		}
		sofar := ""
		if b := o.blocks[i]; b != nil {
			sofar = b.text.String()
		}
		if rest, ok := strings.CutPrefix(whole, sofar); ok && !r.sayIn(o, i, rest) {
			return false
		}
	}
	from := origin{ID: usableID(a.ID), Phase: a.Phase, After: o.after, Follows: o.follows}
	for _, i := range slices.Sorted(maps.Keys(o.blocks)) {
		b := o.blocks[i]
		end := model.BlockEnd{Index: b.index, Block: protocol.Text(b.text.String())}
		end.Block.Provider = providerData(r.info.ID, from)
		if !r.close(b, end) {
			return false
		}
		from.After, from.Follows = 0, ""
	}
	return true
}

func (r *reader) close(b *block, end model.BlockEnd) bool {
	r.tokens += model.EstimateText(b.text.String())
	return r.yield(end)
}

func texts(list []said) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, s.Text)
	}
	return out
}

// finish ends what is open, with what the end event says of it, and the answer.
func (r *reader) finish(e *event) error {
	res := e.Response
	if res == nil {
		return r.peer.Broken("an end without its answer")
	}
	for _, at := range slices.Sorted(maps.Keys(r.open)) {
		if r.open[at].Type != typeReasoning {
			r.seen.Cut()
		}
		var a answer
		if at < len(res.Output) && at >= 0 && res.Output[at].Type == r.open[at].Type {
			a = res.Output[at]
		}
		if more, err := r.end(at, r.open[at], a); err != nil || !more {
			return err
		}
	}
	if r.count == 0 { // of servers that stream nothing
		for at, a := range res.Output {
			if more, err := r.begin(at, a); err != nil || !more {
				return err
			}
			if o := r.open[at]; o != nil {
				if more, err := r.end(at, o, a); err != nil || !more {
					return err
				}
			}
		}
	}
	u := counts(res.Usage)
	if u.ContextTokens() == 0 { // a server that counts nothing
		u.InputTokens, u.OutputTokens = model.EstimateRequest(r.req), r.tokens
	}
	u.CostUSD = r.info.Price.Cost(u)
	reason := res.Incomplete.Reason
	stop, ok := r.stopReason(e.Type, reason)
	end := model.Done{StopReason: stop, Usage: u}
	if !ok && reason == "" {
		return r.peer.Cut()
	}
	if !ok {
		var bad error
		if end, bad = r.seen.Done(r.peer, reason, u); bad != nil {
			return bad
		}
	}
	r.yield(end)
	return nil
}

// stopReason returns why an answer ended. It says false for one that the server left off for
// a reason that is not in the vendor's list.
func (r *reader) stopReason(event, reason string) (protocol.StopReason, bool) {
	switch {
	case event == "response.incomplete" && reason == "max_output_tokens":
		return protocol.StopMaxTokens, true
	case event == "response.incomplete" && reason == "content_filter", r.refused:
		return protocol.StopRefusal, true
	case event == "response.incomplete":
		return "", false
	case r.called:
		return protocol.StopToolUse, true
	}
	return protocol.StopEndTurn, true
}

// counts splits the input into what was cached and what was not.
func counts(u *usage) protocol.Usage {
	if u == nil {
		return protocol.Usage{}
	}
	return protocol.Usage{
		InputTokens:      int(max(0, u.Input-u.InputDetails.Cached-u.InputDetails.Written)),
		OutputTokens:     int(u.Output),
		CacheReadTokens:  int(u.InputDetails.Cached),
		CacheWriteTokens: int(u.InputDetails.Written),
		ReasoningTokens:  int(u.OutputDetails.Reasoning),
	}
}

// failed maps the failure of an answer that had begun.
func (r *reader) failed(e *event) error {
	if e.Response == nil || len(e.Response.Error) == 0 || string(e.Response.Error) == "null" {
		return r.peer.Broken("a failed answer without a reason")
	}
	doc, err := json.Marshal(map[string]json.RawMessage{"error": e.Response.Error})
	if err != nil {
		return r.peer.Broken("a failed answer without a reason")
	}
	return r.peer.Event(doc)
}
