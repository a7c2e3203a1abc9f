package host_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

// TestAClientThatComesInMidTurnHasTheStateOfOneThatWasThere opens a second client
// wherever the first one stands, and compares what both know, then and at the end.
func TestAClientThatComesInMidTurnHasTheStateOfOneThatWasThere(t *testing.T) {
	tool := `{"do":[{"text":"Running."},{"call":"Bash","id":"c1","input":{"command":"echo begun; until [ -e go ]; do :; done; echo ran"}}]}`
	allow := setting{overrides: host.Overrides{Allow: []string{"Bash"}}}
	cancel := func(e *entry) { call[*protocol.Cancelled](e.w.t, e.c, e.id, &protocol.Cancel{TurnID: e.s.Live.TurnID}) }
	free := func(e *entry) { e.w.file("go", "") }
	for _, c := range []struct {
		name  string
		set   setting
		lines []string
		until func(e *entry)
		check func(l protocol.Live) bool
		end   func(e *entry)
	}{
		{"idle", setting{}, nil, func(*entry) {}, func(l protocol.Live) bool { return !l.Running && l.LeafID != "" }, func(e *entry) { e.send("again") }},
		{"in text", setting{chunk: 2}, []string{`{"do":[{"text":"Some text that is long"},{"hang":true}]}`}, func(e *entry) {
			e.until(func(ev protocol.Event) bool { b, ok := ev.Body.(*protocol.TextDelta); return ok && b.Delta == "ng" })
		}, func(l protocol.Live) bool {
			return len(l.Messages) == 1 && string(l.Messages[0].Blocks[0].Text) == "Some text that is long"
		}, cancel},
		{"in thinking", setting{}, []string{`{"do":[{"thinking":"Hm, hm"},{"hang":true}]}`}, func(e *entry) { e.until(ofType(protocol.TypeThinkingDelta)) },
			func(l protocol.Live) bool {
				return len(l.Messages) == 1 && l.Messages[0].Blocks[0].Type == protocol.BlockThinking
			}, cancel},
		{"in the input of a call", setting{chunk: 5, pieces: 3}, []string{`{"do":[{"text":"Look:"},{"call":"Read","id":"c1","input":{"path":"a.txt","limit":1000}}]}`},
			func(e *entry) {
				e.until(func(ev protocol.Event) bool { b, ok := ev.Body.(*protocol.ToolCallDelta); return ok && b.Delta != "" })
			}, func(l protocol.Live) bool {
				return len(l.Messages) == 1 && len(l.Messages[0].Blocks) == 2 && l.Messages[0].Blocks[1].Name == "Read" && len(l.Messages[0].Blocks[1].Text) > 0
			}, cancel},
		{"in a tool", allow, []string{tool}, func(e *entry) { e.until(ofType(protocol.TypeToolExecutionUpdate)) },
			func(l protocol.Live) bool {
				return len(l.Tools) == 1 && l.Tools[0].OutputTail == "begun\n" && strings.Contains(string(l.Tools[0].Args), "echo begun")
			}, free},
		{"with a question open", setting{attended: true}, []string{tool}, func(e *entry) { e.asked(1) },
			func(l protocol.Live) bool { return len(l.Permissions) == 1 && len(l.Permissions[0].Suggestions) > 0 }, cancel},
		{"with messages waiting", allow, []string{tool}, func(e *entry) {
			e.until(ofType(protocol.TypeToolExecutionUpdate))
			call[*protocol.Sent](e.w.t, e.c, e.id, &protocol.FollowUp{Content: text("follow")})
			call[*protocol.Sent](e.w.t, e.c, e.id, &protocol.Steer{Content: text("steer")})
			e.until(func(ev protocol.Event) bool {
				q, ok := ev.Body.(*protocol.QueueUpdate)
				return ok && q.Queue == protocol.QueueSteer
			})
		}, func(l protocol.Live) bool { return len(l.Queues) == 2 }, free},
		{"in a retry wait", setting{}, []string{`{"do":[{"error":{"status":503}}]}`}, func(e *entry) { e.until(ofType(protocol.TypeRetry)) },
			func(l protocol.Live) bool { return l.Retry != nil && l.Retry.Attempt == 1 }, cancel},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.set, append(c.lines, `{"again":true,"do":[{"text":"ok"}]}`)...)
			w.waits.hook = func(ctx context.Context) { <-ctx.Done() }
			e := w.begin(true)
			if len(c.lines) == 0 {
				e.say("look")
			} else {
				e.send("look")
			}
			c.until(e)
			late := w.open(w.connect(true), e.id)
			for e.s.Live.ThroughSeq < late.s.Live.ThroughSeq {
				e.next()
			}
			for late.s.Live.ThroughSeq < e.s.Live.ThroughSeq {
				late.next()
			}
			same(t, late, e)
			if !c.check(late.s.Live) {
				t.Errorf("the state: %s", state(late))
			}
			e.events, late.events = nil, nil
			c.end(e)
			e.end()
			late.end()
			same(t, late, e)
		})
	}
}

func state(e *entry) string {
	data, _ := json.MarshalIndent(e.s.Live, "", " ")
	return string(data)
}

func same(t *testing.T, a, b *entry) {
	t.Helper()
	if x, y := state(a), state(b); x != y {
		t.Errorf("one client has\n%s\nand another\n%s", x, y)
	}
}

// slow is a connection whose frames wait until they are let through.
type slow struct {
	*host.Conn
	gate chan struct{}
}

func (s *slow) Recv(ctx context.Context) (protocol.Frame, error) {
	select {
	case <-s.gate:
		return s.Conn.Recv(ctx)
	case <-ctx.Done():
		return nil, io.EOF
	}
}

func TestAClientThatIsTooSlowCatchesUpFromTheLog(t *testing.T) {
	var lines []string
	for range 6 { // more than the ring holds
		lines = append(lines, `{"do":[{"text":"many words, ","times":40000}]}`)
	}
	w := newWorld(t, setting{window: 10_000_000}, lines...)
	e := w.begin(false)
	gate := make(chan struct{}, 2)
	gate <- struct{}{} // the resync
	gate <- struct{}{} // the live state
	late := w.open(w.connectThrough(false, func(c *host.Conn) client.Transport { return &slow{c, gate} }), e.id)
	for range 6 {
		if end := e.say("go"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %+v", end, end.Error)
		}
	}
	close(gate)
	fresh := 0
	for late.s.Live.ThroughSeq < e.s.Live.ThroughSeq {
		if late.next().Fresh {
			fresh++
		}
	}
	if fresh == 0 {
		t.Error("it never fell behind")
	}
	same(t, late, e)
	var got []protocol.EventID
	for _, ev := range late.events {
		if ev.ID != "" {
			got = append(got, ev.ID)
		}
	}
	log := w.log(e.id)
	if len(got) != len(log) {
		t.Fatalf("%d persistent events came, the log has %d", len(got), len(log))
	}
	for i := range log {
		if got[i] != log[i].ID {
			t.Errorf("event %d is %s, in the log %s", i, got[i], log[i].ID)
		}
	}
}

func TestALargeEventComesWholeAndInItsPlace(t *testing.T) {
	w := newWorld(t, setting{chunk: 0, window: 10_000_000}, `{"do":[{"text":"many words, ","times":40000}]}`)
	e := w.begin(false)
	e.say("go")
	var kinds []string
	for _, ev := range e.events {
		if m, ok := ev.Message(); ok && m.Role == protocol.RoleAssistant {
			if n := len(m.PlainText()); n != 480_000 {
				t.Errorf("it has %d characters", n)
			}
			kinds = append(kinds, "answer")
		}
		if ev.Type == protocol.TypeTurnEnd || ev.Type == protocol.TypeRuntimeEnd {
			kinds = append(kinds, string(ev.Type))
		}
	}
	if strings.Join(kinds, " ") != "answer turn_end runtime_end" {
		t.Errorf("what came: %v", kinds)
	}
}

func TestAClientThatJoinsLaterIsToldTheNamesOfEvents(t *testing.T) {
	w := servingWorld(t, setting{})
	c := w.plug("c", false, protocol.GrantControl)
	id := c.newSession()
	event := labelled(c, id)
	name, long := "the place", strings.Repeat("x", protocol.MaxLabel+1)
	c.do(id, &protocol.SetLabel{TargetEventID: event, Label: &name})
	if _, err := c.try(id, &protocol.SetLabel{TargetEventID: event, Label: &long}); err == nil || err.Code != protocol.CodeInvalidRequest {
		t.Errorf("a label of %d bytes: %v", len(long), err)
	}
	if got := w.plug("joins", false, protocol.GrantView).open(id, nil, 0).live.Labels; len(got) != 1 || got[0] != (protocol.LiveLabel{TargetEventID: event, Label: name}) {
		t.Errorf("who joins is told %v", got)
	}
	w.restart()
	if got := w.plug("later", false, protocol.GrantView).open(id, nil, 0).live.Labels; len(got) != 1 || got[0] != (protocol.LiveLabel{TargetEventID: event, Label: name}) {
		t.Errorf("who joins behind a restart is told %v", got)
	}
}

// TestASessionRunsFromTheAnswerToItsMessageOn looks as a script does that sends a message
// and asks until the session is idle: a turn that has not told anything yet is one.
func TestASessionRunsFromTheAnswerToItsMessageOn(t *testing.T) {
	w := servingWorld(t, setting{}, `{"again":true,"do":[{"hang":true}]}`)
	c := w.plug("c", false, protocol.GrantControl)
	for range 20 {
		id := c.newSession()
		c.do(id, &protocol.SendMessage{Content: text("go")})
		status := c.do("", &protocol.GetStatus{}).(*protocol.Status)
		for _, s := range status.Sessions {
			if s.SessionID == id && !s.Running {
				t.Fatal("the message was acknowledged, and the session is idle")
			}
		}
	}
}
