package httpx

import (
	"context"
	"encoding/json"
	"net/http"
)

// Exchange looks into what an adapter sends and gets. Either function may be nil. They
// may be called by several goroutines at once.
type Exchange struct {
	// Before returns the payload to send in the place of one, which is a JSON object. An
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
