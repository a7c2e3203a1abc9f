package mcpservers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const auxiliary = "[auxiliary]\nmodel = \"mock\"\n"

// TestAServerAsksAModelOnlyWhereItsEntrySaysSoAndSomebodyAgrees: people see what is asked and
// what it can cost, the auxiliary model answers, and the session counts it.
func TestAServerAsksAModelOnlyWhereItsEntrySaysSoAndSomebodyAgrees(t *testing.T) {
	for name, test := range map[string]struct {
		entry, tables, answer string
		want, told            string
		asked                 bool
	}{
		"agreed":       {`,"sampling":true`, auxiliary, `true`, "it is a haiku", "", true},
		"refused":      {`,"sampling":true`, auxiliary, `false`, "the user does not allow this completion", "", false},
		"no answer":    {`,"sampling":true`, auxiliary, `null`, "the completion is refused", "The MCP server dreams: a completion that it asked for is refused: nobody has answered whether it may.", false},
		"no auxiliary": {`,"sampling":true`, "", "", "the completion is refused", "refused: There is no auxiliary model; set auxiliary.model in config.toml.", false},
		"not its own":  {``, auxiliary, "", "CreateMessage", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := hosttest.Setting{Attended: true, Tables: test.tables, Overrides: host.Overrides{Allow: []string{"mcp__dreams"}}}
			w := hosttest.New(t, s, `{"if":{"user":"Write a haiku"},"do":[{"text":"it is a haiku"}]}`, calls("mcp__dreams__dream", `{"text":""}`), done)
			configure(w, entry("dreams", `,"alwaysLoad":true`+test.entry))
			e := w.Begin(true)
			e.Send("dream")
			if test.answer != "" {
				d := e.Dialog()
				if d.Data.Kind != protocol.DialogConfirm || d.Data.Source != "MCP server dreams" || d.Data.ToolCallID == "" ||
					!strings.Contains(d.Data.Message, "for an answer of at most 500 tokens. ") || !strings.Contains(d.Data.Message, "User: Write a haiku [2Jabout ") || strings.Contains(d.Data.Message, "\x1b") || len(d.Data.Message) > 9<<10 {
					t.Errorf("%+v", d.Data)
				}
				hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(test.answer)})
			}
			e.End()
			if got := e.LastResult().PlainText(); !strings.Contains(got, test.want) {
				t.Errorf("the server is told %s", got)
			}
			if test.told != "" && !w.Reports.Has(test.told) {
				t.Errorf("people are told %q", w.Reports.List)
			}
			if asked := strings.Contains(w.Diagnostics(e.ID), "beside the conversation: "); asked != test.asked {
				t.Errorf("a model was asked: %t", asked)
			}
		})
	}
}

func TestTooLargeACompletionIsRefusedUnseen(t *testing.T) {
	s := hosttest.Setting{Attended: true, Tables: auxiliary, Overrides: host.Overrides{Allow: []string{"mcp__dreams"}}}
	w := hosttest.New(t, s, calls("mcp__dreams__dream", `{"text":"large"}`), done)
	configure(w, entry("dreams", `,"alwaysLoad":true,"sampling":true`))
	e := w.Begin(true)
	e.Say("dream")
	if got := e.LastResult().PlainText(); !strings.Contains(got, "at most 64 KiB") {
		t.Errorf("the server is told %s", got)
	}
}
