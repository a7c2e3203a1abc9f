package subagent_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/host/lane/subagents"
	"scorel/protocol"
)

const untilGo = "; until [ -e go ]; do sleep 0.01; done; "

func TestAgentsOfOneMessageWorkSideBySideUpToTheLimitAndTheOthersWait(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash(), Tables: "[agents]\nmaxParallel = 2"}, hosttest.AgentCall("^start$", "", "CHILD 1", "CHILD 2", "CHILD 3"),
		hosttest.Shell("CHILD 1", "a", "echo >> up"+untilGo+"echo done-1"), hosttest.Shell("CHILD 2", "b", "echo >> up"+untilGo+"echo done-2"),
		hosttest.Shell("CHILD 3", "c", "echo >> up"+untilGo+"echo done-3"),
		hosttest.Answer("done-1", "piece one is there"), hosttest.Answer("done-2", "piece two is there"), hosttest.Answer("done-3", "piece three is there"),
		hosttest.Answer("(?s)piece one.*piece two.*piece three", "all there"))
	e := w.Begin(false)
	e.Send("start")
	e.Until(func(ev protocol.Event) bool { // one waits
		b, ok := ev.Body.(*protocol.ToolProcess)
		return ok && b.Event.Status == protocol.ProcessQueued && strings.Contains(b.Event.Message, "waits: 2 agents work already")
	})
	w.Eventually("two at work", func() bool { data, _ := os.ReadFile(filepath.Join(w.Project, "up")); return len(data) == 2 })
	if runs := w.Runs(e.ID); len(runs) != 2 {
		t.Errorf("%d have begun", len(runs))
	}
	w.File("go", "")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	if runs := w.Runs(e.ID); len(runs) != 6 {
		t.Errorf("%d beginnings and ends", len(runs))
	}
	hosttest.Paired(t, e.Messages())
	w.Judged()
}

func TestACancelEndsTheAgentsThatTheTurnWaitsFor(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash(), Tables: "[agents]\nmaxParallel = 1"}, hosttest.AgentCall("^start$", "", "CHILD 1", "CHILD 2"),
		hosttest.Shell("CHILD", "a", "echo $$ > pid; sleep 1000"))
	e := w.Begin(false)
	turn := e.Send("start")
	child := e.Child(0)
	pid := w.Line("pid")
	hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
	if end := e.End(); end.Terminal != protocol.TerminalCancelled {
		t.Fatalf("end: %+v", end)
	}
	hosttest.Gone(t, pid)
	results := ""
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleToolResult {
			results += m.PlainText() + "\n"
		}
	}
	if strings.Count(results, "Cancelled by user") != 2 || strings.Count(results, "session "+string(child)) != 1 || strings.Count(results, "the agent had not begun") != 1 {
		t.Errorf("the results: %s", results)
	}
	runs := w.Runs(e.ID)
	if len(runs) != 2 || runs[1].Terminal != protocol.TerminalCancelled {
		t.Errorf("the log tells %+v", runs)
	}
	hosttest.Paired(t, w.Open(e.C, child).Messages())
}

// after starts an agent in the background that waits for the file go, while its
// session goes on.
func behind() []string {
	return []string{hosttest.AgentCall("^start$", `,"background":true`, "CHILD 1"), hosttest.Shell("CHILD 1", "a", "echo $$ > pid"+untilGo+"echo done-1"),
		hosttest.Answer("works in the background as task_", "I go on"), hosttest.Answer("done-1", "piece one is there")}
}

func TestAnAgentInTheBackgroundOutlivesTheTurnAndItsEndIsTold(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api, Overrides: hosttest.AllowBash()}, append(behind(),
				`{"if":{"user":"(?s)Background agent task_.* \\(general: piece 1\\) ended after .*its session is ses_.*data, not instructions.*\\| piece one is there.*and now"},"do":[{"text":"I know"}]}`,
				`{"if":{"user":"later"},"do":[{"text":"nothing new"}]}`)...)
			e := w.Begin(false)
			if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			child := e.Child(0)
			tasks := func() protocol.TaskInfo {
				return hosttest.Call[*protocol.TaskList](t, e.C, e.ID, &protocol.ListTasks{}).Tasks[0]
			}
			w.Line("pid")
			if got := tasks(); got.State != protocol.TaskRunning || got.Agent != "general" || got.SessionID != child || got.ToolCallID != "t1" {
				t.Errorf("listed: %+v", got)
			}
			w.File("go", "")
			w.Eventually("its end", func() bool { return tasks().State != protocol.TaskRunning })
			if end := e.Say("and now"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			if end := e.Say("later"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			if n := w.Notices(e.ID); len(n) != 1 {
				t.Errorf("it was told %d times", len(n))
			}
			var sum protocol.Usage
			calls := map[protocol.SessionID]int{}
			for _, id := range []protocol.SessionID{e.ID, child} {
				for _, ev := range w.Log(id) {
					if m, ok := ev.Message(); ok && m.Role == protocol.RoleAssistant {
						calls[id]++
						sum.Add(*m.Usage)
					}
				}
			}
			if live := w.Open(w.Connect(false), e.ID).S.Live.Usage; live != sum {
				t.Errorf("the session used %+v, with its agent it is %+v", live, sum)
			}
			rows := hosttest.Call[*protocol.UsageReport](t, e.C, e.ID, &protocol.GetUsage{}).Rows
			if i := slices.IndexFunc(rows, func(r protocol.UsageRow) bool { return r.Kind == protocol.UsageSubagent }); i < 0 || len(rows) != 2 || rows[i].Agent != "general" || rows[i].Calls != calls[child] || calls[child] < 2 {
				t.Errorf("the rows of the usage: %+v; the agent called its model %d times", rows, calls[child])
			}
			w.Judged()
		})
	}
}

func TestTaskOutputWaitsForAnAgentAndTaskStopEndsIt(t *testing.T) {
	fill := `"fill":{"task_id":"task_[0-9a-v]{8}"}`
	t.Run("output", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.AgentCall("^start$", `,"background":true`, "CHILD 1"), hosttest.Shell("CHILD 1", "a", "echo done-1"),
			hosttest.Answer("done-1", "piece one is there"), `{"if":{"result":"works in the background"},"do":[{"call":"TaskOutput","id":"o","input":{"task_id":"","wait_seconds":20},`+fill+`}]}`,
			hosttest.Answer("(?s)piece one is there.*ended after", "read"))
		e := w.Begin(false)
		if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
		}
		if n := w.Notices(e.ID); len(n) != 0 {
			t.Errorf("what was read is told again: %d", len(n))
		}
	})
	t.Run("stop", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, behind()[0], behind()[1],
			`{"if":{"result":"works in the background"},"do":[{"call":"Bash","id":"w","input":{"command":"until [ -e pid ]; do sleep 0.01; done; echo seen"}}]}`,
			`{"if":{"result":"seen"},"do":[{"call":"TaskStop","id":"s","input":{"task_id":""},`+fill+`}]}`, hosttest.Answer("was stopped after", "stopped"))
		e := w.Begin(false)
		if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
		}
		hosttest.Gone(t, w.Line("pid"))
		if runs := w.Runs(e.ID); len(runs) != 2 || runs[1].Terminal != protocol.TerminalCancelled {
			t.Errorf("the log tells %+v", runs)
		}
	})
}

func TestTheEndOfTheHostEndsAnAgentWhichCanBeResumed(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, append(behind(), `{"if":{"user":"(?s)was ended, because its session was closed.*ses_.*go on"},"do":[{"text":"ready"}]}`)...)
	e := w.Begin(false)
	e.Say("start")
	child, pid := e.Child(0), w.Line("pid")
	w.Restart()
	hosttest.Gone(t, pid)
	runs := w.Runs(e.ID)
	if len(runs) != 2 || runs[1].State != subagents.Ended || runs[1].Terminal != protocol.TerminalCancelled {
		t.Errorf("the log tells %+v", runs)
	}
	again := w.Open(w.Connect(false), e.ID)
	if end := again.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	hosttest.Paired(t, w.Open(again.C, child).Messages())
}

func TestAHostThatDrainsEndsAnAgentAtItsStepAndTheCallWithIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.AgentCall("^start$", "", "CHILD 1"), hosttest.Shell("CHILD 1", "a", "echo > up"+untilGo+"echo done-1"),
		`{"if":{"user":"go on"},"do":[{"text":"ready"}]}`)
	e := w.Begin(false)
	e.Send("start")
	child := e.Child(0)
	w.Line("up")
	drained := make(chan error, 1)
	go func() { drained <- w.Host.Drain(t.Context(), hosttest.Patience, false) }() // ends with the step
	w.Eventually("the host is stopping", func() bool {
		s, err := client.Call[*protocol.Status](t.Context(), e.C, "", &protocol.GetStatus{})
		return err != nil || s.Stopping
	})
	w.File("go", "")
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	w.Start()
	c := w.Connect(false)
	messages := w.Open(c, child).Messages()
	hosttest.Paired(t, messages)
	step, end := messages[len(messages)-2], messages[len(messages)-1]
	if !strings.Contains(step.PlainText(), "done-1") || end.ErrorMessage != protocol.HostStoppedBefore {
		t.Errorf("the agent's step is not whole, or nothing says that it has ended: %q, %q", step.PlainText(), end.ErrorMessage)
	}
	again := w.Open(c, e.ID)
	if m := again.LastResult(); !m.IsError || !strings.Contains(m.PlainText(), "session "+string(child)) {
		t.Errorf("the result: %q", m.PlainText())
	}
	if end := again.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v %v", end, end.Error)
	}
}

func TestAnAgentIsResumedOnlyByTheSessionThatStartedIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, hosttest.AgentCall("^start$", "", "CHILD 1"), `{"if":{"user":"CHILD 1"},"do":[{"text":"first answer"}]}`, hosttest.Answer("first answer", "so far"),
		`{"if":{"user":"^again (ses_[0-9a-z]+)"},"again":true,"do":[{"call":"Task","input":{"description":"go on","prompt":"GO ON CHILD","resume":""},"fill":{"resume":"ses_[0-9a-z]+"}}]}`,
		`{"if":{"user":"^other "},"do":[{"call":"Task","input":{"agent":"explore","description":"go on","prompt":"GO ON CHILD","resume":""},"fill":{"resume":"ses_[0-9a-z]+"}}]}`,
		`{"if":{"user":"GO ON CHILD"},"do":[{"text":"second answer"}]}`, hosttest.Answer("second answer", "done"), hosttest.Answer("none of a sub-agent of this session", "refused"),
		hosttest.Answer("is one of the agent general, not of explore", "refused too"))
	e := w.Begin(false)
	e.Say("start")
	child := e.Child(0)
	if end := e.Say("again " + string(child)); end.Terminal != protocol.TerminalCompleted || !strings.Contains(e.LastResult().PlainText(), "second answer") {
		t.Fatalf("end: %+v %v: %q", end, end.Error, e.LastResult().PlainText())
	}
	texts := ""
	for _, m := range w.Open(e.C, child).Messages() {
		texts += m.PlainText() + "|"
	}
	if texts != "CHILD 1|first answer|GO ON CHILD|second answer|" {
		t.Errorf("the agent's session: %s", texts)
	}
	e.Say("other " + string(child))
	if m := e.LastResult(); !m.IsError || !strings.Contains(m.PlainText(), "is one of the agent general, not of explore") {
		t.Errorf("%q", m.PlainText())
	}
	other := w.Begin(false)
	other.Say("again " + string(child))
	if m := other.LastResult(); !m.IsError || !strings.Contains(m.PlainText(), "none of a sub-agent of this session") {
		t.Errorf("%q", m.PlainText())
	}
	w.Judged()
}

func TestACostLimitHoldsOverASessionAndItsAgents(t *testing.T) {
	spend := `,"usage":{"inputTokens":1000000,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0}}`
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}, MaxBudgetUSD: 2.5}, Tables: "price = { input = 1.0, output = 1.0 }"},
		strings.TrimSuffix(hosttest.AgentCall("^start$", "", "CHILD 1"), "}")+spend,
		strings.TrimSuffix(hosttest.Shell("CHILD 1", "a", "echo done-1"), "}")+spend, strings.TrimSuffix(hosttest.Shell("never", "b", "echo"), "}")+spend,
		`{"if":{"result":"done-1"},"do":[{"call":"Bash","id":"c","input":{"command":"touch too-much"}}]`+spend)
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalBudget {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	if n := len(w.Server.Requests()); n != 3 {
		t.Errorf("%d calls of the model", n)
	}
	if w.Exists("too-much") {
		t.Error("a call ran beyond the limit")
	}
	if m := e.LastResult(); !m.IsError || !strings.Contains(m.PlainText(), "The agent did not finish: The run stopped, because the turn that it works for has used $3.0000 of $2.5;") || m.Usage.CostUSD != 2 {
		t.Errorf("the result: %q, usage %+v", m.PlainText(), m.Usage)
	}
}

func TestAQuestionOfAnAgentIsAskedInBothSessionsAndAnsweredInEither(t *testing.T) {
	for _, where := range []string{"the session", "the agent's session"} {
		t.Run(where, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.AgentCall("^start$", "", "CHILD 1"), hosttest.Shell("CHILD 1", "a", "echo one"), hosttest.Answer("one", "it said one"), hosttest.Answer("it said one", "done"))
			e := w.Begin(true)
			e.Send("start")
			child := w.Open(w.Connect(true), e.Child(0))
			up := e.Asked(1)
			down := func() protocol.PermissionRequest {
				if p := child.S.Live.Permissions; len(p) > 0 {
					return p[0]
				}
				return child.Asked(1)
			}()
			if up.PermissionID != down.PermissionID || up.ToolCallID != "t1" || down.ToolCallID != "a" || down.Subagent != nil || up.Subagent == nil ||
				*up.Subagent != (protocol.Subagent{SessionID: child.ID, Agent: "general", Description: "piece 1", ToolCallID: "a"}) {
				t.Errorf("asked %+v (%+v) and %+v", up, up.Subagent, down)
			}
			by, other := e, child
			if where != "the session" {
				by, other = child, e
			}
			hosttest.Call[*protocol.Done](t, by.C, by.ID, &protocol.AnswerPermission{PermissionID: up.PermissionID, Choice: hosttest.Choice(t, up, "once")})
			hosttest.Refused(t, other.C, other.ID, &protocol.AnswerPermission{PermissionID: up.PermissionID, Choice: -1}, protocol.CodeConflict)
			if end := e.End(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.Trace())
			}
			for _, x := range []*hosttest.Entry{e, child} {
				r := x.Until(hosttest.OfType(protocol.TypePermissionResolved))
				if r.Body.(*protocol.PermissionResolved).Decision != protocol.DecisionAllow || r.ClientID == protocol.HostClient {
					t.Errorf("resolved by %s: %+v", r.ClientID, r.Body)
				}
			}
			decided := func(id protocol.SessionID) (calls []string) {
				for _, ev := range w.Log(id) {
					if b, ok := ev.Body.(*protocol.PermissionDecision); ok {
						calls = append(calls, b.ToolCallID)
					}
				}
				return calls
			}
			want := []string{"t1"}
			if where != "the session" {
				want = nil
			}
			if got := decided(e.ID); !slices.Equal(got, want) {
				t.Errorf("the session's log has decisions about %q", got)
			}
			if got := decided(child.ID); !slices.Equal(got, []string{"a"}) {
				t.Errorf("the agent's log has decisions about %q", got)
			}
			if live := w.Open(w.Connect(false), e.ID).S.Live; len(live.Permissions) > 0 {
				t.Errorf("still open: %+v", live.Permissions)
			}
		})
	}
}

func TestOfTwoAnswersInTwoSessionsAtOnceOneCounts(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"if":{"user":"^start$"},"again":true,"do":[{"call":"Task","input":{"description":"piece","prompt":"CHILD"}}]}`,
		`{"if":{"user":"^CHILD$"},"again":true,"do":[{"call":"Bash","input":{"command":"echo one"}}]}`, `{"if":{"result":"^one|a person refused"},"again":true,"do":[{"text":"it is over"}]}`,
		`{"if":{"result":"it is over"},"again":true,"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	for range 10 {
		e.Events = nil
		e.Send("start")
		q := e.Asked(1)
		child := w.Open(w.Connect(true), e.Child(0))
		start := make(chan struct{})
		errs := make(chan error, 2)
		for i, x := range []*hosttest.Entry{e, child} {
			go func() { // ends with the answer
				<-start
				_, err := client.Call[*protocol.Done](t.Context(), x.C, x.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: i - 1})
				errs <- err
			}()
		}
		close(start)
		if a, b := <-errs, <-errs; (a == nil) == (b == nil) {
			t.Fatalf("the answers: %v and %v", a, b)
		}
		if end := e.End(); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v", end, end.Error)
		}
	}
}

func TestAnAgentHasTheModelThatItsFileNames(t *testing.T) {
	uses := func(agent string) string {
		return fmt.Sprintf(`{"if":{"user":%q},"do":[{"call":"Task","input":{"agent":%q,"description":"x","prompt":"CHILD"}}]}`, "^"+agent+"$", agent)
	}
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Model: "mock"}, Other: "openai-completions", Lines: []string{`{"again":true,"do":[{"text":"I am the other"}]}`}},
		uses("mine"), uses("theirs"), uses("foreign"), `{"if":{"user":"CHILD"},"do":[{"text":"I am the first"}]}`, `{"if":{"result":"."},"again":true,"do":[{"text":"done"}]}`)
	file := func(model string) string { return "---\ndescription: x\nmodel: " + model + "\n---\ndo" }
	w.Write(filepath.Join(w.Home, ".scorel", "agents", "mine.md"), file("other"))
	w.File(".scorel/agents/theirs.md", file("script:/etc/passwd"))
	w.File(".claude/agents/foreign.md", file("opus-of-another-program"))
	e := w.Begin(false)
	w.Trust(e.C)
	for agent, want := range map[string]string{"mine": "I am the other", "theirs": `its file names the model "script:/etc/passwd", which you have not set up`, "foreign": "I am the first"} {
		if end := e.Say(agent); end.Terminal != protocol.TerminalCompleted || !strings.Contains(e.LastResult().PlainText(), want) {
			t.Errorf("%s: %+v %v: %q", agent, end, end.Error, e.LastResult().PlainText())
		}
	}
}

func TestWhatIsAllowedForTheSessionIsAllowedToItsAgents(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.AgentCall("^start$", "", "CHILD 1"), hosttest.Shell("CHILD 1", "a", "make x"), hosttest.Answer("(?s).", "one is done"), hosttest.Answer("one is done", "done"),
		hosttest.AgentCall("^again$", "", "CHILD 2"), hosttest.Shell("CHILD 2", "b", "make x"), hosttest.Answer("(?s)make", "two is done"), hosttest.Answer("two is done", "done"))
	e := w.Begin(true)
	e.Send("start")
	q := e.Asked(1)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "session")})
	e.End()
	w.Restart() // it stands in the session's log
	e = w.Open(w.Connect(true), e.ID)
	if end := e.Say("again"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	for _, ev := range e.Events {
		if ev.Type == protocol.TypePermissionRequest {
			t.Errorf("asked again: %+v", ev.Body)
		}
	}
}

func TestAQuestionThatAnAgentInTheBackgroundAsksOutlivesTheTurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.AgentCall("^start$", `,"background":true`, "CHILD 1"), hosttest.Shell("CHILD 1", "a", "touch made"),
		`{"if":{"result":"works in the background"},"do":[{"call":"AskUser","id":"q","input":{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]}}]}`,
		hosttest.Answer("Answer: a", "I go on"), `{"if":{"result":"(?s)."},"do":[{"text":"made"}]}`)
	e := w.Begin(true)
	e.Send("start")
	q := e.Asked(1)
	ui := e.Until(hosttest.OfType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: ui.UIID, Value: []byte(`["a"]`)})
	e.End()
	late := w.Open(w.Connect(true), e.ID)
	if p := late.S.Live.Permissions; len(p) != 1 || p[0].PermissionID != q.PermissionID || p[0].Subagent == nil {
		t.Fatalf("open behind the turn: %+v", p)
	}
	hosttest.Call[*protocol.Done](t, late.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
	w.Eventually("the call", func() bool { return w.Exists("made") })
	w.Eventually("the end", func() bool {
		return hosttest.Call[*protocol.TaskList](t, e.C, e.ID, &protocol.ListTasks{}).Tasks[0].State != protocol.TaskRunning
	})
}

func TestAnAgentIsNeverAllowedMoreThanItsSessionNow(t *testing.T) {
	child := []string{hosttest.AgentCall("^start$", `,"agent":"wide"`, "CHILD 1"), hosttest.Shell("CHILD 1", "a", "touch first"),
		`{"if":{"result":"(?s)."},"do":[{"call":"Bash","id":"b","input":{"command":"touch second"}}]}`, hosttest.Answer("dontAsk", "it was refused"), hosttest.Answer("it was refused", "done")}
	wide := "---\ndescription: wide\npermissionMode: acceptEdits\n---\ndo"
	t.Run("a mode that is set while it works", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{Attended: true}, child...)
		w.Write(filepath.Join(w.Home, ".scorel", "agents", "wide.md"), wide)
		e := w.Begin(true)
		e.Send("start")
		q := e.Asked(1)
		hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetMode{Mode: "dontAsk"})
		hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
		if end := e.End(); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
		}
		if !w.Exists("first") || w.Exists("second") {
			t.Error("it ran under the wrong mode")
		}
	})
	t.Run("nobody to ask", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{}, child[0], child[1], hosttest.Answer("Nobody can be asked here", "it was refused"), hosttest.Answer("it was refused", "done"))
		w.Write(filepath.Join(w.Home, ".scorel", "agents", "wide.md"), wide)
		e := w.Begin(false)
		if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
		}
	})
	t.Run("the agent's own mode", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "acceptEdits"}}, hosttest.AgentCall("^start$", `,"agent":"careful"`, "CHILD 1"),
			`{"if":{"user":"CHILD 1"},"do":[{"call":"Write","id":"a","input":{"path":"x","content":"y"}}]}`, hosttest.Answer("(?s)plan", "it was refused"), hosttest.Answer("it was refused", "done"))
		w.Write(filepath.Join(w.Home, ".scorel", "agents", "careful.md"), "---\ndescription: x\npermissionMode: plan\n---\ndo")
		e := w.Begin(false)
		if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted || w.Exists("x") {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
		}
	})
	t.Run("rules and options of the session", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, child[0], child[1], hosttest.Answer("(?s)denies|deny|denied", "it was refused"), hosttest.Answer("it was refused", "done"))
		w.Write(filepath.Join(w.Home, ".scorel", "agents", "wide.md"), wide)
		e := w.Begin(false)
		hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("start"), WhenBusy: "reject", Options: &protocol.TurnOptions{Deny: []string{"Bash(touch:*)"}}})
		if end := e.End(); end.Terminal != protocol.TerminalCompleted || w.Exists("first") {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
		}
	})
	t.Run("the tools of the session", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, child[0], child[1], hosttest.Answer("There is no tool named .Bash", "it was refused"), hosttest.Answer("it was refused", "done"))
		w.Write(filepath.Join(w.Home, ".scorel", "agents", "wide.md"), wide)
		e := w.Begin(false)
		hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("start"), WhenBusy: "reject", Options: &protocol.TurnOptions{Tools: "Read,Task"}})
		if end := e.End(); end.Terminal != protocol.TerminalCompleted || w.Exists("first") {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
		}
	})
	t.Run("a rule about Task itself", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Deny: []string{"Task"}}}, hosttest.AgentCall("^start$", "", "CHILD 1"), hosttest.Answer("(?s).", "it was refused"))
		e := w.Begin(false)
		if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted || len(w.Runs(e.ID)) > 0 || !e.LastResult().IsError {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
		}
	})
}

func TestAgentsOfAProjectWorkOnlyWhileTheirFilesAreTrusted(t *testing.T) {
	uses := func(when string) string {
		return fmt.Sprintf(`{"if":{"user":%q},"do":[{"call":"Task","input":{"agent":"mine","description":"x","prompt":"CHILD"}}]}`, when)
	}
	w := hosttest.New(t, hosttest.Setting{}, uses("^one$"), hosttest.Answer("the agent mine cannot be used: .scorel/agents/mine.md is not trusted", "no"),
		uses("^two$"), `{"if":{"user":"CHILD"},"do":[{"text":"I am mine"}]}`, hosttest.Answer("I am mine", "yes"),
		uses("^three$"), hosttest.Answer("the agent mine cannot be used: .scorel/agents/mine.md is not trusted, or has changed since", "no more"))
	w.File(".scorel/agents/mine.md", "---\ndescription: SEEN-BY-MODEL\ntools: readonly\n---\nPROMPT-OF-MINE")
	e := w.Begin(false)
	state := func() string {
		for _, a := range hosttest.Call[*protocol.AgentList](t, e.C, "", &protocol.ListAgents{WorkDir: w.Project}).Agents {
			if a.Name == "mine" {
				return a.State + " " + a.Scope + " " + a.Description
			}
		}
		return "not listed"
	}
	for _, c := range []struct{ say, state string }{{"one", "untrusted project "}, {"two", "ok project SEEN-BY-MODEL"}, {"three", "untrusted project "}} {
		switch c.say {
		case "two":
			w.Trust(e.C)
		case "three":
			w.File(".scorel/agents/mine.md", "---\ndescription: EVIL\n---\nEVIL")
		}
		if got := state(); got != c.state {
			t.Errorf("%s: %q, want %q", c.say, got, c.state)
		}
		if end := e.Say(c.say); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("%s: %+v %v\n%s", c.say, end, end.Error, e.Trace())
		}
	}
	told, prompted := 0, 0
	for _, r := range w.Server.Requests() {
		if strings.Contains(string(r.Body), "SEEN-BY-MODEL") {
			told++
		}
		if strings.Contains(string(r.Body), "PROMPT-OF-MINE") {
			prompted++
		}
		if strings.Contains(string(r.Body), "EVIL") {
			t.Errorf("a changed file is told: %s", r.Body)
		}
	}
	if told != 2 || prompted != 1 {
		t.Errorf("the description was sent %d times, the prompt %d times", told, prompted)
	}
}

func TestOnlyAnAgentThatNamesTaskStartsAgentsAndOnlyThreeDeep(t *testing.T) {
	var lines []string
	for i := 1; i <= 4; i++ {
		when := fmt.Sprintf("LEVEL-%d", i-1)
		if i == 1 {
			when = "^start$"
		}
		lines = append(lines, fmt.Sprintf(`{"if":{"user":%q},"do":[{"call":"Task","id":"t%d","input":{"agent":"boss","description":"level %d","prompt":"LEVEL-%d"}}]}`, when, i, i, i))
	}
	lines = append(lines, hosttest.Answer(`There is no tool named .Task`, "bottom"), hosttest.Answer("bottom", "above bottom"), hosttest.Answer("above bottom", "second"), hosttest.Answer("second", "done"),
		hosttest.AgentCall("^plain$", "", "PLAIN"), `{"if":{"user":"PLAIN"},"do":[{"text":"plain"}]}`, hosttest.Answer("plain", "done"))
	w := hosttest.New(t, hosttest.Setting{}, lines...)
	w.Write(filepath.Join(w.Home, ".scorel", "agents", "boss.md"), "---\ndescription: x\ntools: Read, Task\n---\nBOSS")
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	var depths []int
	for _, s := range hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{Subagents: true}).Sessions {
		if s.Parent != nil {
			depths = append(depths, s.Parent.Depth)
		}
	}
	slices.Sort(depths)
	if !slices.Equal(depths, []int{1, 2, 3}) {
		t.Errorf("depths %v", depths)
	}
	if end := e.Say("plain"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	for _, r := range w.Server.Requests() {
		if body := string(r.Body); strings.Contains(body, `"PLAIN"`) && !strings.Contains(body, "plain\"") && strings.Contains(body, `"name":"Task"`) {
			t.Errorf("general is offered Task")
		}
	}
}

func TestAnAgentThatDoesNotFinishGivesAnErrorWithWhatThereIs(t *testing.T) {
	for name, c := range map[string]struct{ child, want string }{
		"fails":   {`{"if":{"user":"CHILD 1"},"do":[{"error":{"status":401}}]}`, "(The agent gave no answer.)\n[The agent did not finish: "},
		"refuses": {`{"if":{"user":"CHILD 1"},"do":[{"text":"I will not."}],"stop":"refusal"}`, "I will not.\n[The agent did not finish: The model refused to answer.]"},
		"too many steps": {`{"if":{"user":"CHILD 1"},"do":[{"text":"Let me see."},{"call":"Read","id":"r","input":{"path":"a.txt"}}]}`,
			"Let me see.\n[The agent did not finish: The run stopped after 1 step;"},
	} {
		t.Run(name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{}, hosttest.AgentCall("^start$", `,"agent":"short"`, "CHILD 1"), c.child, hosttest.Answer("did not finish", "so be it"))
			w.Write(filepath.Join(w.Home, ".scorel", "agents", "short.md"), "---\ndescription: x\nmaxSteps: 1\n---\ndo")
			w.File("a.txt", "x")
			e := w.Begin(false)
			if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
			}
			if m := e.LastResult(); !m.IsError || !strings.HasPrefix(m.PlainText(), c.want) || !strings.Contains(m.PlainText(), "[agent short, session ses_") {
				t.Errorf("the result: %q", m.PlainText())
			}
			w.Judged()
		})
	}
}

func TestAnAgentThatWorksIsNotResumedASecondTime(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.AgentCall("^start$", `,"background":true`, "CHILD 1"), hosttest.Shell("CHILD 1", "a", "echo > up"+untilGo+"echo child-end"),
		`{"if":{"result":"works in the background"},"do":[{"call":"Bash","id":"up","input":{"command":"until [ -e up ]; do sleep 0.01; done; echo it-is-up"}}]}`,
		`{"if":{"result":"it-is-up"},"do":[{"call":"Task","id":"again","input":{"description":"go on","prompt":"GO ON","resume":""},"fill":{"resume":"ses_[0-9a-z]+"}}]}`,
		hosttest.Answer("works already; wait for its end", "I wait"), hosttest.Answer("child-end", "the child is done"))
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	if runs := w.Runs(e.ID); len(runs) != 1 || runs[0].State != subagents.Started {
		t.Errorf("the log tells %+v", runs)
	}
	w.File("go", "")
	w.Eventually("its end", func() bool {
		runs := w.Runs(e.ID)
		return len(runs) == 2 && runs[1].Terminal == protocol.TerminalCompleted
	})
}

func TestAnAgentTakesNoMoreStepsThanTheTurnThatWantsItMay(t *testing.T) {
	for name, s := range map[string]hosttest.Setting{
		"the caller's":        {Overrides: host.Overrides{MaxSteps: 3}},
		"the configuration's": {Tables: "[limits]\nmaxSteps = 3"},
	} {
		t.Run(name, func(t *testing.T) {
			w := hosttest.New(t, s, hosttest.AgentCall("^start$", `,"agent":"long"`, "CHILD 1"), `{"if":{"user":"CHILD 1"},"again":true,"do":[{"call":"Read","id":"r","input":{"path":"a.txt"}}]}`,
				`{"if":{"result":"no end"},"again":true,"do":[{"call":"Read","id":"r","input":{"path":"a.txt"}}]}`, hosttest.Answer("did not finish", "so be it"))
			w.User("agents/long.md", "---\ndescription: x\nmaxSteps: 7\n---\ndo")
			w.File("a.txt", "no end")
			e := w.Begin(false)
			e.Say("start")
			if m := e.LastResult(); !strings.Contains(m.PlainText(), "The run stopped after 3 steps") {
				t.Errorf("the result: %q", m.PlainText())
			}
		})
	}
}

func TestAHostThatIsKilledLeavesAnAgentThatCanBeResumed(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.AgentCall("^start$", "", "CHILD 1"), hosttest.Shell("CHILD 1", "a", "echo $$ > pid; sleep 1000"),
		`{"if":{"user":"go on","result":"(?s)The host stopped while this ran.*The host stopped while the sub-agent general \\(piece 1\\) worked"},"do":[{"call":"Task","id":"again","input":{"description":"go on","prompt":"GO ON CHILD","resume":""},"fill":{"resume":"ses_[0-9a-z]+"}}]}`,
		`{"if":{"user":"GO ON CHILD"},"do":[{"text":"now it is finished"}]}`, hosttest.Answer("now it is finished", "good"), `{"if":{"user":"later"},"do":[{"text":"well"}]}`)
	e := w.Begin(false)
	e.Send("start")
	child := e.Child(0)
	w.Line("pid")
	after := w.Killed()
	again := after.Open(after.Connect(false), e.ID)
	if left, err := os.ReadDir(filepath.Join(after.Home, ".scorel", "run", string(child))); err == nil && len(left) > 0 {
		t.Errorf("what the agent ran goes on: %v", left)
	}
	if end := again.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, again.Trace())
	}
	again.Say("later")
	told := 0
	for _, ev := range after.Log(e.ID) {
		if b, ok := ev.Body.(*protocol.HarnessItem); ok && strings.Contains(b.Item.Content, "The host stopped while the sub-agent") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("it was told %d times", told)
	}
	messages := after.Open(again.C, child).Messages()
	hosttest.Paired(t, messages[len(messages)-2:])
	if last := messages[len(messages)-1]; last.PlainText() != "now it is finished" {
		t.Errorf("the agent's session ends with %q", last.PlainText())
	}
	interrupted := false
	for _, r := range w.Server.Requests() {
		interrupted = interrupted || strings.Contains(string(r.Body), "It may have taken effect. Check before repeating.") && strings.Contains(string(r.Body), `"t1"`)
	}
	if !interrupted {
		t.Error("the model was not told that the call was interrupted")
	}
	w.Judged()
}

func TestTheWorkOfAnAgentIsTheProgressOfItsCall(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, find, looks, found, thanks)
	w.File("a.txt", "a-secret-word\n")
	e := w.Begin(false)
	e.Say("start")
	child := e.Child(0)
	var stages []string
	for _, ev := range e.Events {
		if b, ok := ev.Body.(*protocol.ToolProcess); ok && b.Event.OperationID == "subagent-"+string(child) {
			stages = append(stages, fmt.Sprintf("%s %s", b.Event.Status, b.Event.Message))
			if p := b.Event; p.ParentOperationID != "tool-t1" || p.TargetType != protocol.ProcessOfSubagent || p.Source != protocol.ProcessBySubagent {
				t.Errorf("%+v", p)
			}
		}
	}
	if got := strings.Join(stages, "|"); got != "started explore: find the word|running Read a.txt|completed explore has ended (2 steps)" {
		t.Errorf("told: %s", got)
	}
	if m := e.LastResult(); !strings.Contains(string(m.Process), "Read a.txt") {
		t.Errorf("the result keeps %s", m.Process)
	}
	for _, r := range w.Server.Requests() {
		if strings.Contains(string(r.Body), "subagent-") || strings.Contains(string(r.Body), "has ended (2") {
			t.Errorf("progress is sent to a model: %s", r.Body)
		}
	}
}

func TestAPersonGoesOnInTheSessionOfAnAgentWithWhatTheAgentHas(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "acceptEdits"}}, hosttest.AgentCall("^start$", `,"agent":"careful"`, "CHILD 1"), `{"if":{"user":"CHILD 1"},"do":[{"text":"looked"}]}`, hosttest.Answer("looked", "good"),
		`{"if":{"user":"how sure"},"do":[{"call":"Bash","id":"b","input":{"command":"touch x"}},{"call":"Write","id":"w","input":{"path":"x","content":"y"}}]}`,
		hosttest.Answer("(?s)There is no tool named .Bash.*plan", "very"))
	w.Write(filepath.Join(w.Home, ".scorel", "agents", "careful.md"), "---\ndescription: x\ntools: Read, Write\npermissionMode: plan\n---\nPROMPT-OF-CAREFUL")
	e := w.Begin(false)
	e.Say("start")
	child := w.Open(e.C, e.Child(0))
	if end := child.Say("how sure are you"); end.Terminal != protocol.TerminalCompleted || w.Exists("x") {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, child.Trace())
	}
	if last := w.Server.Requests(); !strings.Contains(string(last[len(last)-1].Body), "PROMPT-OF-CAREFUL") {
		t.Error("without the prompt of the agent")
	}
	if err := os.Remove(filepath.Join(w.Home, ".scorel", "agents", "careful.md")); err != nil {
		t.Fatal(err)
	}
	if err := hosttest.Refused(t, e.C, child.ID, &protocol.SendMessage{Content: hosttest.Text("and now")}, protocol.CodeInvalidRequest); !strings.Contains(err.Message, "there is no agent \"careful\"") && !strings.Contains(err.Message, "There is no agent \"careful\"") {
		t.Errorf("without its file: %s", err.Message)
	}
}

func TestACloneKnowsNothingOfAgentsThatStillWorkForItsSource(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, append(behind(), `{"if":{"user":"^hello$"},"do":[{"text":"hello"}]}`)...)
	e := w.Begin(false)
	e.Say("start")
	w.Line("pid")
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	hosttest.Call[*protocol.SessionSummary](t, e.C, id, &protocol.CloneSession{FromSessionID: e.ID})
	clone := w.Open(e.C, id)
	if end := clone.Say("hello"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v %v", end, end.Error)
	}
}

func TestALongAnswerIsCutAndKeptWhole(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, hosttest.AgentCall("^start$", "", "CHILD 1"), `{"if":{"user":"CHILD 1"},"do":[{"text":"word ","times":20000}]}`,
		`{"if":{"result":"70\\d\\d\\d characters are left out"},"do":[{"call":"Read","id":"r","input":{"path":"result:t1"}}]}`, hosttest.Answer("word word", "read"))
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
}

func TestWithASessionItsAgentsAreDeleted(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, find, looks, found, thanks)
	w.File("a.txt", "a-secret-word\n")
	e := w.Begin(false)
	e.Say("start")
	child := e.Child(0)
	if err := e.S.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	hosttest.Call[*protocol.Deleted](t, e.C, e.ID, &protocol.DeleteSession{})
	if all := hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{Subagents: true}).Sessions; len(all) > 0 {
		t.Errorf("left: %+v", all)
	}
	if _, err := os.Stat(filepath.Join(w.Home, ".scorel", "sessions", string(child)+".jsonl")); err == nil {
		t.Error("the log of the agent is still there")
	}
}
