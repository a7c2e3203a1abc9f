package tui_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model/script"
)

// processes returns what any process of this machine was started with.
func processes(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, _ := os.ReadFile(name) // it may have ended
		all.Write(text)
		text, _ = os.ReadFile(filepath.Join(filepath.Dir(name), "environ"))
		all.Write(text)
	}
	return all.String()
}

func TestAKeyIsTriedAtItsServerAndARefusedOneIsAskedForAgain(t *testing.T) {
	const key, wrong = "zq-good-1f2e3d4c5b6a", "zq-wrong-9a8b7c6d5e4f"
	h := newHarness(t)
	answers, err := script.Parse(strings.NewReader(`{"script":1}`+"\n"+`{"do":[{"text":"I come from the server."}],"again":true}`+"\n"), "answers")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(modeltest.Anthropic(modeltest.Config{Script: answers, Key: key}))
	t.Cleanup(server.Close)
	h.WriteUser("config.toml", `[models.mine]
type = "custom"
api = "anthropic-messages"
baseUrl = "`+server.URL+`"
id = "claude-of-mine"
contextWindow = 100000
maxTokens = 8000
`)
	r := recordBare(t, h, h.Project)
	r.WaitFor("ask something")
	nowhere := func(secret, but string) {
		t.Helper()
		wantNowhere(t, h, secret, but)
		if strings.Contains(r.All(), secret) || strings.Contains(h.Read(r.file), secret) {
			t.Errorf("%s was on the screen", secret)
		}
		if strings.Contains(processes(t), secret) {
			t.Errorf("%s is among what a process was started with", secret)
		}
	}
	r.Say("/login mine")
	r.WaitFor("mine API key", "which only you can read")
	r.Type(wrong)
	r.WaitFor(strings.Repeat("*", len(wrong)))
	r.Keys("Enter")
	r.WaitFor("That key was discarded; enter another one")
	nowhere(wrong, "")
	r.Type(key)
	r.WaitFor(strings.Repeat("*", len(key)))
	r.Keys("Enter")
	r.WaitFor("mine answers (", "Models", "❯ mine")
	r.Keys("Enter")
	r.WaitFor("mine is the model of new sessions from now on")
	r.Say("hello")
	r.Answered("I come from the server.", 1) // what is sent after its turn needs the key again
	nowhere(key, "credentials.json")
	r.Say("/logout mine")
	r.WaitFor("the key of mine was removed")
	nowhere(key, "")
	r.Say("hello again")
	r.WaitFor("mine needs a key and none is set")
}
