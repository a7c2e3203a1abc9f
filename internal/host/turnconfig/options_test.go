package turnconfig_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestOptionsCountForTheTurnOfTheirMessage(t *testing.T) {
	bash := func(command string) []string {
		return []string{`{"do":[{"call":"Bash","input":{"command":"` + command + `"}}]}`, `{"do":[{"text":"done"}]}`}
	}
	outside := func(dir string) []string {
		return []string{`{"do":[{"call":"Read","input":{"path":"` + filepath.Join(dir, "note.txt") + `"}}]}`, `{"do":[{"text":"done"}]}`}
	}
	away, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(away, "note.txt"), []byte("far away"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		over    host.Overrides
		options protocol.TurnOptions
		lines   []string // of one turn
		with    string   // the result under the options, …
		without string   // … and of the same turn without
	}{
		{name: "allow", options: protocol.TurnOptions{Allow: []string{"Bash(echo:*)"}, Unattended: true}, lines: bash("echo one"), with: "one", without: "!Nobody can be asked"},
		{name: "deny", over: host.Overrides{Allow: []string{"Bash"}}, options: protocol.TurnOptions{Deny: []string{"Bash"}, Allow: []string{"Bash"}},
			lines: bash("echo one"), with: "!Bash", without: "one"},
		{name: "mode", options: protocol.TurnOptions{Mode: "dontAsk"}, lines: bash("echo one"), with: "!dontAsk", without: "!Nobody can be asked"},
		{name: "tools", options: protocol.TurnOptions{Tools: "Read"}, over: host.Overrides{Allow: []string{"Bash"}}, lines: bash("echo one"),
			with: "!The tools are: Read.", without: "one"},
		{name: "additional folders", options: protocol.TurnOptions{AdditionalDirs: []string{away}}, lines: outside(away), with: "far away", without: "!Nobody can be asked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Overrides: c.over}, slices.Concat(c.lines, c.lines, c.lines)...)
			e := w.Begin(false)
			check := func(when, want string) { // with ! it is an error
				t.Helper()
				text, isError := strings.CutPrefix(want, "!")
				if m := e.LastResult(); m.IsError != isError || !strings.Contains(m.PlainText(), text) {
					t.Errorf("%s: %+v, want %q", when, m, want)
				}
			}
			e.Say("before")
			check("before", c.without)
			if end := e.With("with", c.options); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %+v", end, end.Error)
			}
			check("with the options", c.with)
			e.Say("after")
			check("after", c.without)
			w.Judged()
		})
	}
}

func TestOptionsChooseModelThinkingAndLimits(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Other: "openai-completions", Lines: []string{`{"again":true,"do":[{"text":"the other"}]}`}},
		`{"if":{"user":"^look"},"again":true,"do":[{"call":"Glob","input":{"pattern":"*"}}]}`, `{"again":true,"do":[{"text":"the first"}]}`)
	e := w.Begin(false)
	e.With("one", protocol.TurnOptions{Model: "other", Thinking: "high"})
	if m := e.Messages(); m[len(m)-1].PlainText() != "the other" || m[len(m)-1].Model != "other-1" {
		t.Errorf("answered: %+v", m[len(m)-1])
	}
	if r := w.Second.Requests(); len(r) != 1 || !strings.Contains(string(r[0].Body), "high") {
		t.Errorf("the thinking level did not go out: %+v", r)
	}
	e.Say("two")
	if m := e.Messages(); m[len(m)-1].PlainText() != "the first" {
		t.Errorf("the next turn was answered by %+v", m[len(m)-1])
	}
	if end := e.With("look", protocol.TurnOptions{MaxSteps: 1}); end.Terminal != protocol.TerminalMaxSteps {
		t.Errorf("end: %+v", end)
	}
	w.Judged()
}

func TestOptionsThatCannotBeAreRefusedAndNothingIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	for name, o := range map[string]protocol.TurnOptions{
		"an unknown model": {Model: "nobody/none"}, "an unknown mode": {Mode: "wild"}, "a bad rule": {Allow: []string{"Bash("}},
		"an unknown tool": {Tools: "Fly"}, "a relative folder": {AdditionalDirs: []string{"../x"}}, "a missing folder": {AdditionalDirs: []string{"/none/there"}},
		"no steps": {MaxSteps: -1}, "no budget": {MaxBudgetUSD: -0.5}, "no tokens": {MaxTokens: -1}, "no time": {MaxMinutes: -0.5}, "an unknown sandbox": {Sandbox: "sand"},
		"an unknown thinking level": {Thinking: "hard"}, "no network without a sandbox": {Sandbox: "off", NoNetwork: true},
	} {
		_, err := client.Call[*protocol.Sent](t.Context(), e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("x"), WhenBusy: "reject", Options: &o})
		if pe := protocol.AsError(err); err == nil || pe.Code != protocol.CodeInvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, busy := range []string{"", "followUp", "steer"} {
		hosttest.Refused(t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("x"), WhenBusy: busy, Options: &protocol.TurnOptions{}}, protocol.CodeInvalidRequest)
	}
	if got := e.Users(); len(got) != 0 {
		t.Errorf("messages: %q", got)
	}
}

// TestWhatFollowsATurnWithOptionsRunsWithoutThem queues a message of another client
// while a turn runs that may do anything.
func TestWhatFollowsATurnWithOptionsRunsWithoutThem(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, hosttest.Wait, `{"if":{"user":"^follow$"},"do":[{"call":"Bash","id":"c2","input":{"command":"touch made"}}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	sent := hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("run"), WhenBusy: "reject", Options: &protocol.TurnOptions{Allow: []string{"Bash"}}})
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.Steer{TurnID: sent.TurnID, Content: hosttest.Text("steer")})
	w.Open(w.Connect(false), e.ID).FollowUp("follow")
	w.File("go", "")
	e.UntilUser("follow")
	for e.S.Live.Running || len(e.S.Live.Queues) > 0 {
		e.Next()
	}
	ends := 0
	e.Until(func(ev protocol.Event) bool {
		if ev.Type == protocol.TypeRuntimeEnd {
			ends++
		}
		return ends == 2
	})
	if m := e.LastResult(); !m.IsError || !strings.Contains(m.PlainText(), "Nobody can be asked") {
		t.Errorf("it ran with the options of another's message: %+v", m)
	}
	if got := e.Users(); !slices.Equal(got, []string{"run", "steer", "follow"}) {
		t.Errorf("messages: %q", got)
	}
	w.Judged()
}

func TestAnUnattendedTurnOfAnAttendedHostDeniesAtOnce(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"do":[{"call":"Bash","input":{"command":"echo one"}}]}`, `{"do":[{"text":"done"}]}`)
	e := w.Begin(false)
	if end := e.With("run", protocol.TurnOptions{Unattended: true}); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	if m := e.LastResult(); !m.IsError || !strings.Contains(m.PlainText(), "Nobody can be asked") {
		t.Errorf("the result: %+v", m)
	}
}
