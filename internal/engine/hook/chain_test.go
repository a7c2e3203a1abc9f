package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/session/history"
	"scorel/protocol"
)

// says makes a subscriber that decides about calls.
func says(scope Scope, name string, d ToolDecision) Subscriber {
	return Subscriber{Scope: scope, Name: name, BeforeTool: func(context.Context, ToolCall) (ToolDecision, error) { return d, nil }}
}

func TestSubscribersAreAskedBuiltInThenUserThenProjectByName(t *testing.T) {
	var order []string
	ask := func(scope Scope, name string) Subscriber {
		return Subscriber{Scope: scope, Name: name, BeforeTool: func(context.Context, ToolCall) (ToolDecision, error) {
			order = append(order, name)
			return ToolDecision{}, nil
		}}
	}
	c := New(nil, ask(ScopeProject, "a"), ask(ScopeUser, "hook 10 of x"), ask(ScopeUser, "hook 2 of x"), ask(ScopeUser, "extension z"), ask(ScopeBuiltin, "z"))
	if _, err := c.BeforeTool(t.Context(), ToolCall{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"z", "extension z", "hook 2 of x", "hook 10 of x", "a"}; !slices.Equal(order, want) {
		t.Errorf("asked %q, want %q", order, want)
	}
}

func TestDenyBeatsAskBeatsAllowWhoeverSaysIt(t *testing.T) {
	input := json.RawMessage(`{"n":2}`)
	for _, c := range []struct {
		name string
		subs []Subscriber
		want Verdict
		from string
	}{
		{"nobody says anything", []Subscriber{says(ScopeUser, "a", ToolDecision{})}, Continue, ""},
		{"the user allows", []Subscriber{says(ScopeUser, "a", ToolDecision{Verdict: Allow})}, Allow, "a"},
		{"a built-in part allows", []Subscriber{says(ScopeBuiltin, "a", ToolDecision{Verdict: Allow})}, Allow, "a"},
		{"a project cannot allow", []Subscriber{says(ScopeProject, "a", ToolDecision{Verdict: Allow})}, Continue, ""},
		{"ask beats an earlier allow", []Subscriber{says(ScopeUser, "a", ToolDecision{Verdict: Allow}), says(ScopeProject, "b", ToolDecision{Verdict: Ask})}, Ask, "b"},
		{"ask beats a later allow", []Subscriber{says(ScopeUser, "a", ToolDecision{Verdict: Ask}), says(ScopeUser, "b", ToolDecision{Verdict: Allow})}, Ask, "a"},
		{"deny beats allow", []Subscriber{says(ScopeUser, "a", ToolDecision{Verdict: Allow}), says(ScopeProject, "b", ToolDecision{Verdict: Deny})}, Deny, "b"},
		{"deny beats ask", []Subscriber{says(ScopeUser, "a", ToolDecision{Verdict: Ask}), says(ScopeProject, "b", ToolDecision{Verdict: Deny})}, Deny, "b"},
		{"an allow ends with the input that it was given for", []Subscriber{says(ScopeUser, "a", ToolDecision{Verdict: Allow}), says(ScopeProject, "b", ToolDecision{Input: input})}, Continue, ""},
		{"an allow of an input of one's own counts", []Subscriber{says(ScopeUser, "a", ToolDecision{Verdict: Allow, Input: input})}, Allow, "a"},
		{"an ask outlives a changed input", []Subscriber{says(ScopeUser, "a", ToolDecision{Verdict: Ask}), says(ScopeUser, "b", ToolDecision{Input: input})}, Ask, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := New(nil, c.subs...).BeforeTool(t.Context(), ToolCall{Input: json.RawMessage(`{"n":1}`)})
			if err != nil || a.Verdict != c.want || a.From != c.from {
				t.Errorf("%+v %v, want %q of %q", a, err, c.want, c.from)
			}
		})
	}
}

func TestInputChangesChainAndAFinalResultEndsTheChain(t *testing.T) {
	var seen []string
	add := func(name string) Subscriber {
		return Subscriber{Scope: ScopeUser, Name: name, BeforeTool: func(_ context.Context, c ToolCall) (ToolDecision, error) {
			seen = append(seen, name+" "+string(c.Input))
			return ToolDecision{Input: json.RawMessage(`{"by":"` + name + `"}`), Context: "note of " + name}, nil
		}}
	}
	final := says(ScopeUser, "c", ToolDecision{Result: &ToolResult{Content: []protocol.Block{protocol.Text("cached")}}})
	a, err := New(nil, add("a"), add("b"), final, add("d")).BeforeTool(t.Context(), ToolCall{Input: json.RawMessage(`{}`)})
	if err != nil || a.Result == nil || a.From != "c" || string(a.Input) != `{"by":"b"}` {
		t.Fatalf("%+v %v", a, err)
	}
	if !slices.Equal(seen, []string{"a {}", `b {"by":"a"}`}) || !reflect.DeepEqual(a.Notes, []Note{{"a", "note of a"}, {"b", "note of b"}}) {
		t.Errorf("seen %q, notes %v", seen, a.Notes)
	}
}

func TestWhoFailsBeforeACallBlocksItUnlessItFailsOpen(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(context.Context, ToolCall) (ToolDecision, error)
		want string
	}{
		{"an error", func(context.Context, ToolCall) (ToolDecision, error) { return ToolDecision{}, errors.New("no shell") }, "no shell."},
		{"a panic", func(context.Context, ToolCall) (ToolDecision, error) { panic("a nil map") }, "it panicked: a nil map."},
		{"an unknown verdict", func(context.Context, ToolCall) (ToolDecision, error) { return ToolDecision{Verdict: "perhaps"}, nil }, `its decision is "perhaps"`},
		{"an input that is not an object", func(context.Context, ToolCall) (ToolDecision, error) {
			return ToolDecision{Input: json.RawMessage(`[1]`)}, nil
		}, "not a JSON object."},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reports []string
			report := func(s string) { reports = append(reports, s) }
			strict := New(report, Subscriber{Scope: ScopeUser, Name: "guard", At: "PreToolUse", BeforeTool: c.fail})
			closed, err := strict.BeforeTool(t.Context(), ToolCall{Name: "Bash"})
			_, _ = strict.BeforeTool(t.Context(), ToolCall{Name: "Read"}) // people are told once
			if err != nil || closed.Verdict != Deny || !strings.HasPrefix(closed.Reason, "guard failed, so this call was not run: ") || !strings.Contains(closed.Reason, c.want) ||
				len(reports) != 1 || !strings.HasPrefix(reports[0], "guard failed at PreToolUse, so the call of Bash was not run: ") {
				t.Errorf("%+v %v %q", closed, err, reports)
			}
			reports = nil
			chain := New(report, Subscriber{Scope: ScopeUser, Name: "guard", Names: map[string]string{"beforeToolCall": "tool_call"}, BeforeTool: c.fail, FailOpen: true}, says(ScopeUser, "next", ToolDecision{Verdict: Allow}))
			for range 3 {
				open, err := chain.BeforeTool(t.Context(), ToolCall{})
				if err != nil || open.Verdict != Allow {
					t.Errorf("%+v %v", open, err)
				}
			}
			if len(reports) != 1 || !strings.Contains(reports[0], "guard failed at tool_call and was skipped: ") {
				t.Errorf("reports: %q", reports)
			}
		})
	}
}

func TestWhoFailsElsewhereIsSkippedWithOneReport(t *testing.T) {
	boom := errors.New("boom")
	bad := Subscriber{Scope: ScopeUser, Name: "bad",
		AfterTool: func(context.Context, ToolCall, ToolResult) (ToolPatch, error) {
			return ToolPatch{Content: []protocol.Block{}}, boom
		},
		Context:          func(context.Context, []history.Element) ([]history.Element, error) { return nil, boom },
		TransformContext: func(context.Context, []history.Element) ([]history.Element, error) { panic("x") },
		ConvertToLLM:     func(context.Context, []protocol.Message) ([]protocol.Message, error) { return nil, boom },
		SessionStart:     func(context.Context, SessionStart) (string, error) { return "note", boom },
		Prompt:           func(context.Context, Prompt) (PromptDecision, error) { return PromptDecision{Verdict: Deny}, boom },
		BeforeAgent:      func(context.Context, Prompt, string) (AgentStart, error) { return AgentStart{Context: "x"}, boom },
		Stop:             func(context.Context, Stop) (string, error) { return "go on", boom },
		BeforeCompact:    func(context.Context, Compaction) (CompactDecision, error) { return CompactDecision{Cancel: true}, boom },
		BeforeMove:       func(context.Context, Move) (MoveDecision, error) { return MoveDecision{Cancel: true}, boom },
		BeforeRequest:    func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{}`), boom },
		AfterResponse:    func(context.Context, int, map[string]string) { panic("x") }}
	var reports []string
	c := New(func(s string) { reports = append(reports, s) }, bad)
	ctx := t.Context()
	m := protocol.UserText("hello")
	for range 2 {
		if r, notes, err := c.AfterTool(ctx, ToolCall{}, ToolResult{IsError: true}); err != nil || !r.IsError || r.Content != nil || notes != nil {
			t.Errorf("AfterTool: %+v %v %v", r, notes, err)
		}
		list := []history.Element{{Message: &m}}
		if got, err := c.Context(ctx, list); err != nil || len(got) != 1 {
			t.Errorf("Context: %v %v", got, err)
		}
		if got, err := c.TransformContext(ctx, list); err != nil || len(got) != 1 {
			t.Errorf("TransformContext: %v %v", got, err)
		}
		if got, err := c.ConvertToLLM(ctx, []protocol.Message{m}); err != nil || len(got) != 1 {
			t.Errorf("ConvertToLLM: %v %v", got, err)
		}
		if notes, err := c.SessionStart(ctx, SessionStart{}); err != nil || notes != nil {
			t.Errorf("SessionStart: %v %v", notes, err)
		}
		if a, err := c.Prompt(ctx, Prompt{}); err != nil || a.Denied {
			t.Errorf("Prompt: %+v %v", a, err)
		}
		if a, err := c.BeforeAgent(ctx, Prompt{}, "system"); err != nil || a.System != "system" || a.Notes != nil {
			t.Errorf("BeforeAgent: %+v %v", a, err)
		}
		if text, err := c.Stop(ctx, Stop{}); err != nil || text != "" {
			t.Errorf("Stop: %q %v", text, err)
		}
		if a, err := c.BeforeCompact(ctx, Compaction{}); err != nil || a.Cancelled {
			t.Errorf("BeforeCompact: %+v %v", a, err)
		}
		if a, err := c.BeforeMove(ctx, Move{}); err != nil || a.Cancelled {
			t.Errorf("BeforeMove: %+v %v", a, err)
		}
		if p, by, err := c.BeforeRequest(ctx, json.RawMessage(`{"a":1}`)); err != nil || by != nil || string(p) != `{"a":1}` {
			t.Errorf("BeforeRequest: %s %v %v", p, by, err)
		}
		c.AfterResponse(ctx, 200, nil)
	}
	if len(reports) != 12 {
		t.Errorf("%d reports: %q", len(reports), reports)
	}
}

func TestAnElementThatALayerTouchedHasNoEventForTheNextOne(t *testing.T) {
	a, b := protocol.UserText("a"), protocol.UserText("b")
	list := []history.Element{{Event: "evt_a", Message: &a}, {Event: "evt_b", Message: &b}}
	var seen []string
	c := New(nil,
		Subscriber{Scope: ScopeUser, Name: "1", Context: func(_ context.Context, l []history.Element) ([]history.Element, error) {
			return []history.Element{l[1], l[0].With(protocol.UserText("A")), l[1]}, nil
		}},
		Subscriber{Scope: ScopeUser, Name: "2", Context: func(_ context.Context, l []history.Element) ([]history.Element, error) {
			for _, e := range l {
				seen = append(seen, string(e.Event)+" "+e.Message.PlainText())
			}
			return l, nil
		}})
	got, err := history.Pass(t.Context(), list, c.Context)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"evt_b b", " A", " b"}; !slices.Equal(seen, want) {
		t.Errorf("the second saw %q, want %q", seen, want)
	}
	var out []string
	for _, e := range got {
		out = append(out, string(e.Event))
	}
	if !slices.Equal(out, []string{"evt_b", "", ""}) {
		t.Errorf("events %q", out)
	}
}

func TestAWatcherThatBlocksDisturbsNobodyAndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		var slow, quick []string
		var reports []string
		b := NewBroadcast(func(s string) { reports = append(reports, s) })
		b.Watch(New(nil,
			Subscriber{Scope: ScopeUser, Name: "slow", Happened: func(_ context.Context, h Happening) {
				<-free
				slow = append(slow, h.Type)
			}},
			Subscriber{Scope: ScopeUser, Name: "quick", Happened: func(_ context.Context, h Happening) { quick = append(quick, h.Type) }},
			Subscriber{Scope: ScopeUser, Name: "bad", Happened: func(context.Context, Happening) { panic("x") }}))
		const n = 10 * maxWatched
		for i := range n {
			b.Happened(Happening{Type: fmt.Sprint(i)})
			if i%100 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		if len(quick) != n || quick[n-1] != fmt.Sprint(n-1) {
			t.Errorf("quick was told %d of %d", len(quick), n)
		}
		lagging := 0
		for _, r := range reports {
			if strings.HasPrefix(r, "slow is too slow") {
				lagging++
			}
		}
		if lagging != 1 {
			t.Errorf("%d reports that it lags: %.300q", lagging, reports)
		}
		close(free)
		b.Close(t.Context())
		if len(slow) != maxWatched+1 || slow[0] != "0" || slow[maxWatched] != fmt.Sprint(maxWatched) {
			t.Errorf("slow was told %d", len(slow))
		}
		b.Happened(Happening{Type: "late"})
		synctest.Wait()
		if slices.Contains(quick, "late") {
			t.Error("told behind Close")
		}
	})
}

func TestWhatIsCancelledAtTheCloseMaySaySo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBroadcast(nil)
		var said atomic.Bool
		b.Watch(New(nil, Subscriber{Scope: ScopeUser, Name: "slow", Happened: func(ctx context.Context, _ Happening) {
			<-ctx.Done()
			time.Sleep(maxLast / 2) // what it has started is killed
			said.Store(true)
		}}, Subscriber{Scope: ScopeUser, Name: "stuck", Happened: func(context.Context, Happening) { time.Sleep(time.Hour) }}))
		b.Happened(Happening{Type: "session_end"})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		b.Close(ctx)
		if took := time.Since(began); !said.Load() || took != 5*time.Second+maxLast {
			t.Errorf("said %v, closed after %v", said.Load(), took)
		}
		time.Sleep(time.Hour)
	})
}
