package registry_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// long enough that only a turn that ends by itself ends before.
const noHurry = time.Hour

// drained is a turn that is running when its host stops.
type drained struct {
	*hosttest.Entry
	held chan struct{} // a request of the model that is held goes on when it is closed
	came chan struct{} // has one for each request of the model, and each wait
}

// stop is where a turn is when its host stops.
type stop struct {
	name  string
	lines []string
	hold  int // the request of the model that is held; 0: none
	asks  bool
	reach func(d *drained)
	grace time.Duration
	free  func(d *drained) // what the turn waits for, once the host is stopping; nil: it is ended at once
	end   protocol.Terminal
	check func(d *drained)
}

// result returns what the newest result is, and how many requests were made.
func result(isError bool, text string, requests int) func(d *drained) {
	return func(d *drained) {
		d.W.T.Helper()
		m := d.W.Stored(d.ID)
		if last := m[len(m)-1]; last.Role != protocol.RoleToolResult || last.IsError != isError || !strings.Contains(last.PlainText(), text) {
			d.W.T.Errorf("stored: %+v, want the result %q", last, text)
		}
		if n := d.W.Server.Count(); n != requests {
			d.W.T.Errorf("%d requests were made, want %d", n, requests)
		}
	}
}

// answered returns how the newest answer is stored.
func answered(text string, partial bool) func(d *drained) {
	return func(d *drained) {
		d.W.T.Helper()
		m := d.W.Stored(d.ID)
		if last := m[len(m)-1]; last.Role != protocol.RoleAssistant || last.PlainText() != text || last.Partial != partial {
			d.W.T.Errorf("stored: %+v, want %q, partial %v", last, text, partial)
		}
	}
}

func stops() []stop {
	ask := `{"if":{"user":"^run$"},"do":[{"call":"Bash","id":"c1","input":{"command":"echo one"}}]}`
	came := func(d *drained) { <-d.came }
	release := func(d *drained) { close(d.held) }
	return []stop{
		{name: "in a tool that ends in time", lines: []string{hosttest.Wait}, grace: noHurry, reach: runningTool,
			free: func(d *drained) { d.W.File("go", "") }, end: protocol.TerminalCancelled, check: result(false, "ran", 1)},
		{name: "in a tool that does not", lines: []string{hosttest.Wait}, reach: runningTool,
			end: protocol.TerminalCancelled, check: result(true, "The host stopped while this ran.", 1)},
		{name: "in an answer that ends in time", lines: []string{`{"if":{"user":"^run$"},"do":[{"text":"All of it."}]}`}, grace: noHurry, hold: 1, reach: came, free: release,
			end: protocol.TerminalCompleted, check: answered("All of it.", false)},
		{name: "in an answer that does not", lines: []string{`{"if":{"user":"^run$"},"do":[{"text":"A part"},{"hang":true}]}`},
			reach: func(d *drained) { d.Until(hosttest.OfType(protocol.TypeTextDelta)) }, end: protocol.TerminalCancelled, check: answered("A part", true)},
		{name: "in a question", lines: []string{ask}, asks: true, grace: noHurry, reach: func(d *drained) { d.Asked(1) },
			end: protocol.TerminalCancelled, check: result(true, "Not run: the host stopped before.", 1)},
		{name: "before a question", lines: []string{ask}, asks: true, grace: noHurry, hold: 1, reach: came, free: release,
			end: protocol.TerminalCancelled, check: result(true, "Not run: the host stopped before.", 1)},
		{name: "in a retry wait", lines: []string{`{"if":{"user":"^run$"},"do":[{"text":"Shown"},{"cut":true}]}`}, grace: noHurry,
			reach: func(d *drained) { <-d.came; <-d.came }, end: protocol.TerminalCancelled, check: answered("Shown", true)},
		{name: "before a retry wait", lines: []string{`{"if":{"user":"^run$"},"do":[{"text":"Shown"},{"cut":true}]}`}, grace: noHurry, hold: 1, reach: came, free: release,
			end: protocol.TerminalCancelled, check: answered("Shown", true)},
	}
}

func runningTool(d *drained) { d.Until(hosttest.OfType(protocol.TypeToolExecutionStart)) }

func TestADrainedTurnEndsAtItsNextBoundaryAndTheQueueRunsOn(t *testing.T) {
	for _, p := range stops() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			drainAt(t, p)
		})
	}
}

func drainAt(t *testing.T, p stop) {
	d := &drained{held: make(chan struct{}), came: make(chan struct{}, 100)}
	var n atomic.Int32
	s := serving()
	if p.asks {
		s.Overrides = host.Overrides{}
	}
	s.Request = func([]byte) {
		d.came <- struct{}{}
		if int(n.Add(1)) == p.hold {
			<-d.held
		}
	}
	w := hosttest.New(t, s, append(slices.Clone(p.lines), `{"again":true,"do":[{"text":"ok"}]}`)...)
	w.Waits.Hook = func(ctx context.Context) {
		d.came <- struct{}{}
		<-ctx.Done()
	}
	d.Entry = w.Begin(p.asks)
	d.Send("run")
	p.reach(d)
	d.FollowUp("follow 1")
	hosttest.Call[*protocol.Sent](t, d.C, d.ID, &protocol.Steer{Content: hosttest.Text("steer")})
	done := d.Draining(p.grace)
	if p.free != nil {
		if _, err := client.Call[*protocol.Sent](t.Context(), d.C, d.ID, &protocol.FollowUp{Content: hosttest.Text("follow 2")}); err != nil {
			t.Errorf("a message for later, while the host stops: %v", err)
		}
		p.free(d)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if end := d.End(); end.Terminal != p.end || end.Error != nil { // clients see it before they lose the host
		t.Errorf("the end: %+v %+v\n%s", end, end.Error, d.Trace())
	}
	d.Announced()
	p.check(d)
	if got := w.Mark(d.ID); got != `{"uncleanStarts":0,"clean":true,"served":true}` {
		t.Errorf("the mark: %q", got)
	}
	for _, e := range w.Log(d.ID) {
		if q, ok := e.Body.(*protocol.QueueUpdate); ok && q.Paused {
			t.Error("the queue was paused")
		}
	}
	w.Start()
	a := w.Open(w.Connect(false), d.ID)
	want := []string{"run", "steer", "follow 1"}
	if p.free != nil {
		want = append(want, "follow 2")
	}
	a.UntilUser(want[len(want)-1])
	for a.S.Live.Running || len(a.S.Live.Queues) > 0 {
		a.Next()
	}
	if got := a.Users(); !slices.Equal(got, want) {
		t.Errorf("messages: %q, want %q", got, want)
	}
	hosttest.Paired(t, a.Messages())
	w.Judged()
}

func TestADrainedHostLetsACompactionEnd(t *testing.T) {
	came, held := make(chan struct{}, 10), make(chan struct{})
	w := hosttest.New(t, hosttest.Setting{Serving: true, Request: func(body []byte) {
		if hosttest.KindOf(body) == "compact" {
			came <- struct{}{}
			<-held
		}
	}}, `{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	e.Say("two")
	compacted := make(chan *protocol.Compacted, 1)
	go func() { // ends with the compaction
		r, err := client.Call[*protocol.Compacted](context.Background(), e.C, e.ID, &protocol.CompactSession{})
		if err != nil {
			t.Error(err)
		}
		compacted <- r
	}()
	<-came
	e.FollowUp("follow")
	done := e.Draining(noHurry)
	close(held)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if r := <-compacted; r == nil || r.EventID == "" {
		t.Errorf("compacted: %+v", r)
	}
	if _, err := client.Call[*protocol.Sent](t.Context(), e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("late")}); err == nil {
		t.Error("a message was taken by a host that has ended")
	}
	w.Start()
	a := w.Open(w.Connect(false), e.ID)
	a.UntilUser("follow")
	w.Judged()
}

func TestACompactionInsideATurnIsABoundary(t *testing.T) {
	came, held := make(chan struct{}, 10), make(chan struct{})
	w := hosttest.New(t, hosttest.Setting{Serving: true, Window: 20_000, Overrides: hosttest.FewTools(), Request: func(body []byte) {
		if hosttest.KindOf(body) == "compact" {
			came <- struct{}{}
			<-held
		}
	}}, `{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`, hosttest.Long, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("fill")
	e.Say("a second turn " + strings.Repeat("with words ", 900))
	e.Events = nil
	e.Send("and now " + strings.Repeat("with words ", 900))
	<-came
	e.FollowUp("follow")
	done := e.Draining(noHurry)
	close(held)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if end := e.End(); end.Terminal != protocol.TerminalCancelled || end.Error != nil {
		t.Errorf("end: %+v %+v", end, end.Error)
	}
	log := w.Log(e.ID)
	if last := log[len(log)-1]; last.Type != protocol.TypeCompact {
		t.Errorf("the last event is %s; the compaction was lost, or the turn went on", last.Type)
	}
	w.Start()
	w.Open(w.Connect(false), e.ID).UntilUser("follow")
	w.Judged()
}

func TestAHostThatEndsRefusesNewTurnsAndEndsBackgroundCommands(t *testing.T) {
	w := hosttest.New(t, serving(), hosttest.Wait, `{"if":{"user":"^serve$"},"do":[{"call":"Bash","id":"b1","input":{"command":"while :; do sleep 1; done","run_in_background":true}}]}`,
		`{"again":true,"do":[{"text":"ok"}]}`)
	other := w.Begin(false)
	other.Say("serve")
	e, _ := w.Busy()
	done := e.Draining(noHurry)
	for { // each session learns of it by itself
		_, err := client.Call[*protocol.Compacted](t.Context(), other.C, other.ID, &protocol.CompactSession{})
		if err != nil {
			break
		}
		runtime.Gosched()
	}
	pe := hosttest.Refused(t, other.C, other.ID, &protocol.SendMessage{Content: hosttest.Text("more")}, protocol.CodeRuntimeBusy)
	if pe.Message != "The host is stopping; send again when it is back." {
		t.Errorf("refused: %s", pe.Message)
	}
	hosttest.Refused(t, other.C, other.ID, &protocol.CompactSession{}, protocol.CodeRuntimeBusy)
	w.File("go", "")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	told := false
	for _, ev := range w.Log(other.ID) {
		if b, ok := ev.Body.(*protocol.HarnessItem); ok && strings.Contains(string(b.Item.Data), "task_") {
			told = true
		}
	}
	if !told {
		t.Error("nobody is told how the background command ended")
	}
}

func TestARequestToStopReachesWhoRunsTheHost(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	hosttest.Refused(t, w.Connect(false), "", &protocol.StopHost{}, protocol.CodeInvalidRequest)
	asked := make(chan bool, 1)
	w.Config.Stop = func(restarting bool) { asked <- restarting }
	w.Restart()
	hosttest.Call[*protocol.Done](t, w.Connect(false), "", &protocol.StopHost{Restarting: true})
	if !<-asked {
		t.Error("that another host takes over was lost")
	}
}
