package turnconfig_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
)

// manyTools is an extension with so many tools.
func manyTools(n int) string {
	return fmt.Sprintf(`export default function (pi: any) {
  for (let i = 0; i < %d; i++) {
    const name = "own_" + String(i).padStart(2, "0");
    pi.registerTool({ name, kind: "read", description: "does the thing " + i, execute: async () => ({ content: [{ type: "text", text: "ran " + name }] }) });
  }
}
`, n)
}

func TestToolsOfExtensionsAboveSixteenAreSearchedFor(t *testing.T) {
	for n, deferred := range map[int]bool{16: false, 17: true} {
		w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"call":"ExecuteExtraTool","id":"c1","input":{"tool_name":"own_16","params":{}}}]}`, `{"again":true,"do":[{"text":"done"}]}`)
		w.Ts("many", manyTools(n))
		e := w.Begin(false)
		e.Say("go")
		e.Say("go on")
		for _, body := range w.Bodies() {
			var r struct {
				Tools    []struct{ Name string }
				Messages json.RawMessage
			}
			if err := json.Unmarshal(body, &r); err != nil {
				t.Fatal(err)
			}
			var own []string
			has := map[string]bool{}
			for _, o := range r.Tools {
				if has[o.Name] = true; strings.HasPrefix(o.Name, "own_") {
					own = append(own, o.Name)
				}
			}
			if len(own) != 16 || !slices.IsSorted(own) || own[15] != "own_15" {
				t.Errorf("of %d these are sent: %v", n, own)
			}
			if has["SearchExtraTools"] != deferred || has["ExecuteExtraTool"] != deferred || has["Monitor"] == deferred || strings.Contains(string(r.Messages), "(whole names) AppendDaily, Monitor, NotebookEdit, own_16") != deferred {
				t.Errorf("of %d: %v", n, r.Tools)
			}
		}
		if got := e.LastResult().PlainText(); deferred != (got == "ran own_16") {
			t.Errorf("of %d: %q", n, got)
		}
	}
}
