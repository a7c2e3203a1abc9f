package demoproject

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheProjectHasExactlyOneFailingCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "demo")
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "test.sh")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil || strings.Count(string(out), "FAIL") != 1 || !strings.Contains(string(out), "expected:") || !strings.Contains(string(out), "got:") {
		t.Errorf("the tests end with %v:\n%s", err, out)
	}
}

func TestAFolderIsKnownForWhatItHolds(t *testing.T) {
	dir := t.TempDir()
	look := func(name string, want State) {
		t.Helper()
		if got, err := Look(filepath.Join(dir, name)); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", name, got, err, want)
		}
	}
	look("missing", Free)
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	look("empty", Free)
	if err := Write(filepath.Join(dir, "demo")); err != nil {
		t.Fatal(err)
	}
	look("demo", Project)
	look(".", Other)
	if err := os.WriteFile(filepath.Join(dir, "demo", "test.sh"), []byte("exit 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	look("demo", Other)
	if _, err := Look(filepath.Join(dir, "demo", "tally")); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestWrittenAgainTheFaultIsBackAndOtherFilesStay(t *testing.T) {
	dir := t.TempDir()
	tally, notes := filepath.Join(dir, "tally"), filepath.Join(dir, "notes.txt")
	for range 2 {
		if err := Write(dir); err != nil {
			t.Fatal(err)
		}
		want, err := Content("tally")
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(tally)
		info, serr := os.Stat(tally)
		if err != nil || serr != nil || string(got) != string(want) || info.Mode().Perm() != 0o755 {
			t.Fatalf("tally is not as it was: %v, %v", err, serr)
		}
		for _, f := range []string{tally, notes} {
			if err := os.WriteFile(f, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, err := os.ReadFile(notes); err != nil || string(got) != "mine" {
		t.Errorf("notes.txt: %q, %v", got, err)
	}
}

func TestGitSeesARepositoryOfItsOwn(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Log("git is not installed; only its files are looked at")
		git = ""
	}
	dir := t.TempDir()
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "HEAD")); err != nil {
		t.Error(err)
	}
	if git == "" {
		return
	}
	out, err := exec.Command(git, "-C", dir, "status", "--short").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "tally") {
		t.Errorf("git status: %v\n%s", err, out)
	}
}
