package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnotherSessionIsFoundNamedShownAndDeleted(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("about apples")
	waitAnswers(s, 1)
	s.Say("/new")
	s.Say("about bananas")
	waitAnswers(s, 2)
	s.Say("/rename the yellow one")
	s.WaitFor(`renamed to "the yellow one"`)
	s.Say("/resume")
	s.WaitFor("Sessions · this project", "the yellow one", "about apples")
	s.Type("appl")
	s.WaitFor("❯ about apples", "> about apples") // found, and its beginning beside it
	s.Keys("C-r")
	s.WaitFor("New name: about apples")
	s.Keys("C-u")
	s.Type("the red one")
	s.WaitFor("New name: the red one")
	s.Keys("Enter")
	s.WaitFor("❯ the red one")
	s.Keys("Enter")
	s.Gone("Sessions · this project")
	s.WaitFor("❯ about apples", "the red one")
	s.Say("/resume")
	s.WaitFor("❯ the red one")
	s.Type("yellow")
	s.WaitFor("❯ the yellow one")
	s.Keys("C-d")
	s.WaitFor("Delete the yellow one with its log")
	s.Type("y")
	s.Gone("❯ the yellow one")
}

func TestTheTreeGoesBackNamesFiltersAndSummarisesTheBranchThatIsLeft(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^second"},"do":[{"text":"The second answer."}],"again":true}`)
	s := h.Open()
	s.Say("first of all")
	waitAnswers(s, 1)
	s.Say("second thought")
	s.Answered("The second answer.", 1)
	s.Say("/tree")
	s.WaitFor("Tree · ", "you: first of all", "you: second thought", "here")
	s.Keys("Up", "Up", "Up")
	s.WaitFor("❯ ● you: first of all")
	s.Keys("C-l")
	s.Type("the beginning")
	s.Keys("Enter")
	s.WaitFor("Tree · ", "the beginning")
	s.Keys("Down", "Enter")
	s.WaitFor("❯ 1. Continue from here")
	s.Keys("Enter")
	s.WaitFor("2. Summarise what is left behind")
	s.Keys("Down", "Enter")
	s.WaitFor("Summary of the branch that was left", "ask something")
	s.Say("third thing")
	s.Wait("its answer", func(screen string) bool {
		i := strings.LastIndex(screen, "third thing")
		return i >= 0 && strings.Contains(screen[i:], "Understood.")
	})
	s.Say("/tree")
	s.WaitFor("second thought", "third thing")
}

func TestExtensionKeepsThePersonInTheSession(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("extensions/stays.js", `export default function (pi) {
  let asked = 0;
  pi.on("session_before_switch", async (e, ctx) => {
    if (asked++ === 0) return { cancel: true, reason: "there is work left" };
    if (!(await ctx.ui.confirm("Leave the work?", ""))) return { cancel: true };
  });
}`)
	s := h.Open()
	s.Say("question one")
	waitAnswers(s, 1)
	s.Say("/new")
	s.WaitFor("there is work left", "question one")
	s.Say("question two")
	waitAnswers(s, 2)
	s.Say("/new")
	s.WaitFor("Leave the work?")
	s.Until("ask something", "Enter")
	s.Say("question three")
	s.Wait("its answer", func(screen string) bool {
		i := strings.LastIndex(screen, "question three")
		return i >= 0 && strings.Contains(screen[i:], "Understood.")
	})
	s.Say("/resume")
	s.Wait("two sessions", func(screen string) bool { return strings.Contains(screen, " 2 ─") })
}

func TestForkAndCloneLeaveTheOtherSessionAsItIs(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("question one")
	waitAnswers(s, 1)
	s.Say("question two")
	waitAnswers(s, 2)
	s.Say("/fork")
	listed := func(text string) { // and not only in the conversation above
		s.Wait(text+" in the list", func(screen string) bool {
			_, list, _ := strings.Cut(screen, "Fork before")
			return strings.Contains(list, text)
		})
	}
	listed("question one")
	s.Type("two")
	listed("❯ question two")
	s.Keys("Enter")
	s.WaitFor("this is a copy", "❯ question two")
	s.Keys("C-c")
	s.Wait("an empty editor", func(screen string) bool { return strings.Contains(screen, "ask something") })
	s.Say("/clone the copy of it")
	s.WaitFor("script  the copy of it") // in the header, where the model has its short name once it is known
	s.Say("/resume")
	s.WaitFor("Sessions · this project", "the copy of it")
	s.Wait("three sessions", func(screen string) bool { return strings.Contains(screen, " 3 ─") })
}

func TestANewSessionGoesOnWithTheModelOfTheOneThatIsLeft(t *testing.T) {
	h := newHarness(t)
	other := h.Script + "-other"
	h.Write(other, `{"script":1}`+"\n"+`{"do":[{"text":"The other one speaks."}],"again":true}`)
	s := h.Open()
	s.Say("question one")
	waitAnswers(s, 1)
	s.Say("/model script:" + other)
	s.WaitFor(" script-other")
	s.Say("/new")
	s.Wait("no session", func(screen string) bool {
		return strings.Contains(screen, "ask something") && strings.Contains(screen, " script-other")
	})
	s.Say("question two")
	s.Answered("The other one speaks.", 1)
}

func TestAForkBeforeTheFirstMessageIsLikeTheSessionThatItLeaves(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("question one")
	waitAnswers(s, 1)
	s.Say("/quit")
	s.WaitEnd()
	s = h.Start("-c") // this window names no model
	s.WaitFor("question one", "ask something")
	s.Say("/mode plan")
	s.WaitFor(" plan ")
	s.Say("/fork")
	s.Wait("question one in the list", func(screen string) bool {
		_, list, _ := strings.Cut(screen, "Fork before")
		return strings.Contains(list, "❯ question one")
	})
	s.Keys("Enter")
	s.Wait("the new session, with the message in its editor", func(screen string) bool {
		i := strings.LastIndex(screen, "Scorel ")
		return i > strings.Index(screen, "Understood.") && strings.Contains(screen[i:], "❯ question one") && strings.Contains(screen[i:], " plan  script")
	})
	s.Keys("Enter")
	waitAnswers(s, 2)
	s.WaitFor(" plan  script")
}

func TestCompactExportContextAndCostSayWhatTheyDid(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^long"},"do":[{"text":"a sentence of many that fill the window. ","times":3000}]}`)
	s := h.Open()
	s.Say("long")
	s.WaitFor("ask something", "a sentence of many")
	s.Say("/export out.md")
	s.WaitFor("written to ")
	if !strings.Contains(h.File("out.md"), "a sentence of many") {
		t.Errorf("%.200s", h.File("out.md"))
	}
	s.Say("/context")
	s.WaitFor("Context", "200,000 tokens", "free")
	s.Shut("Context")
	s.Say("/cost")
	s.WaitFor("Cost", "calls", "all")
	s.Shut("Cost")
	s.Say("/compact")
	s.Wait("the end of it", func(screen string) bool {
		return strings.Contains(screen, "Compacted: ") || strings.Contains(screen, "nothing to compact")
	})
}

func TestEveryPageOpensAndCloses(t *testing.T) {
	h := newHarness(t)
	h.Write(filepath.Join(h.Home, ".scorel", "skills", "juggle", "SKILL.md"), "---\nname: juggle\ndescription: Keeps things in the air\n---\nThrow and catch.\n")
	s := h.Open()
	s.Say("hello")
	waitAnswers(s, 1)
	for _, page := range []struct{ command, shows string }{
		{"/help", "Commands of this UI"}, {"/doctor", "Doctor"}, {"/extensions", "Extensions"}, {"/skills", "juggle"}, {"/hooks", "Hooks"},
		{"/memory", "Memory ("}, {"/config", "Configuration"}, {"/login", "Which provider?"}, {"/model", "Models"}, {"/thinking", "Thinking"}, {"/mode", "Permission mode"},
		{"/theme", "terminal's background"}, {"/agents", "Sub-agents"}, {"/tasks", "Background tasks"}, {"/tree", "Tree · "}, {"/resume", "Sessions · "},
	} {
		s.Say(page.command)
		if i := strings.Index(s.WaitFor(page.shows), "ask something"); i >= 0 {
			t.Errorf("%s is not over the editor", page.command)
		}
		s.Keys("Escape")
		s.WaitFor("ask something")
	}
}

func TestSettingsOfTheUIAndOfTheHostAreWritten(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("/config")
	s.WaitFor("Configuration", "this UI (tui.toml)", "the host (config.toml)")
	s.Type("vim")
	s.WaitFor("❯ vim")
	s.Keys("Enter")
	s.WaitFor("vim: ")
	s.Keys("Home", "Enter")
	s.WaitFor("ask something")
	h.Until("tui.toml", func() bool {
		text, _ := os.ReadFile(filepath.Join(h.Home, ".scorel", "tui.toml"))
		return strings.Contains(string(text), "vim")
	})
	s.Say("/config")
	s.WaitFor("Configuration")
	s.Type("memory.maxTokens")
	s.WaitFor("❯ memory.maxTokens")
	s.Keys("Enter")
	s.WaitFor("4000")
	s.Keys("BSpace", "BSpace", "BSpace", "BSpace")
	s.Type("3000")
	s.WaitFor("> 3000")
	s.Keys("Enter")
	s.WaitFor("memory.maxTokens is set")
	if text, _ := os.ReadFile(filepath.Join(h.Home, ".scorel", "config.toml")); !strings.Contains(string(text), "3000") {
		t.Errorf("config.toml holds %q", text)
	}
}
