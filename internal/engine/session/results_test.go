package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestOnlyResultsThatSayAStateAreMarked(t *testing.T) {
	for message, want := range map[string]uint8{
		`{"role":"tool_result","toolCallId":"c","toolName":"TodoWrite","content":[]}`:                                                                                               flagTodos,
		`{"role":"tool_result","toolCallId":"c","toolName":"Bash","content":[],"details":{"exitCode":0,"dir":"/x"}}`:                                                                flagDir,
		`{"role":"tool_result","toolCallId":"c","toolName":"Bash","content":[],"details":{"exitCode":0}}`:                                                                           0,
		`{"role":"tool_result","toolCallId":"c","toolName":"Bash","content":[{"type":"text","text":"\"dir\":\"x"}]}`:                                                                0,
		`{"role":"tool_result","toolCallId":"c","toolName":"Read","content":[]}`:                                                                                                    0,
		`{"role":"tool_result","toolCallId":"c","toolName":"Bash`:                                                                                                                   0,
		`{"role":"user","content":"\"toolName\":\"TodoWrite\""}`:                                                                                                                    0,
		`{"role":"tool_result","toolCallId":"c","toolName":"Read","content":[{"type":"text","text":"` + strings.Repeat("x", resultHead) + `"}],"x":{"toolName":"TodoWrite"}}`:       0,
		`{"role":"tool_result","toolCallId":"c","toolName":"Bash","content":[{"type":"text","text":"` + strings.Repeat("x", 2*resultTail) + `"}],"details":{"dir":"/` + "y" + `"}}`: flagDir,
		``: 0,
	} {
		if got := stateOf([]byte(message)); got != want {
			t.Errorf("%.100s: %d", message, got)
		}
	}
}

func TestResultsAreGivenNewestFirstOfOneToolAndOneBranch(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	result := func(parent protocol.EventID, tool, details string) protocol.Event {
		ev := w.user(parent, "")
		ev.Body = &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", ToolName: tool,
			Content: []protocol.Block{protocol.Text("done")}, Details: json.RawMessage(details)}}
		return ev
	}
	var events []protocol.Event
	leaf := protocol.EventID("")
	for i := range 40 {
		ev := result(leaf, [...]string{"Bash", "TodoWrite", "Read", "Bash"}[i%4], fmt.Sprintf(`{"dir":"/%d","todos":[{"content":"%d","status":"pending"}]}`, i, i))
		if i%4 == 3 {
			ev = result(leaf, "Bash", `{"exitCode":1}`)
		}
		leaf = ev.ID
		events = append(events, ev)
	}
	other := result(events[10].ID, "Bash", `{"dir":"/elsewhere"}`)
	if err := log.Commit(t.Context(), append(events, other)); err != nil {
		t.Fatal(err)
	}
	find := func(leaf protocol.EventID, tells protocol.ToolState) (at []int) {
		for ev, err := range log.Index().Results(t.Context(), leaf, tells) {
			if err != nil {
				t.Fatal(err)
			}
			at = append(at, slices.IndexFunc(events, func(e protocol.Event) bool { return e.ID == ev.ID }))
		}
		return at
	}
	for _, c := range []struct {
		leaf  protocol.EventID
		tells protocol.ToolState
		want  []int
	}{
		{leaf, protocol.TellsTodos, []int{37, 33, 29, 25, 21, 17, 13, 9, 5, 1}},
		{leaf, protocol.TellsDir, []int{36, 32, 28, 24, 20, 16, 12, 8, 4, 0}},
		{other.ID, protocol.TellsDir, []int{-1, 8, 4, 0}},
		{leaf, protocol.TellsFiles, nil},
		{"", protocol.TellsDir, nil},
	} {
		if got := find(c.leaf, c.tells); !slices.Equal(got, c.want) {
			t.Errorf("%s below %q: %v", c.tells, c.leaf, got)
		}
	}
	if todos, err := log.Index().Todos(t.Context(), leaf); err != nil || len(todos) != 1 || todos[0].Content != "37" {
		t.Errorf("%v, %v", todos, err)
	}
	for range log.Index().Results(t.Context(), leaf, "Bash") {
		break // ends the walk
	}
}
