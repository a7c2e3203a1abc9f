package channels_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// asked returns what a server was sent of the n-th question, from 0.
func asked(w *hosttest.World, server string, n int) (q struct {
	ID      string `json:"request_id"`
	Tool    string `json:"tool_name"`
	Preview string `json:"input_preview"`
}) {
	w.T.Helper()
	var lines []string
	w.Eventually("the channel is asked", func() bool {
		if !w.Exists("got-" + server) {
			return false
		}
		lines = strings.SplitAfter(w.Read("got-"+server), "\n")
		return len(lines) > n+1 // what comes after the last end of a line is being written
	})
	var m struct {
		Method string
		Params json.RawMessage
	}
	if err := json.Unmarshal([]byte(lines[n]), &m); err != nil || m.Method != "notifications/claude/channel/permission_request" {
		w.T.Fatalf("the server got %q: %v", lines[n], err)
	}
	if err := json.Unmarshal(m.Params, &q); err != nil {
		w.T.Fatal(err)
	}
	return q
}

func verdict(w *hosttest.World, server, id, behavior string) {
	write(w, server, "notifications/claude/channel/permission", map[string]string{"request_id": id, "behavior": behavior})
}

// decisions returns what was decided in a session.
func decisions(w *hosttest.World, id protocol.SessionID) (out []*protocol.PermissionDecision) {
	for _, e := range w.Log(id) {
		if b, ok := e.Body.(*protocol.PermissionDecision); ok {
			out = append(out, b)
		}
	}
	return out
}

// relays is a world whose model runs two commands, each of which is asked about, and whose
// channels chat (which relays) and deaf (which does not) listen.
func relays(t *testing.T, interactive bool) (*hosttest.World, *hosttest.Entry) {
	w := hosttest.New(t, named("server:chat", "server:deaf"), `{"do":[{"text":"hi"}]}`, hosttest.Shell("run", "c1", "touch one"), hosttest.Shell("", "c2", "touch two"), always)
	configure(w, entry("chat", relay, ""), entry("deaf", channel, ""))
	e := w.Begin(interactive)
	e.Send("hello")
	notice(e, "server:chat listens")
	notice(e, "server:deaf listens")
	e.End()
	e.Events = nil
	return w, e
}

func TestAChannelAllowsACallOnceAndOnlyTheOneItWasAskedAbout(t *testing.T) {
	w, e := relays(t, true)
	e.Send("run")
	q := asked(w, "chat", 0)
	if !regexp.MustCompile(`^[a-km-z]{5}$`).MatchString(q.ID) || q.Tool != "Bash" || !strings.Contains(q.Preview, "touch one") {
		t.Errorf("the channel is sent %+v", q)
	}
	verdict(w, "chat", "zzzzz", "allow") // another id
	verdict(w, "deaf", q.ID, "allow")    // another server, which was not asked
	verdict(w, "chat", q.ID, "always")   // no verdict
	push(w, "chat", "yes")               // ordinary text
	w.Eventually("the text has come", func() bool { events, _ := injected(w, e.ID); return len(events) == 1 })
	if d := decisions(w, e.ID); len(d) != 0 {
		t.Fatalf("it was decided: %+v", d[0])
	}
	verdict(w, "chat", q.ID, "allow")
	if told := notice(e, "through the channel"); told != "Bash was allowed once through the channel server:chat." {
		t.Errorf("people are told %q", told)
	}
	second := asked(w, "chat", 1) // the next call is asked about again
	d := decisions(w, e.ID)
	if len(d) != 1 || d[0].Decision != protocol.DecisionAllow || d[0].Scope != "once" || d[0].Reason != "answered through the channel server:chat" {
		t.Errorf("%+v", d)
	}
	verdict(w, "chat", q.ID, "allow") // the old id is closed
	verdict(w, "chat", second.ID, "deny")
	e.End()
	if d = decisions(w, e.ID); len(d) != 2 || d[1].Decision != protocol.DecisionDeny {
		t.Errorf("%+v", d)
	}
	if !w.Exists("one") || w.Exists("two") {
		t.Error("not the call that was allowed has run")
	}
}

func TestAVerdictAfterTheTerminalHasAnsweredCountsForNothing(t *testing.T) {
	w, e := relays(t, true)
	e.Send("run")
	q := asked(w, "chat", 0)
	p := e.Asked(1)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: p.PermissionID, Choice: -1})
	second := asked(w, "chat", 1)
	verdict(w, "chat", q.ID, "allow")
	verdict(w, "chat", second.ID, "deny")
	e.End()
	d := decisions(w, e.ID)
	if len(d) != 2 || d[0].Decision != protocol.DecisionDeny || d[0].Reason != "" || d[1].Decision != protocol.DecisionDeny {
		t.Errorf("%+v", d)
	}
	if w.Exists("one") {
		t.Error("what the terminal denied was run")
	}
}

// TestAChannelIsSomebodyWhoCanBeAsked in a turn that a channel has begun, where nobody else is.
func TestAChannelIsSomebodyWhoCanBeAsked(t *testing.T) {
	w, e := relays(t, false)
	push(w, "deaf", "run")
	verdict(w, "chat", asked(w, "chat", 0).ID, "allow")
	verdict(w, "chat", asked(w, "chat", 1).ID, "deny")
	e.End()
	if !w.Exists("one") || w.Exists("two") {
		t.Error("not the call that was allowed has run")
	}
}
