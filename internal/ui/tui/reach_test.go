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
	w := newWorld(t)
	s := w.open()
	s.say("hello")
	s.WaitFor("Understood.")
	if all := s.All(); strings.Contains(all, "another build") {
		t.Errorf("the host is of this build:\n%s", all)
	}
	s.Keys("C-d")
	s.WaitEnd()
	file := filepath.Join(w.home, ".scorel", "host.json")
	info := readAll(t, file)
	older := regexp.MustCompile(`"build": "[^"]+"`).ReplaceAllString(info, `"build": "older"`)
	if older == info {
		t.Fatalf("the host does not say of which build it is: %s", info)
	}
	w.write(file, older)
	again := w.open()
	again.WaitFor("is of another build of scorel", "scorel host serve --replace --detach")
	again.say("go on")
	if screen := again.WaitFor("❯ go on", "Understood."); strings.Count(screen, "another build") > 1 {
		t.Errorf("it is told again:\n%s", screen)
	}
	cmd := exec.Command(self(t), "send", "ses_none", "hello")
	cmd.Env, cmd.Dir = w.env, w.project
	if out, _ := cmd.CombinedOutput(); strings.Count(string(out), "is of another build of scorel") != 1 {
		t.Errorf("scorel send says %s", out)
	}
}

func TestWhatCouldNotBeSentIsSentWhenTheCauseIsGone(t *testing.T) {
	w := newWorld(t)
	inTheWay := filepath.Join(w.home, ".scorel", "projects.json")
	w.write(filepath.Join(inTheWay, "x"), "")
	s := w.open("the first words")
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
	s.gone("disconnected")
}
