package tui_test

import "testing"

// leads is an extension whose commands lead the terminal elsewhere.
const leads = `export default function (pi) {
  pi.registerCommand("handoff", { description: "Goes on in a new session", handler: async (goal, ctx) => {
    const asked = ctx.sessionManager.getBranch().filter((e) => e.type === "message" && e.message.role === "user").length;
    await ctx.newSession({ withSession: async (next) => {
      next.ui.setEditorText(goal + " after " + asked + " messages");
      next.ui.notify("Look at it and send it.");
    } });
  } });
  pi.registerCommand("again", { description: "Says it again in a new session", handler: async (text, ctx) => {
    await ctx.newSession({ withSession: (next) => next.sendUserMessage(text) });
  } });
  pi.registerCommand("bye", { description: "Ends", handler: async (_, ctx) => ctx.shutdown() });
}
`

func TestACommandOfAnExtensionLeadsTheTerminalThatItWasTypedIn(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("extensions/leads.js", leads)
	s := h.Open()
	s.Say("hello")
	s.Answered("Understood.", 1)
	s.Say("/handoff Write the tests")
	s.WaitFor("Look at it and send it.", "Write the tests after 1 messages")
	s.Keys("Enter")
	s.WaitFor("❯ Write the tests after 1 messages")
	s.Answered("Understood.", 2)
	s.Say("/handoff Read them")
	s.WaitFor("Read them after 1 messages") // the first message is in the session before
	s.Keys("C-u")
	s.Say("/again and once more")
	s.WaitFor("❯ and once more")
	s.Answered("Understood.", 3)
	s.Say("/handoff Count")
	s.WaitFor("Count after 1 messages")
	s.Keys("C-u")
	s.Say("/bye")
	if code := s.WaitEnd(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}
