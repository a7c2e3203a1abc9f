package turns_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// TestAClientThatComesInMidTurnHasTheStateOfOneThatWasThere opens a second client
// wherever the first one stands, and compares what both know, then and at the end.
func TestAClientThatComesInMidTurnHasTheStateOfOneThatWasThere(t *testing.T) {
	tool := `{"do":[{"text":"Running."},{"call":"Bash","id":"c1","input":{"command":"echo begun; until [ -e go ]; do :; done; echo ran"}}]}`
	allow := hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}}
	cancel := func(e *hosttest.Entry) {
		hosttest.Call[*protocol.Cancelled](e.W.T, e.C, e.ID, &protocol.Cancel{TurnID: e.S.Live.TurnID})
	}
	free := func(e *hosttest.Entry) { e.W.File("go", "") }
	for _, c := range []struct {
		name  string
		set   hosttest.Setting
		lines []string
		until func(e *hosttest.Entry)
		check func(l protocol.Live) bool
		end   func(e *hosttest.Entry)
	}{
		{"idle", hosttest.Setting{}, nil, func(*hosttest.Entry) {}, func(l protocol.Live) bool { return !l.Running && l.LeafID != "" }, func(e *hosttest.Entry) { e.Send("again") }},
		{"in text", hosttest.Setting{Chunk: 2}, []string{`{"do":[{"text":"Some text that is long"},{"hang":true}]}`}, func(e *hosttest.Entry) {
			e.Until(func(ev protocol.Event) bool { b, ok := ev.Body.(*protocol.TextDelta); return ok && b.Delta == "ng" })
		}, func(l protocol.Live) bool {
			return len(l.Messages) == 1 && string(l.Messages[0].Blocks[0].Text) == "Some text that is long"
		}, cancel},
		{"in thinking", hosttest.Setting{}, []string{`{"do":[{"thinking":"Hm, hm"},{"hang":true}]}`}, func(e *hosttest.Entry) { e.Until(hosttest.OfType(protocol.TypeThinkingDelta)) },
			func(l protocol.Live) bool {
				return len(l.Messages) == 1 && l.Messages[0].Blocks[0].Type == protocol.BlockThinking
			}, cancel},
		{"in the input of a call", hosttest.Setting{Chunk: 5, Pieces: 3}, []string{`{"do":[{"text":"Look:"},{"call":"Read","id":"c1","input":{"path":"a.txt","limit":1000}}]}`},
			func(e *hosttest.Entry) {
				e.Until(func(ev protocol.Event) bool { b, ok := ev.Body.(*protocol.ToolCallDelta); return ok && b.Delta != "" })
			}, func(l protocol.Live) bool {
				return len(l.Messages) == 1 && len(l.Messages[0].Blocks) == 2 && l.Messages[0].Blocks[1].Name == "Read" && len(l.Messages[0].Blocks[1].Text) > 0
			}, cancel},
		{"in a tool", allow, []string{tool}, func(e *hosttest.Entry) { e.Until(hosttest.OfType(protocol.TypeToolExecutionUpdate)) },
			func(l protocol.Live) bool {
				return len(l.Tools) == 1 && l.Tools[0].OutputTail == "begun\n" && strings.Contains(string(l.Tools[0].Args), "echo begun")
			}, free},
		{"with a question open", hosttest.Setting{Attended: true}, []string{tool}, func(e *hosttest.Entry) { e.Asked(1) },
			func(l protocol.Live) bool { return len(l.Permissions) == 1 && len(l.Permissions[0].Suggestions) > 0 }, cancel},
		{"with messages waiting", allow, []string{tool}, func(e *hosttest.Entry) {
			e.Until(hosttest.OfType(protocol.TypeToolExecutionUpdate))
			hosttest.Call[*protocol.Sent](e.W.T, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text("follow")})
			hosttest.Call[*protocol.Sent](e.W.T, e.C, e.ID, &protocol.Steer{Content: hosttest.Text("steer")})
			e.Until(func(ev protocol.Event) bool {
				q, ok := ev.Body.(*protocol.QueueUpdate)
				return ok && q.Queue == protocol.QueueSteer
			})
		}, func(l protocol.Live) bool { return len(l.Queues) == 2 }, free},
		{"in a retry wait", hosttest.Setting{}, []string{`{"do":[{"error":{"status":503}}]}`}, func(e *hosttest.Entry) { e.Until(hosttest.OfType(protocol.TypeRetry)) },
			func(l protocol.Live) bool { return l.Retry != nil && l.Retry.Attempt == 1 }, cancel},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := hosttest.New(t, c.set, append(c.lines, `{"again":true,"do":[{"text":"ok"}]}`)...)
			w.Waits.Hook = func(ctx context.Context) { <-ctx.Done() }
			e := w.Begin(true)
			if len(c.lines) == 0 {
				e.Say("look")
			} else {
				e.Send("look")
			}
			c.until(e)
			late := w.Open(w.Connect(true), e.ID)
			for e.S.Live.ThroughSeq < late.S.Live.ThroughSeq {
				e.Next()
			}
			for late.S.Live.ThroughSeq < e.S.Live.ThroughSeq {
				late.Next()
			}
			same(t, late, e)
			if !c.check(late.S.Live) {
				t.Errorf("the state: %s", state(late))
			}
			e.Events, late.Events = nil, nil
			c.end(e)
			e.End()
			late.End()
			same(t, late, e)
		})
	}
}

func state(e *hosttest.Entry) string {
	data, _ := json.MarshalIndent(e.S.Live, "", " ")
	return string(data)
}

func same(t *testing.T, a, b *hosttest.Entry) {
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
	w := hosttest.New(t, hosttest.Setting{Window: 10_000_000}, lines...)
	e := w.Begin(false)
	gate := make(chan struct{}, 2)
	gate <- struct{}{} // the resync
	gate <- struct{}{} // the live state
	late := w.Open(w.ConnectThrough(false, func(c *host.Conn) client.Transport { return &slow{c, gate} }), e.ID)
	for range 6 {
		if end := e.Say("go"); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v %+v", end, end.Error)
		}
	}
	close(gate)
	fresh := 0
	for late.S.Live.ThroughSeq < e.S.Live.ThroughSeq {
		if late.Next().Fresh {
			fresh++
		}
	}
	if fresh == 0 {
		t.Error("it never fell behind")
	}
	same(t, late, e)
	var got []protocol.EventID
	for _, ev := range late.Events {
		if ev.ID != "" {
			got = append(got, ev.ID)
		}
	}
	log := w.Log(e.ID)
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
	w := hosttest.New(t, hosttest.Setting{Chunk: 0, Window: 10_000_000}, `{"do":[{"text":"many words, ","times":40000}]}`)
	e := w.Begin(false)
	e.Say("go")
	var kinds []string
	for _, ev := range e.Events {
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
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	c := w.Plug("c", false, protocol.GrantControl)
	id := c.NewSession()
	event := hosttest.Labelled(c, id)
	name, long := "the place", strings.Repeat("x", protocol.MaxLabel+1)
	c.Do(id, &protocol.SetLabel{TargetEventID: event, Label: &name})
	if _, err := c.Try(id, &protocol.SetLabel{TargetEventID: event, Label: &long}); err == nil || err.Code != protocol.CodeInvalidRequest {
		t.Errorf("a label of %d bytes: %v", len(long), err)
	}
	if got := w.Plug("joins", false, protocol.GrantView).Open(id, nil, 0).Live.Labels; len(got) != 1 || got[0] != (protocol.LiveLabel{TargetEventID: event, Label: name}) {
		t.Errorf("who joins is told %v", got)
	}
	w.Restart()
	if got := w.Plug("later", false, protocol.GrantView).Open(id, nil, 0).Live.Labels; len(got) != 1 || got[0] != (protocol.LiveLabel{TargetEventID: event, Label: name}) {
		t.Errorf("who joins behind a restart is told %v", got)
	}
}

// TestASessionRunsFromTheAnswerToItsMessageOn looks as a script does that sends a message
// and asks until the session is idle: a turn that has not told anything yet is one.
func TestASessionRunsFromTheAnswerToItsMessageOn(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{}, `{"again":true,"do":[{"hang":true}]}`)
	c := w.Plug("c", false, protocol.GrantControl)
	for range 20 {
		id := c.NewSession()
		c.Do(id, &protocol.SendMessage{Content: hosttest.Text("go")})
		status := c.Do("", &protocol.GetStatus{}).(*protocol.Status)
		for _, s := range status.Sessions {
			if s.SessionID == id && !s.Running {
				t.Fatal("the message was acknowledged, and the session is idle")
			}
		}
	}
}
