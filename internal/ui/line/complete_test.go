package line

import (
	"bytes"
	"scorel/internal/ui/slash"
	"strings"
	"testing"
)

func TestTabCompletesCommonPrefixAndShowsCandidates(t *testing.T) {
	for _, c := range []struct {
		typed       string
		items       []string
		line, shown string
	}{
		{"/rev", []string{"/review"}, "/review ", ""},
		{"/r", []string{"/review", "/rewind"}, "/re", ""},
		{"/re", []string{"/review", "/rewind"}, "/re", "/review  /rewind"},
		{"/x", nil, "/x", ""},
		{"/mode ac", []string{"/mode acceptEdits"}, "/mode acceptEdits ", ""},
	} {
		var out bytes.Buffer
		v := &Session{term: &termScreen{edit: &editor{}}, screen: &pipeScreen{out: &out}}
		v.term.edit.set(c.typed)
		v.offer(c.typed, c.items)
		if got := string(v.term.edit.line); got != c.line || !strings.Contains(out.String(), c.shown) || c.shown == "" && out.Len() > 0 {
			t.Errorf("%q: the line is %q and %q is shown; want %q and %q", c.typed, got, out.String(), c.line, c.shown)
		}
	}
}

// TestEveryCommandOfLineModeIsHandled holds that line mode handles what package slash says
// it has, and nothing else.
func TestEveryCommandOfLineModeIsHandled(t *testing.T) {
	all := handlers()
	for _, c := range slash.For(slash.Lines) {
		if all[c.Name] == nil {
			t.Errorf("nothing handles /%s", c.Name)
		}
		delete(all, c.Name)
	}
	for name := range all {
		t.Errorf("/%s is handled and is not a command of line mode", name)
	}
}

func TestCommandsThatLinesCannotShowAreRefusedByName(t *testing.T) {
	for name, want := range map[string]string{
		"theme":  "line mode has no /theme; the terminal UI shows it: scorel attach SESSION without --plain",
		"attach": "line mode has no /add; @FILE in a message takes in a file of the project",
		"fly":    "there is no command /fly; /help lists them, and //fly sends it as text",
	} {
		if got := noCommand(name).Error(); got != want {
			t.Errorf("/%s: %q, want %q", name, got, want)
		}
	}
}
