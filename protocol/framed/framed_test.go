package framed_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"scorel/protocol/framed"
)

func TestTheFrameOfACommandIsReadAsTheCommandThatWasTyped(t *testing.T) {
	for text, want := range map[string]string{
		"<mcp-prompt" + framed.Attrs("mcp__notes__greet", "Bob") + " server=\"notes\">\nGreet Bob.\n</mcp-prompt>":           "/mcp__notes__greet Bob\nGreet Bob.",
		"<project-command" + framed.Attrs("git:commit", "my\n <b>\"message\"") + " path=\"/p\">\nDo.\n</project-command>\nx": "/git:commit my <b>\"message\"\nDo.\nx",
		"<mcp-prompt server=\"notes\" name=\"mcp__notes__greet\">\nGreet.\n</mcp-prompt>":                                    "/mcp__notes__greet\nGreet.",
		"<project-command name=\"a\" path=\"/p":       "<project-command name=\"a\" path=\"/p",
		"<mcp-prompt>":                                "<mcp-prompt>",
		"<mcp-prompt server=\"x\">\na\n</mcp-prompt>": "<mcp-prompt server=\"x\">\na\n</mcp-prompt>",
		"Hello <mcp-prompt name=\"a\">":               "Hello <mcp-prompt name=\"a\">",
	} {
		if got := framed.Unframed(text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
		if first, _, _ := strings.Cut(want, "\n"); want != text && framed.Typed(text) != first {
			t.Errorf("%q was typed as %q", text, framed.Typed(text))
		}
	}
}

// TestAnAttachedFileIsReadFromItsFrame goes by cases that its twin in web/src/display is held to.
func TestAnAttachedFileIsReadFromItsFrame(t *testing.T) {
	data, err := os.ReadFile("../../web/src/display/files.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		In    string
		Path  string
		Lines int
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range cases {
		path, lines, ok := framed.FileOf(c.In)
		if path != c.Path || lines != c.Lines || ok != (c.Path != "") {
			t.Errorf("%q is %q with %d lines (%t), want %+v", c.In, path, lines, ok, c)
		}
	}
}
