package tui_test

import "testing"

func TestAllOfAnAnswerThatIsCutCanBeReadAndIsNotCopiedInPart(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^much"},"do":[{"text":"a line of many\n\n","times":250000}]}`)
	s := h.Open()
	s.Say("much, please")
	s.WaitFor("[cut here: the first 65536 of 4000000 bytes", "ask something")
	s.Say("/copy")
	s.WaitFor("longer than the clipboard")
	s.Keys("PPage")
	s.WaitFor("esc comes back") // from here on keys pick
	s.Keys("k")
	s.Until("All of it", "w")
	s.WaitFor("1–", "a line of many")
	s.Keys("G")
	s.WaitFor("more lines")
	s.Shut("All of it")
	s.Keys("C-d")
}

func TestAllOfTheOutputOfACommandCanBeRead(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^count"},"do":[{"call":"Bash","input":{"command":"seq 1 15000"}}]}`, `{"if":{"result":"."},"do":[{"text":"counted"}]}`)
	s := h.Open()
	s.Say("count")
	s.WaitFor("❯ 1. Allow once")
	s.Until("counted", "Enter")
	s.WaitFor("counted", "ask something") // the turn is over: what is picked stays what it is
	s.Keys("PPage")
	s.WaitFor("esc comes back") // from here on keys pick
	s.Keys("k", "k")
	s.Until("All of it", "w")
	s.Keys("G")
	s.WaitFor("15000")
	s.Shut("All of it")
	s.Keys("C-d")
}
