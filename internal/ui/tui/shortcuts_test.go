package tui_test

import (
	"strings"
	"testing"
)

// handy has shortcuts: one that counts, one of a key that the UI has, one that is no key and
// one that is a character.
const handy = `export default (pi) => {
  const say = (text) => ({ description: "says " + text, handler: (ctx) => ctx.ui.notify(text + " was pressed", "info") });
  pi.registerShortcut("alt+k", say("k"));
  pi.registerShortcut("f7", say("seven"));
  pi.registerShortcut("alt+p", say("p"));
  pi.registerShortcut("hyper-q", say("none"));
  pi.registerShortcut("x", say("x"));
};
`

func TestAShortcutOfAnExtensionRunsItsHandler(t *testing.T) {
	h := newHarness(t)
	h.Env = append(h.Env, patientDraw)
	h.WriteUser("extensions/handy.js", handy)
	s := h.Open()
	s.Type("ab")
	s.WaitFor("❯ ab")
	s.Keys("M-k") // before there is a session
	s.Type("c")
	s.WaitFor("k was pressed", "❯ abc", "3 shortcuts of extensions do not count; /doctor says why")
	s.Keys("F7")
	s.WaitFor("seven was pressed")
	s.Keys("M-j") // is a key of the UI
	s.WaitFor("Background tasks")
	s.Keys("Escape")
	s.WaitFor("❯ abc")
	s.Keys("M-u") // Esc and a letter, typed fast: no shortcut
	s.WaitFor("❯ abcu")
	s.Keys("F1")
	s.Type("says")
	s.WaitFor("alt+k", "says k", "Keys: extensions")
	s.WaitFor("/shortcut:alt+p", "says p") // which is no key of it
	if strings.Contains(s.Screen(), "/shortcut:alt+k") {
		t.Errorf("help shows a shortcut as a command:\n%s", s.Screen())
	}
	s.WaitFor("/shortcut:x") // which is typed
	s.Keys("Escape")         // the filter
	s.WaitFor("Commands of this UI")
	s.Keys("Escape")
	s.WaitFor("❯ abcu")
	s.Keys("C-c")
	s.Say("/doctor")
	s.WaitFor("ui-shortcuts: alt+p of the extension handy is the key of global.pickModel", "ui-shortcuts: hyper-q of the extension handy is no key",
		"ui-shortcuts: x of the extension handy is a character that is typed", "Type /shortcut:x to run it.")
}

func TestAKeyThatIsNoShortcutIsTypedInItsPlace(t *testing.T) {
	h := newHarness(t)
	h.Env = append(h.Env, patientDraw)
	s := h.Open()
	s.Type("a")
	s.Keys("M-k")
	s.Type("b")
	s.WaitFor("❯ akb")
	s.Keys("Enter")
	waitAnswers(s, 1)
}

func TestAShortcutIsNotTypedWhileExtensionsAreStarting(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("extensions/slow.js", `export default (pi) => {
  pi.on("session_start", () => new Promise((r) => setTimeout(r, 4000)));
  pi.registerShortcut("alt+k", { description: "k", handler: (ctx) => ctx.ui.notify("k was pressed", "info") });
};
`)
	s := h.Open()
	s.Type("a")
	s.Keys("M-k")
	s.Type("b")
	s.WaitFor("extensions are still starting; press alt+k again", "❯ ab")
	if strings.Contains(s.Screen(), "❯ akb") {
		t.Errorf("it was typed:\n%s", s.Screen())
	}
}
