package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// RoundTripper returns what makes the requests of another protocol, such as a sign-in, to
// addresses that a server has named. They are judged as those of pages are, and need https.
// The origins of own have been named by a person and are reached wherever they are; where
// one of them is this machine, so is all of it. A body longer than limit bytes fails.
func (c *Client) RoundTripper(limit int64, own ...string) http.RoundTripper {
	r := &roundTripper{client: c, limit: limit}
	for _, raw := range own {
		u, err := url.Parse(raw)
		if err != nil {
			continue // nothing is reached by it
		}
		r.own = append(r.own, origin(u))
		if t, err := ParseTarget(raw); err == nil && t.local {
			r.local = true
		}
	}
	return r
}

type roundTripper struct {
	client *Client
	limit  int64
	own    []string
	local  bool
}

func origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// RoundTrip implements [http.RoundTripper].
func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	tr := r.client.transport(Target{local: true})
	if slices.Contains(r.own, origin(req.URL)) {
		tr.DialContext = nil
	} else {
		t, err := ParseTarget(req.URL.String())
		switch {
		case err != nil:
			return nil, err
		case t.local && !r.local:
			return nil, &refusedError{t.Host(), "this machine"}
		case req.URL.Scheme != "https" && !t.local:
			return nil, fmt.Errorf("%s is not asked without https", t.Host())
		}
		tr = r.client.transport(t)
	}
	res, err := tr.RoundTrip(req) // closes its connection with the body
	if err != nil {
		return nil, err
	}
	res.Body = &limited{res.Body, r.limit}
	return res, nil
}

// limited is a body that fails when it is longer than so many bytes.
type limited struct {
	io.ReadCloser
	left int64
}

var errLong = errors.New("the answer is too long")

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errLong
	}
	return n, err
}
