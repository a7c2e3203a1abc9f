package extension

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"scorel/internal/extension/rpc"
)

func TestAnEventThatThereIsNotIsNamedWithWhatIsMeant(t *testing.T) {
	w := newWorld(t)
	w.js("wrong", script{Registration: rpc.Registration{Events: []string{"turn_strat", "turn_finish", "no such thing", "agent_end"}, Hooks: []string{"tool_calls"}}})
	w.js("raw", script{Registration: rpc.Registration{API: "scorel", Events: []string{"*", "runtime_end", "session_end", "turn_ende"}}})
	w.load()
	want := []string{`There is no hook "tool_calls"; perhaps tool_call is meant.`, `There is no event "turn_strat"; perhaps turn_start is meant.`, `There is no event "no such thing".`}
	if got := w.info("wrong"); !slices.Equal(got.Unsupported, want) || !slices.Equal(got.Hooks, []string{"agent_end", "turn_finish"}) {
		t.Errorf("%q, and it gets %q", got.Unsupported, got.Hooks)
	}
	if got := w.info("raw").Unsupported; len(got) != 1 || !strings.HasPrefix(got[0], `There is no event "turn_ende"; perhaps turn_end`) {
		t.Errorf("%q", got)
	}
}

// TestTheEventsOfTheExtensionAPIAreThoseOfItsPage: session_shutdown is raised in the process
// of an extension of JavaScript.
func TestTheEventsOfTheExtensionAPIAreThoseOfItsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/extensions/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "### Events")
	table, _, _ = strings.Cut(table, "Handlers run in load order.")
	var onPage []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(table, -1) {
		if m[1] != "session_shutdown" {
			onPage = append(onPage, m[1])
		}
	}
	here := append(slices.Clone(hookNames), eventNames...)
	here = slices.DeleteFunc(here, func(name string) bool { return name == "transformContext" || name == "convertToLlm" })
	slices.Sort(here)
	here = slices.Compact(here)
	slices.Sort(onPage)
	if !slices.Equal(onPage, here) {
		t.Errorf("the page names\n%q\nand there are\n%q", onPage, here)
	}
}

func TestAFailingHandlerIsNamedAsItsAPINamesIt(t *testing.T) {
	for api, want := range map[string]string{"": "tool_call", "hooks": "tool_call", "pi": "tool_call", "scorel": ""} {
		if got := (&member{registered: rpc.Registration{API: api}}).subscriber().Names["beforeToolCall"]; got != want {
			t.Errorf("in %q it is called %q", api, got)
		}
	}
}
