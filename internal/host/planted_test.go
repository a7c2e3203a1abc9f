package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"
)

// plant makes a program that answers a question for its version, and tries to
// leave a file in the folders.
func (w *world) plant(name, version string, marks ...string) {
	w.t.Helper()
	script := "#!/bin/sh\n"
	for _, mark := range marks {
		script += "{ echo x > '" + filepath.Join(mark, "ran") + "'; } 2>/dev/null\n"
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(script+"echo '"+version+"'\n"), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) ran(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "ran"))
	return err == nil
}

func TestAProgramOfTheWorkspaceIsNotStartedUnasked(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"call":"Grep","id":"c1","input":{"pattern":"needle"}}]}`, `{"do":[{"text":"done"}]}`)
	bin := filepath.Join(w.project, ".venv", "bin")
	w.plant(filepath.Join(bin, "rg"), "ripgrep 14.0.0", w.project)
	w.plant(filepath.Join(bin, "git"), "git version 2.99.0", w.project)
	linked := filepath.Join(w.home, "bin") // outside, but what it leads to is not
	if err := os.Symlink(bin, linked); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.project, "a.txt"), "a needle\n")
	w.config.Environ = append([]string{"PATH=" + bin + ":" + linked + ":" + os.Getenv("PATH")}, w.config.Environ...)
	w.restart()
	if got := w.check("git"); strings.Contains(got.Text, "2.99.0") || w.ran(w.project) {
		t.Errorf("doctor: %+v", got)
	}
	e := w.begin(false)
	if end := e.say("look for it"); end.Terminal != protocol.TerminalCompleted || w.ran(w.project) {
		t.Errorf("a search started a program of the workspace, or failed: %+v\n%s", end, e.trace())
	}
}

func TestDoctorAsksProgramsForTheirVersionInASandbox(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	bin := filepath.Join(w.home, "bin")
	w.plant(filepath.Join(bin, "git"), "git version 2.99.0", w.home, w.project)
	w.config.Environ = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + w.home}
	w.restart()
	w.finds("a program that writes", "git", "ok", "2.99.0", "")
	if w.ran(w.home) || w.ran(w.project) {
		t.Error("it wrote")
	}
	w.config.Environ = append(w.config.Environ, "TMPDIR=/nowhere")
	w.restart()
	w.finds("no place for temporary files", "temporary", "fail", "set TMPDIR to a folder", "commands do not start")
}
