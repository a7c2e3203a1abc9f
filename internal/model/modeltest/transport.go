package modeltest

import (
	"net/http"
	"net/http/httptest"
)

// Transport gives a client that reaches h without a network. The whole answer is
// there before it is read, so it does for judging requests, not for timing.
func Transport(h http.Handler) *http.Client { return &http.Client{Transport: direct{h}} }

type direct struct{ h http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, r)
	res := w.Result()
	res.Request = r
	return res, nil
}
