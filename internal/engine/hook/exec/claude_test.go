package exec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/hook"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

func TestAnswersOfHooksOfClaudeCodeBeforeACall(t *testing.T) {
	specific := func(members string) string {
		return `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + members + `}}'`
	}
	for _, c := range []struct {
		name, command string
		want          hook.ToolDecision
		failed        string
	}{
		{name: "exit 0 goes on", command: "echo fine"},
		{name: "exit 2 denies with stderr", command: "echo no >&2; exit 2", want: hook.ToolDecision{Verdict: hook.Deny, Reason: "no"}},
		{name: "exit 2 counts before JSON", command: `echo '{"decision":"approve"}'; echo no >&2; exit 2`, want: hook.ToolDecision{Verdict: hook.Deny, Reason: "no"}},
		{name: "another status stops nothing", command: "echo 'no jq' >&2; exit 1", failed: "it ended with status 1: no jq"},
		{name: "deny", command: specific(`"permissionDecision":"deny","permissionDecisionReason":"not here"`), want: hook.ToolDecision{Verdict: hook.Deny, Reason: "not here"}},
		{name: "allow", command: specific(`"permissionDecision":"allow"`), want: hook.ToolDecision{Verdict: hook.Allow}},
		{name: "ask", command: specific(`"permissionDecision":"ask","permissionDecisionReason":"sure?"`), want: hook.ToolDecision{Verdict: hook.Ask, Reason: "sure?"}},
		{name: "a decision that is not known is asked about", command: specific(`"permissionDecision":"defer"`), want: hook.ToolDecision{Verdict: hook.Ask, Reason: `A hook says "defer", which Scorel does not know.`}},
		{name: "the older form", command: `echo '{"decision":"block","reason":"old"}'`, want: hook.ToolDecision{Verdict: hook.Deny, Reason: "old"}},
		{name: "the older form approves", command: `echo '{"decision":"approve","suppressOutput":true}'`, want: hook.ToolDecision{Verdict: hook.Allow}},
		{name: "the newer form counts", command: `echo '{"decision":"approve","hookSpecificOutput":{"permissionDecision":"deny"}}'`, want: hook.ToolDecision{Verdict: hook.Deny}},
		{name: "continue false denies", command: `echo '{"continue":false,"stopReason":"enough","hookSpecificOutput":{"permissionDecision":"allow"}}'`, want: hook.ToolDecision{Verdict: hook.Deny, Reason: "enough"}},
		{name: "an input and a note", command: specific(`"updatedInput":{"command":"true","timeout":1500},"additionalContext":"changed"`), want: hook.ToolDecision{Input: json.RawMessage(`{"command":"true","timeout_seconds":2}`), Context: "changed"}},
		{name: "half an object is words", command: `echo '{"decision":"block"'`},
		{name: "members that are not known", command: `echo '{"x":1,"hookSpecificOutput":{"y":2}}'`},
		{name: "text that is not UTF-8", command: `printf '\377'`, failed: "not UTF-8"},
		{name: "a member of another kind", command: `echo '{"continue":"no"}'`, failed: "cannot be read"},
		{name: "10 MB", command: "yes | head -c 10000000", failed: "more than 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := newTrial(t)
			s := tr.hook(config.Hook{Event: "PreToolUse", Command: c.command, Claude: true})
			if !s.FailOpen {
				t.Error("a failure blocks")
			}
			got, err := s.BeforeTool(t.Context(), pushing)
			if c.failed == "" && err != nil || c.failed != "" && (err == nil || !strings.Contains(err.Error(), c.failed)) {
				t.Fatalf("error %v, want one with %q", err, c.failed)
			}
			if got.Verdict != c.want.Verdict || got.Reason != c.want.Reason || string(got.Input) != string(c.want.Input) || got.Context != c.want.Context {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAHookOfClaudeCodeIsToldWhatItKnows(t *testing.T) {
	tr := newTrial(t)
	told := func() map[string]any {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(tr.root, "told.json"))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		return m
	}
	hookOf := func(event, matcher string) hook.Subscriber {
		return tr.hook(config.Hook{Event: event, Matcher: matcher, Command: `cat > "$CLAUDE_PROJECT_DIR/told.json"`, Claude: true})
	}
	edit := hook.ToolCall{ID: "c1", Name: "Edit", Input: json.RawMessage(`{"path":"a.go","edits":[{"old_string":"x","new_string":"y"}]}`)}
	if _, err := hookOf("PreToolUse", "Edit|Write").BeforeTool(t.Context(), edit); err != nil {
		t.Fatal(err)
	}
	m := told()
	input, _ := m["tool_input"].(map[string]any)
	if m["tool_name"] != "Edit" || m["tool_use_id"] != "c1" || m["hook_event_name"] != "PreToolUse" || input["file_path"] != tr.root+"/a.go" || input["old_string"] != "x" || m["tool_call_id"] != nil {
		t.Errorf("before an edit: %v", m)
	}
	result := hook.ToolResult{Content: []protocol.Block{protocol.Text("done")}}
	if _, err := hookOf("PostToolUse", "MultiEdit").AfterTool(t.Context(), edit, result); err != nil {
		t.Fatal(err)
	}
	m = told()
	response, _ := m["tool_response"].(map[string]any)
	if response["success"] != true || response["filePath"] != tr.root+"/a.go" || response["content"] != "done" {
		t.Errorf("behind an edit: %v", m)
	}
	if err := os.Remove(filepath.Join(tr.root, "told.json")); err != nil {
		t.Fatal(err)
	}
	result.IsError = true
	for _, h := range []hook.Subscriber{hookOf("PostToolUse", ""), hookOf("PreToolUse", "edit"), hookOf("PostToolUse", "Read")} {
		if h.AfterTool != nil {
			_, _ = h.AfterTool(t.Context(), edit, result)
		} else {
			_, _ = h.BeforeTool(t.Context(), edit)
		}
	}
	_, _ = hookOf("SessionStart", "resume").SessionStart(t.Context(), hook.SessionStart{Reason: "startup"})
	hookOf("Notification", "idle_prompt").Happened(t.Context(), hook.Happening{Type: "notification", Data: json.RawMessage(`{"message":"x","about":"permission"}`)})
	if data, err := os.ReadFile(filepath.Join(tr.root, "told.json")); err == nil {
		t.Errorf("a hook ran that is about something else: %s", data)
	}
	hookOf("Notification", "permission_prompt").Happened(t.Context(), hook.Happening{Type: "notification", Data: json.RawMessage(`{"message":"x","about":"permission"}`)})
	if m := told(); m["notification_type"] != "permission_prompt" || m["message"] != "x" {
		t.Errorf("a notification: %v", m)
	}
	if _, err := hookOf("PreCompact", "auto").BeforeCompact(t.Context(), hook.Compaction{Reason: "threshold"}); err != nil || told()["trigger"] != "auto" {
		t.Errorf("a compaction: %v, %v", told(), err)
	}
}

func TestOtherEventsOfHooksOfClaudeCode(t *testing.T) {
	tr := newTrial(t)
	h := func(event, command string) hook.Subscriber {
		return tr.hook(config.Hook{Event: event, Command: command, Claude: true})
	}
	ctx := t.Context()
	if note, err := h("SessionStart", "echo the branch is main").SessionStart(ctx, hook.SessionStart{Reason: "startup"}); err != nil || note != "the branch is main" {
		t.Errorf("SessionStart: %q, %v", note, err)
	}
	if d, err := h("UserPromptSubmit", "echo today").Prompt(ctx, hook.Prompt{}); err != nil || d.Context != "today" || d.Verdict != hook.Continue {
		t.Errorf("UserPromptSubmit: %+v, %v", d, err)
	}
	if d, err := h("UserPromptSubmit", `echo '{"hookSpecificOutput":{"additionalContext":"more"}}'`).Prompt(ctx, hook.Prompt{}); err != nil || d.Context != "more" {
		t.Errorf("UserPromptSubmit: %+v, %v", d, err)
	}
	if d, err := h("UserPromptSubmit", `echo '{"decision":"block","reason":"no"}'`).Prompt(ctx, hook.Prompt{}); err != nil || d.Verdict != hook.Deny || d.Reason != "no" {
		t.Errorf("UserPromptSubmit: %+v, %v", d, err)
	}
	if text, err := h("Stop", "echo 'tests fail' >&2; exit 2").Stop(ctx, hook.Stop{}); err != nil || text != "tests fail" {
		t.Errorf("Stop: %q, %v", text, err)
	}
	if text, err := h("Stop", `echo '{"continue":false,"decision":"block","reason":"x"}'`).Stop(ctx, hook.Stop{}); err != nil || text != "" {
		t.Errorf("Stop that ends: %q, %v", text, err)
	}
	if p, err := h("PostToolUse", `echo '{"decision":"block","reason":"fix it","hookSpecificOutput":{"additionalContext":"lint"}}'`).AfterTool(ctx, pushing, hook.ToolResult{}); err != nil || p.Context != "fix it\n\nlint" {
		t.Errorf("PostToolUse: %+v, %v", p, err)
	}
	if _, err := h("Stop", `echo '{"hookSpecificOutput":{"updatedInput":{},"permissionDecision":"ask"}}'`).Stop(ctx, hook.Stop{}); err != nil {
		t.Errorf("what belongs to another event is no failure there: %v", err)
	}
}

func TestAMessageOfAHookOfClaudeCodeIsShown(t *testing.T) {
	tr := newTrial(t)
	for command, want := range map[string]string{
		`echo '{"systemMessage":"look"}'`:      "look",
		`echo '{"hookSpecificOutput":'`:        "what it printed begins as JSON and is none, so it does not count as an answer",
		`echo '{"decision":"block"} and more'`: "what it printed begins as JSON and is none, so it does not count as an answer",
	} {
		var told []string
		s := Subscribers(Config{Hooks: []config.Hook{{Event: "PreToolUse", Command: command, Timeout: time.Minute, Number: 3, Source: config.Source{File: "settings.json"}, Claude: true}},
			Dir: tr.root, Root: tr.root, Mode: func() string { return "" }, Env: []string{"PATH=" + os.Getenv("PATH")}, Spawn: sandbox.New(sandbox.Config{}), Log: func(string) {}, Now: time.Now, Tell: func(text string) { told = append(told, text) }})[0]
		if _, err := s.BeforeTool(t.Context(), pushing); err != nil || len(told) != 1 || told[0] != "hook 3 of settings.json: "+want {
			t.Errorf("%s: told %q, %v", command, told, err)
		}
	}
}

func TestAProjectsHookOfClaudeCodeThatChangedBlocks(t *testing.T) {
	tr := newTrial(t)
	tr.file = ".claude/hooks/check.sh"
	s := tr.hook(config.Hook{Event: "PreToolUse", Command: "echo > ran", Claude: true, Source: config.Source{Kind: config.SourceProject}})
	d, err := s.BeforeTool(t.Context(), pushing)
	if err != nil || d.Verdict != hook.Deny || !strings.Contains(d.Reason, "not as it was when the project was trusted") {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := os.Stat(filepath.Join(tr.root, "ran")); err == nil {
		t.Error("it has run")
	}
}
