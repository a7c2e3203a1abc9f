package theme

import (
	"testing"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/engine/agent"
)

func TestEveryColorOfAnAgentHasAStyleInEveryTheme(t *testing.T) {
	for _, name := range Builtin() {
		for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI} {
			th, _ := New(Options{Name: name, Dark: true, Profile: profile})
			for _, color := range agent.Colors() {
				if th.Agent(color) == "" && name != Colourless {
					t.Errorf("%s has no %s", name, color)
				}
			}
			if th.Agent("") != "" || th.Agent("beige") != "" {
				t.Errorf("%s has a style for no color", name)
			}
		}
	}
}
