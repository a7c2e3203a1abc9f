package subagent_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/internal/host/lane/subagents"
	"scorel/protocol"
)

const (
	// find starts an agent that looks for something, and goes on with its answer.
	find   = `{"if":{"user":"^start$"},"do":[{"call":"Task","id":"t1","input":{"agent":"explore","description":"find the word","prompt":"PROMPT-OF-CHILD: look into a.txt"}}]}`
	looks  = `{"if":{"user":"PROMPT-OF-CHILD"},"do":[{"text":"THOUGHTS-OF-CHILD"},{"call":"Read","id":"r1","input":{"path":"a.txt"}}],"usage":{"inputTokens":100,"outputTokens":10,"cacheReadTokens":0,"cacheWriteTokens":0}}`
	found  = `{"if":{"result":"a-secret-word"},"do":[{"text":"The word is plum."}],"usage":{"inputTokens":200,"outputTokens":20,"cacheReadTokens":0,"cacheWriteTokens":0}}`
	thanks = `{"if":{"result":"The word is plum"},"do":[{"text":"It is plum."}],"usage":{"inputTokens":1000,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0}}`
)

func TestASubagentWorksInASessionOfItsOwnAndOnlyItsAnswerComesBack(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api}, find, looks, found, thanks, `{"if":{"user":"more"},"do":[{"text":"no more"}]}`)
			w.File("a.txt", "a-secret-word\n")
			e := w.Begin(false)
			if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
			}
			r := e.LastResult()
			child := e.Child(0)
			if r.IsError || !strings.HasPrefix(r.PlainText(), "The word is plum.\n[agent explore, session "+string(child)+"]") {
				t.Errorf("the result: %q", r.PlainText())
			}
			if r.Usage == nil || r.Usage.OutputTokens == 0 {
				t.Errorf("the result says nothing of what was used: %+v", r.Usage)
			}
			for _, q := range w.Server.Requests() {
				body := string(q.Body)
				ofChild := strings.Contains(body, "PROMPT-OF-CHILD") && !strings.Contains(body, "find the word")
				switch {
				case ofChild && (strings.Contains(body, "start") && strings.Contains(body, `"start"`) || !strings.Contains(body, "You look things up in files") || strings.Contains(body, "Bash")):
					t.Errorf("the agent is sent something of its session, or the wrong tools: %s", body)
				case !ofChild && (strings.Contains(body, "THOUGHTS-OF-CHILD") || strings.Contains(body, "a-secret-word")):
					t.Errorf("the session is sent what the agent did: %s", body)
				}
			}
			// Both logs tell it, and the child's says whose it is.
			runs := w.Runs(e.ID)
			if len(runs) != 2 || runs[0].State != subagents.Started || runs[1].State != subagents.Ended || runs[1].Terminal != protocol.TerminalCompleted ||
				runs[1].Steps != 2 || runs[1].ToolCallID != "t1" || runs[1].SessionID != child || runs[1].Usage.OutputTokens == 0 {
				t.Errorf("the log tells %+v", runs)
			}
			list := hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{})
			if len(list.Sessions) != 1 || list.Sessions[0].SessionID != e.ID {
				t.Errorf("the usual list: %+v", list.Sessions)
			}
			mine := hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{ParentID: e.ID})
			if len(mine.Sessions) != 1 || mine.Sessions[0].SessionID != child || mine.Sessions[0].Parent == nil || mine.Sessions[0].Parent.ToolCallID != "t1" ||
				mine.Sessions[0].Parent.Depth != 1 || mine.Sessions[0].Meta.Name != "find the word" || mine.Sessions[0].Meta.WorkDir != w.Project {
				t.Errorf("the list of its agents: %+v", mine.Sessions)
			}
			if all := hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{Subagents: true}); len(all.Sessions) != 2 {
				t.Errorf("all: %+v", all.Sessions)
			}
			w.Judged()
		})
	}
}

func TestWhatAnAgentUsesCountsInTheTurnAndInTheSession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, find, looks, found, thanks)
	w.File("a.txt", "a-secret-word\n")
	e := w.Begin(false)
	e.Say("start")
	end := e.Until(hosttest.OfType(protocol.TypeTurnEnd)).Body.(*protocol.TurnEnd)
	first := 0
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleAssistant {
			first += m.Usage.InputTokens
		}
	}
	if want := first + 300; end.Usage.InputTokens != want {
		t.Errorf("the turn used %d tokens, want %d", end.Usage.InputTokens, want)
	}
	live := w.Open(w.Connect(false), e.ID).S.Live.Usage
	if live.InputTokens != first+300 {
		t.Errorf("the session used %d tokens, want %d", live.InputTokens, first+300)
	}
	w.Restart()
	if again := w.Open(w.Connect(false), e.ID).S.Live.Usage; again != live {
		t.Errorf("after a restart it used %+v, not %+v", again, live)
	}
}

func TestASessionStaysUntilThoseOfItsSubagentsCanBeDeletedWithIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, find, looks, found, thanks)
	w.File("a.txt", "a-secret-word\n")
	e := w.Begin(false)
	e.Say("start")
	child := e.Child(0)
	if err := e.S.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := w.Open(e.C, child)
	hosttest.Refused(t, e.C, e.ID, &protocol.DeleteSession{}, protocol.CodeSessionLocked)
	if err := held.S.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	hosttest.Call[*protocol.Deleted](t, e.C, e.ID, &protocol.DeleteSession{})
	for _, id := range []protocol.SessionID{e.ID, child} {
		hosttest.Refused(t, e.C, id, &protocol.DeleteSession{}, protocol.CodeSessionNotFound)
	}
}
