package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"scorel/internal/engine/tool"
	"scorel/protocol"
)

const done = `{"do":[{"text":"done"}]}`

func TestAPanicInAToolIsAnErrorResultAndAReport(t *testing.T) {
	for _, where := range []string{"in Run", "in Prepare"} {
		t.Run(where, func(t *testing.T) {
			bad := newGadget("Bad", func(context.Context, json.RawMessage, func(string)) (tool.Result, error) { panic("a nil map") })
			if where == "in Prepare" {
				bad.prepare = func() error { panic("a nil map") }
			}
			tr := newTrial(t, []tool.Tool{bad, newGadget("Good", answers("fine"))},
				`{"do":[{"call":"Bad","id":"c1","input":{}},{"call":"Good","id":"c2","input":{}}]}`, done)
			if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v", end)
			}
			got := tr.results()
			if len(got) != 2 || !strings.HasPrefix(got[0], "c1 true the tool Bad failed inside") || got[1] != "c2 false fine" {
				t.Errorf("results: %q", got)
			}
			if len(tr.reports) != 1 || !strings.Contains(tr.reports[0], "a nil map") {
				t.Errorf("reports: %q", tr.reports)
			}
		})
	}
}

func TestAtMostEightParallelCallsRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		free := make(chan struct{})
		reader := newGadget("Reader", func(_ context.Context, in json.RawMessage, _ func(string)) (tool.Result, error) {
			n := running.Add(1)
			for {
				m := most.Load()
				if n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			<-free
			running.Add(-1)
			return tool.Result{Content: []protocol.Block{protocol.Text(string(in))}}, nil
		})
		reader.spec.Parallel = true
		var calls []string
		for i := range 20 {
			calls = append(calls, fmt.Sprintf(`{"call":"Reader","id":"c%d","input":{"n":%d}}`, i, i))
		}
		tr := newTrial(t, []tool.Tool{reader}, `{"do":[`+strings.Join(calls, ",")+`]}`, done)
		go func() {
			synctest.Wait()
			if n := running.Load(); n != 8 {
				t.Errorf("%d run at once", n)
			}
			close(free)
		}()
		tr.execute(t.Context())
		if most.Load() != 8 || reader.closed != 20 {
			t.Errorf("%d ran side by side, %d were closed", most.Load(), reader.closed)
		}
		for i, r := range tr.results() {
			if r != fmt.Sprintf(`c%d false {"n":%d}`, i, i) {
				t.Errorf("result %d: %s", i, r)
			}
		}
	})
}

func TestCallsThatAreNotParallelRunAloneAndInOrder(t *testing.T) {
	var log []string
	step := func(name string) *gadget {
		return newGadget(name, func(context.Context, json.RawMessage, func(string)) (tool.Result, error) {
			log = append(log, name)
			return tool.Result{}, nil
		})
	}
	a, b := step("A"), step("B")
	tr := newTrial(t, []tool.Tool{a, b}, `{"do":[{"call":"A","input":{}},{"call":"B","input":{}},{"call":"A","input":{}}]}`, done)
	tr.execute(t.Context())
	if !slices.Equal(log, []string{"A", "B", "A"}) {
		t.Errorf("ran: %v", log)
	}
}

func TestCancelReachesAToolUnlessItFinishesByItself(t *testing.T) {
	for _, finishes := range []bool{false, true} {
		t.Run(fmt.Sprint("finishes ", finishes), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			g := newGadget("Slow", func(ctx context.Context, _ json.RawMessage, update func(string)) (tool.Result, error) {
				update("begun")
				cancel()
				if ctx.Err() == nil && !finishes {
					<-ctx.Done()
				}
				return tool.Result{Content: []protocol.Block{protocol.Text(fmt.Sprint("saw ", ctx.Err()))}}, nil
			})
			g.spec.Finishes = finishes
			tr := newTrial(t, []tool.Tool{g}, `{"do":[{"call":"Slow","id":"c1","input":{}},{"call":"Slow","id":"c2","input":{}}]}`, done)
			end := tr.execute(ctx)
			if end.Terminal != protocol.TerminalCancelled {
				t.Errorf("end: %+v", end)
			}
			want := []string{"c1 true saw context canceled\nCancelled by user", "c2 true Cancelled by user"}
			if finishes {
				want[0] = "c1 false saw <nil>"
			}
			if got := tr.results(); !slices.Equal(got, want) {
				t.Errorf("results: %q, want %q", got, want)
			}
			if g.closed != 1 {
				t.Errorf("%d of 1 prepared calls were closed", g.closed)
			}
		})
	}
}

// hooks is a Hooks made of functions.
type hooks struct {
	before func(tool.Call) (BeforeTool, error)
	stops  []string
}

func (h *hooks) BeforeTool(_ context.Context, c tool.Call, _ tool.Spec) (BeforeTool, error) {
	return h.before(c)
}

func (h *hooks) AfterTool(_ context.Context, c tool.Call, _ tool.Spec, m protocol.Message) (protocol.Message, error) {
	m.Content = append(m.Content, protocol.Text("seen by a hook with "+string(c.Input)))
	m.ToolCallID = "another"
	return m, nil
}

func (h *hooks) Stop(context.Context, Ending) (string, error) {
	if len(h.stops) == 0 {
		return "", nil
	}
	s := h.stops[0]
	h.stops = h.stops[1:]
	return s, nil
}

func TestHooksMayChangeOrBlockACallAndNothingElse(t *testing.T) {
	echo := func(_ context.Context, in json.RawMessage, _ func(string)) (tool.Result, error) {
		return tool.Result{Content: []protocol.Block{protocol.Text(string(in))}}, nil
	}
	for _, c := range []struct {
		name   string
		before BeforeTool
		err    error
		want   string
	}{
		{"as it was", BeforeTool{}, nil, "c1 false {\"n\":1}\nseen by a hook with {\"n\":1}"},
		{"answered", BeforeTool{Result: &protocol.Message{Content: []protocol.Block{protocol.Text("cached")}, ToolCallID: "x"}}, nil, "c1 false cached"},
		{"another input", BeforeTool{Input: json.RawMessage(`{"n":2}`)}, nil, "c1 false {\"n\":2}\nseen by a hook with {\"n\":2}"},
		{"an input that does not fit", BeforeTool{Input: json.RawMessage(`{"n":"x"}`)}, nil, "c1 true A hook changed the input so that it does not fit"},
		{"blocked", BeforeTool{Blocked: "not on Fridays"}, nil, "c1 true not on Fridays"},
		{"failed", BeforeTool{}, errors.New("no shell"), "c1 true A hook failed, so this call was not run: no shell"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := newTrial(t, []tool.Tool{newGadget("Echo", echo)}, `{"do":[{"call":"Echo","id":"c1","input":{"n":1}}]}`, done)
			tr.run.Hooks = &hooks{before: func(tool.Call) (BeforeTool, error) { return c.before, c.err }}
			tr.execute(t.Context())
			if got := tr.results(); len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
				t.Errorf("results: %q, want %q", got, c.want)
			}
		})
	}
}

func TestStopHooksKeepATurnGoingFourTimesAtMost(t *testing.T) {
	tr := newTrial(t, nil, `{"again":true,"do":[{"text":"done"}]}`)
	tr.run.Hooks = &hooks{stops: []string{"1", "2", "3", "4", "5", "6"}}
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v", end)
	}
	if !slices.Equal(tr.desk.notices, []string{"1", "2", "3", "4"}) || len(tr.reports) != 1 {
		t.Errorf("notices: %q, reports: %q", tr.desk.notices, tr.reports)
	}
}

func TestARefusedCallIsToldWhyAndClosed(t *testing.T) {
	g := newGadget("Any", answers("ran"))
	tr := newTrial(t, []tool.Tool{g}, `{"do":[{"call":"Any","id":"c1","input":{}}]}`, done)
	tr.desk.deny = "Not here."
	tr.execute(t.Context())
	if got := tr.results(); len(got) != 1 || got[0] != "c1 true Not here." || g.closed != 1 {
		t.Errorf("results: %q, closed %d", got, g.closed)
	}
	for _, e := range tr.events {
		if e.Body.EventType() == protocol.TypeToolExecutionStart {
			t.Error("it was told to run")
		}
	}
}

func TestAConsumerThatStopsEndsTheRun(t *testing.T) {
	for n := 1; n < 12; n++ {
		g := newGadget("Any", answers("ran"))
		tr := newTrial(t, []tool.Tool{g}, `{"again":true,"do":[{"text":"x"},{"call":"Any","input":{}},{"call":"Any","input":{}}]}`)
		seen := 0
		for raw := range Execute(t.Context(), tr.run) {
			tr.take(raw)
			if seen++; seen == n {
				break
			}
		}
		if seen != n {
			t.Errorf("%d events came", seen)
		}
	}
}

func TestOutputOfARunningCallIsYieldedInOrderAndBounded(t *testing.T) {
	g := newGadget("Loud", func(_ context.Context, _ json.RawMessage, update func(string)) (tool.Result, error) {
		update(strings.Repeat("x", 3*maxUpdate))
		update("the end")
		return tool.Result{}, nil
	})
	tr := newTrial(t, []tool.Tool{g}, `{"do":[{"call":"Loud","id":"c1","input":{}}]}`, done)
	tr.execute(t.Context())
	var all strings.Builder
	for _, e := range tr.events {
		if b, ok := e.Body.(*protocol.ToolExecutionUpdate); ok {
			if len(b.Partial) > maxUpdate {
				t.Errorf("an update has %d bytes", len(b.Partial))
			}
			all.WriteString(b.Partial)
		}
	}
	if !strings.HasSuffix(all.String(), "the end") || all.Len() > 2*maxUpdate {
		t.Errorf("%d bytes were shown", all.Len())
	}
}
