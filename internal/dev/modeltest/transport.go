package modeltest

import (
	"bytes"
	"io"
	"net/http"
)

// Transport returns a client that reaches h without a network. The whole answer is
// there before it is read, so it does for judging requests, not for timing; and a
// connection cannot break.
func Transport(h http.Handler) *http.Client { return &http.Client{Transport: direct{h}} }

type direct struct{ h http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	d.h.ServeHTTP(w, r)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: -1, Request: r,
	}, nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) { w.status = status }

func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }
