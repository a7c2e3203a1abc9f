package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnotherSessionIsFoundNamedShownAndDeleted(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	s.say("about apples")
	s.WaitFor("Understood.")
	s.say("/new")
	s.say("about bananas")
	s.Wait("its answer", func(screen string) bool { return strings.Count(screen, "Understood.") == 2 })
	s.say("/rename the yellow one")
	s.WaitFor("the session is called the yellow one")
	s.say("/resume")
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
	s.gone("Sessions · this project")
	s.WaitFor("❯ about apples", "the red one")
	s.say("/resume")
	s.WaitFor("❯ the red one")
	s.Type("yellow")
	s.WaitFor("❯ the yellow one")
	s.Keys("C-d")
	s.WaitFor("Delete the yellow one with its log")
	s.Type("y")
	s.gone("❯ the yellow one")
}

func TestTheTreeGoesBackNamesFiltersAndSummarisesTheBranchThatIsLeft(t *testing.T) {
	w := newWorld(t, `{"if":{"user":"^second"},"do":[{"text":"The second answer."}],"again":true}`)
	s := w.open()
	s.say("first of all")
	s.WaitFor("Understood.")
	s.say("second thought")
	s.WaitFor("The second answer.")
	s.say("/tree")
	s.WaitFor("Tree · ", "you: first of all", "you: second thought", "here")
	s.Keys("Up", "Up", "Up")
	s.WaitFor("❯ ● you: first of all")
	s.Keys("C-l")
	s.Type("the beginning")
	s.Keys("Enter")
	s.WaitFor("Tree · ", "the beginning")
	s.Keys("Down", "Enter")
	s.WaitFor("❯ 1. Go on from here")
	s.Keys("Enter")
	s.WaitFor("2. Summarise what is left behind")
	s.Keys("Down", "Enter")
	s.WaitFor("Summary of the branch that was left", "ask something")
	s.say("third thing")
	s.Wait("its answer", func(screen string) bool {
		i := strings.LastIndex(screen, "third thing")
		return i >= 0 && strings.Contains(screen[i:], "Understood.")
	})
	s.say("/tree")
	s.WaitFor("second thought", "third thing")
}

func TestForkAndCloneLeaveTheOtherSessionAsItIs(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	s.say("question one")
	s.WaitFor("Understood.")
	s.say("question two")
	s.Wait("two answers", func(screen string) bool { return strings.Count(screen, "Understood.") == 2 })
	s.say("/fork")
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
	s.say("/clone the copy of it")
	s.WaitFor("script  the copy of it") // in the header, where the model has its short name once it is known
	s.say("/resume")
	s.WaitFor("Sessions · this project", "the copy of it")
	s.Wait("three sessions", func(screen string) bool { return strings.Contains(screen, " 3 ─") })
}

func TestCompactExportContextAndCostSayWhatTheyDid(t *testing.T) {
	w := newWorld(t, `{"if":{"user":"^long"},"do":[{"text":"a sentence of many that fill the window. ","times":3000}]}`)
	s := w.open()
	s.say("long")
	s.WaitFor("ask something", "a sentence of many")
	s.say("/export out.md")
	s.WaitFor("written to ")
	if !strings.Contains(w.file("out.md"), "a sentence of many") {
		t.Errorf("%.200s", w.file("out.md"))
	}
	s.say("/context")
	s.WaitFor("Context", "200,000 tokens", "free")
	s.shut("Context")
	s.say("/cost")
	s.WaitFor("Cost", "calls", "all")
	s.shut("Cost")
	s.say("/compact")
	s.Wait("the end of it", func(screen string) bool {
		return strings.Contains(screen, "compacted: ") || strings.Contains(screen, "nothing to compact")
	})
}

func TestEveryPageOpensAndCloses(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.home, ".scorel", "skills", "juggle", "SKILL.md"), "---\nname: juggle\ndescription: Keeps things in the air\n---\nThrow and catch.\n")
	s := w.open()
	s.say("hello")
	s.WaitFor("Understood.")
	for _, page := range []struct{ command, shows string }{
		{"/help", "Commands of this UI"}, {"/doctor", "Doctor"}, {"/extensions", "Extensions"}, {"/skills", "juggle"}, {"/hooks", "Hooks"},
		{"/memory", "Memory ("}, {"/config", "Configuration"}, {"/login", "Whose key?"}, {"/model", "Models"}, {"/thinking", "Thinking"}, {"/mode", "Permission mode"},
		{"/theme", "terminal's background"}, {"/agents", "Sub-agents"}, {"/tasks", "Background tasks"}, {"/tree", "Tree · "}, {"/resume", "Sessions · "},
	} {
		s.say(page.command)
		if i := strings.Index(s.WaitFor(page.shows), "ask something"); i >= 0 {
			t.Errorf("%s is not over the editor", page.command)
		}
		s.Keys("Escape")
		s.WaitFor("ask something")
	}
}

func TestSettingsOfTheUIAndOfTheHostAreWritten(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	s.say("/config")
	s.WaitFor("Configuration", "this UI (tui.toml)", "the host (config.toml)")
	s.Type("vim")
	s.WaitFor("❯ vim")
	s.Keys("Enter")
	s.WaitFor("vim: ")
	s.Keys("Home", "Enter")
	s.WaitFor("ask something")
	w.until("tui.toml", func() bool {
		text, _ := os.ReadFile(filepath.Join(w.home, ".scorel", "tui.toml"))
		return strings.Contains(string(text), "vim")
	})
	s.say("/config")
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
	if text, _ := os.ReadFile(filepath.Join(w.home, ".scorel", "config.toml")); !strings.Contains(string(text), "3000") {
		t.Errorf("config.toml holds %q", text)
	}
}
