package connect

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrNeedsAuth is that a server wants somebody to sign in.
var ErrNeedsAuth = errors.New("it wants you to sign in")

// maxRedirects is how many addresses of its own a server may lead through.
const maxRedirects = 5

// address is a server that is reached over HTTP.
type address struct {
	at      *url.URL
	headers http.Header // go to its own origin only
	base    http.RoundTripper
	refused atomic.Int32 // the last status of 401 or 403, 0 for none since

	unreached atomic.Bool // the last request found nobody who listens
}

func newAddress(t Target) (*address, error) {
	at, err := url.Parse(t.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, errors.New("its url must begin with https:// or http:// and name a host")
	}
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("there is no HTTP here")
	}
	own := base.Clone()
	own.MaxIdleConnsPerHost, own.IdleConnTimeout = 2, 30*time.Second
	own.MaxResponseHeaderBytes = 64 << 10
	return &address{at: at, headers: t.Headers, base: own}, nil
}

// client returns what its requests are made with.
func (a *address) client() *http.Client {
	return &http.Client{Transport: a, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if !a.own(req.URL) {
			return fmt.Errorf("it leads to %s, which is another server; if that is right, name it as the url", origin(req.URL))
		}
		if len(via) > maxRedirects {
			return fmt.Errorf("it leads through more than %d addresses", maxRedirects)
		}
		return nil
	}}
}

// own reports whether an address is of the server's origin.
func (a *address) own(u *url.URL) bool { return origin(u) == origin(a.at) }

// hide takes out of a text what the address may keep secret: name, password and query. The
// library of HTTP writes *** for a password.
func (a *address) hide(text string) string {
	if a.at.RawQuery != "" {
		text = strings.ReplaceAll(text, "?"+a.at.RawQuery, "")
	}
	if u := a.at.User; u != nil {
		text = strings.NewReplacer(u.String()+"@", "", u.Username()+":***@", "", u.Username()+":xxxxx@", "").Replace(text)
	}
	return text
}

func origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// RoundTrip implements [http.RoundTripper].
func (a *address) RoundTrip(req *http.Request) (*http.Response, error) {
	if a.own(req.URL) && len(a.headers) > 0 {
		req = req.Clone(req.Context())
		for name, values := range a.headers {
			req.Header[name] = values
		}
	}
	res, err := a.base.RoundTrip(req)
	var dial *net.OpError
	a.unreached.Store(errors.As(err, &dial) && dial.Op == "dial")
	if err != nil {
		return nil, err
	}
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		a.refused.Store(int32(res.StatusCode))
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		res.Body = &bounded{ReadCloser: res.Body, left: maxMessage}
	}
	return res, nil
}

// bounded is a body of at most so many bytes.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// transport returns how the messages go.
func (a *address) transport(sse bool) mcp.Transport {
	if sse {
		return &mcp.SSEClientTransport{Endpoint: a.at.String(), HTTPClient: a.client(), MaxEventSize: maxMessage}
	}
	return &mcp.StreamableClientTransport{Endpoint: a.at.String(), HTTPClient: a.client(), MaxEventSize: maxMessage, MaxRetries: 5}
}

// close lets the connections go.
func (a *address) close() {
	if t, ok := a.base.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}
