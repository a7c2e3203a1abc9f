package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxRedirects  = 5
	fetchTime     = 30 * time.Second // of a page, with all redirects and its body
	handshakeTime = 10 * time.Second
	headerTime    = 15 * time.Second // until the headers of one answer are complete
	maxHeader     = 64 << 10         // bytes of the headers of one answer
	maxRetryAfter = 24 * time.Hour   // that is told
)

// Config is what a client is made from.
type Config struct {
	Version string // of Scorel, for the User-Agent
	// Proxy is the URL of an HTTP proxy, "" for none. It is trusted: it resolves
	// the names, so only names and addresses as they are in URLs are judged.
	Proxy string

	network network        // tests
	roots   *x509.CertPool // tests
}

// Client fetches pages. It keeps no connection open.
type Client struct {
	agent string
	proxy *url.URL
	net   network
	roots *x509.CertPool
}

// New makes a client. It fails for a proxy that is not a URL of a host.
func New(cfg Config) (*Client, error) {
	c := &Client{agent: "scorel", net: cfg.network, roots: cfg.roots}
	if cfg.Version != "" {
		c.agent += "/" + cfg.Version
	}
	if c.net.connect == nil {
		c.net = machine()
	}
	if cfg.Proxy != "" {
		u, err := url.Parse(cfg.Proxy)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return nil, errors.New("the proxy for the web must be a URL that begins with http:// or https://")
		}
		c.proxy = u
	}
	return c, nil
}

// RedirectError reports that a page moved to another host, or another port: the
// caller asks for permission again before it fetches To.
type RedirectError struct{ From, To Target }

// Error implements error.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("%s redirects to another host, %s", e.From.Host(), e.To.Host())
}

// Fetch returns the page at t. The caller has permission for t.Host(). A redirect
// to the same host is followed, one to another ends with a [*RedirectError]. The
// page may be an answer with an error status. Other errors are one sentence
// with the host and a reason; the context's own error is returned as it is.
func (c *Client) Fetch(ctx context.Context, t Target) (*Page, error) {
	if t.u == nil {
		return nil, errors.New("there is no URL")
	}
	limited, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	for range maxRedirects + 1 {
		page, next, err := c.get(limited, t)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, c.explain(t, err)
		case page != nil:
			return page, nil
		case next.Host() != t.Host():
			return nil, &RedirectError{From: t, To: next}
		case t.u.Scheme == "https" && next.u.Scheme == "http":
			return nil, fmt.Errorf("%s redirects from https to http, which is not followed", t.Host())
		}
		t = next
	}
	return nil, fmt.Errorf("%s redirects more than %d times", t.Host(), maxRedirects)
}

// get makes one request: it gives the page, or where it has moved.
func (c *Client) get(ctx context.Context, t Target) (*Page, Target, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.String(), nil)
	if err != nil {
		return nil, Target{}, errors.New("the request cannot be made")
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5")
	tr := c.transport(t)
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req) // no http.Client: no cookies, no Referer, no redirect that was not judged
	if err != nil {
		return nil, Target{}, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if location := resp.Header.Get("Location"); location != "" {
			next, err := t.resolve(location)
			if err != nil {
				return nil, Target{}, &redirectRefused{err}
			}
			return nil, next, nil
		}
	}
	page, err := read(ctx, t, resp)
	return page, Target{}, err
}

// redirectRefused is a redirect that leads where nothing is fetched.
type redirectRefused struct{ err error }

func (e *redirectRefused) Error() string { return e.err.Error() }

// transport makes the transport of one request: connections are not shared, so
// that none outlives the judgement it was made under. Its Proxy is nil unless one
// is configured, so the environment has no say.
func (c *Client) transport(t Target) *http.Transport {
	tr := &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return c.net.dial(ctx, t) },
		DisableKeepAlives:      true,
		TLSClientConfig:        &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTime,
		ResponseHeaderTimeout:  headerTime,
		MaxResponseHeaderBytes: maxHeader,
	}
	if c.proxy != nil && !t.local {
		tr.Proxy = http.ProxyURL(c.proxy)
		tr.DialContext = (&net.Dialer{Timeout: connectTime}).DialContext // only the proxy is dialled
	}
	return tr
}

// explain makes one sentence of an error, with the host and a reason: texts of
// the network hold URLs and addresses.
func (c *Client) explain(t Target, err error) error {
	var (
		refused   *refusedError
		moved     *redirectRefused
		unusable  *unusableError
		dns       *net.DNSError
		unknownCA x509.UnknownAuthorityError
		wrongName x509.HostnameError
		badCert   x509.CertificateInvalidError
		cert      *tls.CertificateVerificationError
		plain     tls.RecordHeaderError
	)
	host := t.Host()
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &moved):
		return fmt.Errorf("%s redirects to where nothing is fetched: %s", host, moved.Error())
	case errors.As(err, &unusable):
		return unusable
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer completely within %d seconds", host, int(fetchTime.Seconds()))
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("there is no host named %s", host)
	case errors.As(err, &dns):
		return fmt.Errorf("the name %s could not be looked up", host)
	case errors.As(err, &wrongName):
		return fmt.Errorf("the certificate of %s is for another host", host)
	case errors.As(err, &unknownCA):
		return fmt.Errorf("the certificate of %s is signed by nobody who is trusted", host)
	case errors.As(err, &badCert) && badCert.Reason == x509.Expired:
		return fmt.Errorf("the certificate of %s has expired", host)
	case errors.As(err, &cert), errors.As(err, &badCert):
		return fmt.Errorf("the certificate of %s is not valid", host)
	case errors.As(err, &plain):
		return fmt.Errorf("%s does not speak https there", host)
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%s did not answer in time", host)
	}
	if c.proxy != nil && !t.local {
		return fmt.Errorf("the connection to %s through the proxy of web.proxy failed", host)
	}
	return fmt.Errorf("the connection to %s failed", host)
}

// retryAfter returns for how long a server asks to be left alone, 0 when it does
// not say.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || n <= 0 || n > int(maxRetryAfter.Seconds()) {
		return 0
	}
	return time.Duration(n) * time.Second
}
