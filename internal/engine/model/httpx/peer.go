package httpx

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
)

// Peer is the server of a model and the key for it.
type Peer struct {
	Name    string // the provider, as the user writes it
	BaseURL string
	Key     string // "" for a server without keys
	KeyName string // where the key comes from or belongs: the name of a variable
	Headers map[string]string
	HTTP    *http.Client // nil: a client of its own over http.DefaultTransport
}

// Check reports whether the address is usable.
func (p Peer) Check() error {
	u, err := url.Parse(p.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("the baseUrl of %s is not an http address", p.Name)
	}
	if u.User != nil {
		return fmt.Errorf("the baseUrl of %s holds a password; use apiKeyEnv or headers instead", p.Name)
	}
	return nil
}

// Bearer returns the header with the key, none when there is none.
func (p Peer) Bearer() map[string]string {
	if p.Key == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + p.Key}
}

// Doer sends requests. It follows no redirect, because a key in a header of the
// vendor's own would go along to the other server; it turns every answer but a
// stream into an error that [Peer.Fail] understands; and it bounds what is read. It
// may be used by any number of goroutines at once.
type Doer struct {
	client  http.Client
	headers map[string]string // the user's own
}

// Doer returns the client for the peer.
func (p Peer) Doer() *Doer {
	d := &Doer{headers: p.Headers}
	if p.HTTP != nil {
		d.client = *p.HTTP
	}
	d.client.Jar = nil
	d.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return d
}

// Post sends a body and returns the answer, which is a stream, see [Events]. The headers
// are the adapter's; those of the user win over them. The caller closes the answer's body.
func (d *Doer) Post(ctx context.Context, address string, header map[string]string, body []byte) (*http.Response, error) {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	if x != nil && x.Before != nil {
		var err error
		if body, err = x.Before(ctx, body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return nil, err
	}
	sent := send(req, body)
	defer sent.drop()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "scorel")
	for _, more := range [...]map[string]string{header, d.headers} {
		for _, k := range slices.Sorted(maps.Keys(more)) {
			req.Header.Set(k, more[k])
		}
	}
	res, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	if x != nil && x.After != nil {
		x.After(ctx, res.StatusCode, res.Header)
	}
	if res.StatusCode == http.StatusOK {
		if strings.HasPrefix(strings.ToLower(res.Header.Get("Content-Type")), "text/html") {
			res.Body.Close()
			return nil, errHTML
		}
		res.Body = newGuard(res.Body)
		return res, nil
	}
	defer res.Body.Close()
	doc, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil && len(doc) == 0 && ctx.Err() != nil {
		return nil, err
	}
	return nil, &statusError{status: res.StatusCode, header: res.Header, body: doc}
}

// statusError is an answer with a status other than 200.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

// host is the address without its port, for sentences.
func (p Peer) host() string {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return p.Name
	}
	return u.Host
}

// reason says in a few words why a connection failed, without addresses that
// could hold secrets.
func reason(err error) string {
	var (
		dns *net.DNSError
		op  *net.OpError
		ue  *url.Error
	)
	switch {
	case errors.As(err, &dns):
		return "its name cannot be resolved"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	case errors.As(err, &op) && op.Err != nil:
		return op.Err.Error()
	case errors.As(err, &ue):
		return ue.Err.Error()
	}
	return err.Error()
}
