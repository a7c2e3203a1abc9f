package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/host/lane"
	"scorel/protocol"
)

// runs gives what the log tells of sub-agents.
func (w *world) runs(id protocol.SessionID) (out []lane.SubagentRun) {
	w.t.Helper()
	for _, e := range w.log(id) {
		b, ok := e.Body.(*protocol.Custom)
		var run lane.SubagentRun
		if ok && b.Kind == lane.SubagentKind {
			if err := json.Unmarshal(b.Data, &run); err != nil {
				w.t.Fatal(err)
			}
			out = append(out, run)
		}
	}
	return out
}

// child waits for the n-th sub-agent that begins in a session, from 0, and gives its
// session.
func (e *entry) child(n int) protocol.SessionID {
	e.w.t.Helper()
	var seen []protocol.SessionID
	e.until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.Custom)
		var run lane.SubagentRun
		if ok && json.Unmarshal(b.Data, &run) == nil && run.State == lane.SubagentStarted {
			seen = append(seen, run.SessionID)
		}
		return len(seen) > n
	})
	return seen[n]
}

const (
	// find starts an agent that looks for something, and goes on with its answer.
	find   = `{"if":{"user":"^start$"},"do":[{"call":"Task","id":"t1","input":{"agent":"explore","description":"find the word","prompt":"PROMPT-OF-CHILD: look into a.txt"}}]}`
	looks  = `{"if":{"user":"PROMPT-OF-CHILD"},"do":[{"text":"THOUGHTS-OF-CHILD"},{"call":"Read","id":"r1","input":{"path":"a.txt"}}],"usage":{"inputTokens":100,"outputTokens":10,"cacheReadTokens":0,"cacheWriteTokens":0}}`
	found  = `{"if":{"result":"a-secret-word"},"do":[{"text":"The word is plum."}],"usage":{"inputTokens":200,"outputTokens":20,"cacheReadTokens":0,"cacheWriteTokens":0}}`
	thanks = `{"if":{"result":"The word is plum"},"do":[{"text":"It is plum."}],"usage":{"inputTokens":1000,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0}}`
)

func TestASubagentWorksInASessionOfItsOwnAndOnlyItsAnswerComesBack(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			w := newWorld(t, setting{api: api}, find, looks, found, thanks, `{"if":{"user":"more"},"do":[{"text":"no more"}]}`)
			w.file("a.txt", "a-secret-word\n")
			e := w.begin(false)
			if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
			}
			r := e.lastResult()
			child := e.child(0)
			if r.IsError || !strings.HasPrefix(r.PlainText(), "The word is plum.\n[agent explore, session "+string(child)+"]") {
				t.Errorf("the result: %q", r.PlainText())
			}
			if r.Usage == nil || r.Usage.OutputTokens == 0 {
				t.Errorf("the result says nothing of what was used: %+v", r.Usage)
			}
			for _, q := range w.server.Requests() {
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
			runs := w.runs(e.id)
			if len(runs) != 2 || runs[0].State != lane.SubagentStarted || runs[1].State != lane.SubagentEnded || runs[1].Terminal != protocol.TerminalCompleted ||
				runs[1].Steps != 2 || runs[1].ToolCallID != "t1" || runs[1].SessionID != child || runs[1].Usage.OutputTokens == 0 {
				t.Errorf("the log tells %+v", runs)
			}
			list := call[*protocol.SessionList](t, e.c, "", &protocol.ListSessions{})
			if len(list.Sessions) != 1 || list.Sessions[0].SessionID != e.id {
				t.Errorf("the usual list: %+v", list.Sessions)
			}
			mine := call[*protocol.SessionList](t, e.c, "", &protocol.ListSessions{ParentID: e.id})
			if len(mine.Sessions) != 1 || mine.Sessions[0].SessionID != child || mine.Sessions[0].Parent == nil || mine.Sessions[0].Parent.ToolCallID != "t1" ||
				mine.Sessions[0].Parent.Depth != 1 || mine.Sessions[0].Meta.Name != "find the word" || mine.Sessions[0].Meta.WorkDir != w.project {
				t.Errorf("the list of its agents: %+v", mine.Sessions)
			}
			if all := call[*protocol.SessionList](t, e.c, "", &protocol.ListSessions{Subagents: true}); len(all.Sessions) != 2 {
				t.Errorf("all: %+v", all.Sessions)
			}
			w.judged()
		})
	}
}

func TestWhatAnAgentUsesCountsInTheTurnAndInTheSession(t *testing.T) {
	w := newWorld(t, setting{}, find, looks, found, thanks)
	w.file("a.txt", "a-secret-word\n")
	e := w.begin(false)
	e.say("start")
	end := e.until(ofType(protocol.TypeTurnEnd)).Body.(*protocol.TurnEnd)
	first := 0
	for _, m := range e.messages() {
		if m.Role == protocol.RoleAssistant {
			first += m.Usage.InputTokens
		}
	}
	if want := first + 300; end.Usage.InputTokens != want {
		t.Errorf("the turn used %d tokens, want %d", end.Usage.InputTokens, want)
	}
	live := w.open(w.connect(false), e.id).s.Live.Usage
	if live.InputTokens != first+300 {
		t.Errorf("the session used %d tokens, want %d", live.InputTokens, first+300)
	}
	w.restart()
	if again := w.open(w.connect(false), e.id).s.Live.Usage; again != live {
		t.Errorf("after a restart it used %+v, not %+v", again, live)
	}
}

func TestASessionStaysUntilThoseOfItsSubagentsCanBeDeletedWithIt(t *testing.T) {
	w := newWorld(t, setting{}, find, looks, found, thanks)
	w.file("a.txt", "a-secret-word\n")
	e := w.begin(false)
	e.say("start")
	child := e.child(0)
	if err := e.s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := w.open(e.c, child)
	refused(t, e.c, e.id, &protocol.DeleteSession{}, protocol.CodeSessionLocked)
	if err := held.s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	call[*protocol.Deleted](t, e.c, e.id, &protocol.DeleteSession{})
	for _, id := range []protocol.SessionID{e.id, child} {
		refused(t, e.c, id, &protocol.DeleteSession{}, protocol.CodeSessionNotFound)
	}
}
