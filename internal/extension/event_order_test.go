package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/hook"
	engine "scorel/internal/engine/tool"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// allEvents are the events of the extension API that have no answer.
var allEvents = []string{"session_info_changed", "session_compact", "session_tree", "agent_start", "agent_end", "agent_settled", "turn_start", "turn_end",
	"message_start", "message_update", "message_end", "tool_execution_start", "tool_execution_update", "tool_execution_end", "after_provider_response",
	"model_select", "thinking_level_select", "ui_prompt_start", "ui_prompt_end"}

func TestEventHandlersSeeWhatWasToldBefore(t *testing.T) {
	w := newWorld(t)
	pi := tools("counts")
	pi.API, pi.Events = "pi", allEvents
	w.js("pi", script{pi, map[string]string{"tool counts": "counts"}})
	w.js("scorel", script{rpc.Registration{API: "scorel", Events: []string{"*"}}, nil})
	w.load()
	subscribers := []hook.Subscriber{w.subscriber("pi"), w.subscriber("scorel")}
	stored, leaf := 0, protocol.EventID("")
	name := "x"
	rapid.Check(t, func(r *rapid.T) {
		var told []int // entries that there were when each event was told
		tell := func(body protocol.Body) {
			e := protocol.NewEvent(body)
			e.Seq, e.SessionID, e.ClientID, e.TS = w.log.LastSeq()+1, "ses_00000000000000000000000000", protocol.HostClient, 1
			if !e.IsTransient() {
				e.ID = protocol.EventID(fmt.Sprintf("evt_%016d", w.log.LastSeq()+1))
				w.log.add(e.ID, leaf, body)
				if e.Class() == protocol.Conversation {
					leaf = e.ID
				}
				switch body.(type) {
				case *protocol.MessageBody, *protocol.Custom, *protocol.Compact:
					stored++
				}
			}
			told = append(told, stored)
			for _, s := range subscribers {
				s.Event(e)
			}
		}
		steps := rapid.SliceOfN(rapid.IntRange(0, 15), 1, 30).Draw(r, "events")
		for _, step := range steps {
			switch step {
			case 0:
				tell(say("hello"))
			case 1:
				tell(&protocol.RuntimeStart{})
			case 2:
				tell(&protocol.MessageStart{Role: protocol.RoleAssistant, EventID: "evt_x"})
			case 3:
				tell(&protocol.TextDelta{EventID: "evt_x", Delta: "a"})
			case 4:
				tell(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("fine")}}})
			case 5:
				tell(&protocol.ToolExecutionStart{ToolCallID: "c", ToolName: "Bash"})
			case 6:
				tell(&protocol.ToolExecutionUpdate{ToolCallID: "c", Partial: "a"})
			case 7:
				tell(&protocol.ToolExecutionEnd{ToolCallID: "c", ToolName: "Bash"})
			case 8:
				tell(&protocol.RuntimeEnd{Reason: protocol.EndCompleted})
			case 9:
				tell(&protocol.SessionInfo{Changes: protocol.MetaChanges{Name: &name}})
			case 10:
				tell(&protocol.SessionInfo{Changes: protocol.MetaChanges{Model: &name, ThinkingLevel: &name}})
			case 11:
				tell(&protocol.UIRequest{UIID: "ui", Data: protocol.Dialog{Kind: "confirm"}})
			case 12:
				tell(&protocol.UIResolved{UIID: "ui"})
			case 13:
				tell(pin("mark"))
			case 14:
				tell(&protocol.ThinkingDelta{EventID: "evt_x", Delta: "a"})
			case 15:
				for _, s := range subscribers {
					if s.AfterResponse != nil {
						s.AfterResponse(t.Context(), 200, nil)
					}
				}
			}
		}
		known, whole := 0, 0
		for _, s := range seenBy(t, w) {
			if s.entries < known {
				r.Errorf("%s is told of %s with %d entries, and %d were known before", s.who, s.event, s.entries, known)
			}
			known = s.entries
			if s.who == "scorel" && s.event != "session_start" { // each event once
				if s.entries != told[whole] {
					r.Errorf("%s comes with %d entries; %d were told before", s.event, s.entries, told[whole])
				}
				whole++
			}
			if s.who == "pi" && s.event != "after_provider_response" && whole < len(told) && s.entries < told[whole] { // it is told first
				r.Errorf("%s comes with %d entries; %d were told before", s.event, s.entries, told[whole])
			}
		}
		if whole != len(told) {
			r.Errorf("told of %d events, not %d", whole, len(told))
		}
	})
}

func TestSessionShutdownSeesTheWholeConversation(t *testing.T) {
	w := newRealWorld(t)
	w.ts("last", `export default function (pi: any) {
  pi.on("session_shutdown", (_e: any, ctx: any) => { console.log("at the end " + ctx.sessionManager.getEntries().length); });
}`)
	w.load()
	w.log.add("evt_1", "", say("hello"))
	w.log.add("evt_2", "evt_1", say("and more"))
	w.set.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.ContainsFunc(w.reports, func(s string) bool { return strings.Contains(s, "at the end 2") }) {
		t.Errorf("at the end it does not see both messages: %q", w.reports)
	}
}

// sighting is an event as an extension was told of it.
type sighting struct {
	who, event string
	entries    int
}

func seenBy(t *testing.T, w *world) (out []sighting) {
	t.Helper()
	r, err := w.runTool("counts", nil)
	if err != nil {
		t.Fatal(err)
	}
	var list [][3]any
	if err := json.Unmarshal([]byte(r.Content[0].Text), &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		out = append(out, sighting{s[0].(string), s[1].(string), int(s[2].(float64))})
	}
	return out
}

func TestSessionStartsWhenAllIsLoadedAndIsWaitedFor(t *testing.T) {
	w := newRealWorld(t)
	w.ts("a", `export default function (pi: any) {
  pi.on("session_start", async (e: any, ctx: any) => {
    await new Promise((done) => setTimeout(done, 50));
    pi.registerTool({ name: "late", description: "Registered in session_start.", execute: () => "late" });
    pi.setActiveTools(["Read"]);
    console.log("a starts with " + pi.getCommands().map((c: any) => c.name).join() + " and " + ctx.model?.id);
  });
}`)
	w.ts("b", `export default function (pi: any) {
  pi.registerCommand("of-b", { handler: async () => {} });
  pi.on("session_start", () => { console.log("b starts"); });
}`)
	ready := 0
	var active []string
	w.call = func(_ context.Context, e Extension, method string, params json.RawMessage) (any, error) {
		switch method {
		case rpc.CallActiveTools:
			var p struct{ Names []string }
			_ = json.Unmarshal(params, &p)
			active = p.Names
		case rpc.CallModels:
			return map[string]any{"models": []any{}}, nil
		}
		return nil, nil
	}
	w.make()
	w.set.cfg.Ready = func(context.Context) {
		ready++
		w.state.Model = &rpc.Model{ID: "demo"}
		for _, c := range w.set.Commands() {
			w.state.AllCommands = append(w.state.AllCommands, rpc.NamedCommand{Name: c.Name, Source: "extension"})
		}
	}
	if err := w.set.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.tool("late") // fails the test where it is not there
	if ready != 1 || !slices.Equal(active, []string{"Read"}) {
		t.Errorf("ready %d times, the active tools are %q", ready, active)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	log := strings.Join(w.reports, "\n")
	if a, b := strings.Index(log, "a starts with of-b and demo"), strings.Index(log, "b starts"); a < 0 || b < a {
		t.Errorf("the log is %s", log)
	}
}

func TestSendingAMessageInSessionStartWaitsForNoOneElse(t *testing.T) {
	w := newRealWorld(t)
	w.ts("a", `export default function (pi: any) { pi.on("session_start", async () => { await pi.sendUserMessage("go"); }); }`)
	loads := make(chan error, 1)
	w.call = func(ctx context.Context, _ Extension, method string, _ json.RawMessage) (any, error) {
		if method == rpc.CallSendUser { // a message has the extensions loaded before its turn
			loads <- w.set.Load(ctx)
		}
		return map[string]any{"models": []any{}}, nil
	}
	began := time.Now()
	w.load()
	if err := <-loads; err != nil || time.Since(began) >= startTime {
		t.Errorf("it waited for itself: %v, %v", err, time.Since(began))
	}
}

func TestHandlersOfEventsComeToTheirEndBeforeTheExtensionIsEnded(t *testing.T) {
	w := newRealWorld(t)
	w.ts("slow", `export default function (pi: any) {
  pi.on("agent_end", async () => { await new Promise((done) => setTimeout(done, 300)); console.log("agent_end is done"); });
}`)
	w.load()
	s := w.subscriber("slow")
	s.Event(protocol.NewEvent(say("hello")))
	s.Event(protocol.NewEvent(&protocol.RuntimeStart{}))
	s.Event(protocol.NewEvent(&protocol.RuntimeEnd{Reason: protocol.EndCompleted}))
	w.set.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.ContainsFunc(w.reports, func(s string) bool { return strings.Contains(s, "agent_end is done") }) {
		t.Errorf("the reports are %q", w.reports)
	}
}

func TestRunOfACommandIsNoRunOfTheAgent(t *testing.T) {
	w := newRealWorld(t)
	w.ts("told", `const told: any[] = [];
export default function (pi: any) {
  for (const name of ["agent_start", "agent_end", "agent_settled"]) pi.on(name, (e: any) => { told.push(name + (e.messages ? " " + e.messages.length : "")); });
  pi.registerTool({ name: "told", description: "x", execute: () => told.splice(0).join(", ") });
}`)
	w.load()
	s := w.subscriber("told")
	tell := func(bodies ...protocol.Body) string {
		for _, b := range bodies {
			s.Event(protocol.NewEvent(b))
		}
		r, err := w.runTool("told", nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].Text
	}
	start, end := &protocol.RuntimeStart{}, &protocol.RuntimeEnd{Reason: protocol.EndCompleted}
	if got := tell(start, pin("mark"), end); got != "(no output)" && got != "" {
		t.Errorf("a command: %s", got)
	}
	if got := tell(say("hello"), start, end); got != "agent_start, agent_end 0, agent_settled" {
		t.Errorf("a turn that failed at once: %s", got)
	}
	if got := tell(start, &protocol.MessageStart{Role: protocol.RoleAssistant}, end); got != "agent_start, agent_end 0, agent_settled" {
		t.Errorf("a turn without a message: %s", got)
	}
}

func TestEntriesThatNoFileNamesAreSaid(t *testing.T) {
	w := newRealWorld(t)
	w.ts("knows", `export default function (pi: any) { pi.on("agent_end", (_e: any, ctx: any) => ctx.entries.filter((e: any) => e.type === "known_mark")); }`)
	w.log.add("evt_1", "", say("hello"))
	w.log.add("evt_2", "evt_1", pin("known_mark"))
	w.log.add("evt_3", "evt_1", pin("gone_mark"))
	w.load()
	w.set.Warn(t.Context())
	if told := w.told(); len(told) != 1 || !strings.Contains(told[0], "of the kinds gone_mark, which") {
		t.Errorf("told %q", told)
	}

	w = newWorld(t)
	w.log.add("evt_1", "", say("hello"))
	w.log.add("evt_2", "evt_1", pin("gone_mark"))
	w.load()
	w.set.Warn(t.Context())
	if told := w.told(); len(told) != 1 || !strings.Contains(told[0], "gone_mark") {
		t.Errorf("without extensions: told %q", told)
	}
}

func TestErrorsNameTheirPlaceToPeople(t *testing.T) {
	w := newRealWorld(t)
	w.ts("bad", `export default function (pi: any) {
  pi.registerTool({ name: "tool", description: "x", execute: async () => {
    throw new Error("tool broke");
  } });
  pi.registerCommand("cmd", { handler: async () => {
    throw new Error("command broke");
  } });
  pi.on("turn_start", async () => {
    throw new Error("handler broke");
  });
  pi.on("tool_call", async () => {
    throw new Error("gate broke");
  });
}`)
	w.load()
	var steps []protocol.ProcessUpdate
	p, err := w.tool("tool").Prepare(t.Context(), engine.Call{ID: "c", Input: json.RawMessage(`{}`), Process: func(u protocol.ProcessUpdate) { steps = append(steps, u) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), nil); err == nil || err.Error() != "tool broke" {
		t.Errorf("the model is told %v", err)
	}
	if len(steps) != 1 || steps[0].Status != protocol.ProcessFailed || !strings.Contains(steps[0].Message, "bad.ts:3:") {
		t.Errorf("people are shown %+v", steps)
	}
	if _, err := w.set.Commands()[0].Run(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "command broke at handler (bad.ts:6:") {
		t.Errorf("the command: %v", err)
	}
	var people []string
	chain := hook.New(func(text string) { people = append(people, text) }, w.set.Subscribers()...)
	a, err := chain.BeforeTool(t.Context(), hook.ToolCall{ID: "c", Name: "Bash", Input: json.RawMessage(`{}`)})
	if err != nil || strings.Contains(a.Reason, "bad.ts") {
		t.Errorf("the model is told %q, %v", a.Reason, err)
	}
	if len(people) != 1 || !strings.Contains(people[0], "gate broke at ") || !strings.Contains(people[0], "bad.ts:12:") {
		t.Errorf("people are told %q", people)
	}
	s := w.subscriber("bad")
	s.Event(protocol.NewEvent(&protocol.MessageStart{Role: protocol.RoleAssistant}))
	harness.Until(t, "the notice", func() bool {
		return slices.ContainsFunc(w.told(), func(s string) bool {
			return strings.Contains(s, "handler broke at ") && strings.Contains(s, "bad.ts:9:")
		})
	})
}
