package lane

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/progress"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// worker is a tool that runs a function for each call.
type worker struct {
	run func(ctx context.Context, call tool.Call, update func(string)) (tool.Result, error)
}

func (w worker) Spec() tool.Spec {
	return tool.Spec{ToolInfo: protocol.ToolInfo{Name: "Work", Kind: permission.State}, Parallel: true, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (w worker) Prepare(_ context.Context, call tool.Call) (tool.Prepared, error) {
	return task{w, call}, nil
}

type task struct {
	worker
	call tool.Call
}

func (w task) Action() permission.Action {
	return permission.Action{Tool: "Work", Kind: permission.State}
}
func (w task) Snapshots(context.Context) ([]tool.Snapshot, error) { return nil, nil }
func (w task) Close()                                             {}
func (w task) Run(ctx context.Context, update func(string)) (tool.Result, error) {
	return w.worker.run(ctx, w.call, update)
}

// shop is a lane whose model calls Work, and what a client reads of it.
type shop struct {
	t      *testing.T
	lane   *Lane
	cursor *publish.Cursor
	store  *session.Store
	dir    string
}

func newShop(t *testing.T, run func(ctx context.Context, call tool.Call, update func(string)) (tool.Result, error), lines ...string) *shop {
	t.Helper()
	dir := t.TempDir()
	store, err := session.OpenStore(session.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	log, err := store.Create(t.Context(), protocol.Header{Version: protocol.HeaderVersion, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	m := harness.Scripted(t, "", lines...)
	policy, err := permission.Compile(permission.Config{Mode: permission.Default})
	if err != nil {
		t.Fatal(err)
	}
	host := &standIn{config: func(context.Context, protocol.Meta, *protocol.TurnOptions) (*TurnConfig, error) {
		return &TurnConfig{Models: Models{Main: m}, Tools: []tool.Tool{worker{run}}, Policy: policy,
			Limits: runtime.Limits{MaxSteps: 3},
			Prompt: helpful{},
			Close:  func() {}}, nil
	}}
	l, err := New(t.Context(), Config{Turns: host, Host: host, Owner: host, Log: log, Blobs: store.Blobs(), Now: time.Now, Rand: rand.Reader,
		Report:    func(what string, _ []byte) { t.Log(what) },
		Processes: progress.New(progress.Config{Session: id, Dir: progress.Dir(dir, id)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	sh := &shop{t: t, lane: l, store: store, dir: dir, cursor: l.Publisher().Cursor(true)}
	if _, ok := sh.cursor.Join(l.Publisher().Live().PersistentLastSeq); !ok {
		t.Fatal("the cursor has no place")
	}
	return sh
}

// send begins a turn.
func (s *shop) send() {
	s.t.Helper()
	caller := Caller{Client: "cli_0000000000000000000000000", Request: protocol.NewRequestID(rand.Reader)}
	if _, err := s.lane.Send(s.t.Context(), caller, Message{Content: []protocol.Block{protocol.Text("go")}, Busy: BusyReject}); err != nil {
		s.t.Fatal(err)
	}
}

// read hands on what a client gets, to the end of the turn.
func (s *shop) read(take func(protocol.Event)) {
	s.t.Helper()
	for {
		events, err := s.cursor.Next(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range events {
			take(e)
			if e.Type == protocol.TypeRuntimeEnd {
				return
			}
		}
	}
}

// close ends the lane and returns the results in its log.
func (s *shop) close() []protocol.Message {
	s.t.Helper()
	var out []protocol.Message
	index := s.lane.Log().Index()
	for e, err := range index.Back(s.t.Context(), index.Leaf()) {
		if err != nil {
			s.t.Fatal(err)
		}
		if m, ok := e.Message(); ok && m.Role == protocol.RoleToolResult {
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	s.cursor.Close()
	if err := s.lane.Close(func() {}); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// TestAFloodOfReportsHoldsUpNothingElse has one call report as fast as it can while
// another prints: each piece of output comes, in order, and of the flood no more than
// may.
func TestAFloodOfReportsHoldsUpNothingElse(t *testing.T) {
	const pieces = 10_000
	var stop atomic.Bool
	var reported atomic.Int64
	came, flooding := make(chan struct{}, 1), make(chan struct{})
	var began, ended time.Time
	var slowest, all time.Duration
	sh := newShop(t, func(_ context.Context, call tool.Call, update func(string)) (tool.Result, error) {
		if call.ID == "flood" {
			began = time.Now()
			defer func() { ended = time.Now() }()
			for i := 0; !stop.Load(); i++ {
				call.Report(protocol.ProcessUpdate{Stage: "s", Message: fmt.Sprint("step ", i), Payload: json.RawMessage(`{"n":1}`)})
				if reported.Add(1) == 1 {
					close(flooding)
				}
			}
			return tool.Result{}, nil
		}
		<-flooding
		defer stop.Store(true)
		for i := range pieces {
			at := time.Now()
			update(fmt.Sprintf("piece %d\n", i))
			<-came
			slowest, all = max(slowest, time.Since(at)), all+time.Since(at)
		}
		return tool.Result{}, nil
	}, `{"do":[{"call":"Work","id":"flood","input":{}},{"call":"Work","id":"print","input":{}}]}`, `{"do":[{"text":"done"}]}`)
	sh.send()
	next, told := 0, 0
	sh.read(func(e protocol.Event) {
		switch b := e.Body.(type) {
		case *protocol.ToolExecutionUpdate:
			if b.ToolCallID != "print" || b.Partial != fmt.Sprintf("piece %d\n", next) {
				t.Errorf("piece %d came as %q of %s", next, b.Partial, b.ToolCallID)
			}
			next++
			came <- struct{}{}
		case *protocol.ToolProcess:
			if b.ToolCallID != "flood" || b.AssistantEventID == "" {
				t.Errorf("the flood is told as %+v", b)
			}
			told++
		}
	})
	results := sh.close()
	seconds := int(ended.Sub(began)/time.Second) + 2
	if next != pieces || told > 10*seconds+2 || told == 0 {
		t.Errorf("%d pieces; %d events in %d seconds", next, told, seconds)
	}
	var s protocol.ProcessSummary
	if len(results) != 2 || json.Unmarshal(results[0].Process, &s) != nil || s.Latest.Sequence != reported.Load() || results[1].Process != nil {
		t.Errorf("%d were reported; the results are %+v", reported.Load(), results)
	}
	t.Logf("%d reports in %v, %d told; a piece of output took %v, at most %v", reported.Load(), ended.Sub(began), told, all/pieces, slowest)
}

func TestANewcomerSeesWhereACallStands(t *testing.T) {
	told, free := make(chan struct{}), make(chan struct{})
	sh := newShop(t, func(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
		for i := range 20 { // more operations than are shown
			call.Report(protocol.ProcessUpdate{OperationID: fmt.Sprint("part ", i), Message: "begun", Status: "running"})
			call.Report(protocol.ProcessUpdate{OperationID: fmt.Sprint("part ", i), Message: "over", Status: "completed"})
		}
		call.Report(protocol.ProcessUpdate{Message: "nearly", Level: "error"})
		<-told
		close(free)
		<-ctx.Done()
		return tool.Result{}, nil
	}, `{"do":[{"call":"Work","id":"c1","input":{}}]}`)
	sh.send()
	go func() { // ends with the call
		defer close(told)
		for ; ; <-time.After(time.Millisecond) {
			if l := sh.lane.Publisher().Live(); len(l.Tools) == 1 {
				if p := l.Tools[0].Process; len(p) == 16 && p[15].Event.Message == "nearly" {
					return
				}
			}
		}
	}()
	<-free
	live := sh.lane.Publisher().Live()
	for i, p := range live.Tools[0].Process[:15] {
		if want := fmt.Sprint("part ", i+5); p.Event.OperationID != want || p.Event.Message != "over" {
			t.Errorf("operation %d is %s: %s", i, p.Event.OperationID, p.Event.Message)
		}
	}
	sh.lane.Stop() // as a host that ends
	sh.read(func(protocol.Event) {})
	if live := sh.lane.Publisher().Live(); len(live.Tools) != 0 {
		t.Errorf("behind the end it shows %+v", live.Tools)
	}
	results := sh.close()
	var s protocol.ProcessSummary
	if len(results) != 1 || json.Unmarshal(results[0].Process, &s) != nil || s.Latest.Status != protocol.ProcessCancelled || s.Latest.Message != "Cancelled, because the host stopped" {
		t.Fatalf("the result is %+v", results)
	}
	logs, err := filepath.Glob(filepath.Join(sh.dir, progress.Folder, "*", "*.jsonl"))
	if err != nil || len(logs) != 21 {
		t.Errorf("%d logs, %v", len(logs), err)
	}
}
