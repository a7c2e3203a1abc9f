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
