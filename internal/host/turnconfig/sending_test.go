package turnconfig

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"scorel/internal/engine/model"
)

// posting is a model that is reached at an address, "" for none.
type posting struct {
	model.Model
	address string
	before  func()
}

func (p posting) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		p.before()
		if p.address == "" {
			return
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address, http.NoBody)
		if err != nil {
			yield(nil, err)
			return
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			yield(nil, err)
			return
		}
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
		if err != nil {
			yield(nil, err)
		}
	}
}

func TestServersAreBegunWhenTheRequestHasLeftAndNotBefore(t *testing.T) {
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	is := func() bool {
		select {
		case <-begun:
			return true
		default:
			return false
		}
	}
	at := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case <-begun: // the answer waits for it
		case <-time.After(2 * time.Minute):
			t.Error("nothing is begun while the answer is waited for")
		}
	}))
	defer at.Close()
	early := func() {
		if is() {
			t.Error("they are begun before the request")
		}
	}
	for _, err := range (&sending{posting{address: at.URL, before: early}, begin}).Stream(t.Context(), model.Request{}) {
		if err != nil {
			t.Error(err)
		}
	}
	begun = make(chan struct{})
	begin = sync.OnceFunc(func() { close(begun) })
	for range (&sending{posting{before: early}, begin}).Stream(t.Context(), model.Request{}) {
	}
	if !is() {
		t.Error("a model without HTTP begins nothing")
	}
}
