package tui_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantNowhere holds that no file of the home but one has a text in it.
func (w *world) wantNowhere(text, but string) {
	w.t.Helper()
	err := filepath.WalkDir(w.home, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(name) == but {
			return nil // what goes while it is looked at
		}
		if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), text) {
			w.t.Errorf("%s has %q in it", name, text)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAPastedPromptTakesNoFileAlongThatWasNotChosen(t *testing.T) {
	w := newWorld(t, `{"if":{"user":"(?s)the second.*fake-secret"},"do":[{"text":"It was sent away."}]}`,
		`{"if":{"user":"(?s)the second.*package main"},"do":[{"text":"Only of the project."}]}`,
		`{"if":{"user":"(?s)the third"},"do":[{"text":"It came."}]}`)
	for _, name := range []string{".ssh/id_rsa", "notes.txt", ".scorel/mine"} {
		w.write(filepath.Join(w.home, name), "fake-secret")
	}
	w.write(filepath.Join(w.project, ".env"), "fake-secret")
	w.write(filepath.Join(w.project, ".scorel", "config.toml"), "[permissions]\ndeny = [\"Read(.env)\"]\n")
	if err := os.Symlink(filepath.Join(w.home, ".ssh"), filepath.Join(w.project, "way")); err != nil {
		t.Fatal(err)
	}
	s := w.open()
	s.say("the first")
	s.WaitFor("Understood.")
	s.Paste("Look at @main.go @" + w.home + "/.ssh/id_rsa @../home/notes.txt @.env @way/id_rsa, the second")
	s.WaitFor("second")
	s.Keys("Enter")
	s.WaitFor("Only of the project.", "keys are kept there; /attach FILE", "the rule Read(.env) denies")
	s.say("/attach ~/.scorel/mine")
	s.WaitFor("is not taken in: it lies in Scorel's own folder")
	s.say("/attach ~/notes.txt")
	s.WaitFor("[file: notes.txt]")
	s.Type(" the third")
	s.WaitFor("[file: notes.txt] the third")
	s.Keys("Enter")
	s.WaitFor("It came.")
	w.until("the file at the host", func() bool {
		found, _ := filepath.Glob(filepath.Join(w.home, ".scorel", "sessions", "*"))
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
	w := newWorld(t)
	w.env = append(w.env, "HTTPS_PROXY=http://127.0.0.1:1") // the key is tried at nobody's
	s := w.open()
	s.say("hello")
	s.WaitFor("Understood.")
	s.say("/login mistral " + key)
	s.WaitFor("does not belong in the command")
	w.wantNowhere(key, "")
	s.say("/login openai")
	s.WaitFor("The key of openai")
	s.Type(key)
	s.WaitFor(strings.Repeat("*", len(key)))
	w.wantNowhere(key, "")
	s.Keys("Enter")
	kept := filepath.Join(w.home, ".scorel", "credentials.json")
	w.until("the key among the keys", func() bool {
		data, _ := os.ReadFile(kept)
		return strings.Contains(string(data), key)
	})
	s.say("behind it")
	s.WaitFor("❯ behind it", "Understood.")
	w.wantNowhere(key, "credentials.json")
}
