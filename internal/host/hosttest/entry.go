package hosttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"scorel/client"
	"scorel/internal/host/lane/subagents"
	"scorel/protocol"
)

func (e *Entry) Command(name, args string) *protocol.CommandResult {
	e.W.T.Helper()
	return Call[*protocol.CommandResult](e.W.T, e.C, e.ID, &protocol.RunCommand{Name: name, Args: args})
}

// Said returns the texts of the user's messages, oldest first.
func (e *Entry) Said() (out []string) {
	e.W.T.Helper()
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleUser {
			out = append(out, m.PlainText())
		}
	}
	return out
}

// Answers returns the ids of the answers of the path, oldest first.
func (e *Entry) Answers() []protocol.EventID {
	e.W.T.Helper()
	page := Call[*protocol.Events](e.W.T, e.C, e.ID, &protocol.GetPath{Limit: 2000})
	var out []protocol.EventID
	for i := len(page.Events) - 1; i >= 0; i-- {
		if m, ok := page.Events[i].Message(); ok && m.Role == protocol.RoleAssistant {
			out = append(out, page.Events[i].ID)
		}
	}
	return out
}

// Compact compacts the conversation and takes updates to the end of that.
func (e *Entry) Compact() *protocol.Compacted {
	e.W.T.Helper()
	done := Call[*protocol.Compacted](e.W.T, e.C, e.ID, &protocol.CompactSession{})
	e.Events = nil
	e.End()
	return done
}

// Dialog waits for a dialog.
func (e *Entry) Dialog() protocol.UIRequest {
	e.W.T.Helper()
	return *e.Until(OfType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
}

// Draining ends the world's host in a goroutine and returns when its sessions take no
// turn any more; the channel has the result.
func (e *Entry) Draining(grace time.Duration) <-chan error {
	e.W.T.Helper()
	watcher := e.W.Caller()
	done := make(chan error, 1)
	go func() { done <- e.W.Host.Drain(context.Background(), grace, true) }() // ends with the host
	for told := false; !told; {
		f, err := watcher.Conn.Recv(context.Background())
		if err != nil {
			e.W.T.Fatalf("nobody is told: %v", err)
		}
		s, ok := f.(*protocol.HostStopping)
		if told = ok; ok && (s.GraceMS != grace.Milliseconds() || !s.Restarting) {
			e.W.T.Fatalf("clients are told %+v", s)
		}
	}
	for {
		_, err := client.Call[*protocol.Sent](context.Background(), e.C, e.ID, &protocol.SendMessage{Content: Text("x"), WhenBusy: "reject"})
		if err != nil && strings.Contains(err.Error(), "stopping") || len(done) > 0 {
			return done
		}
		runtime.Gosched()
	}
}

// Texts returns the texts of the results of the path, by call.
func (e *Entry) Texts() map[string]string {
	out := map[string]string{}
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleToolResult {
			out[m.ToolCallID] = m.PlainText()
		}
	}
	return out
}

// Offered returns the tools of the session's extensions.
func (e *Entry) Offered() []string {
	e.W.T.Helper()
	var tools []string
	for _, x := range Call[*protocol.ExtensionList](e.W.T, e.C, e.ID, &protocol.ListExtensions{}).Extensions {
		tools = append(tools, x.Tools...)
	}
	return tools
}

// Run runs a command while no turn runs: it is a run of its own.
func (e *Entry) Run(name, args string) (*protocol.CommandResult, error) {
	e.W.T.Helper()
	e.Events = nil
	r, err := client.Call[*protocol.CommandResult](e.W.T.Context(), e.C, e.ID, &protocol.RunCommand{Name: name, Args: args})
	e.Until(OfType(protocol.TypeRuntimeEnd))
	return r, err
}

func (e *Entry) Extension(id string) protocol.ExtensionInfo {
	e.W.T.Helper()
	list := Call[*protocol.ExtensionList](e.W.T, e.C, e.ID, &protocol.ListExtensions{})
	for _, x := range list.Extensions {
		if x.ID == id {
			return x
		}
	}
	e.W.T.Fatalf("there is no extension %s: %+v", id, list)
	return protocol.ExtensionInfo{}
}

// Results returns the texts of the results of the path, by call.
func (e *Entry) Results() map[string]protocol.Message {
	out := map[string]protocol.Message{}
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleToolResult {
			out[m.ToolCallID] = m
		}
	}
	return out
}

// Ask sends a message and waits for the end of its run, also when so much came at once
// that the entry had to look at the session again.
func (e *Entry) Ask(text string) {
	e.W.T.Helper()
	e.Events = nil
	e.Send(text)
	for {
		u := e.Next()
		for _, ev := range u.Events {
			if end, ok := ev.Body.(*protocol.RuntimeEnd); ok {
				if end.Terminal != protocol.TerminalCompleted {
					e.W.T.Fatalf("the run has ended: %+v", end)
				}
				return
			}
		}
		if u.Fresh && !e.S.Live.Running {
			return
		}
	}
}

// WholeOf returns what a block carries, from its payload where that has more.
func (e *Entry) WholeOf(b protocol.Block) string {
	e.W.T.Helper()
	if b.Blob == "" {
		return b.Text + b.Thinking + string(b.Input)
	}
	part := Call[*protocol.BlobPart](e.W.T, e.C, e.ID, &protocol.GetBlob{SHA256: b.Blob})
	var out bytes.Buffer
	if err := e.C.Fetch(e.W.T.Context(), e.ID, &protocol.BlobRef{SHA256: b.Blob, Size: part.Size}, &out); err != nil {
		e.W.T.Fatal(err)
	}
	return out.String()
}

func (e *Entry) Note(scope, text string) {
	e.W.T.Helper()
	Call[*protocol.Done](e.W.T, e.C, e.ID, &protocol.AddMemory{Scope: scope, Text: text})
}

// AsksNobody says that a call of Bash was refused by the mode dontAsk.
func (e *Entry) AsksNobody() bool {
	e.W.T.Helper()
	m := e.LastResult()
	return m.IsError && strings.Contains(m.PlainText(), "dontAsk")
}

// With sends a message with options and returns the end of its run.
func (e *Entry) With(text string, o protocol.TurnOptions) *protocol.RuntimeEnd {
	e.W.T.Helper()
	e.Events = nil
	Call[*protocol.Sent](e.W.T, e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text(text)}, WhenBusy: "reject", Options: &o})
	return e.End()
}

// LastResult returns the newest tool result of the path.
func (e *Entry) LastResult() protocol.Message {
	e.W.T.Helper()
	m := e.Messages()
	for i := len(m) - 1; i >= 0; i-- {
		if m[i].Role == protocol.RoleToolResult {
			return m[i]
		}
	}
	e.W.T.Fatal("there is no result")
	return protocol.Message{}
}

// UntilUser takes updates until a user message of that text is stored.
func (e *Entry) UntilUser(text string) {
	e.W.T.Helper()
	for !slices.Contains(e.Users(), text) {
		e.Next()
	}
}

func (e *Entry) FollowUp(texts ...string) {
	e.W.T.Helper()
	for _, s := range texts {
		Call[*protocol.Sent](e.W.T, e.C, e.ID, &protocol.FollowUp{Content: Text(s)})
	}
}

// Asked waits for the next question and returns it.
func (e *Entry) Asked(n int) protocol.PermissionRequest {
	e.W.T.Helper()
	var found *protocol.PermissionRequest
	e.Until(func(ev protocol.Event) bool {
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

// Plan waits for the question about a plan.
func (e *Entry) Plan(n int) protocol.UIRequest {
	e.W.T.Helper()
	var found *protocol.UIRequest
	e.Until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.UIRequest)
		if ok && b.Data.Kind == protocol.DialogPlan {
			n--
			found = b
		}
		return found != nil && n == 0
	})
	return *found
}

func (e *Entry) Mode(mode string) {
	e.W.T.Helper()
	Call[*protocol.Done](e.W.T, e.C, e.ID, &protocol.SetMode{Mode: mode})
}

// Processes returns the process events that came.
func (e *Entry) Processes() []*protocol.ToolProcess {
	var out []*protocol.ToolProcess
	for _, ev := range e.Events {
		if b, ok := ev.Body.(*protocol.ToolProcess); ok {
			out = append(out, b)
		}
	}
	return out
}

// Users returns the texts of the user messages of the path.
func (e *Entry) Users() []string {
	var out []string
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleUser {
			out = append(out, m.PlainText())
		}
	}
	return out
}

func (e *Entry) Queue(name protocol.QueueName) protocol.LiveQueue {
	for _, q := range e.S.Live.Queues {
		if q.Queue == name {
			return q
		}
	}
	return protocol.LiveQueue{Queue: name}
}

// Announced fails when an announced message did not come and was not taken back,
// or did both.
func (e *Entry) Announced() {
	e.W.T.Helper()
	open := map[protocol.EventID]bool{}
	for _, ev := range e.Events {
		switch b := ev.Body.(type) {
		case *protocol.MessageStart:
			open[b.EventID] = true
		case *protocol.MessageCancelled:
			if !open[b.EventID] {
				e.W.T.Errorf("%s was taken back and not announced, or twice", b.EventID)
			}
			delete(open, b.EventID)
		case *protocol.MessageBody:
			delete(open, ev.ID)
		case *protocol.RuntimeEnd:
			for id := range open {
				e.W.T.Errorf("the message %s was announced and never came\n%s", id, e.Trace())
			}
		}
	}
}

// Shell runs a command of a person and returns its message when that has come.
func (e *Entry) Shell(command string, inContext bool) (protocol.ShellResult, string) {
	e.W.T.Helper()
	started := Call[*protocol.ShellStarted](e.W.T, e.C, e.ID, &protocol.RunShell{Command: command, InContext: inContext})
	return e.ShellOf(started.EventID)
}

// ShellOf waits for the message of a command, which may be in the conversation already.
func (e *Entry) ShellOf(id protocol.EventID) (protocol.ShellResult, string) {
	e.W.T.Helper()
	of := func(ev protocol.Event) bool { return ev.ID == id }
	var ev protocol.Event
	page := Call[*protocol.Events](e.W.T, e.C, e.ID, &protocol.GetPath{Limit: 2000})
	if i := slices.IndexFunc(page.Events, of); i >= 0 {
		ev = page.Events[i]
	} else {
		ev = e.Until(of)
	}
	r, output, ok := protocol.ShellOf(ev.Body.(*protocol.CustomMessage))
	if !ok {
		e.W.T.Fatalf("no message of a command: %+v", ev)
	}
	return r, output
}

// Child waits for the n-th sub-agent that begins in a session, from 0, and returns its
// session.
func (e *Entry) Child(n int) protocol.SessionID {
	e.W.T.Helper()
	var seen []protocol.SessionID
	e.Until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.Custom)
		var run subagents.Run
		if ok && json.Unmarshal(b.Data, &run) == nil && run.State == subagents.Started {
			seen = append(seen, run.SessionID)
		}
		return len(seen) > n
	})
	return seen[n]
}

// Named waits for the name of the session.
func (e *Entry) Named() string {
	e.W.T.Helper()
	ev := e.Until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.SessionInfo)
		return ok && b.Changes.Name != nil
	})
	return *ev.Body.(*protocol.SessionInfo).Changes.Name
}

// Ping lets the host do something else.
func (e *Entry) Ping() {
	_, _ = client.Call[*protocol.Done](context.Background(), e.C, "", &protocol.Ping{})
}

// Entry is a client with one session open.
type Entry struct {
	W      *World
	C      *client.Client
	S      *client.Session
	ID     protocol.SessionID
	Events []protocol.Event // all that came
}

func (e *Entry) Next() client.Update {
	e.W.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	u, err := e.S.Next(ctx)
	if err != nil {
		e.W.T.Fatalf("next update: %v\n%s", err, e.Trace())
	}
	e.Events = append(e.Events, u.Events...)
	return u
}

// Until takes updates until an event fits that was not looked at before.
func (e *Entry) Until(fits func(protocol.Event) bool) protocol.Event {
	e.W.T.Helper()
	seen := 0
	for {
		for ; seen < len(e.Events); seen++ {
			if fits(e.Events[seen]) {
				return e.Events[seen]
			}
		}
		e.Next()
	}
}

func (e *Entry) Send(text string) protocol.TurnID {
	e.W.T.Helper()
	return Call[*protocol.Sent](e.W.T, e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text(text)}}).TurnID
}

// End takes updates to the end of the run.
func (e *Entry) End() *protocol.RuntimeEnd {
	e.W.T.Helper()
	return e.Until(OfType(protocol.TypeRuntimeEnd)).Body.(*protocol.RuntimeEnd)
}

// Say sends a message and returns the end of its run; only what it brings is kept.
func (e *Entry) Say(text string) *protocol.RuntimeEnd {
	e.W.T.Helper()
	e.Events = nil
	e.Send(text)
	return e.End()
}

// Trace is what came, one line an event.
func (e *Entry) Trace() string {
	var s strings.Builder
	for _, ev := range e.Events {
		line, _ := json.Marshal(ev)
		fmt.Fprintf(&s, "%.300s\n", line)
	}
	return s.String()
}

// Messages returns the messages of the active path as the log has them, oldest
// first.
func (e *Entry) Messages() []protocol.Message {
	e.W.T.Helper()
	page := Call[*protocol.Events](e.W.T, e.C, e.ID, &protocol.GetPath{Limit: 2000})
	var out []protocol.Message
	for i := len(page.Events) - 1; i >= 0; i-- {
		if m, ok := page.Events[i].Message(); ok {
			out = append(out, m)
		}
	}
	return out
}
