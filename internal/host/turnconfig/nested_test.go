package turnconfig_test

import (
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// toldOf counts the harness items about instruction files in the log.
func toldOf(w *hosttest.World, id protocol.SessionID) (n int) {
	for _, e := range w.Log(id) {
		if b, ok := e.Body.(*protocol.HarnessItem); ok && b.Item.Kind == protocol.ItemInstructions {
			n++
		}
	}
	return n
}

func TestTheInstructionsOfAFolderAreToldWhenACallTouchesIt(t *testing.T) {
	read := func(user, path string) string {
		return `{"again":true,"if":{"user":"` + user + `"},"do":[{"call":"Read","input":{"path":"` + path + `"}}]}`
	}
	w := hosttest.New(t, hosttest.Setting{Window: 40_000, Overrides: host.Overrides{Allow: []string{"Bash"}}}, read("^read", "sub/deep/a.txt"), `{"again":true,"if":{"user":"^move"},"do":[{"call":"Bash","input":{"command":"cd other"}}]}`,
		`{"if":{"kind":"compact"},"do":[{"text":"SUMMARY"}]}`, `{"again":true,"do":[{"text":"well"}]}`)
	w.File("AGENTS.md", "RULES-OF-THE-TOP")
	w.File("sub/AGENTS.md", "RULES-OF-SUB")
	w.File("other/AGENTS.md", "RULES-OF-OTHER")
	w.File("sub/deep/a.txt", "plum\n")
	e := w.Begin(false)
	e.Say("hello")
	if body := w.Asked(0)[0]; !strings.Contains(body, "RULES-OF-THE-TOP") || strings.Contains(body, "RULES-OF-SUB") {
		t.Errorf("at the beginning: %s", body)
	}
	before := len(w.Asked(0))
	e.Say("read it")
	asked := w.Asked(before)
	if len(asked) != 2 || strings.Contains(asked[0], "RULES-OF-SUB") || strings.Count(asked[1], "RULES-OF-SUB") != 1 || strings.Contains(asked[1], "RULES-OF-OTHER") {
		t.Errorf("when the folder is touched: %q", asked)
	}
	e.Say("read it again")
	if n := toldOf(w, e.ID); n != 1 {
		t.Errorf("told %d times", n)
	}
	// After a rewind to before that call it is told again, when the folder is touched again.
	first := e.Answers()[0]
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &first})
	e.Say("hello again")
	if n := toldOf(w, e.ID); n != 1 {
		t.Errorf("told %d times without a call", n)
	}
	e.Say("read it")
	if n := toldOf(w, e.ID); n != 2 {
		t.Errorf("told %d times after a rewind", n)
	}
	// So it is after a compaction.
	for range 2 {
		e.Say("long: " + strings.Repeat("word ", 5000))
	}
	if done := e.Compact(); done.EventID == "" {
		t.Fatal("nothing was compacted")
	}
	e.Say("hello")
	if n := toldOf(w, e.ID); n != 2 {
		t.Errorf("told %d times after a compaction, without a call", n)
	}
	e.Say("read it")
	if n := toldOf(w, e.ID); n != 3 {
		t.Errorf("told %d times after a compaction", n)
	}
	before = len(w.Asked(0))
	e.Say("move there")
	asked = w.Asked(before)
	if len(asked) != 2 || strings.Count(asked[1], "RULES-OF-OTHER") != 1 || strings.Count(asked[1], "RULES-OF-SUB") != 1 {
		t.Errorf("when commands run in a folder: %q", asked)
	}
	w.Judged()
}
