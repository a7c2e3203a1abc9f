package mcpservers_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/client"
	"scorel/internal/dev/authtest"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// listed returns the servers of a session, or of the project, by name.
func listed(t *testing.T, w *hosttest.World, e *hosttest.Entry, id protocol.SessionID) (map[string]protocol.MCPServerInfo, *protocol.MCPServerList) {
	t.Helper()
	req := &protocol.ListMCPServers{}
	if id == "" {
		req.WorkDir = w.Project
	}
	l := hosttest.Call[*protocol.MCPServerList](t, e.C, id, req)
	by := map[string]protocol.MCPServerInfo{}
	for _, s := range l.Servers {
		by[s.Name] = s
	}
	return by, l
}

func TestServersAreListedWithTheirStateInTheSession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"done"}]}`)
	configure(w, entry("notes", `,"alwaysLoad":true`), entry("found", `,"denyTools":["exit"]`), entry("broken", `,"alwaysLoad":true`), entry("off", `,"disabled":true`),
		`"wiki":{"type":"http","url":"https://someone:pw@wiki.example/mcp?key=sk-1"}`, `"unset":{"command":"x","args":["${NOT_SET_ANYWHERE}"]}`, `"odd":{"type":"carrier-pigeon"}`)
	w.File(".mcp.json", `{"mcpServers":{"theirs":{"command":"x"},"notes":{"command":"x"}}}`)
	e := w.Begin(false)
	before, l := listed(t, w, e, e.ID)
	if before["notes"].State != protocol.MCPConfigured || before["notes"].Scope != "user" || before["off"].State != protocol.MCPDisabled || before["unset"].State != protocol.MCPRefused {
		t.Errorf("before the first turn: %+v", l.Servers)
	}
	if wiki := before["wiki"]; strings.Contains(fmt.Sprint(wiki), "sk-1") || strings.Contains(fmt.Sprint(wiki), "pw@") || !wiki.CanSignIn || wiki.SignedIn {
		t.Errorf("%+v", wiki)
	}
	if !strings.Contains(before["unset"].Problem, "NOT_SET_ANYWHERE") || !strings.Contains(strings.Join(l.Problems, " "), "carrier-pigeon") {
		t.Errorf("%+v, %q", before["unset"], l.Problems)
	}
	if l.SavedTokens != 0 {
		t.Errorf("%d tokens are saved", l.SavedTokens)
	}
	e.Say("hello")
	w.Eventually("both servers are connected", func() bool {
		by, _ := listed(t, w, e, e.ID)
		return by["notes"].State == protocol.MCPConnected && by["found"].State == protocol.MCPConnected
	})
	after, l := listed(t, w, e, e.ID)
	if after["notes"].Tools != 3 || after["found"].Tools != 2 || after["broken"].State != protocol.MCPFailed || !strings.Contains(after["broken"].Problem, "status 1") || after["notes"].Title == "" {
		t.Errorf("%+v", l.Servers)
	}
	if l.SavedTokens == 0 {
		t.Error("no tokens are saved")
	}
	if _, there := after["theirs"]; there {
		t.Error("a server of a project that is not trusted is listed as one that counts")
	}
	log := hosttest.Call[*protocol.MCPLog](t, e.C, e.ID, &protocol.GetMCPLog{Name: "broken"})
	if !strings.Contains(log.Text, "the database is locked") {
		t.Errorf("the log is %q", log.Text)
	}
	of, _ := listed(t, w, e, "")
	if of["notes"].State != protocol.MCPConfigured {
		t.Errorf("without a session: %+v", of["notes"])
	}
}

// TestAServerIsSwitchedOffAndOnInASession: from the next turn on, and the file of the person
// says so to other sessions.
func TestAServerIsSwitchedOffAndOnInASession(t *testing.T) {
	call := through("mcp__notes__echo", `{"text":"hi"}`)
	w := hosttest.New(t, allowed("mcp__notes"), call, done, call, done, call, done)
	configure(w, entry("notes", ``))
	e := w.Begin(false)
	e.Say("go")
	if got := e.LastResult().PlainText(); !strings.HasPrefix(got, "you said hi") {
		t.Fatalf("%q", got)
	}
	for _, on := range []bool{false, true} {
		hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.EnableMCPServer{Name: "notes", Enabled: on})
		want := map[bool]protocol.MCPState{true: protocol.MCPConfigured, false: protocol.MCPDisabled}[on]
		if by, _ := listed(t, w, e, ""); by["notes"].State != want {
			t.Errorf("switched to %v it is %s", on, by["notes"].State)
		}
		e.Say("again")
		if got := e.LastResult(); strings.HasPrefix(got.PlainText(), "you said hi") != on {
			t.Errorf("switched to %v, the call says %q", on, got.PlainText())
		}
	}
}

func TestAServerOfASessionIsReconnectedWith(t *testing.T) {
	call := calls("mcp__notes__echo", `{"text":"hi"}`)
	w := hosttest.New(t, allowed("mcp__notes"), call, done, call, done)
	configure(w, entry("notes", `,"alwaysLoad":true`))
	e := w.Begin(false)
	e.Say("go")
	first := e.LastResult().PlainText()
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.ReconnectMCPServer{Name: "notes"})
	e.Say("go")
	if got := e.LastResult().PlainText(); got == first || !strings.HasPrefix(got, "you said hi") {
		t.Errorf("%q, before %q: the same process", got, first)
	}
	_, err := client.Call[*protocol.Done](t.Context(), e.C, e.ID, &protocol.ReconnectMCPServer{Name: "nobody"})
	var refused *protocol.Error
	if !errors.As(err, &refused) || protocol.AboutOf(err).Field != "name" {
		t.Errorf("a server that there is not: %v", err)
	}
}

// TestAPersonSignsInByRequests: the address is told to whoever may act, and the session uses
// the server without another word.
func TestAPersonSignsInByRequests(t *testing.T) {
	a := authtest.New(t)
	w := hosttest.New(t, allowed("mcp__guarded"), done, through("mcp__guarded__echo", `{"text":"hi"}`), done)
	srv := mcp.NewServer(&mcp.Implementation{Name: "free", Version: "1"}, nil)
	free := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	t.Cleanup(free.Close)
	configure(w, fmt.Sprintf(`"guarded":{"type":"http","url":%q}`, a.URL()), fmt.Sprintf(`"free":{"type":"http","url":%q}`, free.URL), entry("notes", ``),
		`"keyed":{"type":"http","url":"http://127.0.0.1:1/","headers":{"Authorization":"Bearer x"}}`, `"helped":{"type":"http","url":"http://127.0.0.1:1/","headersHelper":"echo {}"}`)
	e := w.Begin(false)
	e.Say("hello")
	w.Eventually("it wants a sign-in", func() bool {
		by, _ := listed(t, w, e, e.ID)
		return by["guarded"].State == protocol.MCPNeedsAuth && by["free"].State == protocol.MCPConnected
	})
	by, _ := listed(t, w, e, e.ID)
	for name, want := range map[string]bool{"guarded": true, "free": false, "notes": false, "keyed": false, "helped": false} {
		if by[name].CanSignIn != want {
			t.Errorf("a sign-in to %s is offered: %v", name, by[name].CanSignIn)
		}
	}
	l := hosttest.Call[*protocol.MCPLogin](t, e.C, e.ID, &protocol.BeginMCPLogin{Name: "guarded"})
	if !strings.HasSuffix(a.Issuer.URL, l.Host) {
		t.Errorf("the host is %s", l.Host)
	}
	if _, err := client.Call[*protocol.Done](t.Context(), e.C, "", &protocol.AwaitMCPLogin{LoginID: l.LoginID, Pasted: "http://127.0.0.1:1/callback?code=1&state=2"}); protocol.AboutOf(err).Field != "pasted" {
		t.Errorf("an address of another sign-in: %v", err)
	}
	res, err := http.Get(a.Agree(l.URL))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	hosttest.Call[*protocol.Done](t, e.C, "", &protocol.AwaitMCPLogin{LoginID: l.LoginID})
	w.Eventually("it is connected", func() bool {
		by, _ := listed(t, w, e, e.ID)
		return by["guarded"].State == protocol.MCPConnected && by["guarded"].SignedIn
	})
	e.Say("use it")
	if got := e.LastResult().PlainText(); !strings.Contains(got, "hi") {
		t.Errorf("%q", got)
	}
	if _, err := client.Call[*protocol.MCPLogin](t.Context(), e.C, e.ID, &protocol.BeginMCPLogin{Name: "notes"}); err == nil || !strings.Contains(err.Error(), "The MCP server notes has no sign-in: ") {
		t.Errorf("a command: %v", err)
	}
	second := hosttest.Call[*protocol.MCPLogin](t, e.C, e.ID, &protocol.BeginMCPLogin{Name: "guarded"})
	hosttest.Call[*protocol.Done](t, e.C, "", &protocol.CancelMCPLogin{LoginID: second.LoginID})
	if _, err := client.Call[*protocol.Done](t.Context(), e.C, "", &protocol.AwaitMCPLogin{LoginID: second.LoginID}); protocol.AboutOf(err).Field != "loginId" {
		t.Errorf("after it was cancelled: %v", err)
	}
}

// TestAServerWaitsForAnAnswer: a client answers, and the next turn begins the server; the
// answer is in no list.
func TestAServerWaitsForAnAnswer(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__asking"), done, through("mcp__asking__secret", `{"text":"x"}`), done)
	w.Write(filepath.Join(w.Home, ".scorel", "mcp.json"), fmt.Sprintf(`{"inputs":[{"type":"promptString","id":"word","password":true,"description":"The word"}],
		"mcpServers":{"asking":{"command":%q,"env":{%q:"asking","GIVEN":"${input:word}"}}}}`, os.Args[0], asServer))
	e := w.Begin(false)
	e.Say("hello")
	by, _ := listed(t, w, e, e.ID)
	if s := by["asking"]; s.State != protocol.MCPRefused || len(s.Inputs) != 1 || s.Inputs[0].Answered || !s.Inputs[0].Password || s.Inputs[0].Description != "The word" {
		t.Errorf("%+v", s)
	}
	if _, err := client.Call[*protocol.Done](t.Context(), e.C, e.ID, &protocol.SetMCPInput{Name: "asking", ID: "other", Value: "x"}); protocol.AboutOf(err).Field != "id" {
		t.Errorf("a question that there is not: %v", err)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetMCPInput{Name: "asking", ID: "word", Value: "marker-word"})
	by, l := listed(t, w, e, e.ID)
	if !by["asking"].Inputs[0].Answered || strings.Contains(fmt.Sprintf("%+v", l), "marker-word") {
		t.Errorf("%+v", l)
	}
	e.Say("use it")
	if got := e.LastResult().PlainText(); !strings.HasPrefix(got, "key marker-word: ") {
		t.Errorf("%q", got)
	}
}
