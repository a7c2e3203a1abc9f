package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

const runTwice = `{"do":[{"call":"Bash","id":"c1","input":{"command":"echo one"}}]}`

// asked waits for the next question and gives it.
func (e *entry) asked(n int) protocol.PermissionRequest {
	e.w.t.Helper()
	var found *protocol.PermissionRequest
	e.until(func(ev protocol.Event) bool {
		if b, ok := ev.Body.(*protocol.PermissionRequest); ok {
			if n--; n == 0 {
				found = b
				return true
			}
		}
		return false
	})
	return *found
}

// choice gives the index of the suggestion of a scope.
func choice(t *testing.T, q protocol.PermissionRequest, scope string) int {
	t.Helper()
	i := slices.IndexFunc(q.Suggestions, func(s protocol.Suggestion) bool { return s.Scope == scope })
	if i < 0 {
		t.Fatalf("the question offers no %q: %+v", scope, q.Suggestions)
	}
	return i
}

func TestAnAnswerCountsForItsScope(t *testing.T) {
	for _, c := range []struct {
		scope     string
		questions int // in this session, of two equal calls
		later     int // in the next session, of one
	}{{"once", 2, 1}, {"session", 1, 1}, {"always", 1, 0}} {
		t.Run(c.scope, func(t *testing.T) {
			w := newWorld(t, setting{attended: true},
				`{"do":[{"call":"Bash","id":"c1","input":{"command":"echo one"}}]}`,
				`{"do":[{"call":"Bash","id":"c2","input":{"command":"echo one"}}]}`,
				`{"do":[{"text":"done"}]}`,
				`{"if":{"user":"later"},"do":[{"call":"Bash","id":"c3","input":{"command":"echo one"}}]}`, `{"do":[{"text":"done"}]}`,
				`{"if":{"user":"once more"},"do":[{"call":"Bash","id":"c4","input":{"command":"echo one"}}]}`, `{"do":[{"text":"done"}]}`)
			e := w.begin(true)
			e.send("run")
			for n := 1; n <= c.questions; n++ {
				q := e.asked(n)
				if q.ToolName != "Bash" || string(q.Args) != `{"command":"echo one"}` {
					t.Errorf("the question: %+v", q)
				}
				call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, c.scope)})
			}
			if end := e.end(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.trace())
			}
			questions, results := 0, 0
			var decisions []string
			for _, ev := range e.events {
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
				t.Errorf("%d questions, %d results, decisions %q\n%s", questions, results, decisions, e.trace())
			}
			rules, _ := os.ReadFile(filepath.Join(w.home, ".scorel", "rules.json"))
			if strings.Contains(string(rules), "Bash(echo one") != (c.scope == "always") {
				t.Errorf("rules.json: %s", rules)
			}
			next := w.begin(true)
			next.send("later")
			if c.later > 0 {
				q := next.asked(1)
				call[*protocol.Done](t, next.c, next.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
			}
			next.end()
			later := 0
			for _, ev := range next.events {
				if ev.Type == protocol.TypePermissionRequest {
					later++
				}
			}
			if later != c.later {
				t.Errorf("%d questions in the next session, want %d", later, c.later)
			}
			// What was granted for the session counts also after a restart.
			w.restart()
			again := w.open(w.connect(true), e.id)
			again.send("once more")
			if c.scope == "once" {
				q := again.asked(1)
				call[*protocol.Done](t, again.c, again.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -1})
			}
			if end := again.end(); end.Terminal != protocol.TerminalCompleted {
				t.Errorf("after a restart: %+v\n%s", end, again.trace())
			}
			w.judged()
		})
	}
}

func TestARefusalTellsTheModelWhatThePersonSaid(t *testing.T) {
	w := newWorld(t, setting{attended: true}, runTwice, `{"if":{"result":"use printf instead"},"do":[{"text":"I shall."}]}`)
	e := w.begin(true)
	e.send("run")
	q := e.asked(1)
	refused(t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: len(q.Suggestions)}, protocol.CodeInvalidRequest)
	refused(t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -2}, protocol.CodeInvalidRequest)
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -1, Reason: "use printf instead"})
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	d := e.until(ofType(protocol.TypePermissionDecision)).Body.(*protocol.PermissionDecision)
	if d.Decision != protocol.DecisionDeny || d.Reason != "use printf instead" {
		t.Errorf("the decision: %+v", d)
	}
	w.judged()
}

func TestTheFirstOfTwoAnswersCounts(t *testing.T) {
	w := newWorld(t, setting{attended: true}, runTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
	e := w.begin(true)
	other := w.open(w.connect(true), e.id)
	e.send("run")
	q := e.asked(1)
	if got := other.asked(1); got.PermissionID != q.PermissionID {
		t.Errorf("two clients see two questions: %s and %s", got.PermissionID, q.PermissionID)
	}
	call[*protocol.Done](t, other.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
	refused(t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -1}, protocol.CodeConflict)
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	resolved := 0
	for _, ev := range e.events {
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
		w := newWorld(t, setting{attended: true}, runTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
		e := w.begin(false)
		e.send("run")
		e.asked(1)
		late := w.open(w.connect(true), e.id)
		if len(late.s.Live.Permissions) != 1 {
			t.Fatalf("a client that comes later sees the questions %+v", late.s.Live.Permissions)
		}
		q := late.s.Live.Permissions[0]
		call[*protocol.Done](t, late.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
		if end := late.end(); end.Terminal != protocol.TerminalCompleted {
			t.Errorf("end: %+v", end)
		}
	})
	t.Run("nobody answers in time", func(t *testing.T) {
		w := newWorld(t, setting{attended: true, config: "[permissions]\ntimeoutMs = 1"}, runTwice,
			`{"if":{"result":"nobody answered in time"},"do":[{"text":"without it"}]}`)
		e := w.begin(true)
		if end := e.say("run"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v\n%s", end, e.trace())
		}
		r := e.until(ofType(protocol.TypePermissionResolved)).Body.(*protocol.PermissionResolved)
		if r.Decision != protocol.DecisionExpired {
			t.Errorf("resolved: %+v", r)
		}
	})
}

func TestTwoConnectionsOfOneClientCountAsAttendedUntilBothAreGone(t *testing.T) {
	w := newWorld(t, setting{}, runTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
	e := w.begin(true)
	other := w.connect(true)
	o := w.open(other, e.id)
	if err := o.s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.send("run")
	q := e.asked(1)
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v\n%s", end, e.trace())
	}
}

func TestModesCountFromTheNextCallOn(t *testing.T) {
	w := newWorld(t, setting{attended: true, overrides: host.Overrides{Sandbox: "off"}}, runTwice, `{"do":[{"text":"done"}]}`)
	e := w.begin(true)
	if os.Getuid() == 0 { // without a sandbox
		refused(t, e.c, e.id, &protocol.SetMode{Mode: "bypassPermissions"}, protocol.CodeForbidden)
	}
	refused(t, e.c, e.id, &protocol.SetMode{Mode: "auto"}, protocol.CodeInvalidRequest)
	call[*protocol.Done](t, e.c, e.id, &protocol.SetMode{Mode: "dontAsk"})
	if end := e.say("run"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	for _, m := range e.messages() {
		if m.Role == protocol.RoleToolResult && !m.IsError {
			t.Errorf("it ran: %+v", m)
		}
	}
	for _, ev := range e.events {
		if r, ok := ev.Body.(*protocol.PermissionResolved); ok && r.Decision != protocol.DecisionDeny {
			t.Errorf("resolved: %+v", r)
		}
	}
}

func TestADenyRuleBeatsEverybody(t *testing.T) {
	w := newWorld(t, setting{attended: true, overrides: host.Overrides{Allow: []string{"Bash"}, Deny: []string{"Bash(echo:*)"}}}, runTwice,
		`{"do":[{"text":"done"}]}`)
	e := w.begin(true)
	e.say("run")
	d := e.until(ofType(protocol.TypePermissionDecision)).Body.(*protocol.PermissionDecision)
	if d.Decision != protocol.DecisionDeny || d.Scope != "rule" || d.Rule != "Bash(echo:*)" {
		t.Errorf("the decision: %+v", d)
	}
}

func TestAQuestionOutlivesTheClientsThatSawIt(t *testing.T) {
	w := newWorld(t, setting{attended: true}, runTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
	first := w.begin(true)
	second := w.open(w.connect(true), first.id)
	first.send("run")
	q := first.asked(1)
	second.asked(1)
	if err := first.c.Close(); err != nil { // one that vanishes
		t.Fatal(err)
	}
	if got := second.s.Live.Permissions; len(got) != 1 || got[0].PermissionID != q.PermissionID {
		t.Errorf("what the other sees: %+v", got)
	}
	if err := second.c.Close(); err != nil { // and the last one
		t.Fatal(err)
	}
	watching := w.open(w.connect(false), first.id) // cannot answer, and sees it
	next := w.open(w.connect(true), first.id)
	for _, e := range []*entry{watching, next} {
		if got := e.s.Live.Permissions; len(got) != 1 || got[0].PermissionID != q.PermissionID {
			t.Fatalf("a client that comes sees %+v", got)
		}
	}
	call[*protocol.Done](t, next.c, next.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
	if r := watching.until(ofType(protocol.TypePermissionResolved)).Body.(*protocol.PermissionResolved); r.Decision != protocol.DecisionAllow {
		t.Errorf("resolved: %+v", r)
	}
	if end := next.end(); end.Terminal != protocol.TerminalCompleted || len(next.s.Live.Permissions) != 0 {
		t.Errorf("end: %+v, open %+v", end, next.s.Live.Permissions)
	}
}

func TestOfManyAnswersAtOnceExactlyOneCounts(t *testing.T) {
	w := newWorld(t, setting{attended: true}, runTwice, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.begin(true)
	e.send("run")
	q := e.asked(1)
	yes := choice(t, q, "once")
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		c := w.connect(true)
		wg.Go(func() {
			_, err := client.Call[*protocol.Done](t.Context(), c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: []int{yes, -1}[i%2]})
			switch {
			case err == nil:
				won.Add(1)
			case protocol.AsError(err).Code != protocol.CodeConflict:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	e.end()
	decisions := 0
	for _, ev := range w.log(e.id) {
		if ev.Type == protocol.TypePermissionDecision {
			decisions++
		}
	}
	if won.Load() != 1 || decisions != 1 {
		t.Errorf("%d answers were taken, %d are stored", won.Load(), decisions)
	}
}
