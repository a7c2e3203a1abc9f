package mcpservers_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
)

func TestWhatAServerSaysOfAToolIsShownInTheQuestionAndAllowsNothing(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, calls("mcp__marked__drop", `{"text":"x"}`), done, calls("mcp__marked__echo", `{"text":"x"}`), done)
	configure(w, entry("marked", `,"alwaysLoad":true`))
	e := w.Begin(true)
	e.Send("go")
	q := e.Asked(1)
	if !strings.HasSuffix(q.Reason, "The server marked says that it can change or delete data for good, and reaches other systems.") {
		t.Errorf("%q", q.Reason)
	}
}

func TestAToolThatAServerOfThePersonWantsSentIsSentOnceTheServerIsKnown(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__marked"), through("mcp__marked__echo", `{"text":"x"}`), done, done, done)
	configure(w, entry("marked", ``))
	e := w.Begin(false)
	e.Say("go")
	w.Begin(false).Say("go")
	bodies := w.Bodies()
	if other := toolsIn(t, bodies[len(bodies)-1]); !strings.Contains(other, `"mcp__marked__drop"`) || strings.Contains(other, `"mcp__marked__echo"`) {
		t.Errorf("the tools of a later session: %s", other[len(other)-1000:])
	}
}

func TestAToolThatHasGoneIsNamed(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__marked"), calls("mcp__marked__leave", `{"text":""}`), done, `{"again":true,"do":[{"call":"mcp__marked__drop","input":{"text":"x"}}],"stop":"tool_use"}`, done, done)
	configure(w, entry("marked", `,"alwaysLoad":true`))
	e := w.Begin(false)
	e.Say("go")
	w.Eventually("the tool has gone", func() bool {
		e.Say("again")
		return strings.Contains(e.LastResult().PlainText(), "the tool is no longer available: the MCP server marked does not list it any more")
	})
}

func TestTheTimeOfACallIsThatOfTheEntryOfItsSession(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__marked"), calls("mcp__marked__wait", `{"text":""}`), done, calls("mcp__marked__wait", `{"text":""}`), done)
	configure(w, entry("marked", `,"alwaysLoad":true`))
	e := w.Begin(false)
	e.Say("go")
	if got := e.LastResult().PlainText(); got != "waited" {
		t.Fatalf("%q", got)
	}
	configure(w, entry("marked", `,"alwaysLoad":true,"timeoutMs":100`))
	f := w.Begin(false)
	f.Say("go")
	if got := f.LastResult().PlainText(); !strings.Contains(got, "it has told nothing for 100ms") {
		t.Errorf("a session that shares the connection: %q", got)
	}
}
