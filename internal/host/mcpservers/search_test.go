package mcpservers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// through is a line of a script whose answer calls a tool that the model is not sent.
func through(tool, params string) string {
	return calls("ExecuteExtraTool", fmt.Sprintf(`{"tool_name":%q,"params":%s}`, tool, params))
}

// find is a line of a script whose answer searches.
func find(query string) string {
	return calls("SearchExtraTools", fmt.Sprintf(`{"query":%q}`, query))
}

// results are the texts of the results of a session.
func results(w *hosttest.World, id protocol.SessionID) (texts []string) {
	for _, m := range w.Stored(id) {
		if m.Role == protocol.RoleToolResult {
			texts = append(texts, m.ToolName+": "+m.PlainText())
		}
	}
	return texts
}

// names are those of the tools of a request.
func names(t *testing.T, body []byte) (list []string) {
	t.Helper()
	var tools []struct{ Name string }
	if err := json.Unmarshal([]byte(toolsIn(t, body)), &tools); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		list = append(list, tool.Name)
	}
	return list
}

func TestAToolIsFoundAndCalledThatTheModelIsNotSent(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__notes"), find("say it again"), through("mcp__notes__echo", `{"text":"hi"}`), through("mcp__notes__echo", `{"words":1}`), done)
	configure(w, entry("notes", ``))
	e := w.Begin(false)
	e.Say("go")
	got := results(w, e.ID)
	if len(got) != 3 || !strings.HasPrefix(got[0], "SearchExtraTools: mcp__notes__echo\n[notes says] says it again\nSchema of params: {") || !strings.HasPrefix(got[1], "ExecuteExtraTool: you said hi ") ||
		!strings.Contains(got[2], "does not fit the schema of mcp__notes__echo") || !strings.Contains(got[2], "Its schema is: {") {
		t.Errorf("%q", got)
	}
	listed := hosttest.Call[*protocol.ToolList](t, e.C, e.ID, &protocol.ListTools{})
	i := slices.IndexFunc(listed.Tools, func(l protocol.ListedTool) bool { return l.Name == "mcp__notes__echo" })
	if i < 0 || !listed.Tools[i].Deferred || listed.Tools[i].Server != "notes" || listed.Tools[i].Description != "says it again" || listed.Tools[0].Deferred || listed.Omitted != 0 {
		t.Errorf("people are shown %+v", listed)
	}
	bodies := w.Bodies()
	for _, b := range bodies {
		if toolsIn(t, b) != toolsIn(t, bodies[0]) {
			t.Error("the tools of the requests differ")
		}
	}
	list := names(t, bodies[0])
	for _, want := range []string{"SearchExtraTools", "ExecuteExtraTool", "Read", "WebFetch"} {
		if !slices.Contains(list, want) {
			t.Errorf("%s is missing: %v", want, list)
		}
	}
	for _, no := range []string{"mcp__notes__echo", "Monitor", "AppendDaily"} {
		if slices.Contains(list, no) {
			t.Errorf("%s is sent: %v", no, list)
		}
	}
	last := string(bodies[len(bodies)-1])
	if n := strings.Count(last, "- mcp__notes__ echo, exit, secret"); n != 1 {
		t.Errorf("the names are told %d times", n)
	}
}

func TestWithoutServersNothingOfTheSearchIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.Begin(false)
	e.Say("hello")
	configure(w, entry("notes", `,"disabled":true`))
	f := w.Begin(false)
	f.Say("hello")
	for _, b := range w.Bodies() {
		if strings.Contains(string(b), "ExtraTool") || strings.Contains(string(b), "mcp__") || !slices.Contains(names(t, b), "Monitor") {
			t.Errorf("%v", names(t, b))
		}
	}
}

func TestAToolThatADenyRuleTakesAwayIsNotFound(t *testing.T) {
	s := hosttest.Setting{Overrides: host.Overrides{Allow: []string{"mcp__notes"}, Deny: []string{"mcp__notes__secret", "mcp__other"}}}
	w := hosttest.New(t, s, find("select:mcp__notes__secret,mcp__other__echo,Read"), find("says nothing secret"), through("mcp__notes__secret", `{"text":""}`), through("mcp__other__echo", `{"text":""}`),
		calls("mcp__other__echo", `{"text":""}`), through("Read", `{"path":"x"}`), done)
	configure(w, entry("notes", ``), entry("other", ``))
	e := w.Begin(false)
	e.Say("go")
	got := results(w, e.ID)
	if len(got) != 6 {
		t.Fatalf("%q", got)
	}
	for i, want := range []string{"You have these already; call them directly: Read.\nThere is no tool of these names: mcp__notes__secret, mcp__other__echo.", "",
		`There is no tool "mcp__notes__secret" that can be used here`, `There is no tool "mcp__other__echo" that can be used here`, `There is no tool named "mcp__other__echo"`, "you have the tool Read: call it directly"} {
		if !strings.Contains(got[i], want) || i == 1 && strings.Contains(got[i], "mcp__notes__secret") || strings.Contains(got[i], "says nothing\n") || strings.Contains(got[i], "key given") {
			t.Errorf("result %d is %q, want %q", i, got[i], want)
		}
	}
	for _, b := range w.Bodies() {
		var r struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(r.Messages[0]), "secret") || strings.Contains(string(r.Messages[0]), "mcp__other") {
			t.Errorf("the model is told of a denied tool: %s", r.Messages[0])
		}
	}
}

func TestWhatIsSentFollowsToolsSearch(t *testing.T) {
	for _, c := range []struct {
		search string
		inline bool
	}{{"on", false}, {"off", true}, {"auto", true}, {"auto:0", false}, {"auto:100", true}} {
		t.Run(c.search, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Tables: "[tools]\nsearch = '" + c.search + "'\n"}, `{"again":true,"do":[{"text":"done"}]}`)
			configure(w, entry("notes", ``))
			e := w.Begin(false)
			e.Say("hello")
			e.Say("and again")
			for _, b := range w.Bodies() {
				list := names(t, b)
				if got := slices.Contains(list, "mcp__notes__echo"); got != c.inline || slices.Contains(list, "ExecuteExtraTool") == c.inline {
					t.Errorf("%v", list)
				}
			}
		})
	}
}

func TestARuleForTheSearchTakesItAwayAndTheToolsAreSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Deny: []string{"ExecuteExtraTool"}}}, `{"again":true,"do":[{"text":"done"}]}`)
	configure(w, entry("notes", ``))
	w.Begin(false).Say("hello")
	if list := names(t, w.Bodies()[0]); !slices.Contains(list, "mcp__notes__echo") || slices.Contains(list, "SearchExtraTools") {
		t.Errorf("%v", list)
	}
	if sent := toolsIn(t, w.Bodies()[0]); !strings.Contains(sent, `"description":"[notes says] says it again"`) {
		t.Errorf("the description does not say whose it is: %s", sent)
	}
}

func TestNamesAreToldAgainAfterARewindAndAnotherBegin(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__notes"), find("say"), done, done, done)
	configure(w, entry("notes", ``))
	e := w.Begin(false)
	e.Say("go")
	e.Say("go on")
	const told = "- mcp__notes__ echo, exit, secret"
	bodies := w.Bodies()
	if n := strings.Count(string(bodies[len(bodies)-1]), told); n != 1 {
		t.Errorf("told %d times", n)
	}
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{})
	e.Say("from the beginning")
	bodies = w.Bodies()
	if n := strings.Count(string(bodies[len(bodies)-1]), told); n != 1 {
		t.Errorf("after a rewind to the beginning told %d times: %s", n, bodies[len(bodies)-1])
	}
}
