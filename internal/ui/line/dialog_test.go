package line

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/protocol"
)

const aForm = `{"type":"object","properties":{"name":{"type":"string","title":"Your name"},"age":{"type":"integer","title":"Age"},"sure":{"type":"boolean"},` +
	`"colour":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]}},"required":["name","age"]}`

func TestExtensionDialogIsAnsweredInLines(t *testing.T) {
	options := []protocol.Option{{Label: "red"}, {Label: "green", Description: "like grass"}, {Label: "1"}}
	for _, c := range []struct {
		name   string
		dialog protocol.Dialog
		lines  []string
		want   string // "" for none
		shows  string
	}{
		{"a number", protocol.Dialog{Kind: "select", Title: "Which?", Options: options}, []string{"2"}, `"green"`, "  2  green: like grass\n"},
		{"a label", protocol.Dialog{Kind: "select", Title: "Which?", Options: options}, []string{" green "}, `"green"`, ""},
		{"a label that is a number", protocol.Dialog{Kind: "select", Title: "Which?", Options: options}, []string{"1"}, `"1"`, ""},
		{"no such choice", protocol.Dialog{Kind: "select", Title: "Which?", Options: options}, []string{"7"}, "", `there is no choice "7"`},
		{"a plan that is approved", protocol.Dialog{Kind: "plan", Title: "Approve this plan?", Text: "1. Look.\n2. Mend."}, []string{"y"}, `{"decision":"approve"}`, "? Approve this plan?\n  1. Look.\n  2. Mend.\n"},
		{"a plan with edits", protocol.Dialog{Kind: "plan", Text: "1."}, []string{"E"}, `{"decision":"acceptEdits"}`, ""},
		{"a plan that is to change", protocol.Dialog{Kind: "plan", Text: "1."}, []string{"smaller"}, `{"decision":"revise","feedback":"smaller"}`, ""},
		{"yes", protocol.Dialog{Kind: "confirm", Title: "Sure?", Message: "It deletes.", Source: "gate"}, []string{"Y"}, "true", "? Sure? [gate]\n  It deletes.\n"},
		{"no", protocol.Dialog{Kind: "confirm", Title: "Sure?"}, []string{"no"}, "false", ""},
		{"neither", protocol.Dialog{Kind: "confirm", Title: "Sure?"}, []string{"perhaps"}, "", "  y or n\n"},
		{"a line", protocol.Dialog{Kind: "input", Title: "Name?", Placeholder: "main"}, []string{"it is"}, `"it is"`, "such as main"},
		{"too long a line", protocol.Dialog{Kind: "input", Title: "Name?"}, []string{strings.Repeat("x", protocol.MaxAnswer+1)}, "", "at most 4096 bytes"},
		{"lines", protocol.Dialog{Kind: "editor", Title: "Text?", Text: "old"}, []string{"one", "/two", "", "."}, `"one\n/two\n"`, "  old\n"},
		{"unfinished lines", protocol.Dialog{Kind: "editor", Title: "Text?"}, []string{"one"}, "", ""},
		{"closed", protocol.Dialog{Kind: "editor", Title: "Text?"}, []string{"one", "/skip"}, "null", ""},
		{"an address", protocol.Dialog{Kind: "url", Title: "Sign in", URL: "https://example.com/x"}, []string{"y"}, "true", "  https://example.com/x\n"},
		{"an address that is not opened", protocol.Dialog{Kind: "url", URL: "https://example.com/x"}, []string{"n"}, "false", ""},
		{"a form", protocol.Dialog{Kind: "form", Title: "Who?", Schema: json.RawMessage(aForm)}, []string{"Ada", "x", "7", "", "2", "y"}, `{"age":7,"colour":"g","name":"Ada"}`, "  1 of 4: Your name\n"},
		{"a form that is declined", protocol.Dialog{Kind: "form", Schema: json.RawMessage(aForm)}, []string{"Ada", "7", "", "Red", "n"}, "false", "  Your name: \"Ada\"\n"},
		{"a form that is closed", protocol.Dialog{Kind: "form", Schema: json.RawMessage(aForm)}, []string{"Ada", "/skip"}, "null", ""},
		{"a form that needs a value", protocol.Dialog{Kind: "form", Schema: json.RawMessage(aForm)}, []string{"Ada", ""}, "", "Age must be given"},
		{"a form that cannot be read", protocol.Dialog{Kind: "form", Schema: json.RawMessage("{}")}, []string{"y", "/skip"}, "null", "the form cannot be shown"},
		{"what an extension draws", protocol.Dialog{Kind: "custom", Title: "Pick", Source: "gate"}, []string{"/skip"}, "null", "? Pick [gate]\n  The extension draws this itself, which takes a whole terminal: open this session in one with scorel attach.\n"},
		{"escape sequences", protocol.Dialog{Kind: "confirm", Title: "a\x1b[2Kb\u202e"}, []string{"y"}, "true", "? "},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, out := watched()
			v.live.UI = []protocol.UIRequest{{UIID: "ui_1", Data: c.dialog}}
			v.ask.sync(&v.live)
			var sent protocol.Request
			for _, line := range c.lines {
				_, _, isCommand := commandOf(line)
				req, handled := v.answer(line, isCommand)
				if !handled {
					t.Fatalf("%q is not taken", line)
				}
				if req != nil {
					sent = req
				}
			}
			if a, ok := sent.(*protocol.AnswerUI); c.want == "" && sent != nil || c.want != "" && (!ok || string(a.Value) != c.want || a.UIID != "ui_1") {
				t.Errorf("answered %+v, want %s", sent, c.want)
			}
			if !strings.Contains(out.String(), c.shows) || strings.ContainsAny(out.String(), "\x1b\u202e") {
				t.Errorf("shown:\n%q", out)
			}
			if c.want == "" {
				return
			}
			if v.ask.asked().id() != "" {
				t.Error("it is asked for while the answer is on its way")
			}
			v.ask.again(sent)
			v.ask.sync(&v.live)
			if v.ask.asked().id() != "ui_1" {
				t.Error("an answer that was refused is not asked for again")
			}
		})
	}
}

func TestLinesAreNoAnswerToWhatAnExtensionDraws(t *testing.T) {
	v, _ := watched()
	v.live.UI = []protocol.UIRequest{{UIID: "ui_1", Data: protocol.Dialog{Kind: protocol.DialogCustom, Title: "Pick"}}}
	v.ask.sync(&v.live)
	if req, handled := v.answer("go on with the other file", false); handled || req != nil {
		t.Errorf("it is taken as an answer: %+v", req)
	}
}
