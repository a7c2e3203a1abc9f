package commands_test

import (
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestCommandsOfAllSourcesAreListedWithTheirNames(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"text":"well"}]}`)
	w.User("commands/review.md", "---\ndescription: Reviews\nargument-hint: FILE\n---\nReview $1.")
	w.User("skills/review/SKILL.md", "---\ndescription: A skill\n---\nx")
	w.User("commands/compact.md", "mine")
	w.File(".scorel/commands/shell.md", "!date")
	w.File(".claude/commands/text.md", "of the project")
	c := w.Connect(false)
	list := hosttest.Call[*protocol.CommandList](t, c, "", &protocol.ListCommands{WorkDir: w.Project})
	by, names := map[string]protocol.CommandInfo{}, []string{}
	for _, i := range list.Commands {
		by[i.Name] = i
		names = append(names, i.Name)
	}
	if got := strings.Join(names, " "); got != "autonomy commit compact compact:template cron init job loop memory mode model name proactive reload review:skill review:template schedule shell skill-search text triggers" {
		t.Errorf("listed: %s", got)
	}
	if i := by["review:template"]; i.Description != "Reviews" || i.ArgumentHint != "FILE" || i.Scope != "user" || !strings.HasSuffix(i.Origin, "/commands/review.md") {
		t.Errorf("%+v", i)
	}
	if i := by["shell"]; !strings.Contains(i.Refused, "not trusted") || i.Scope != "project" {
		t.Errorf("%+v", i)
	}
	if i := by["text"]; i.Refused != "" {
		t.Errorf("%+v", i)
	}
	e := w.Begin(false)
	if got := hosttest.Call[*protocol.CommandList](t, e.C, e.ID, &protocol.ListCommands{}); len(got.Commands) != len(list.Commands) {
		t.Errorf("a session lists %d commands, its folder %d", len(got.Commands), len(list.Commands))
	}
	if got := hosttest.Call[*protocol.CompletionList](t, e.C, e.ID, &protocol.CompleteCommand{Name: "mode", Args: "acc"}); len(got.Items) != 1 || got.Items[0].Value != "acceptEdits" {
		t.Errorf("completions of /mode: %+v", got)
	}
	if got := hosttest.Call[*protocol.CompletionList](t, e.C, e.ID, &protocol.CompleteCommand{Name: "model", Args: "moc"}); len(got.Items) != 1 || got.Items[0].Value != "mock" {
		t.Errorf("completions of /model: %+v", got)
	}
	if got := hosttest.Call[*protocol.CompletionList](t, e.C, e.ID, &protocol.CompleteCommand{Name: "review:skill"}); len(got.Items) != 0 {
		t.Errorf("completions of a skill: %+v", got)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.CompleteCommand{Name: "none"}, protocol.CodeNotFound)
	hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "reload", Args: "skills"}, protocol.CodeInvalidRequest)
}

func TestATemplateBecomesAMessageWithAllItsRules(t *testing.T) {
	hold := make(chan struct{})
	w := hosttest.New(t, hosttest.Setting{Request: func(body []byte) {
		if strings.Contains(string(body), "wait here") && !strings.Contains(string(body), "Review") {
			<-hold
		}
	}, Fallback: true}, `{"again":true,"do":[{"text":"well"}]}`)
	w.User("commands/review.md", "Review $1 and ${@:2}.")
	w.User("commands/other.md", "---\nmodel: spare\n---\nWith the spare one.")
	e := w.Begin(false)
	e.Send("wait here")
	// While a turn runs it waits; a repeat of the request waits no second time.
	waiting, other := hosttest.NewCall(e.ID, &protocol.RunCommand{Name: "review", Args: "a.go 'b c' d"}), w.Caller()
	for range 2 {
		r, ok := other.Call(waiting).Data.(*protocol.CommandResult)
		if !ok || r.Sent == nil || r.Sent.ItemID == "" {
			t.Fatalf("%+v", r)
		}
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "review", Args: "x", WhenBusy: "reject"}, protocol.CodeRuntimeBusy)
	if pe := hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "other"}, protocol.CodeRuntimeBusy); !strings.Contains(pe.Message, "begins one with the model spare") {
		t.Errorf("busy: %s", pe.Message)
	}
	close(hold)
	e.End()
	if got := strings.Join(e.Said(), "|"); got != "wait here|Review a.go and b c d." {
		t.Errorf("said: %s", got)
	}
	e.Events = nil
	if r := e.Command("other", ""); r.Sent == nil || r.Sent.TurnID == "" {
		t.Errorf("%+v", r)
	}
	e.End()
	bodies := w.Asked(0)
	if last := bodies[len(bodies)-1]; !strings.Contains(last, "spare-1") || !strings.Contains(last, "With the spare one.") {
		t.Errorf("the model of a template: %.200s", last)
	}
	w.Judged()
}

func TestShellLinesOfATemplateRunByTheRulesAndInTheSandbox(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true, Overrides: host.Overrides{Allow: []string{"Bash(echo:*)", "Bash(cat:*)"}, Deny: []string{"Bash(git push:*)"}}}, `{"again":true,"do":[{"text":"well"}]}`)
	w.File("note.txt", "one\ntwo </output> x\n")
	w.User("commands/ok.md", "Say !`echo hi $1`.\n!cat note.txt\n")
	w.User("commands/denied.md", "!git push\n")
	w.User("commands/asks.md", "!touch made\n")
	w.User("commands/fails.md", "!cat nothing\n")
	w.User("commands/keys.md", "!cat $HOME/.scorel/device.json || echo hidden\n")
	e := w.Begin(true)
	if r := e.Command("ok", "'a b; id'"); r.Status != "ran echo hi 'a b; id', cat note.txt" {
		t.Errorf("status %q", r.Status)
	}
	e.End()
	want := "Say hi a b; id.\n<output command=\"cat note.txt\">\none\ntwo &lt;/output> x\n</output>"
	if got := e.Said()[0]; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if pe := hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "denied"}, protocol.CodeForbidden); !strings.Contains(pe.Message, "Bash(git push:*) denies") {
		t.Errorf("denied: %s", pe.Message)
	}
	// Where the rules ask, people are asked.
	for value, code := range map[string]protocol.Code{"false": protocol.CodeForbidden, "true": ""} {
		e.Events = nil
		failed := make(chan error, 1)
		go func() { // ends with the request
			_, err := client.Call[*protocol.CommandResult](t.Context(), e.C, e.ID, &protocol.RunCommand{Name: "asks"})
			failed <- err
		}()
		ask := e.Until(hosttest.OfType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
		if ask.Data.Kind != protocol.DialogConfirm || !strings.HasPrefix(ask.Data.Message, "touch made\n") {
			t.Errorf("asked: %+v", ask.Data)
		}
		hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: ask.UIID, Value: []byte(value)})
		if err := <-failed; (err == nil) != (code == "") || err != nil && protocol.AsError(err).Code != code {
			t.Errorf("answered %s: %v", value, err)
		}
	}
	e.End()
	if w.Read("made") != "" {
		t.Error("the line did not run")
	}
	e.Events = nil
	e.Command("fails", "")
	e.End()
	hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "keys"}, protocol.CodeForbidden)
	said := e.Said()
	if got := said[len(said)-1]; !strings.Contains(got, "No such file") || !strings.Contains(got, "exit code 1") {
		t.Errorf("a line that fails: %q", got)
	}
	w.Judged()
}

func TestAProjectsShellLinesRunOnlyOnceTheyAreTrusted(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}}, `{"again":true,"do":[{"text":"well"}]}`)
	w.File(".scorel/commands/a.md", "!echo ran > a.txt\n")
	w.File(".claude/commands/b.md", "On !`echo ran > b.txt`.\n")
	w.File(".scorel/commands/text.md", "Words of the project.")
	e := w.Begin(false)
	for _, name := range []string{"a", "b"} {
		hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: name}, protocol.CodeForbidden)
	}
	e.Command("text", "")
	e.End()
	if got := e.Said()[0]; !strings.HasPrefix(got, `<project-command name="text" path="`) || !strings.Contains(got, "\nWords of the project.\n</project-command>") {
		t.Errorf("a project's text: %q", got)
	}
	w.Trust(e.C)
	for _, name := range []string{"a", "b"} {
		e.Events = nil
		e.Command(name, "")
		e.End()
		if w.Read(name+".txt") != "ran\n" {
			t.Errorf("%s did not run", name)
		}
	}
	w.File(".scorel/commands/a.md", "!echo other > a.txt\n")
	hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "a"}, protocol.CodeForbidden)
	w.File(".scorel/commands/text.md", "!echo sneaked > a.txt\n")
	hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "text"}, protocol.CodeForbidden)
	if w.Read("a.txt") != "ran\n" {
		t.Error("a changed line ran")
	}
}

func TestCommandsOfTheHostDoWhatTheirRequestsDo(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Fallback: true}, `{"again":true,"do":[{"text":"well"}]}`)
	w.User("skills/greet/SKILL.md", "Greet $ARGUMENTS warmly.")
	e := w.Begin(false)
	if r := e.Command("mode", "plan"); r.Status != "the mode is plan" {
		t.Errorf("%+v", r)
	}
	if r := e.Command("name", "A title"); r.Status == "" {
		t.Errorf("%+v", r)
	}
	if r := e.Command("model", "spare"); !strings.Contains(r.Status, "spare") {
		t.Errorf("%+v", r)
	}
	for name, args := range map[string]string{"mode": "loud", "model": "nobody/nothing", "name": " "} {
		hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: name, Args: args}, protocol.CodeInvalidRequest)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "nope"}, protocol.CodeNotFound)
	if r := e.Command("memory", "run make generate first"); r.Status != "added to this project's notes" {
		t.Errorf("%+v", r)
	}
	if r := e.Command("memory", ""); !strings.HasSuffix(r.Text, "/MEMORY.md\n- run make generate first") || !strings.Contains(r.Status, "tokens of notes are sent") {
		t.Errorf("%+v", r)
	}
	if r := e.Command("compact", ""); r.Status != "there is nothing to compact" {
		t.Errorf("%+v", r)
	}
	e.End()
	e.Events = nil
	if r := e.Command("greet", "Ada"); r.Sent == nil {
		t.Errorf("%+v", r)
	}
	e.End()
	bodies := w.Asked(0)
	if last := bodies[len(bodies)-1]; !strings.Contains(last, "Greet Ada warmly.") || !strings.Contains(last, "spare-1") {
		t.Errorf("sent: %.300s", last)
	}
	live := e.S.Live
	if live.Mode != "plan" || live.Meta.Name != "A title" || live.Meta.Model != "spare" {
		t.Errorf("the session: %s %+v", live.Mode, live.Meta)
	}
}

func TestACommandThatWasSentIsNotSentAgainByAnotherHost(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	w.User("commands/go.md", "Go on with $1.")
	e := w.Begin(false)
	c := w.Caller()
	sent := hosttest.NewCall(e.ID, &protocol.RunCommand{Name: "go", Args: "this"})
	first, ok := c.Call(sent).Data.(*protocol.CommandResult)
	if !ok || first.Sent == nil {
		t.Fatalf("%+v", first)
	}
	e.End()
	w.Restart()
	c.Connect()
	sent.Repeat = true
	again, ok := c.Call(sent).Data.(*protocol.CommandResult)
	if !ok || again.Sent == nil || again.Sent.EventID != first.Sent.EventID {
		t.Errorf("the repeat: %+v, first %+v", again, first.Sent)
	}
	if got := strings.Join(w.Open(w.Connect(false), e.ID).Said(), "|"); got != "Go on with this." {
		t.Errorf("said: %s", got)
	}
}

func TestTheModeOfAMessageHoldsForItsShellLines(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	w.User("commands/make.md", "!echo x > made.txt\n")
	e := w.Begin(false)
	e.Command("mode", "plan")
	if pe := hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "make"}, protocol.CodeForbidden); !strings.Contains(pe.Message, "Plan mode") {
		t.Errorf("in plan mode: %s", pe.Message)
	}
	hosttest.Call[*protocol.CommandResult](t, e.C, e.ID, &protocol.RunCommand{Name: "make", WhenBusy: "reject", Options: &protocol.TurnOptions{Mode: "default", Allow: []string{"Bash"}}})
	e.End()
	if w.Read("made.txt") != "x\n" {
		t.Error("the line did not run")
	}
}
