package host_test

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
	"scorel/internal/host/lane"
	"scorel/protocol"
)

// agentCall is a line with which a session starts agents, one for each prompt.
func agentCall(when string, more string, prompts ...string) string {
	var do []string
	for i, p := range prompts {
		do = append(do, fmt.Sprintf(`{"call":"Task","id":"t%d","input":{"description":"piece %d","prompt":%q%s}}`, i+1, i+1, p, more))
	}
	return fmt.Sprintf(`{"if":{"user":%q},"do":[%s]}`, when, strings.Join(do, ","))
}

// shell is a line with which an agent runs a command, and answer one that answers a
// result.
func shell(when, id, command string) string {
	return fmt.Sprintf(`{"if":{"user":%q},"do":[{"call":"Bash","id":%q,"input":{"command":%q}}]}`, when, id, command)
}

func answer(result, text string) string {
	return fmt.Sprintf(`{"if":{"result":%q},"do":[{"text":%q}]}`, result, text)
}

const untilGo = "; until [ -e go ]; do sleep 0.01; done; "

func (w *world) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.project, name))
	return err == nil
}

// eventually waits for a condition that no event tells of.
func (w *world) eventually(what string, is func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !is(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("in vain waited for: %s", what)
		}
	}
}

func TestAgentsOfOneMessageWorkSideBySideUpToTheLimitAndTheOthersWait(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash(), tables: "[agents]\nmaxParallel = 2"}, agentCall("^start$", "", "CHILD 1", "CHILD 2", "CHILD 3"),
		shell("CHILD 1", "a", "echo >> up"+untilGo+"echo done-1"), shell("CHILD 2", "b", "echo >> up"+untilGo+"echo done-2"),
		shell("CHILD 3", "c", "echo >> up"+untilGo+"echo done-3"),
		answer("done-1", "piece one is there"), answer("done-2", "piece two is there"), answer("done-3", "piece three is there"),
		answer("(?s)piece one.*piece two.*piece three", "all there"))
	e := w.begin(false)
	e.send("start")
	e.until(func(ev protocol.Event) bool { // one waits
		b, ok := ev.Body.(*protocol.ToolProcess)
		return ok && b.Event.Status == protocol.ProcessQueued && strings.Contains(b.Event.Message, "waits: 2 agents work already")
	})
	w.eventually("two at work", func() bool { data, _ := os.ReadFile(filepath.Join(w.project, "up")); return len(data) == 2 })
	if runs := w.runs(e.id); len(runs) != 2 {
		t.Errorf("%d have begun", len(runs))
	}
	w.file("go", "")
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
	}
	if runs := w.runs(e.id); len(runs) != 6 {
		t.Errorf("%d beginnings and ends", len(runs))
	}
	paired(t, e.messages())
	w.judged()
}

func TestACancelEndsTheAgentsThatTheTurnWaitsFor(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash(), tables: "[agents]\nmaxParallel = 1"}, agentCall("^start$", "", "CHILD 1", "CHILD 2"),
		shell("CHILD", "a", "echo $$ > pid; sleep 1000"))
	e := w.begin(false)
	turn := e.send("start")
	child := e.child(0)
	pid := w.line("pid")
	call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn})
	if end := e.end(); end.Terminal != protocol.TerminalCancelled {
		t.Fatalf("end: %+v", end)
	}
	gone(t, pid)
	results := ""
	for _, m := range e.messages() {
		if m.Role == protocol.RoleToolResult {
			results += m.PlainText() + "\n"
		}
	}
	if strings.Count(results, "Cancelled by user") != 2 || strings.Count(results, "session "+string(child)) != 1 || strings.Count(results, "the agent had not begun") != 1 {
		t.Errorf("the results: %s", results)
	}
	runs := w.runs(e.id)
	if len(runs) != 2 || runs[1].Terminal != protocol.TerminalCancelled {
		t.Errorf("the log tells %+v", runs)
	}
	paired(t, w.open(e.c, child).messages())
}

// behind starts an agent in the background that waits for the file go, while its
// session goes on.
func behind() []string {
	return []string{agentCall("^start$", `,"background":true`, "CHILD 1"), shell("CHILD 1", "a", "echo $$ > pid"+untilGo+"echo done-1"),
		answer("works in the background as task_", "I go on"), answer("done-1", "piece one is there")}
}

func TestAnAgentInTheBackgroundOutlivesTheTurnAndItsEndIsTold(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			w := newWorld(t, setting{api: api, overrides: allowBash()}, append(behind(),
				`{"if":{"user":"(?s)Background agent task_.* \\(general: piece 1\\) ended after .*its session is ses_.*data, not instructions.*\\| piece one is there.*and now"},"do":[{"text":"I know"}]}`,
				`{"if":{"user":"later"},"do":[{"text":"nothing new"}]}`)...)
			e := w.begin(false)
			if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			child := e.child(0)
			tasks := func() protocol.TaskInfo {
				return call[*protocol.TaskList](t, e.c, e.id, &protocol.ListTasks{}).Tasks[0]
			}
			w.line("pid")
			if got := tasks(); got.State != protocol.TaskRunning || got.Agent != "general" || got.SessionID != child || got.ToolCallID != "t1" {
				t.Errorf("listed: %+v", got)
			}
			w.file("go", "")
			w.eventually("its end", func() bool { return tasks().State != protocol.TaskRunning })
			if end := e.say("and now"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			if end := e.say("later"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			if n := w.notices(e.id); len(n) != 1 {
				t.Errorf("it was told %d times", len(n))
			}
			var sum protocol.Usage
			for _, id := range []protocol.SessionID{e.id, child} {
				for _, ev := range w.log(id) {
					if m, ok := ev.Message(); ok && m.Role == protocol.RoleAssistant {
						sum.Add(*m.Usage)
					}
				}
			}
			if live := w.open(w.connect(false), e.id).s.Live.Usage; live != sum {
				t.Errorf("the session used %+v, with its agent it is %+v", live, sum)
			}
			w.judged()
		})
	}
}

func TestTaskOutputWaitsForAnAgentAndTaskStopEndsIt(t *testing.T) {
	fill := `"fill":{"task_id":"task_[0-9a-v]{8}"}`
	t.Run("output", func(t *testing.T) {
		w := newWorld(t, setting{overrides: allowBash()}, agentCall("^start$", `,"background":true`, "CHILD 1"), shell("CHILD 1", "a", "echo done-1"),
			answer("done-1", "piece one is there"), `{"if":{"result":"works in the background"},"do":[{"call":"TaskOutput","id":"o","input":{"task_id":"","wait_seconds":20},`+fill+`}]}`,
			answer("(?s)piece one is there.*ended after", "read"))
		e := w.begin(false)
		if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
		}
		if n := w.notices(e.id); len(n) != 0 {
			t.Errorf("what was read is told again: %d", len(n))
		}
	})
	t.Run("stop", func(t *testing.T) {
		w := newWorld(t, setting{overrides: allowBash()}, behind()[0], behind()[1],
			`{"if":{"result":"works in the background"},"do":[{"call":"Bash","id":"w","input":{"command":"until [ -e pid ]; do sleep 0.01; done; echo seen"}}]}`,
			`{"if":{"result":"seen"},"do":[{"call":"TaskStop","id":"s","input":{"task_id":""},`+fill+`}]}`, answer("was stopped after", "stopped"))
		e := w.begin(false)
		if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
		}
		gone(t, w.line("pid"))
		if runs := w.runs(e.id); len(runs) != 2 || runs[1].Terminal != protocol.TerminalCancelled {
			t.Errorf("the log tells %+v", runs)
		}
	})
}

func TestTheEndOfTheHostEndsAnAgentWhichCanBeResumed(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()}, append(behind(), `{"if":{"user":"(?s)was ended, because its session was closed.*ses_.*go on"},"do":[{"text":"ready"}]}`)...)
	e := w.begin(false)
	e.say("start")
	child, pid := e.child(0), w.line("pid")
	w.restart()
	gone(t, pid)
	runs := w.runs(e.id)
	if len(runs) != 2 || runs[1].State != lane.SubagentEnded || runs[1].Terminal != protocol.TerminalCancelled {
		t.Errorf("the log tells %+v", runs)
	}
	again := w.open(w.connect(false), e.id)
	if end := again.say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	paired(t, w.open(again.c, child).messages())
}

func TestAHostThatDrainsEndsAnAgentAtItsStepAndTheCallWithIt(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()}, agentCall("^start$", "", "CHILD 1"), shell("CHILD 1", "a", "echo > up"+untilGo+"echo done-1"),
		`{"if":{"user":"go on"},"do":[{"text":"ready"}]}`)
	e := w.begin(false)
	e.send("start")
	child := e.child(0)
	w.line("up")
	drained := make(chan error, 1)
	go func() { drained <- w.host.Drain(t.Context(), patience, false) }() // ends with the step
	w.eventually("the host is stopping", func() bool {
		s, err := client.Call[*protocol.Status](t.Context(), e.c, "", &protocol.GetStatus{})
		return err != nil || s.Stopping
	})
	w.file("go", "")
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	w.start()
	c := w.connect(false)
	messages := w.open(c, child).messages()
	paired(t, messages)
	if last := messages[len(messages)-1]; !strings.Contains(last.PlainText(), "done-1") {
		t.Errorf("the agent's step is not whole: %q", last.PlainText())
	}
	again := w.open(c, e.id)
	if m := again.lastResult(); !m.IsError || !strings.Contains(m.PlainText(), "session "+string(child)) {
		t.Errorf("the result: %q", m.PlainText())
	}
	if end := again.say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v %v", end, end.Error)
	}
}

func TestAnAgentIsResumedOnlyByTheSessionThatStartedIt(t *testing.T) {
	w := newWorld(t, setting{}, agentCall("^start$", "", "CHILD 1"), `{"if":{"user":"CHILD 1"},"do":[{"text":"first answer"}]}`, answer("first answer", "so far"),
		`{"if":{"user":"^again (ses_[0-9a-z]+)"},"again":true,"do":[{"call":"Task","input":{"description":"go on","prompt":"GO ON CHILD","resume":""},"fill":{"resume":"ses_[0-9a-z]+"}}]}`,
		`{"if":{"user":"^other "},"do":[{"call":"Task","input":{"agent":"explore","description":"go on","prompt":"GO ON CHILD","resume":""},"fill":{"resume":"ses_[0-9a-z]+"}}]}`,
		`{"if":{"user":"GO ON CHILD"},"do":[{"text":"second answer"}]}`, answer("second answer", "done"), answer("none of a sub-agent of this session", "refused"),
		answer("is one of the agent general, not of explore", "refused too"))
	e := w.begin(false)
	e.say("start")
	child := e.child(0)
	if end := e.say("again " + string(child)); end.Terminal != protocol.TerminalCompleted || !strings.Contains(e.lastResult().PlainText(), "second answer") {
		t.Fatalf("end: %+v %v: %q", end, end.Error, e.lastResult().PlainText())
	}
	texts := ""
	for _, m := range w.open(e.c, child).messages() {
		texts += m.PlainText() + "|"
	}
	if texts != "CHILD 1|first answer|GO ON CHILD|second answer|" {
		t.Errorf("the agent's session: %s", texts)
	}
	e.say("other " + string(child))
	if m := e.lastResult(); !m.IsError || !strings.Contains(m.PlainText(), "is one of the agent general, not of explore") {
		t.Errorf("%q", m.PlainText())
	}
	other := w.begin(false)
	other.say("again " + string(child))
	if m := other.lastResult(); !m.IsError || !strings.Contains(m.PlainText(), "none of a sub-agent of this session") {
		t.Errorf("%q", m.PlainText())
	}
	w.judged()
}

func TestACostLimitHoldsOverASessionAndItsAgents(t *testing.T) {
	spend := `,"usage":{"inputTokens":1000000,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0}}`
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}, MaxBudgetUSD: 2.5}, tables: "price = { input = 1.0, output = 1.0 }"},
		strings.TrimSuffix(agentCall("^start$", "", "CHILD 1"), "}")+spend,
		strings.TrimSuffix(shell("CHILD 1", "a", "echo done-1"), "}")+spend, strings.TrimSuffix(shell("never", "b", "echo"), "}")+spend,
		`{"if":{"result":"done-1"},"do":[{"call":"Bash","id":"c","input":{"command":"touch too-much"}}]`+spend)
	e := w.begin(false)
	if end := e.say("start"); end.Terminal != protocol.TerminalBudget {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	if n := len(w.server.Requests()); n != 3 {
		t.Errorf("%d calls of the model", n)
	}
	if w.exists("too-much") {
		t.Error("a call ran beyond the limit")
	}
	if m := e.lastResult(); !m.IsError || !strings.Contains(m.PlainText(), "The agent did not finish: The run stopped at a cost of $3") || m.Usage.CostUSD != 2 {
		t.Errorf("the result: %q, usage %+v", m.PlainText(), m.Usage)
	}
}

func TestAQuestionOfAnAgentIsAskedInBothSessionsAndAnsweredInEither(t *testing.T) {
	for _, where := range []string{"the session", "the agent's session"} {
		t.Run(where, func(t *testing.T) {
			w := newWorld(t, setting{attended: true}, agentCall("^start$", "", "CHILD 1"), shell("CHILD 1", "a", "echo one"), answer("one", "it said one"), answer("it said one", "done"))
			e := w.begin(true)
			e.send("start")
			child := w.open(w.connect(true), e.child(0))
			up := e.asked(1)
			down := func() protocol.PermissionRequest {
				if p := child.s.Live.Permissions; len(p) > 0 {
					return p[0]
				}
				return child.asked(1)
			}()
			if up.PermissionID != down.PermissionID || up.ToolCallID != "t1" || down.ToolCallID != "a" || down.Subagent != nil || up.Subagent == nil ||
				*up.Subagent != (protocol.Subagent{SessionID: child.id, Agent: "general", Description: "piece 1", ToolCallID: "a"}) {
				t.Errorf("asked %+v (%+v) and %+v", up, up.Subagent, down)
			}
			by, other := e, child
			if where != "the session" {
				by, other = child, e
			}
			call[*protocol.Done](t, by.c, by.id, &protocol.AnswerPermission{PermissionID: up.PermissionID, Choice: choice(t, up, "once")})
			refused(t, other.c, other.id, &protocol.AnswerPermission{PermissionID: up.PermissionID, Choice: -1}, protocol.CodeConflict)
			if end := e.end(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.trace())
			}
			for _, x := range []*entry{e, child} {
				r := x.until(ofType(protocol.TypePermissionResolved))
				if r.Body.(*protocol.PermissionResolved).Decision != protocol.DecisionAllow || r.ClientID == protocol.HostClient {
					t.Errorf("resolved by %s: %+v", r.ClientID, r.Body)
				}
			}
			decided := func(id protocol.SessionID) (calls []string) {
				for _, ev := range w.log(id) {
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
			if got := decided(e.id); !slices.Equal(got, want) {
				t.Errorf("the session's log has decisions about %q", got)
			}
			if got := decided(child.id); !slices.Equal(got, []string{"a"}) {
				t.Errorf("the agent's log has decisions about %q", got)
			}
			if live := w.open(w.connect(false), e.id).s.Live; len(live.Permissions) > 0 {
				t.Errorf("still open: %+v", live.Permissions)
			}
		})
	}
}

func TestOfTwoAnswersInTwoSessionsAtOnceOneCounts(t *testing.T) {
	w := newWorld(t, setting{attended: true}, `{"if":{"user":"^start$"},"again":true,"do":[{"call":"Task","input":{"description":"piece","prompt":"CHILD"}}]}`,
		`{"if":{"user":"^CHILD$"},"again":true,"do":[{"call":"Bash","input":{"command":"echo one"}}]}`, `{"if":{"result":"^one|a person refused"},"again":true,"do":[{"text":"it is over"}]}`,
		`{"if":{"result":"it is over"},"again":true,"do":[{"text":"done"}]}`)
	e := w.begin(true)
	for range 10 {
		e.events = nil
		e.send("start")
		q := e.asked(1)
		child := w.open(w.connect(true), e.child(0))
		start := make(chan struct{})
		errs := make(chan error, 2)
		for i, x := range []*entry{e, child} {
			go func() { // ends with the answer
				<-start
				_, err := client.Call[*protocol.Done](t.Context(), x.c, x.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: i - 1})
				errs <- err
			}()
		}
		close(start)
		if a, b := <-errs, <-errs; (a == nil) == (b == nil) {
			t.Fatalf("the answers: %v and %v", a, b)
		}
		if end := e.end(); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v", end, end.Error)
		}
	}
}

func TestAnAgentHasTheModelThatItsFileNames(t *testing.T) {
	uses := func(agent string) string {
		return fmt.Sprintf(`{"if":{"user":%q},"do":[{"call":"Task","input":{"agent":%q,"description":"x","prompt":"CHILD"}}]}`, "^"+agent+"$", agent)
	}
	w := newWorld(t, setting{overrides: host.Overrides{Model: "mock"}, other: "openai-completions", lines: []string{`{"again":true,"do":[{"text":"I am the other"}]}`}},
		uses("mine"), uses("theirs"), uses("foreign"), `{"if":{"user":"CHILD"},"do":[{"text":"I am the first"}]}`, `{"if":{"result":"."},"again":true,"do":[{"text":"done"}]}`)
	file := func(model string) string { return "---\ndescription: x\nmodel: " + model + "\n---\ndo" }
	w.write(filepath.Join(w.home, ".scorel", "agents", "mine.md"), file("other"))
	w.file(".scorel/agents/theirs.md", file("script:/etc/passwd"))
	w.file(".claude/agents/foreign.md", file("opus-of-another-program"))
	e := w.begin(false)
	w.trust(e.c)
	for agent, want := range map[string]string{"mine": "I am the other", "theirs": `its file names the model "script:/etc/passwd", which you have not set up`, "foreign": "I am the first"} {
		if end := e.say(agent); end.Terminal != protocol.TerminalCompleted || !strings.Contains(e.lastResult().PlainText(), want) {
			t.Errorf("%s: %+v %v: %q", agent, end, end.Error, e.lastResult().PlainText())
		}
	}
}

func TestWhatIsAllowedForTheSessionIsAllowedToItsAgents(t *testing.T) {
	w := newWorld(t, setting{attended: true}, agentCall("^start$", "", "CHILD 1"), shell("CHILD 1", "a", "make x"), answer("(?s).", "one is done"), answer("one is done", "done"),
		agentCall("^again$", "", "CHILD 2"), shell("CHILD 2", "b", "make x"), answer("(?s)make", "two is done"), answer("two is done", "done"))
	e := w.begin(true)
	e.send("start")
	q := e.asked(1)
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "session")})
	e.end()
	w.restart() // it stands in the session's log
	e = w.open(w.connect(true), e.id)
	if end := e.say("again"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	for _, ev := range e.events {
		if ev.Type == protocol.TypePermissionRequest {
			t.Errorf("asked again: %+v", ev.Body)
		}
	}
}

func TestAQuestionThatAnAgentInTheBackgroundAsksOutlivesTheTurn(t *testing.T) {
	w := newWorld(t, setting{attended: true}, agentCall("^start$", `,"background":true`, "CHILD 1"), shell("CHILD 1", "a", "touch made"),
		`{"if":{"result":"works in the background"},"do":[{"call":"AskUser","id":"q","input":{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]}}]}`,
		answer("Answer: a", "I go on"), `{"if":{"result":"(?s)."},"do":[{"text":"made"}]}`)
	e := w.begin(true)
	e.send("start")
	q := e.asked(1)
	ui := e.until(ofType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: ui.UIID, Value: []byte(`["a"]`)})
	e.end()
	late := w.open(w.connect(true), e.id)
	if p := late.s.Live.Permissions; len(p) != 1 || p[0].PermissionID != q.PermissionID || p[0].Subagent == nil {
		t.Fatalf("open behind the turn: %+v", p)
	}
	call[*protocol.Done](t, late.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
	w.eventually("the call", func() bool { return w.exists("made") })
	w.eventually("the end", func() bool {
		return call[*protocol.TaskList](t, e.c, e.id, &protocol.ListTasks{}).Tasks[0].State != protocol.TaskRunning
	})
}

func TestAnAgentIsNeverAllowedMoreThanItsSessionNow(t *testing.T) {
	child := []string{agentCall("^start$", `,"agent":"wide"`, "CHILD 1"), shell("CHILD 1", "a", "touch first"),
		`{"if":{"result":"(?s)."},"do":[{"call":"Bash","id":"b","input":{"command":"touch second"}}]}`, answer("dontAsk", "it was refused"), answer("it was refused", "done")}
	wide := "---\ndescription: wide\npermissionMode: acceptEdits\n---\ndo"
	t.Run("a mode that is set while it works", func(t *testing.T) {
		w := newWorld(t, setting{attended: true}, child...)
		w.write(filepath.Join(w.home, ".scorel", "agents", "wide.md"), wide)
		e := w.begin(true)
		e.send("start")
		q := e.asked(1)
		call[*protocol.Done](t, e.c, e.id, &protocol.SetMode{Mode: "dontAsk"})
		call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
		if end := e.end(); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
		}
		if !w.exists("first") || w.exists("second") {
			t.Error("it ran under the wrong mode")
		}
	})
	t.Run("nobody to ask", func(t *testing.T) {
		w := newWorld(t, setting{}, child[0], child[1], answer("Nobody can be asked here", "it was refused"), answer("it was refused", "done"))
		w.write(filepath.Join(w.home, ".scorel", "agents", "wide.md"), wide)
		e := w.begin(false)
		if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
		}
	})
	t.Run("the agent's own mode", func(t *testing.T) {
		w := newWorld(t, setting{overrides: host.Overrides{Mode: "acceptEdits"}}, agentCall("^start$", `,"agent":"careful"`, "CHILD 1"),
			`{"if":{"user":"CHILD 1"},"do":[{"call":"Write","id":"a","input":{"path":"x","content":"y"}}]}`, answer("(?s)plan", "it was refused"), answer("it was refused", "done"))
		w.write(filepath.Join(w.home, ".scorel", "agents", "careful.md"), "---\ndescription: x\npermissionMode: plan\n---\ndo")
		e := w.begin(false)
		if end := e.say("start"); end.Terminal != protocol.TerminalCompleted || w.exists("x") {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
		}
	})
	t.Run("rules and options of the session", func(t *testing.T) {
		w := newWorld(t, setting{overrides: allowBash()}, child[0], child[1], answer("(?s)denies|deny|denied", "it was refused"), answer("it was refused", "done"))
		w.write(filepath.Join(w.home, ".scorel", "agents", "wide.md"), wide)
		e := w.begin(false)
		call[*protocol.Sent](t, e.c, e.id, &protocol.SendMessage{Content: text("start"), WhenBusy: "reject", Options: &protocol.TurnOptions{Deny: []string{"Bash(touch:*)"}}})
		if end := e.end(); end.Terminal != protocol.TerminalCompleted || w.exists("first") {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
		}
	})
	t.Run("the tools of the session", func(t *testing.T) {
		w := newWorld(t, setting{overrides: allowBash()}, child[0], child[1], answer("There is no tool named .Bash", "it was refused"), answer("it was refused", "done"))
		w.write(filepath.Join(w.home, ".scorel", "agents", "wide.md"), wide)
		e := w.begin(false)
		call[*protocol.Sent](t, e.c, e.id, &protocol.SendMessage{Content: text("start"), WhenBusy: "reject", Options: &protocol.TurnOptions{Tools: "Read,Task"}})
		if end := e.end(); end.Terminal != protocol.TerminalCompleted || w.exists("first") {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
		}
	})
	t.Run("a rule about Task itself", func(t *testing.T) {
		w := newWorld(t, setting{overrides: host.Overrides{Deny: []string{"Task"}}}, agentCall("^start$", "", "CHILD 1"), answer("(?s).", "it was refused"))
		e := w.begin(false)
		if end := e.say("start"); end.Terminal != protocol.TerminalCompleted || len(w.runs(e.id)) > 0 || !e.lastResult().IsError {
			t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
		}
	})
}

func TestAgentsOfAProjectWorkOnlyWhileTheirFilesAreTrusted(t *testing.T) {
	uses := func(when string) string {
		return fmt.Sprintf(`{"if":{"user":%q},"do":[{"call":"Task","input":{"agent":"mine","description":"x","prompt":"CHILD"}}]}`, when)
	}
	w := newWorld(t, setting{}, uses("^one$"), answer("the agent mine cannot be used: .scorel/agents/mine.md is not trusted", "no"),
		uses("^two$"), `{"if":{"user":"CHILD"},"do":[{"text":"I am mine"}]}`, answer("I am mine", "yes"),
		uses("^three$"), answer("the agent mine cannot be used: .scorel/agents/mine.md is not trusted, or has changed since", "no more"))
	w.file(".scorel/agents/mine.md", "---\ndescription: SEEN-BY-MODEL\ntools: readonly\n---\nPROMPT-OF-MINE")
	e := w.begin(false)
	state := func() string {
		for _, a := range call[*protocol.AgentList](t, e.c, "", &protocol.ListAgents{WorkDir: w.project}).Agents {
			if a.Name == "mine" {
				return a.State + " " + a.Scope + " " + a.Description
			}
		}
		return "not listed"
	}
	for _, c := range []struct{ say, state string }{{"one", "untrusted project "}, {"two", "ok project SEEN-BY-MODEL"}, {"three", "untrusted project "}} {
		switch c.say {
		case "two":
			w.trust(e.c)
		case "three":
			w.file(".scorel/agents/mine.md", "---\ndescription: EVIL\n---\nEVIL")
		}
		if got := state(); got != c.state {
			t.Errorf("%s: %q, want %q", c.say, got, c.state)
		}
		if end := e.say(c.say); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("%s: %+v %v\n%s", c.say, end, end.Error, e.trace())
		}
	}
	told, prompted := 0, 0
	for _, r := range w.server.Requests() {
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
	lines = append(lines, answer(`There is no tool named .Task`, "bottom"), answer("bottom", "above bottom"), answer("above bottom", "second"), answer("second", "done"),
		agentCall("^plain$", "", "PLAIN"), `{"if":{"user":"PLAIN"},"do":[{"text":"plain"}]}`, answer("plain", "done"))
	w := newWorld(t, setting{}, lines...)
	w.write(filepath.Join(w.home, ".scorel", "agents", "boss.md"), "---\ndescription: x\ntools: Read, Task\n---\nBOSS")
	e := w.begin(false)
	if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
	}
	var depths []int
	for _, s := range call[*protocol.SessionList](t, e.c, "", &protocol.ListSessions{Subagents: true}).Sessions {
		if s.Parent != nil {
			depths = append(depths, s.Parent.Depth)
		}
	}
	slices.Sort(depths)
	if !slices.Equal(depths, []int{1, 2, 3}) {
		t.Errorf("depths %v", depths)
	}
	if end := e.say("plain"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
	}
	for _, r := range w.server.Requests() {
		if body := string(r.Body); strings.Contains(body, `"PLAIN"`) && !strings.Contains(body, "plain\"") && strings.Contains(body, `"name":"Task"`) {
			t.Errorf("general is offered Task")
		}
	}
}

func TestAnAgentThatDoesNotFinishGivesAnErrorWithWhatThereIs(t *testing.T) {
	for name, c := range map[string]struct{ child, want string }{
		"fails":   {`{"if":{"user":"CHILD 1"},"do":[{"error":{"status":401}}]}`, "(The agent gave no answer.)\n[The agent did not finish: "},
		"refuses": {`{"if":{"user":"CHILD 1"},"do":[{"text":"I will not."}],"stop":"refusal"}`, "I will not.\n[The agent did not finish: The model refused to go on.]"},
		"too many steps": {`{"if":{"user":"CHILD 1"},"do":[{"text":"Let me see."},{"call":"Read","id":"r","input":{"path":"a.txt"}}]}`,
			"Let me see.\n[The agent did not finish: The run stopped after 1 steps"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setting{}, agentCall("^start$", `,"agent":"short"`, "CHILD 1"), c.child, answer("did not finish", "so be it"))
			w.write(filepath.Join(w.home, ".scorel", "agents", "short.md"), "---\ndescription: x\nmaxSteps: 1\n---\ndo")
			w.file("a.txt", "x")
			e := w.begin(false)
			if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
			}
			if m := e.lastResult(); !m.IsError || !strings.HasPrefix(m.PlainText(), c.want) || !strings.Contains(m.PlainText(), "[agent short, session ses_") {
				t.Errorf("the result: %q", m.PlainText())
			}
			w.judged()
		})
	}
}

func TestAnAgentThatWorksIsNotResumedASecondTime(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()}, agentCall("^start$", `,"background":true`, "CHILD 1"), shell("CHILD 1", "a", "echo > up"+untilGo+"echo child-end"),
		`{"if":{"result":"works in the background"},"do":[{"call":"Bash","id":"up","input":{"command":"until [ -e up ]; do sleep 0.01; done; echo it-is-up"}}]}`,
		`{"if":{"result":"it-is-up"},"do":[{"call":"Task","id":"again","input":{"description":"go on","prompt":"GO ON","resume":""},"fill":{"resume":"ses_[0-9a-z]+"}}]}`,
		answer("works already; wait for its end", "I wait"), answer("child-end", "the child is done"))
	e := w.begin(false)
	if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
	}
	if runs := w.runs(e.id); len(runs) != 1 || runs[0].State != lane.SubagentStarted {
		t.Errorf("the log tells %+v", runs)
	}
	w.file("go", "")
	w.eventually("its end", func() bool {
		runs := w.runs(e.id)
		return len(runs) == 2 && runs[1].Terminal == protocol.TerminalCompleted
	})
}

func TestAnAgentTakesNoMoreStepsThanTheTurnThatWantsItMay(t *testing.T) {
	for name, s := range map[string]setting{
		"the caller's":        {overrides: host.Overrides{MaxSteps: 3}},
		"the configuration's": {tables: "[limits]\nmaxSteps = 3"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, s, agentCall("^start$", `,"agent":"long"`, "CHILD 1"), `{"if":{"user":"CHILD 1"},"again":true,"do":[{"call":"Read","id":"r","input":{"path":"a.txt"}}]}`,
				`{"if":{"result":"no end"},"again":true,"do":[{"call":"Read","id":"r","input":{"path":"a.txt"}}]}`, answer("did not finish", "so be it"))
			w.user("agents/long.md", "---\ndescription: x\nmaxSteps: 7\n---\ndo")
			w.file("a.txt", "no end")
			e := w.begin(false)
			e.say("start")
			if m := e.lastResult(); !strings.Contains(m.PlainText(), "The run stopped after 3 steps") {
				t.Errorf("the result: %q", m.PlainText())
			}
		})
	}
}

func TestAHostThatIsKilledLeavesAnAgentThatCanBeResumed(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()}, agentCall("^start$", "", "CHILD 1"), shell("CHILD 1", "a", "echo $$ > pid; sleep 1000"),
		`{"if":{"user":"go on","result":"(?s)The host stopped while this ran.*The host stopped while the sub-agent general \\(piece 1\\) worked"},"do":[{"call":"Task","id":"again","input":{"description":"go on","prompt":"GO ON CHILD","resume":""},"fill":{"resume":"ses_[0-9a-z]+"}}]}`,
		`{"if":{"user":"GO ON CHILD"},"do":[{"text":"now it is finished"}]}`, answer("now it is finished", "good"), `{"if":{"user":"later"},"do":[{"text":"well"}]}`)
	e := w.begin(false)
	e.send("start")
	child := e.child(0)
	w.line("pid")
	after := w.killed()
	again := after.open(after.connect(false), e.id)
	if end := again.say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, again.trace())
	}
	again.say("later")
	told := 0
	for _, ev := range after.log(e.id) {
		if b, ok := ev.Body.(*protocol.HarnessItem); ok && strings.Contains(b.Item.Content, "The host stopped while the sub-agent") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("it was told %d times", told)
	}
	messages := after.open(again.c, child).messages()
	paired(t, messages[len(messages)-2:])
	if last := messages[len(messages)-1]; last.PlainText() != "now it is finished" {
		t.Errorf("the agent's session ends with %q", last.PlainText())
	}
	interrupted := false
	for _, r := range w.server.Requests() {
		interrupted = interrupted || strings.Contains(string(r.Body), "It may have taken effect. Check before repeating.") && strings.Contains(string(r.Body), `"t1"`)
	}
	if !interrupted {
		t.Error("the model was not told that the call was interrupted")
	}
	w.judged()
}

func TestTheWorkOfAnAgentIsTheProgressOfItsCall(t *testing.T) {
	w := newWorld(t, setting{}, find, looks, found, thanks)
	w.file("a.txt", "a-secret-word\n")
	e := w.begin(false)
	e.say("start")
	child := e.child(0)
	var stages []string
	for _, ev := range e.events {
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
	if m := e.lastResult(); !strings.Contains(string(m.Process), "Read a.txt") {
		t.Errorf("the result keeps %s", m.Process)
	}
	for _, r := range w.server.Requests() {
		if strings.Contains(string(r.Body), "subagent-") || strings.Contains(string(r.Body), "has ended (2") {
			t.Errorf("progress is sent to a model: %s", r.Body)
		}
	}
}

func TestAPersonGoesOnInTheSessionOfAnAgentWithWhatTheAgentHas(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Mode: "acceptEdits"}}, agentCall("^start$", `,"agent":"careful"`, "CHILD 1"), `{"if":{"user":"CHILD 1"},"do":[{"text":"looked"}]}`, answer("looked", "good"),
		`{"if":{"user":"how sure"},"do":[{"call":"Bash","id":"b","input":{"command":"touch x"}},{"call":"Write","id":"w","input":{"path":"x","content":"y"}}]}`,
		answer("(?s)There is no tool named .Bash.*plan", "very"))
	w.write(filepath.Join(w.home, ".scorel", "agents", "careful.md"), "---\ndescription: x\ntools: Read, Write\npermissionMode: plan\n---\nPROMPT-OF-CAREFUL")
	e := w.begin(false)
	e.say("start")
	child := w.open(e.c, e.child(0))
	if end := child.say("how sure are you"); end.Terminal != protocol.TerminalCompleted || w.exists("x") {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, child.trace())
	}
	if last := w.server.Requests(); !strings.Contains(string(last[len(last)-1].Body), "PROMPT-OF-CAREFUL") {
		t.Error("without the prompt of the agent")
	}
	if err := os.Remove(filepath.Join(w.home, ".scorel", "agents", "careful.md")); err != nil {
		t.Fatal(err)
	}
	if err := refused(t, e.c, child.id, &protocol.SendMessage{Content: text("and now")}, protocol.CodeInvalidRequest); !strings.Contains(err.Message, "there is no agent \"careful\"") && !strings.Contains(err.Message, "There is no agent \"careful\"") {
		t.Errorf("without its file: %s", err.Message)
	}
}

func TestACloneKnowsNothingOfAgentsThatStillWorkForItsSource(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()}, append(behind(), `{"if":{"user":"^hello$"},"do":[{"text":"hello"}]}`)...)
	e := w.begin(false)
	e.say("start")
	w.line("pid")
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	call[*protocol.SessionSummary](t, e.c, id, &protocol.CloneSession{FromSessionID: e.id})
	clone := w.open(e.c, id)
	if end := clone.say("hello"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v %v", end, end.Error)
	}
}

func TestALongAnswerIsCutAndKeptWhole(t *testing.T) {
	w := newWorld(t, setting{}, agentCall("^start$", "", "CHILD 1"), `{"if":{"user":"CHILD 1"},"do":[{"text":"word ","times":20000}]}`,
		`{"if":{"result":"70\\d\\d\\d characters are left out"},"do":[{"call":"Read","id":"r","input":{"path":"result:t1"}}]}`, answer("word word", "read"))
	e := w.begin(false)
	if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
	}
}

func TestWithASessionItsAgentsAreDeleted(t *testing.T) {
	w := newWorld(t, setting{}, find, looks, found, thanks)
	w.file("a.txt", "a-secret-word\n")
	e := w.begin(false)
	e.say("start")
	child := e.child(0)
	if err := e.s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	call[*protocol.Deleted](t, e.c, e.id, &protocol.DeleteSession{})
	if all := call[*protocol.SessionList](t, e.c, "", &protocol.ListSessions{Subagents: true}).Sessions; len(all) > 0 {
		t.Errorf("left: %+v", all)
	}
	if _, err := os.Stat(filepath.Join(w.home, ".scorel", "sessions", string(child)+".jsonl")); err == nil {
		t.Error("the log of the agent is still there")
	}
}
