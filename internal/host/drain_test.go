package host_test

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
	"scorel/protocol"
)

// long enough that only a turn that ends by itself ends before.
const noHurry = time.Hour

// draining ends the world's host in a goroutine and returns when its sessions take no
// turn any more; the channel has the result.
func (e *entry) draining(grace time.Duration) <-chan error {
	e.w.t.Helper()
	watcher := e.w.caller()
	done := make(chan error, 1)
	go func() { done <- e.w.host.Drain(context.Background(), grace, true) }() // ends with the host
	for told := false; !told; {
		f, err := watcher.conn.Recv(context.Background())
		if err != nil {
			e.w.t.Fatalf("nobody is told: %v", err)
		}
		s, ok := f.(*protocol.HostStopping)
		if told = ok; ok && (s.GraceMS != grace.Milliseconds() || !s.Restarting) {
			e.w.t.Fatalf("clients are told %+v", s)
		}
	}
	for {
		_, err := client.Call[*protocol.Sent](context.Background(), e.c, e.id, &protocol.SendMessage{Content: text("x"), WhenBusy: "reject"})
		if err != nil && strings.Contains(err.Error(), "stopping") || len(done) > 0 {
			return done
		}
		runtime.Gosched()
	}
}

// drained is a turn that is running when its host stops.
type drained struct {
	*entry
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

// result says what the newest result is, and how many requests were made.
func result(isError bool, text string, requests int) func(d *drained) {
	return func(d *drained) {
		d.w.t.Helper()
		m := d.w.stored(d.id)
		if last := m[len(m)-1]; last.Role != protocol.RoleToolResult || last.IsError != isError || !strings.Contains(last.PlainText(), text) {
			d.w.t.Errorf("stored: %+v, want the result %q", last, text)
		}
		if n := d.w.server.Count(); n != requests {
			d.w.t.Errorf("%d requests were made, want %d", n, requests)
		}
	}
}

// answered says how the newest answer is stored.
func answered(text string, partial bool) func(d *drained) {
	return func(d *drained) {
		d.w.t.Helper()
		m := d.w.stored(d.id)
		if last := m[len(m)-1]; last.Role != protocol.RoleAssistant || last.PlainText() != text || last.Partial != partial {
			d.w.t.Errorf("stored: %+v, want %q, partial %v", last, text, partial)
		}
	}
}

// stored gives the messages of a log in its order.
func (w *world) stored(id protocol.SessionID) []protocol.Message {
	var out []protocol.Message
	for _, e := range w.log(id) {
		if m, ok := e.Message(); ok {
			out = append(out, m)
		}
	}
	return out
}

func stops() []stop {
	ask := `{"if":{"user":"^run$"},"do":[{"call":"Bash","id":"c1","input":{"command":"echo one"}}]}`
	came := func(d *drained) { <-d.came }
	release := func(d *drained) { close(d.held) }
	return []stop{
		{name: "in a tool that ends in time", lines: []string{wait}, grace: noHurry, reach: runningTool,
			free: func(d *drained) { d.w.file("go", "") }, end: protocol.TerminalCancelled, check: result(false, "ran", 1)},
		{name: "in a tool that does not", lines: []string{wait}, reach: runningTool,
			end: protocol.TerminalCancelled, check: result(true, "The host stopped while this ran.", 1)},
		{name: "in an answer that ends in time", lines: []string{`{"if":{"user":"^run$"},"do":[{"text":"All of it."}]}`}, grace: noHurry, hold: 1, reach: came, free: release,
			end: protocol.TerminalCompleted, check: answered("All of it.", false)},
		{name: "in an answer that does not", lines: []string{`{"if":{"user":"^run$"},"do":[{"text":"A part"},{"hang":true}]}`},
			reach: func(d *drained) { d.until(ofType(protocol.TypeTextDelta)) }, end: protocol.TerminalCancelled, check: answered("A part", true)},
		{name: "in a question", lines: []string{ask}, asks: true, grace: noHurry, reach: func(d *drained) { d.asked(1) },
			end: protocol.TerminalCancelled, check: result(true, "Not run: the host stopped before.", 1)},
		{name: "before a question", lines: []string{ask}, asks: true, grace: noHurry, hold: 1, reach: came, free: release,
			end: protocol.TerminalCancelled, check: result(true, "Not run: the host stopped before.", 1)},
		{name: "in a retry wait", lines: []string{`{"if":{"user":"^run$"},"do":[{"text":"Shown"},{"cut":true}]}`}, grace: noHurry,
			reach: func(d *drained) { <-d.came; <-d.came }, end: protocol.TerminalCancelled, check: answered("Shown", true)},
		{name: "before a retry wait", lines: []string{`{"if":{"user":"^run$"},"do":[{"text":"Shown"},{"cut":true}]}`}, grace: noHurry, hold: 1, reach: came, free: release,
			end: protocol.TerminalCancelled, check: answered("Shown", true)},
	}
}

func runningTool(d *drained) { d.until(ofType(protocol.TypeToolExecutionStart)) }

func TestADrainedTurnEndsAtItsNextBorderAndTheQueueRunsOn(t *testing.T) {
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
		s.overrides = host.Overrides{}
	}
	s.request = func([]byte) {
		d.came <- struct{}{}
		if int(n.Add(1)) == p.hold {
			<-d.held
		}
	}
	w := newWorld(t, s, append(slices.Clone(p.lines), `{"again":true,"do":[{"text":"ok"}]}`)...)
	w.waits.hook = func(ctx context.Context) {
		d.came <- struct{}{}
		<-ctx.Done()
	}
	d.entry = w.begin(p.asks)
	d.send("run")
	p.reach(d)
	d.followUp("follow 1")
	call[*protocol.Sent](t, d.c, d.id, &protocol.Steer{Content: text("steer")})
	done := d.draining(p.grace)
	if p.free != nil {
		if _, err := client.Call[*protocol.Sent](t.Context(), d.c, d.id, &protocol.FollowUp{Content: text("follow 2")}); err != nil {
			t.Errorf("a message for later, while the host stops: %v", err)
		}
		p.free(d)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if end := d.end(); end.Terminal != p.end || end.Error != nil { // clients see it before they lose the host
		t.Errorf("the end: %+v %+v\n%s", end, end.Error, d.trace())
	}
	d.announced()
	p.check(d)
	if got := w.mark(d.id); got != `{"uncleanStarts":0,"clean":true,"served":true}` {
		t.Errorf("the mark: %q", got)
	}
	for _, e := range w.log(d.id) {
		if q, ok := e.Body.(*protocol.QueueUpdate); ok && q.Paused {
			t.Error("the queue was paused")
		}
	}
	w.start()
	a := w.open(w.connect(false), d.id)
	want := []string{"run", "steer", "follow 1"}
	if p.free != nil {
		want = append(want, "follow 2")
	}
	a.untilUser(want[len(want)-1])
	for a.s.Live.Running || len(a.s.Live.Queues) > 0 {
		a.next()
	}
	if got := a.users(); !slices.Equal(got, want) {
		t.Errorf("messages: %q, want %q", got, want)
	}
	paired(t, a.messages())
	w.judged()
}

func TestADrainedHostLetsACompactionEnd(t *testing.T) {
	came, held := make(chan struct{}, 10), make(chan struct{})
	w := newWorld(t, setting{serving: true, request: func(body []byte) {
		if kindOf(body) == "compact" {
			came <- struct{}{}
			<-held
		}
	}}, `{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	e.say("two")
	compacted := make(chan *protocol.Compacted, 1)
	go func() { // ends with the compaction
		r, err := client.Call[*protocol.Compacted](context.Background(), e.c, e.id, &protocol.CompactSession{})
		if err != nil {
			t.Error(err)
		}
		compacted <- r
	}()
	<-came
	e.followUp("follow")
	done := e.draining(noHurry)
	close(held)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if r := <-compacted; r == nil || r.EventID == "" {
		t.Errorf("compacted: %+v", r)
	}
	if _, err := client.Call[*protocol.Sent](t.Context(), e.c, e.id, &protocol.SendMessage{Content: text("late")}); err == nil {
		t.Error("a message was taken by a host that has ended")
	}
	w.start()
	a := w.open(w.connect(false), e.id)
	a.untilUser("follow")
	w.judged()
}

func TestACompactionInsideATurnIsABorder(t *testing.T) {
	came, held := make(chan struct{}, 10), make(chan struct{})
	w := newWorld(t, setting{serving: true, window: 20_000, overrides: fewTools(), request: func(body []byte) {
		if kindOf(body) == "compact" {
			came <- struct{}{}
			<-held
		}
	}}, `{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`, long, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("fill")
	e.say("a second turn " + strings.Repeat("with words ", 900))
	e.events = nil
	e.send("and now " + strings.Repeat("with words ", 900))
	<-came
	e.followUp("follow")
	done := e.draining(noHurry)
	close(held)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if end := e.end(); end.Terminal != protocol.TerminalCancelled || end.Error != nil {
		t.Errorf("end: %+v %+v", end, end.Error)
	}
	log := w.log(e.id)
	if last := log[len(log)-1]; last.Type != protocol.TypeCompact {
		t.Errorf("the last event is %s; the compaction was lost, or the turn went on", last.Type)
	}
	w.start()
	w.open(w.connect(false), e.id).untilUser("follow")
	w.judged()
}

func TestAHostThatEndsRefusesNewTurnsAndEndsBackgroundCommands(t *testing.T) {
	w := newWorld(t, serving(), wait, `{"if":{"user":"^serve$"},"do":[{"call":"Bash","id":"b1","input":{"command":"while :; do sleep 1; done","run_in_background":true}}]}`,
		`{"again":true,"do":[{"text":"ok"}]}`)
	other := w.begin(false)
	other.say("serve")
	e, _ := w.busy()
	done := e.draining(noHurry)
	for { // each session learns of it by itself
		_, err := client.Call[*protocol.Compacted](t.Context(), other.c, other.id, &protocol.CompactSession{})
		if err != nil {
			break
		}
		runtime.Gosched()
	}
	pe := refused(t, other.c, other.id, &protocol.SendMessage{Content: text("more")}, protocol.CodeRuntimeBusy)
	if pe.Message != "The host is stopping; send again when it is back." {
		t.Errorf("refused: %s", pe.Message)
	}
	refused(t, other.c, other.id, &protocol.CompactSession{}, protocol.CodeRuntimeBusy)
	w.file("go", "")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	told := false
	for _, ev := range w.log(other.id) {
		if b, ok := ev.Body.(*protocol.HarnessItem); ok && strings.Contains(string(b.Item.Data), "task_") {
			told = true
		}
	}
	if !told {
		t.Error("nobody is told how the background command ended")
	}
}

func TestARequestToStopReachesWhoRunsTheHost(t *testing.T) {
	w := newWorld(t, setting{})
	refused(t, w.connect(false), "", &protocol.StopHost{}, protocol.CodeInvalidRequest)
	asked := make(chan bool, 1)
	w.config.Stop = func(restarting bool) { asked <- restarting }
	w.restart()
	call[*protocol.Done](t, w.connect(false), "", &protocol.StopHost{Restarting: true})
	if !<-asked {
		t.Error("that another host takes over was lost")
	}
}
