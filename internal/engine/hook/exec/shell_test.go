package exec

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/hook"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// trial is a project and what hooks leave in the diagnostics.
type trial struct {
	t    *testing.T
	root string
	mu   sync.Mutex
	log  []string
	file string // that is said to have changed
}

func newTrial(t *testing.T) *trial { return &trial{t: t, root: t.TempDir()} }

// hook makes the subscriber of one hook.
func (tr *trial) hook(h config.Hook) hook.Subscriber {
	tr.t.Helper()
	if h.Timeout == 0 {
		h.Timeout = time.Minute
	}
	h.Number, h.Source.File = 1, "config.toml"
	return Subscribers(Config{Hooks: []config.Hook{h}, Session: "ses_1", Dir: tr.root, Root: tr.root, Mode: func() string { return "default" },
		Env: []string{"PATH=" + os.Getenv("PATH")}, Spawn: sandbox.New(sandbox.Config{}), Changed: func(string) (string, error) { return tr.file, nil },
		Log: func(line string) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.log = append(tr.log, line)
		}, Now: time.Now})[0]
}

var pushing = hook.ToolCall{ID: "c1", Name: "Bash", Input: json.RawMessage(`{"command":"git push"}`)}

func TestAnswersBeforeACall(t *testing.T) {
	for _, c := range []struct {
		name, command string
		want          hook.ToolDecision
		failed        string // what the error contains; "" for none
		log           string
	}{
		{name: "exit 0 goes on", command: "exit 0", log: "continue (exit 0)"},
		{name: "words at exit 0 go on", command: "echo fine", log: "continue (exit 0)"},
		{name: "exit 2 denies with stderr", command: "echo 'not now' >&2; exit 2", want: hook.ToolDecision{Verdict: hook.Deny, Reason: "not now"}, log: "deny (exit 2)"},
		{name: "exit 2 with stderr that is not UTF-8", command: `printf 'a\377b' >&2; exit 2`, want: hook.ToolDecision{Verdict: hook.Deny, Reason: "a\uFFFDb"}},
		{name: "JSON denies", command: `echo '{"decision":"block","reason":"no"}'`, want: hook.ToolDecision{Verdict: hook.Deny, Reason: "no"}},
		{name: "JSON decides at exit 1", command: `echo '{"decision":"allow"}'; exit 1`, want: hook.ToolDecision{Verdict: hook.Allow}, log: "allow (exit 1)"},
		{name: "JSON decides at exit 2", command: `echo '{"decision":"ask","reason":"sure?"}'; exit 2`, want: hook.ToolDecision{Verdict: hook.Ask, Reason: "sure?"}},
		{name: "JSON without a decision at exit 2 denies", command: `echo '{"context":"x"}'; exit 2`, want: hook.ToolDecision{Verdict: hook.Deny}},
		{name: "JSON without a decision at exit 1 is a failure", command: `echo '{"context":"x"}'; exit 1`, failed: "status 1"},
		{name: "an input and a note", command: `echo '{"input":{"command":"true"},"context":"changed"}'`, want: hook.ToolDecision{Input: json.RawMessage(`{"command":"true"}`), Context: "changed"}},
		{name: "another status is a failure", command: "echo 'no jq' >&2; exit 1", failed: "it ended with status 1: no jq", log: "failed (exit 1)"},
		{name: "a signal is a failure", command: "kill -9 $$", failed: "status 137"},
		{name: "no such program", command: "/nowhere/at/all", failed: "status 127"},
		{name: "half an object is a failure", command: `echo '{"decision":"block"'`, failed: "cannot be read"},
		{name: "half an object at exit 2 denies", command: `echo '{"decision":'; exit 2`, want: hook.ToolDecision{Verdict: hook.Deny}},
		{name: "a field of another program is a failure", command: `echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'`, failed: "unknown field"},
		{name: "two objects are a failure", command: `echo '{"decision":"allow"} {"decision":"deny"}'`, failed: "not one JSON object"},
		{name: "an unknown decision is a failure", command: `echo '{"decision":"maybe"}'`, failed: `its decision is "maybe"`},
		{name: "text that is not UTF-8 is a failure", command: `printf '\377\376'`, failed: "not UTF-8"},
		{name: "JSON that is not UTF-8 is a failure", command: `printf '{"decision":"allow","reason":"\377"}'`, failed: "not UTF-8"},
		{name: "10 MB are a failure", command: "yes | head -c 10000000", failed: "more than 65536 bytes"},
		{name: "10 MB at exit 2 deny", command: "yes | head -c 10000000; exit 2", want: hook.ToolDecision{Verdict: hook.Deny}},
		{name: "10 MB of JSON are a failure", command: `printf '{"decision":"allow","reason":"'; yes x | head -c 10000000 | tr -d '\n'; printf '"}'`, failed: "more than 65536 bytes"},
		{name: "stdin that is not read is none", command: "exec <&-; exit 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := newTrial(t)
			s := tr.hook(config.Hook{Event: "PreToolUse", Command: c.command, Blocks: true})
			got, err := s.BeforeTool(t.Context(), pushing)
			if c.failed == "" && err != nil || c.failed != "" && (err == nil || !strings.Contains(err.Error(), c.failed)) {
				t.Fatalf("error %v, want one with %q", err, c.failed)
			}
			if got.Verdict != c.want.Verdict || got.Reason != c.want.Reason || string(got.Input) != string(c.want.Input) || got.Context != c.want.Context {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if len(tr.log) != 1 || !strings.Contains(tr.log[0], c.log) || strings.Contains(tr.log[0], "push") || !strings.HasPrefix(tr.log[0], "hook 1 of config.toml: PreToolUse Bash: ") {
				t.Errorf("log: %q", tr.log)
			}
		})
	}
}

func TestAHookIsToldWhatTheDocumentationSays(t *testing.T) {
	tr := newTrial(t)
	told := filepath.Join(tr.root, "told.json")
	ask := func(event string) config.Hook { return config.Hook{Event: event, Command: "cat > told.json"} }
	check := func(name, want string) {
		t.Helper()
		data, err := os.ReadFile(told)
		if err != nil {
			t.Fatal(err)
		}
		head := `{"hook_event_name":"` + name + `","session_id":"ses_1","cwd":"` + tr.root + `","project_root":"` + tr.root + `","permission_mode":"default"`
		if string(data) != head+want+"}" {
			t.Errorf("%s was told\n%s\nwant\n%s", name, data, head+want+"}")
		}
	}
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := tr.hook(ask("PreToolUse")).BeforeTool(ctx, pushing)
	must(err)
	check("PreToolUse", `,"tool_name":"Bash","tool_input":{"command":"git push"},"tool_call_id":"c1"`)
	_, err = tr.hook(ask("PostToolUse")).AfterTool(ctx, pushing, hook.ToolResult{Content: []protocol.Block{protocol.Text("done")}, IsError: true})
	must(err)
	check("PostToolUse", `,"tool_name":"Bash","tool_input":{"command":"git push"},"tool_call_id":"c1","tool_response":{"content":"done","isError":true}`)
	_, err = tr.hook(ask("UserPromptSubmit")).Prompt(ctx, hook.Prompt{Content: []protocol.Block{protocol.Text("hi")}, Source: "interactive"})
	must(err)
	check("UserPromptSubmit", `,"prompt":"hi","source":"interactive"`)
	_, err = tr.hook(ask("SessionStart")).SessionStart(ctx, hook.SessionStart{Reason: "resume"})
	must(err)
	check("SessionStart", `,"source":"resume"`)
	_, err = tr.hook(ask("Stop")).Stop(ctx, hook.Stop{Blocked: 1, Text: "bye"})
	must(err)
	check("Stop", `,"stop_hook_active":true,"last_message":"bye"`)
	_, err = tr.hook(ask("PreCompact")).BeforeCompact(ctx, hook.Compaction{Reason: "manual", Instructions: "the names"})
	must(err)
	check("PreCompact", `,"trigger":"manual","custom_instructions":"the names"`)
	tr.hook(ask("SessionEnd")).Happened(ctx, hook.Happening{Type: "session_end", Data: json.RawMessage(`{"reason":"quit"}`)})
	check("SessionEnd", `,"reason":"quit"`)
	tr.hook(ask("Notification")).Happened(ctx, hook.Happening{Type: "notification", Data: json.RawMessage(`{"message":"Bash needs permission.","about":"permission"}`)})
	check("Notification", `,"message":"Bash needs permission.","about":"permission"`)
}

func TestARefusalMeansWhatTheEventAllows(t *testing.T) {
	tr := newTrial(t)
	no := func(event string) config.Hook {
		return config.Hook{Event: event, Command: `echo '{"decision":"block","reason":"no","context":"and so"}'`}
	}
	ctx := t.Context()
	if p, err := tr.hook(no("PostToolUse")).AfterTool(ctx, pushing, hook.ToolResult{}); err != nil || p.Context != "no\n\nand so" || p.Content != nil {
		t.Errorf("PostToolUse: %+v %v", p, err)
	}
	if d, err := tr.hook(no("UserPromptSubmit")).Prompt(ctx, hook.Prompt{}); err != nil || d.Verdict != hook.Deny || d.Reason != "no" {
		t.Errorf("UserPromptSubmit: %+v %v", d, err)
	}
	if text, err := tr.hook(no("Stop")).Stop(ctx, hook.Stop{}); err != nil || text != "no\n\nand so" {
		t.Errorf("Stop: %q %v", text, err)
	}
	if text, err := tr.hook(no("Stop")).Stop(ctx, hook.Stop{Subagent: true}); err != nil || text != "" {
		t.Errorf("Stop of a sub-agent: %q %v", text, err)
	}
	if text, err := tr.hook(no("SubagentStop")).Stop(ctx, hook.Stop{Subagent: true}); err != nil || text != "no\n\nand so" {
		t.Errorf("SubagentStop: %q %v", text, err)
	}
	if d, err := tr.hook(no("PreCompact")).BeforeCompact(ctx, hook.Compaction{Instructions: "the names"}); err != nil || !d.Cancel || d.Reason != "no" || *d.Instructions != "the names\n\nand so" {
		t.Errorf("PreCompact: %+v %v", d, err)
	}
	if _, err := tr.hook(no("SessionStart")).SessionStart(ctx, hook.SessionStart{}); err == nil {
		t.Error("SessionStart was refused without a failure")
	}
	if _, err := tr.hook(config.Hook{Event: "Stop", Command: `echo '{"decision":"ask"}'`}).Stop(ctx, hook.Stop{}); err == nil {
		t.Error("ask at Stop is no failure")
	}
	if _, err := tr.hook(config.Hook{Event: "UserPromptSubmit", Command: `echo '{"input":{}}'`}).Prompt(ctx, hook.Prompt{}); err == nil {
		t.Error("an input at UserPromptSubmit is no failure")
	}
}

func TestAFailureRefusesWhereTheHookSaysSo(t *testing.T) {
	tr := newTrial(t)
	fails := func(event string, blocks bool) hook.Subscriber {
		return tr.hook(config.Hook{Event: event, Command: "exit 3", Blocks: blocks})
	}
	ctx := t.Context()
	if s := fails("PreToolUse", false); !s.FailOpen {
		t.Error("a failing PreToolUse with onFailure = allow blocks")
	}
	for what, command := range map[string]string{"a status": "exit 3", "a time-out": "sleep 1000", "a signal": "kill -9 $$", "no program": "no-such-program", "no answer": "echo '{\"decision\":'"} {
		s := tr.hook(config.Hook{Event: "PreToolUse", Command: command, Timeout: 200 * time.Millisecond, Blocks: true})
		a, err := hook.New(nil, s).BeforeTool(ctx, hook.ToolCall{Name: "Bash", Input: []byte("{}")})
		if err != nil || a.Verdict != hook.Deny || !strings.Contains(a.Reason, "failed, so this call was not run") {
			t.Errorf("%s: %+v %v", what, a, err)
		}
	}
	if d, err := fails("UserPromptSubmit", true).Prompt(ctx, hook.Prompt{}); err != nil || d.Verdict != hook.Deny || !strings.Contains(d.Reason, "status 3") {
		t.Errorf("UserPromptSubmit: %+v %v", d, err)
	}
	if _, err := fails("UserPromptSubmit", false).Prompt(ctx, hook.Prompt{}); err == nil {
		t.Error("the failure is not told")
	}
	if d, err := fails("PreCompact", true).BeforeCompact(ctx, hook.Compaction{}); err != nil || !d.Cancel {
		t.Errorf("PreCompact: %+v %v", d, err)
	}
	if text, err := fails("Stop", true).Stop(ctx, hook.Stop{}); err != nil || text == "" {
		t.Errorf("Stop: %q %v", text, err)
	}
}

func TestAHookThatHasEndedCountsWhateverItLeavesRunning(t *testing.T) {
	tr := newTrial(t)
	for command, want := range map[string]hook.Verdict{"sleep 1000 & echo $! > left; exit 0": "", "sleep 1000 & echo $! > left; echo no >&2; exit 2": hook.Deny} {
		s := tr.hook(config.Hook{Event: "PreToolUse", Command: command, Timeout: time.Second, Blocks: true}) // what is left holds its output for longer
		a, err := s.BeforeTool(t.Context(), pushing)
		for tries := 0; tries < 10 && err != nil && strings.Contains(err.Error(), "did not end within"); tries++ { // the machine was busy
			a, err = s.BeforeTool(t.Context(), pushing)
		}
		if err != nil || a.Verdict != want {
			t.Errorf("%s: %+v, %v", command, a, err)
		}
		tr.gone("left")
	}
}

func TestAHookThatDoesNotEndIsKilledWithAllItStarted(t *testing.T) {
	tr := newTrial(t)
	var s hook.Subscriber
	for limit, begun := 300*time.Millisecond, false; !begun; limit *= 2 { // longer where much else runs
		s = tr.hook(config.Hook{Event: "PreToolUse", Command: "sleep 1000 & echo $! > child; sleep 1000", Timeout: limit, Blocks: true})
		if _, err := s.BeforeTool(t.Context(), pushing); err == nil || !strings.Contains(err.Error(), "did not end within "+limit.String()) {
			t.Fatalf("error: %v", err)
		}
		data, _ := os.ReadFile(filepath.Join(tr.root, "child"))
		begun = strings.HasSuffix(string(data), "\n")
	}
	tr.gone("child")

	ctx, cancel := context.WithCancel(t.Context())
	s = tr.hook(config.Hook{Event: "PreToolUse", Command: "sleep 1000 & echo $! > second; echo > begun; sleep 1000"})
	go func() { // ends when the hook has begun
		tr.wait(func() bool { _, err := os.Stat(filepath.Join(tr.root, "begun")); return err == nil })
		cancel()
	}()
	if _, err := s.BeforeTool(ctx, pushing); !errors.Is(err, context.Canceled) {
		t.Fatalf("error: %v", err)
	}
	tr.gone("second")
}

// gone waits until the process whose id is in a file has ended.
func (tr *trial) gone(file string) {
	tr.t.Helper()
	pid, err := os.ReadFile(filepath.Join(tr.root, file))
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.wait(func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat"))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

func (tr *trial) wait(done func() bool) {
	tr.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			tr.t.Error("it does not happen")
			return
		}
	}
}

func TestAChildThatKeepsThePipeOpenDoesNotHoldTheHook(t *testing.T) {
	tr := newTrial(t)
	s := tr.hook(config.Hook{Event: "PreToolUse", Command: `sleep 1000 & echo $! > child; echo '{"decision":"deny","reason":"quick"}'`, Blocks: true})
	began := time.Now()
	d, err := s.BeforeTool(t.Context(), pushing)
	if err != nil || d.Verdict != hook.Deny || d.Reason != "quick" {
		t.Fatalf("%+v %v", d, err)
	}
	if took := time.Since(began); took > 45*time.Second {
		t.Errorf("it took %v", took)
	}
	tr.gone("child")
}

func TestAProjectsHookWhoseFileHasChangedFailsWithoutRunning(t *testing.T) {
	tr := newTrial(t)
	tr.file = "tools/check.sh"
	h := config.Hook{Event: "PreToolUse", Command: "echo > ran", Blocks: true, Source: config.Source{Kind: config.SourceProject}}
	s := tr.hook(h)
	if s.Scope != hook.ScopeProject {
		t.Errorf("scope %s", s.Scope)
	}
	if _, err := s.BeforeTool(t.Context(), pushing); err == nil || !strings.Contains(err.Error(), "tools/check.sh is not as it was when the project was trusted") {
		t.Errorf("error: %v", err)
	}
	if _, err := os.Stat(filepath.Join(tr.root, "ran")); err == nil {
		t.Error("it has run")
	}
}

func TestAHookThatIsAboutAnotherToolIsNotRun(t *testing.T) {
	tr := newTrial(t)
	s := tr.hook(config.Hook{Event: "PreToolUse", Matcher: "Write|Edit", Command: "exit 2"})
	if d, err := s.BeforeTool(t.Context(), pushing); err != nil || d.Verdict != hook.Continue || len(tr.log) != 0 {
		t.Errorf("%+v %v %q", d, err, tr.log)
	}
}
