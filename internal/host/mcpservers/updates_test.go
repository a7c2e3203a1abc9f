package mcpservers_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// changes are the notices of a session about resources that have changed.
func changes(w *hosttest.World, id protocol.SessionID) (texts []string) {
	for _, ev := range w.Log(id) {
		if h, ok := ev.Body.(*protocol.HarnessItem); ok && h.Item.Kind == protocol.ItemRuntimeNotice && strings.HasPrefix(h.Item.Content, "These resources") {
			texts = append(texts, h.Item.Content)
		}
	}
	return texts
}

// TestAModelIsToldOnceThatAResourceHasChangedThatWasRead: by the tool or in a message, never
// with its content; of what was not read it is not told.
func TestAModelIsToldOnceThatAResourceHasChangedThatWasRead(t *testing.T) {
	touch := func(uri string) string { return calls("mcp__alive__touch", `{"text":"`+uri+`"}`) }
	w := hosttest.New(t, allowed("mcp__alive"), through("ReadMcpResource", `{"server":"alive","uri":"notes://all"}`), done,
		touch("notes://all"), touch("day://1"), touch("notes://long"), done, `{"if":{"user":"@alive"},"do":[{"text":"done"}]}`, `{"if":{"user":"^touch"},"do":[{"call":"mcp__alive__touch","input":{"text":"day://1"}}],"stop":"tool_use"}`, again)
	configure(w, entry("alive", `,"alwaysLoad":true`))
	e := w.Begin(false)
	e.Say("read")
	e.Say("change")
	const lead = "These resources of MCP servers have changed since they were read. Read one again if you need it as it is now:\n- "
	w.Eventually("the change is told", func() bool { e.Say("more"); return len(changes(w, e.ID)) > 0 })
	e.Say("@alive:day://1")
	e.Say("touch")
	w.Eventually("the other change is told", func() bool { e.Say("more"); return len(changes(w, e.ID)) > 1 })
	if got := strings.Join(changes(w, e.ID), "\n"); got != lead+"notes://all of the server alive\n"+lead+"day://1 of the server alive" {
		t.Errorf("told %q", got)
	}
	hosttest.Extends(t, "the last request", w.Bodies()[len(w.Bodies())-2], w.Bodies()[len(w.Bodies())-1])
}
