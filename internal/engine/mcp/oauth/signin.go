package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/model/credentials"
)

// SignIn is a sign-in that a person makes. It may be used concurrently; it ends once.
type SignIn struct {
	client   *Client
	grant    credentials.Grant // without tokens
	redirect string
	at       string
	state    string
	verifier string
	saysWho  bool // the answer has to name its issuer

	mu   sync.Mutex
	used bool
}

// Begin finds out where to sign in to a server, and makes this program known there. redirect
// is the address that a browser comes back to. wanted are scopes that are asked for besides,
// because they were granted before or the server has asked for them since.
func (c *Client) Begin(ctx context.Context, s Server, redirect string, wanted []string) (*SignIn, error) {
	f, err := c.discover(ctx, s)
	if err != nil {
		return nil, err
	}
	scopes := slices.Clone(f.scopes)
	if slices.Contains(f.meta.ScopesSupported, "offline_access") {
		wanted = append(slices.Clip(wanted), "offline_access")
	}
	for _, w := range wanted {
		if !slices.Contains(scopes, w) {
			scopes = append(scopes, w)
		}
	}
	scopes = scopes[:min(len(scopes), maxScopes)]
	g := credentials.Grant{Issuer: f.meta.Issuer, Resource: f.resource, TokenURL: f.meta.TokenEndpoint, ClientID: s.ClientID, Scopes: scopes}
	switch {
	case g.ClientID != "":
		g.ClientSecret, g.AuthMethod = s.ClientSecret, authMethod("", s.ClientSecret, f.meta.TokenEndpointAuthMethodsSupported)
	case s.ClientMetadataURL != "" && f.meta.ClientIDMetadataDocumentSupported:
		g.ClientID, g.AuthMethod = s.ClientMetadataURL, "none"
	default:
		var method string
		if g.ClientID, g.ClientSecret, method, err = c.register(ctx, f.meta, redirect, scopes); err != nil {
			return nil, err
		}
		g.AuthMethod = authMethod(method, g.ClientSecret, f.meta.TokenEndpointAuthMethodsSupported)
	}
	at, err := url.Parse(f.meta.AuthorizationEndpoint)
	if err != nil {
		return nil, fmt.Errorf("%s names no address to sign in at", host(f.meta.Issuer))
	}
	x := &SignIn{client: c, grant: g, redirect: redirect, state: rand.Text(), verifier: rand.Text() + rand.Text(), saysWho: f.meta.AuthorizationResponseIssParameterSupported}
	sum := sha256.Sum256([]byte(x.verifier))
	q := at.Query()
	q.Set("response_type", "code")
	q.Set("client_id", g.ClientID)
	q.Set("redirect_uri", redirect)
	q.Set("state", x.state)
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
	q.Set("code_challenge_method", "S256")
	q.Set("resource", f.resource)
	if len(scopes) > 0 {
		q.Set("scope", strings.Join(scopes, " "))
	}
	at.RawQuery = q.Encode()
	x.at = at.String()
	return x, nil
}

// URL is the address at which a person agrees.
func (x *SignIn) URL() string { return x.at }

// Host is the host of URL, to be shown.
func (x *SignIn) Host() string { return host(x.at) }

// Issuer is who signs in.
func (x *SignIn) Issuer() string { return x.grant.Issuer }

// ErrForeign is an address that does not belong to a sign-in, which goes on.
var ErrForeign = errors.New("this address does not belong to the sign-in; take the one that the browser was led to at its end")

// Finish takes what a browser came back with, which is the query of the redirect address,
// and returns the tokens. With [ErrForeign] the sign-in goes on; any other error ends it.
func (x *SignIn) Finish(ctx context.Context, back url.Values) (*credentials.Grant, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case back.Get("state") != x.state:
		return nil, ErrForeign
	case x.used:
		return nil, errors.New("this sign-in has been used already")
	}
	x.used = true
	iss := back.Get("iss")
	switch {
	case iss != "" && iss != x.grant.Issuer:
		return nil, fmt.Errorf("the answer comes from %s and not from %s, where the sign-in began; nothing was kept", host(iss), host(x.grant.Issuer))
	case iss == "" && x.saysWho:
		return nil, fmt.Errorf("the answer does not say that it comes from %s, as that server promises; nothing was kept", host(x.grant.Issuer))
	case back.Get("error") != "":
		said := clean(back.Get("error"))
		if more := clean(back.Get("error_description")); more != "" {
			said += ", " + more
		}
		return nil, fmt.Errorf("%s refused the sign-in: %s", host(x.grant.Issuer), said)
	case back.Get("code") == "":
		return nil, fmt.Errorf("%s sent no code", host(x.grant.Issuer))
	}
	g := x.grant
	err := x.client.tokens(ctx, &g, url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Get("code")}, "redirect_uri": {x.redirect}, "code_verifier": {x.verifier},
	})
	if err != nil {
		return nil, err
	}
	return &g, nil
}

// RefusedError is that an authorisation server gives no tokens.
type RefusedError struct {
	Host string
	Code string // as RFC 6749, section 5.2 names it
	Said string
}

func (e *RefusedError) Error() string {
	text := e.Host + " refused a token: " + e.Code
	if e.Said != "" {
		text += ", " + e.Said
	}
	return text
}

// tokens asks for tokens, and puts them into the grant.
func (c *Client) tokens(ctx context.Context, g *credentials.Grant, form url.Values) error {
	if err := reachable(g.TokenURL); err != nil {
		return err
	}
	if g.Resource != "" {
		form.Set("resource", g.Resource)
	}
	if g.AuthMethod != "client_secret_basic" {
		form.Set("client_id", g.ClientID)
		if g.ClientSecret != "" {
			form.Set("client_secret", g.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("the address for tokens is none")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if g.AuthMethod == "client_secret_basic" {
		req.SetBasicAuth(url.QueryEscape(g.ClientID), url.QueryEscape(g.ClientSecret)) // RFC 6749, section 2.3.1
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s cannot be asked for a token: %s", host(g.TokenURL), reason(err))
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%s cannot be asked for a token: %s", host(g.TokenURL), reason(err))
	}
	var got struct {
		Access  string  `json:"access_token"`
		Type    string  `json:"token_type"`
		Refresh string  `json:"refresh_token"`
		Scope   string  `json:"scope"`
		Seconds float64 `json:"expires_in"`
		Error   string  `json:"error"`
		Said    string  `json:"error_description"`
	}
	bad := json.Unmarshal(data, &got) != nil
	switch {
	case res.StatusCode/100 == 4 && !bad && got.Error != "":
		return &RefusedError{Host: host(g.TokenURL), Code: clean(got.Error), Said: clean(got.Said)}
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s returned no token (status %d)", host(g.TokenURL), res.StatusCode)
	case bad || got.Access == "":
		return fmt.Errorf("%s returned no token", host(g.TokenURL))
	case got.Type != "" && !strings.EqualFold(got.Type, "bearer"):
		return fmt.Errorf("%s returned a token of type %s, which Scorel does not know", host(g.TokenURL), clean(got.Type))
	case credentials.CheckToken(got.Access) != nil:
		return fmt.Errorf("%s returned a token that cannot be sent", host(g.TokenURL))
	}
	g.Access, g.Granted, g.Expires = got.Access, now(), time.Time{}
	if got.Refresh != "" {
		g.Refresh = got.Refresh
	}
	if got.Seconds > 0 {
		g.Expires = g.Granted.Add(time.Duration(min(got.Seconds, 10*365*24*3600)) * time.Second)
	}
	if got.Scope != "" {
		g.Scopes = strings.Fields(got.Scope)
		g.Scopes = g.Scopes[:min(len(g.Scopes), maxScopes)]
	}
	g.Wanted = nil
	return nil
}

// now is the clock, in the form that is kept.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
