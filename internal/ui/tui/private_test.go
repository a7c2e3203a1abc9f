package tui_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"scorel/internal/ui/tui/tuitest"
	"strings"
	"testing"
)

// wantNowhere holds that no file of the home but one has a text in it.
func wantNowhere(t testing.TB, h *tuitest.Harness, text, but string) {
	t.Helper()
	err := filepath.WalkDir(h.Home, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(name) == but {
			return nil // what goes while it is looked at
		}
		if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), text) {
			t.Errorf("%s has %q in it", name, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAPastedPromptTakesNoFileAlongThatWasNotChosen(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"(?s)the second.*fake-secret"},"do":[{"text":"It was sent away."}]}`,
		`{"if":{"user":"(?s)the second.*package main"},"do":[{"text":"Only of the project."}]}`,
		`{"if":{"user":"(?s)the third"},"do":[{"text":"It came."}]}`)
	for _, name := range []string{".ssh/id_rsa", "notes.txt", ".scorel/mine"} {
		h.Write(filepath.Join(h.Home, name), "fake-secret")
	}
	h.Write(filepath.Join(h.Project, ".env"), "fake-secret")
	h.Write(filepath.Join(h.Project, ".scorel", "config.toml"), "[permissions]\ndeny = [\"Read(.env)\"]\n")
	if err := os.Symlink(filepath.Join(h.Home, ".ssh"), filepath.Join(h.Project, "way")); err != nil {
		t.Fatal(err)
	}
	s := h.Open()
	s.Say("the first")
	s.WaitFor("Understood.")
	s.Paste("Look at @main.go @" + h.Home + "/.ssh/id_rsa @../home/notes.txt @.env @way/id_rsa, the second")
	s.WaitFor("second")
	s.Keys("Enter")
	s.WaitFor("Only of the project.", "keys are kept there; /add FILE", "the rule Read(.env) denies")
	s.Say("/add ~/.scorel/mine")
	s.WaitFor("was not attached: it lies in Scorel's own folder")
	s.Say("/attach ~/notes.txt")
	s.WaitFor("[file: notes.txt]", "/attach is /add now")
	s.Type(" the third")
	s.WaitFor("[file: notes.txt] the third")
	s.Keys("Enter")
	s.WaitFor("It came.")
	h.Until("the file at the host", func() bool {
		found, _ := filepath.Glob(filepath.Join(h.Home, ".scorel", "sessions", "*"))
		for _, name := range found {
			if data, _ := os.ReadFile(name); strings.Contains(string(data), `"name":"notes.txt"`) {
				return true
			}
		}
		return false
	})
}

func TestAKeyIsInNoFileButThatOfKeysHoweverItIsTyped(t *testing.T) {
	const key = "zq0a1b2c3d4e5f6071"
	h := newHarness(t)
	h.Env = append(h.Env, "HTTPS_PROXY=http://127.0.0.1:1") // the key is tried at nobody's
	s := h.Open()
	s.Say("hello")
	s.WaitFor("Understood.")
	s.Say("/login mistral " + key)
	s.WaitFor("does not belong in the command")
	wantNowhere(t, h, key, "")
	s.Say("/login openai")
	s.WaitFor("openai API key")
	s.Type(key)
	s.WaitFor(strings.Repeat("*", len(key)))
	wantNowhere(t, h, key, "")
	s.Keys("Enter")
	kept := filepath.Join(h.Home, ".scorel", "credentials.json")
	h.Until("the key among the keys", func() bool {
		data, _ := os.ReadFile(kept)
		return strings.Contains(string(data), key)
	})
	s.Say("behind it")
	s.WaitFor("❯ behind it", "Understood.")
	wantNowhere(t, h, key, "credentials.json")
}
