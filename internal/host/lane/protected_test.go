package lane

import (
	"context"
	"slices"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestWhatACommandDidToProtectedFilesIsStoredBehindItsResultAndToldToTheModelOnce(t *testing.T) {
	tr := newTrial(t, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	notice := protocol.ProtectedNotice{ToolCallID: "c1", Changed: []string{"/p/.envrc"}}
	tr.do = func(context.Context) { tr.lane.notifyProtected(notice, "Attention: changed.") }
	tr.open()
	tr.say("go")
	want := []string{"user go", "calls", "tool_result did {}", "runtime_notice Attention: changed.", "assistant fine"}
	if got := tr.path(); !slices.Equal(got, want) {
		t.Errorf("path %q\nwant %q", got, want)
	}
	if sent := tr.model.sent(2); strings.Count(sent, "Attention: changed.") != 1 {
		t.Errorf("sent:\n%s", sent)
	}
	tr.lane.notifyProtected(notice, "Attention: of a background command.")
	if got := tr.path(); got[len(got)-1] != "runtime_notice Attention: of a background command." {
		t.Errorf("while no turn runs: %q", got)
	}
	tr.close()
}
