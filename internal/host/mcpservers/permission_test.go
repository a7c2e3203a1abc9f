package mcpservers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// judged is what became of a call: whether it ran, what a hook was told of it, and what
// decision stands in the log.
type judged struct{ result, hook, decision string }

// judge has a model call the tool echo of the server notes, and says what became of it.
func judge(t *testing.T, s hosttest.Setting, always bool) (j judged) {
	t.Helper()
	line, more := through("mcp__notes__echo", `{"text":"hi"}`), ""
	if always {
		line, more = calls("mcp__notes__echo", `{"text":"hi"}`), `,"alwaysLoad":true`
	}
	w := hosttest.New(t, s, line, done)
	configure(w, entry("notes", more), entry("git", ``))
	e := w.Begin(false)
	e.Say("go")
	_, text, _ := strings.Cut(results(w, e.ID)[0], ": ")
	switch {
	case strings.HasPrefix(text, "you said "):
		text = strings.TrimRight(text, "0123456789") // the process
	case strings.Contains(text, "There is no tool"):
		text = "There is no tool"
	}
	j.result = text
	if told, err := os.ReadFile(filepath.Join(w.Project, "told")); err == nil {
		j.hook = string(told)
	}
	for _, ev := range w.Log(e.ID) {
		if d, ok := ev.Body.(*protocol.PermissionDecision); ok {
			j.decision += fmt.Sprintf("%s by %q, %s;", d.Decision, d.Rule, d.Scope)
		}
	}
	return j
}

// TestACallIsJudgedAlikeDirectlyAndThroughTheSearch tries modes, rules and hooks: 4 × 5 × 2.
func TestACallIsJudgedAlikeDirectlyAndThroughTheSearch(t *testing.T) {
	ran, refused := 0, 0
	for _, mode := range []string{"default", "acceptEdits", "plan", "dontAsk"} {
		for rule, over := range map[string]host.Overrides{
			"none":       {},
			"the server": {Allow: []string{"mcp__notes"}},
			"the tool":   {Allow: []string{"mcp__notes__echo"}},
			"denied":     {Allow: []string{"mcp__notes"}, Deny: []string{"mcp__notes__echo"}},
			"another":    {Allow: []string{"mcp__git", "mcp__note", "mcp__notes__ech", "ExecuteExtraTool"}},
		} {
			for hook, says := range map[string]string{"changes": `{"input":{"text":"ho"}}`, "allows": `{"decision":"allow"}`} {
				t.Run(mode+"/"+rule+"/"+hook, func(t *testing.T) {
					over.Mode = mode
					s := hosttest.Setting{Overrides: over, Tables: fmt.Sprintf("[[hooks]]\nevent = 'PreToolUse'\nmatcher = 'mcp__notes__echo'\ncommand = '''\ngrep -o '\"tool_name\":\"[^\"]*\"\\|\"text\":\"[^\"]*\"' >> told\necho '%s'\n'''\n", says)}
					direct, found := judge(t, s, true), judge(t, s, false)
					if direct != found {
						t.Errorf("directly   %+v\nby search  %+v", direct, found)
					}
					if rule != "denied" && !strings.Contains(found.hook, `"tool_name":"mcp__notes__echo"`) { // of a tool that is not there nobody is asked
						t.Errorf("the hook is told %q", found.hook)
					}
					want := "you said hi "
					if hook == "changes" {
						want = "you said ho "
					}
					may := hook == "allows" || strings.HasPrefix(rule, "the ")
					switch {
					case mode == "plan" || rule == "denied" || !may:
						if refused++; strings.HasPrefix(found.result, "you said") {
							t.Errorf("it ran: %+v", found)
						}
					default:
						if ran++; found.result != want {
							t.Errorf("%+v", found)
						}
					}
				})
			}
		}
	}
	if ran == 0 || ran+refused != 40 {
		t.Errorf("%d ran, %d were refused", ran, refused)
	}
}

func TestAQuestionAboutACallThroughTheSearchIsOneAboutItsTool(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, through("mcp__notes__echo", `{"text":"hi"}`), done)
	configure(w, entry("notes", ``))
	e := w.Begin(true)
	e.Send("go")
	q := e.Asked(1)
	if q.ToolName != "mcp__notes__echo" || string(q.Args) != `{"text":"hi"}` || len(q.Suggestions) == 0 {
		t.Errorf("%+v", q)
	}
	for _, s := range q.Suggestions {
		if strings.Contains(fmt.Sprint(s), "ExecuteExtraTool") {
			t.Errorf("a rule for every tool is offered: %+v", s)
		}
	}
}
