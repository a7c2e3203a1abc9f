package subagent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// efforts returns how much each request of the model wants it to think.
func efforts(w *hosttest.World) (out []string) {
	for _, r := range w.Server.Requests() {
		out = append(out, hosttest.Between(string(r.Body), `"reasoning_effort":"`, `"`))
	}
	return out
}

const tidyCall = `{"if":{"user":"^start"},"do":[{"call":"Task","id":"t1","input":{"agent":"tidy","description":"tidy up","prompt":"TASK-OF-CHILD"}}]}`

func TestTheFieldsOfAnAgentsFileCountInItsRun(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{API: "openai-completions", Tables: "reasoning = true\n"}, tidyCall,
		`{"if":{"user":"TASK-OF-CHILD"},"do":[{"call":"Glob","id":"g1","input":{"pattern":"*"}}]}`,
		`{"if":{"result":"refused by the agent's hook"},"do":[{"text":"CHILD-END"}]}`,
		`{"if":{"result":"CHILD-END"},"do":[{"text":"done"}]}`)
	w.User("skills/release/SKILL.md", "---\ndescription: Notes\n---\nHOW-TO-RELEASE")
	w.User("agents/tidy.md", "---\ndescription: Tidies\ncolor: green\neffort: high\nskills: [release]\ninitialPrompt: SAID-FIRST\n"+
		"hooks:\n  - {event: PreToolUse, matcher: Glob, command: \"echo \\\"refused by the agent's hook\\\" >&2; exit 2\"}\n---\ndo it")
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	if d := e.LastResult().Details; !strings.Contains(string(d), `"color":"green"`) {
		t.Errorf("details: %s", d)
	}
	if got := strings.Join(efforts(w), " "); got != " high high " {
		t.Errorf("the levels of the requests are %q", got)
	}
	body := string(w.Server.Requests()[1].Body)
	last := -1
	for _, part := range []string{"SAID-FIRST", "HOW-TO-RELEASE", "TASK-OF-CHILD"} {
		at := strings.Index(body, part)
		if at <= last {
			t.Errorf("%s stands at %d, not behind %d: %s", part, at, last, body)
		}
		last = at
	}
	list := hosttest.Call[*protocol.AgentList](t, e.C, "", &protocol.ListAgents{WorkDir: w.Project})
	for _, a := range list.Agents {
		if a.Name == "tidy" && (a.Color != "green" || a.Effort != "high" || a.Hooks != 1 || a.Initial != "SAID-FIRST" || len(a.Skills) != 1) {
			t.Errorf("listed as %+v", a)
		}
	}
}

func TestAnAgentThatWorksInTheBackgroundAlwaysDoes(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, tidyCall, `{"if":{"result":"works in the background as task_"},"do":[{"text":"I go on"}]}`,
		`{"again":true,"do":[{"text":"done"}]}`)
	w.User("agents/tidy.md", "---\ndescription: Tidies\nbackground: true\n---\ndo it")
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	if got := e.LastResult().PlainText(); !strings.HasPrefix(got, "The agent tidy works in the background") {
		t.Errorf("result %q", got)
	}
}

func TestAnAgentWhoseSkillIsMissingDoesNotBegin(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, tidyCall, `{"if":{"result":"it needs the skill release: there is no skill"},"do":[{"text":"done"}]}`)
	w.User("agents/tidy.md", "---\ndescription: Tidies\nskills: release\n---\ndo it")
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	if logs, _ := os.ReadDir(filepath.Join(w.Home, ".scorel", "sessions")); strings.Count(names(logs), ".jsonl") != 1 {
		t.Errorf("sessions: %s", names(logs))
	}
}

func TestThePlanAgentOnlyReads(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, strings.Replace(tidyCall, "tidy", "plan", 1), `{"if":{"user":"TASK-OF-CHILD"},"do":[{"text":"THE-PLAN"}]}`,
		`{"if":{"result":"THE-PLAN"},"do":[{"text":"done"}]}`)
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	body := string(w.Server.Requests()[1].Body)
	for _, name := range []string{"Read", "Grep", "Glob"} {
		if !strings.Contains(body, `"name":"`+name+`"`) {
			t.Errorf("it has no %s", name)
		}
	}
	for _, name := range []string{"Write", "Edit", "Bash", "Task", "WebFetch"} {
		if strings.Contains(body, `"name":"`+name+`"`) {
			t.Errorf("it has %s", name)
		}
	}
}

func names(list []os.DirEntry) string {
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}
