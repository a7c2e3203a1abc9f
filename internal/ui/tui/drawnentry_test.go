package tui_test

import (
	"strings"
	"testing"
)

const entryCards = `export default (pi) => {
  pi.registerEntryRenderer("card", (entry, { expanded }, theme) => ({ render: (width) => [theme.fg("accent", "[card]") + " " + entry.data.text + " \x1b]0;PWNED\x07done"] }));
  pi.registerCommand("card", { description: "x", handler: async (args) => { await pi.appendEntry("card", { text: args, timestamp: 1 }); } });
  pi.registerCommand("state", { description: "x", handler: async () => { await pi.appendEntry("unseen", { text: "secret" }); } });
};
`

func TestEntriesThatAnExtensionDrawsAreInTheConversation(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("extensions/cards.js", entryCards)
	s := h.Open()
	s.Say("hello")
	waitAnswers(s, 1)
	s.Say("/state")
	s.Say("/card all is well")
	s.WaitFor("[card] all is well done")
	s.Say("go on")
	screen := s.Answered("Understood", 2)
	if strings.Contains(screen, "unseen") || strings.Index(screen, "[card]") > strings.Index(screen, "go on") {
		t.Errorf("what nobody draws is shown, or the card is in another place:\n%s", screen)
	}
}
