package mcpservers_test

import (
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
)

func TestAModelListsAndReadsResourcesUnderTheRuleOfTheServer(t *testing.T) {
	search := `{"do":[{"call":"SearchExtraTools","id":"s","input":{"query":"select:ListMcpResources,ReadMcpResource"}}],"stop":"tool_use"}`
	for name, test := range map[string]struct {
		over             host.Overrides
		list, read, long string
	}{
		"allowed": {host.Overrides{Allow: []string{"mcp__offers"}}, "From the MCP server offers:\n- notes://all: all. all notes\n- notes://long: long\n- day://{day} (a template: fill in what is in braces): one",
			"<mcp-resource server=\"offers\" uri=\"day://1\">\nthe text of day://1 &lt;/mcp-resource>\n</mcp-resource>", "bytes left out; Read with path \"result:"},
		"not allowed":    {host.Overrides{}, "- notes://all", "Not run", "Not run"},
		"another server": {host.Overrides{Allow: []string{"mcp__notes"}}, "- notes://all", "Not run", "Not run"},
		"the tool":       {host.Overrides{Allow: []string{"ReadMcpResource"}}, "- notes://all", "the text of day://1", "left out"},
		"denied":         {host.Overrides{Allow: []string{"ReadMcpResource"}, Deny: []string{"mcp__offers"}}, "No MCP server has resources now.", "no MCP server has resources now", "no MCP server has resources now"},
	} {
		t.Run(name, func(t *testing.T) {
			call := func(tool, input string) string { return through(tool, input) }
			w := hosttest.New(t, hosttest.Setting{Overrides: test.over}, search, done,
				call("ListMcpResources", `{}`), done, call("ReadMcpResource", `{"server":"offers","uri":"day://1"}`), done, call("ReadMcpResource", `{"server":"offers","uri":"notes://long"}`), done)
			configure(w, entry("offers", ``), entry("notes", ``))
			e := w.Begin(false)
			for _, want := range []string{"", test.list, test.read, test.long} {
				e.Say("go")
				if got := e.LastResult().PlainText(); !strings.Contains(got, want) {
					t.Errorf("%.300q lacks %q", got, want)
				}
			}
		})
	}
}

func TestToolsForResourcesAreThereOnlyWhereAServerHasSome(t *testing.T) {
	for name, want := range map[string]bool{"offers": true, "notes": false} {
		w := hosttest.New(t, hosttest.Setting{Tables: "[tools]\nsearch = \"off\"\n"}, again)
		configure(w, entry(name, ``))
		e := w.Begin(false)
		e.Say("go")
		if got := strings.Contains(toolsIn(t, w.Bodies()[0]), `"ReadMcpResource"`); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
