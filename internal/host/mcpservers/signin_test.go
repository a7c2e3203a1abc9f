package mcpservers_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/dev/authtest"
	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/host/hosttest"
	"scorel/internal/host/mcpservers"
	"scorel/internal/platform/disk"
)

// login is how somebody signs in to a server of a home.
func login(t *testing.T, home string, e mcpconfig.Entry) *mcpservers.Login {
	t.Helper()
	r, err := mcpservers.Reach(e, mcpconfig.Policies{}, mcpconfig.Vars{}, mcpservers.Surroundings{Root: home})
	if err != nil {
		t.Fatal(err)
	}
	l, err := mcpservers.NewLogin(e, r, disk.OS(), filepath.Join(home, ".scorel", "credentials.json"), "1")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func guarded(w *authtest.World) mcpconfig.Entry {
	return mcpconfig.Entry{Name: "guarded", Scope: mcpconfig.ScopeUser, Type: mcpconfig.TypeHTTP, URL: w.URL()}
}

// browse opens the address that a person is shown, as a browser does.
func browse(t *testing.T, w *authtest.World, at string) {
	go func() { // ends with the answer
		res, err := http.Get(w.Agree(at))
		if err != nil {
			t.Error(err)
			return
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("the browser is told %s", res.Status)
		}
	}()
}

// TestASignInOpensAServerToASession: what the server gives is used, renewed, and told to
// nobody.
func TestASignInOpensAServerToASession(t *testing.T) {
	a := authtest.New(t)
	w := hosttest.New(t, allowed("mcp__guarded"), done, find("select:mcp__guarded__echo"), through("mcp__guarded__echo", `{"text":"hi"}`), done, through("mcp__guarded__echo", `{"text":"again"}`), done,
		through("mcp__guarded__echo", `{"text":"lost"}`), done)
	configure(w, fmt.Sprintf(`"guarded":{"type":"http","url":%q,"alwaysLoad":true}`, a.URL()))
	e := w.Begin(false)
	e.Say("hello")
	if said := fmt.Sprint(w.Reports.List); !strings.Contains(said, "The MCP server guarded wants you to sign in: scorel mcp login guarded.") {
		t.Errorf("people are told %s", said)
	}
	l := login(t, w.Home, guarded(a))
	if err := l.SignIn(t.Context(), func(at, host string) {
		if !strings.HasSuffix(a.Issuer.URL, host) {
			t.Errorf("the host of the sign-in is shown as %s", host)
		}
		browse(t, a, at)
	}, nil, nil); err != nil {
		t.Fatal(err)
	}
	e.Say("use it")
	if got := e.LastResult().PlainText(); !strings.Contains(got, "hi") || strings.Contains(got, "sign") {
		t.Errorf("the result is %q", got)
	}
	a.Expire()
	e.Say("and again")
	if got := e.LastResult().PlainText(); !strings.Contains(got, "again") || e.LastResult().IsError {
		t.Errorf("with a token that has ended, the result is %q", got)
	}
	a.Revoke()
	e.Say("once more")
	if got := e.LastResult(); !got.IsError || !strings.Contains(got.PlainText(), "sign in") {
		t.Errorf("without a token, the result is %q", got.PlainText())
	}
	if asked := a.Asked(); len(asked) < 2 || !slices.Equal(asked[:2], []string{"authorization_code", "refresh_token"}) {
		t.Errorf("tokens were asked for with %v", asked)
	}
	var everything strings.Builder
	for _, b := range w.Bodies() {
		everything.Write(b)
	}
	fmt.Fprint(&everything, w.Reports.List)
	err := filepath.WalkDir(filepath.Join(w.Home, ".scorel"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the host runs, and has removed or renamed it
		}
		if err != nil || !d.Type().IsRegular() || d.Name() == "credentials.json" {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		everything.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range a.Secrets() {
		if strings.Contains(everything.String(), secret) {
			t.Errorf("%s is told", secret)
		}
	}
	if info, err := os.Stat(filepath.Join(w.Home, ".scorel", "credentials.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestMoreScopesAreAskedForAtTheNextSignIn: a server that wants more than was granted says
// so, and the next sign-in asks for both.
func TestMoreScopesAreAskedForAtTheNextSignIn(t *testing.T) {
	a := authtest.New(t)
	home := t.TempDir()
	l := login(t, home, guarded(a))
	signIn := func() string {
		var at string
		if err := l.SignIn(t.Context(), func(u, _ string) { at = u; browse(t, a, u) }, nil, nil); err != nil {
			t.Fatal(err)
		}
		return at
	}
	connected := func() error {
		s, err := connect.Open(t.Context(), connect.Target{Name: "guarded", URL: a.URL(), Auth: l.Session()}, connect.Options{Version: "1"})
		if err == nil {
			s.Close()
		}
		return err
	}
	signIn()
	if err := connected(); err != nil {
		t.Fatal(err)
	}
	a.Needs = "write"
	if err := connected(); !errors.Is(err, connect.ErrNeedsAuth) {
		t.Errorf("%v", err)
	}
	if at := signIn(); !strings.Contains(at, "scope=read+offline_access+write") {
		t.Errorf("it asks with %s", at)
	}
	if err := connected(); err != nil {
		t.Error(err)
	}
	if had, err := l.Forget(); !had || err != nil {
		t.Errorf("%v, %v", had, err)
	}
	if err := connected(); !errors.Is(err, connect.ErrNeedsAuth) {
		t.Errorf("a forgotten sign-in counts: %v", err)
	}
	changed := guarded(a)
	changed.Headers = map[string]string{"X-Team": "core"}
	signIn()
	if login(t, home, changed).Session().Has("") {
		t.Error("a changed entry has the tokens of the old one")
	}
}

// TestTheSecretOfAClientIsKeptForItsEntryAlone: a registered client with a secret signs in, a
// changed entry has no secret, and a sign-out keeps it.
func TestTheSecretOfAClientIsKeptForItsEntryAlone(t *testing.T) {
	a := authtest.New(t)
	a.Known("mine", "marker-secret")
	a.Metadata = func(m map[string]any) {
		delete(m, "registration_endpoint")
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	home := t.TempDir()
	e := guarded(a)
	if err := login(t, home, e).KeepSecret("marker-secret"); !errors.Is(err, mcpservers.ErrNoClient) {
		t.Errorf("without a client: %v", err)
	}
	e.OAuth = &mcpconfig.OAuth{ClientID: "mine"}
	signIn := func(e mcpconfig.Entry) error {
		return login(t, home, e).SignIn(t.Context(), func(u, _ string) { browse(t, a, u) }, nil, nil)
	}
	if err := login(t, home, e).KeepSecret("marker-secret"); err != nil {
		t.Fatal(err)
	}
	if err := signIn(e); err != nil {
		t.Fatal(err)
	}
	if _, err := login(t, home, e).Forget(); err != nil {
		t.Fatal(err)
	}
	if err := signIn(e); err != nil {
		t.Errorf("after a sign-out: %v", err)
	}
	if err := login(t, home, e).ForgetSecret(); err != nil {
		t.Fatal(err)
	}
	l := login(t, home, e)
	err := l.SignIn(t.Context(), func(u, _ string) {
		go func() { // ends with the answer, which is a refusal
			if res, err := http.Get(a.Agree(u)); err == nil {
				_ = res.Body.Close()
			}
		}()
	}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("a forgotten secret counts: %v", err)
	}
}

// TestWhoseBrowserIsElsewherePastes: a person pastes where the browser was led to; what does
// not belong to the sign-in changes nothing.
func TestWhoseBrowserIsElsewherePastes(t *testing.T) {
	a := authtest.New(t)
	l := login(t, t.TempDir(), guarded(a))
	pasted, shown := make(chan string), make(chan string, 1)
	var foreign []error
	go func() { // ends when all is pasted
		back := a.Agree(<-shown)
		pasted <- "what is this?"
		pasted <- "http://127.0.0.1:1/callback?code=stolen&state=stolen"
		_, query, _ := strings.Cut(back, "?")
		pasted <- "  http://127.0.0.1:1/callback?" + query + "\n"
	}()
	if err := l.SignIn(t.Context(), func(at, _ string) { shown <- at }, pasted, func(err error) { foreign = append(foreign, err) }); err != nil {
		t.Fatal(err)
	}
	if len(foreign) != 2 || !l.Session().Has("") {
		t.Errorf("%v", foreign)
	}
}

// TestTheListenerTakesOneAnswerOfItsOwn: requests of others do not end a sign-in, also not
// ones that a page in the browser makes under another name.
func TestTheListenerTakesOneAnswerOfItsOwn(t *testing.T) {
	a := authtest.New(t)
	l := login(t, t.TempDir(), guarded(a))
	if err := l.SignIn(t.Context(), func(at, _ string) {
		back := a.Agree(at)
		base, query, _ := strings.Cut(back, "?")
		for _, c := range []struct{ method, url, host string }{
			{"GET", base + "?state=stolen&code=stolen", ""}, {"GET", base, ""}, {"POST", back, ""}, {"GET", base + "2?" + query, ""}, {"GET", back, "evil.example"},
		} {
			req, err := http.NewRequest(c.method, c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = c.host
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode/100 != 4 {
				t.Errorf("%v: %s", c, res.Status)
			}
		}
		browse(t, a, at)
	}, nil, nil); err != nil {
		t.Fatal(err)
	}
}

func TestASignInThatNobodyMakesEnds(t *testing.T) {
	a := authtest.New(t)
	l := login(t, t.TempDir(), guarded(a))
	ctx, cancel := context.WithCancel(t.Context())
	if err := l.SignIn(ctx, func(string, string) { cancel() }, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if l.Session().Has("") {
		t.Error("something was kept")
	}
	e := guarded(a)
	e.Headers = map[string]string{"Authorization": "Bearer own"}
	if login(t, t.TempDir(), e) != nil {
		t.Error("somebody signs in to a server whose entry has a token")
	}
}
