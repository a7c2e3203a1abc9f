package tasks_test

import (
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// lostTurns returns the messages of a log that say that the host was killed before an answer.
func lostTurns(events []protocol.Event) (found []protocol.Event) {
	for _, e := range cutOff(events) {
		if m, _ := e.Message(); m.IsFailure() && (m.ErrorMessage == protocol.HostStoppedBefore || m.ErrorMessage == protocol.HostStopped) {
			found = append(found, e)
		}
	}
	return found
}

// TestATurnThatWasLostBeforeItsAnswerIsToldOnce kills the host while nothing of the next
// message of the model has come: at the beginning of the turn, after a call, and after an
// answer that the output limit has cut, also when it was asked for anew.
func TestATurnThatWasLostBeforeItsAnswerIsToldOnce(t *testing.T) {
	const cut = `{"stop":"max_tokens","do":[{"text":"The first half, "}]}`
	for name, c := range map[string]struct {
		lines []string
		told  string
	}{
		"at the beginning": {nil, protocol.HostStoppedBefore},
		"after a call":     {[]string{`{"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}]}`}, protocol.HostStoppedBefore},
		"after a half":     {[]string{cut, cut}, "The last answer is not complete, because the host stopped in the middle of it. Say \"go on\" to have the rest."},
	} {
		lines := c.lines
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{}, 10)
			w := hosttest.New(t, hosttest.Setting{Request: func([]byte) { asked <- struct{}{} }},
				append(lines, `{"do":[{"hang":true}]}`, `{"if":{"user":"go on"},"do":[{"text":"Here it is."}]}`)...)
			w.File("a.txt", "hello\n")
			e := w.Begin(false)
			e.Send("count")
			for range len(lines) + 1 {
				<-asked
			}
			after := w.Killed()
			again := after.Open(after.Connect(true), e.ID)
			if said := again.S.Opened.Interrupted; said != c.told {
				t.Errorf("the person is told %q", said)
			}
			found := lostTurns(after.Log(e.ID))
			if len(found) != 1 || found[0].ParentID == "" {
				t.Fatalf("the log says %+v", found)
			}
			if m, _ := found[0].Message(); m.Provider == "" || m.Model == "" || m.StopReason != protocol.StopError {
				t.Errorf("%+v", m)
			}
			if files := after.PendingFiles(); len(files) > 0 {
				t.Errorf("%q", files)
			}
			third := after.Killed()
			if third.Open(third.Connect(false), e.ID); len(lostTurns(third.Log(e.ID))) != 1 {
				t.Errorf("it is told again: %+v", lostTurns(third.Log(e.ID)))
			}
			if end := again.Say("go on"); end.Terminal != protocol.TerminalCompleted {
				t.Errorf("end: %+v", end)
			}
			if strings.Contains(after.LastRequest(), "The host stopped") {
				t.Error("the model is sent why there was no answer")
			}
			if later := after.Open(after.Connect(true), e.ID); later.S.Opened.Interrupted != "" {
				t.Error("it is told when the conversation has gone on")
			}
		})
	}
}

// TestATurnThatEndedIsNotLost kills the host after a turn that was cancelled before anything
// had come: its message has no answer either.
func TestATurnThatEndedIsNotLost(t *testing.T) {
	asked := make(chan struct{}, 1)
	w := hosttest.New(t, hosttest.Setting{Request: func([]byte) { asked <- struct{}{} }}, `{"do":[{"hang":true}]}`)
	e := w.Begin(false)
	turn := e.Send("count")
	<-asked
	hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
	if end := e.End(); end.Reason != protocol.EndCancelled {
		t.Fatalf("end: %+v", end)
	}
	after := w.Killed()
	again := after.Open(after.Connect(true), e.ID)
	if found := lostTurns(after.Log(e.ID)); len(found) > 0 || again.S.Opened.Interrupted != "" {
		t.Errorf("%+v, and the person is told %q", found, again.S.Opened.Interrupted)
	}
}

// TestACallThatHadNotBegunIsNotToldAsPerhapsDone kills the host while a call is asked for.
func TestACallThatHadNotBegunIsNotToldAsPerhapsDone(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "default"}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"touch made"}},{"call":"Bash","id":"c2","input":{"command":"touch made"}}]}`,
		`{"if":{"user":"what now"},"do":[{"text":"I ask again."}]}`)
	e := w.Begin(true)
	e.Send("make it")
	e.Asked(1)
	after := w.Killed()
	again := after.Open(after.Connect(true), e.ID)
	if said := again.S.Opened.Interrupted; said != protocol.HostStoppedBefore {
		t.Errorf("the person is told %q", said)
	}
	results := again.Results()
	for _, id := range []string{"c1", "c2"} {
		if m := results[id]; m.PlainText() != protocol.CallNotBegun || m.Outcome() != protocol.OutcomeNotRun || !m.IsError {
			t.Errorf("%s: %+v", id, m)
		}
	}
	if len(lostTurns(after.Log(e.ID))) != 1 {
		t.Error("the log does not say why there is no answer")
	}
	if end := again.Say("what now"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v", end)
	}
	if strings.Contains(after.LastRequest(), "may have taken effect") {
		t.Error("the model is told that a call may have taken effect that had not begun")
	}
}

// TestATurnThatAHostCutsByEndingIsTold as one that a kill cuts; one that a person cancels is not.
func TestATurnThatAHostCutsByEndingIsTold(t *testing.T) {
	for name, stops := range map[string]bool{"the host ends": true, "a person cancels": false} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{}, 10)
			w := hosttest.New(t, hosttest.Setting{Request: func([]byte) { asked <- struct{}{} }}, `{"do":[{"hang":true}]}`, `{"if":{"user":"go on"},"do":[{"text":"Here it is."}]}`)
			e := w.Begin(false)
			turn := e.Send("count")
			<-asked
			want := ""
			if stops {
				want = protocol.HostStoppedBefore
			} else {
				hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
				e.End()
			}
			w.Restart()
			again := w.Open(w.Connect(true), e.ID)
			if said := again.S.Opened.Interrupted; said != want {
				t.Errorf("the person is told %q", said)
			}
			if n := len(lostTurns(w.Log(e.ID))); n > 1 || (n == 1) != stops {
				t.Errorf("the log says it %d times", n)
			}
			if files := w.PendingFiles(); len(files) > 0 {
				t.Errorf("%q", files)
			}
			if end := again.Say("go on"); end.Terminal != protocol.TerminalCompleted {
				t.Errorf("end: %+v", end)
			}
		})
	}
}
