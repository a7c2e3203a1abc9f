package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestTabCompletesWhatAllHaveInCommonAndShowsTheRest(t *testing.T) {
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
		v := &liveSession{term: &termScreen{edit: &editor{}}, screen: &pipeScreen{out: &out}}
		v.term.edit.set(c.typed)
		v.offer(c.typed, c.items)
		if got := string(v.term.edit.line); got != c.line || !strings.Contains(out.String(), c.shown) || c.shown == "" && out.Len() > 0 {
			t.Errorf("%q: the line is %q and %q is shown; want %q and %q", c.typed, got, out.String(), c.line, c.shown)
		}
	}
}

func TestTheCommandsOfAttachAreThoseOfItsHelp(t *testing.T) {
	own := strings.Join(ownCommands(), " ")
	if !strings.HasPrefix(own, "help steer queue cancel rewind ") || strings.Contains(own, "text") || strings.Contains(own, "/") {
		t.Errorf("%s", own)
	}
}
