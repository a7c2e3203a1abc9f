package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const oneAnswer = `{"again":true,"do":[{"text":"the answer"}]}`

func TestASessionGetsATitleBehindItsFirstTurnOnce(t *testing.T) {
	for _, api := range hosttest.APIs() {
		w := hosttest.New(t, hosttest.Setting{Serving: true, Other: api, Tables: auxiliary, Lines: []string{`{"do":[{"text":"\"Repair\tthe **parser**.\"\nand more"}]}`}}, oneAnswer)
		e := w.Begin(true)
		e.Say("Please repair the parser.\nIt fails.")
		if got := e.Named(); got != "Repair the **parser**" {
			t.Errorf("%s: the title is %q", api, got)
		}
		e.Say("and now the printer")
		e.Say("and the rest")
		w.Restart()
		e = w.Open(w.Connect(true), e.ID)
		e.Say("go on")
		if got := w.Names(e.ID); len(got) != 1 {
			t.Errorf("%s: named %q", api, got)
		}
		if n := w.Second.Count(); n != 1 {
			t.Errorf("%s: %d requests for titles", api, n)
		}
		body := string(w.Second.Requests()[0].Body)
		if !strings.Contains(body, "Please repair the parser.") || !strings.Contains(body, "the answer") || strings.Contains(body, "AppendDaily") {
			t.Errorf("%s: the request: %.600s", api, body)
		}
		w.Judged()
	}
}

func TestWithoutAnAuxiliaryModelTheFirstLineIsTheTitleAndNothingIsWritten(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, oneAnswer)
	e := w.Begin(true)
	e.Say("\n  Please repair the parser.\nIt fails.")
	status := hosttest.Call[*protocol.Status](t, e.C, "", &protocol.GetStatus{})
	if len(status.Sessions) != 1 || status.Sessions[0].Title != "Please repair the parser." || status.Sessions[0].Name != "" {
		t.Errorf("%+v", status.Sessions)
	}
	list := hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{})
	if got := list.Sessions[0].Title(); got != "Please repair the parser." {
		t.Errorf("the list says %q", got)
	}
	if got := w.Names(e.ID); len(got) != 0 {
		t.Errorf("named %q", got)
	}
	if n := w.Server.Count(); n != 1 {
		t.Errorf("%d requests for one turn", n)
	}
}

func TestANameThatIsGivenWhileATitleIsAskedForStays(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	w := hosttest.New(t, hosttest.Setting{Serving: true, Tables: "[auxiliary]\nmodel = \"mock\"\n", Request: func(body []byte) {
		if strings.Contains(string(body), "You give conversations a title") {
			close(asked)
			<-answer
		}
	}}, oneAnswer)
	e := w.Begin(true)
	e.Say("repair the parser")
	<-asked
	mine := "mine"
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &mine}})
	close(answer)
	e.Say("and now")
	w.Restart() // ends what goes on beside conversations
	if got := w.Names(e.ID); len(got) != 1 || got[0] != mine {
		t.Errorf("named %q", got)
	}
}

func TestASessionWithANameIsAskedForNoTitle(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true, Tables: "[auxiliary]\nmodel = \"mock\"\n"}, oneAnswer)
	e := w.Begin(true)
	mine, none := "mine", ""
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &mine}})
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &none}})
	e.Say("repair the parser")
	w.Restart()
	if n := w.Server.Count(); n != 1 {
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
		w := hosttest.New(t, hosttest.Setting{Serving: true, Other: "anthropic-messages", Tables: auxiliary, Lines: []string{line}}, oneAnswer)
		e := w.Begin(true)
		e.Say("repair the parser")
		for !w.Reports.Has("no title was made") {
			e.Ping()
		}
		asked := w.Second.Count()
		e.Say("and now")
		w.Restart()
		e = w.Open(w.Connect(true), e.ID)
		e.Say("go on")
		w.Restart()
		if !w.Reports.Has(want) || w.Second.Count() != asked {
			t.Errorf("%s: %d requests, then %d: %q", want, asked, w.Second.Count(), w.Reports.List)
		}
		if got := w.Names(e.ID); len(got) != 0 {
			t.Errorf("%s: named %q", want, got)
		}
	}
}

func TestATurnWithoutAnAnswerIsNotAskedForATitle(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true, Other: "anthropic-messages", Tables: auxiliary, Lines: []string{`{"again":true,"do":[{"text":"Later"}]}`}},
		`{"do":[{"error":{"status":403}}]}`, oneAnswer)
	e := w.Begin(true)
	e.Say("repair the parser")
	e.Say("again")
	if got := e.Named(); got != "Later" {
		t.Errorf("%q", got)
	}
	if n := w.Second.Count(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestOfTurnsThatEndAtOnceOneAsksForATitle(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true, Other: "anthropic-messages", Lines: []string{`{"again":true,"do":[{"text":"A title"}]}`}}, oneAnswer)
	e := w.Begin(true)
	e.Say("repair the parser") // no model is there to ask yet
	name := filepath.Join(w.Home, ".scorel", "config.toml")
	config, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(name, string(config)+auxiliary)
	w.Host.AskTitles(e.ID, 50)
	e.Named()
	w.Restart() // ends what goes on beside conversations
	if n := w.Second.Count(); n != 1 {
		t.Errorf("%d requests for one title", n)
	}
}
