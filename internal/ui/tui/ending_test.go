package tui_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"scorel/internal/ui/tui/tuitest"
)

// stty returns what the shell's terminal is set to.
func stty(s *tuitest.UI, mark string) string {
	s.Type("echo " + mark + "'('$(stty -g)')'")
	s.Keys("Enter")
	var set string
	s.Wait("the settings", func(screen string) bool {
		_, rest, ok := strings.Cut(tuitest.Flat(screen), mark+"(")
		set, _, _ = strings.Cut(rest, ")")
		return ok && strings.Count(set, ":") > 10
	})
	return set
}

// clear has the shell clear the screen.
func clear(s *tuitest.UI) {
	s.Type("printf '\\033[H\\033[2J'; echo clear")
	s.Keys("Enter")
	s.Wait("an empty screen", func(screen string) bool { return strings.HasPrefix(screen, "clear\n$") })
}

func wantSane(t *testing.T, s *tuitest.UI, before string) {
	t.Helper()
	if after := stty(s, "after"); after != before {
		t.Errorf("the terminal is set to %s, before it was %s", after, before)
	}
	if _, _, shown := s.Cursor(); !shown {
		t.Error("the cursor is hidden")
	}
	if on := s.Format("#{alternate_on} #{mouse_any_flag} #{bracket_paste_flag}"); !strings.HasPrefix(on, "0 0") || strings.HasSuffix(on, " 1") {
		t.Errorf("the other screen, the mouse or pasting are on: %s", on)
	}
}

// draftOnDisk waits until what is typed is kept for after a crash.
func draftOnDisk(t testing.TB, h *tuitest.Harness, text string) {
	t.Helper()
	dir := filepath.Join(h.Home, ".scorel", "tui")
	h.Until("the draft on disk", func() bool {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if filepath.Ext(e.Name()) != "" || strings.HasPrefix(e.Name(), ".") {
				continue // a lock, or one that is being written
			}
			if kept, _ := os.ReadFile(filepath.Join(dir, e.Name())); strings.Contains(string(kept), text) {
				return true
			}
		}
		return false
	})
}

func TestACrashLeavesTheTerminalSaneTheTurnRunningAndTheDraft(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^slowly"},"do":[{"text":"begun. "},{"wait":2500},{"text":"It has ended."}]}`)
	h.Env = append(h.Env, "SCOREL_TUI_CRASH=f9")
	s := h.Shell()
	before := stty(s, "before")
	s.Type(`"$SCOREL" --model "$SCRIPT"`)
	s.Keys("Enter")
	s.WaitFor("ask something")
	s.Say("slowly")
	s.WaitFor("begun.")
	s.Say("/fullscreen")
	s.Wait("the whole screen", func(string) bool { return s.Format("#{alternate_on}") == "1" })
	s.Type("half a thought")
	s.WaitFor("half a thought")
	draftOnDisk(t, h, "half a thought")
	s.Keys("F9")
	s.WaitFor("the terminal UI failed; the session")
	if all := s.All(); !strings.Contains(all, "a test wants it so") {
		t.Errorf("it does not say why it failed:\n%s", all)
	}
	wantSane(t, s, before)
	clear(s)
	s.Type(`"$SCOREL" --model "$SCRIPT"`)
	s.Keys("Enter")
	s.WaitFor("half a thought", "It has ended.")
}

func TestACrashBesideTheModelLeavesTheTerminalSane(t *testing.T) {
	h := newHarness(t)
	h.Env = append(h.Env, "SCOREL_TUI_CRASH=link:f9")
	s := h.Shell()
	before := stty(s, "before")
	s.Type(`"$SCOREL" --model "$SCRIPT"; echo status $?`)
	s.Keys("Enter")
	s.WaitFor("ask something")
	s.Type("half a thought")
	s.WaitFor("half a thought")
	draftOnDisk(t, h, "half a thought")
	s.Keys("F9")
	s.WaitFor("the terminal UI failed; the session", "status 1")
	wantSane(t, s, before)
	clear(s)
	s.Type(`"$SCOREL" --model "$SCRIPT"`)
	s.Keys("Enter")
	s.WaitFor("half a thought")
}

func TestAKilledUILosesNeitherTheTurnNorTheDraft(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^slowly"},"do":[{"text":"begun. "},{"wait":2500},{"text":"It has ended."}]}`)
	s := h.Open()
	s.Say("slowly")
	s.WaitFor("begun.")
	s.Type("half a thought")
	s.WaitFor("half a thought")
	draftOnDisk(t, h, "half a thought")
	if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.WaitEnd()
	again := h.Open()
	again.WaitFor("❯ half a thought", "It has ended.")
}

func TestWhatWasTypedWhenTheTerminalWentAwayIsThereAgain(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("hello")
	s.WaitFor("Understood.")
	s.Gone("… hello") // it is acknowledged
	pid := h.HostPID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.Say("on its way")
	s.WaitFor("… on its way")
	s.Type("half a thought")
	s.WaitFor("❯ half a thought")
	if err := syscall.Kill(s.PID(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.WaitEnd()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	again := h.Open()
	again.WaitFor("❯ on its way", "  half a thought", "Understood.")
}

func TestTheTerminalIsAsBeforeWhenTheUIIsLeftOrToldToEnd(t *testing.T) {
	h := newHarness(t)
	s := h.Shell()
	before := stty(s, "before")
	s.Type(`"$SCOREL" --model "$SCRIPT"; echo status $?`)
	s.Keys("Enter")
	s.WaitFor("ask something")
	s.Keys("C-d")
	s.WaitFor("status 0")
	wantSane(t, s, before)
	clear(s)
	s.Type(`"$SCOREL" --model "$SCRIPT"; echo ended`)
	s.Keys("Enter")
	s.WaitFor("ask something")
	s.Say("/fullscreen")
	s.Wait("the whole screen", func(string) bool { return s.Format("#{alternate_on}") == "1" })
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(s.PID())).Output()
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for _, c := range strings.TrimSpace(string(out)) {
		pid = pid*10 + int(c-'0')
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("ended")
	wantSane(t, s, before)
}

func TestSuspendGivesTheShellItsTerminalAndComesBack(t *testing.T) {
	h := newHarness(t)
	s := h.Shell()
	s.Type(`set -m`)
	s.Keys("Enter")
	before := stty(s, "before")
	s.Type(`"$SCOREL" --model "$SCRIPT"`)
	s.Keys("Enter")
	s.WaitFor("ask something")
	s.Type("half a thought")
	s.WaitFor("❯ half a thought")
	s.Keys("C-z")
	s.WaitFor("Stopped")
	wantSane(t, s, before)
	s.Type("fg")
	s.Keys("Enter")
	s.WaitFor("❯ half a thought")
	s.Type(" goes on")
	s.WaitFor("❯ half a thought goes on")
	s.Keys("Enter")
	s.WaitFor("Understood.")
}

func TestAllThatIsTypedWhileTheHostRestartsArrives(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"(number \\d+ ?){60}"},"do":[{"text":"All sixty came."}]}`)
	s := h.Open()
	s.Say("hello")
	s.WaitFor("Understood.")
	pid := h.HostPID()
	if pid == 0 {
		t.Fatal("no host runs")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	text := ""
	for i := range 60 {
		piece := "number " + strconv.Itoa(i+10) + " "
		s.Type(piece)
		text += piece
	}
	s.Wait("all of it in the editor", func(screen string) bool { return strings.Contains(tuitest.Flat(screen), tuitest.Flat(text)) })
	s.Keys("Enter")
	s.WaitFor("All sixty came.")
}

func TestAllThatIsTypedWhileATurnStreamsAndPickersOpenArrives(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^stream"},"do":[{"text":"another line of the stream\n\n","times":2000},{"hang":true}]}`)
	h.Write(h.Script, strings.Replace(h.Read(h.Script), `{"script":1}`, `{"script":1,"chunk":30,"delayMs":1}`, 1))
	s := h.Open()
	s.Say("stream")
	s.WaitFor("another line")
	text := ""
	for i := range 40 {
		piece := "word" + strconv.Itoa(i+10) + " "
		s.Type(piece)
		text += piece
		if i == 20 {
			s.Keys("M-p") // a picker
			s.WaitFor("Models")
			s.Type("xyzzy")
			s.WaitFor("> xyzzy")
			for range "xyzzy" {
				s.Keys("BSpace")
			}
			s.Keys("Escape")
			// The editor is seen again: that the picker is not may be a frame that is half drawn.
			s.Wait("the picker closed", func(screen string) bool {
				return strings.Contains(tuitest.Flat(screen), tuitest.Flat(text)) && !strings.Contains(screen, "─ Models")
			})
		}
	}
	s.Wait("all of it in the editor", func(screen string) bool { return strings.Contains(tuitest.Flat(screen), tuitest.Flat(text)) })
	s.Keys("C-c", "Escape")
	s.WaitFor("Cancelled.")
}
