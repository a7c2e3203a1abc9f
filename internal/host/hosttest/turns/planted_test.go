package turns_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAProgramOfTheWorkspaceIsNotStartedUnasked(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"call":"Grep","id":"c1","input":{"pattern":"needle"}}]}`, `{"do":[{"text":"done"}]}`)
	bin := filepath.Join(w.Project, ".venv", "bin")
	w.Plant(filepath.Join(bin, "rg"), "ripgrep 14.0.0", w.Project)
	w.Plant(filepath.Join(bin, "git"), "git version 2.99.0", w.Project)
	linked := filepath.Join(w.Home, "bin") // outside, but what it leads to is not
	if err := os.Symlink(bin, linked); err != nil {
		t.Fatal(err)
	}
	w.Write(filepath.Join(w.Project, "a.txt"), "a needle\n")
	w.Config.Environ = append([]string{"PATH=" + bin + ":" + linked + ":" + os.Getenv("PATH")}, w.Config.Environ...)
	w.Restart()
	if got := w.Check("git"); strings.Contains(got.Text, "2.99.0") || w.Ran(w.Project) {
		t.Errorf("doctor: %+v", got)
	}
	e := w.Begin(false)
	if end := e.Say("look for it"); end.Terminal != protocol.TerminalCompleted || w.Ran(w.Project) {
		t.Errorf("a search started a program of the workspace, or failed: %+v\n%s", end, e.Trace())
	}
}

func TestDoctorAsksProgramsForTheirVersionInASandbox(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	bin := filepath.Join(w.Home, "bin")
	w.Plant(filepath.Join(bin, "git"), "git version 2.99.0", w.Home, w.Project)
	w.Config.Environ = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + w.Home}
	w.Restart()
	w.Finds("a program that writes", "git", "ok", "2.99.0", "")
	if w.Ran(w.Home) || w.Ran(w.Project) {
		t.Error("it wrote")
	}
	w.Config.Environ = append(w.Config.Environ, "TMPDIR=/nowhere")
	w.Restart()
	w.Finds("no place for temporary files", "temporary", "fail", "set TMPDIR to a folder", "commands do not start")
}
