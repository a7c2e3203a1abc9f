package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	engine "scorel/internal/engine/tool"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// replacement is a tool of an extension in place of a built-in one: the model sees the
// extension's description and parameters under the built-in name. A call is judged, kept
// for undo and shown as one of the built-in tool, and the input has to be one of it; what
// runs is the extension, which may have the built-in tool run the call ([rpc.CallBuiltin]).
type replacement struct {
	tool
	builtin engine.Tool
}

// Spec implements [engine.Tool].
func (t replacement) Spec() engine.Spec {
	spec, own := t.builtin.Spec(), t.spec
	spec.Description, spec.Schema = own.Description, own.Schema
	return spec
}

// With implements [engine.Needy]: the built-in tool needs what it needs.
func (t replacement) With(g engine.Setting, s engine.Session) engine.Tool {
	t.builtin = engine.Bind([]engine.Tool{t.builtin}, g, s)[0]
	return t
}

// Prepare implements [engine.Tool].
func (t replacement) Prepare(ctx context.Context, call engine.Call) (engine.Prepared, error) {
	p, err := t.builtin.Prepare(ctx, call)
	if err != nil {
		return nil, err
	}
	return &replaced{Prepared: p, run: &prepared{t.tool, call}, own: &delegate{prepared: p, input: call.Input}}, nil
}

// replaced is a call of a replacement; it implements [engine.Prepared].
type replaced struct {
	engine.Prepared // the built-in tool's
	run             *prepared
	own             *delegate
}

// AllowedByGitRule implements [engine.GitRuled].
func (p *replaced) AllowedByGitRule() {
	if g, ok := p.Prepared.(engine.GitRuled); ok {
		g.AllowedByGitRule()
	}
}

// Label implements [engine.Labelled].
func (p *replaced) Label() string {
	if l, ok := p.Prepared.(engine.Labelled); ok {
		return l.Label()
	}
	return ""
}

// Run implements [engine.Prepared].
func (p *replaced) Run(ctx context.Context, update func(string)) (engine.Result, error) {
	p.own.ctx, p.own.update = ctx, update
	r, err := p.run.with(ctx, update, p.own)
	own, ran := p.own.end()
	switch {
	case !ran:
		return r, err
	case err != nil && ctx.Err() != nil: // what it had done by then counts
		return engine.Result(own), nil
	case err != nil:
		return own.without(), err
	}
	return own.with(r), nil
}

// delegate is the built-in tool's part in a call.
type delegate struct {
	prepared engine.Prepared
	input    json.RawMessage
	ctx      context.Context
	update   func(string)

	mu     sync.Mutex // held while it runs
	ended  bool
	ran    bool
	result outcome
}

// outcome is what the built-in tool gave.
type outcome engine.Result

// run has the built-in tool run the call, once and with the input that was judged.
func (d *delegate) run(ctx context.Context, input json.RawMessage) (outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ended:
		return outcome{}, errors.New("the call has ended")
	case d.ran:
		return outcome{}, errors.New("the built-in tool has run this call already")
	case !sameJSON(input, d.input):
		return outcome{}, errors.New("the built-in tool runs the call only with the input that was judged; change the input in a handler of tool_call")
	}
	d.ran = true
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	r, err := d.prepared.Run(ctx, d.update)
	if err != nil {
		r.Content, r.IsError = append(r.Content, protocol.Text(err.Error())), true
	}
	d.result = outcome(r)
	return d.result, nil
}

// end ends the part, and returns what the built-in tool gave if it ran.
func (d *delegate) end() (outcome, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	return d.result, d.ran
}

// with returns the result of a call whose text an extension has given: what else is known of
// it is the built-in tool's.
func (o outcome) with(r engine.Result) engine.Result {
	out := engine.Result(o)
	out.IsError, out.Ends = r.IsError, r.Ends
	if reflect.DeepEqual(o.Content, r.Content) {
		return out
	}
	out.Content = r.Content
	if d, ok := out.Details.(protocol.ToolDetails); ok {
		d.Shown = nil // it is of the text that was replaced
		out.Details = d
	}
	return out
}

// without returns what is known of the call beside its text.
func (o outcome) without() engine.Result {
	out := engine.Result(o)
	out.Content = nil
	return out
}

func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// runBuiltin carries out rpc.CallBuiltin.
func (s *Set) runBuiltin(ctx context.Context, m *member, params json.RawMessage) (any, error) {
	var p rpc.BuiltinRun
	r := m.runs(params, &p, &p.ToolCallID)
	if r == nil || r.builtin == nil {
		return nil, fmt.Errorf("a built-in tool is run only for a call of the tool that replaces it; %.60q is none", p.ToolCallID)
	}
	o, err := r.builtin.run(ctx, p.Input)
	if err != nil {
		return nil, err
	}
	details, err := json.Marshal(o.Details)
	if err != nil {
		return nil, err
	}
	return rpc.ToolResult{Content: o.Content, Details: details, IsError: o.IsError}, nil
}

// builtinTools returns the built-in tools as extensions may replace them.
func builtinTools() (out []rpc.Tool) {
	for _, t := range engine.All() {
		if s := t.Spec(); len(s.PiNames) > 0 {
			out = append(out, rpc.Tool{Name: s.Name, Description: s.Description, Parameters: s.Schema, Kind: string(s.Kind), Parallel: s.Parallel})
		}
	}
	return out
}
