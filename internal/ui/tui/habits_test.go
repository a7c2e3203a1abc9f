package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"

	"scorel/internal/dev/harness"
)

func TestModelsThatCanBeUsedComeFirstAndOthersAreSearched(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("config.toml", "[models.mine]\ntype = \"custom\"\napi = \"openai-completions\"\nbaseUrl = \"http://127.0.0.1:9/v1\"\nid = \"small\"\ncontextWindow = 32000\n")
	s := h.Open()
	s.Say("/model")
	screen := s.WaitFor("Favorites", "mine", "more models of providers without a key")
	if strings.Contains(screen, "anthropic/") {
		t.Errorf("a model without a key is listed:\n%s", screen)
	}
	s.Type("opus")
	s.WaitFor("anthropic/claude-opus", "needs a key: /login")
}

func TestAModelNameThatFitsSeveralIsAskedFor(t *testing.T) {
	s := newHarness(t).Open()
	s.Say("/model claude-opus")
	s.WaitFor("several models fit claude-opus", "Models", "anthropic/claude-opus")
}

func TestTabTakesWhatIsSelectedInAList(t *testing.T) {
	s := newHarness(t).Open()
	s.Say("/thinking high")
	s.Say("/mode")
	s.WaitFor("Permission mode", "❯ default")
	s.Keys("Down", "Down")
	s.WaitFor("❯ plan")
	s.Keys("Tab")
	s.Gone("Permission mode")
	s.WaitFor(" plan  ")
}

func TestDoctorNamesItsChecks(t *testing.T) {
	s := newHarness(t).Open()
	s.Say("/doctor")
	s.WaitFor("Doctor", "home: ", "disk: ")
}

func TestCtrlOOpensTheConversationUnfoldedFromTheScrollback(t *testing.T) {
	h := newHarness(t, readsFile)
	s := h.Open()
	s.Say("edit it")
	s.WaitFor("Read main.go", "5 lines", "Understood.")
	s.Gone("esc to cancel")
	s.Keys("C-o")
	s.WaitFor("func main() {", `println("hi")`)
	s.Keys("Escape")
	s.Gone("func main() {")
	s.WaitFor("ask something")
}

func TestARewindDrawsTheKeptPathAnew(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	for i, text := range []string{"the first message", "the second message"} {
		s.Say(text)
		waitAnswers(s, i+1)
	}
	s.Gone("esc to cancel")
	s.Keys("Escape", "Escape")
	s.WaitFor("Tree", "you: the second message")
	s.Keys("Enter")
	s.WaitFor("1. Edit this message and send it again")
	s.Keys("Enter")
	s.WaitFor("Leave the rest without a summary")
	s.Keys("Enter")
	s.Gone("Leave the rest without a summary")
	s.Wait("the kept path and the message in the editor", func(screen string) bool {
		return strings.Contains(screen, "❯ the first message") && strings.Count(screen, "the second message") == 1 && strings.Count(screen, "Understood.") == 1
	})
}

func TestTheModeOfViKeysIsNamed(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("tui.toml", "vim = true\n")
	s := h.Open()
	s.WaitFor("INSERT")
	s.Keys("Escape")
	s.WaitFor("NORMAL")
}

func TestEscapeInAStepOfTheSetupGoesOneStepBack(t *testing.T) {
	h := newHarness(t)
	s := h.Start()
	s.WaitFor("How would you like to start?", "❯ Enter an API key")
	s.Keys("Enter")
	s.WaitFor("Which provider?", "❯ anthropic")
	s.Keys("Enter")
	s.WaitFor("anthropic API key")
	s.Keys("Escape")
	s.WaitFor("Which provider?", "❯ anthropic")
	s.Keys("Escape")
	s.WaitFor("How would you like to start?")
	s.Keys("Escape")
	s.Gone("How would you like to start?")
	s.Say("/login")
	s.WaitFor("Which provider?", "❯ anthropic")
	s.Keys("Escape") // still no model is set up
	s.WaitFor("How would you like to start?")
	s.Keys("Escape")
	s.Gone("How would you like to start?")
	s.Say("/login openai")
	s.WaitFor("openai API key")
	s.Keys("Enter") // without a key
	s.WaitFor("How would you like to start?")
}

func TestEscapeInLoginOnlyClosesItOnceAModelIsSetUp(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("/login")
	s.WaitFor("Which provider?", "❯ anthropic")
	s.Keys("Escape")
	s.Gone("Which provider?")
	s.Type("hello")
	s.WaitFor("hello")
	if strings.Contains(s.Screen(), "How would you like to start?") {
		t.Error("the start menu opens though a model is set up")
	}
}

func TestEscCancelsTheTurnThoughACommandOfThePersonHasEndedInIt(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^slowly"},"do":[{"text":"begun. "},{"wait":600000},{"text":"ended."}]}`)
	s := h.Open()
	s.Say("slowly")
	s.WaitFor("begun.")
	s.Say("!echo one; touch done")
	harness.Until(t, "the command", func() bool { _, err := os.Stat(filepath.Join(h.Project, "done")); return err == nil })
	s.Until("the command has ended", "Escape")
	s.Until("Cancelled", "Escape")
	s.Gone("esc to cancel")
}

func TestAMessageThatIsTakenBackIsAboveTheDraft(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("the first message")
	waitAnswers(s, 1)
	s.Gone("esc to cancel")
	s.Type("a draft of mine")
	s.Keys("C-x", "r")
	s.WaitFor("─ Tree", "you: the first message")
	s.Keys("Up")
	s.WaitFor("❯ ● you: the first message")
	s.Keys("Enter")
	s.WaitFor("1. Edit this message and send it again", "enter choose  esc back")
	s.Keys("Enter")
	s.WaitFor("Leave the rest without a summary")
	s.Keys("Enter")
	s.WaitFor("❯ the first message", "  a draft of mine", "what you had typed is below the message")
}

// TestASessionThatHasAModelIsNotOfferedOne opens a session again where nothing but it names a
// model, whose state comes after the configuration and the models.
func TestASessionThatHasAModelIsNotOfferedOne(t *testing.T) {
	h := newHarness(t)
	id := h.Store(protocol.Meta{Model: "script:" + h.Script}, "an old message")
	for _, args := range [][]string{{"-c"}, {"attach", string(id)}} {
		s := h.Start(args...)
		s.WaitFor("❯ an old message")
		if strings.Contains(s.Screen(), "How would you like to start?") {
			t.Errorf("%v: the start menu opens over a session that has a model:\n%s", args, s.Screen())
		}
		s.Say("hello")
		s.WaitFor("● Understood.")
		s.Say("/quit")
	}
	s := h.Start()
	s.WaitFor("How would you like to start?") // a new session has none
}
