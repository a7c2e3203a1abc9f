package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"scorel/internal/engine/fetch"
	"scorel/internal/text/promptsafe"
)

const (
	// stepTime is how long a single request of a sign-in may take.
	stepTime = 20 * time.Second
	// maxAnswer bounds the answer to one, in bytes.
	maxAnswer = 1 << 20
	// maxSaid is how much is shown of what a server says of an error, in bytes.
	maxSaid = 300
	// maxScopes is how many scopes are asked for.
	maxScopes = 100
)

// Server is what somebody signs in to, as its entry describes it.
type Server struct {
	URL          string
	ClientID     string // of a client that is registered already; "" for none
	ClientSecret string // of that client; "" where it has none
	// ClientMetadataURL is where a document describes this program, whose address then is its
	// id at servers that read such documents; "" for none.
	ClientMetadataURL string
	Scopes            []string // to ask for in place of those that the server names; nil for none
	MetadataURL       string   // of the authorisation server; "" to find it
	CallbackPort      int      // where a browser has to come back to; 0 for any
}

// Client makes the requests of sign-ins. It may be used concurrently.
type Client struct {
	http *http.Client
	name string
}

// NewClient makes the client for a server.
func NewClient(s Server, version string) (*Client, error) {
	guard, err := fetch.New(fetch.Config{Version: version})
	if err != nil {
		return nil, err
	}
	return &Client{name: "Scorel", http: &http.Client{
		Timeout:   stepTime,
		Transport: guard.RoundTripper(maxAnswer, s.URL, s.MetadataURL),
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > 5 || req.Method != http.MethodGet || origin(req.URL) != origin(via[0].URL) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}, nil
}

func origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// found is an authorisation server, and what it is asked for.
type found struct {
	meta     *oauthex.AuthServerMeta
	resource string
	scopes   []string
}

// discover asks a server who signs people in for it.
func (c *Client) discover(ctx context.Context, s Server) (*found, error) {
	at, err := url.Parse(s.URL)
	if err != nil {
		return nil, errors.New("its url is not an address")
	}
	metadata, asked, err := c.challenge(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	f := &found{resource: s.URL, scopes: asked}
	var issuer string
	if s.MetadataURL != "" {
		if f.meta, err = c.metadata(ctx, s.MetadataURL); err != nil {
			return nil, err
		}
	} else {
		resource, err := c.resource(ctx, at, metadata)
		if err != nil {
			return nil, err
		}
		issuer = origin(at) // as servers before 2025-06-18 do
		if resource != nil {
			issuer, f.resource = resource.AuthorizationServers[0], resource.Resource
			if len(f.scopes) == 0 {
				f.scopes = resource.ScopesSupported
			}
		}
		f.meta, err = auth.GetAuthServerMetadata(ctx, issuer, c.http)
		if err != nil {
			return nil, fmt.Errorf("its authorisation server %s cannot be used: %s", host(issuer), clean(err.Error()))
		}
	}
	if f.meta == nil {
		return nil, fmt.Errorf("%s does not say how to sign in to it", host(issuer))
	}
	if f.meta.AuthorizationEndpoint == "" || f.meta.TokenEndpoint == "" {
		return nil, fmt.Errorf("its authorisation server %s names no address to sign in at", host(f.meta.Issuer))
	}
	if s.Scopes != nil {
		f.scopes = s.Scopes
	}
	return f, nil
}

// challenge asks a server without a token, and returns what it says about signing in.
func (c *Client) challenge(ctx context.Context, at string) (metadata string, scopes []string, err error) {
	status := 0
	for _, g := range greetings {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(g.body))
		if err != nil {
			return "", nil, errors.New("its url is not an address")
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if g.version != "" {
			req.Header.Set("Mcp-Protocol-Version", g.version)
			req.Header.Set("Mcp-Method", g.method)
		}
		res, err := c.http.Do(req)
		if err != nil {
			return "", nil, fmt.Errorf("it cannot be asked how to sign in: %s", reason(err))
		}
		_ = res.Body.Close() // its status is what counts
		if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden {
			metadata, scopes, _ = challenged(res.Header)
			return metadata, scopes, nil
		}
		if status == 0 {
			status = res.StatusCode
		}
	}
	return "", nil, fmt.Errorf("it does not ask for a sign-in (it answers with status %d)", status)
}

// greetings are what a server is asked to learn how to sign in. Some greet everybody and refuse
// only what comes after, and those of the newest version know no initialize.
var greetings = []struct{ method, version, body string }{
	{"initialize", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"scorel","version":"1"}}}`},
	{"server/discover", "2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"scorel","version":"1"}}}}`},
	{"tools/list", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`},
}

// challenged reads what a server says with a refusal: where its metadata is, which scopes it
// wants, and whether those of the token are too few.
func challenged(h http.Header) (metadata string, scopes []string, tooFew bool) {
	list, err := oauthex.ParseWWWAuthenticate(h.Values("WWW-Authenticate"))
	if err != nil {
		return "", nil, false // who says nothing readable is asked at the well-known places
	}
	for _, c := range list {
		if metadata == "" {
			metadata = c.Params["resource_metadata"]
		}
		if c.Scheme == "bearer" {
			scopes = append(scopes, strings.Fields(c.Params["scope"])...)
			tooFew = tooFew || c.Params["error"] == "insufficient_scope"
		}
	}
	return metadata, scopes[:min(len(scopes), maxScopes)], tooFew
}

// resource reads what a server says of itself (RFC 9728), nil where it says nothing.
func (c *Client) resource(ctx context.Context, at *url.URL, named string) (*oauthex.ProtectedResourceMetadata, error) {
	const wellKnown = "/.well-known/oauth-protected-resource"
	places := []string{named}
	if path := strings.Trim(at.Path, "/"); path != "" {
		places = append(places, origin(at)+wellKnown+"/"+path)
	}
	places = append(places, origin(at)+wellKnown)
	for i, place := range places {
		if place == "" {
			continue
		}
		var m oauthex.ProtectedResourceMetadata
		status, err := c.get(ctx, place, &m)
		switch {
		case i > 0 && (err != nil || status != http.StatusOK):
			continue // not every server has all of them
		case err != nil:
			return nil, fmt.Errorf("what it says about signing in cannot be read: %s", reason(err))
		case status != http.StatusOK:
			continue
		case !covers(m.Resource, at):
			return nil, fmt.Errorf("it says that it is %s, which is another server", host(m.Resource))
		case len(m.AuthorizationServers) == 0:
			return nil, errors.New("it names no authorisation server to sign in at")
		}
		if err := reachable(m.AuthorizationServers[0]); err != nil {
			return nil, fmt.Errorf("its authorisation server cannot be used: %w", err)
		}
		return &m, nil
	}
	return nil, nil
}

// covers reports whether a resource is a server's address, or a folder above it.
func covers(resource string, at *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || r.Host == "" || origin(r) != origin(at) || r.User != nil || r.Fragment != "" || r.RawQuery != "" && r.RawQuery != at.RawQuery {
		return false
	}
	path := strings.TrimSuffix(r.Path, "/")
	return at.Path == path || strings.HasPrefix(at.Path, path+"/") || path == "" && at.Path == ""
}

// metadata reads what a configured authorisation server says of itself.
func (c *Client) metadata(ctx context.Context, at string) (*oauthex.AuthServerMeta, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, errors.New("oauth.authServerMetadataUrl is not an address")
	}
	issuer := origin(u)
	for _, known := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		if before, after, ok := strings.Cut(u.Path, known); ok {
			issuer += strings.TrimSuffix(before, "/") + after
		}
	}
	m, err := oauthex.GetAuthServerMeta(ctx, at, issuer, c.http)
	if err != nil {
		return nil, fmt.Errorf("oauth.authServerMetadataUrl cannot be used: %s", clean(err.Error()))
	}
	return m, nil
}

// register makes a client of this program known to an authorisation server.
func (c *Client) register(ctx context.Context, m *oauthex.AuthServerMeta, redirect string, scopes []string) (id, secret, method string, err error) {
	if m.RegistrationEndpoint == "" {
		return "", "", "", fmt.Errorf("%s registers no programs by itself: register one there whose redirect address is %s, and give its id as oauth.clientId of the server's entry (scorel mcp add --client-id ID --callback-port PORT)", host(m.Issuer), redirect)
	}
	body, err := json.Marshal(oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{redirect}, ClientName: c.name, ApplicationType: "native", TokenEndpointAuthMethod: "none",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, Scope: strings.Join(scopes, " "),
	})
	if err != nil {
		return "", "", "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.RegistrationEndpoint, bytes.NewReader(body))
	if err != nil {
		return "", "", "", errors.New("the address for registrations is none")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	var got struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		AuthMethod   string `json:"token_endpoint_auth_method"`
	}
	status, err := c.do(req, &got)
	switch {
	case err != nil:
		return "", "", "", fmt.Errorf("%s does not register Scorel: %s", host(m.Issuer), reason(err))
	case status != http.StatusOK && status != http.StatusCreated:
		return "", "", "", fmt.Errorf("%s does not register Scorel (status %d)", host(m.Issuer), status)
	case got.ClientID == "":
		return "", "", "", fmt.Errorf("%s registers Scorel without an id", host(m.Issuer))
	}
	return got.ClientID, got.ClientSecret, got.AuthMethod, nil
}

// authMethod chooses how a client with a secret names itself, from what it was given at its
// registration and what a server takes.
func authMethod(given, secret string, takes []string) string {
	switch {
	case secret == "":
		return "none"
	case given == "client_secret_post" || given == "client_secret_basic":
		return given
	case slices.Contains(takes, "client_secret_post"):
		return "client_secret_post"
	}
	return "client_secret_basic"
}

func (c *Client) get(ctx context.Context, at string, into any) (status int, err error) {
	if err := reachable(at); err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return 0, errors.New("it is not an address")
	}
	req.Header.Set("Accept", "application/json")
	return c.do(req, into)
}

// do makes a request and reads its JSON answer, where its status is one of success.
func (c *Client) do(req *http.Request, into any) (status int, err error) {
	res, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, err
	}
	if res.StatusCode/100 != 2 {
		return res.StatusCode, nil
	}
	if json.Unmarshal(data, into) != nil {
		return res.StatusCode, errors.New("its answer is not the JSON that it should be")
	}
	return res.StatusCode, nil
}

// reachable refuses what is asked neither over https nor on this machine.
func reachable(at string) error {
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "":
		return fmt.Errorf("%s is not an address", clean(at))
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"):
		return nil
	}
	return fmt.Errorf("%s is not asked without https", u.Host)
}

// host names the place of an address in a sentence.
func host(at string) string {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return clean(at)
	}
	return u.Host
}

// reason returns the inner reason of a failed request, without its address, whose query may
// hold what nobody else should read.
func reason(err error) string {
	var outer *url.Error
	if errors.As(err, &outer) {
		if outer.Timeout() {
			return fmt.Sprintf("it has not answered within %v", stepTime)
		}
		err = outer.Err
	}
	return clean(err.Error())
}

// clean makes what a server says fit for a line.
func clean(text string) string {
	text = strings.Join(strings.Fields(promptsafe.Clean(text)), " ")
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	return text
}
