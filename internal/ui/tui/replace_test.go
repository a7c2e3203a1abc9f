package tui_test

import (
	"strings"
	"testing"
)

func TestWriteOverAFileShowsTheDifferenceWithItsCounts(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^write"},"do":[{"call":"Read","input":{"path":"list.txt"}}]}`,
		`{"if":{"result":"line 1"},"do":[{"call":"Write","input":{"path":"list.txt","content":"line 1\nline two\nline 22\n"}}]}`)
	var b strings.Builder
	for i := range 22 {
		b.WriteString("line " + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10)) + "\n")
	}
	h.Write(h.Project+"/list.txt", strings.NewReplacer("line 0", "line ").Replace(b.String()))
	s := h.Open()
	s.Say("write it")
	s.WaitFor("Replace list.txt? (22 → 3 lines)", "- line 2", " 1   line 1", "Write replaces "+h.Project+"/list.txt (22 → 3 lines).", "❯ 1. Allow once", "ctrl+o all of it")
	s.Until("2 + line two", "PageDown")
}

func TestEditShowsItsPlacesInTheFileApart(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^edit"},"do":[{"call":"Read","input":{"path":"list.txt"}}]}`,
		`{"if":{"result":"line 10"},"do":[{"call":"Edit","input":{"path":"list.txt","edits":[{"old_string":"line 10\n","new_string":"line ten\n"},{"old_string":"line 50\n","new_string":"line fifty\n"}]}}]}`)
	var b strings.Builder
	for i := range 60 {
		b.WriteString("line " + strings.TrimLeft(string(rune('0'+(i+1)/10))+string(rune('0'+(i+1)%10)), "0") + "\n")
	}
	h.Write(h.Project+"/list.txt", b.String())
	s := h.Open()
	s.Say("edit it")
	s.WaitFor("Edit list.txt? (+2 -2)", "10 - line 10", "10 + line ten", "⋯", "50 - line 50", "50 + line fifty", "Edit changes "+h.Project+"/list.txt (60 → 60 lines).", "❯ 1. Allow once", "esc no")
	s.Keys("Enter")
	s.WaitFor("+2 -2", "10 + line ten", "50 + line fifty", "Understood.")
}

func TestWriteOfANewFileSaysThatItCreatesIt(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^write"},"do":[{"call":"Write","input":{"path":"new.txt","content":"one\n"}}]}`)
	s := h.Open()
	s.Say("write it")
	s.WaitFor("Create new.txt? (1 line)", "Write creates "+h.Project+"/new.txt (1 line).", "❯ 1. Allow once")
}
