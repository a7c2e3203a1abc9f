// Package authtest has an MCP server that wants a sign-in, and an authorisation server that
// gives it, for tests. Both keep to the book where a test does not change that: a code counts
// once and with its verifier, a renewal replaces both tokens, and tokens are for one resource.
package authtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type words struct {
	Text string `json:"text"`
}

// World is the two servers. Its functions may be called concurrently; its fields are set
// before it is used.
type World struct {
	Server *httptest.Server // of MCP; its path is /mcp
	Issuer *httptest.Server

	// Metadata and Resource change what the servers say of themselves.
	Metadata, Resource func(map[string]any)
	// Challenge changes the header of a refusal.
	Challenge func(http.Header)
	Seconds   int    // how long a token says that it counts
	Needs     string // a scope that the tool needs
	Greets    bool   // whoever only begins a session is let in without a token

	t       *testing.T
	mu      sync.Mutex
	clients map[string]string // redirect addresses by id
	known   map[string]string // secrets by the ids of clients that were not registered by the program
	codes   map[string]url.Values
	access  map[string]string // scopes by token
	refresh map[string]string
	posts   []string // grant types that were asked for
	seen    []string // tokens that the MCP server was sent
	marks   []string // all that is secret
}

// New starts the servers, which end with the test.
func New(t *testing.T) *World {
	w := &World{t: t, Seconds: 3600, clients: map[string]string{}, known: map[string]string{}, codes: map[string]url.Values{}, access: map[string]string{}, refresh: map[string]string{}}
	issuer := http.NewServeMux()
	issuer.HandleFunc("GET /.well-known/oauth-authorization-server", w.metadata)
	issuer.HandleFunc("POST /register", w.register)
	issuer.HandleFunc("GET /authorize", w.authorize)
	issuer.HandleFunc("POST /token", w.token)
	w.Issuer = httptest.NewServer(issuer)
	t.Cleanup(w.Issuer.Close)
	s := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says it again"}, func(_ context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	guarded := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", w.resource)
	mux.HandleFunc("/mcp", func(rw http.ResponseWriter, r *http.Request) {
		if w.greets(r) || w.admit(rw, r) {
			guarded.ServeHTTP(rw, r)
		}
	})
	w.Server = httptest.NewServer(mux)
	t.Cleanup(w.Server.Close)
	return w
}

// URL is the address of the MCP server.
func (w *World) URL() string { return w.Server.URL + "/mcp" }

func (w *World) secret() string {
	s := "mark-" + rand.Text()
	w.marks = append(w.marks, s)
	return s
}

// Secrets returns every code, token and secret that was given out.
func (w *World) Secrets() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.marks)
}

// Known makes a client known that comes back to any port of 127.0.0.1. It names itself with
// its secret in the header Authorization; with "" it has none.
func (w *World) Known(id, secret string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known[id] = secret
	if secret != "" {
		w.marks = append(w.marks, secret)
	}
}

// named reports whether a request for tokens is of the client with an id.
func (w *World) named(r *http.Request, id string) bool {
	secret, ok := w.known[id]
	if !ok {
		return r.PostForm.Get("client_id") == id && r.PostForm.Get("client_secret") != ""
	}
	user, given, basic := r.BasicAuth()
	if secret == "" {
		return !basic && r.PostForm.Get("client_id") == id && !r.PostForm.Has("client_secret")
	}
	user, err := url.QueryUnescape(user)
	return err == nil && basic && user == id && given == url.QueryEscape(secret) && !r.PostForm.Has("client_secret")
}

// Asked returns the kinds of grant that tokens were asked with.
func (w *World) Asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.posts)
}

// Sent returns the tokens that the MCP server was sent, "" for none.
func (w *World) Sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

// Expire ends all access tokens.
func (w *World) Expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.access = map[string]string{}
}

// Revoke ends all tokens.
func (w *World) Revoke() {
	w.Expire()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refresh = map[string]string{}
}

// Agree does what a browser does whose person agrees: it returns where it is led to.
func (w *World) Agree(at string) string {
	w.t.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Get(at)
	if err != nil {
		w.t.Error(err)
		return ""
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusFound {
		w.t.Errorf("the authorisation server answers %s", res.Status)
	}
	return res.Header.Get("Location")
}

func (w *World) answer(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	if err := json.NewEncoder(rw).Encode(v); err != nil {
		w.t.Log(err)
	}
}

func (w *World) metadata(rw http.ResponseWriter, _ *http.Request) {
	at := w.Issuer.URL
	m := map[string]any{"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token", "registration_endpoint": at + "/register",
		"jwks_uri": at + "/keys", "response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"authorization_response_iss_parameter_supported": true, "scopes_supported": []string{"read", "write", "offline_access"}}
	if w.Metadata != nil {
		w.Metadata(m)
	}
	w.answer(rw, http.StatusOK, m)
}

func (w *World) resource(rw http.ResponseWriter, _ *http.Request) {
	m := map[string]any{"resource": w.URL(), "authorization_servers": []string{w.Issuer.URL}, "scopes_supported": []string{"read"}}
	if w.Resource != nil {
		w.Resource(m)
	}
	w.answer(rw, http.StatusOK, m)
}

func (w *World) register(rw http.ResponseWriter, r *http.Request) {
	var in struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Redirects) != 1 {
		w.answer(rw, http.StatusBadRequest, map[string]string{"error": "invalid_redirect_uri"})
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fmt.Sprintf("client-%d", len(w.clients))
	w.clients[id] = in.Redirects[0]
	w.answer(rw, http.StatusCreated, map[string]any{"client_id": id, "client_secret": w.secret(), "token_endpoint_auth_method": "client_secret_post"})
}

func (w *World) authorize(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.mu.Lock()
	defer w.mu.Unlock()
	redirect, ok := w.clients[q.Get("client_id")]
	if _, known := w.known[q.Get("client_id")]; known && strings.HasPrefix(q.Get("redirect_uri"), "http://127.0.0.1:") {
		redirect, ok = q.Get("redirect_uri"), true
	}
	if !ok || redirect != q.Get("redirect_uri") || q.Get("code_challenge_method") != "S256" || q.Get("resource") != w.URL() || q.Get("response_type") != "code" {
		http.Error(rw, "a wrong request: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	code := w.secret()
	w.codes[code] = q
	http.Redirect(rw, r, redirect+"?"+url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {w.Issuer.URL}}.Encode(), http.StatusFound)
}

func (w *World) token(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.ParseForm() != nil {
		w.answer(rw, http.StatusBadRequest, map[string]string{"error": "invalid_request"})
		return
	}
	f := r.PostForm
	w.posts = append(w.posts, f.Get("grant_type"))
	var scopes string
	switch f.Get("grant_type") {
	case "authorization_code":
		q, ok := w.codes[f.Get("code")]
		delete(w.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if !ok || !w.named(r, q.Get("client_id")) || q.Get("redirect_uri") != f.Get("redirect_uri") ||
			base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge") || f.Get("resource") != w.URL() {
			w.answer(rw, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		scopes = q.Get("scope")
	case "refresh_token":
		var ok bool
		if scopes, ok = w.refresh[f.Get("refresh_token")]; !ok || f.Get("resource") != w.URL() {
			w.answer(rw, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		delete(w.refresh, f.Get("refresh_token"))
	}
	access, refresh := w.secret(), w.secret()
	w.access[access], w.refresh[refresh] = scopes, scopes
	w.answer(rw, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": w.Seconds, "refresh_token": refresh, "scope": scopes})
}

// greets reports whether a request is let in because it only begins a session.
func (w *World) greets(r *http.Request) bool {
	if !w.Greets || r.Method != http.MethodPost {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return bytes.Contains(body, []byte(`"method":"initialize"`)) || bytes.Contains(body, []byte(`"method":"notifications/`))
}

// admit refuses a request without a token that counts.
func (w *World) admit(rw http.ResponseWriter, r *http.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.seen = append(w.seen, token)
	scopes, ok := w.access[token]
	challenge := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, w.Server.URL)
	status := http.StatusUnauthorized
	switch {
	case ok && (w.Needs == "" || slices.Contains(strings.Fields(scopes), w.Needs)):
		return true
	case ok:
		status, challenge = http.StatusForbidden, challenge+fmt.Sprintf(`, error="insufficient_scope", scope=%q`, w.Needs)
	}
	rw.Header().Set("WWW-Authenticate", challenge)
	if w.Challenge != nil {
		w.Challenge(rw.Header())
	}
	http.Error(rw, "sign in", status)
	return false
}
