package runtime

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/model"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a host in memory: the context is what the run has yielded.
type desk struct {
	messages []protocol.Message
	steer    []string
	follow   []string
	deny     string // the reason for which no call may run
	notices  []string
	compacts []Why
	resume   []bool // answers to whether a model that repeats itself goes on
	repeated []Repetition
}

func (d *desk) Context(context.Context) (Prompt, error) {
	return Prompt{System: "sys", Messages: append([]protocol.Message(nil), d.messages...)}, nil
}

func (d *desk) Compact(_ context.Context, why Why, _ Summarise) error {
	d.compacts = append(d.compacts, why)
	if len(d.compacts) > 1 {
		return &model.Error{Class: model.ClassTooLong, Message: "It does not fit."}
	}
	return nil
}

func (d *desk) Steer(context.Context) (int, error) {
	n := len(d.steer)
	for _, s := range d.steer {
		d.messages = append(d.messages, protocol.UserText(s))
	}
	d.steer = nil
	return n, nil
}

func (d *desk) FollowUp(context.Context) (bool, error) {
	if len(d.follow) == 0 {
		return false, nil
	}
	d.messages = append(d.messages, protocol.UserText(d.follow[0]))
	d.follow = d.follow[1:]
	return true, nil
}

func (d *desk) Permit(context.Context, Question) (Permit, error) {
	return Permit{Allowed: d.deny == "", Reason: d.deny}, nil
}

func (d *desk) Waited(string) time.Duration { return 0 }

func (d *desk) Notice(_ context.Context, text string) error {
	d.notices = append(d.notices, text)
	d.messages = append(d.messages, protocol.UserText(text))
	return nil
}

// gadget is a tool made of functions.
type gadget struct {
	spec    tool.Spec
	prepare func() error
	run     func(ctx context.Context, input json.RawMessage, update func(string)) (tool.Result, error)

	mu     sync.Mutex
	closed int
}

func newGadget(name string, run func(ctx context.Context, input json.RawMessage, update func(string)) (tool.Result, error)) *gadget {
	return &gadget{run: run, spec: tool.Spec{ToolInfo: protocol.ToolInfo{Name: name, Kind: permission.Read}, Description: name,
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)}}
}

func (g *gadget) Spec() tool.Spec { return g.spec }

func (g *gadget) Prepare(_ context.Context, call tool.Call) (tool.Prepared, error) {
	if g.prepare != nil {
		if err := g.prepare(); err != nil {
			return nil, err
		}
	}
	return &prepared{g, call.Input}, nil
}

type prepared struct {
	g     *gadget
	input json.RawMessage
}

func (p *prepared) Action() permission.Action                          { return permission.Action{} }
func (p *prepared) Snapshots(context.Context) ([]tool.Snapshot, error) { return nil, nil }
func (p *prepared) Run(ctx context.Context, update func(string)) (tool.Result, error) {
	return p.g.run(ctx, p.input, update)
}
func (p *prepared) Close() {
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	p.g.closed++
}

func answers(text string) func(context.Context, json.RawMessage, func(string)) (tool.Result, error) {
	return func(context.Context, json.RawMessage, func(string)) (tool.Result, error) {
		return tool.Result{Content: []protocol.Block{protocol.Text(text)}}, nil
	}
}

// trial is one run.
type trial struct {
	t       *testing.T
	desk    *desk
	run     Run
	waits   []time.Duration
	reports []string
	events  []RawEvent
}

func newTrial(t *testing.T, tools []tool.Tool, lines ...string) *trial {
	t.Helper()
	d := &desk{messages: []protocol.Message{protocol.UserText("look")}}
	tr := &trial{t: t, desk: d}
	tr.run = Run{Host: d, Model: harness.Scripted(t, "script:main", lines...), Tools: tools, Rand: rand.Reader,
		Sleep: func(ctx context.Context, w time.Duration) error {
			tr.waits = append(tr.waits, w)
			return ctx.Err()
		},
		Report: func(what string, _ []byte) { tr.reports = append(tr.reports, what) }}
	return tr
}

// take keeps an event, as a host would store it.
func (tr *trial) take(raw RawEvent) {
	tr.events = append(tr.events, raw)
	if b, ok := raw.Body.(*protocol.MessageBody); ok {
		tr.desk.messages = append(tr.desk.messages, b.Message)
	}
}

func (tr *trial) execute(ctx context.Context) *protocol.RuntimeEnd {
	tr.t.Helper()
	return tr.over(Execute(ctx, tr.run))
}

func (tr *trial) over(run iter.Seq[RawEvent]) *protocol.RuntimeEnd {
	tr.t.Helper()
	var end *protocol.RuntimeEnd
	for raw := range run {
		if end != nil {
			tr.t.Errorf("%s came behind the end", raw.Body.EventType())
		}
		tr.take(raw)
		end, _ = raw.Body.(*protocol.RuntimeEnd)
	}
	if end == nil {
		tr.t.Fatal("the run has no end")
	}
	return end
}

// results returns the texts of the results, in order.
func (tr *trial) results() []string {
	var out []string
	for _, m := range tr.desk.messages {
		if m.Role == protocol.RoleToolResult {
			out = append(out, fmt.Sprintf("%s %v %s", m.ToolCallID, m.IsError, m.PlainText()))
		}
	}
	return out
}

// Repeats answers as desk.resume says, in order; then nobody can be asked.
func (d *desk) Repeats(_ context.Context, what Repetition) (asked, resume bool, err error) {
	d.repeated = append(d.repeated, what)
	if len(d.resume) == 0 {
		return false, false, nil
	}
	resume, d.resume = d.resume[0], d.resume[1:]
	return true, resume, nil
}
