package cli

import (
	"bytes"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestDialogsOfExtensionsAreAskedAndAnswered(t *testing.T) {
	confirm := protocol.Dialog{Kind: protocol.DialogConfirm, Title: "Run it?", Message: "rm x", Source: "a command"}
	pick := protocol.Dialog{Kind: protocol.DialogSelect, Title: "Which?", Options: []protocol.Option{{Label: "a"}, {Label: "b"}}}
	input := protocol.Dialog{Kind: protocol.DialogInput, Title: "Name?"}
	for _, c := range []struct {
		dialog protocol.Dialog
		typed  string
		want   string // the value; "" is a line that leaves it open
	}{
		{confirm, "1", "true"}, {confirm, "no", "false"}, {confirm, "Y", "true"}, {confirm, "maybe", ""}, {confirm, "3", ""}, {confirm, "/skip", "null"},
		{pick, "2", `"b"`}, {pick, "a", `"a"`}, {pick, "c", ""}, {pick, "/skip", "null"},
		{input, "Ada Lovelace", `"Ada Lovelace"`}, {input, "7", `"7"`}, {input, "/skip", "null"},
		{protocol.Dialog{Kind: protocol.DialogEditor, Title: "Text?"}, "words", `"words"`},
	} {
		var out bytes.Buffer
		a := &asker{screen: &pipeScreen{out: &out}}
		a.sync(&protocol.Live{UI: []protocol.UIRequest{{UIID: "ui_1", Data: c.dialog}}})
		if !strings.Contains(out.String(), c.dialog.Title) || !strings.Contains(out.String(), c.dialog.Message) {
			t.Errorf("%s is shown as %q", c.dialog.Kind, out.String())
		}
		req, handled := a.answer(c.typed)
		if !handled {
			t.Fatalf("%s: %q is not taken", c.dialog.Kind, c.typed)
		}
		got := ""
		if r, ok := req.(*protocol.AnswerUI); ok {
			got = string(r.Value)
			if err := c.dialog.Check(r.Value); err != nil {
				t.Errorf("%s: the host would refuse %s: %v", c.dialog.Kind, got, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.dialog.Kind, c.typed, got, c.want)
		}
		if open := a.asked().id() != ""; open != (c.want == "") {
			t.Errorf("%s: after %q it is open: %v", c.dialog.Kind, c.typed, open)
		}
	}
	a := &asker{screen: &pipeScreen{out: &bytes.Buffer{}}}
	a.sync(&protocol.Live{UI: []protocol.UIRequest{{UIID: "ui_1", Data: protocol.Dialog{Kind: "later"}}}})
	if a.asked().id() != "" {
		t.Error("a dialog of an unknown kind is asked")
	}
}

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
