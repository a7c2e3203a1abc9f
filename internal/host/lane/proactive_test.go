package lane

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/background"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// proactively runs f with a lane in a bubble.
func proactively(t *testing.T, f func(tr *trial), lines ...string) {
	t.Helper()
	tr := newTrial(t, lines...)
	synctest.Test(t, func(t *testing.T) {
		tr.t = t
		tr.open()
		defer tr.close()
		f(tr)
	})
}

// on switches proactive mode on.
func (tr *trial) on(p Proactive) {
	tr.t.Helper()
	if err := tr.lane.SetProactive(tr.t.Context(), &p); err != nil {
		tr.t.Fatal(err)
	}
	synctest.Wait()
}

// pass lets time pass and what is due come to its end.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// ticks are the messages of proactive mode in the log.
func (tr *trial) ticks() (n int) {
	tr.t.Helper()
	for e, err := range tr.lane.Log().Index().Back(context.Background(), tr.lane.Log().Index().Leaf()) {
		if err != nil {
			tr.t.Fatal(err)
		}
		if m, ok := e.Message(); ok && m.Meta != nil && m.Meta.Source == protocol.SourceProactive {
			n++
		}
	}
	return n
}

// expectTicks checks how many there are.
func (tr *trial) expectTicks(want int, when string) {
	tr.t.Helper()
	if got := tr.ticks(); got != want {
		tr.t.Errorf("%s: %d turns have begun by themselves, want %d", when, got, want)
	}
}

// shown keeps the sentences that people are shown.
type shown struct {
	mu    sync.Mutex
	texts []string
}

func (tr *trial) watch() *shown {
	w := &shown{}
	tr.lane.Listeners().Watch(func(e protocol.Event) {
		if b, ok := e.Body.(*protocol.Notice); ok {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.texts = append(w.texts, b.Text)
		}
	})
	return w
}

// expect checks that people were shown one sentence, of which text is a part; "" is none.
func (w *shown) expect(t *testing.T, text string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if text == "" && len(w.texts) > 0 || text != "" && (len(w.texts) != 1 || !strings.Contains(w.texts[0], text)) {
		t.Errorf("people were shown %q, want one sentence with %q", w.texts, text)
	}
}

func TestProactiveModeBeginsATurnATickAfterTheEndOfTheTurnBefore(t *testing.T) {
	proactively(t, func(tr *trial) {
		tr.say("hello")
		tr.on(Proactive{})
		if a := tr.lane.Publisher().Live().Automation; a == nil || a.State != protocol.AutomationStandby || a.NextTickAt != time.Now().Add(defaultTick).UnixMilli() || a.EverySeconds != 30 {
			t.Errorf("the state is %+v", a)
		}
		pass(29 * time.Second)
		tr.expectTicks(0, "after 29 s")
		pass(time.Second)
		tr.expectTicks(1, "after 30 s")
		if sent := tr.model.sent(2); !strings.Contains(sent, "nobody has typed this") {
			t.Errorf("the model was sent %q", sent)
		}
		pass(20 * time.Second)
		tr.say("wait")
		pass(29 * time.Second)
		tr.expectTicks(1, "29 s after the end of the turn of a message")
		pass(time.Second)
		tr.expectTicks(2, "30 s after it")
		tr.on(Proactive{Every: 5 * time.Second})
		pass(5 * time.Second)
		tr.expectTicks(3, "after 5 s")
		if err := tr.lane.SetProactive(tr.t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		tr.expectTicks(3, "an hour after it was switched off")
		if a := tr.lane.Publisher().Live().Automation; a != nil {
			t.Errorf("the state is %+v", a)
		}
	}, again)
}

// held has what makes turns ready wait for a channel, and counts how often it is asked.
func (tr *trial) held(only func(o *protocol.TurnOptions) bool) (open chan struct{}, asked *atomic.Int32) {
	next := tr.host.config
	open, asked = make(chan struct{}), new(atomic.Int32)
	tr.host.config = func(ctx context.Context, m protocol.Meta, o *protocol.TurnOptions) (*TurnConfig, error) {
		if only(o) {
			asked.Add(1)
			<-open
		}
		return next(ctx, m, o)
	}
	return open, asked
}

func ofTick(o *protocol.TurnOptions) bool { return o != nil && o.Unattended }

func TestATickThatIsBeingPreparedKeepsTheNextFromComing(t *testing.T) {
	proactively(t, func(tr *trial) {
		open, asked := tr.held(ofTick)
		tr.on(Proactive{Every: 5 * time.Second})
		pass(time.Minute)
		tr.on(Proactive{Every: 6 * time.Second}) // and so does not another setting
		pass(time.Minute)
		if n := asked.Load(); n != 1 {
			t.Errorf("%d turns were prepared", n)
		}
		close(open)
		synctest.Wait()
		tr.expectTicks(1, "after the preparation")
		pass(6 * time.Second)
		tr.expectTicks(2, "a tick later")
	}, again)
}

func TestNothingIsLeftOfATickThatIsSwitchedOffWhileItIsPrepared(t *testing.T) {
	proactively(t, func(tr *trial) {
		tr.say("hello")
		open, _ := tr.held(ofTick)
		tr.on(Proactive{})
		pass(defaultTick)
		w, before := tr.watch(), strings.Join(tr.path(), "\n")
		if err := tr.lane.SetProactive(tr.t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		close(open)
		pass(time.Hour)
		w.expect(t, "")
		if after := strings.Join(tr.path(), "\n"); after != before {
			t.Errorf("the log has %q, want %q", after, before)
		}
	}, again)
}

func TestNothingIsLeftOfATickThatIsPreparedWhenTheLaneCloses(t *testing.T) {
	tr := newTrial(t, again)
	synctest.Test(t, func(t *testing.T) {
		tr.t = t
		tr.open()
		open, asked := tr.held(ofTick)
		tr.on(Proactive{})
		pass(defaultTick)
		ended := make(chan struct{})
		go func() { tr.close(); close(ended) }() // ends with the lane
		synctest.Wait()
		close(open)
		<-ended
		pass(time.Hour)
		if n := asked.Load(); n != 1 || tr.model.count() != 0 {
			t.Errorf("%d turns were prepared, %d requests sent", n, tr.model.count())
		}
	})
}

func TestProactiveModeIsOffInTheNextLaneOfASession(t *testing.T) {
	tr := newTrial(t, again)
	synctest.Test(t, func(t *testing.T) {
		tr.t = t
		tr.open()
		tr.say("hello")
		tr.on(Proactive{})
		cfg := tr.lane.cfg
		tr.close()
		var err error
		if cfg.Log, _, err = tr.store.Open(tr.t.Context(), cfg.Log.ID()); err != nil {
			t.Fatal(err)
		}
		if tr.lane, err = New(tr.t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		defer tr.close()
		pass(time.Hour)
		tr.expectTicks(0, "in the next lane")
		if a := tr.lane.Proactive(); a != nil || tr.lane.Listening() {
			t.Errorf("the state is %+v", a)
		}
	})
}

func TestAPersonsMessageGoesBeforeATickThatIsBeingPrepared(t *testing.T) {
	proactively(t, func(tr *trial) {
		tick, _ := tr.held(ofTick)
		var holds atomic.Bool
		person, _ := tr.held(func(o *protocol.TurnOptions) bool { return !ofTick(o) && holds.Load() })
		tr.on(Proactive{})
		holds.Store(true)
		pass(defaultTick) // the tick is being prepared
		sent := make(chan error, 1)
		go func() { // ends with the message
			_, err := tr.lane.Send(context.Background(), tr.caller(), Message{Content: []protocol.Block{protocol.Text("mine")}, Busy: BusyReject})
			sent <- err
		}()
		synctest.Wait()
		close(tick) // it is ready first
		synctest.Wait()
		tr.expectTicks(0, "while the message is on its way")
		close(person)
		if err := <-sent; err != nil {
			t.Errorf("the message was not sent: %v", err)
		}
		tr.rest()
		pass(defaultTick - time.Second)
		tr.expectTicks(0, "after the turn of the message")
		pass(time.Second)
		tr.expectTicks(1, "a tick after it")
	}, again)
}

func TestACancelledTurnSwitchesProactiveModeOff(t *testing.T) {
	proactively(t, func(tr *trial) {
		tr.model.before = func(ctx context.Context, n int) {
			if n == 1 {
				<-ctx.Done()
			}
		}
		tr.on(Proactive{})
		w := tr.watch()
		pass(defaultTick)
		tr.lane.Cancel(tr.lane.course.running.Load().ID)
		tr.rest()
		pass(time.Hour)
		tr.expectTicks(1, "after the cancel")
		w.expect(t, "the turn was cancelled")
		if tr.lane.Proactive() != nil || tr.lane.Listening() {
			t.Error("it is still on")
		}
	}, again)
}

func TestATurnThatFailsSwitchesProactiveModeOff(t *testing.T) {
	proactively(t, func(tr *trial) {
		tr.on(Proactive{})
		w := tr.watch()
		pass(time.Hour)
		tr.expectTicks(1, "after the error")
		w.expect(t, "ended with an error")
	}, `{"again":true,"do":[{"error":{"status":401,"message":"no such key"}}]}`)
}

func TestATickThatCannotBePreparedSwitchesProactiveModeOff(t *testing.T) {
	proactively(t, func(tr *trial) {
		next := tr.host.config
		tr.host.config = func(ctx context.Context, m protocol.Meta, o *protocol.TurnOptions) (*TurnConfig, error) {
			if ofTick(o) {
				return nil, protocol.Errorf(protocol.CodeInvalidRequest, "No model is set up.")
			}
			return next(ctx, m, o)
		}
		tr.on(Proactive{})
		w := tr.watch()
		pass(time.Hour)
		w.expect(t, "No model is set up")
	}, again)
}

// limitedUntil are limits that let nothing begin until an instant. It implements [Limits].
type limitedUntil struct{ at time.Time }

func (limitedUntil) Bound(*protocol.TurnOptions) *runtime.Budget { return nil }

func (l limitedUntil) Allowed() string {
	if time.Now().Before(l.at) {
		return "the day's limit is reached"
	}
	return ""
}

func TestLimitsKeepTicksBackWithOneSentence(t *testing.T) {
	proactively(t, func(tr *trial) {
		w := tr.watch()
		tr.lane.cfg.Limits = limitedUntil{time.Now().Add(time.Hour)}
		tr.on(Proactive{Every: 5 * time.Second})
		pass(59 * time.Minute)
		tr.expectTicks(0, "within the limit")
		w.expect(t, "the day's limit is reached")
		if a := tr.lane.Proactive(); a == nil || a.Why == "" || a.NextTickAt == 0 {
			t.Errorf("the state is %+v", a)
		}
		pass(61 * time.Second)
		tr.expectTicks(1, "after it")
		if a := tr.lane.Proactive(); a == nil || a.Why != "" {
			t.Errorf("the state is %+v", a)
		}
	}, again)
}

func TestProactiveModePausesAfterSoManyTurnsInARowUntilAPersonSaysSomething(t *testing.T) {
	proactively(t, func(tr *trial) {
		w := tr.watch()
		tr.on(Proactive{Every: 5 * time.Second})
		pass(40 * 5 * time.Second)
		tr.expectTicks(40, "at first")
		tr.say("hello")
		pass(49 * 5 * time.Second)
		w.expect(t, "")
		pass(time.Hour)
		tr.expectTicks(40+maxTicks, "without a person")
		w.expect(t, "paused until your next message")
		if a := tr.lane.Proactive(); a == nil || a.Why == "" || a.NextTickAt != 0 || tr.lane.Listening() {
			t.Errorf("the state is %+v, and the session is kept open: %v", a, tr.lane.Listening())
		}
		tr.say("go on")
		if !tr.lane.Listening() {
			t.Error("the session is not kept open")
		}
		pass(5 * time.Second)
		tr.expectTicks(41+maxTicks, "after a message")
	}, again)
}

func TestTheModeOfATickIsNeverWiderThanThatOfWhoSwitchedItOn(t *testing.T) {
	for _, c := range []struct{ chosen, ceiling, want permission.Mode }{
		{"", permission.Default, permission.DontAsk},
		{"", permission.Plan, permission.Plan},
		{"", permission.Bypass, permission.DontAsk},
		{permission.Bypass, permission.Bypass, permission.DontAsk},
		{permission.AcceptEdits, permission.AcceptEdits, permission.AcceptEdits},
		{permission.AcceptEdits, permission.Default, permission.Default},
		{permission.Default, permission.AcceptEdits, permission.Default},
		{permission.Plan, permission.AcceptEdits, permission.Plan},
	} {
		if got := tickMode(c.chosen, c.ceiling); got != c.want {
			t.Errorf("chosen %q under %q: %q, want %q", c.chosen, c.ceiling, got, c.want)
		}
	}
	proactively(t, func(tr *trial) {
		var mu sync.Mutex
		var modes []string
		next := tr.host.config
		tr.host.config = func(ctx context.Context, m protocol.Meta, o *protocol.TurnOptions) (*TurnConfig, error) {
			if ofTick(o) {
				mu.Lock()
				modes = append(modes, o.Mode)
				mu.Unlock()
			}
			return next(ctx, m, o)
		}
		set := func(m permission.Mode) {
			if err := tr.lane.SetMode(tr.t.Context(), tr.caller(), m); err != nil {
				t.Fatal(err)
			}
		}
		tr.on(Proactive{})
		pass(defaultTick) // nobody has chosen a mode
		set(permission.Bypass)
		pass(defaultTick)
		set(permission.Plan)
		pass(defaultTick)
		set(permission.AcceptEdits)
		pass(defaultTick) // wider than when it was switched on
		tr.on(Proactive{})
		pass(defaultTick)
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(modes, " "); got != "dontAsk dontAsk plan default acceptEdits" {
			t.Errorf("the turns had the modes %s", got)
		}
	}, again)
}

func TestAModeThatAllowsAllDoesNotReachATurnThatProactiveModeHasBegun(t *testing.T) {
	proactively(t, func(tr *trial) {
		var got permission.Mode
		tr.do = func(ctx context.Context) {
			if err := tr.lane.SetMode(ctx, tr.caller(), permission.Bypass); err != nil {
				t.Error(err)
			}
			running := tr.lane.course.running.Load()
			policy, err := (&turnHost{tr.lane, running}).policy()
			if err != nil {
				t.Error(err)
				return
			}
			got = policy.Mode()
		}
		tr.on(Proactive{})
		pass(defaultTick)
		if got != permission.DontAsk {
			t.Errorf("the mode is %q", got)
		}
	}, `{"if":{"user":"."},"do":[{"call":"Do","input":{}}]}`, again)
}

func TestTheEndOfBackgroundWorkAndATickAtOneTimeBeginOneTurn(t *testing.T) {
	proactively(t, func(tr *trial) {
		next := tr.host.config
		tr.host.config = func(ctx context.Context, m protocol.Meta, o *protocol.TurnOptions) (*TurnConfig, error) {
			c, err := next(ctx, m, o)
			if err == nil {
				c.Wake = WakeAll
			}
			return c, err
		}
		for i := range 20 {
			tr.say(fmt.Sprintf("message %d", i))
			tr.on(Proactive{Every: 5 * time.Second})
			before, told := tr.model.count(), len(tr.path())
			_, err := tr.lane.Tasks().Start(background.Spec{Command: "work", Run: func(ctx context.Context, _ io.Writer, _ func(protocol.ProcessUpdate)) sandbox.Exit {
				time.Sleep(5 * time.Second)
				return sandbox.Exit{}
			}})
			if err != nil {
				t.Fatal(err)
			}
			pass(5 * time.Second)
			if n := tr.model.count() - before; n != 1 {
				t.Fatalf("%d requests were sent", n)
			}
			notices := 0
			for _, line := range tr.path()[told:] {
				if strings.HasPrefix(line, string(protocol.ItemRuntimeNotice)) {
					notices++
				}
			}
			if notices != 1 {
				t.Fatalf("the end was told %d times in %q", notices, tr.path()[told:])
			}
			if err := tr.lane.SetProactive(tr.t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
	}, again)
}

func TestAFileThatSomethingElseChangesBeginsATurn(t *testing.T) {
	proactively(t, func(tr *trial) {
		file := filepath.Join(t.TempDir(), "read.txt")
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("one")
		tr.model.before = func(context.Context, int) { // as a result of Read says in the log
			tr.lane.course.running.Load().view.seen.Note(protocol.FileState{Path: file, SHA256: "00"})
		}
		tr.say("read it")
		tr.on(Proactive{Every: time.Hour, Files: true})
		pass(10 * time.Second)
		tr.expectTicks(0, "without a change")
		write("two and more")
		pass(watchEvery)
		tr.expectTicks(0, "while it may still be changing")
		pass(watchEvery)
		tr.expectTicks(1, "after a change")
		if sent := tr.model.sent(tr.model.count()); !strings.Contains(sent, "read.txt") {
			t.Errorf("the model was sent %q", sent)
		}
		write("and three and four")
		pass(30 * time.Second)
		tr.expectTicks(1, "within a minute of a change")
		pass(35 * time.Second)
		tr.expectTicks(2, "after a minute")
		pass(30 * time.Minute)
		tr.expectTicks(2, "when nothing has changed since")
	}, again)
}

func TestSleepEndsWithWhatThereIsToDoAndSaysWhy(t *testing.T) {
	for _, c := range []struct {
		what string
		do   func(tr *trial)
		want string
	}{
		{"time", func(*trial) { pass(time.Hour) }, "You have slept for 1h0m0s."},
		{"a steer", func(tr *trial) {
			if _, err := tr.lane.Send(tr.t.Context(), tr.caller(), Message{Content: []protocol.Block{protocol.Text("stop that")}, Busy: BusySteer}); err != nil {
				tr.t.Error(err)
			}
		}, "after 1m0s of 1h0m0s: a message waits"},
		{"a message", func(tr *trial) { tr.follow("and then this") }, "after 1m0s of 1h0m0s: a message waits"},
		{"switched off", func(tr *trial) {
			if err := tr.lane.SetProactive(tr.t.Context(), nil); err != nil {
				tr.t.Error(err)
			}
		}, "after 1m0s of 1h0m0s: proactive mode was switched off"},
		{"a notice", func(tr *trial) {
			if _, err := tr.lane.Tasks().Start(background.Spec{Command: "work", Run: func(context.Context, io.Writer, func(protocol.ProcessUpdate)) sandbox.Exit { return sandbox.Exit{} }}); err != nil {
				tr.t.Error(err)
			}
		}, "after 1m0s of 1h0m0s: background work has something to tell you"},
		{"a command", func(tr *trial) {
			go func() { // ends at the boundary
				if err := tr.lane.AtBoundary(context.Background(), func(context.Context) error { return nil }); err != nil {
					tr.t.Error(err)
				}
			}()
		}, "after 1m0s of 1h0m0s: a command"},
		{"an addition", func(tr *trial) {
			if err := tr.lane.Additions().Add(tr.t.Context(), note("by the way")); err != nil {
				tr.t.Error(err)
			}
			pass(sleepLook)
		}, "after 1m1s of 1h0m0s: something was added"},
		{"the host's end", func(tr *trial) { tr.lane.Drain() }, "after 1m0s of 1h0m0s: the host is stopping"},
	} {
		t.Run(c.what, func(t *testing.T) {
			proactively(t, func(tr *trial) {
				tr.model.before = func(_ context.Context, n int) {
					if n > 2 {
						_ = tr.lane.SetProactive(context.Background(), nil) // one turn is enough
					}
				}
				tr.on(Proactive{})
				pass(defaultTick + time.Minute)
				if a := tr.lane.Proactive(); a == nil || a.State != protocol.AutomationSleeping || a.Until != time.Now().Add(59*time.Minute).UnixMilli() {
					t.Errorf("the state is %+v", a)
				}
				c.do(tr)
				synctest.Wait()
				var result string
				for _, line := range tr.path() {
					if strings.HasPrefix(line, string(protocol.RoleToolResult)) {
						result = line
					}
				}
				if !strings.Contains(result, c.want) {
					t.Errorf("the result is %q, want %q in it; the path is %q", result, c.want, tr.path())
				}
				if a := tr.lane.Proactive(); a != nil && a.State == protocol.AutomationSleeping {
					t.Errorf("the state is %+v", a)
				}
			}, `{"if":{"user":"nobody has typed this"},"do":[{"call":"Sleep","input":{"seconds":3600}}]}`, again)
		})
	}
}

func TestSleepDoesNotWaitForWhatIsThereAlready(t *testing.T) {
	proactively(t, func(tr *trial) {
		tr.model.before = func(_ context.Context, n int) {
			if n == 1 {
				tr.follow("before it slept")
			}
		}
		tr.on(Proactive{})
		pass(defaultTick)
		if p := strings.Join(tr.path(), "\n"); !strings.Contains(p, "The sleep ended after 0s of 1h0m0s: a message waits") || !strings.Contains(p, "user before it slept") {
			t.Errorf("the path is %s", p)
		}
	}, `{"if":{"user":"nobody has typed this"},"do":[{"call":"Sleep","input":{"seconds":3600}}]}`, again)
}

func TestSleepIsAmongTheToolsWhileProactiveModeIsOn(t *testing.T) {
	proactively(t, func(tr *trial) {
		has := func(n int) bool {
			for _, d := range tr.model.requests[n-1].Tools {
				if d.Name == "Sleep" {
					return true
				}
			}
			return false
		}
		tr.say("one")
		tr.on(Proactive{})
		tr.say("two")
		pass(defaultTick)
		if err := tr.lane.SetProactive(tr.t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		tr.say("three")
		if has(1) || !has(2) || !has(3) || has(4) {
			t.Errorf("Sleep is among the tools before %v, of a message while it is on %v, of a tick %v, after %v", has(1), has(2), has(3), has(4))
		}
	}, again)
}

func TestProactiveModeRefusesATimeThatIsTooShortOrTooLong(t *testing.T) {
	proactively(t, func(tr *trial) {
		for _, d := range []time.Duration{-1, time.Second, 2 * time.Hour} {
			if err := tr.lane.SetProactive(tr.t.Context(), &Proactive{Every: d}); err == nil || !strings.Contains(err.Error(), "5s to 1h0m0s") {
				t.Errorf("%v: %v", d, err)
			}
		}
		if tr.lane.Proactive() != nil {
			t.Error("it is on")
		}
	}, again)
}
