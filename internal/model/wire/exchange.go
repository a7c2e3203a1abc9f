package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Exchange looks into what an adapter sends and gets. Either function may be nil. They
// may be called by several goroutines at once.
type Exchange struct {
	// Before gives the payload to send in the place of one, which is a JSON object. An
	// error ends the request.
	Before func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error)
	// After is told the status and the headers of the answer.
	After func(ctx context.Context, status int, header http.Header)
}

// exchangeKey is the key of an Exchange in a context.
type exchangeKey struct{}

// WithExchange has the requests that are sent with a context looked into.
func WithExchange(ctx context.Context, x *Exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// before gives the request to send.
func (x *Exchange) before(req *http.Request) (*http.Request, error) {
	if x.Before == nil || req.Body == nil {
		return req, nil
	}
	payload, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if payload, err = x.Before(req.Context(), payload); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(payload)), int64(len(payload))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil }
	return req, nil
}
