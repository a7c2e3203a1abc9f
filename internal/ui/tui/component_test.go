package tui_test

import (
	"strings"
	"testing"

	"scorel/internal/ui/tui/tuitest"
)

// fruits is an extension with a list of its own, which hangs when somebody types an h.
const fruits = `export default function (pi) {
  pi.registerCommand("pick", { description: "Picks a fruit", handler: async (args, ctx) => {
    const list = ["apple", "banana", "cherry"];
    const got = await ctx.ui.custom((tui, theme, keys, done) => {
      let on = 0, typed = "";
      return {
        render: (width) => ["fruits at " + width, ...list.map((f, i) => (i === on ? "-> " : "   ") + f), "typed " + typed + "\x1b_pi:c\x07", "x".repeat(200)],
        handleInput(data) {
          if (data === "\x1b[A") on = Math.max(0, on - 1);
          else if (data === "\x1b[B") on = Math.min(2, on + 1);
          else if (data === "\r") done(list[on]);
          else if (data === "\x1b") typed += "<esc>";
          else if (data === "h") for (;;);
          else typed += data.replace("\x1b[200~", "[").replace("\x1b[201~", "]");
        },
      };
    });
    ctx.ui.notify("picked " + got, "info");
  } });
}
`

// takesKeys is what a component shows that takes keys.
const takesKeys = "Esc twice closes it"

func picking(t *testing.T) (*tuitest.Harness, *tuitest.UI) {
	h := newHarness(t)
	h.WriteUser("extensions/fruits.js", fruits)
	s := h.Open()
	s.Say("hello")
	waitAnswers(s, 1)
	s.Say("/pick")
	s.WaitFor("─ fruits ─", "-> apple", takesKeys)
	return h, s
}

func TestKeysGoToWhatAnExtensionDraws(t *testing.T) {
	_, s := picking(t)
	s.Keys("Down", "Down", "Up")
	s.WaitFor("-> banana")
	s.Type("né:q?/")
	s.WaitFor("typed né:q?/")
	s.Keys("Escape")
	s.WaitFor("<esc>")
	s.Paste("two\nlines")
	s.WaitFor("[two lines]")
	if screen := s.Screen(); strings.Contains(screen, strings.Repeat("x", 100)+"x") {
		t.Errorf("a line is wider than the screen:\n%s", screen)
	}
	s.Resize(61, 20)
	s.WaitFor("fruits at 61")
	if x, _, shown := s.Cursor(); !shown || x != len("typed né:q?/<esc>[two lines]")-1 {
		t.Errorf("the cursor is at %d, shown: %t", x, shown)
	}
	s.Keys("Enter")
	s.WaitFor("picked banana", "ask something")
}

func TestEscTwiceClosesWhatAHungExtensionDraws(t *testing.T) {
	_, s := picking(t)
	s.Type("h")
	s.WaitFor("fruits is not responding. Esc twice closes it")
	s.Keys("Escape", "Escape")
	s.Gone("-> apple")
	s.WaitFor("❯ ")
}

func TestAComponentMovesToTheTerminalThatTakesIt(t *testing.T) {
	h, s := picking(t)
	other := h.Open()
	other.WaitFor("─ fruits ─", "It is open in another client", "❯ 1. Open it here")
	other.Keys("Enter")
	other.WaitFor("-> apple", takesKeys)
	s.WaitFor("It is open in another client", "Close it")
	other.Keys("Down")
	other.WaitFor("-> banana")
	other.Keys("C-d") // a key of the component, as any other
	other.WaitFor("typed")
	s.WaitFor("❯ 1. Open it here")
	s.Keys("Enter")
	s.WaitFor("-> banana", takesKeys)
	s.Keys("Enter")
	s.WaitFor("picked banana")
	other.WaitFor("picked banana")
}

func TestHostileTextThatAnExtensionDrawsReachesNoTerminal(t *testing.T) {
	h := newHarness(t)
	e := quoted(evil)
	h.WriteUser("extensions/evil.js", `export default function (pi) {
  pi.registerCommand("evil", { description: "x", handler: async (args, ctx) => {
    await ctx.ui.custom((tui, theme, keys, done) => ({ render: () => [`+e+`, "\x1b[5;8;31mred\x1b[?25l\x1b[", "\x1bP", `+e+`], handleInput: () => done() }), { title: `+e+` });
    ctx.ui.notify("it is over", "info");
  } });
}
`)
	r := record(t, h, h.Project)
	r.Say("hello")
	waitAnswers(r.UI, 1)
	r.Say("/evil")
	r.WaitFor(takesKeys, "red")
	r.Keys("x")
	r.WaitFor("it is over")
	wantOnlyOurs(t, h, r)
}

// dice draws what its tool and its messages look like.
const dice = `export default function (pi) {
  const lines = (...all) => ({ render: (width) => all.map((l) => l + " at " + width) });
  pi.registerTool({ name: "dice", description: "x", kind: "read", parameters: { type: "object", properties: {} },
    execute: async () => "six", renderCall: () => lines("throws dice"), renderResult: (r, { expanded }) => lines(expanded ? "all of the six" : "a six") });
  pi.registerMessageRenderer("score", () => lines("the score is drawn"));
  pi.registerCommand("score", { description: "Shows the score", handler: () => pi.sendMessage({ customType: "score", content: "plain score" }) });
}
`

func TestCallsAndMessagesAreShownAsTheirExtensionDrawsThem(t *testing.T) {
	h := newHarness(t, `{"do":[{"call":"dice","id":"c1","input":{}}],"stop":"tool_use"}`)
	h.WriteUser("extensions/dice.js", dice)
	s := h.Open()
	s.Say("throw")
	s.WaitFor("throws dice at 98", "a six at 98", "Understood.")
	s.Say("/score")
	s.WaitFor("the score is drawn at 98")
	s.Keys("C-o")
	s.WaitFor("all of the six at")
}

// around draws a header and a footer, and another footer after a command.
const around = `export default function (pi) {
  let count = 0, evil = "\x1b]0;PWNED\x07\x1b[2J";
  pi.on("session_start", (event, ctx) => ctx.ui.setHeader(() => ({ render: (width) => [evil + "my header at " + width, ...Array.from({ length: 50 }, (_, i) => "row " + i)] })));
  pi.registerCommand("count", { description: "Counts", handler: (args, ctx) => {
    if (args === "off") return ctx.ui.setFooter(undefined);
    ctx.ui.setFooter((tui, theme, data) => ({ render: (width) => [theme.fg("accent", "count " + count + " at " + width)] }));
    setTimeout(() => { count++; ctx.ui.setFooter((tui) => { setTimeout(() => { count = 7; tui.requestRender(); }, 50); return { render: (width) => ["count " + count + " at " + width] }; }); }, 50);
  } });
}
`

func TestAHeaderAndAFooterOfAnExtensionAreDrawnAtTheWidthOfTheScreen(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("extensions/around.js", around)
	s := h.Open()
	s.Say("hello")
	s.WaitFor("Understood.", "my header at 100", "row 0")
	if screen := s.Screen(); strings.Contains(screen, "row 20") || strings.Contains(screen, "PWNED") {
		t.Errorf("the header takes the screen:\n%s", screen)
	}
	s.Say("/count")
	s.WaitFor("count 7 at 100")
	s.Resize(71, 24)
	s.WaitFor("count 7 at 71", "my header at 71")
	s.Say("/count off")
	s.Gone("count 7")
}
