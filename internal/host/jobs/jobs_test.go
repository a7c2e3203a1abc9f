package jobs_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const (
	auxiliary = "\n[auxiliary]\nmodel = \"other\"\n"
	fixes     = "---\ndescription: mend a fault\n---\nMend $ARGUMENTS.\n"
	answers   = `{"again":true,"do":[{"text":"It is mended."}]}`
)

// own writes a template of the user's.
func own(w *hosttest.World, name, text string) {
	w.Write(filepath.Join(w.Home, ".scorel", "templates", name+".md"), text)
}

func templates(t *testing.T, w *hosttest.World, c *client.Client) (names []string, list *protocol.JobTemplateList) {
	t.Helper()
	list = hosttest.Call[*protocol.JobTemplateList](t, c, "", &protocol.ListJobTemplates{WorkDir: w.Project})
	for _, x := range list.Templates {
		names = append(names, x.Scope+" "+x.Name+": "+x.Description)
	}
	return names, list
}

func trustAll(t *testing.T, w *hosttest.World, c *client.Client) {
	t.Helper()
	p := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: w.Project})
	r := hosttest.Call[*protocol.TrustReport](t, c, "", &protocol.GetTrust{ProjectID: p.ProjectID})
	hosttest.Call[*protocol.ProjectTrust](t, c, "", &protocol.TrustProject{ProjectID: p.ProjectID, Hash: r.Hash, Trusted: true})
}

// begin makes a job and opens its session.
func begin(t *testing.T, w *hosttest.World, c *client.Client, template, args string) (*hosttest.Entry, *protocol.SessionSummary) {
	t.Helper()
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	sum := hosttest.Call[*protocol.SessionSummary](t, c, id, &protocol.CreateJob{Template: template, Args: args, WorkDir: w.Project})
	return w.Open(c, id), sum
}

// until waits until a job has a state.
func until(e *hosttest.Entry, want protocol.JobState) {
	for e.S.Live.Meta.Job.State != want || e.S.Live.Running {
		e.Next()
	}
}

// asked waits until the turn asks for a permission.
func asked(e *hosttest.Entry) protocol.PermissionRequest {
	for len(e.S.Live.Permissions) == 0 {
		e.Next()
	}
	return e.S.Live.Permissions[0]
}

// listed is the state of the only job in the list.
func listed(t *testing.T, c *client.Client) protocol.JobState {
	t.Helper()
	list := hosttest.Call[*protocol.SessionList](t, c, "", &protocol.ListSessions{Jobs: true})
	if len(list.Sessions) != 1 {
		t.Fatalf("%d jobs", len(list.Sessions))
	}
	return list.Sessions[0].JobState()
}

func TestTemplatesAreThoseOfTheUserAndOfATrustedProject(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, answers)
	c := w.Connect(true)
	own(w, "fix", fixes)
	own(w, "shared", "Mine.\n")
	own(w, "bad", "---\ndescription: [\n---\ntext\n")
	own(w, "shell", "Look:\n!date\n")
	w.File(".scorel/templates/release.md", "---\ndescription: make a release\n---\nRelease $ARGUMENTS.\n")
	w.File(".scorel/templates/shared.md", "Of the project.\n")

	names, list := templates(t, w, c)
	if want := []string{"user fix: mend a fault", "user shared: Mine."}; !slices.Equal(names, want) {
		t.Errorf("before trust: %q, want %q", names, want)
	}
	problems := strings.Join(list.Problems, "\n")
	for _, want := range []string{"bad.md", "shell.md: it has shell lines", "release.md is left out: it is not trusted as it is now; scorel trust shows it."} {
		if !strings.Contains(problems, want) {
			t.Errorf("the problems do not have %q:\n%s", want, problems)
		}
	}
	hosttest.Refused(t, c, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.CreateJob{Template: "release", WorkDir: w.Project}, protocol.CodeNotFound)

	trustAll(t, w, c)
	names, _ = templates(t, w, c)
	if want := []string{"project release: make a release", "project shared: Of the project.", "user fix: mend a fault"}; !slices.Equal(names, want) {
		t.Errorf("after trust: %q, want %q", names, want)
	}

	w.File(".scorel/templates/release.md", "Delete everything.\n")
	if names, _ = templates(t, w, c); slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "release") }) {
		t.Errorf("a template that has changed counts: %q", names)
	}
	for _, name := range []string{"../config", "/etc/passwd", ".scorel/templates/fix", "fix.md"} {
		hosttest.Refused(t, c, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.CreateJob{Template: name, WorkDir: w.Project}, protocol.CodeNotFound)
	}
	if list := hosttest.Call[*protocol.SessionList](t, c, "", &protocol.ListSessions{}); len(list.Sessions) != 0 {
		t.Errorf("what was refused has made %d sessions", len(list.Sessions))
	}
}

func TestAJobIsASessionThatIsSentTheTextOfItsTemplate(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, answers)
	c := w.Connect(true)
	own(w, "fix", fixes)
	e, sum := begin(t, w, c, "fix", "the parser")
	if sum.Meta.Name != "fix: the parser" || sum.Meta.Job == nil || sum.Meta.Job.Template != "fix" {
		t.Errorf("%+v", sum.Meta)
	}
	until(e, protocol.JobDone)
	if got := e.Users(); !slices.Equal(got, []string{"Mend the parser."}) {
		t.Errorf("it was sent %q", got)
	}
	w.Begin(true) // a session that is no job
	if got := listed(t, c); got != protocol.JobDone {
		t.Errorf("the list says %q", got)
	}
}

func TestTheEndOfTheTurnSaysHowFarAJobIsWithoutAnAuxiliaryModel(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, `{"do":[{"text":"Which **parser**?"}]}`, `{"do":[{"text":"It is mended."}]}`, `{"again":true,"do":[{"error":{"status":403}}]}`)
	c := w.Connect(true)
	own(w, "fix", fixes)
	e, _ := begin(t, w, c, "fix", "it")
	until(e, protocol.JobWaiting)
	hosttest.Call[*protocol.Sent](t, c, e.ID, &protocol.FollowUp{Content: hosttest.Text("the first one")})
	until(e, protocol.JobDone)
	hosttest.Call[*protocol.Sent](t, c, e.ID, &protocol.FollowUp{Content: hosttest.Text("and the printer")})
	until(e, protocol.JobFailed)
	var states []protocol.JobState
	for _, ev := range w.Log(e.ID) {
		if b, ok := ev.Body.(*protocol.SessionInfo); ok && b.Changes.JobState != nil {
			states = append(states, *b.Changes.JobState)
		}
	}
	want := []protocol.JobState{protocol.JobWaiting, protocol.JobWorking, protocol.JobDone, protocol.JobWorking, protocol.JobFailed}
	if !slices.Equal(states, want) {
		t.Errorf("the log has %q, want %q", states, want)
	}
}

func TestTheAuxiliaryModelSaysHowFarAJobIs(t *testing.T) {
	for word, want := range map[string]protocol.JobState{"waiting": protocol.JobWaiting, "Failed.": protocol.JobFailed, "done": protocol.JobDone,
		"working": protocol.JobWaiting /* nothing that it has started runs */, "I cannot say": protocol.JobDone} {
		w := hosttest.New(t, hosttest.Setting{Serving: true, Other: "anthropic-messages", Tables: auxiliary, Lines: []string{`{"again":true,"do":[{"text":"` + word + `"}]}`}}, answers)
		c := w.Connect(true)
		own(w, "fix", fixes)
		e, _ := begin(t, w, c, "fix", "it")
		until(e, want)
		if n := w.Second.Count(); n != 1 {
			t.Errorf("%s: %d requests for one answer", word, n)
		}
		if body := string(w.Second.Requests()[0].Body); !strings.Contains(body, "It is mended.") {
			t.Errorf("%s: the request: %.600s", word, body)
		}
		w.Judged()
	}
}

func TestAMessageThatComesWhileAJobIsSortedCounts(t *testing.T) {
	begun, answer := make(chan struct{}, 1), make(chan struct{})
	w := hosttest.New(t, hosttest.Setting{Serving: true, Tables: "[auxiliary]\nmodel = \"mock\"\n", Request: func(body []byte) {
		if strings.Contains(string(body), "You sort the last message") && !strings.Contains(string(body), "second answer") {
			begun <- struct{}{}
			<-answer
		}
	}}, `{"if":{"user":"The word:"},"again":true,"do":[{"text":"failed"}]}`, `{"do":[{"text":"first answer"}]}`, `{"do":[{"text":"second answer"}]}`)
	c := w.Connect(true)
	own(w, "fix", fixes)
	e, _ := begin(t, w, c, "fix", "it")
	<-begun
	e.Say("and the printer")
	close(answer)
	until(e, protocol.JobFailed)
	w.Restart() // ends what goes on beside conversations
	n := 0
	for _, ev := range w.Log(e.ID) {
		if b, ok := ev.Body.(*protocol.SessionInfo); ok && b.Changes.JobState != nil {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d states were stored, want that of the second answer alone", n)
	}
}

func TestACancelledJobWaitsForAPerson(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true, Chunk: 1, Pieces: 2}, answers)
	c := w.Connect(true)
	own(w, "fix", fixes)
	e, _ := begin(t, w, c, "fix", "it")
	for !e.S.Live.Running {
		e.Next()
	}
	hosttest.Call[*protocol.Cancelled](t, c, e.ID, &protocol.Cancel{TurnID: e.S.Live.TurnID})
	until(e, protocol.JobWaiting)
}

func TestAQuestionOfTheRunningTurnHasAJobWait(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true, Attended: true}, `{"do":[{"call":"Bash","input":{"command":"touch x"}}]}`, answers)
	c := w.Connect(true)
	own(w, "fix", fixes)
	e, _ := begin(t, w, c, "fix", "it")
	q := asked(e)
	if got := listed(t, c); got != protocol.JobWaiting {
		t.Errorf("while it asks it is %q", got)
	}
	hosttest.Call[*protocol.Done](t, c, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
	until(e, protocol.JobDone)
}

func TestOnlyTheHostSetsWhatMakesASessionAJob(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, answers)
	e := w.Begin(true)
	done := protocol.JobDone
	hosttest.Refused(t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{JobState: &done}}, protocol.CodeInvalidRequest)
	hosttest.Refused(t, e.C, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.CreateSession{
		Meta: protocol.Meta{WorkDir: w.Project, Job: &protocol.JobMeta{Template: "fix", State: done}}}, protocol.CodeInvalidRequest)
}

func TestACopyOfAJobIsNoJob(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, answers)
	c := w.Connect(true)
	own(w, "fix", fixes)
	e, _ := begin(t, w, c, "fix", "it")
	until(e, protocol.JobDone)
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	sum := hosttest.Call[*protocol.SessionSummary](t, c, id, &protocol.CloneSession{FromSessionID: e.ID})
	if sum.Meta.Job != nil {
		t.Errorf("a copy is a job: %+v", sum.Meta.Job)
	}
	copied := w.Open(c, id)
	copied.Say("go on")
	if listed(t, c) != protocol.JobDone || copied.S.Live.Meta.Job != nil {
		t.Error("a copy has become a job")
	}
}

func TestOnlyTheUsersOwnTemplateGrantsSomething(t *testing.T) {
	const grants = "---\nallowed-tools: Bash(touch:*)\n---\nMend it.\n"
	for _, mine := range []bool{true, false} {
		w := hosttest.New(t, hosttest.Setting{Serving: true, Attended: true}, `{"do":[{"call":"Bash","input":{"command":"touch x"}}]}`, answers)
		c := w.Connect(true)
		if mine {
			own(w, "fix", grants)
		} else {
			w.File(".scorel/templates/fix.md", grants)
			trustAll(t, w, c)
		}
		e, sum := begin(t, w, c, "fix", "")
		if !mine {
			q := asked(e)
			if len(sum.Notices) != 1 || !strings.Contains(sum.Notices[0], "grants nothing in a job template that is not your own") {
				t.Errorf("notices: %q", sum.Notices)
			}
			hosttest.Call[*protocol.Done](t, c, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -1})
		}
		until(e, protocol.JobDone)
	}
}

func TestARepeatedRequestMakesOneJobWhereverTheHostWasKilled(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, answers)
	own(w, "fix", fixes)
	c := w.Caller()
	call := hosttest.NewCall(protocol.NewSessionID(time.Now(), rand.Reader), &protocol.CreateJob{Template: "fix", Args: "it", WorkDir: w.Project})
	if r := c.Call(call); r.Err != nil {
		t.Fatal(r.Err)
	}
	until(w.Open(w.Connect(true), call.SessionID), protocol.JobDone)
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(w.Home, ".scorel", "sessions", string(call.SessionID)+".jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	call.Repeat = true
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	for n := range len(lines) + 1 { // as it is when the host was killed after so many lines of the log
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			w.Write(name, strings.TrimSuffix(strings.Join(lines[:n], ""), "\n")+"\n")
		}
		w.Start()
		c.Connect()
		for range 2 {
			if r := c.Call(call); r.Err != nil {
				t.Fatalf("after %d lines: %v", n, r.Err)
			}
		}
		e := w.Open(w.Connect(true), call.SessionID)
		for s := e.S.Live; s.Running || s.Meta.Job.State == protocol.JobWorking; s = e.S.Live {
			e.Next()
		}
		list := hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{Jobs: true})
		if got := e.Users(); len(got) != 1 || got[0] != "Mend it." || len(list.Sessions) != 1 {
			t.Errorf("after %d lines there are %d jobs, and it was sent %q", n, len(list.Sessions), got)
		}
		if err := w.Host.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAJobWhoseHostWasKilledWaitsForAPerson(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true, Chunk: 1, Pieces: 2}, answers)
	c := w.Connect(true)
	own(w, "fix", fixes)
	e, _ := begin(t, w, c, "fix", "it")
	for !e.S.Live.Running {
		e.Next()
	}
	after := w.Killed()
	again := after.Open(after.Connect(true), e.ID)
	until(again, protocol.JobWaiting)
}

func TestTheSlashCommandDoesWhatTheCommandDoes(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, `{"if":{"user":"^Mend"},"again":true,"do":[{"text":"Which one?"}]}`, answers)
	own(w, "fix", fixes)
	e := w.Begin(true)
	if r := e.Command("job", ""); !strings.Contains(r.Text, "fix  user  mend a fault") {
		t.Errorf("%+v", r)
	}
	if r := e.Command("job", "new fix the parser"); !strings.Contains(r.Status, "fix: the parser") {
		t.Errorf("%+v", r)
	}
	list := hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{Jobs: true})
	if len(list.Sessions) != 1 {
		t.Fatalf("%d jobs", len(list.Sessions))
	}
	job := w.Open(w.Connect(true), list.Sessions[0].SessionID)
	until(job, protocol.JobWaiting)
	if r := e.Command("job", `status "fix: the parser"`); !strings.Contains(r.Text, "state: waiting") {
		t.Errorf("%+v", r)
	}
	e.Command("job", `reply "fix: the parser" the one that can't`)
	until(job, protocol.JobDone)
	if got := job.Users(); len(got) != 2 || got[1] != "the one that can't" {
		t.Errorf("it was sent %q", got)
	}
	if r := e.Command("job", "list --all"); !strings.Contains(r.Text, "done") || !strings.Contains(r.Text, "fix: the parser") {
		t.Errorf("%+v", r)
	}
	for _, args := range []string{"new", "new none", "reply x", "status nothing", "remove x", "list x"} {
		if _, err := client.Call[*protocol.CommandResult](t.Context(), e.C, e.ID, &protocol.RunCommand{Name: "job", Args: args}); err == nil {
			t.Errorf("/job %s succeeds", args)
		}
	}
}
