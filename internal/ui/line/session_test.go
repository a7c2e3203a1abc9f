package line

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/ui/follow"
	"scorel/protocol"
)

// watched is a live session that is shown as lines, without a host.
func watched() (*Session, *strings.Builder) {
	var out strings.Builder
	v := &Session{cfg: Config{Out: &out, Stderr: &out}, fresh: true, jobs: newJobs()}
	v.show(&pipeScreen{out: &out})
	return v, &out
}

func TestScriptsComeAndGoWithoutNotice(t *testing.T) {
	v, out := watched()
	for _, left := range []bool{false, true} {
		v.device(client.DeviceChanges{Clients: []client.ClientChange{
			{ClientInfo: protocol.ClientInfo{ClientName: "HTTP"}, Left: left},
			{ClientInfo: protocol.ClientInfo{ClientName: "browser", Interactive: true}, Left: left}}})
	}
	if want := "── browser is here too\n── browser has left\n"; out.String() != want {
		t.Errorf("told: %q, want %q", out, want)
	}
}

func TestOutageIsShownOnce(t *testing.T) {
	v, out := watched()
	for range 2 {
		out.Reset()
		v.state(client.Change{State: client.StateReconnecting, Err: client.ErrClosed})
		for range 3 {
			v.state(client.Change{State: client.StateReconnecting, Err: follow.ErrNoHost})
		}
		v.state(client.Change{State: client.StateConnected})
		if want := "── the connection is gone; trying again, and what you type is kept\n── no host runs here; scorel host serve --detach starts one\n── connected again\n"; out.String() != want {
			t.Errorf("told: %q, want %q", out, want)
		}
	}
}

func TestWhoLeavesIsToldWhatIsNotSent(t *testing.T) {
	const warning = "── what you typed is not sent yet; Ctrl-C twice quits without it\n"
	gone, back := client.Change{State: client.StateReconnecting, Err: client.ErrClosed}, client.Change{State: client.StateConnected}
	for name, c := range map[string]struct {
		fresh bool
		do    func(v *Session)
		times int
	}{
		"typed before the session was shown":     {false, func(v *Session) { v.state(gone); v.take("hello"); v.quit() }, 1},
		"typed before the connection broke":      {false, func(v *Session) { v.take("hello"); v.quit(); v.state(gone); v.state(gone) }, 1},
		"on its way":                             {true, func(v *Session) { v.state(gone); v.take("hello"); v.quit() }, 1},
		"told again after another outage":        {false, func(v *Session) { v.take("hello"); v.quit(); v.state(gone); v.state(back); v.state(gone) }, 2},
		"nothing was typed":                      {true, func(v *Session) { v.state(gone); v.quit() }, 0},
		"the connection is there, so it is sent": {true, func(v *Session) { v.take("hello"); v.quit() }, 0},
	} {
		v, out := watched()
		v.fresh = c.fresh
		c.do(v)
		if n := strings.Count(out.String(), warning); n != c.times {
			t.Errorf("%s: told %d times, want %d: %q", name, n, c.times, out)
		}
		if err := v.settle(); v.detached != (c.times == 0 && !v.unsent()) {
			t.Errorf("%s: detached: %v, %v", name, v.detached, err)
		}
	}
}

func TestPasteBeyondTheLineLimitIsReportedOnce(t *testing.T) {
	v, _ := watched()
	var out bytes.Buffer
	v.term = newTermScreen(&out, 80)
	v.screen = v.term
	text := "\x1b[200~" + strings.Repeat("pasted text ", maxInputLine/12+10) + "\x1b[201~"
	for len(text) > 0 {
		n := min(4096, len(text))
		v.input(typed{bytes: []byte(text[:n])})
		text = text[n:]
	}
	if err := v.screen.flush(); err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(strings.Fields(out.String()), " "); strings.Count(said, "not taken") != 1 || !strings.Contains(said, "file and name it with @") {
		t.Errorf("told: %s", said)
	}
}

func TestConflictIsShownInTheHostsWords(t *testing.T) {
	v, out := watched()
	conflict := protocol.Errorf(protocol.CodeConflict, "The compaction was cancelled; nothing has changed.")
	v.outcome(conflict, "")
	if want := "scorel: " + conflict.Error() + "\n"; out.String() != want {
		t.Errorf("told: %q, want %q", out, want)
	}
}

func TestStoppingHostMentionsATurnOnlyWhenOneRuns(t *testing.T) {
	for running, want := range map[bool]string{true: "── the host is stopping; the turn ends at its next step\n", false: "── the host is stopping\n"} {
		v, out := watched()
		v.live.Running = running
		v.device(client.DeviceChanges{Stopping: &protocol.HostStopping{}})
		if out.String() != want {
			t.Errorf("told: %q, want %q", out, want)
		}
	}
}

func TestQuestionShowsARuleOnce(t *testing.T) {
	v, out := watched()
	v.ask.sync(&protocol.Live{Permissions: []protocol.PermissionRequest{{PermissionID: "prm_1", ToolName: "Bash", Suggestions: []protocol.Suggestion{
		{Label: "Allow Bash(ls) for this session", Rule: "Bash(ls)"}, {Label: "Always allow", Rule: "Bash(ls)"}}}}})
	for _, want := range []string{"  1  Allow Bash(ls) for this session\n", "  2  Always allow [Bash(ls)]\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("asked: %q, want %q", out, want)
		}
	}
}

func TestQuestionOfASubagentNamesIt(t *testing.T) {
	who := &protocol.Subagent{SessionID: "ses_1", Agent: "general", Description: "build\nit", ToolCallID: "c"}
	want := "  asked by the agent general (build it), session ses_1\n"
	v, out := watched()
	v.ask.sync(&protocol.Live{Permissions: []protocol.PermissionRequest{{PermissionID: "prm_1", ToolName: "Bash", Subagent: who}}})
	if !strings.Contains(out.String(), want) {
		t.Errorf("asked: %q", out)
	}
	v, out = watched()
	v.ask.sync(&protocol.Live{UI: []protocol.UIRequest{{UIID: "ui_1", Data: protocol.Dialog{Kind: protocol.DialogQuestion, Subagent: who,
		Questions: []protocol.Question{{Question: "Which?"}}}}}})
	if !strings.Contains(out.String(), want) {
		t.Errorf("asked: %q", out)
	}
}

func TestQuestionShowsAllOfWhatWouldRun(t *testing.T) {
	long := strings.Repeat("echo filler; ", 100) + "\n# more\nrm -rf ./important"
	for name, c := range map[string]struct {
		input       any
		shows, lack []string
	}{
		"a short command": {map[string]any{"command": "make test"}, []string{"? Bash make test\n  1  "}, nil},
		"a long command":  {map[string]any{"command": long}, []string{"\n  " + strings.ReplaceAll(long, "\n", "\n  ") + "\n"}, nil},
		"an endless one":  {map[string]any{"command": strings.Repeat("x", maxAskedCommand+7)}, []string{"… 7 more bytes"}, nil},
		"with more to it": {map[string]any{"command": "make test", "run_in_background": true}, []string{"? Bash make test (in the background)\n", "  run_in_background: true\n"}, nil},
		"a change": {map[string]any{"file_path": "a.go", "old_string": "one\n\ttwo", "new_string": "three"},
			[]string{"? Bash a.go\n", "  new_string: three\n", "  old_string: one\n    \ttwo\n"}, []string{"file_path"}},
		"a long text": {map[string]any{"file_path": "a.go", "content": strings.Repeat("line\n", maxAskedLines) + "the end"},
			[]string{"… 1 more line"}, []string{"the end"}},
		"a sequence": {map[string]any{"command": "ls\x1b[2K\rrm x\u202e"}, []string{"rm x"}, []string{"\x1b", "\u202e"}},
	} {
		t.Run(name, func(t *testing.T) {
			args, err := json.Marshal(c.input)
			if err != nil {
				t.Fatal(err)
			}
			v, out := watched()
			v.ask.sync(&protocol.Live{Permissions: []protocol.PermissionRequest{{PermissionID: "prm_1", ToolName: "Bash", Args: args, Suggestions: []protocol.Suggestion{{Label: "Allow once"}}}}})
			for _, want := range c.shows {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not shown:\n%s", want, out)
				}
			}
			for _, lack := range c.lack {
				if strings.Contains(out.String(), lack) {
					t.Errorf("%q is shown:\n%s", lack, out)
				}
			}
		})
	}
}

func TestAnswerThatTheHostRefusesIsAskedForAgain(t *testing.T) {
	v, out := watched()
	v.live.UI = []protocol.UIRequest{{UIID: "uir_1", Data: protocol.Dialog{Kind: protocol.DialogQuestion, Questions: []protocol.Question{{Question: "Which colour?"}}}}}
	v.ask.sync(&v.live)
	req, handled := v.ask.answer("red")
	if req == nil || !handled || v.ask.asked().id() != "" {
		t.Fatalf("an answer: %v, %v", req, handled)
	}
	v.ask.again(req)
	v.ask.sync(&v.live)
	if n := strings.Count(out.String(), "? Which colour?"); n != 2 || v.ask.asked().id() != "uir_1" {
		t.Errorf("asked %d times: %s", n, out)
	}
}
