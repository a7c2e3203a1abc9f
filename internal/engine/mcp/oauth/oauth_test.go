package oauth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scorel/internal/dev/authtest"
	"scorel/internal/engine/model/credentials"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
)

const redirect = "http://127.0.0.1:1234/callback"

func client(t *testing.T, s Server) *Client {
	t.Helper()
	c, err := NewClient(s, "1")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func begin(t *testing.T, w *authtest.World, s Server) (*SignIn, error) {
	t.Helper()
	if s.URL == "" {
		s.URL = w.URL()
	}
	return client(t, s).Begin(t.Context(), s, redirect, nil)
}

func query(t *testing.T, at string) url.Values {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// session signs in, and returns the session with what is kept.
func session(t *testing.T, w *authtest.World) (*Session, Store) {
	t.Helper()
	x, err := begin(t, w, Server{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := x.Finish(t.Context(), query(t, w.Agree(x.URL())))
	if err != nil {
		t.Fatal(err)
	}
	store := Store{FS: disk.OS(), File: filepath.Join(t.TempDir(), "credentials.json"), Name: "guarded hash"}
	if err := store.Keep(g); err != nil {
		t.Fatal(err)
	}
	return again(t, w, store), store
}

// again is the session of another process.
func again(t *testing.T, w *authtest.World, store Store) *Session {
	t.Helper()
	s, err := NewSession(client(t, Server{URL: w.URL()}), store, w.URL())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAPersonSignsIn(t *testing.T) {
	w := authtest.New(t)
	x, err := begin(t, w, Server{})
	if err != nil {
		t.Fatal(err)
	}
	q := query(t, x.URL())
	if q.Get("scope") != "read offline_access" || q.Get("resource") != w.URL() || q.Get("code_challenge_method") != "S256" || len(q.Get("state")) < 20 {
		t.Errorf("it asks with %v", q)
	}
	back := query(t, w.Agree(x.URL()))
	g, err := x.Finish(t.Context(), back)
	if err != nil || g.Access == "" || g.Refresh == "" || g.Issuer != w.Issuer.URL || g.Resource != w.URL() || time.Until(g.Expires) < 59*time.Minute {
		t.Fatalf("%v, %v", g, err)
	}
	if _, err := x.Finish(t.Context(), back); err == nil || errors.Is(err, ErrForeign) {
		t.Errorf("a code counts twice: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", g, *g, g, g); strings.Contains(text, g.Access) {
		t.Errorf("a grant is printed as %s", text)
	}
}

func TestAClientThatIsRegisteredAlreadyIsUsed(t *testing.T) {
	w := authtest.New(t)
	w.Metadata = func(m map[string]any) { delete(m, "registration_endpoint") }
	if _, err := begin(t, w, Server{}); err == nil || !strings.Contains(err.Error(), redirect) || !strings.Contains(err.Error(), "--client-id") {
		t.Errorf("without a registration: %v", err)
	}
	x, err := begin(t, w, Server{ClientID: "mine", Scopes: []string{"write"}})
	if err != nil {
		t.Fatal(err)
	}
	if q := query(t, x.URL()); q.Get("client_id") != "mine" || q.Get("scope") != "write offline_access" {
		t.Errorf("it asks with %v", q)
	}
	if _, err := begin(t, w, Server{ClientID: "mine", MetadataURL: w.Issuer.URL + "/.well-known/oauth-authorization-server"}); err != nil {
		t.Errorf("with a configured metadata URL: %v", err)
	}
}

// TestAClientWithASecretNamesItselfAsTheServerWants: the secret is sent for tokens alone.
func TestAClientWithASecretNamesItselfAsTheServerWants(t *testing.T) {
	w := authtest.New(t)
	w.Known("mine", "own secret&more")
	w.Metadata = func(m map[string]any) {
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	for secret, want := range map[string]string{"own secret&more": "", "another": "invalid_grant", "": "invalid_grant"} {
		x, err := begin(t, w, Server{ClientID: "mine", ClientSecret: secret})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(x.URL(), "secret") {
			t.Errorf("the address has the secret: %s", x.URL())
		}
		switch g, err := x.Finish(t.Context(), query(t, w.Agree(x.URL()))); {
		case want == "" && (err != nil || g.ClientSecret != secret || g.AuthMethod != "client_secret_basic"):
			t.Errorf("%v, %v", g, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("with the secret %q: %v", secret, err)
		}
	}
}

// TestAServerThatGreetsEverybodyIsAskedForMore: it refuses only what comes after the greeting.
func TestAServerThatGreetsEverybodyIsAskedForMore(t *testing.T) {
	w := authtest.New(t)
	w.Greets = true
	if _, err := begin(t, w, Server{}); err != nil {
		t.Error(err)
	}
	open := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(open.Close)
	if _, err := begin(t, w, Server{URL: open.URL}); err == nil || !strings.Contains(err.Error(), "does not ask for a sign-in (it answers with status 200)") {
		t.Errorf("a server that refuses nothing: %v", err)
	}
}

// TestADocumentNamesTheClientWhereTheServerReadsSome: a configured client comes first, then
// its metadata document, then a registration.
func TestADocumentNamesTheClientWhereTheServerReadsSome(t *testing.T) {
	const document = "https://programs.example/scorel.json"
	for name, c := range map[string]struct {
		reads  bool
		server Server
		want   string
	}{
		"it reads documents":       {true, Server{ClientMetadataURL: document}, document},
		"it reads none":            {false, Server{ClientMetadataURL: document}, "client-0"},
		"no document":              {true, Server{}, "client-0"},
		"a client that it has all": {true, Server{ClientMetadataURL: document, ClientID: "mine"}, "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			w := authtest.New(t)
			w.Known(document, "")
			w.Known("mine", "")
			w.Metadata = func(m map[string]any) { m["client_id_metadata_document_supported"] = c.reads }
			x, err := begin(t, w, c.server)
			if err != nil {
				t.Fatal(err)
			}
			if got := query(t, x.URL()).Get("client_id"); got != c.want {
				t.Errorf("the client is %q", got)
			}
			if g, err := x.Finish(t.Context(), query(t, w.Agree(x.URL()))); err != nil || g.ClientID != c.want {
				t.Errorf("%v, %v", g, err)
			}
		})
	}
}

// TestWhatComesBackIsJudged: a foreign state leaves the sign-in as it is, all else that is
// wrong ends it, and nothing is asked for with it.
func TestWhatComesBackIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(url.Values)
		want    string
		foreign bool
	}{
		"a stolen state":         {func(q url.Values) { q.Set("state", "other") }, "does not belong", true},
		"no state":               {func(q url.Values) { q.Del("state") }, "does not belong", true},
		"another issuer":         {func(q url.Values) { q.Set("iss", "https://evil.example") }, "evil.example", false},
		"no issuer":              {func(q url.Values) { q.Del("iss") }, "does not say that it comes from", false},
		"a refusal":              {func(q url.Values) { q.Set("error", "access_denied"); q.Set("error_description", "no\x1b[31m") }, "access_denied, no", false},
		"no code":                {func(q url.Values) { q.Del("code") }, "sent no code", false},
		"a code of somebody":     {func(q url.Values) { q.Set("code", "stolen") }, "invalid_grant", false},
		"a code that was used":   {nil, "invalid_grant", false},
		"an answer for evermore": {func(q url.Values) { q.Set("error", strings.Repeat("x", 5000)) }, "…", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := authtest.New(t)
			x, err := begin(t, w, Server{})
			if err != nil {
				t.Fatal(err)
			}
			back := query(t, w.Agree(x.URL()))
			if c.change != nil {
				c.change(back)
			} else { // somebody was faster
				res, err := http.PostForm(w.Issuer.URL+"/token", url.Values{"grant_type": {"authorization_code"}, "code": {back.Get("code")}})
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
			}
			g, err := x.Finish(t.Context(), back)
			if g != nil || err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrForeign) != c.foreign || strings.ContainsRune(err.Error(), '\x1b') {
				t.Errorf("%v, %v", g, err)
			}
			for _, secret := range w.Secrets() {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error tells a secret: %v", err)
				}
			}
		})
	}
}

// TestAServerThatLies: what a server says about signing in leads nowhere but to its own
// authorisation server.
func TestAServerThatLies(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { t.Errorf("%s was asked", r.URL) }))
	t.Cleanup(elsewhere.Close)
	for name, c := range map[string]struct {
		change func(*authtest.World)
		want   string
	}{
		"metadata in the cloud's own net": {func(w *authtest.World) {
			w.Challenge = func(h http.Header) {
				h.Set("WWW-Authenticate", `Bearer resource_metadata="https://169.254.169.254/latest/meta-data"`)
			}
		}, "link-local"},
		"metadata without https": {func(w *authtest.World) {
			w.Challenge = func(h http.Header) { h.Set("WWW-Authenticate", `Bearer resource_metadata="http://example.com/x"`) }
		}, "without https"},
		"an authorisation server in a private net": {func(w *authtest.World) {
			w.Resource = func(m map[string]any) { m["authorization_servers"] = []string{"https://10.0.0.1"} }
		}, "10.0.0.1"},
		"another resource": {func(w *authtest.World) {
			w.Resource = func(m map[string]any) { m["resource"] = "https://bank.example/mcp" }
		}, "bank.example, which is another server"},
		"a resource beside it": {func(w *authtest.World) {
			w.Resource = func(m map[string]any) { m["resource"] = w.URL() + "2" }
		}, "which is another server"},
		"nobody to sign in at": {func(w *authtest.World) {
			w.Resource = func(m map[string]any) { m["authorization_servers"] = []string{} }
		}, "names no authorisation server"},
		"another issuer": {func(w *authtest.World) {
			w.Metadata = func(m map[string]any) { m["issuer"] = "https://evil.example" }
		}, "does not match"},
		"no proof of the code": {func(w *authtest.World) {
			w.Metadata = func(m map[string]any) { delete(m, "code_challenge_methods_supported") }
		}, "PKCE"},
		"an address that runs": {func(w *authtest.World) {
			w.Metadata = func(m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)" }
		}, "cannot be used"},
		"a file": {func(w *authtest.World) {
			w.Metadata = func(m map[string]any) { m["token_endpoint"] = "file:///etc/passwd" }
		}, "cannot be used"},
		"a registration in a private net": {func(w *authtest.World) {
			w.Metadata = func(m map[string]any) { m["registration_endpoint"] = "https://192.168.1.1/register" }
		}, "192.168.1.1"},
		"a registration without https": {func(w *authtest.World) {
			w.Metadata = func(m map[string]any) { m["registration_endpoint"] = "http://example.com/register" }
		}, "cannot be used"},
		"an answer that is too long": {func(w *authtest.World) {
			w.Metadata = func(m map[string]any) { m["service_documentation"] = "https://x.example/" + strings.Repeat("x", 2<<20) }
		}, "cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			w := authtest.New(t)
			c.change(w)
			_, err := begin(t, w, Server{})
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 600 {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestARedirectLeadsToNoOtherServer(t *testing.T) {
	w := authtest.New(t)
	taken := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { taken <- r.URL.Path }))
	t.Cleanup(other.Close)
	front := httptest.NewServer(http.RedirectHandler(other.URL+"/caught", http.StatusTemporaryRedirect))
	t.Cleanup(front.Close)
	w.Metadata = func(m map[string]any) { m["token_endpoint"] = front.URL }
	x, err := begin(t, w, Server{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Finish(t.Context(), query(t, w.Agree(x.URL()))); err == nil || !strings.Contains(err.Error(), "307") {
		t.Errorf("%v", err)
	}
	if len(taken) > 0 {
		t.Errorf("a code was led to %s", <-taken)
	}
}

func TestATokenIsRenewedBeforeItEndsAndWhenItIsRefused(t *testing.T) {
	w := authtest.New(t)
	s, store := session(t, w)
	first, err := s.Token(t.Context())
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	w.Expire()
	if !s.Refused(t.Context(), first, http.StatusUnauthorized, nil) {
		t.Error("a refused token is not renewed")
	}
	second, err := s.Token(t.Context())
	if err != nil || second == first || second == "" {
		t.Fatal(second, err)
	}
	if s.Refused(t.Context(), first, http.StatusUnauthorized, nil); len(w.Asked()) != 2 {
		t.Errorf("an older token is renewed: %v", w.Asked())
	}
	g, err := store.Load()
	if err != nil {
		t.Fatal(err)
	}
	g.Granted, g.Expires = time.Now().Add(-time.Hour), time.Now().Add(time.Minute)
	if err := store.Keep(g); err != nil {
		t.Fatal(err)
	}
	third, err := s.Token(t.Context())
	if err != nil || third == second {
		t.Errorf("a token that ends soon is not renewed: %v", err)
	}
	// A server that is away is no reason to forget: a token counts to its end.
	w.Issuer.Close()
	if g, err = store.Load(); err != nil {
		t.Fatal(err)
	}
	g.Granted, g.Expires = time.Now().Add(-time.Hour), time.Now().Add(time.Minute)
	if err := store.Keep(g); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Token(t.Context()); got != third || err != nil {
		t.Errorf("%v", err)
	}
	g.Expires = time.Now().Add(-time.Minute)
	if err := store.Keep(g); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Token(t.Context()); got != "" || err == nil || strings.Contains(err.Error(), g.Refresh) {
		t.Errorf("%q, %v", got, err)
	}
	if g, err := store.Load(); err != nil || g == nil || g.Refresh == "" {
		t.Errorf("it was forgotten: %v", err)
	}
}

// TestOneRenewsForAll: sessions of several processes whose token is refused at once renew it
// once, since the second renewal with the same token would end them all.
func TestOneRenewsForAll(t *testing.T) {
	w := authtest.New(t)
	first, store := session(t, w)
	token, err := first.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Expire()
	var wg sync.WaitGroup
	got := make([]string, 8)
	for i := range got {
		s := again(t, w, store)
		wg.Go(func() {
			if !s.Refused(t.Context(), token, http.StatusUnauthorized, nil) {
				t.Error("one of them has no token")
			}
			got[i], _ = s.Token(t.Context())
		})
	}
	wg.Wait()
	if asked := w.Asked(); !slices.Equal(asked, []string{"authorization_code", "refresh_token"}) {
		t.Errorf("tokens were asked for with %v", asked)
	}
	if slices.Contains(got, "") || len(slices.Compact(got)) != 1 {
		t.Error("they have different tokens")
	}
}

func TestATokenThatIsNotRenewedIsForgottenAndItsScopesAreNot(t *testing.T) {
	w := authtest.New(t)
	s, store := session(t, w)
	token, err := s.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="write"`}}
	if s.Refused(t.Context(), token, http.StatusForbidden, h) {
		t.Error("too few scopes are no reason to try again")
	}
	w.Revoke()
	if s.Refused(t.Context(), token, http.StatusUnauthorized, nil) || s.Has("") {
		t.Error("there is a token")
	}
	g, err := store.Load()
	if err != nil || g == nil || g.Access != "" || g.Refresh != "" || !slices.Equal(g.Wanted, []string{"read", "offline_access", "write"}) {
		t.Errorf("%v, %v", g.Wanted, err)
	}
	if token, err := s.Token(t.Context()); token != "" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
}

// TestARenewalOutlivesItsRequest: the token before counts no more when the server has answered,
// whoever waits for the answer.
func TestARenewalOutlivesItsRequest(t *testing.T) {
	w := authtest.New(t)
	s, _ := session(t, w)
	first, err := s.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{}) // who has asked for it has gone
	answers := w.Issuer.Config.Handler
	w.Issuer.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		late := httptest.NewRecorder()
		answers.ServeHTTP(late, r)
		cancel()
		<-left
		maps.Copy(rw.Header(), late.Header())
		rw.WriteHeader(late.Code)
		_, _ = rw.Write(late.Body.Bytes())
	})
	w.Expire()
	if s.Refused(ctx, first, http.StatusUnauthorized, nil) {
		t.Error("it has waited for a token although its request has ended")
	}
	close(left)
	if !s.Refused(t.Context(), first, http.StatusUnauthorized, nil) {
		t.Error("the next request has no token")
	}
	if asked := w.Asked(); !slices.Equal(asked, []string{"authorization_code", "refresh_token"}) {
		t.Errorf("tokens were asked for with %v", asked)
	}
}

func TestATokenThatCouldNotBeKeptIsNotRenewed(t *testing.T) {
	w := authtest.New(t)
	s, store := session(t, w)
	first, err := s.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Expire()
	s.store.FS = &disktest.Faulty{FS: store.FS, N: 2, Sticky: true, Err: syscall.ENOSPC} // the first opens the file to read it
	if s.Refused(t.Context(), first, http.StatusUnauthorized, nil) {
		t.Error("it is renewed on a full disk")
	}
	s.store.FS = store.FS
	if !s.Refused(t.Context(), first, http.StatusUnauthorized, nil) {
		t.Error("with space again there is no token")
	}
}

func TestATokenGoesToNoOtherAddress(t *testing.T) {
	w := authtest.New(t)
	_, store := session(t, w)
	for at, want := range map[string]bool{
		w.URL(): true, w.URL() + "/sub": true, w.URL() + "x": false, w.Server.URL: false, w.Issuer.URL + "/mcp": false, strings.Replace(w.URL(), "127.0.0.1", "localhost", 1): false,
	} {
		s, err := NewSession(client(t, Server{URL: at}), store, at)
		if err != nil {
			t.Fatal(err)
		}
		if token, err := s.Token(t.Context()); err != nil || (token != "") != want {
			t.Errorf("%s: %v, %v", at, token != "", err)
		}
	}
}

func TestADamagedFileIsNotWrittenOver(t *testing.T) {
	w := authtest.New(t)
	s, store := session(t, w)
	if err := disk.WriteFile(store.FS, store.File, []byte(`{"version":1,"keys":{},"grants":{"x":{"access":"a b"}}}`)); err != nil {
		t.Fatal(err)
	}
	var damaged *credentials.DamagedError
	if _, err := s.Token(t.Context()); !errors.As(err, &damaged) {
		t.Errorf("%v", err)
	}
	if err := store.Keep(&credentials.Grant{}); !errors.As(err, &damaged) {
		t.Errorf("%v", err)
	}
}
