package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

func TestTheConversationLooksAsItShould(t *testing.T) {
	themes := map[string]theme.Options{
		"dark":  {Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor},
		"light": {Name: theme.Light, Profile: colorprofile.TrueColor},
		"ansi":  {Name: theme.Sixteen, Profile: colorprofile.ANSI},
		"plain": {Name: theme.Colourless, Plain: true, Profile: colorprofile.ASCII},
	}
	for name, o := range themes {
		th := themed(t, o)
		for _, width := range []int{40, 80, 120} {
			for _, open := range []bool{false, true} {
				tr := filled(day())
				form := "folded"
				if open {
					form = "open"
					tr.Do(keymap.ToggleTools)
					tr.Do(keymap.ToggleThinking)
				}
				if open && (name != "dark" || width == 120) {
					continue
				}
				lines := tr.Commit(th, width)
				golden.Lines(t, lines, width)
				golden.File(t, fmt.Sprintf("%s-%s-%d", name, form, width), visible(lines))
			}
		}
	}
}

// busy is a turn in all its states.
func busy(t *testing.T) *Transcript {
	t.Helper()
	now := time.Unix(1000, 0)
	tr := New(Config{Dir: "/work", Now: func() time.Time { return now }})
	l := &log{}
	tr.Append(l.user("go on"))
	tr.Append(l.answer(protocol.ToolUse("a", "Bash", json.RawMessage(`{"command":"make test"}`)), protocol.ToolUse("b", "ExecuteSkill", json.RawMessage(`{"name":"deploy","input":{}}`)),
		protocol.ToolUse("c", "Write", json.RawMessage(`{"path":"/work/a.txt","content":"x"}`)), protocol.ToolUse("d", "Read", json.RawMessage(`{"path":"/work/b.txt"}`))))
	step := func(op, message string, status protocol.ProcessStatus, percent *float64) protocol.ToolProcess {
		return protocol.ToolProcess{ToolCallID: "b", Event: protocol.ProcessEvent{OperationID: op, Message: message, Status: status, Percent: percent}}
	}
	live := protocol.Live{
		Messages: []protocol.LiveMessage{{EventID: "evt_live", Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{
			{Type: protocol.BlockThinking, Text: protocol.Growing("I think\nof it.")},
			{Type: protocol.BlockText, Text: protocol.Growing("The **first** part.\n\nThe second *par")},
			{Type: protocol.BlockToolUse, ID: "e", Name: "Edit", Text: protocol.Growing(`{"path":"/work/main.go","edits":[{"old_string":"` + strings.Repeat("x", 3000))}}}},
		Tools: []protocol.LiveTool{{ToolCallID: "a", ToolName: "Bash", OutputTail: "1\n2\n3\n4\n5\n6\n7\n"},
			{ToolCallID: "b", ToolName: "ExecuteSkill", Process: []protocol.ToolProcess{step("1", "fetched 12 files", protocol.ProcessCompleted, nil), step("2", "building", protocol.ProcessRunning, ptr(40.0))}}},
		Permissions: []protocol.PermissionRequest{{ToolCallID: "c", ToolName: "Write"}},
		Retry:       &protocol.Retry{Attempt: 1, MaxAttempts: 3, DelayMS: 2000, Error: "overloaded"},
	}
	tr.Live(&live)
	now = now.Add(12 * time.Second)
	return tr
}

func TestWhatRunsLooksAsItShould(t *testing.T) {
	for name, o := range map[string]theme.Options{
		"dark":  {Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor},
		"light": {Name: theme.Light, Profile: colorprofile.TrueColor},
		"plain": {Name: theme.Colourless, Plain: true, Profile: colorprofile.ASCII},
	} {
		for _, width := range []int{40, 80, 120} {
			tr, th := busy(t), themed(t, o)
			tr.Commit(th, width)
			golden.File(t, fmt.Sprintf("%s-running-%d", name, width), visible(tr.Region(th, width, 100)))
		}
	}
}
