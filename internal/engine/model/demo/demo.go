package demo

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Pace is a delay that lets a person read along: a whole repair takes a few
// seconds with it.
const Pace = 15 * time.Millisecond

// Config returns how the model speaks.
type Config struct {
	// Delay is waited before each word of text; 0 answers at once.
	Delay time.Duration
}

// New makes a demo model that answers at once.
func New() model.Model { return NewPaced(Config{}) }

// NewPaced makes a demo model that speaks as c says.
func NewPaced(c Config) model.Model { return demo{c} }

type demo struct{ cfg Config }

// Info returns what the model is. It costs nothing.
func (demo) Info() model.Info {
	return model.Info{Ref: "demo", Provider: "scorel", ID: "demo", API: model.APIDemo, ContextWindow: 200_000, MaxTokens: 16_384}
}

// Stream answers the request.
func (d demo) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		s := speaker{ctx: ctx, delay: d.cfg.Delay, yield: yield}
		a := answerTo(req)
		if !s.text(a.text) {
			return
		}
		for _, c := range a.calls {
			if !s.call(c) {
				return
			}
		}
		stop := protocol.StopEndTurn
		if len(a.calls) > 0 {
			stop = protocol.StopToolUse
		}
		yield(model.Done{StopReason: stop, Usage: protocol.Usage{InputTokens: model.EstimateRequest(req), OutputTokens: s.tokens}}, nil)
	}
}

// answer is one step of the model: what it says, then the tools that it calls.
type answer struct {
	text  string
	calls []call
}

// call is one use of a tool. Input is marshalled as JSON.
type call struct {
	tool  string
	input any
}

func answerTo(req model.Request) answer {
	if req.Kind == model.KindCompact {
		return answer{text: summarise(req.Messages)}
	}
	return next(req)
}

// speaker turns an answer into deltas. Its methods say false when the consumer
// has had enough or the context has ended.
type speaker struct {
	ctx    context.Context
	delay  time.Duration
	yield  func(model.Delta, error) bool
	index  int
	tokens int
}

func (s *speaker) text(text string) bool {
	if text == "" {
		return true
	}
	if !s.yield(model.BlockStart{Index: s.index, Type: protocol.BlockText}, nil) {
		return false
	}
	for word := range strings.SplitAfterSeq(text, " ") {
		if !s.wait() || !s.yield(model.TextDelta{Index: s.index, Text: word}, nil) {
			return false
		}
	}
	s.tokens += model.EstimateText(text)
	return s.end(model.BlockEnd{Index: s.index, Block: protocol.Text(text)})
}

func (s *speaker) call(c call) bool {
	input, err := json.Marshal(c.input)
	if err != nil { // inputs are structs of strings and numbers
		s.yield(nil, &model.Error{Class: model.ClassInvalid, Message: "The demo model made a call that is not JSON.", Err: err})
		return false
	}
	id := callID()
	if !s.wait() || !s.yield(model.BlockStart{Index: s.index, Type: protocol.BlockToolUse, CallID: id, Name: c.tool}, nil) ||
		!s.yield(model.CallDelta{Index: s.index, JSON: string(input)}, nil) {
		return false
	}
	s.tokens += model.EstimateText(c.tool) + model.EstimateText(string(input))
	return s.end(model.CallEnd(s.index, id, c.tool, string(input)))
}

func (s *speaker) end(e model.BlockEnd) bool {
	s.index++
	return s.yield(e, nil)
}

// wait takes the time of a word.
func (s *speaker) wait() bool {
	if s.delay > 0 {
		t := time.NewTimer(s.delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.ctx.Done():
		}
	}
	if err := s.ctx.Err(); err != nil {
		s.yield(nil, err)
		return false
	}
	return true
}

// callID draws an id: two branches of a conversation must not share one.
func callID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "demo_" + hex.EncodeToString(b[:])
}
