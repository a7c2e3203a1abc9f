package tui_test

import (
	"os"
	"path/filepath"
	"scorel/internal/ui/tui/tuitest"
	"strconv"
	"strings"
	"testing"
)

// Answers that several tests use.
const (
	hangs     = `{"if":{"user":"^hang"},"do":[{"text":"at work on it"},{"hang":true}],"again":true}`
	readsFile = `{"if":{"user":"^edit"},"do":[{"call":"Read","input":{"path":"main.go"}}],"again":true}`
	editsFile = `{"if":{"result":"package main"},"do":[{"call":"Edit","input":{"path":"main.go","edits":[{"old_string":"\"hi\"","new_string":"\"hello\""}]}}],"again":true}`
	asks      = `{"if":{"user":"^ask"},"do":[{"call":"AskUser","input":{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red"},{"label":"Blue"}]}]}}],"again":true}`
)

func TestAMessageIsAnsweredAndStandsInTheScrollback(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^many"},"do":[{"text":"paragraph of many\n\n","times":80},{"text":"the end"}]}`)
	s := h.Open()
	s.Say("many lines, please")
	s.WaitFor("the end", "ask something")
	all := s.All()
	if n := strings.Count(all, "paragraph of many"); n != 80 {
		t.Errorf("%d of 80 paragraphs are in the scrollback", n)
	}
	if n := strings.Count(all, "❯ many lines, please"); n != 1 {
		t.Errorf("the message stands there %d times:\n%s", n, all)
	}
	s.Keys("C-d")
	if code := s.WaitEnd(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if all := s.All(); !strings.Contains(all, "Resume with: scorel -c") {
		t.Errorf("it does not say how to come back:\n%s", all)
	}
}

func TestWhatIsSentDuringATurnWaitsAndCanBeEditedMovedAndDeleted(t *testing.T) {
	h := newHarness(t, hangs)
	s := h.Open()
	s.Say("hang")
	s.WaitFor("at work on it")
	s.Say("first to wait")
	s.WaitFor("after this turn: first to wait")
	s.Say("second to wait")
	s.WaitFor("after this turn: second to wait")
	s.Type("say this now")
	s.WaitFor("❯ say this now")
	s.Keys("C-q")
	s.WaitFor("at the next step: say this now")
	s.Keys("Up")
	s.WaitFor("Waiting messages", "❯ first to wait")
	s.Keys("M-Down")
	s.Wait("the other order", func(screen string) bool {
		return strings.Contains(screen, "❯ first") && strings.Index(screen, "second to wait") < strings.Index(screen, "❯ first")
	})
	s.Shut("Waiting messages")
	s.Wait("the other order at the host", func(screen string) bool {
		i := strings.Index(screen, "after this turn: second to wait")
		return i >= 0 && i < strings.Index(screen, "after this turn: first to wait")
	})
	s.Keys("Up")
	s.WaitFor("Waiting messages", "❯ second to wait")
	s.Keys("Down")
	s.WaitFor("❯ first to wait")
	s.Keys("C-d")
	s.WaitFor("Delete first to wait?")
	s.Type("y")
	s.Gone("first to wait")
	s.Shut("Waiting messages")
	s.Gone("first to wait")
	s.Keys("Up")
	s.WaitFor("❯ second to wait")
	s.Keys("C-g")
	s.Wait("the message in the editor", func(screen string) bool {
		return strings.Contains(screen, "❯ second to wait") && !strings.Contains(screen, "after this turn") && !strings.Contains(screen, "Waiting messages")
	})
	s.Keys("C-c")
	s.Gone("second to wait")
	s.Keys("Escape")
	s.WaitFor("Cancelled.", "1 queued. Press Enter", "Enter continues with queued messages")
	s.Keys("Enter")
	s.WaitFor("sent while it was working", "Understood.")
}

func TestWhatCannotBeSentComesBackIntoTheEditor(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("/no-such-command at all")
	screen := s.WaitFor("there is no command /no-such-command", "❯ /no-such-command at all")
	if strings.Contains(screen, "ask something") {
		t.Errorf("the hint of the empty editor stands behind the text:\n%s", screen)
	}
	s.Keys("C-c")
	s.WaitFor("ask something")
	s.Say("/new mend the parser")
	s.WaitFor("/new takes nothing after its name", "❯ /new mend the parser")
}

func TestEscapeTwiceGoesBackToAMessageWithItsFiles(t *testing.T) {
	h := newHarness(t, readsFile, editsFile)
	s := h.Open("--permission-mode", "acceptEdits")
	s.Say("edit the greeting")
	s.WaitFor("Understood.")
	if !strings.Contains(h.File("main.go"), "hello") {
		t.Fatal("the file was not edited")
	}
	s.Gone("esc to cancel") // which the first would do while the turn runs
	s.Keys("Escape", "Escape")
	s.WaitFor("Tree", "❯ ● you: edit the greeting")
	s.Keys("Enter")
	s.WaitFor("with the files as they were")
	s.Keys("Down", "Enter")
	s.WaitFor("Leave the rest without a summary")
	s.Keys("Enter")
	s.WaitFor("1 file restored", "❯ edit the greeting")
	if strings.Contains(h.File("main.go"), "hello") {
		t.Error("the file is as the turn left it")
	}
}

func TestAPermissionIsAskedForWithTheDiffAndGivenOnce(t *testing.T) {
	h := newHarness(t, readsFile, editsFile)
	s := h.Open()
	s.Say("edit the greeting")
	s.WaitFor("Edit main.go? (+1 -1)", `-     println("hi")`, `println("hello")`, "❯ 1. Allow once", "for this session", "Always allow")
	s.Keys("Enter")
	s.WaitFor("Understood.")
	if !strings.Contains(h.File("main.go"), "hello") {
		t.Error("the file was not edited")
	}
}

func TestADenialTellsTheModelWhy(t *testing.T) {
	h := newHarness(t, readsFile, editsFile)
	s := h.Open()
	s.Say("edit the greeting")
	s.WaitFor("❯ 1. Allow once")
	s.Keys("Tab")
	s.WaitFor("No, because:")
	s.Type("the greeting is right")
	s.WaitFor("the greeting is right")
	s.Keys("Enter")
	s.WaitFor("You denied this: the greeting is right", "Understood.")
	if strings.Contains(h.File("main.go"), "hello") {
		t.Error("the file was edited")
	}
}

func TestARuleForAlwaysIsWrittenAndCounts(t *testing.T) {
	h := newHarness(t, readsFile, editsFile)
	s := h.Open()
	s.Say("edit the greeting")
	s.WaitFor("❯ 1. Allow once", "3. Always allow Write(")
	s.Type("3")
	s.WaitFor("Understood.")
	rules, err := os.ReadFile(filepath.Join(h.Home, ".scorel", "rules.json"))
	if err != nil || !strings.Contains(string(rules), "main.go") {
		t.Errorf("%v: %s", err, rules)
	}
}

func TestWhatATerminalAnswersIsClosedInTheOther(t *testing.T) {
	h := newHarness(t, readsFile, editsFile)
	s := h.Open()
	s.Say("edit the greeting")
	s.WaitFor("❯ 1. Allow once")
	other := h.Open("-c")
	other.WaitFor("❯ 1. Allow once")
	other.Keys("Enter")
	s.WaitFor("Understood.")
	other.WaitFor("Understood.")
	if strings.Contains(s.Screen(), "Allow once") {
		t.Errorf("the question is still open:\n%s", s.Screen())
	}
}

func TestTheModelsQuestionIsAnswered(t *testing.T) {
	h := newHarness(t, asks, `{"if":{"result":"Blue"},"do":[{"text":"Blue it is."}]}`)
	s := h.Open()
	s.Say("ask me")
	s.WaitFor("Which colour?", "❯ 1. Red", "2. Blue")
	s.Keys("Down", "Enter")
	s.WaitFor("Blue it is.")
}

func TestWhatIsTypedWhenAQuestionOpensStaysInTheEditor(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^ask"},"do":[{"wait":300},{"call":"AskUser","input":{"questions":[{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]}]}}]}`)
	s := h.Open()
	s.Say("ask me")
	text := ""
	for i := 0; !strings.Contains(s.Screen(), "Which colour?"); i++ { // somebody types all the time
		s.Type("12 ")
		text += "12 "
	}
	s.Type("the end")
	text += "the end"
	s.WaitFor("❯ 1. Red")
	s.Keys("Escape")
	s.WaitFor("Understood.")
	s.Wait("all that was typed", func(screen string) bool { return strings.Contains(tuitest.Flat(screen), tuitest.Flat(text)) })
}

func TestShiftTabGoesThroughTheModesAndAPlanIsApproved(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^plan"},"do":[{"call":"ExitPlanMode","input":{"plan":"# The plan\n\n1. first this\n2. then that\n"}}]}`)
	s := h.Open()
	s.Keys("BTab", "BTab")
	s.Wait("plan mode", func(screen string) bool { return strings.Contains(lastLine(screen), "plan") })
	s.Say("/resume")
	s.WaitFor("No sessions yet")
	s.Keys("Escape")
	s.Gone("No sessions yet")
	s.Keys("BTab")
	s.Wait("the default mode", func(screen string) bool { return !strings.Contains(lastLine(screen), "plan") })
	s.Keys("BTab")
	s.WaitFor("accepts edits")
	s.Keys("BTab")
	s.Wait("plan mode", func(screen string) bool { return strings.Contains(lastLine(screen), "plan") })
	s.Say("plan it")
	s.WaitFor("first this", "then that", "❯ 1.")
	s.Keys("Enter")
	s.WaitFor("Understood.")
	s.Wait("that plan mode has ended", func(screen string) bool { return !strings.Contains(lastLine(screen), "plan") })
}

func lastLine(screen string) string { return screen[strings.LastIndex(screen, "\n")+1:] }

func TestARetryCountsDownAndIsCancelledByEscape(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^retry"},"do":[{"error":{"status":529,"retryAfter":60}}],"again":true}`)
	s := h.Open()
	s.Say("retry")
	s.WaitFor("in 5") // 59 s, 58 s, …
	s.Keys("Escape")
	s.Gone("in 5")
	s.WaitFor("ask something")
}

func TestATurnThatFailsSaysWhy(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"silent"},"do":[{"hang":true}]}`,
		`{"if":{"user":"^fail"},"do":[{"error":{"status":400,"message":"the vendor says no"}}],"again":true}`)
	s := h.Open()
	s.Say("fail now")
	s.WaitFor("the vendor says no", "ask something")
	s.Say("/new")
	s.Say("/resume") // who comes later is told, too
	s.WaitFor("Sessions · this project", "│ > fail now")
	s.Keys("Enter")
	s.Wait("the reason, again", func(screen string) bool { return strings.Count(screen, "the vendor says no") == 2 })
	s.Say("silent please")
	s.WaitFor("Enter sends after this turn")
	s.Keys("Escape")
	s.WaitFor("Cancelled.")
}

func TestABackgroundCommandStandsInItsPanelAndIsStoppedThere(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^background"},"do":[{"call":"Bash","input":{"command":"echo begun; sleep 600","run_in_background":true}}]}`)
	s := h.Open("--permission-mode", "bypassPermissions")
	s.Say("background")
	s.WaitFor("Understood.")
	s.Say("/tasks")
	s.WaitFor("Background tasks", "Running", "sleep 600")
	s.Keys("C-d")
	s.WaitFor("Stop ")
	s.Type("y")
	s.Wait("its end", func(screen string) bool {
		return strings.Contains(screen, "stopped") || strings.Contains(screen, "Nothing runs")
	})
}

func TestThePanelOfTasksAndANoticeSayThatSchedulesWereDamaged(t *testing.T) {
	h := newHarness(t, "")
	h.WriteUser("automation/state.json", "{")
	s := h.Open()
	s.WaitFor("The file of schedules was damaged.", "state.json.damaged-")
	s.Say("/tasks")
	s.WaitFor("Background tasks", "Problems", "until you add them again.")
}

func TestThePanelOfTasksShowsSchedulesAndRunsAndPausesThere(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^look"},"again":true,"do":[{"text":"All is well."}]}`)
	s := h.Open()
	s.Say("hello")
	s.WaitFor("Understood.")
	s.Say("/loop 10m look at the build")
	s.WaitFor("All is well.")
	s.Say("/tasks")
	s.WaitFor("Background tasks", "Schedules", "every 10 minutes", "armed", "Runs", "completed")
	s.WaitFor("state: armed")
	s.Keys("Enter")
	s.Gone("Background tasks")
	s.WaitFor("state: armed", "works in: the session")
	s.Keys("Escape")
	s.Gone("state: armed")
	s.Say("/tasks")
	s.WaitFor("Schedules", "armed", "Runs")
	s.WaitFor("state: armed")
	s.Keys("C-d")
	s.WaitFor("Stop look at the build?")
	s.Type("y")
	s.WaitFor("look at the build is paused", "paused")
}

func TestTheDetailOfABackgroundCommandShowsItsOutputAsItGrows(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^background"},"do":[{"call":"Bash","input":{"command":"echo first line; until [ -e go ]; do sleep 0.05; done; echo second line >&2; until [ -e end ]; do sleep 0.05; done; seq 1 30000; exit 3","run_in_background":true}}]}`)
	s := h.Open("--permission-mode", "bypassPermissions")
	s.Say("background")
	s.WaitFor("Understood.")
	s.Say("/tasks")
	s.WaitFor("Background tasks", "Running")
	s.Keys("Enter")
	s.WaitFor("Task echo first line", "  first line", "closes")
	h.Write(filepath.Join(h.Project, "go"), "")
	s.WaitFor("  first line", "  second line")
	h.Write(filepath.Join(h.Project, "end"), "")
	s.WaitFor("  30000", "exit code 3")
	s.Keys("Home")
	s.WaitFor("earlier bytes")
	s.Keys("Escape")
	s.Gone("Task echo first line")
}

func TestTheEndOfAnAgentInTheBackgroundIsToldAtOnce(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^begin"},"do":[{"call":"Task","input":{"agent":"general","description":"look around","prompt":"CHILD","background":true}}]}`,
		`{"if":{"user":"CHILD"},"do":[{"call":"Bash","input":{"command":"until [ -e go ]; do sleep 0.05; done; echo did"}}]}`)
	s := h.Open("--permission-mode", "bypassPermissions")
	s.Say("begin")
	s.WaitFor("Understood.", "○ general  look around")
	h.Write(filepath.Join(h.Project, "go"), "")
	s.WaitFor("general: look around ended\n")
}

func TestShellCommandsAndNotesGoWhereTheirMarksSay(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"three 3"},"do":[{"text":"I saw the three."}]}`)
	s := h.Open()
	s.Say("!echo three $((1+2))")
	s.WaitFor("three 3")
	s.Say("!!echo apart $((2+2))")
	s.WaitFor("apart 4", "not sent to the model")
	s.Say("# remember the milk")
	s.WaitFor("added to this project's notes")
	s.Say("hello")
	s.Wait("an answer", func(screen string) bool {
		return strings.Contains(screen, "I saw the three.") || strings.Contains(screen, "Understood.")
	})
	s.Say("/memory")
	s.WaitFor("Memory (")
}

func TestFilesAndCommandsAreCompleted(t *testing.T) {
	h := newHarness(t)
	h.Write(filepath.Join(h.Project, "docs", "alphabet.md"), "abc")
	h.Write(filepath.Join(h.Project, ".gitignore"), "hidden.md\n")
	h.Write(filepath.Join(h.Project, "hidden.md"), "abc")
	s := h.Open()
	s.Type("see @alph")
	s.WaitFor("❯ docs/alphabet.md")
	s.Keys("Tab")
	s.WaitFor("❯ see @docs/alphabet.md")
	s.Keys("C-c")
	s.Gone("see @")
	s.Type("/resu")
	s.WaitFor("/resume [SESSION]")
	s.Keys("Enter")
	s.WaitFor("❯ /resume")
	s.Keys("Enter")
	s.WaitFor("Sessions · this project")
}

func TestALargePasteIsAChipAndArrivesWhole(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"row 0\\n(row \\d+\\n)+row 99\\nlast"},"do":[{"text":"It came whole."}]}`)
	s := h.Open()
	var rows []string
	for i := range 100 {
		rows = append(rows, "row "+strconv.Itoa(i))
	}
	s.Paste(strings.Join(rows, "\n") + "\nlast")
	s.WaitFor("101 lines")
	s.Keys("Enter")
	s.WaitFor("It came whole.")
}

func TestHistoryIsSearchedAcrossSessions(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("a remarkable question")
	waitAnswers(s, 1) // a terminal that is opened joins a turn that runs
	s.Keys("C-d")
	s.WaitEnd()
	s = h.Open()
	s.Keys("C-r")
	s.Type("remark")
	s.WaitFor("a remarkable question")
	s.Keys("Enter")
	s.WaitFor("❯ a remarkable question")
	s.Keys("C-c")
	s.Gone("a remarkable")
	s.Keys("Up")
	s.WaitFor("❯ a remarkable question")
}

func TestATallDialogLeavesNoHoleWhenItCloses(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^long"},"do":[{"text":"`+strings.Repeat("a line of the answer\\n\\n", 40)+`the last line"}]}`)
	s := h.Open()
	for _, x := range [...][2]string{{"hello", "Understood."}, {"long", "the last line"}, {"short", "Understood."}} {
		answer := x[1]
		s.Say(x[0])
		s.WaitFor(answer)
		s.Say("/help")
		s.WaitFor("─ Help ─", "esc close")
		s.Keys("Escape")
		s.Gone("─ Help ─")
		s.WaitFor(answer)
		all := s.All() // with the scrollback
		blank := 0
		for i, l := range strings.Split(strings.TrimRight(all, "\n "), "\n") {
			if strings.TrimSpace(l) != "" {
				blank = 0
			} else if blank++; blank > 2 {
				t.Errorf("a hole at line %d:\n%s", i, all)
				break
			}
		}
	}
}

func TestAMonitorOfAPersonRunsInTheBackground(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("/monitor")
	s.WaitFor("add a command: /monitor COMMAND")
	s.Say("/monitor echo watch me; sleep 600")
	s.WaitFor("runs in the background as task_", "1 in background")
	s.Say("/tasks")
	s.WaitFor("Background tasks", "echo watch me; sleep 600")
	s.Keys("Enter")
	s.WaitFor("  watch me", "closes")
}
