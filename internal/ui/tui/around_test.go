package tui_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"scorel/internal/ui/tui/tuitest"
)

const tellsMany = `{"if":{"user":"^many"},"do":[{"text":"the needle in it\n\n"},{"text":"paragraph of many\n\n","times":80},{"text":"the end of it"}],"again":true}`

func TestTheWholeScreenScrollsSearchesUnfoldsAndCopies(t *testing.T) {
	h := newHarness(t, tellsMany)
	h.Settings = []string{"set -s set-clipboard on"}
	s := h.Open()
	s.Say("many lines")
	s.WaitFor("the end of it")
	s.Say("/fullscreen")
	s.Wait("the whole screen", func(string) bool { return s.Format("#{alternate_on}") == "1" })
	s.WaitFor("the end of it")
	s.Keys("PageUp", "g")
	s.WaitFor("the needle in it")
	s.Gone("the end of it")
	s.Keys("G")
	s.WaitFor("the end of it")
	s.Keys("/")
	s.Type("needle")
	s.WaitFor("/needle", "1 of 1")
	s.Keys("Enter")
	s.WaitFor("the needle in it")
	s.Keys("y")
	s.WaitFor("copied")
	s.Keys("q")
	s.Type("typed again")
	s.WaitFor("❯ typed again")
	s.Keys("M-z")
	s.Wait("the scrollback", func(string) bool { return s.Format("#{alternate_on}") == "0" })
	s.WaitFor("❯ typed again")
}

func TestAnotherSizeKeepsAllThatIsSeen(t *testing.T) {
	h := newHarness(t, tellsMany, `{"if":{"user":"^slowly"},"do":[{"text":"streaming words here. ","times":300},{"text":"finished"}]}`)
	h.Write(h.Script, strings.Replace(h.Read(h.Script), `{"script":1}`, `{"script":1,"chunk":40,"delayMs":3}`, 1))
	s := h.Open()
	s.Say("slowly")
	s.WaitFor("streaming words")
	for _, size := range [][2]int{{60, 15}, {120, 40}, {45, 20}, {100, 30}} {
		s.Resize(size[0], size[1])
		s.Wait("lines of that width", func(screen string) bool {
			lines := strings.Split(screen, "\n")
			return slices.ContainsFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "───") && utf8.RuneCountInString(l) == size[0]
			})
		})
	}
	s.WaitFor("finished", "ask something") // a word: what is before it was broken at any of the widths
	s.Type("still here")
	s.WaitFor("❯ still here")
	if n := strings.Count(tuitest.Flat(s.All()), "❯slowly"); n != 1 {
		t.Errorf("the message stands there %d times", n)
	}
}

func TestAllFitsIntoSixtyByFifteen(t *testing.T) {
	h := newHarness(t, readsFile, editsFile, asks)
	h.Width, h.Height = 60, 15
	s := h.Open()
	s.Say("edit it")
	s.WaitFor(`println("hello")`, "❯ 1. Allow once", "4. No")
	s.Keys("Enter")
	s.WaitFor("Understood.")
	s.Say("ask me")
	s.WaitFor("Which colour?", "❯ 1. Red", "2. Blue")
	s.Keys("Enter")
	s.Wait("the answer", func(screen string) bool { return strings.Contains(screen, "ask something") })
	for _, page := range []string{"/help", "/config", "/resume", "/tree", "/model"} {
		s.Say(page)
		s.Gone("ask something")
		s.Keys("Escape")
		s.WaitFor("ask something")
	}
}

func TestAPlainScreenHasNoBoxesAndNoColours(t *testing.T) {
	h := newHarness(t, asks)
	h.WriteUser("tui.toml", "plain = true\n")
	h.Env = append(h.Env, "NO_COLOR=1")
	s := h.Open()
	s.Say("ask me")
	s.WaitFor("Which colour?", "Red")
	s.Wait("that it takes keys", func(screen string) bool { return strings.Contains(screen, "1. Red") && strings.Contains(screen, "esc") })
	s.Keys("Enter")
	s.WaitFor("Understood.")
	for _, r := range s.Screen() {
		if r >= 0x2500 && r <= 0x259f || r >= 0x2800 && r <= 0x28ff {
			t.Fatalf("%q is on a plain screen:\n%s", r, s.Screen())
		}
	}
	for _, colour := range []string{"38;", "48;", "[31m", "[32m", "[33m", "[34m", "[35m", "[36m"} {
		if strings.Contains(s.Styled(), colour) {
			t.Errorf("there is a colour (%s) with NO_COLOR:\n%q", colour, s.Styled())
		}
	}
}

func TestAThemeCountsAtOnceAndTheBackgroundIsFollowed(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("themes/mine.toml", "")
	s := h.Open()
	before := s.Styled()
	s.Say("/theme light")
	s.Wait("other colours", func(screen string) bool { return strings.Contains(screen, "ask something") && s.Styled() != before })
	light := s.Styled()
	s.Say("/theme dark")
	s.Wait("other colours", func(screen string) bool { return strings.Contains(screen, "ask something") && s.Styled() != light })
}

// statusRepeated has the command of the status line run every 6 s. A busy machine may need more than
// the 5 s after which a run is ended, and without it nothing would start another one.
const statusRepeated = "[statusLine]\nrefreshSeconds = 6\n"

func TestTheCommandOfTheStatusLineIsToldTheSessionAndDrawsIt(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("tui.toml", statusRepeated+"command = \"grep -o 'workspace\\\"' | tr -d '\\\"' | sed 's/^/drawn from /'\"\n")
	s := h.Open()
	s.WaitFor("drawn from workspace")
}

func TestTheTextIsEditedInAnotherProgram(t *testing.T) {
	h := newHarness(t)
	editor := filepath.Join(h.Home, "ed.sh")
	h.Write(editor, "#!/bin/sh\nsed -i 's/draft/finished text/' \"$1\"\n")
	h.Env = append(h.Env, "VISUAL=/bin/sh "+editor)
	s := h.Open()
	s.Type("a draft")
	s.WaitFor("❯ a draft")
	s.Keys("C-g")
	s.WaitFor("❯ a finished text")
	s.Keys("Enter")
	s.WaitFor("Understood.")
}

func TestKeysOfTheUsersFileCount(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("keys.toml", "\"global.showHelp\" = [\"f5\"]\n")
	s := h.Open()
	s.WaitFor("ask something")
	s.Keys("F5")
	s.WaitFor("Commands of this UI")
}

func TestTextsNameThePersonsOwnKeys(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"wait"},"do":[{"text":"begun"},{"hang":true}]}`)
	h.WriteUser("keys.toml", "\"editor.submit\" = \"f8\"\n\"editor.followUp\" = \"f9\"\n\"global.interrupt\" = \"f10\"\n")
	s := h.Open()
	s.WaitFor("ask something")
	s.Type("wait")
	s.Keys("F8")
	s.WaitFor("begun", "F8 sends after this turn; f9 sends it at the next step")
	s.Type("second")
	s.Keys("F8")
	s.WaitFor("after this turn: second")
	s.Keys("F10")
	s.WaitFor("press F10 again to quit", "1 queued. Press F8 to continue.", "F8 continues with queued messages")
}

func TestAllMistakesOfTheUsersFilesCanBeRead(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("keys.toml", "\"global.showHelpp\" = \"f5\"\n\"editor.submit\" = \"hyper-q\"\n\"nothing.at.all\" = \"x\"\n")
	h.WriteUser("tui.toml", "theme = \"none-such\"\nbell = 3\nmousee = true\n")
	s := h.Open()
	s.WaitFor("6 mistakes (2 in tui.toml, 3 in keys.toml, 1 in the theme); /doctor shows all.")
	s.Say("/doctor")
	for _, text := range []string{"bell must be", "mousee", "showHelpp", "editor.submit", "nothing.at.all", "none-such"} {
		s.Type(text)
		s.WaitFor(text, "! ui-")
		s.Keys("Enter")
		s.Gone("> " + text)
		s.WaitFor(text, "Correct this line")
		s.Keys("Escape")
		s.WaitFor("─ Doctor")
	}
}

func TestAnExtensionShowsItsWordsAndWidgetsAndAsks(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("extensions/shows.js", `export default function (pi) {
  pi.registerCommand("shows", { description: "Shows things", handler: async (args, ctx) => {
    ctx.ui.setStatus("k", "a word of it"); ctx.ui.setWidget("w", ["a widget of it"]);
    const picked = await ctx.ui.select("Pick one", ["first", "second"]);
    const text = await ctx.ui.input("Say a word", "a word");
    ctx.ui.notify("picked " + picked + ", said " + text, "info");
  } });
}
`)
	s := h.Open()
	s.Say("hello")
	waitAnswers(s, 1)
	s.Say("/shows")
	s.WaitFor("Pick one", "first", "❯", "esc")
	s.Until("❯ second", "Down") // it takes keys when nothing was typed for a while
	s.Keys("Enter")
	s.WaitFor("Say a word", "esc")
	s.Until("> b", "b")
	s.Type("ird")
	s.WaitFor("bird")
	s.Keys("Enter")
	s.WaitFor("picked second, said bird", "a word of it", "a widget of it")
}

func TestASecondTerminalJoinsARunningTurnAndBothShowItsEnd(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^slowly"},"do":[{"text":"begun. "},{"call":"Bash","input":{"command":"until [ -e go ]; do sleep 0.05; done"}}]}`,
		`{"if":{"result":"."},"do":[{"text":"It has ended."}]}`)
	s := h.Open("--permission-mode", "bypassPermissions")
	s.Say("slowly")
	s.WaitFor("begun.")
	other := h.Open()
	other.WaitFor("begun.", "running")
	other.Say("from the other side")
	s.WaitFor("after this turn: from the other side")
	h.Write(filepath.Join(h.Project, "go"), "")
	s.WaitFor("It has ended.", "❯ from the other side")
	other.WaitFor("It has ended.", "Understood.")
	other.Gone("no result")
	s.WaitFor("Understood.")
}

func TestTheCommandOfTheStatusLineIsToldTheModeOfVimAndTheAgeOfTheSession(t *testing.T) {
	h := newHarness(t)
	h.Write(filepath.Join(h.Home, "lib", "x"), "")
	h.WriteUser("config.toml", "[permissions]\nadditionalDirectories = [\"~/lib\"]\n")
	h.WriteUser("tui.toml", "vim = true\n"+statusRepeated+`command = '''sed 's/.*current_dir":"\([^"]*\).*added_dirs":\([^]]*\).*duration_ms":\([0-9]*\).*mode":"\([A-Z]*\).*/\4 in \1 after \3 ms with \2/' '''
`)
	s := h.Open()
	s.WaitFor("INSERT in " + h.Project + " after 0 ms")
	s.Keys("Escape")
	s.WaitFor("NORMAL in ")
	s.WaitFor(" ms with [\"" + h.Home + "/lib\"")
	s.Type("ihello")
	s.Keys("Enter")
	s.Wait("an age", func(screen string) bool {
		_, age, ok := strings.Cut(screen, "INSERT in "+h.Project+" after ")
		return ok && !strings.HasPrefix(age, "0 ms") && strings.Contains(age, " ms")
	})
}

func TestTheModelOfTheCommandLineIsNamedBeforeAnythingIsSent(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	screen := s.WaitFor("ask something", "script:"+h.Script)
	if strings.Contains(screen, "No model is set up") {
		t.Errorf("it says that there is no model:\n%s", screen)
	}
}

func TestANewSessionGoesOnWithTheModelThatIsSaid(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("config.toml", "[model]\nname = \"demo\"\n")
	s := h.Start()
	s.WaitFor("ask something", "demo")
	s.Say("/model script:" + h.Script)
	s.Wait("the model", func(screen string) bool { return strings.HasSuffix(strings.TrimRight(screen, " \n"), " script") })
	s.Say("hello")
	s.WaitFor("● Understood.")
	s.Say("/new")
	s.Wait("the model of the window", func(screen string) bool { return strings.HasSuffix(strings.TrimRight(screen, " \n"), " script") })
	s.Say("what else")
	s.Wait("its answer", func(screen string) bool {
		_, after, said := strings.Cut(screen, "❯ what else")
		return said && strings.Contains(after, "● Understood.")
	})
}
