package display

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestWhatATurnDoesIsSaidInALine(t *testing.T) {
	text := []protocol.LiveMessage{{Blocks: []protocol.LiveBlock{{Type: protocol.BlockThinking, Text: []byte("hm")}, {Type: protocol.BlockText, Text: []byte("so")}}}}
	bash := protocol.LiveTool{ToolName: "Bash", Args: json.RawMessage(`{"command":"make\ttest"}`)}
	for _, c := range []struct {
		live protocol.Live
		want string
	}{
		{protocol.Live{Tools: []protocol.LiveTool{bash}}, ""},
		{protocol.Live{Running: true}, "thinks"},
		{protocol.Live{Running: true, Messages: text[:1]}, "writes an answer"},
		{protocol.Live{Running: true, Tools: []protocol.LiveTool{bash}}, "Bash make test"},
		{protocol.Live{Running: true, Tools: []protocol.LiveTool{bash, bash}}, "Bash make test (and 1 more)"},
		{protocol.Live{Running: true, Tools: []protocol.LiveTool{{Shell: &protocol.Shell{Command: "ls"}}}}, "! ls"},
		{protocol.Live{Running: true, Retry: &protocol.Retry{DelayMS: 2000, Error: "busy"}}, "tries again in 2s: busy"},
	} {
		if got := Doing(&c.live); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestWhatIsAskedIsSaidInALine(t *testing.T) {
	ui := func(d protocol.Dialog) protocol.Live { return protocol.Live{UI: []protocol.UIRequest{{Data: d}}} }
	for _, c := range []struct {
		live protocol.Live
		want string
	}{
		{protocol.Live{}, ""},
		{protocol.Live{Permissions: []protocol.PermissionRequest{{ToolName: "Bash", Args: json.RawMessage(`{"command":"rm \u001b]0;x"}`)}}}, "Allow Bash rm [U+001B]]0;x"},
		{ui(protocol.Dialog{Kind: protocol.DialogPlan, Text: "1. Look."}), "Carry out the plan?"},
		{ui(protocol.Dialog{Kind: protocol.DialogQuestion, Questions: []protocol.Question{{Question: "Which one?"}}}), "Which one?"},
		{ui(protocol.Dialog{Kind: protocol.DialogConfirm, Title: "Deploy?", Message: "now"}), "Deploy?"},
		{ui(protocol.Dialog{Kind: protocol.DialogConfirm, Message: strings.Repeat("long ", 100)}), strings.Repeat("long ", 24)[:maxDoing-1] + "…"},
	} {
		if got := Asked(&c.live); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
