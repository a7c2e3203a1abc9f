package transcript

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

func TestTheCardOfAnAgentWithAColorNamesItInThatColor(t *testing.T) {
	l := &log{}
	l.call("Task", `{"agent":"tidy","description":"tidy up","prompt":"Tidy."}`, "All tidy.", map[string]any{"agent": map[string]any{"agent": "tidy", "color": "green", "steps": 4}}, false)
	l.call("Task", `{"agent":"explore","description":"look","prompt":"Look."}`, "All seen.", map[string]any{"agent": map[string]any{"agent": "explore", "steps": 2}}, false)
	th, problems := theme.New(theme.Options{Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got := strings.Join(filled(l).View(th, 80, 60), "\n")
	if want := string(th.Success) + "● tidy"; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%q", want, got)
	}
	if strings.Contains(got, "● explore") {
		t.Errorf("an agent without a color is marked:\n%s", got)
	}
}

func TestACardOfAnAgentThatRunsNamesItInItsColor(t *testing.T) {
	tr := New(Config{})
	tr.Live(&protocol.Live{Running: true, Tools: []protocol.LiveTool{{EventID: "evt_1", ToolCallID: "call_1", ToolName: "Task", Args: []byte(`{"agent":"tidy","description":"tidy up","prompt":"Tidy."}`), AgentColor: "green"}}})
	th, _ := theme.New(theme.Options{Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor})
	got := strings.Join(tr.View(th, 80, 20), "\n")
	if want := string(th.Success) + "● tidy"; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%q", want, got)
	}
}
