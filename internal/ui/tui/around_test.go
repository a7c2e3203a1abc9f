package tui_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// home writes a file of the user's Scorel folder.
func (w *world) ofUser(name, text string) { w.write(filepath.Join(w.home, ".scorel", name), text) }

const tellsMany = `{"if":{"user":"^many"},"do":[{"text":"the needle in it\n\n"},{"text":"paragraph of many\n\n","times":80},{"text":"the end of it"}],"again":true}`

func TestTheWholeScreenScrollsSearchesUnfoldsAndCopies(t *testing.T) {
	w := newWorld(t, tellsMany)
	w.tmux = []string{"set -s set-clipboard on"}
	s := w.open()
	s.say("many lines")
	s.WaitFor("the end of it")
	s.say("/fullscreen")
	s.Wait("the whole screen", func(string) bool { return s.Format("#{alternate_on}") == "1" })
	s.WaitFor("the end of it")
	s.Keys("PageUp", "g")
	s.WaitFor("the needle in it")
	s.gone("the end of it")
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
	w := newWorld(t, tellsMany, `{"if":{"user":"^slowly"},"do":[{"text":"streaming words here. ","times":300},{"text":"finished"}]}`)
	w.write(w.script, strings.Replace(readAll(t, w.script), `{"script":1}`, `{"script":1,"chunk":40,"delayMs":3}`, 1))
	s := w.open()
	s.say("slowly")
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
	s.WaitFor("finished", "ask something") // a word: what stands before it was broken at any of the widths
	s.Type("still here")
	s.WaitFor("❯ still here")
	if n := strings.Count(flat(s.All()), "❯slowly"); n != 1 {
		t.Errorf("the message stands there %d times", n)
	}
}

func TestAllFitsIntoSixtyByFifteen(t *testing.T) {
	w := newWorld(t, readsFile, editsFile, asks)
	w.width, w.height = 60, 15
	s := w.open()
	s.say("edit it")
	s.WaitFor(`+ "hello"`, "❯ 1. Allow once", "4. No")
	s.Keys("Enter")
	s.WaitFor("Understood.")
	s.say("ask me")
	s.WaitFor("Which colour?", "❯ 1. Red", "2. Blue")
	s.Keys("Enter")
	s.Wait("the answer", func(screen string) bool { return strings.Contains(screen, "ask something") })
	for _, page := range []string{"/help", "/config", "/resume", "/tree", "/model"} {
		s.say(page)
		s.gone("ask something")
		s.Keys("Escape")
		s.WaitFor("ask something")
	}
}

func TestAPlainScreenHasNoBoxesAndNoColours(t *testing.T) {
	w := newWorld(t, asks)
	w.ofUser("tui.toml", "plain = true\n")
	w.env = append(w.env, "NO_COLOR=1")
	s := w.open()
	s.say("ask me")
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
	w := newWorld(t)
	w.ofUser("themes/mine.toml", "")
	s := w.open()
	before := s.Styled()
	s.say("/theme light")
	s.Wait("other colours", func(screen string) bool { return strings.Contains(screen, "ask something") && s.Styled() != before })
	light := s.Styled()
	s.say("/theme dark")
	s.Wait("other colours", func(screen string) bool { return strings.Contains(screen, "ask something") && s.Styled() != light })
}

func TestTheCommandOfTheStatusLineIsToldTheSessionAndDrawsIt(t *testing.T) {
	w := newWorld(t)
	w.ofUser("tui.toml", "[statusLine]\ncommand = \"grep -o 'workspace\\\"' | tr -d '\\\"' | sed 's/^/drawn from /'\"\n")
	s := w.open()
	s.WaitFor("drawn from workspace")
}

func TestTheTextIsEditedInAnotherProgram(t *testing.T) {
	w := newWorld(t)
	editor := filepath.Join(w.home, "ed.sh")
	w.write(editor, "#!/bin/sh\nsed -i 's/draft/finished text/' \"$1\"\n")
	w.env = append(w.env, "VISUAL=/bin/sh "+editor)
	s := w.open()
	s.Type("a draft")
	s.WaitFor("❯ a draft")
	s.Keys("C-g")
	s.WaitFor("❯ a finished text")
	s.Keys("Enter")
	s.WaitFor("Understood.")
}

func TestKeysOfTheUsersFileCount(t *testing.T) {
	w := newWorld(t)
	w.ofUser("keys.toml", "\"global.showHelp\" = [\"f5\"]\n")
	s := w.open()
	s.WaitFor("ask something")
	s.Keys("F5")
	s.WaitFor("Commands of this UI")
}

func TestAnExtensionShowsItsWordsAndWidgetsAndAsks(t *testing.T) {
	w := newWorld(t)
	w.ofUser("extensions/shows.js", `export default function (pi) {
  pi.registerCommand("shows", { description: "Shows things", handler: async (args, ctx) => {
    ctx.ui.setStatus("k", "a word of it"); ctx.ui.setWidget("w", ["a widget of it"]);
    const picked = await ctx.ui.select("Pick one", ["first", "second"]);
    const text = await ctx.ui.input("Say a word", "a word");
    ctx.ui.notify("picked " + picked + ", said " + text, "info");
  } });
}
`)
	s := w.open()
	s.say("hello")
	s.WaitFor("Understood.")
	s.say("/shows")
	s.WaitFor("Pick one", "first", "❯", "esc")
	s.until("❯ second", "Down") // it takes keys when nothing was typed for a while
	s.Keys("Enter")
	s.WaitFor("Say a word", "esc")
	s.until("> b", "b")
	s.Type("ird")
	s.WaitFor("bird")
	s.Keys("Enter")
	s.WaitFor("picked second, said bird", "a word of it", "a widget of it")
}

func TestASecondTerminalJoinsARunningTurnAndBothShowItsEnd(t *testing.T) {
	w := newWorld(t, `{"if":{"user":"^slowly"},"do":[{"text":"begun. "},{"wait":2000},{"text":"It has ended."}]}`)
	s := w.open()
	s.say("slowly")
	s.WaitFor("begun.")
	other := w.open()
	other.WaitFor("begun.")
	other.say("from the other side")
	s.WaitFor("It has ended.", "❯ from the other side")
	other.WaitFor("It has ended.", "Understood.")
	s.WaitFor("Understood.")
}

func TestTheCommandOfTheStatusLineIsToldTheModeOfVimAndTheAgeOfTheSession(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.home, "lib", "x"), "")
	w.ofUser("config.toml", "[permissions]\nadditionalDirectories = [\"~/lib\"]\n")
	w.ofUser("tui.toml", `vim = true
[statusLine]
command = '''sed 's/.*current_dir":"\([^"]*\).*added_dirs":\([^]]*\).*duration_ms":\([0-9]*\).*mode":"\([A-Z]*\).*/\4 in \1 after \3 ms with \2/' '''
`)
	s := w.open()
	s.WaitFor("INSERT in " + w.project + " after 0 ms")
	s.Keys("Escape")
	s.WaitFor("NORMAL in ")
	s.WaitFor(" ms with [\"" + w.home + "/lib\"")
	s.Type("ihello")
	s.Keys("Enter")
	s.Wait("an age", func(screen string) bool {
		_, age, ok := strings.Cut(screen, "INSERT in "+w.project+" after ")
		return ok && !strings.HasPrefix(age, "0 ms") && strings.Contains(age, " ms")
	})
}

func TestTheModelOfTheCommandLineIsNamedBeforeAnythingIsSent(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	screen := s.WaitFor("ask something", "script:"+w.script)
	if strings.Contains(screen, "No model can be called") {
		t.Errorf("it says that there is no model:\n%s", screen)
	}
}

func TestANewSessionIsNotSaidToHaveTheModelOfTheOneBefore(t *testing.T) {
	w := newWorld(t)
	w.ofUser("config.toml", "[model]\nname = \"demo\"\n")
	s := w.start()
	s.WaitFor("ask something", "demo")
	s.say("/model script:" + w.script)
	s.Wait("the model", func(screen string) bool { return strings.HasSuffix(strings.TrimRight(screen, " \n"), " script") })
	s.say("hello")
	s.WaitFor("● Understood.")
	s.say("/new")
	s.Wait("the configured model", func(screen string) bool { return strings.HasSuffix(strings.TrimRight(screen, " \n"), " demo") })
}
