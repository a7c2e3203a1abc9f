package tui_test

import "testing"

func TestSessionsInTheBackgroundAreStartedAndShown(t *testing.T) {
	h := newHarness(t, `{"again":true,"if":{"user":"^ask"},"do":[{"call":"Bash","input":{"command":"touch made"}}]}`)
	s := h.Open()
	s.Say("/bg")
	s.WaitFor("say what is to be done: /bg PROMPT")
	s.Say("hello")
	waitAnswers(s, 1)
	s.Say("/bg ask me first")
	s.WaitFor("another session works on it; /ps shows how it goes")
	s.Say("/ps")
	s.WaitFor("─ Sessions of the host", "waits for an answer", "❯ ? ask me first", "Allow Bash touch made", "idle", "hello")
	s.Keys("Enter")
	s.WaitFor("❯ ask me first", "Run this command?", "❯ 1. Allow once")
	s.Keys("Enter")
	s.WaitFor("Understood.", "ask something")
	s.Say("/proactive on 1h")
	s.WaitFor("proactive mode is on")
	s.Say("/daemon")
	s.WaitFor("─ Sessions of the host", "works by itself", "next turn ")
	s.Keys("Escape")
	s.Gone("Sessions of the host")
}
