package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/platform/sandbox/sandboxtest"
)

// testShown checks that what is shown of Scorel's folder can be read and run, and that
// nothing else of it can be seen and nothing there be written.
func testShown(t *testing.T, base string, l layout) {
	needConfinement(t)
	w := newWorld(t, base, l)
	closed := filepath.Join(w.home, ".scorel")
	skill := filepath.Join(closed, "skills", "my skill")
	write(t, filepath.Join(skill, "data/part.txt"), "part\n")
	write(t, filepath.Join(skill, "run.sh"), "#!/bin/sh\necho ran: $(cat data/part.txt)\n")
	must(t, os.Chmod(filepath.Join(skill, "run.sh"), 0o755))
	write(t, filepath.Join(closed, "skills", "other", "SKILL.md"), sentinel)
	must(t, os.Symlink(filepath.Join(closed, "skills", "other"), filepath.Join(closed, "skills", "link")))
	p := w.profile
	p.Shown = []string{skill, filepath.Join(skill, "data"), filepath.Join(closed, "skills", "gone"), filepath.Join(closed, "skills", "link"), w.out}
	out, exit := w.call(t, &p, `cd "$HOME/.scorel/skills/my skill" && ./run.sh && grep -r . data
for f in "$HOME/.scorel/key" "$HOME/.scorel/skills/other/SKILL.md" "$HOME/.scorel/skills/link/SKILL.md" ../other/SKILL.md; do cat "$f" 2>/dev/null && echo "read $f"; done
for f in "./new" "data/part.txt" run.sh "$HOME/.scorel/new" "$HOME/.scorel/skills/new" "$OUT/file"; do (echo x >> "$f") 2>/dev/null && echo "wrote $f"; done
rm -f run.sh 2>/dev/null; chmod 777 run.sh 2>/dev/null; mv "$HOME/.scorel/skills/my skill" "$HOME/.scorel/skills/x" 2>/dev/null
echo x > "$WS/mine" && echo works`)
	if want := "ran: part\ndata/part.txt:part\nworks\n"; exit.Code != 0 || out != want {
		t.Errorf("%+v: %q, want %q", exit, out, want)
	}
	if data, err := os.ReadFile(filepath.Join(skill, "run.sh")); err != nil || !strings.HasPrefix(string(data), "#!/bin/sh\necho ran") {
		t.Errorf("the skill was changed: %q, %v", data, err)
	}
	if out, _ := w.call(t, &w.profile, `ls -A "$HOME/.scorel/" 2>/dev/null; cat "$HOME/.scorel/skills/my skill/run.sh" 2>/dev/null`); out != "" {
		t.Errorf("without being shown: %q", out)
	}
}

func TestWhatIsShownOfScorelsFolderIsReadAndRunButNotWritten(t *testing.T) {
	testShown(t, t.TempDir(), layout{})
}

func TestWhatIsShownIsShownInAWorkspaceThatContainsScorelsFolder(t *testing.T) {
	testShown(t, t.TempDir(), layout{above: true})
}

func TestWhatIsShownIsShownWithoutNamespaces(t *testing.T) {
	testShown(t, t.TempDir(), layout{noNamespaces: true})
}

func TestWhatIsShownIsShownToAnOrdinaryUser(t *testing.T) {
	needConfinement(t)
	sandboxtest.AsUser(t, func(t *testing.T, base string) {
		testShown(t, base, layout{})
		testShown(t, base, layout{noNamespaces: true})
	})
}
