package tui_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestAHostOfAnotherBuildIsNamedOnceWithWhatToDo(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("hello")
	s.WaitFor("Understood.")
	if all := s.All(); strings.Contains(all, "another build") {
		t.Errorf("the host is of this build:\n%s", all)
	}
	s.Keys("C-d")
	s.WaitEnd()
	file := filepath.Join(h.Home, ".scorel", "host.json")
	info := h.Read(file)
	older := regexp.MustCompile(`"build": "[^"]+"`).ReplaceAllString(info, `"build": "older"`)
	if older == info {
		t.Fatalf("the host does not say of which build it is: %s", info)
	}
	h.Write(file, older)
	again := h.Open()
	again.WaitFor("is of another build of scorel", "scorel host serve --replace --detach")
	again.Say("go on")
	if screen := again.WaitFor("❯ go on", "Understood."); strings.Count(screen, "another build") > 1 {
		t.Errorf("it is told again:\n%s", screen)
	}
	cmd := exec.Command(h.Program(), "send", "ses_none", "hello")
	cmd.Env, cmd.Dir = h.Env, h.Project
	if out, _ := cmd.CombinedOutput(); strings.Count(string(out), "is of another build of scorel") != 1 {
		t.Errorf("scorel send says %s", out)
	}
}

func TestWhatCouldNotBeSentIsSentWhenTheCauseIsGone(t *testing.T) {
	h := newHarness(t)
	inTheWay := filepath.Join(h.Home, ".scorel", "projects.json")
	h.Write(filepath.Join(inTheWay, "x"), "")
	s := h.Open("the first words")
	s.WaitFor("❯ the first words", "disconnected", "✗")
	s.Keys("Enter")
	s.Wait("the words again", func(screen string) bool {
		return strings.Contains(screen, "❯ the first words") && strings.Contains(screen, "(2")
	})
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	s.Keys("Enter")
	s.WaitFor("❯ the first words", "Understood.")
	s.Gone("disconnected")
}
