package turnconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAnAnswerCountsForItsScope(t *testing.T) {
	for _, c := range []struct {
		scope     string
		questions int // in this session, of two equal calls
		later     int // in the next session, of one
	}{{"once", 2, 1}, {"session", 1, 1}, {"always", 1, 0}} {
		t.Run(c.scope, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Attended: true},
				`{"do":[{"call":"Bash","id":"c1","input":{"command":"echo one"}}]}`,
				`{"do":[{"call":"Bash","id":"c2","input":{"command":"echo one"}}]}`,
				`{"do":[{"text":"done"}]}`,
				`{"if":{"user":"later"},"do":[{"call":"Bash","id":"c3","input":{"command":"echo one"}}]}`, `{"do":[{"text":"done"}]}`,
				`{"if":{"user":"once more"},"do":[{"call":"Bash","id":"c4","input":{"command":"echo one"}}]}`, `{"do":[{"text":"done"}]}`)
			e := w.Begin(true)
			e.Send("run")
			for n := 1; n <= c.questions; n++ {
				q := e.Asked(n)
				if q.ToolName != "Bash" || string(q.Args) != `{"command":"echo one"}` {
					t.Errorf("the question: %+v", q)
				}
				hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, c.scope)})
			}
			if end := e.End(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.Trace())
			}
			questions, results := 0, 0
			var decisions []string
			for _, ev := range e.Events {
				switch b := ev.Body.(type) {
				case *protocol.PermissionRequest:
					questions++
				case *protocol.PermissionDecision:
					decisions = append(decisions, b.ToolCallID+" "+string(b.Decision)+" "+b.Scope)
					if b.Scope != "rule" && (ev.ClientID == protocol.HostClient || ev.Cause == nil) {
						t.Errorf("the decision does not say whose it is: %+v", ev.Envelope)
					}
				case *protocol.MessageBody:
					if b.Message.Role == protocol.RoleToolResult && strings.HasPrefix(b.Message.PlainText(), "one\n") {
						results++
					}
				}
			}
			if questions != c.questions || results != 2 || len(decisions) != 2 || decisions[0] != "c1 allow "+c.scope {
				t.Errorf("%d questions, %d results, decisions %q\n%s", questions, results, decisions, e.Trace())
			}
			rules, _ := os.ReadFile(filepath.Join(w.Home, ".scorel", "rules.json"))
			if strings.Contains(string(rules), "Bash(echo one") != (c.scope == "always") {
				t.Errorf("rules.json: %s", rules)
			}
			next := w.Begin(true)
			next.Send("later")
			if c.later > 0 {
				q := next.Asked(1)
				hosttest.Call[*protocol.Done](t, next.C, next.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
			}
			next.End()
			later := 0
			for _, ev := range next.Events {
				if ev.Type == protocol.TypePermissionRequest {
					later++
				}
			}
			if later != c.later {
				t.Errorf("%d questions in the next session, want %d", later, c.later)
			}
			// What was granted for the session counts also after a restart.
			w.Restart()
			again := w.Open(w.Connect(true), e.ID)
			again.Send("once more")
			if c.scope == "once" {
				q := again.Asked(1)
				hosttest.Call[*protocol.Done](t, again.C, again.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -1})
			}
			if end := again.End(); end.Terminal != protocol.TerminalCompleted {
				t.Errorf("after a restart: %+v\n%s", end, again.Trace())
			}
			w.Judged()
		})
	}
}

func TestARefusalTellsTheModelWhatThePersonSaid(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.RunTwice, `{"if":{"result":"use printf instead"},"do":[{"text":"I shall."}]}`)
	e := w.Begin(true)
	e.Send("run")
	q := e.Asked(1)
	hosttest.Refused(t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: len(q.Suggestions)}, protocol.CodeInvalidRequest)
	hosttest.Refused(t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -2}, protocol.CodeInvalidRequest)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -1, Reason: "use printf instead"})
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	d := e.Until(hosttest.OfType(protocol.TypePermissionDecision)).Body.(*protocol.PermissionDecision)
	if d.Decision != protocol.DecisionDeny || d.Reason != "use printf instead" {
		t.Errorf("the decision: %+v", d)
	}
	w.Judged()
}

func TestTheFirstOfTwoAnswersCounts(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.RunTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	other := w.Open(w.Connect(true), e.ID)
	e.Send("run")
	q := e.Asked(1)
	if got := other.Asked(1); got.PermissionID != q.PermissionID {
		t.Errorf("two clients see two questions: %s and %s", got.PermissionID, q.PermissionID)
	}
	hosttest.Call[*protocol.Done](t, other.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
	hosttest.Refused(t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -1}, protocol.CodeConflict)
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	resolved := 0
	for _, ev := range e.Events {
		switch b := ev.Body.(type) {
		case *protocol.PermissionResolved:
			resolved++
			if b.Decision != protocol.DecisionAllow || ev.ClientID == protocol.HostClient {
				t.Errorf("resolved: %+v by %s", b, ev.ClientID)
			}
		case *protocol.PermissionDecision:
			if b.Decision != protocol.DecisionAllow {
				t.Errorf("the later answer was written: %+v", b)
			}
		}
	}
	if resolved != 1 {
		t.Errorf("resolved %d times", resolved)
	}
}

func TestAQuestionWaitsForSomebodyToComeAndTheTimeThatIsSet(t *testing.T) {
	t.Run("somebody comes", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.RunTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
		e := w.Begin(false)
		e.Send("run")
		e.Asked(1)
		late := w.Open(w.Connect(true), e.ID)
		if len(late.S.Live.Permissions) != 1 {
			t.Fatalf("a client that comes later sees the questions %+v", late.S.Live.Permissions)
		}
		q := late.S.Live.Permissions[0]
		hosttest.Call[*protocol.Done](t, late.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
		if end := late.End(); end.Terminal != protocol.TerminalCompleted {
			t.Errorf("end: %+v", end)
		}
	})
	t.Run("nobody answers in time", func(t *testing.T) {
		w := hosttest.New(t, hosttest.Setting{Attended: true, Config: "[permissions]\ntimeoutMs = 1"}, hosttest.RunTwice,
			`{"if":{"result":"nobody answered in time"},"do":[{"text":"without it"}]}`)
		e := w.Begin(true)
		if end := e.Say("run"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v\n%s", end, e.Trace())
		}
		r := e.Until(hosttest.OfType(protocol.TypePermissionResolved)).Body.(*protocol.PermissionResolved)
		if r.Decision != protocol.DecisionExpired {
			t.Errorf("resolved: %+v", r)
		}
	})
}

func TestTwoConnectionsOfOneClientCountAsAttendedUntilBothAreGone(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, hosttest.RunTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	other := w.Connect(true)
	o := w.Open(other, e.ID)
	if err := o.S.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.Send("run")
	q := e.Asked(1)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v\n%s", end, e.Trace())
	}
}

func TestModesCountFromTheNextCallOn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true, Overrides: host.Overrides{Sandbox: "off"}}, hosttest.RunTwice, `{"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	if os.Getuid() == 0 { // without a sandbox
		hosttest.Refused(t, e.C, e.ID, &protocol.SetMode{Mode: "bypassPermissions"}, protocol.CodeForbidden)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.SetMode{Mode: "auto"}, protocol.CodeInvalidRequest)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetMode{Mode: "dontAsk"})
	if end := e.Say("run"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleToolResult && !m.IsError {
			t.Errorf("it ran: %+v", m)
		}
	}
	for _, ev := range e.Events {
		if r, ok := ev.Body.(*protocol.PermissionResolved); ok && r.Decision != protocol.DecisionDeny {
			t.Errorf("resolved: %+v", r)
		}
	}
}

func TestADenyRuleBeatsEverybody(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true, Overrides: host.Overrides{Allow: []string{"Bash"}, Deny: []string{"Bash(echo:*)"}}}, hosttest.RunTwice,
		`{"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	e.Say("run")
	d := e.Until(hosttest.OfType(protocol.TypePermissionDecision)).Body.(*protocol.PermissionDecision)
	if d.Decision != protocol.DecisionDeny || d.Scope != "rule" || d.Rule != "Bash(echo:*)" {
		t.Errorf("the decision: %+v", d)
	}
}

func TestAQuestionOutlivesTheClientsThatSawIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.RunTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
	first := w.Begin(true)
	second := w.Open(w.Connect(true), first.ID)
	first.Send("run")
	q := first.Asked(1)
	second.Asked(1)
	if err := first.C.Close(); err != nil { // one that vanishes
		t.Fatal(err)
	}
	if got := second.S.Live.Permissions; len(got) != 1 || got[0].PermissionID != q.PermissionID {
		t.Errorf("what the other sees: %+v", got)
	}
	if err := second.C.Close(); err != nil { // and the last one
		t.Fatal(err)
	}
	watching := w.Open(w.Connect(false), first.ID) // cannot answer, and sees it
	next := w.Open(w.Connect(true), first.ID)
	for _, e := range []*hosttest.Entry{watching, next} {
		if got := e.S.Live.Permissions; len(got) != 1 || got[0].PermissionID != q.PermissionID {
			t.Fatalf("a client that comes sees %+v", got)
		}
	}
	hosttest.Call[*protocol.Done](t, next.C, next.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
	if r := watching.Until(hosttest.OfType(protocol.TypePermissionResolved)).Body.(*protocol.PermissionResolved); r.Decision != protocol.DecisionAllow {
		t.Errorf("resolved: %+v", r)
	}
	if end := next.End(); end.Terminal != protocol.TerminalCompleted || len(next.S.Live.Permissions) != 0 {
		t.Errorf("end: %+v, open %+v", end, next.S.Live.Permissions)
	}
}

func TestOfManyAnswersAtOnceExactlyOneCounts(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.RunTwice, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	e.Send("run")
	q := e.Asked(1)
	yes := hosttest.Choice(t, q, "once")
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		c := w.Connect(true)
		wg.Go(func() {
			_, err := client.Call[*protocol.Done](t.Context(), c, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: []int{yes, -1}[i%2]})
			switch {
			case err == nil:
				won.Add(1)
			case protocol.AsError(err).Code != protocol.CodeConflict:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	e.End()
	decisions := 0
	for _, ev := range w.Log(e.ID) {
		if ev.Type == protocol.TypePermissionDecision {
			decisions++
		}
	}
	if won.Load() != 1 || decisions != 1 {
		t.Errorf("%d answers were taken, %d are stored", won.Load(), decisions)
	}
}
