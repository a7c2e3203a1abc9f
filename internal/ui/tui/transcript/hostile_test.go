package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/dev/harness"
	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

const hostile = "\x1b]0;title\x07\x1b[2J\x1b[31mred \x1b]52;c;aGk=\x07 \u202eback \u200b a\r\nb\rc \x9b31m \x00 \x08\x08 \x1b[?1049h \x1bP+q\x1b\\ [x](http://a.b/\x1b]8;;x\x1b\\) <http://a.b/\u202e> tab\tend \xff\xfe"

func TestNothingFromOutsideReachesTheTerminalButText(t *testing.T) {
	harness.Computed(t)
	th := themed(t, theme.Options{Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor})
	zalgo := "e" + strings.Repeat("\u0301", 5000)
	for name, text := range map[string]string{"sequences": hostile, "marks": zalgo, "one line": strings.Repeat("x", 10_000), "one line of wide": strings.Repeat("世", 5_000),
		"binary": string(func() []byte {
			b := make([]byte, 5000)
			for i := range b {
				b[i] = byte(i * 7)
			}
			return b
		}()), "joiners": strings.Repeat("👩\u200d", 3000), "diff": "--- a/x\n+++ b/" + hostile + "\n@@ -1 +1 @@ " + hostile + "\n-" + hostile + "\n+" + hostile + "\n"} {
		l := &log{}
		l.user(text)
		input, _ := json.Marshal(map[string]any{"command": text, "path": text, "pattern": text, "url": text, "description": text, "agent": text, "todos": []any{map[string]any{"content": text, "status": text}}})
		l.answer(protocol.Block{Type: protocol.BlockThinking, Thinking: text}, protocol.Text(text), protocol.Block{Type: protocol.BlockFile, Name: text}, protocol.Block{Type: protocol.BlockImage, MediaType: text})
		for _, tool := range []string{"Bash", "Edit", "Write", "Read", "Grep", "Glob", "TodoWrite", "WebFetch", "WebSearch", "Task", "AskUser", "Skill", "ExecuteSkill", text} {
			for _, isError := range []bool{false, true} {
				l.call(tool, string(input), text, map[string]any{"diff": text, "todos": []any{map[string]any{"content": text}}, "files": []any{map[string]any{"path": text}},
					"asked": []any{map[string]any{"question": text, "picked": []string{text}}}, "changedProtected": []string{text}}, isError)
			}
		}
		l.add(&protocol.PermissionDecision{ToolCallID: "call_2", Decision: protocol.DecisionDeny, Reason: text, Rule: text, Scope: text})
		l.add(&protocol.Compact{Summary: text})
		l.add(&protocol.ChannelInject{Channel: text})
		l.add(&protocol.CustomMessage{Kind: text, Message: protocol.UserText(text)})
		m := assistant()
		m.StopReason, m.ErrorMessage = protocol.StopError, text
		l.add(&protocol.MessageBody{Message: m})
		tr := filled(l)
		tr.Note("error", text)
		live := protocol.Live{Messages: []protocol.LiveMessage{{EventID: "evt_live", Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{{Type: protocol.BlockText, Text: protocol.Growing(text)}, {Type: protocol.BlockToolUse, Name: text, ID: "y", Text: protocol.Growing(input)}}}},
			Tools: []protocol.LiveTool{{ToolCallID: "z", ToolName: text, Args: input, OutputTail: text, Process: []protocol.ToolProcess{{Event: protocol.ProcessEvent{Message: text, Stage: text, Detail: text}}}}},
			Retry: &protocol.Retry{Error: text}}
		tr.Live(&live)
		check := func(how string, lines []string) {
			for _, line := range lines {
				if problem := golden.Foreign(line); problem != "" {
					t.Fatalf("%s, %s: a line %s: %.300q", name, how, problem, line)
				}
				if len(line) > 40_000 {
					t.Fatalf("%s, %s: a line of %d bytes", name, how, len(line))
				}
			}
		}
		check("given", tr.Commit(th, 80))
		check("region", tr.Region(th, 80, 200))
		check("screen", tr.View(th, 100, 300))
		tr.Do(keymap.ToggleTools)
		tr.Do(keymap.ToggleThinking)
		tr.Do(keymap.ScrollTop)
		for i := range 20 {
			check(fmt.Sprint("screen ", i), tr.View(th, 150, 300))
			tr.Do(keymap.PageDown)
		}
	}
}

func TestALineOfTenMegabytesIsCutBeforeItIsMeasured(t *testing.T) {
	th := plainTheme(t)
	huge := strings.Repeat("wide 世界 and more ", 10<<20/20)
	l := &log{}
	l.user(huge)
	l.call("Bash", `{"command":"cat x"}`, huge, map[string]any{"exitCode": 0}, false)
	l.call("Edit", `{"path":"x"}`, "Edited.", map[string]any{"diff": "--- a\n+++ b\n@@ -1 +1 @@\n-" + huge[:200_000] + "\n+" + huge[:200_000] + "\n"}, false)
	tr := filled(l)
	for _, open := range []bool{false, true} {
		if open {
			tr.Do(keymap.ToggleTools)
		}
		for i := range tr.items {
			lines := tr.lines(tr.items[i], th, 80)
			for k := range lines.len() {
				if line := lines.at(k); len(line) > 1000 {
					t.Errorf("a line of %d bytes", len(line))
				}
			}
		}
	}
	if n := tr.kept; n > 2*openLines+maxText/20 {
		t.Errorf("%d lines of three items", n)
	}
}
