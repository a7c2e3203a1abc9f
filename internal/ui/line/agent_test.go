package line

import (
	"strings"
	"testing"

	"scorel/internal/engine/agent"
	"scorel/protocol"
)

// styledScreen notes lines with their styles.
type styledScreen struct {
	pipeScreen
	lines []string
}

func (s *styledScreen) line(st style, text string) { s.lines = append(s.lines, string(st)+text) }

func TestTheLinesOfAnAgentWithAColorNameItInThatColor(t *testing.T) {
	for _, color := range append(agent.Colors(), "", "beige") {
		s := &styledScreen{}
		newView(s).agentName(protocol.Message{Role: protocol.RoleToolResult, Details: []byte(`{"agent":{"agent":"tidy","color":"` + color + `"}}`)})
		got := strings.Join(s.lines, "\n")
		switch {
		case color == "" || color == "beige":
			if got != "" {
				t.Errorf("%q: %q", color, got)
			}
		case !strings.HasPrefix(got, "\x1b[") || !strings.HasSuffix(got, "m  ● tidy"):
			t.Errorf("%q: %q", color, got)
		}
	}
}
