package turnconfig

import (
	"context"
	"iter"
	"net/http/httptrace"
	"time"

	"scorel/internal/engine/model"
)

// beginAfter is how long after a request has left the connections to MCP servers are begun: their
// processes would compete with what is on its way. An answer takes longer.
const beginAfter = 20 * time.Millisecond

// sending is a model whose requests begin what was held back for them.
type sending struct {
	model.Model
	begin func()
}

// sending returns a model that begins the connections to servers once a request has left; m
// where the turn has no servers.
func (s *serverTools) sending(m model.Model) model.Model {
	if m == nil || s == nil || s.offer == nil || !s.offer.Any() {
		return m
	}
	return &sending{m, s.offer.Begin}
}

// Stream implements [model.Model].
func (s *sending) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { time.AfterFunc(beginAfter, s.begin) }})
	return func(yield func(model.Delta, error) bool) {
		defer s.begin() // it may be reached without HTTP
		for delta, err := range s.Model.Stream(ctx, req) {
			if !yield(delta, err) {
				return
			}
		}
	}
}
