package tui_test

import "testing"

// offers is an extension that puts texts into the editor.
const offers = `import { existsSync } from "node:fs";
export default function (pi) {
  pi.registerCommand("offer", { description: "Offers a text", handler: async (text, ctx) => ctx.ui.setEditorText("offered\n" + text) });
  pi.registerCommand("long", { description: "Offers a long text", handler: async (text, ctx) => ctx.ui.setEditorText("line\n".repeat(60) + "the last line") });
  pi.registerCommand("late", { description: "Offers a text later", handler: async (text, ctx) => {
    const timer = setInterval(() => {
      if (!existsSync(process.env.HOME + "/.scorel/go")) return;
      clearInterval(timer);
      ctx.ui.setEditorText("from the extension");
    }, 20);
  } });
}
`

func TestATextThatAnExtensionOffersStandsInTheEditorAndUndoBringsBackWhatWasTyped(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("extensions/offers.js", offers)
	s := h.Open()
	s.Say("/offer text of mine")
	s.WaitFor("❯ offered", "text of mine")
	s.Keys("Enter")
	s.Answered("Understood.", 1)
	s.Say("/late")
	s.Type("half a sentence")
	s.WaitFor("❯ half a sentence")
	h.WriteUser("go", "")
	s.WaitFor("❯ from the extension", "offers has replaced what you had typed")
	s.Keys("C-_")
	s.WaitFor("❯ half a sentence")
	s.Keys("C-u")
	s.Say("/long")
	s.WaitFor("the last line")
}
