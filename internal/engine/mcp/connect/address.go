package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/platform/fault"
)

// ErrNeedsAuth is that a server wants somebody to sign in.
var ErrNeedsAuth = errors.New("it wants you to sign in")

// Auth gives the token that an address wants, and may be used concurrently.
type Auth interface {
	// Token gives the token to send, "" for none.
	Token(ctx context.Context) (string, error)
	// Refused is told that a request with this token was refused, with 401 or 403, and
	// reports whether there is another one, to be tried once.
	Refused(ctx context.Context, token string, status int, h http.Header) bool
}

// firstByte is how long a server has to begin an answer to a message, unless the call that
// it belongs to may take longer: a server that answers by JSON alone begins at the end.
const firstByte = time.Minute

// maxRedirects is how many addresses of its own a server may lead through.
const maxRedirects = 5

// address is a server that is reached over HTTP, at least for a handshake.
type address struct {
	at    *url.URL
	base  http.RoundTripper
	again func(context.Context) (http.Header, error) // makes new headers; nil: they stay

	mu      sync.Mutex
	headers http.Header // go to its own origin only; not changed
	made    int         // how many times they were made again

	auth    Auth         // nil for none
	refused atomic.Int32 // the last status of 401 or 403, 0 for none since

	way       *keeping    // of one that is no WebSocket
	pushing   *pushing    // nil: it is not a channel
	schemas   *schemas    // nil: nobody is asked
	unreached atomic.Bool // the last request found nobody who listens
	unrenewed atomic.Bool // its token has ended and cannot be renewed now
	fuse      *fault.Fuse // of the connection
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
	return &address{at: at, headers: t.Headers, auth: t.Auth, base: own}, nil
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

// RoundTrip implements [http.RoundTripper]. The library of the protocol calls it in goroutines
// of its own.
func (a *address) RoundTrip(req *http.Request) (res *http.Response, err error) {
	defer a.fuse.CatchError(&err)
	if res, err = a.roundTrip(req); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusSwitchingProtocols {
		res.Body = &guardedReader{res.Body, a.fuse}
	}
	return res, nil
}

// roundTrip makes a request. One that was refused has not been carried out, and is sent once
// more with a token that has been renewed.
func (a *address) roundTrip(req *http.Request) (*http.Response, error) {
	own := a.own(req.URL)
	token := ""
	if own && a.auth != nil {
		var err error
		token, err = a.auth.Token(req.Context())
		if a.unrenewed.Store(err != nil && req.Context().Err() == nil); err != nil {
			return nil, fmt.Errorf("its sign-in cannot be renewed: %w", err)
		}
	}
	headers, made := a.sent()
	res, err := a.send(req, headers, token)
	if err != nil {
		return nil, err
	}
	if own && refuses(res) && a.renewed(req, res, token, made) {
		if res, err = a.repeat(req, res); err != nil {
			return nil, err
		}
	}
	if refuses(res) {
		a.refused.Store(int32(res.StatusCode))
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") && res.StatusCode != http.StatusSwitchingProtocols {
		res.Body = &bounded{ReadCloser: res.Body, left: maxMessage}
	}
	if own {
		res.Body = a.pushing.watch(req, res)
	}
	if own && a.schemas != nil {
		res.Body = &schemaReader{ReadCloser: res.Body, to: a.schemas}
	}
	return res, nil
}

// refuses reports whether an answer says that somebody has to sign in.
func refuses(res *http.Response) bool {
	return res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden
}

// renewed reports whether a request that was refused can be sent again, with other headers or
// another token. made says which headers were sent.
func (a *address) renewed(req *http.Request, refusal *http.Response, token string, made int) bool {
	if req.Body != nil && req.GetBody == nil {
		return false
	}
	if refusal.StatusCode == http.StatusUnauthorized && a.help(req.Context(), made) {
		return true
	}
	return a.auth != nil && a.auth.Refused(req.Context(), token, refusal.StatusCode, refusal.Header)
}

// repeat sends a request again that was refused, with what is sent now.
func (a *address) repeat(req *http.Request, refusal *http.Response) (res *http.Response, err error) {
	again, token := req.Clone(req.Context()), ""
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	if a.auth != nil {
		if token, err = a.auth.Token(req.Context()); err != nil {
			return nil, err
		}
	}
	_ = refusal.Body.Close() // nothing of it is read
	headers, _ := a.sent()
	return a.send(again, headers, token)
}

// sent returns the headers that go to its own origin, and how many times they were made again.
func (a *address) sent() (http.Header, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.headers, a.made
}

// help makes the headers again after the server has refused some, and reports whether there
// are others now. Of several requests that were refused with the same one makes them.
func (a *address) help(ctx context.Context, refused int) bool {
	if a.again == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.made != refused {
		return true // another request has
	}
	headers, err := a.again(ctx)
	if err != nil || maps.EqualFunc(headers, a.headers, slices.Equal) {
		return false // the refusal counts
	}
	a.headers = headers
	a.made++
	return true
}

// send makes a request, with what the server's own origin is sent.
func (a *address) send(req *http.Request, headers http.Header, token string) (*http.Response, error) {
	if a.own(req.URL) && (len(headers) > 0 || token != "") {
		req = req.Clone(req.Context())
		for name, values := range headers {
			req.Header[name] = values
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
	}
	res, err := a.begun(req)
	var dial *net.OpError
	a.unreached.Store(errors.As(err, &dial) && dial.Op == "dial")
	return res, err
}

// begun makes a request whose answer has to begin in time where it is a message.
func (a *address) begun(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost {
		return a.base.RoundTrip(req)
	}
	of, _ := req.Context().Value(askingKey{}).(*asking)
	limit := firstByte
	if of != nil {
		limit = max(limit, of.Time)
	}
	ctx, cancel := context.WithCancel(req.Context())
	late := time.AfterFunc(limit, func() {
		if of != nil {
			of.late.Store(int64(limit))
		}
		cancel()
	})
	res, err := a.base.RoundTrip(req.WithContext(ctx))
	inTime := late.Stop()
	switch {
	case !inTime && req.Context().Err() == nil:
		if err == nil {
			_ = res.Body.Close() // it came too late
		}
		return nil, fmt.Errorf("it has not begun to answer within %v", limit)
	case err != nil:
		cancel()
		return nil, err
	}
	res.Body = &ending{res.Body, cancel}
	return res, nil
}

// silent returns how long the server has not begun to answer a request whose context is of
// begin; 0 where it is not given up because of that.
func silent(ctx context.Context) time.Duration {
	if a, _ := ctx.Value(askingKey{}).(*asking); a != nil {
		return time.Duration(a.late.Load())
	}
	return 0
}

// ending is a body that ends its context when it is closed.
type ending struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (e *ending) Close() error {
	defer e.cancel()
	return e.ReadCloser.Close()
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
