package prelude

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// double is a host for one extension: it keeps the entries of a conversation, gives
// canned answers and records what it was asked.
type double struct {
	t       testing.TB
	maxCall int // of js.Config
	watch   *engine.Watch

	mu      sync.Mutex
	session rpc.Session
	state   rpc.State
	config  json.RawMessage
	entries []rpc.Entry
	models  []rpc.Model
	calls   []call
	notes   []call
	// complete answers models/complete, dialog ui/dialog, answer everything else that
	// the double does not know.
	complete func(rpc.Complete) (string, error)
	dialog   func(rpc.Dialog) any
	answer   map[string]func(json.RawMessage) (any, error)
	done     map[string]int // requests that were carried out, by method
	more     chan struct{}  // closed with each of them, and with each notification
	replaced bool           // the entries are others than they were
	child    *child
}

type call struct {
	method string
	params json.RawMessage
}

var demoModel = rpc.Model{ID: "demo-1", Name: "Demo", Provider: "demo", API: "script", Input: []string{"text"}, ContextWindow: 1000, MaxTokens: 100}

func newDouble(t testing.TB) *double {
	return &double{
		t:       t,
		session: rpc.Session{ID: "ses_1", Cwd: "/work/dir", ProjectRoot: "/work", File: "/home/u/.scorel/sessions/ses_1.jsonl", Mode: "tui"},
		state: rpc.State{
			Name: "a session", Model: &demoModel, ThinkingLevel: "low", HasUI: true, Idle: true, Trusted: true,
			ActiveTools: []string{"Bash", "Read"}, AllTools: []rpc.Tool{{Name: "Bash", Description: "Runs commands."}, {Name: "Read", Description: "Reads files."}},
			SystemPrompt: "Be good.", ContextTokens: 250,
		},
		done:   map[string]int{},
		more:   make(chan struct{}),
		config: json.RawMessage(`{}`),
		models: []rpc.Model{demoModel, {ID: "demo-2", Name: "Demo 2", Provider: "demo"}},
		answer: map[string]func(json.RawMessage) (any, error){},
	}
}

// say appends a message to the conversation.
func (d *double) say(m protocol.Message) {
	d.add(rpc.Entry{Type: "message", Message: &m})
}

func (d *double) user(text string) { d.say(protocol.UserText(text)) }

func (d *double) assistant(text string) {
	d.say(protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text(text)}, Provider: "demo", Model: "demo-1", StopReason: protocol.StopEndTurn})
}

// compaction appends a compaction that keeps the entries from index kept on.
func (d *double) compaction(summary string, kept int) {
	d.add(rpc.Entry{Type: "compaction", Summary: summary, FirstKeptEntryIndex: &kept, TokensBefore: 900})
}

func (d *double) add(e rpc.Entry) {
	d.mu.Lock()
	e.ID = protocol.EventID(fmt.Sprintf("evt_%d", len(d.entries)))
	if len(d.entries) > 0 {
		e.ParentID = d.entries[len(d.entries)-1].ID
	}
	e.Timestamp = 1700000000000 + int64(len(d.entries))
	d.entries = append(d.entries, e)
	d.state.LeafID = string(e.ID)
	d.mu.Unlock()
}

// defaultList is the list that a host builds when no handler changes it: the newest
// compaction's summary, and the messages from the first kept entry on.
func (d *double) defaultList() rpc.ContextData {
	from, summary := 0, ""
	for _, e := range d.entries {
		if e.Type == "compaction" {
			from, summary = *e.FirstKeptEntryIndex, e.Summary
		}
	}
	var list rpc.ContextData
	if summary != "" {
		list.List = append(list.List, rpc.ListPart{Message: marshal(protocol.UserText(summary))})
	}
	for i := from; i < len(d.entries); i++ {
		if d.entries[i].Message == nil {
			continue
		}
		if n := len(list.List); n > 0 && list.List[n-1].Run != nil && list.List[n-1].Run[1] == i-1 {
			list.List[n-1].Run[1] = i
			continue
		}
		list.List = append(list.List, rpc.ListPart{Run: &[2]int{i, i}})
	}
	return list
}

// messages resolves a list.
func (d *double) messages(list rpc.ContextData) []protocol.Message {
	var out []protocol.Message
	for _, part := range list.List {
		if part.Run == nil {
			var m protocol.Message
			if err := json.Unmarshal(part.Message, &m); err != nil {
				d.t.Fatalf("a message of the list is %s: %v", part.Message, err)
			}
			out = append(out, m)
			continue
		}
		for i := part.Run[0]; i <= part.Run[1]; i++ {
			if i >= len(d.entries) || d.entries[i].Message == nil {
				d.t.Fatalf("the list names entry %d, which holds no message", i)
			}
			out = append(out, *d.entries[i].Message)
		}
	}
	return out
}

// context asks the handlers for the list before a model call and returns its texts.
func (d *double) context(exts ...*extension) []string {
	list := d.defaultList()
	for _, e := range exts {
		var answer *rpc.ContextData
		e.hook("context", list, &answer)
		if answer != nil {
			list = *answer
		}
	}
	var texts []string
	for _, m := range d.messages(list) {
		texts = append(texts, strings.TrimPrefix(m.PlainText(), "[Summary]\n\n"))
	}
	return texts
}

// record notes a request of the extension, in the order in which they come.
func (d *double) record(method string, params json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, call{method, params})
}

// served notes that a request was carried out.
func (d *double) served(method string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done[method]++
	close(d.more)
	d.more = make(chan struct{})
}

// await waits until n requests of a method were carried out.
func (d *double) await(method string, n int) {
	d.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		d.mu.Lock()
		done, more := d.done[method], d.more
		d.mu.Unlock()
		if done >= n {
			return
		}
		select {
		case <-more:
		case <-limit:
			d.t.Fatalf("%s was carried out %d times, not %d", method, done, n)
		}
	}
}

// serve answers a request of the extension.
func (d *double) serve(method string, params json.RawMessage) (any, error) {
	d.mu.Lock()
	answer := d.answer[method]
	d.mu.Unlock()
	if answer != nil {
		return answer(params)
	}
	switch method {
	case rpc.CallModels:
		return map[string]any{"models": d.models}, nil
	case rpc.CallModelKey:
		return map[string]any{"apiKey": "key-of-the-user"}, nil
	case rpc.CallSetModel:
		return map[string]any{"ok": true}, nil
	case rpc.CallAppend:
		var p rpc.AppendEntry
		mustUnmarshal(d.t, params, &p)
		d.add(rpc.Entry{Type: p.Kind, Custom: true, Data: p.Data})
		return map[string]any{"id": d.entries[len(d.entries)-1].ID}, nil
	case rpc.CallComplete:
		var p rpc.Complete
		mustUnmarshal(d.t, params, &p)
		if d.complete == nil {
			return nil, fmt.Errorf("no model answers")
		}
		text, err := d.complete(p)
		if err != nil {
			return nil, err
		}
		return rpc.Completed{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text(text)}, Provider: "demo", Model: "demo-1", StopReason: protocol.StopEndTurn, Usage: &protocol.Usage{InputTokens: 3}}}, nil
	case rpc.CallDialog:
		var p rpc.Dialog
		mustUnmarshal(d.t, params, &p)
		if d.dialog == nil {
			return nil, nil
		}
		return map[string]any{"value": d.dialog(p)}, nil
	case rpc.CallNotify, rpc.CallUIState, rpc.CallRegister, rpc.CallSendMessage, rpc.CallSendUser, rpc.CallCancel,
		rpc.CallCompact, rpc.CallSetThinking, rpc.CallActiveTools, rpc.CallLabel, rpc.CallSessionName:
		return nil, nil
	}
	return nil, fmt.Errorf("the double has no answer to %s", method)
}

func (d *double) noted(method string, params json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, call{method, params})
	close(d.more)
	d.more = make(chan struct{})
}

// called returns the parameters of all calls of a method, without "ext".
func (d *double) called(method string) []string {
	return paramsOf(d.t, d, &d.calls, method)
}

// notified returns the parameters of all notifications of a method, without "ext".
func (d *double) notified(method string) []string {
	return paramsOf(d.t, d, &d.notes, method)
}

func paramsOf(t testing.TB, d *double, all *[]call, method string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, c := range *all {
		if c.method != method {
			continue
		}
		var fields map[string]any
		mustUnmarshal(t, c.params, &fields)
		delete(fields, "ext")
		out = append(out, string(marshal(fields)))
	}
	return out
}

func marshal(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func mustUnmarshal(t testing.TB, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got  %q\n want %q", what, got, want)
	}
}

func same(t *testing.T, what string, got any, want string) {
	t.Helper()
	data, ok := got.(string)
	if !ok {
		data = string(marshal(got))
	}
	var a, b any
	mustUnmarshal(t, []byte(data), &a)
	mustUnmarshal(t, []byte(want), &b)
	if x, y := marshal(a), marshal(b); string(x) != string(y) {
		t.Errorf("%s:\n got  %s\n want %s", what, x, y)
	}
}

// hook asks a hook, which must not fail.
func (e *extension) hook(name string, data, answer any) {
	e.d.t.Helper()
	got, err := e.ask(rpc.MethodHook, rpc.HookCall{Hook: name, Data: marshal(data)})
	if err != nil {
		e.d.t.Fatalf("%s: %v", name, err)
	}
	if answer != nil {
		mustUnmarshal(e.d.t, got, answer)
	}
}

// answer asks a hook and returns its answer as it stands on the wire.
func (e *extension) answer(name, data string) string {
	e.d.t.Helper()
	got, err := e.ask(rpc.MethodHook, rpc.HookCall{Hook: name, Data: json.RawMessage(data)})
	if err != nil {
		e.d.t.Fatalf("%s: %v", name, err)
	}
	return string(got)
}

// command runs a command and returns its status.
func (e *extension) command(line string) (string, error) {
	name, raw, _ := strings.Cut(line, " ")
	got, err := e.ask(rpc.MethodCommand, rpc.CommandRun{Command: name, Args: strings.Fields(raw), ArgsRaw: raw})
	if err != nil {
		return "", err
	}
	var done *rpc.CommandDone
	mustUnmarshal(e.d.t, got, &done)
	if done == nil {
		return "", nil
	}
	return done.Status, nil
}

func (e *extension) run(line string) string {
	e.d.t.Helper()
	status, err := e.command(line)
	if err != nil {
		e.d.t.Fatalf("/%s: %v", line, err)
	}
	return status
}

// tool runs a tool.
func (e *extension) tool(name, input string) (rpc.ToolResult, error) {
	got, err := e.ask(rpc.MethodTool, rpc.ToolRun{Tool: name, ToolCallID: "call_1", Input: json.RawMessage(input)})
	var result rpc.ToolResult
	if err == nil {
		mustUnmarshal(e.d.t, got, &result)
	}
	return result, err
}

func (e *extension) event(name, fields string) {
	e.d.t.Helper()
	e.tell(rpc.NoteEvent, rpc.EventNote{Type: name, Event: json.RawMessage(fields)})
}

func (e *extension) unload(reason string) {
	e.d.t.Helper()
	if _, err := e.ask(rpc.MethodUnload, rpc.Unload{Reason: reason}); err != nil {
		e.d.t.Fatalf("unload: %v", err)
	}
}
