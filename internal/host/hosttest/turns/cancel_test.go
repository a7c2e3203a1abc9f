package turns_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// place is a place in a turn where somebody cancels it.
type place struct {
	name  string
	lines []string // of the script, before the next turn's
	// hold is the request of the model from which on fsyncs are held; 0: none.
	hold int
	// pieces of 5 characters come, and then no more; 0: all.
	pieces int
	// asks: nothing is allowed, and an interactive client is attached.
	asks bool
	// reach takes the turn to the place.
	reach func(c *cancelled)
	// check looks at what is left.
	check func(c *cancelled)
}

// cancelled is a turn that is cancelled.
type cancelled struct {
	*hosttest.Entry
	gate     *disktest.Gate
	requests chan struct{} // has one for each request of the model
	asleep   chan struct{} // has one for each wait of the runtime
}

// fsync lets n fsyncs pass and returns when another waits.
func fsync(n int) func(c *cancelled) {
	return func(c *cancelled) {
		for range n {
			c.gate.AwaitWaiting(1)
			c.gate.Release(1)
		}
		c.gate.AwaitWaiting(1)
	}
}

func seen(typ protocol.EventType) func(c *cancelled) {
	return func(c *cancelled) { c.Until(hosttest.OfType(typ)) }
}

func seenInput(c *cancelled) {
	if hosttest.Whole(c.W.API) { // of the answer its text is shown, and nothing of the call
		c.Until(hosttest.OfType(protocol.TypeTextDelta))
		return
	}
	c.Until(func(e protocol.Event) bool { b, ok := e.Body.(*protocol.ToolCallDelta); return ok && b.Delta != "" })
}

// runs returns when the named tool has been told to run.
func runs(name string) func(c *cancelled) {
	return func(c *cancelled) {
		c.Until(func(e protocol.Event) bool {
			b, ok := e.Body.(*protocol.ToolExecutionStart)
			return ok && b.ToolName == name
		})
	}
}

func (c *cancelled) last() protocol.Message {
	m := c.Messages()
	return m[len(m)-1]
}

func (c *cancelled) exists(name string) bool {
	_, err := os.Stat(filepath.Join(c.W.Project, name))
	return err == nil
}

// newest says that the newest message is the partial text, or for "" the user's.
func newest(text string) func(c *cancelled) {
	return func(c *cancelled) {
		c.W.T.Helper()
		m := c.last()
		if text == "" && m.Role == protocol.RoleUser {
			return
		}
		if m.Role != protocol.RoleAssistant || m.PlainText() != text || !m.Partial || m.StopReason != protocol.StopCancelled || len(m.Calls()) > 0 {
			c.W.T.Errorf("stored: %+v, want the partial text %q", m, text)
		}
	}
}

// notRun says that the newest message is a result that says so, and that the file
// which the call would have made is not there.
func notRun(file string) func(c *cancelled) {
	return func(c *cancelled) {
		c.W.T.Helper()
		if m := c.last(); m.Role != protocol.RoleToolResult || !m.IsError || m.PlainText() != "Cancelled by user" {
			c.W.T.Errorf("stored: %+v, want a cancelled result", m)
		}
		if c.exists(file) {
			c.W.T.Errorf("%s was made", file)
		}
	}
}

// finished says that the newest message is a good result and the file as the call
// leaves it.
func finished(file, text string) func(c *cancelled) {
	return func(c *cancelled) {
		c.W.T.Helper()
		if m := c.last(); m.Role != protocol.RoleToolResult || m.IsError {
			c.W.T.Errorf("stored: %+v, want a good result", m)
		}
		if got := c.W.Read(file); got != text {
			c.W.T.Errorf("%s holds %q", file, got)
		}
	}
}

// allOrNothing says that a call that was about to run has finished, or has not
// begun, and that its result says which.
func allOrNothing(file, after, before string) func(c *cancelled) {
	return func(c *cancelled) {
		c.W.T.Helper()
		switch m := c.last(); {
		case m.Role != protocol.RoleToolResult:
			c.W.T.Errorf("stored: %+v", m)
		case !m.IsError:
			finished(file, after)(c)
		case m.PlainText() != "Cancelled by user":
			c.W.T.Errorf("stored: %+v", m)
		case before == "" && c.exists(file):
			c.W.T.Errorf("%s was made", file)
		case before != "" && c.W.Read(file) != before:
			c.W.T.Errorf("%s was changed", file)
		}
	}
}

func places() []place {
	const hang = `{"do":[{"hang":true}]}`
	called := func(tool, input string) string {
		return `{"do":[{"text":"Running."},{"call":"` + tool + `","id":"c1","input":` + input + `}]}`
	}
	touch := called("Bash", `{"command":"touch ran"}`)
	write := called("Write", `{"path":"ran","content":"new"}`)
	list := []place{
		{name: "before the first byte", lines: []string{hang}, reach: func(c *cancelled) { <-c.requests }, check: newest("")},
		{name: "in text", lines: []string{`{"do":[{"text":"Partial answer"},{"hang":true}]}`}, reach: seen(protocol.TypeTextDelta), check: newest("Partial answer")},
		{name: "in thinking", lines: []string{`{"do":[{"thinking":"hmm"},{"hang":true}]}`}, reach: seen(protocol.TypeThinkingDelta), check: newest("")},
		{name: "in half a call", pieces: 3, lines: []string{`{"do":[{"text":"Look:"},{"call":"Read","id":"c1","input":{"path":"a.txt","limit":1000}}]}`},
			reach: seenInput, check: newest("Look:")},
		{name: "between message and tool", hold: 1, lines: []string{touch}, reach: fsync(0), check: notRun("ran")},
		{name: "between message and a read", hold: 1, lines: []string{called("Read", `{"path":"a.txt"}`)}, reach: fsync(0), check: notRun("ran")},
		{name: "while the decision waits for its fsync", hold: 1, lines: []string{touch}, reach: fsync(1), check: notRun("ran")},
		{name: "while the snapshot waits for its fsync", hold: 1, lines: []string{write}, reach: fsync(1), check: notRun("ran")},
		{name: "before the request, while the result waits for its fsync", hold: 1, lines: []string{called("Read", `{"path":"a.txt"}`)}, reach: fsync(1),
			check: func(c *cancelled) {
				if n := c.W.Server.Count(); n != 1 {
					c.W.T.Errorf("%d requests were made", n)
				}
				finished("a.txt", "hello\n")(c)
			}},
		{name: "while a question is open", asks: true, lines: []string{touch}, reach: seen(protocol.TypePermissionRequest), check: func(c *cancelled) {
			notRun("ran")(c)
			r := c.Until(hosttest.OfType(protocol.TypePermissionResolved)).Body.(*protocol.PermissionResolved)
			if r.Decision != protocol.DecisionCancelled || len(c.S.Live.Permissions) != 0 {
				c.W.T.Errorf("the question: %+v", r)
			}
			hosttest.Refused(c.W.T, c.C, c.ID, &protocol.AnswerPermission{PermissionID: r.PermissionID, Choice: 0}, protocol.CodeConflict)
		}},
		{name: "in a retry wait", lines: []string{`{"do":[{"text":"Shown"},{"cut":true}]}`}, reach: func(c *cancelled) { <-c.asleep }, check: newest("Shown")},
		{name: "in Bash", lines: []string{called("Bash", `{"command":"echo begun; while :; do sleep 1; done"}`)}, reach: seen(protocol.TypeToolExecutionUpdate),
			check: func(c *cancelled) {
				if m := c.last(); !m.IsError || !strings.HasPrefix(m.PlainText(), "begun") || !strings.Contains(m.PlainText(), "Cancelled by user") {
					c.W.T.Errorf("stored: %+v", m)
				}
			}},
		{name: "in Write", lines: []string{write, hang}, reach: runs("Write"), check: allOrNothing("ran", "new", "")},
		{name: "in Edit", lines: []string{called("Read", `{"path":"a.txt"}`), called("Edit", `{"path":"a.txt","edits":[{"old_string":"hello","new_string":"bye"}]}`), hang},
			reach: runs("Edit"), check: allOrNothing("a.txt", "bye\n", "hello\n")},
	}
	for tool, input := range map[string]string{"Read": `{"path":"a.txt"}`, "Glob": `{"pattern":"*"}`, "Grep": `{"pattern":"hello"}`,
		"TodoWrite": `{"todos":[{"content":"x","status":"pending"}]}`} {
		list = append(list, place{name: "in " + tool, lines: []string{called(tool, input), hang}, reach: runs(tool), check: func(c *cancelled) {
			if m := c.last(); m.Role != protocol.RoleToolResult || m.ToolName != tool {
				c.W.T.Errorf("stored: %+v", m)
			}
		}})
	}
	return list
}

func TestCancelEndsATurnWhereverItIs(t *testing.T) {
	for _, api := range hosttest.APIs() {
		for _, p := range places() {
			t.Run(api+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				cancelAt(t, api, p)
			})
		}
	}
}

func cancelAt(t *testing.T, api string, p place) {
	c := &cancelled{gate: disktest.NewGate(disk.OS()), requests: make(chan struct{}, 100), asleep: make(chan struct{}, 100)}
	var count atomic.Int32
	s := hosttest.Setting{API: api, Fs: c.gate, Chunk: 1000, Attended: p.asks, Request: func([]byte) {
		if int(count.Add(1)) == p.hold {
			c.gate.HoldSyncs()
		}
		c.requests <- struct{}{}
	}}
	if p.pieces > 0 {
		s.Chunk, s.Pieces = 5, p.pieces
	}
	if !p.asks {
		s.Overrides = host.Overrides{Mode: "acceptEdits", Allow: []string{"Bash"}}
	}
	w := hosttest.New(t, s, append([]string{`{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`}, p.lines...)...)
	w.Waits.Hook = func(ctx context.Context) {
		c.asleep <- struct{}{}
		<-ctx.Done()
	}
	w.File("a.txt", "hello\n")
	c.Entry = w.Begin(p.asks)
	turn := c.Send("look")
	p.reach(c)
	for p.pieces > 0 && int(w.Pieces.Load()) <= p.pieces { // else it would be the next turn's answer that stops
		runtime.Gosched()
	}
	cancel := func() bool {
		return hosttest.Call[*protocol.Cancelled](t, c.C, c.ID, &protocol.Cancel{TurnID: turn}).Cancelled
	}
	if !cancel() {
		t.Errorf("the turn could not be cancelled\n%s", c.Trace())
	}
	c.gate.Release(-1)
	if end := c.End(); end.Terminal != protocol.TerminalCancelled || end.Reason != protocol.EndCancelled || end.Error != nil {
		t.Errorf("the end: %+v %+v\n%s", end, end.Error, c.Trace())
	}
	c.Announced()
	hosttest.Paired(t, c.Messages())
	p.check(c)

	// A repeated cancel does not touch the next turn.
	c.Events = nil
	sent := make(chan error, 1)
	go func() {
		_, err := client.Call[*protocol.Sent](context.Background(), c.C, c.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("go on")}})
		sent <- err
	}()
	again := cancel()
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if cancel() || again {
		t.Error("a turn that has ended could be cancelled")
	}
	if end := c.End(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("the next turn: %+v", end)
	}
	hosttest.Paired(t, c.Messages())
	w.Judged()
}

func TestCancelBeforeTheRunHasBegunEndsItCancelled(t *testing.T) {
	gate := disktest.NewGate(disk.OS())
	w := hosttest.New(t, hosttest.Setting{Fs: gate}, `{"do":[{"hang":true}]}`)
	e := w.Begin(false)
	for range 20 { // wherever the run is by then
		e.Events = nil
		turn := e.Send("look")
		hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
		if end := e.End(); end.Terminal != protocol.TerminalCancelled {
			t.Fatalf("the end: %+v %+v\n%s", end, end.Error, e.Trace())
		}
	}
}

func TestCancelIsAnsweredWhileEventsWaitForTheDisk(t *testing.T) {
	gate := disktest.NewGate(disk.OS())
	requests := make(chan struct{}, 10)
	w := hosttest.New(t, hosttest.Setting{Fs: gate, Chunk: 1, Pieces: 9000, Request: func([]byte) { requests <- struct{}{} }}, `{"do":[{"text":"x","times":9500}]}`)
	e := w.Begin(false)
	turn := e.Send("look")
	message := e.Until(hosttest.OfType(protocol.TypeMessage)).ID
	<-requests
	gate.HoldSyncs()
	label := "x"
	labelled := make(chan error, 1)
	go func() {
		_, err := client.Call[*protocol.Done](context.Background(), e.C, e.ID, &protocol.SetLabel{TargetEventID: message, Label: &label})
		labelled <- err
	}()
	gate.AwaitWaiting(1)
	for w.Pieces.Load() < 9000 { // by then the queue of what waits after the label is full, or soon is
		runtime.Gosched()
	}
	ctx, stop := context.WithTimeout(context.Background(), hosttest.Patience)
	defer stop()
	if r, err := client.Call[*protocol.Cancelled](ctx, e.C, e.ID, &protocol.Cancel{TurnID: turn}); err != nil || !r.Cancelled {
		t.Errorf("cancel: %+v %v", r, err)
	}
	gate.Release(-1)
	if err := <-labelled; err != nil {
		t.Error(err)
	}
	if end := e.End(); end.Terminal != protocol.TerminalCancelled {
		t.Errorf("the end: %+v", end)
	}
}

func TestCancelOfACompactionChangesNothing(t *testing.T) {
	requests := make(chan struct{}, 10)
	w := hosttest.New(t, hosttest.Setting{Window: 20_000, Overrides: hosttest.FewTools(), Request: func([]byte) { requests <- struct{}{} }},
		`{"if":{"user":"^one"},"do":[{"text":"first answer"}]}`, `{"if":{"user":"^two"},"do":[{"text":"second answer"}]}`,
		`{"if":{"kind":"compact"},"do":[{"text":"A summ"},{"hang":true}]}`, `{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`)
	e := w.Begin(false)
	e.Say("one " + strings.Repeat("word ", 2500))
	e.Say("two")
	before := e.Messages()
	for len(requests) > 0 {
		<-requests
	}
	e.Events = nil
	failed := make(chan error, 1)
	go func() {
		_, err := client.Call[*protocol.Compacted](context.Background(), e.C, e.ID, &protocol.CompactSession{})
		failed <- err
	}()
	turn := e.Until(hosttest.OfType(protocol.TypeRuntimeStart)).TurnID
	<-requests
	if !hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn}).Cancelled {
		t.Error("the compaction could not be cancelled")
	}
	var pe *protocol.Error
	if err := <-failed; !errors.As(err, &pe) {
		t.Errorf("the request: %v", err)
	}
	if end := e.End(); end.Terminal != protocol.TerminalCancelled {
		t.Errorf("the end: %+v", end)
	}
	if after := e.Messages(); len(after) != len(before) {
		t.Errorf("%d messages, before %d", len(after), len(before))
	}
	if end := e.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("the next turn: %+v\n%s", end, e.Trace())
	}
	w.Judged()
}
