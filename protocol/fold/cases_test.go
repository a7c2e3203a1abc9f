package fold

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"scorel/protocol"
)

var update = flag.Bool("update", false, "write the cases again")

// casesFile has what the twin in TypeScript is held equal by.
const casesFile = "../../web/src/client/testdata/fold.json"

// foldCase is a list of events, and the state after the last of them.
type foldCase struct {
	Name   string           `json:"name"`
	Events []protocol.Event `json:"events"`
	Live   protocol.Live    `json:"live"`
}

// sequence numbers bodies into events of a session, in the turn that runs.
func sequence(bodies ...protocol.Body) []protocol.Event {
	var list []protocol.Event
	var leaf protocol.EventID
	for i, b := range bodies {
		e := protocol.NewEvent(b)
		e.Seq, e.SessionID, e.ClientID, e.TS = protocol.Seq(i+1), "ses_00000000000000000000000001", protocol.HostClient, int64(i+1)
		switch b.EventSpec().Class {
		case protocol.Transient:
			e.TurnID = "trn_0000000000000001"
		case protocol.Conversation:
			e.ID, e.ParentID = caseID(i+1), leaf
			leaf = e.ID
		default:
			e.ID, e.ParentID = caseID(i+1), leaf
		}
		list = append(list, e)
	}
	return list
}

func caseID(n int) protocol.EventID { return protocol.EventID(fmt.Sprintf("evt_%016d", n)) }

// idleLoss is the case whose last event is of no turn.
const idleLoss = "something is lost while no turn runs"

func cases() []foldCase {
	text := func(s string) *string { return &s }
	user := func(s string) *protocol.MessageBody {
		return &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text(s)}}}
	}
	todos := func(status ...string) (list []protocol.Todo) {
		for i, s := range status {
			list = append(list, protocol.Todo{Content: fmt.Sprint("step ", i), Status: s})
		}
		return list
	}
	process := func(op, message string) *protocol.ToolProcess {
		return &protocol.ToolProcess{ToolCallID: "call_1", ToolName: "Bash", Event: protocol.ProcessEvent{Version: 1, OperationID: op, Message: message}}
	}
	item := protocol.QueueItem{ID: "itm_0000000000000001", Content: []protocol.Block{protocol.Text("later")}, ClientID: protocol.HostClient, TS: 1}
	taken := user("later")
	taken.Message.Meta = &protocol.MessageMeta{QueueItemID: item.ID}
	first := caseID(1)
	start := &protocol.ToolExecutionStart{EventID: "evt_000000000000000a", ToolCallID: "call_1", ToolName: "Bash", Args: json.RawMessage(`{"command":"ls"}`)}
	shell := &protocol.ToolExecutionStart{EventID: "evt_000000000000000b", ToolCallID: "evt_000000000000000b", ToolName: "Bash", Args: json.RawMessage(`{"command":"top"}`), Shell: &protocol.Shell{Command: "top"}}
	var tasks, states, labels, processes []protocol.Body
	processes = append(processes, start)
	for i := range 40 {
		state := protocol.TaskExited
		if i == 0 {
			state = protocol.TaskRunning
		}
		tasks = append(tasks, &protocol.TaskUpdate{Task: protocol.TaskInfo{TaskID: fmt.Sprint("task_", i), State: state}})
		processes = append(processes, process(fmt.Sprint("op_", i%20), fmt.Sprint("round ", i)))
	}
	processes = append(processes, process("op_3", strings.Repeat("ü", maxProcessBytes/4)), process("op_4", strings.Repeat("€", maxProcessBytes/4)))
	for i := range 70 {
		states = append(states, &protocol.UIState{Source: "gate", Key: fmt.Sprint(i), Place: "status", Lines: []string{"on"}})
	}
	states = append(states, &protocol.UIState{Source: "gate", Key: "3", Place: "status", Lines: []string{"changed"}}, &protocol.UIState{Source: "gate", Key: "5", Place: "status"})
	labels = append(labels, user("one"), user("two"),
		&protocol.Label{TargetEventID: first, Label: text("here")}, &protocol.Label{TargetEventID: caseID(2), Label: text("there")},
		&protocol.Label{TargetEventID: first, Label: text("now here")}, &protocol.Label{TargetEventID: caseID(2)},
		&protocol.Label{TargetEventID: caseID(2), Label: text(strings.Repeat("ä", protocol.MaxLabel/2))},
		&protocol.Label{TargetEventID: first, Label: text(strings.Repeat("ä", protocol.MaxLabel/2) + "a")})
	list := []struct {
		name   string
		bodies []protocol.Body
	}{
		{"a message comes in", []protocol.Body{&protocol.RuntimeStart{}, &protocol.TurnStart{TurnIndex: 2}, &protocol.Retry{Attempt: 1, MaxAttempts: 3, DelayMS: 5, Error: "busy"},
			&protocol.MessageStart{EventID: "evt_000000000000000a", ParentID: first, Role: protocol.RoleAssistant, Model: "m"},
			&protocol.ThinkingDelta{EventID: "evt_000000000000000a", Delta: "Hm"}, &protocol.TextDelta{EventID: "evt_000000000000000a", BlockIndex: 2, Delta: "a<b>\u2028"},
			&protocol.TextDelta{EventID: "evt_000000000000000a", BlockIndex: 2, Delta: "\U0001F4C4"}, &protocol.TextDelta{EventID: "evt_000000000000000a", BlockIndex: -1, Delta: "x"},
			&protocol.ToolCallDelta{EventID: "evt_000000000000000a", BlockIndex: 3, ToolCallID: "call_1", ToolName: "Bash", Delta: `{"a"`},
			&protocol.ToolCallDelta{EventID: "evt_000000000000000a", BlockIndex: 3, ToolCallID: "call_1", Delta: ":1}"}, &protocol.TextDelta{EventID: "evt_000000000000000c", Delta: "of none"}}},
		{"a command runs", []protocol.Body{&protocol.RuntimeStart{Command: "deploy"}}},
		{"a command ends, and a turn begins", []protocol.Body{&protocol.RuntimeStart{Command: "deploy"}, &protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalCompleted}, &protocol.RuntimeStart{}}},
		{"a message is taken back", []protocol.Body{&protocol.MessageStart{EventID: "evt_000000000000000a", Role: protocol.RoleAssistant}, &protocol.MessageCancelled{EventID: "evt_000000000000000a", Reason: protocol.CancelRetry}}},
		{"a run ends, and a command of a person goes on", []protocol.Body{&protocol.RuntimeStart{}, start, shell, &protocol.ToolExecutionUpdate{EventID: shell.EventID, Partial: "x"},
			&protocol.PermissionRequest{PermissionID: "prm_0000000000000001", ToolCallID: "call_1", ToolName: "Bash", Args: json.RawMessage(`{}`)},
			&protocol.RuntimeEnd{Reason: protocol.EndError, Terminal: protocol.TerminalModelError, Error: protocol.Errorf(protocol.CodeProviderError, "it failed")}}},
		{"the end of an output is kept from a whole character on", []protocol.Body{start, &protocol.ToolExecutionUpdate{EventID: start.EventID, Partial: strings.Repeat("€", outputTail/3) + "ab"},
			&protocol.ToolExecutionUpdate{EventID: start.EventID, Partial: strings.Repeat("\U0001F4C4", 500) + "c"}}},
		{"what is asked and answered", []protocol.Body{&protocol.PermissionRequest{PermissionID: "prm_0000000000000001", ToolName: "Bash", Args: json.RawMessage(`{}`)},
			&protocol.PermissionRequest{PermissionID: "prm_0000000000000002", ToolName: "Edit", Args: json.RawMessage(`{}`)}, &protocol.PermissionResolved{PermissionID: "prm_0000000000000001", Decision: "allow"},
			&protocol.UIRequest{UIID: "ui_1", Data: protocol.Dialog{Kind: protocol.DialogQuestion}}, &protocol.UIRequest{UIID: "ui_2", Data: protocol.Dialog{Kind: "confirm", Title: "a"}},
			&protocol.UIRequest{UIID: "ui_2", Data: protocol.Dialog{Kind: "confirm", Title: "b"}}, &protocol.UIResolved{UIID: "ui_1"}}},
		{"a queue, and a message that takes from it", []protocol.Body{&protocol.QueueUpdate{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{item}}, &protocol.QueueUpdate{Queue: protocol.QueueSteer, Paused: true}, taken}},
		{"todo lists", []protocol.Body{&protocol.Todos{Todos: todos("completed", "pending")}, user("x"),
			&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "call_1", ToolName: "TodoWrite", Content: []protocol.Block{protocol.Text("ok")}, Details: json.RawMessage(`{"todos":[{"content":"a","status":"in_progress"}]}`)}},
			&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "call_2", ToolName: "TodoWrite", IsError: true, Content: []protocol.Block{protocol.Text("no")}, Details: json.RawMessage(`{"todos":[]}`)}}}},
		{"a todo list of which all is done", []protocol.Body{&protocol.Todos{Todos: todos("pending")}, &protocol.Todos{Todos: todos("completed")}}},
		{"the leaf moves, usage adds up and the meta changes", []protocol.Body{user("one"),
			&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("two")}, Usage: &protocol.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5, CostUSD: 0.25}}},
			&protocol.Compact{Summary: "s", CompactedThrough: first, Usage: &protocol.Usage{InputTokens: 10, OutputTokens: 20}},
			&protocol.SessionInfo{Changes: protocol.MetaChanges{Name: text("a name"), Model: text("m")}, Mode: "plan"}, &protocol.SessionInfo{Changes: protocol.MetaChanges{Name: text("")}},
			&protocol.Rewind{TargetEventID: &first}, &protocol.Branch{LeafEventID: caseID(3)}}},
		{idleLoss, []protocol.Body{&protocol.RuntimeStart{}, &protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalCompleted},
			&protocol.RuntimeEnd{Reason: protocol.EndError, Terminal: protocol.TerminalStorageError, Error: protocol.Errorf(protocol.CodeStorageError, "lost")}}},
		{"the leaf moves before the first event", []protocol.Body{user("one"), &protocol.Rewind{}}},
		{"names of events", labels},
		{"background commands up to the bound", tasks},
		{"states of extensions up to the bound", states},
		{"operations of a call up to the bounds", processes},
	}
	var all []foldCase
	for _, c := range list {
		f := foldCase{Name: c.name, Events: sequence(c.bodies...)}
		if c.name == idleLoss {
			f.Events[len(f.Events)-1].TurnID = ""
		}
		for _, e := range f.Events {
			Apply(&f.Live, e)
		}
		all = append(all, f)
	}
	return all
}

func TestTheCasesOfTheTwinAreWhatIsFolded(t *testing.T) {
	var lines []string // one a case
	for _, c := range cases() {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	got := []byte("[\n" + strings.Join(lines, ",\n") + "\n]\n")
	if *update {
		if err := os.WriteFile(casesFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(casesFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what is folded (%v); write it with -update, and look at what changes", casesFile, err)
	}
}
