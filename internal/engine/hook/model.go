package hook

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// Model returns a model whose requests the chain sees ([Subscriber.BeforeRequest]); m
// itself when nobody wants to, or for nil. An error of a request that was changed names
// who changed it.
func Model(m model.Model, c *Chain) model.Model {
	if m == nil || !c.AsksRequests() {
		return m
	}
	return &seen{m, c}
}

type seen struct {
	model.Model
	chain *Chain
}

// Stream implements [model.Model].
func (s *seen) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		var mu sync.Mutex
		var changed []string
		ctx := httpx.WithExchange(ctx, &httpx.Exchange{
			Before: func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error) {
				payload, by, err := s.chain.BeforeRequest(ctx, payload)
				mu.Lock()
				defer mu.Unlock()
				changed = by
				return payload, err
			},
			After: func(ctx context.Context, status int, header http.Header) {
				s.chain.AfterResponse(ctx, status, plain(header))
			}})
		for delta, err := range s.Model.Stream(ctx, req) {
			mu.Lock()
			by := changed
			mu.Unlock()
			if err != nil && len(by) > 0 {
				err = blame(err, by)
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}

// blame names in an error who changed the request.
func blame(err error, by []string) error {
	var me *model.Error
	if !errors.As(err, &me) {
		return err
	}
	named := *me
	named.Message = "The request was changed by " + strings.Join(by, " and ") + ". " + me.Message
	return &named
}

// plain returns headers with one value each, by lower-case names. Cookies are left out.
func plain(header http.Header) map[string]string {
	out := make(map[string]string, len(header))
	for name, values := range header {
		if name != "Set-Cookie" {
			out[strings.ToLower(name)] = strings.Join(values, ", ")
		}
	}
	return out
}
