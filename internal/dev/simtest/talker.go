package simtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// talker is a model that makes its answers up and remembers what it has said. Each
// block of text begins with a mark that no other block has.
type talker struct {
	seed  uint64
	gate  *gate
	fault func(error) // is told when it is called without end

	mu    sync.Mutex
	calls int
	said  map[string]string // by mark: the block as far as it was said
	tools int
	fails int
}

func newTalker(seed uint64, g *gate, fault func(error)) *talker {
	return &talker{seed: seed, gate: g, fault: fault, said: map[string]string{}}
}

// maxCalls is more than any schedule comes to: 5 people do 40 things each, which begin
// a turn of at most 5 calls that are tried 8 times.
const maxCalls = 3000

// markLen is the length of a mark: "A0012.1:".
const markLen = 8

// mark returns the mark of a block's text, "" when it has none.
func mark(text string) string {
	if len(text) < markLen || text[0] != 'A' || text[markLen-1] != ':' {
		return ""
	}
	return text[:markLen]
}

// knows reports whether text is what a block began with, as far as it was said.
func (t *talker) knows(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	said, ok := t.said[mark(text)]
	return ok && strings.HasPrefix(said, text)
}

// Info implements [model.Model].
func (t *talker) Info() model.Info {
	return model.Info{Ref: "demo", Provider: "demo", ID: "talker", API: model.APIDemo, ContextWindow: 1 << 24, MaxTokens: 32_000,
		Thinking: []model.ThinkingLevel{model.ThinkingLow}}
}

// Stream implements [model.Model].
func (t *talker) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		t.mu.Lock()
		t.calls++
		n := t.calls
		t.mu.Unlock()
		if n > maxCalls {
			t.fault(errors.New("the model is called without end"))
			yield(nil, &model.Error{Class: model.ClassInvalid, Message: "the talker has said enough"})
			return
		}
		a := answer{t: t, ctx: ctx, yield: yield, n: n, r: rand.New(rand.NewPCG(t.seed, uint64(n)))}
		a.speak(req)
	}
}

// answer is one on its way.
type answer struct {
	t     *talker
	ctx   context.Context
	yield func(model.Delta, error) bool
	n     int
	r     *rand.Rand
	index int
}

// results counts the results after the newest user message.
func results(req model.Request) int {
	n := 0
	for _, m := range req.Messages {
		switch m.Role {
		case protocol.RoleUser:
			n = 0
		case protocol.RoleToolResult:
			n++
		}
	}
	return n
}

func (a *answer) speak(req model.Request) {
	if a.r.IntN(12) == 0 && !a.fail() { // before anything was said
		return
	}
	if a.r.IntN(3) == 0 && !a.block(protocol.BlockThinking) {
		return
	}
	if !a.block(protocol.BlockText) {
		return
	}
	stop := protocol.StopEndTurn
	if a.r.IntN(2) == 0 && results(req) < 3 {
		stop = protocol.StopToolUse
		for range 1 + a.r.IntN(2) {
			if !a.call() {
				return
			}
		}
	}
	a.yield(model.Done{StopReason: stop, Usage: protocol.Usage{InputTokens: 10, OutputTokens: 5}}, nil)
}

// pause waits as a model does between two pieces, and while the world stands still.
func (a *answer) pause() bool {
	t := time.NewTimer(time.Duration(a.r.IntN(6)) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-a.ctx.Done():
	}
	if err := a.t.gate.pass(a.ctx); err != nil {
		a.yield(nil, err)
		return false
	}
	return true
}

func (a *answer) fail() bool {
	a.t.mu.Lock()
	a.t.fails++
	a.t.mu.Unlock()
	a.yield(nil, &model.Error{Class: model.ClassTransient, Status: 503, Message: "the talker is out of breath"})
	return false
}

// largeOneIn is of how many pieces one is large.
const largeOneIn = 3000

// block says a block in pieces; in one of twenty the answer breaks off.
func (a *answer) block(kind protocol.BlockType) bool {
	if !a.pause() || !a.give(model.BlockStart{Index: a.index, Type: kind}) {
		return false
	}
	id := fmt.Sprintf("A%04d.%d:", a.n%10_000, a.index%10)
	text, piece := "", id
	pieces := 1 + a.r.IntN(6)
	breaks := -1
	if a.r.IntN(20) == 0 {
		breaks = a.r.IntN(pieces)
	}
	for i := range pieces {
		if i == breaks {
			return a.fail()
		}
		if a.r.IntN(largeOneIn) == 0 {
			piece += strings.Repeat("large ", 20_000+a.r.IntN(60_000)) // some of these are not kept whole in the host's ring
		}
		piece += strings.Repeat(string(rune('a'+a.r.IntN(26))), 1+a.r.IntN(8)) + [...]string{" ", "\n", "é", "\u2028", "\""}[a.r.IntN(5)]
		text += piece
		a.t.mu.Lock()
		a.t.said[id] = text
		a.t.mu.Unlock()
		d := model.Delta(model.TextDelta{Index: a.index, Text: piece})
		if kind == protocol.BlockThinking {
			d = model.ThinkingDelta{Index: a.index, Text: piece}
		}
		if !a.give(d) || !a.pause() {
			return false
		}
		piece = ""
	}
	end := protocol.Text(text)
	if kind == protocol.BlockThinking {
		end = protocol.Block{Type: kind, Thinking: text, Signature: "talker"}
	}
	a.index++
	return a.give(model.BlockEnd{Index: a.index - 1, Block: end})
}

// call asks for a tool: one that needs nothing, one that needs a permission, or a
// question to a person.
func (a *answer) call() bool {
	a.t.mu.Lock()
	a.t.tools++
	a.t.mu.Unlock()
	id := fmt.Sprintf("c%d.%d", a.n, a.index)
	var name string
	var input any
	switch a.r.IntN(4) {
	case 0:
		name, input = "TodoWrite", map[string]any{"todos": []map[string]string{{"content": id, "status": "pending"}}}
	case 1:
		name, input = "Read", map[string]any{"path": "notes.txt"}
	case 2:
		name, input = "Write", map[string]any{"path": fmt.Sprintf("out%d.txt", a.n%4), "content": id}
	default:
		name, input = "AskUser", map[string]any{"questions": []map[string]any{{"question": "Which? " + id, "options": []map[string]string{{"label": "this"}, {"label": "that"}}}}}
	}
	data, _ := json.Marshal(input) // strings and maps of them
	if !a.give(model.BlockStart{Index: a.index, Type: protocol.BlockToolUse, CallID: id, Name: name}) {
		return false
	}
	half := a.r.IntN(len(data))
	for _, part := range []string{string(data[:half]), string(data[half:])} {
		if !a.pause() || !a.give(model.CallDelta{Index: a.index, JSON: part}) {
			return false
		}
	}
	a.index++
	return a.give(model.CallEnd(a.index-1, id, name, string(data)))
}

func (a *answer) give(d model.Delta) bool { return a.yield(d, nil) }

// gate lets the world stand still.
type gate struct {
	mu   sync.Mutex
	open chan struct{} // closed while it is open
}

func newGate() *gate {
	g := &gate{open: make(chan struct{})}
	close(g.open)
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

func (g *gate) lift() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
}

// pass returns when the gate is open, or ctx has ended.
func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
