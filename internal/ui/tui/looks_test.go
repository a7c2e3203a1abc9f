package tui_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/ui/tui/theme"
)

// looks is an extension that changes how a terminal UI looks.
const looks = `export default function (pi) {
  pi.on("session_start", (_event, ctx) => {
    ctx.ui.setWorkingIndicator({ frames: ["\x1b[31m@1@\x1b[0m", "@2@"], intervalMs: 60 });
    ctx.ui.setHiddenThinkingLabel("Pondering");
    ctx.ui.setTheme("nosuch");
  });
  pi.registerCommand("plain", { handler: async (_args, ctx) => {
    ctx.ui.setWorkingIndicator();
    ctx.ui.setHiddenThinkingLabel();
    ctx.ui.setTheme("light");
    ctx.ui.notify("the usual");
  } });
}
`

// borderOf returns how a theme begins the frame of the editor.
func borderOf(t *testing.T, name string) string {
	th, problems := theme.New(theme.Options{Name: name, Profile: colorprofile.ANSI256})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	before, _, _ := strings.Cut(th.BorderFocus.On("x"), "x")
	return before
}

func TestAnExtensionSetsTheIndicatorTheHeadingOfThoughtsAndTheTheme(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^think"},"do":[{"thinking":"one\ntwo"},{"text":"I thought."}]}`, `{"if":{"user":"^work"},"do":[{"wait":600000}]}`)
	h.WriteUser("extensions/looks.js", looks)
	s := h.Open()
	s.Say("think")
	s.WaitFor("Pondering (2 lines)", "I thought.", `an extension sets the theme "nosuch", but the themes are`)
	s.Say("work")
	s.WaitFor("@1@ Asking the model")
	s.WaitFor("@2@ Asking the model")
	s.Keys("Escape")
	s.Gone("@ Asking the model")
	dark, light := borderOf(t, "dark"), borderOf(t, "light")
	if styled := s.Styled(); !strings.Contains(styled, dark) || strings.Contains(styled, light) {
		t.Errorf("the theme is not dark:\n%q", styled)
	}
	s.Say("/plain")
	s.WaitFor("the usual")
	s.Wait("the light theme", func(string) bool { return strings.Contains(s.Styled(), light) })
	s.Say("work")
	screen := s.WaitFor("Asking the model")
	if strings.Contains(screen, "@ Asking") {
		t.Errorf("the indicator of the extension stays:\n%s", screen)
	}
	s.Keys("Escape")
}
