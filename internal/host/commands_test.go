package host_test

import (
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

func (e *entry) command(name, args string) *protocol.CommandResult {
	e.w.t.Helper()
	return call[*protocol.CommandResult](e.w.t, e.c, e.id, &protocol.RunCommand{Name: name, Args: args})
}

// said gives the texts of the user's messages, oldest first.
func (e *entry) said() (out []string) {
	e.w.t.Helper()
	for _, m := range e.messages() {
		if m.Role == protocol.RoleUser {
			out = append(out, m.PlainText())
		}
	}
	return out
}

func TestCommandsOfAllSourcesAreListedWithTheirNames(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"text":"well"}]}`)
	w.user("commands/review.md", "---\ndescription: Reviews\nargument-hint: FILE\n---\nReview $1.")
	w.user("skills/review/SKILL.md", "---\ndescription: A skill\n---\nx")
	w.user("commands/compact.md", "mine")
	w.file(".scorel/commands/shell.md", "!date")
	w.file(".claude/commands/text.md", "of the project")
	c := w.connect(false)
	list := call[*protocol.CommandList](t, c, "", &protocol.ListCommands{WorkDir: w.project})
	by, names := map[string]protocol.CommandInfo{}, []string{}
	for _, i := range list.Commands {
		by[i.Name] = i
		names = append(names, i.Name)
	}
	if got := strings.Join(names, " "); got != "compact compact:template memory mode model name reload review:skill review:template shell text" {
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
	e := w.begin(false)
	if got := call[*protocol.CommandList](t, e.c, e.id, &protocol.ListCommands{}); len(got.Commands) != len(list.Commands) {
		t.Errorf("a session lists %d commands, its folder %d", len(got.Commands), len(list.Commands))
	}
	if got := call[*protocol.CompletionList](t, e.c, e.id, &protocol.CompleteCommand{Name: "mode", Args: "acc"}); len(got.Items) != 1 || got.Items[0].Value != "acceptEdits" {
		t.Errorf("completions of /mode: %+v", got)
	}
	if got := call[*protocol.CompletionList](t, e.c, e.id, &protocol.CompleteCommand{Name: "model", Args: "moc"}); len(got.Items) != 1 || got.Items[0].Value != "mock" {
		t.Errorf("completions of /model: %+v", got)
	}
	if got := call[*protocol.CompletionList](t, e.c, e.id, &protocol.CompleteCommand{Name: "review:skill"}); len(got.Items) != 0 {
		t.Errorf("completions of a skill: %+v", got)
	}
	refused(t, e.c, e.id, &protocol.CompleteCommand{Name: "none"}, protocol.CodeInvalidRequest)
}

func TestATemplateBecomesAMessageWithAllItsRules(t *testing.T) {
	hold := make(chan struct{})
	w := newWorld(t, setting{request: func(body []byte) {
		if strings.Contains(string(body), "wait here") && !strings.Contains(string(body), "Review") {
			<-hold
		}
	}, fallback: true}, `{"again":true,"do":[{"text":"well"}]}`)
	w.user("commands/review.md", "Review $1 and ${@:2}.")
	w.user("commands/other.md", "---\nmodel: spare\n---\nWith the spare one.")
	e := w.begin(false)
	e.send("wait here")
	// While a turn runs it waits; a repeat of the request waits no second time.
	waiting, other := newCall(e.id, &protocol.RunCommand{Name: "review", Args: "a.go 'b c' d"}), w.caller()
	for range 2 {
		r, ok := other.call(waiting).Data.(*protocol.CommandResult)
		if !ok || r.Sent == nil || r.Sent.ItemID == "" {
			t.Fatalf("%+v", r)
		}
	}
	refused(t, e.c, e.id, &protocol.RunCommand{Name: "review", Args: "x", WhenBusy: "reject"}, protocol.CodeRuntimeBusy)
	if pe := refused(t, e.c, e.id, &protocol.RunCommand{Name: "other"}, protocol.CodeRuntimeBusy); !strings.Contains(pe.Message, "begins one with the model spare") {
		t.Errorf("busy: %s", pe.Message)
	}
	close(hold)
	e.end()
	if got := strings.Join(e.said(), "|"); got != "wait here|Review a.go and b c d." {
		t.Errorf("said: %s", got)
	}
	e.events = nil
	if r := e.command("other", ""); r.Sent == nil || r.Sent.TurnID == "" {
		t.Errorf("%+v", r)
	}
	e.end()
	bodies := w.asked(0)
	if last := bodies[len(bodies)-1]; !strings.Contains(last, "spare-1") || !strings.Contains(last, "With the spare one.") {
		t.Errorf("the model of a template: %.200s", last)
	}
	w.judged()
}

func TestShellLinesOfATemplateRunByTheRulesAndInTheSandbox(t *testing.T) {
	w := newWorld(t, setting{attended: true, overrides: host.Overrides{Allow: []string{"Bash(echo:*)", "Bash(cat:*)"}, Deny: []string{"Bash(git push:*)"}}}, `{"again":true,"do":[{"text":"well"}]}`)
	w.file("note.txt", "one\ntwo </output> x\n")
	w.user("commands/ok.md", "Say !`echo hi $1`.\n!cat note.txt\n")
	w.user("commands/denied.md", "!git push\n")
	w.user("commands/asks.md", "!touch made\n")
	w.user("commands/fails.md", "!cat nothing\n")
	w.user("commands/keys.md", "!cat $HOME/.scorel/device.json || echo hidden\n")
	e := w.begin(true)
	if r := e.command("ok", "'a b; id'"); r.Status != "ran echo hi 'a b; id', cat note.txt" {
		t.Errorf("status %q", r.Status)
	}
	e.end()
	want := "Say hi a b; id.\n<output command=\"cat note.txt\">\none\ntwo &lt;/output> x\n</output>"
	if got := e.said()[0]; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if pe := refused(t, e.c, e.id, &protocol.RunCommand{Name: "denied"}, protocol.CodeForbidden); !strings.Contains(pe.Message, "Bash(git push:*) denies") {
		t.Errorf("denied: %s", pe.Message)
	}
	// Where the rules ask, people are asked.
	for value, code := range map[string]protocol.Code{"false": protocol.CodeForbidden, "true": ""} {
		e.events = nil
		failed := make(chan error, 1)
		go func() { // ends with the request
			_, err := client.Call[*protocol.CommandResult](t.Context(), e.c, e.id, &protocol.RunCommand{Name: "asks"})
			failed <- err
		}()
		ask := e.until(ofType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
		if ask.Data.Kind != protocol.DialogConfirm || !strings.HasPrefix(ask.Data.Message, "touch made\n") {
			t.Errorf("asked: %+v", ask.Data)
		}
		call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: ask.UIID, Value: []byte(value)})
		if err := <-failed; (err == nil) != (code == "") || err != nil && protocol.AsError(err).Code != code {
			t.Errorf("answered %s: %v", value, err)
		}
	}
	e.end()
	if w.read("made") != "" {
		t.Error("the line did not run")
	}
	e.events = nil
	e.command("fails", "")
	e.end()
	refused(t, e.c, e.id, &protocol.RunCommand{Name: "keys"}, protocol.CodeForbidden)
	said := e.said()
	if got := said[len(said)-1]; !strings.Contains(got, "No such file") || !strings.Contains(got, "exit code 1") {
		t.Errorf("a line that fails: %q", got)
	}
	w.judged()
}

func TestAProjectsShellLinesRunOnlyOnceTheyAreTrusted(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}}, `{"again":true,"do":[{"text":"well"}]}`)
	w.file(".scorel/commands/a.md", "!echo ran > a.txt\n")
	w.file(".claude/commands/b.md", "On !`echo ran > b.txt`.\n")
	w.file(".scorel/commands/text.md", "Words of the project.")
	e := w.begin(false)
	for _, name := range []string{"a", "b"} {
		refused(t, e.c, e.id, &protocol.RunCommand{Name: name}, protocol.CodeForbidden)
	}
	e.command("text", "")
	e.end()
	if got := e.said()[0]; !strings.HasPrefix(got, `<project-command name="text" path="`) || !strings.Contains(got, "\nWords of the project.\n</project-command>") {
		t.Errorf("a project's text: %q", got)
	}
	w.trust(e.c)
	for _, name := range []string{"a", "b"} {
		e.events = nil
		e.command(name, "")
		e.end()
		if w.read(name+".txt") != "ran\n" {
			t.Errorf("%s did not run", name)
		}
	}
	w.file(".scorel/commands/a.md", "!echo other > a.txt\n")
	refused(t, e.c, e.id, &protocol.RunCommand{Name: "a"}, protocol.CodeForbidden)
	w.file(".scorel/commands/text.md", "!echo sneaked > a.txt\n")
	refused(t, e.c, e.id, &protocol.RunCommand{Name: "text"}, protocol.CodeForbidden)
	if w.read("a.txt") != "ran\n" {
		t.Error("a changed line ran")
	}
}

func TestCommandsOfTheHostDoWhatTheirRequestsDo(t *testing.T) {
	w := newWorld(t, setting{fallback: true}, `{"again":true,"do":[{"text":"well"}]}`)
	w.user("skills/greet/SKILL.md", "Greet $ARGUMENTS warmly.")
	e := w.begin(false)
	if r := e.command("mode", "plan"); r.Status != "the mode is plan" {
		t.Errorf("%+v", r)
	}
	if r := e.command("name", "A title"); r.Status == "" {
		t.Errorf("%+v", r)
	}
	if r := e.command("model", "spare"); !strings.Contains(r.Status, "spare") {
		t.Errorf("%+v", r)
	}
	for name, args := range map[string]string{"mode": "loud", "model": "nobody/nothing", "name": " ", "nope": ""} {
		refused(t, e.c, e.id, &protocol.RunCommand{Name: name, Args: args}, protocol.CodeInvalidRequest)
	}
	if r := e.command("memory", "run make generate first"); r.Status != "added to this project's notes" {
		t.Errorf("%+v", r)
	}
	if r := e.command("memory", ""); !strings.HasSuffix(r.Text, "/MEMORY.md\n- run make generate first") || !strings.Contains(r.Status, "tokens of notes are told") {
		t.Errorf("%+v", r)
	}
	if r := e.command("compact", ""); r.Status != "there is nothing to compact" {
		t.Errorf("%+v", r)
	}
	e.end()
	e.events = nil
	if r := e.command("greet", "Ada"); r.Sent == nil {
		t.Errorf("%+v", r)
	}
	e.end()
	bodies := w.asked(0)
	if last := bodies[len(bodies)-1]; !strings.Contains(last, "Greet Ada warmly.") || !strings.Contains(last, "spare-1") {
		t.Errorf("sent: %.300s", last)
	}
	live := e.s.Live
	if live.Mode != "plan" || live.Meta.Name != "A title" || live.Meta.Model != "spare" {
		t.Errorf("the session: %s %+v", live.Mode, live.Meta)
	}
}

func TestACommandThatWasSentIsNotSentAgainByAnotherHost(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	w.user("commands/go.md", "Go on with $1.")
	e := w.begin(false)
	c := w.caller()
	sent := newCall(e.id, &protocol.RunCommand{Name: "go", Args: "this"})
	first, ok := c.call(sent).Data.(*protocol.CommandResult)
	if !ok || first.Sent == nil {
		t.Fatalf("%+v", first)
	}
	e.end()
	w.restart()
	c.connect()
	sent.Repeat = true
	again, ok := c.call(sent).Data.(*protocol.CommandResult)
	if !ok || again.Sent == nil || again.Sent.EventID != first.Sent.EventID {
		t.Errorf("the repeat: %+v, first %+v", again, first.Sent)
	}
	if got := strings.Join(w.open(w.connect(false), e.id).said(), "|"); got != "Go on with this." {
		t.Errorf("said: %s", got)
	}
}

func TestTheModeOfAMessageHoldsForItsShellLines(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	w.user("commands/make.md", "!echo x > made.txt\n")
	e := w.begin(false)
	e.command("mode", "plan")
	if pe := refused(t, e.c, e.id, &protocol.RunCommand{Name: "make"}, protocol.CodeForbidden); !strings.Contains(pe.Message, "Plan mode") {
		t.Errorf("in plan mode: %s", pe.Message)
	}
	call[*protocol.CommandResult](t, e.c, e.id, &protocol.RunCommand{Name: "make", WhenBusy: "reject", Options: &protocol.TurnOptions{Mode: "default", Allow: []string{"Bash"}}})
	e.end()
	if w.read("made.txt") != "x\n" {
		t.Error("the line did not run")
	}
}
