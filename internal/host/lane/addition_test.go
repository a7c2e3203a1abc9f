package lane

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/host/lane/addition"
	"scorel/protocol"
)

func TestAnAdditionEntersAtTheNextBoundaryBehindTheResultsAndBeforeSteering(t *testing.T) {
	tr := newTrial(t, `{"do":[{"call":"Do","id":"c1","input":{}},{"call":"Do","id":"c2","input":{}}]}`, again)
	n := 0
	tr.do = func(ctx context.Context) {
		if n++; n == 1 {
			if _, err := tr.lane.Send(ctx, tr.caller(), Message{Content: []protocol.Block{protocol.Text("steer")}, Busy: BusySteer}); err != nil {
				t.Error(err)
			}
			if err := tr.lane.Additions().Add(ctx, note("one"), note("two")); err != nil {
				t.Error(err)
			}
		}
	}
	tr.open()
	tr.say("go")
	want := []string{"user go", "calls", "tool_result did {}", "tool_result did {}", "hook_context one", "hook_context two", "user steer", "assistant fine"}
	if got := tr.path(); !slices.Equal(got, want) {
		t.Errorf("path %q\nwant %q", got, want)
	}
	if sent := tr.model.sent(2); !strings.Contains(sent, "one") || strings.Index(sent, "two") > strings.Index(sent, "steer") {
		t.Errorf("sent:\n%s", sent)
	}
	tr.close()
}

func TestAnAdditionThatNoBoundaryTakesEntersAtTheEndOfTheTurn(t *testing.T) {
	tr := newTrial(t, again)
	tr.model.before = func(ctx context.Context, n int) {
		if n == 1 {
			if err := tr.lane.Additions().Add(ctx, note("late")); err != nil {
				t.Error(err)
			}
			tr.lane.Cancel(tr.lane.course.running.Load().ID)
		}
	}
	tr.open()
	tr.say("go")
	if got, want := tr.path(), []string{"user go", "hook_context late"}; !slices.Equal(got, want) {
		t.Errorf("path %q, want %q", got, want)
	}
	if err := tr.lane.Additions().Add(t.Context(), note("idle")); err != nil {
		t.Error(err)
	}
	if got := tr.path(); got[len(got)-1] != "hook_context idle" {
		t.Errorf("path %q: what is added when nothing runs is not durable on return", got)
	}
	tr.close()
}

func TestAtMostSoManyAdditionsWait(t *testing.T) {
	tr := newTrial(t, again)
	var refused error
	tr.model.before = func(ctx context.Context, n int) {
		for i := range 10 * addition.MaxWaiting {
			if err := tr.lane.Additions().Add(ctx, note(fmt.Sprint(i))); err != nil {
				refused = err
			}
		}
	}
	tr.open()
	tr.say("go")
	if e := protocol.AsError(refused); refused == nil || e.Code != protocol.CodeRateLimited {
		t.Errorf("error: %v", refused)
	}
	if got := tr.path(); len(got) != 2+addition.MaxWaiting {
		t.Errorf("%d events on the path", len(got))
	}
	if err := tr.lane.Additions().Add(t.Context(), &protocol.MessageBody{}); err == nil {
		t.Error("a message was added")
	}
	tr.close()
}

func TestACommandAtABoundaryHoldsTheNextModelCallAndKeepsOthersOut(t *testing.T) {
	tr := newTrial(t, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	began, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	tr.do = func(ctx context.Context) {
		go func() { // ends with the boundary
			done <- tr.lane.AtBoundary(context.Background(), func(ctx context.Context) error {
				close(began)
				<-free
				if err := tr.lane.Additions().Add(ctx, note("its own")); err != nil {
					return err
				}
				_, err := tr.lane.Control(ctx, &protocol.Custom{Kind: "saved", Data: []byte(`{}`)})
				return err
			})
		}()
		tr.wait(func() bool {
			tr.lane.j.Lock()
			defer tr.lane.j.Unlock()
			return len(tr.lane.course.boundaries) == 1
		})
	}
	tr.open()
	if _, err := tr.send("go"); err != nil {
		t.Fatal(err)
	}
	<-began
	if got := tr.path(); got[len(got)-1] != "tool_result did {}" {
		t.Errorf("it runs at %q", got)
	}
	if err := tr.lane.Additions().Add(t.Context(), note("of another")); err != nil {
		t.Error(err)
	}
	if n := tr.model.count(); n != 1 {
		t.Errorf("%d model calls while a command runs", n)
	}
	close(free)
	if err := <-done; err != nil {
		t.Error(err)
	}
	tr.rest()
	want := []string{"user go", "calls", "tool_result did {}", "hook_context its own", "hook_context of another", "assistant fine"}
	if got := tr.path(); !slices.Equal(got, want) {
		t.Errorf("path %q\nwant %q", got, want)
	}
	tr.close()
}

func TestACommandInAnIdleSessionIsARunOfItsOwnBehindWhichMessagesQueue(t *testing.T) {
	tr := newTrial(t, again).open()
	failure := errors.New("the command's own")
	var types []protocol.EventType
	defer tr.lane.Listeners().Watch(func(e protocol.Event) { types = append(types, e.Type) })()
	err := tr.lane.AtBoundary(t.Context(), func(ctx context.Context) error {
		if !tr.lane.Busy() {
			t.Error("the session is idle while a command runs")
		}
		sent, err := tr.lane.Send(ctx, tr.caller(), Message{Content: []protocol.Block{protocol.Text("from the command")}})
		if err != nil || sent.ItemID == "" {
			t.Errorf("sent %+v %v", sent, err)
		}
		if _, err := tr.lane.Branch(ctx, tr.caller(), Move{Branch: "evt_x"}); err == nil {
			t.Error("the leaf moved")
		}
		if err := tr.lane.AtBoundary(ctx, func(context.Context) error { return nil }); err == nil {
			t.Error("a command began inside a command")
		}
		if err := tr.lane.Additions().Add(ctx, note("added")); err != nil {
			t.Error(err)
		}
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("error: %v", err)
	}
	tr.rest()
	if got, want := tr.path(), []string{"hook_context added", "user from the command", "assistant fine"}; !slices.Equal(got, want) {
		t.Errorf("path %q, want %q", got, want)
	}
	if err := tr.lane.AtBoundary(t.Context(), func(context.Context) error { panic("a nil map") }); err == nil || !tr.reported("a nil map") {
		t.Errorf("error: %v, reports %q", err, tr.reports)
	}
	err = tr.lane.AtBoundary(t.Context(), func(ctx context.Context) error {
		if !tr.lane.Cancel(tr.lane.Publisher().Live().TurnID) {
			tr.lane.Cancel(tr.lane.course.running.Load().ID) // clients are not told of it yet
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	tr.close()
	if n := len(types); n == 0 || types[0] != protocol.TypeRuntimeStart {
		t.Errorf("events: %v", types)
	}
}

func (tr *trial) wait(done func() bool) {
	tr.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(harness.Timeout)
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			tr.t.Error("it does not happen")
			return
		}
	}
}

// TestNothingAddedIsLostOrDoubledWhateverHappens adds from many sides while turns run,
// end, are cancelled and are interrupted by commands.
func TestNothingAddedIsLostOrDoubledWhateverHappens(t *testing.T) {
	for round := range 12 {
		tr := newTrial(t, `{"again":true,"if":{"user":"work"},"do":[{"call":"Do","input":{}},{"call":"Do","input":{}}]}`,
			`{"again":true,"if":{"result":"did"},"do":[{"text":"fine"}]}`, again).open()
		var watched []protocol.Event
		stop := tr.lane.Listeners().Watch(func(e protocol.Event) { watched = append(watched, e) })
		rnd := rand.New(rand.NewPCG(uint64(round), 1))
		var people, adders sync.WaitGroup
		ctx := context.Background()
		quit := make(chan struct{})
		people.Go(func() { // ends with the adders
			for {
				select {
				case <-quit:
					return
				default:
				}
				_, _ = tr.send("work")
				if t := tr.lane.course.running.Load(); t != nil && round%3 == 0 {
					tr.lane.Cancel(t.ID)
				}
			}
		})
		const each = 40
		var saved sync.Map
		for a := range 3 {
			bodies := make([]int, each)
			for i := range bodies {
				bodies[i] = rnd.IntN(3)
			}
			adders.Go(func() { // ends when all is added
				for i := 0; i < each; {
					err := tr.lane.Additions().Add(ctx, note(fmt.Sprintf("a%d-%d", a, i)))
					if err == nil {
						i++
					} else if protocol.AsError(err).Code != protocol.CodeRateLimited {
						t.Error(err)
						return
					}
				}
			})
			adders.Go(func() { // ends when all commands have run
				for i := range each / 4 {
					err := tr.lane.AtBoundary(ctx, func(ctx context.Context) error {
						before := tr.lane.Log().Index().Leaf()
						if err := tr.lane.Additions().Add(ctx, note(fmt.Sprintf("c%d-%d", a, i))); err != nil {
							return err
						}
						after := tr.lane.Log().Index().Leaf()
						parent, err := tr.lane.Log().Index().Parent(after)
						if err != nil || parent != before {
							t.Errorf("something came between: %s, %s, %v", before, parent, err)
						}
						saved.Store(fmt.Sprintf("c%d-%d", a, i), true)
						return nil
					})
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("command %d: %v", i, err)
					}
				}
			})
		}
		adders.Wait()
		close(quit)
		people.Wait()
		tr.rest()
		if err := tr.lane.Pause(ctx); err != nil {
			t.Error(err)
		}
		tr.rest()
		path := tr.path()
		last := map[string]int{}
		seen := map[string]int{}
		for _, p := range path {
			text, ok := strings.CutPrefix(p, "hook_context ")
			if !ok {
				continue
			}
			seen[text]++
			var who string
			var n int
			if i := strings.IndexByte(text, '-'); i > 0 {
				who = text[:i]
				_, _ = fmt.Sscan(text[i+1:], &n)
			}
			if who[0] == 'a' && n != last[who] {
				t.Errorf("round %d: %s comes behind %s-%d", round, text, who, last[who]-1)
			}
			last[who] = n + 1
		}
		for a := range 3 {
			for i := range each {
				if n := seen[fmt.Sprintf("a%d-%d", a, i)]; n != 1 {
					t.Errorf("round %d: a%d-%d is there %d times", round, a, i, n)
				}
			}
		}
		saved.Range(func(k, _ any) bool {
			if seen[k.(string)] != 1 {
				t.Errorf("round %d: %s is there %d times", round, k, seen[k.(string)])
			}
			return true
		})
		tr.close()
		stop()
		var seq protocol.Seq
		for _, e := range watched {
			if e.Seq <= seq {
				t.Errorf("round %d: seq %d behind %d", round, e.Seq, seq)
			}
			seq = e.Seq
		}
		if t.Failed() {
			return
		}
	}
}

func TestWhatIsToWaitForTheEndOfATurnEntersBehindItAlsoWhenTheSessionIsClosed(t *testing.T) {
	tr := newTrial(t, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	later := func(ctx context.Context, text string) {
		if err := tr.lane.Additions().AddAfter(ctx, note(text)); err != nil {
			t.Error(err)
		}
	}
	tr.do = func(ctx context.Context) {
		later(ctx, "later")
		if err := tr.lane.Additions().Add(ctx, note("soon")); err != nil {
			t.Error(err)
		}
	}
	tr.open()
	tr.say("go")
	want := []string{"user go", "calls", "tool_result did {}", "hook_context soon", "assistant fine", "hook_context later"}
	if got := tr.path(); !slices.Equal(got, want) {
		t.Errorf("path %q\nwant %q", got, want)
	}
	later(t.Context(), "at once")
	if got := tr.path(); got[len(got)-1] != "hook_context at once" {
		t.Errorf("path %q", got)
	}
	asked := make(chan struct{})
	tr.model.before = func(ctx context.Context, n int) {
		if n < 3 {
			return
		}
		for i := range addition.MaxLater {
			later(ctx, fmt.Sprint(i))
		}
		if err := tr.lane.Additions().AddAfter(ctx, note("too many")); protocol.AsError(err).Code != protocol.CodeRateLimited {
			t.Errorf("%v", err)
		}
		close(asked)
		<-ctx.Done()
	}
	if _, err := tr.send("more"); err != nil {
		t.Fatal(err)
	}
	<-asked
	var got []string
	if err := tr.lane.Close(func() { got = tr.path() }); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want)+2+addition.MaxLater || got[len(got)-1] != fmt.Sprint("hook_context ", addition.MaxLater-1) {
		t.Errorf("path %q", got)
	}
}

func TestMessageThatCannotBeBegunBehindACommandWaitsForPeople(t *testing.T) {
	tr := newTrial(t, again)
	tr.open()
	var told []string
	stop := tr.lane.Listeners().Watch(func(e protocol.Event) {
		if b, ok := e.Body.(*protocol.Notice); ok {
			told = append(told, b.Level+" "+b.Text)
		}
	})
	defer stop()
	setup := tr.host.config
	fails := false
	tr.host.config = func(ctx context.Context, meta protocol.Meta, o *protocol.TurnOptions) (*TurnConfig, error) {
		if fails {
			return nil, errors.New("there is no model")
		}
		return setup(ctx, meta, o)
	}
	err := tr.lane.AtBoundary(t.Context(), func(ctx context.Context) error {
		_, err := tr.send("from the command")
		fails = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tr.rest()
	if n, ready := tr.lane.Waiting(); n != 1 || ready {
		t.Errorf("%d wait, ready %v", n, ready)
	}
	tr.close()
	if len(told) != 1 || told[0] != "error The message that waits was not begun: there is no model" {
		t.Errorf("%q", told)
	}
}
