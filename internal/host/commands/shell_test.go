package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

func TestOnlyWhatAPersonRanInTheContextIsToldToTheModel(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api}, `{"again":true,"do":[{"text":"ok"}]}`)
			e := w.Begin(false)
			e.Say("one")
			e.Shell("echo in-$((40+2)) '</system-reminder>'", true)
			if r, out := e.Shell("echo out-$((40+3)); exit 7", false); r.ExitCode == nil || *r.ExitCode != 7 || r.InContext || !strings.Contains(out, "out-43") {
				t.Errorf("%+v %q", r, out)
			}
			e.Say("two")
			e.Say("three")
			all := w.Bodies()
			for i, body := range all[1:] {
				if n := strings.Count(string(body), "in-42"); n != 1 {
					t.Errorf("request %d has the output %d times", i+2, n)
				}
				if strings.Contains(string(body), "out-4") || strings.Contains(string(body), "exit 7") {
					t.Errorf("request %d has what is outside of the context: %s", i+2, body)
				}
				if s := string(body); strings.Contains(s, "</system-reminder>") || strings.Contains(s, `\u003c/system-reminder`) {
					t.Errorf("request %d has the end of a reminder of somebody else: %s", i+2, body)
				}
			}
			hosttest.Extends(t, "behind the commands", all[1], all[2])
			w.Judged()
		})
	}
}

func TestEverybodySeesACommandOfAPersonRun(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	other := w.Open(w.Connect(false), e.ID)
	started := hosttest.Call[*protocol.ShellStarted](t, e.C, e.ID, &protocol.RunShell{Command: "echo up; until [ -e go ]; do sleep 0.01; done; echo down", InContext: true})
	begun := other.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	b := begun.Body.(*protocol.ToolExecutionStart)
	if b.EventID != started.EventID || b.Shell == nil || !b.Shell.InContext || begun.ClientID == protocol.HostClient || begun.TurnID != "" {
		t.Errorf("the start: %+v of %s in %q", b, begun.ClientID, begun.TurnID)
	}
	other.Until(func(ev protocol.Event) bool {
		u, ok := ev.Body.(*protocol.ToolExecutionUpdate)
		return ok && strings.Contains(u.Partial, "up")
	})
	late := w.Open(w.Connect(false), e.ID)
	if tools := late.S.Live.Tools; len(tools) != 1 || tools[0].Shell == nil || !strings.Contains(tools[0].OutputTail, "up") || late.S.Live.Running {
		t.Errorf("a newcomer sees %+v", tools)
	}
	// A turn beside it takes nothing of it away.
	if end := other.Say("hello"); end.Terminal != protocol.TerminalCompleted || len(other.S.Live.Tools) != 1 {
		t.Errorf("end: %+v, behind it %+v", end, other.S.Live.Tools)
	}
	w.File("go", "")
	r, out := other.ShellOf(started.EventID)
	if out != "up\ndown\n[exit code 0]" || len(other.S.Live.Tools) != 0 || other.S.Live.LeafID != started.EventID {
		t.Errorf("the message: %+v %q, running %+v", r, out, other.S.Live.Tools)
	}
	for format, want := range map[string]string{"markdown": "**Command of the user** `echo up;", "html": "$ echo up;"} {
		if page := string(hosttest.Exported(t, e.C, e.ID, format)); !strings.Contains(page, want) || !strings.Contains(page, "down") {
			t.Errorf("%s: %s", format, page)
		}
	}
	if found := hosttest.Call[*protocol.SearchResult](t, e.C, "", &protocol.SearchSessions{Words: []string{"down"}}); len(found.Sessions) != 1 {
		t.Errorf("found: %+v", found)
	}
	w.Judged()
}

func TestACommandOfAPersonInATurnRunsAtOnceAndEntersAtTheBoundary(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.Busy()
	started := hosttest.Call[*protocol.ShellStarted](t, e.C, e.ID, &protocol.RunShell{Command: "echo mine | tee done.txt", InContext: true})
	e.Until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.ToolExecutionEnd)
		return ok && b.EventID == started.EventID
	})
	if w.Read("done.txt") != "mine\n" {
		t.Error("it did not run while the turn ran")
	}
	w.File("go", "")
	e.ShellOf(started.EventID)
	e.End()
	hosttest.Paired(t, e.Messages())
	all := w.Bodies()
	if last := string(all[len(all)-1]); len(all) != 2 || !strings.Contains(last, "tee done.txt") || strings.Index(last, "tee done.txt") < strings.Index(last, "ran") {
		t.Errorf("%d requests, the last %s", len(all), last)
	}
	w.Judged()
}

func TestACommandOfAPersonIsEndedByThePersonAndByTheEndOfTheHost(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	run := func() protocol.EventID {
		id := hosttest.Call[*protocol.ShellStarted](t, e.C, e.ID, &protocol.RunShell{Command: "echo half; echo $$ > pid; exec sleep 1000"}).EventID
		w.Line("pid")
		return id
	}
	id := run()
	pid := w.Line("pid")
	if c := hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.StopShell{EventID: id}); !c.Cancelled {
		t.Error("there is nothing to end")
	}
	if r, out := e.ShellOf(id); !r.Cancelled || !strings.HasPrefix(out, "half\n[Cancelled by user") {
		t.Errorf("%+v %q", r, out)
	}
	hosttest.Gone(t, pid)
	if c := hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.StopShell{EventID: id}); c.Cancelled {
		t.Error("what has ended was ended once more")
	}
	if err := os.Remove(filepath.Join(w.Project, "pid")); err != nil {
		t.Fatal(err)
	}
	id = run()
	pid = w.Line("pid")
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	hosttest.Gone(t, pid)
	last := w.Log(e.ID)
	if ev := last[len(last)-1]; ev.ID != id {
		t.Errorf("the log ends with %+v", ev)
	}
}

func TestNobodyAndNoRuleIsAskedOfACommandOfAPerson(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "plan", Deny: []string{"Bash"}}}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	if r, _ := e.Shell("echo x > made.txt", false); *r.ExitCode != 0 || w.Read("made.txt") != "x\n" {
		t.Errorf("%+v", r)
	}
	for _, ev := range e.Events {
		if ev.Type == protocol.TypePermissionRequest || ev.Type == protocol.TypePermissionDecision {
			t.Errorf("%+v", ev)
		}
	}
}

func TestACommandOfAPersonIsConfinedAsThoseOfTheSession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	if sandbox.Detect().Level == sandbox.Unconfined {
		t.Log("this system confines nothing")
		return
	}
	e := w.Begin(false)
	w.Write(filepath.Join(w.Project, ".git", "hooks", "x"), "")
	if r, out := e.Shell("echo evil > .git/hooks/post-checkout", false); *r.ExitCode == 0 {
		t.Errorf("a protected file was written: %+v %q", r, out)
	}
	if r, out := e.Shell("cat ~/.scorel/config.toml; echo [$MOCK_KEY]", false); strings.Contains(out, "MOCK_KEY") || !strings.Contains(out, "[]") {
		t.Errorf("it reads Scorel's own: %+v %q", r, out)
	}
}

func TestACommandOfAPersonRunsOnceHoweverOftenItIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	c := w.Caller()
	ask := hosttest.NewCall(e.ID, &protocol.RunShell{Command: "echo x >> times; until [ -e go ]; do sleep 0.01; done", InContext: true})
	first := c.Call(ask)
	w.Line("times")
	again := c.Call(ask)
	if hosttest.AsText(t, first) != hosttest.AsText(t, again) {
		t.Errorf("%s\n%s", hosttest.AsText(t, first), hosttest.AsText(t, again))
	}
	after := w.Killed() // while it runs
	after.File("go", "")
	c.W = after
	c.Connect()
	ask.Repeat = true
	if later := c.Call(ask); hosttest.AsText(t, later) != hosttest.AsText(t, first) {
		t.Errorf("after a kill: %s, not %s", hosttest.AsText(t, later), hosttest.AsText(t, first))
	}
	if w.Read("times") != "x\n" {
		t.Errorf("it ran: %q", w.Read("times"))
	}
	// The later host says that nobody knows how it went, once and before anything is sent; a
	// copy has that, and says no more.
	l := after.Open(after.Connect(false), e.ID)
	if said := l.S.Opened.Interrupted; !strings.Contains(said, "it may have taken effect") || !strings.Contains(said, "!echo x >> times") {
		t.Errorf("who opens the session is told %q", said)
	}
	l.ShellOf(first.Data.(*protocol.ShellStarted).EventID)
	clone := hosttest.NewCall(protocol.NewSessionID(after.Config.Now(), after.Config.Rand), &protocol.CloneSession{FromSessionID: e.ID})
	c.Call(clone)
	l.Say("hello")
	id := first.Data.(*protocol.ShellStarted).EventID
	if r, out := l.ShellOf(id); !r.Lost || !strings.Contains(out, "may have taken effect") {
		t.Errorf("%+v %q", r, out)
	}
	if body := after.LastRequest(); strings.Count(body, "may have taken effect") != 1 {
		t.Errorf("the model is told: %s", body)
	}
	after.Restart()
	for _, s := range []protocol.SessionID{e.ID, clone.SessionID} {
		l := after.Open(after.Connect(false), s)
		l.Say("on")
		n := 0
		for _, ev := range after.Log(s) {
			if b, ok := ev.Body.(*protocol.CustomMessage); ok && b.Kind == protocol.ShellKind {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s says so %d times", s, n)
		}
	}
}

func TestSoManyCommandsOfPeopleRunAtOnceAndNoMore(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	var ids []protocol.EventID
	for range 4 {
		ids = append(ids, hosttest.Call[*protocol.ShellStarted](t, e.C, e.ID, &protocol.RunShell{Command: "until [ -e go ]; do sleep 0.01; done"}).EventID)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.RunShell{Command: "true"}, protocol.CodeRateLimited)
	hosttest.Refused(t, e.C, e.ID, &protocol.RunShell{Command: " "}, protocol.CodeInvalidRequest)
	w.File("go", "")
	for _, id := range ids {
		e.ShellOf(id)
	}
	e.Shell("true", false)
}

func TestLongOutputOfACommandOfAPersonIsKeptWhole(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	r, out := e.Shell("seq 100000", true)
	if len(out) > 40_000 || r.FullBlob == "" {
		t.Fatalf("%d characters, blob %q", len(out), r.FullBlob)
	}
	p := hosttest.Call[*protocol.BlobPart](t, e.C, e.ID, &protocol.GetBlob{SHA256: r.FullBlob, Length: 10})
	if p.Size != 588895 {
		t.Errorf("%d bytes are kept", p.Size)
	}
	var d map[string]any
	if err := json.Unmarshal(e.Until(hosttest.OfType(protocol.TypeCustomMessage)).Body.(*protocol.CustomMessage).Data, &d); err != nil || d["command"] != "seq 100000" {
		t.Errorf("%v %v", d, err)
	}
}

func TestACommandOfAPersonThatCannotBeRecordedIsTakenBackAndToldOfLater(t *testing.T) {
	f := &hosttest.Failing{FS: disk.OS()}
	w := hosttest.New(t, hosttest.Setting{Fs: f}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("hello")
	id := hosttest.Call[*protocol.ShellStarted](t, e.C, e.ID, &protocol.RunShell{Command: "until [ -e go ]; do sleep 0.01; done; echo did", InContext: true}).EventID
	f.Arm(1, syscall.EIO)
	w.File("go", "")
	taken := e.Until(hosttest.OfType(protocol.TypeMessageCancelled)).Body.(*protocol.MessageCancelled)
	if taken.EventID != id || taken.Reason != protocol.CancelStorage || len(e.S.Live.Tools) != 0 {
		t.Errorf("%+v, still shown: %+v", taken, e.S.Live.Tools)
	}
	f.Repair()
	w.Restart()
	e = w.Open(w.Connect(false), e.ID)
	e.Say("again")
	if r, _ := e.ShellOf(id); !r.Lost {
		t.Errorf("%+v", r)
	}
	f.Arm(1, syscall.EIO)
	hosttest.Refused(t, e.C, e.ID, &protocol.RunShell{Command: "touch never"}, protocol.CodeStorageError)
	f.Repair()
	if _, err := os.Stat(filepath.Join(w.Project, "never")); err == nil {
		t.Error("a command ran that was not recorded before")
	}
}
