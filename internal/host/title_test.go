package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/client"
	"scorel/protocol"
)

const oneAnswer = `{"again":true,"do":[{"text":"the answer"}]}`

// has says whether the diagnostics of a session name something.
func (r *reports) has(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(strings.Join(r.list, "\n"), text)
}

// named waits for the name of the session.
func (e *entry) named() string {
	e.w.t.Helper()
	ev := e.until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.SessionInfo)
		return ok && b.Changes.Name != nil
	})
	return *ev.Body.(*protocol.SessionInfo).Changes.Name
}

// names counts the events that name the session, in its log.
func (w *world) names(id protocol.SessionID) (out []string) {
	for _, e := range w.log(id) {
		if b, ok := e.Body.(*protocol.SessionInfo); ok && b.Changes.Name != nil {
			out = append(out, *b.Changes.Name)
		}
	}
	return out
}

func TestASessionGetsATitleBehindItsFirstTurnOnce(t *testing.T) {
	for _, api := range apis() {
		w := newWorld(t, setting{serving: true, other: api, tables: auxiliary, lines: []string{`{"do":[{"text":"\"Repair\tthe **parser**.\"\nand more"}]}`}}, oneAnswer)
		e := w.begin(true)
		e.say("Please repair the parser.\nIt fails.")
		if got := e.named(); got != "Repair the **parser**" {
			t.Errorf("%s: the title is %q", api, got)
		}
		e.say("and now the printer")
		e.say("and the rest")
		w.restart()
		e = w.open(w.connect(true), e.id)
		e.say("go on")
		if got := w.names(e.id); len(got) != 1 {
			t.Errorf("%s: named %q", api, got)
		}
		if n := w.second.Count(); n != 1 {
			t.Errorf("%s: %d requests for titles", api, n)
		}
		body := string(w.second.Requests()[0].Body)
		if !strings.Contains(body, "Please repair the parser.") || !strings.Contains(body, "the answer") || strings.Contains(body, "AppendDaily") {
			t.Errorf("%s: the request: %.600s", api, body)
		}
		w.judged()
	}
}

func TestWithoutAnAuxiliaryModelTheFirstLineIsTheTitleAndNothingIsWritten(t *testing.T) {
	w := newWorld(t, setting{serving: true}, oneAnswer)
	e := w.begin(true)
	e.say("\n  Please repair the parser.\nIt fails.")
	status := call[*protocol.Status](t, e.c, "", &protocol.GetStatus{})
	if len(status.Sessions) != 1 || status.Sessions[0].Title != "Please repair the parser." || status.Sessions[0].Name != "" {
		t.Errorf("%+v", status.Sessions)
	}
	list := call[*protocol.SessionList](t, e.c, "", &protocol.ListSessions{})
	if got := list.Sessions[0].Title(); got != "Please repair the parser." {
		t.Errorf("the list says %q", got)
	}
	if got := w.names(e.id); len(got) != 0 {
		t.Errorf("named %q", got)
	}
	if n := w.server.Count(); n != 1 {
		t.Errorf("%d requests for one turn", n)
	}
}

func TestANameThatIsGivenWhileATitleIsAskedForStays(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	w := newWorld(t, setting{serving: true, tables: "[auxiliary]\nmodel = \"mock\"\n", request: func(body []byte) {
		if strings.Contains(string(body), "You give conversations a title") {
			close(asked)
			<-answer
		}
	}}, oneAnswer)
	e := w.begin(true)
	e.say("repair the parser")
	<-asked
	mine := "mine"
	call[*protocol.Done](t, e.c, e.id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &mine}})
	close(answer)
	e.say("and now")
	w.restart() // ends what goes on beside conversations
	if got := w.names(e.id); len(got) != 1 || got[0] != mine {
		t.Errorf("named %q", got)
	}
}

func TestASessionWithANameIsAskedForNoTitle(t *testing.T) {
	w := newWorld(t, setting{serving: true, tables: "[auxiliary]\nmodel = \"mock\"\n"}, oneAnswer)
	e := w.begin(true)
	mine, none := "mine", ""
	call[*protocol.Done](t, e.c, e.id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &mine}})
	call[*protocol.Done](t, e.c, e.id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &none}})
	e.say("repair the parser")
	w.restart()
	if n := w.server.Count(); n != 1 {
		t.Errorf("%d requests for one turn of a session that had a name", n)
	}
}

func TestATitleThatFailsIsToldInTheDiagnosticsAndNotAskedForAgain(t *testing.T) {
	for want, line := range map[string]string{
		"404":              `{"again":true,"do":[{"error":{"status":404}}]}`,
		"was no title":     `{"again":true,"do":[{"text":" \"\" \n\u200b"}]}`,
		"broke off":        `{"again":true,"do":[{"text":"Half a ti"}],"stop":"max_tokens"}`,
		"a password or":    `{"again":true,"do":[{"text":"The key sk-ant-abcdefghijklmnop"}]}`,
		"without an answe": `{"again":true,"do":[{"error":{"status":529}}]}`,
	} {
		w := newWorld(t, setting{serving: true, other: "anthropic-messages", tables: auxiliary, lines: []string{line}}, oneAnswer)
		e := w.begin(true)
		e.say("repair the parser")
		for !w.reports.has("no title was made") {
			e.ping()
		}
		asked := w.second.Count()
		e.say("and now")
		w.restart()
		e = w.open(w.connect(true), e.id)
		e.say("go on")
		w.restart()
		if !w.reports.has(want) || w.second.Count() != asked {
			t.Errorf("%s: %d requests, then %d: %q", want, asked, w.second.Count(), w.reports.list)
		}
		if got := w.names(e.id); len(got) != 0 {
			t.Errorf("%s: named %q", want, got)
		}
	}
}

// ping lets the host do something else.
func (e *entry) ping() {
	_, _ = client.Call[*protocol.Done](context.Background(), e.c, "", &protocol.Ping{})
}

func TestATurnWithoutAnAnswerIsNotAskedForATitle(t *testing.T) {
	w := newWorld(t, setting{serving: true, other: "anthropic-messages", tables: auxiliary, lines: []string{`{"again":true,"do":[{"text":"Later"}]}`}},
		`{"do":[{"error":{"status":403}}]}`, oneAnswer)
	e := w.begin(true)
	e.say("repair the parser")
	e.say("again")
	if got := e.named(); got != "Later" {
		t.Errorf("%q", got)
	}
	if n := w.second.Count(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestOfTurnsThatEndAtOnceOneAsksForATitle(t *testing.T) {
	w := newWorld(t, setting{serving: true, other: "anthropic-messages", lines: []string{`{"again":true,"do":[{"text":"A title"}]}`}}, oneAnswer)
	e := w.begin(true)
	e.say("repair the parser") // no model is there to ask yet
	name := filepath.Join(w.home, ".scorel", "config.toml")
	config, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	w.write(name, string(config)+auxiliary)
	w.host.AskTitles(e.id, 50)
	e.named()
	w.restart() // ends what goes on beside conversations
	if n := w.second.Count(); n != 1 {
		t.Errorf("%d requests for one title", n)
	}
}
