package lane

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/hook"
	"scorel/internal/engine/model"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/lane/addition"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// trial is a lane whose model plays a script, with one tool, "Do".
type trial struct {
	t        *testing.T
	store    *session.Store
	lane     *Lane
	model    *recorder
	do       func(ctx context.Context) // what the tool does
	result   []protocol.Block          // what it gives besides
	hooks    []hook.Subscriber
	items    []protocol.Item
	subagent bool
	mode     permission.Mode
	auto     bool // compaction
	now      func() time.Time
	called   string // the id of the newest call of the tool
	mu       sync.Mutex
	reports  []string
	host     *standIn
}

// recorder is a model that notes what it is sent.
type recorder struct {
	model.Model
	mu       sync.Mutex
	requests []model.Request
	before   func(ctx context.Context, n int) // is called in each request, which it may hold
}

func (r *recorder) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	r.mu.Lock()
	r.requests = append(r.requests, req)
	n, before := len(r.requests), r.before
	r.mu.Unlock()
	if before != nil {
		before(ctx, n)
	}
	return r.Model.Stream(ctx, req)
}

// sent returns the texts of the messages of a request, by its number from 1.
func (r *recorder) sent(n int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > len(r.requests) {
		return fmt.Sprintf("there are only %d requests", len(r.requests))
	}
	var out []string
	for _, m := range r.requests[n-1].Messages {
		out = append(out, string(m.Role)+": "+m.PlainText())
	}
	return strings.Join(out, "\n")
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// newTrial makes a trial that is not opened yet: its fields may be set.
func newTrial(t *testing.T, lines ...string) *trial {
	t.Helper()
	return newTrialOn(t, nil, lines...)
}

func newTrialOn(t *testing.T, on disk.FS, lines ...string) *trial {
	t.Helper()
	store, err := session.OpenStore(session.Config{FS: on, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return &trial{t: t, store: store, model: &recorder{Model: harness.Scripted(t, "", lines...)}, mode: permission.Default, now: time.Now}
}

// open makes the lane.
func (tr *trial) open() *trial {
	tr.t.Helper()
	log, err := tr.store.Create(tr.t.Context(), protocol.Header{Version: protocol.HeaderVersion, SessionID: protocol.NewSessionID(time.Now(), rand.Reader)})
	if err != nil {
		tr.t.Fatal(err)
	}
	chain := func() *hook.Chain {
		if len(tr.hooks) == 0 {
			return nil
		}
		return hook.New(func(text string) { tr.lane.Notices().Notify("", "warning", text) }, tr.hooks...)
	}
	tr.host = &standIn{hooks: chain, config: func(context.Context, protocol.Meta, *protocol.TurnOptions) (*TurnConfig, error) {
		policy, err := permission.Compile(permission.Config{Mode: tr.mode, UID: 1000, Home: "/home/x", Root: "/p"})
		if err != nil {
			return nil, err
		}
		return &TurnConfig{Models: Models{Main: tr.model}, Tools: []tool.Tool{&gadget{tr}}, Policy: policy, Hooks: chain(), Items: tr.items, Subagent: tr.subagent,
			Limits: runtime.Limits{MaxSteps: 50}, Compaction: tr.auto,
			Prompt: helpful{},
			Close:  func() {}}, nil
	}}
	tr.lane, err = New(tr.t.Context(), Config{Turns: tr.host, Host: tr.host, Owner: tr.host, Log: log, Blobs: tr.store.Blobs(), Now: tr.now, Rand: rand.Reader,
		Report: func(what string, _ []byte) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.reports = append(tr.reports, what)
		},
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	return tr
}

// gadget is the tool "Do".
type gadget struct{ tr *trial }

func (g *gadget) Spec() tool.Spec {
	return tool.Spec{ToolInfo: protocol.ToolInfo{Name: "Do", Kind: permission.State}, Description: "Do", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)}
}

func (g *gadget) Prepare(_ context.Context, call tool.Call) (tool.Prepared, error) {
	return &doing{g.tr, call}, nil
}

type doing struct {
	tr   *trial
	call tool.Call
}

func (d *doing) Action() permission.Action {
	return permission.Action{Tool: "Do", Kind: permission.State}
}
func (d *doing) Snapshots(context.Context) ([]tool.Snapshot, error) { return nil, nil }
func (d *doing) Run(ctx context.Context, _ func(string)) (tool.Result, error) {
	d.tr.called = d.call.ID
	if d.tr.do != nil {
		d.tr.do(ctx)
	}
	return tool.Result{Content: append([]protocol.Block{protocol.Text("did " + string(d.call.Input))}, d.tr.result...)}, nil
}
func (d *doing) Close() {}

func (tr *trial) caller() Caller {
	return Caller{Client: "cli_0000000000000000000000000", Request: protocol.NewRequestID(rand.Reader)}
}

func (tr *trial) send(text string) (*protocol.Sent, error) {
	return tr.lane.Send(tr.t.Context(), tr.caller(), Message{Content: []protocol.Block{protocol.Text(text)}})
}

// say sends a message and waits until nothing runs.
func (tr *trial) say(text string) {
	tr.t.Helper()
	if _, err := tr.send(text); err != nil {
		tr.t.Fatal(err)
	}
	tr.rest()
}

// rest waits until no turn runs.
func (tr *trial) rest() {
	tr.t.Helper()
	for {
		tr.lane.j.Lock()
		t := tr.lane.course.turn
		tr.lane.j.Unlock()
		if t == nil {
			break
		}
		select {
		case <-t.Done:
		case <-time.After(harness.Timeout):
			tr.t.Fatal("the turn does not end")
		}
	}
	tr.lane.course.after.Wait()
	tr.lane.j.Lock()
	busy := tr.lane.course.turn != nil
	tr.lane.j.Unlock()
	if busy { // the queue has gone on
		tr.rest()
	}
}

// path returns the events of the active path, oldest first, in short.
func (tr *trial) path() []string {
	tr.t.Helper()
	index := tr.lane.Log().Index()
	var out []string
	for e, err := range index.Back(context.Background(), index.Leaf()) {
		if err != nil {
			tr.t.Fatal(err)
		}
		out = append([]string{brief(e)}, out...)
	}
	return out
}

func brief(e protocol.Event) string {
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		if calls := b.Message.Calls(); len(calls) > 0 {
			return "calls"
		}
		return string(b.Message.Role) + " " + b.Message.PlainText()
	case *protocol.HarnessItem:
		return string(b.Item.Kind) + " " + b.Item.Content
	case *protocol.CustomMessage:
		return "custom " + b.Message.PlainText()
	case *protocol.Compact:
		return "compact " + b.Summary
	}
	return string(e.Type)
}

func (tr *trial) reported(text string) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, r := range tr.reports {
		if strings.Contains(r, text) {
			return true
		}
	}
	return false
}

func (tr *trial) close() {
	tr.t.Helper()
	if err := tr.lane.Close(func() {}); err != nil {
		tr.t.Error(err)
	}
}

func note(text string) protocol.Body { return addition.NoteBody(text) }

const again = `{"again":true,"do":[{"text":"fine"}]}`

// standIn is the host and the owner of a lane. It is used by one test; its fields may be
// changed while no turn runs.
type standIn struct {
	config func(context.Context, protocol.Meta, *protocol.TurnOptions) (*TurnConfig, error)
	hooks  func() *hook.Chain // nil for none
}

func (s *standIn) TurnConfig(ctx context.Context, meta protocol.Meta, o *protocol.TurnOptions) (*TurnConfig, error) {
	return s.config(ctx, meta, o)
}

func (s *standIn) CallConfig(ctx context.Context, meta protocol.Meta) (*TurnConfig, error) {
	return s.config(ctx, meta, nil)
}

func (s *standIn) Hooks(context.Context, protocol.Meta) (*hook.Chain, error) {
	if s.hooks == nil {
		return nil, nil
	}
	return s.hooks(), nil
}

func (s *standIn) OpenFiles(protocol.Meta) (*files.Files, error) {
	return nil, errors.New("no files")
}
func (s *standIn) FreeSpace() (uint64, error)               { return 1 << 40, nil }
func (s *standIn) RememberRule(protocol.Meta, string) error { return nil }
func (s *standIn) Idle()                                    {}
func (s *standIn) Changed()                                 {}
func (s *standIn) Broke(*fault.Panic)                       {}
func (s *standIn) RunAgent(context.Context, Order) (tool.Result, error) {
	return tool.Result{}, errors.New("there are no sub-agents here")
}

// helpful is the system prompt of a turn in tests.
type helpful struct{}

func (helpful) Touched(Touched, history.Told) []protocol.Item { return nil }

func (helpful) Instructions() (protocol.Instructions, []string, error) {
	return protocol.Instructions{Text: "Help."}, nil, nil
}
func (helpful) Items(history.Told, string) []protocol.Item { return nil }
func (helpful) NotTold()                                   {}

// followUps are the messages that wait for the next turn, as the log has them, and the
// event that says so.
func (tr *trial) followUps() (items []protocol.QueueItem, update protocol.EventID) {
	tr.t.Helper()
	for e, err := range tr.lane.Log().Index().OfType(context.Background(), protocol.TypeQueueUpdate) {
		if err != nil {
			tr.t.Fatal(err)
		}
		if b := e.Body.(*protocol.QueueUpdate); b.Queue == protocol.QueueFollowUp {
			items, update = b.Items, e.ID
		}
	}
	return items, update
}
