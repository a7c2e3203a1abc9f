package engine

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/dop251/goja"
)

//go:embed fetch.js
var fetchSource []byte

var fetchProgram = program("fetch", &fetchSource)

// Bounds of a request by fetch.
const (
	maxFetchBody  = 64 << 20 // bytes sent, and bytes received
	maxRedirects  = 20
	fetchHeaders  = 2 * time.Minute // until an answer begins
	fetchIdle     = 2 * time.Minute // between two pieces of it
	maxFetchPiece = 64 << 10
)

// fetch is n.fetch(method, url, [[name, value]…], body or null, redirect): an object with
// response, a promise, and cancel().
func (e *Engine) fetch(c goja.FunctionCall) goja.Value {
	vm := e.VM
	var body io.Reader
	if v := c.Argument(3); !goja.IsNull(v) && !goja.IsUndefined(v) {
		b := bytes.Clone(e.Bytes(v))
		if len(b) > maxFetchBody {
			e.Throw(errors.New("the body is larger than 64 MiB"))
		}
		body = bytes.NewReader(b)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	req, err := http.NewRequestWithContext(ctx, c.Argument(0).String(), c.Argument(1).String(), body)
	if err != nil {
		cancel(nil)
		e.Throw(errors.New("the address or the method is not valid"))
	}
	if s := req.URL.Scheme; s != "http" && s != "https" {
		cancel(nil)
		e.Throw(fmt.Errorf("fetch knows http and https, not %q", s))
	}
	var headers [][]string
	if err := vm.ExportTo(c.Argument(2), &headers); err != nil {
		cancel(nil)
		e.Throw(err)
	}
	for _, h := range headers {
		if strings.EqualFold(h[0], "host") {
			req.Host = h[1]
			continue
		}
		req.Header.Add(h[0], h[1])
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "scorel-extension")
	}
	redirect := c.Argument(4).String()
	client := *e.cfg.HTTP
	redirected := false
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch {
		case redirect == "manual":
			return http.ErrUseLastResponse
		case redirect == "error":
			return errors.New("the answer is a redirect")
		case len(via) > maxRedirects:
			return fmt.Errorf("there are more than %d redirects", maxRedirects)
		case r.URL.Scheme != "http" && r.URL.Scheme != "https":
			return fmt.Errorf("it redirects to %q", r.URL.Scheme)
		}
		redirected = true
		return nil
	}
	forget := e.OnClose(func() { cancel(ErrClosed) })
	out := vm.NewObject()
	_ = out.Set("cancel", func(goja.FunctionCall) goja.Value {
		cancel(context.Canceled)
		return goja.Undefined()
	})
	_ = out.Set("response", e.Async(func(settle func(func() (any, error))) {
		go func() { // ends with the answer, its limit or cancel
			limit := time.AfterFunc(fetchHeaders, func() { cancel(errors.New("no answer came for 2 minutes")) })
			resp, err := client.Do(req)
			limit.Stop()
			settle(func() (any, error) {
				if err != nil {
					forget()
					return nil, fetchError(ctx, err)
				}
				return e.response(ctx, resp, redirected, func() { cancel(nil); forget() }), nil
			})
		}()
	}))
	return out
}

// errUnread is why an answer is given up that nobody reads.
var errUnread = errors.New("nobody has read it for 2 minutes")

// fetchError says why without the address, which may carry a secret.
func fetchError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return fmt.Errorf("fetch failed: %w", cause)
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	return fmt.Errorf("fetch failed: %w", err)
}

// response is what fetch.js makes a Response of.
func (e *Engine) response(ctx context.Context, resp *http.Response, redirected bool, end func()) goja.Value {
	vm := e.VM
	o := vm.NewObject()
	_ = o.Set("status", resp.StatusCode)
	_ = o.Set("statusText", strings.TrimSpace(strings.TrimPrefix(resp.Status, fmt.Sprint(resp.StatusCode))))
	_ = o.Set("url", resp.Request.URL.String())
	_ = o.Set("redirected", redirected)
	var pairs []any
	for name, values := range resp.Header {
		for _, v := range values {
			pairs = append(pairs, vm.NewArray(name, v))
		}
	}
	_ = o.Set("headers", vm.NewArray(pairs...))
	total := 0
	reading, done := false, false
	var left error // why the answer was given up
	closing := func() {
		done = true
		end()
		go resp.Body.Close() // ends at once: its context has
	}
	// Many programs look at the status alone, and each answer that is not read to its end holds a
	// connection.
	unread := time.AfterFunc(fetchIdle, func() {
		e.Post(func() {
			if !reading && !done {
				left = errUnread
				closing()
			}
		})
	})
	_ = o.Set("read", func(goja.FunctionCall) goja.Value {
		return e.Async(func(settle func(func() (any, error))) {
			reading = true
			unread.Stop()
			go func() { // ends with the piece, its limit or cancel
				buf := make([]byte, maxFetchPiece)
				limit := time.AfterFunc(fetchIdle, func() { resp.Body.Close() })
				n, err := resp.Body.Read(buf)
				for n == 0 && err == nil {
					n, err = resp.Body.Read(buf)
				}
				limit.Stop()
				settle(func() (any, error) {
					reading = false
					total += n
					switch {
					case left != nil:
						return nil, fmt.Errorf("fetch failed: %w", left)
					case total > maxFetchBody:
						err = errors.New("the answer is larger than 64 MiB")
					case n > 0 && (err == nil || errors.Is(err, io.EOF)):
						unread.Reset(fetchIdle)
						return e.Buffer(buf[:n:n]), nil
					case errors.Is(err, io.EOF):
						err = nil
					}
					if !done {
						done = true
						resp.Body.Close()
						end()
					}
					if err != nil {
						return nil, fetchError(ctx, err)
					}
					return goja.Null(), nil
				})
			}()
		})
	})
	_ = o.Set("cancel", func(goja.FunctionCall) goja.Value {
		if !done {
			unread.Stop()
			closing()
		}
		return goja.Undefined()
	})
	return o
}
