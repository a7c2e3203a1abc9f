package connect

import (
	"context"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// MaxSubscribed is how many resources of a connection are subscribed to: each is a stream
	// of its own in the newest version.
	MaxSubscribed = 50
	// subscribeTime is how long a server may take to answer a subscription.
	subscribeTime = 2 * time.Second
)

// subscriptions are the resources whose changes a server tells. The lock of the server guards
// them.
type subscriptions struct {
	uris    []string        // the oldest first
	changed map[string]bool // since settling runs
	settle  *time.Timer     // nil: nothing has changed
	refused bool            // the server has not answered, or with an error; it is not asked again
}

// Subscribe has [Options.Updated] told when a resource has changed, where the server can do
// that. Beyond MaxSubscribed, the oldest is given up. What cannot be subscribed to is not.
func (s *Server) Subscribe(ctx context.Context, uri string) {
	caps := s.session.InitializeResult().Capabilities
	if s.options.Updated == nil || caps == nil || caps.Resources == nil || !caps.Resources.Subscribe || s.gone() {
		return
	}
	s.mu.Lock()
	if s.subscribed.refused || slices.Contains(s.subscribed.uris, uri) {
		s.mu.Unlock()
		return
	}
	s.subscribed.uris = append(s.subscribed.uris, uri)
	oldest := ""
	if len(s.subscribed.uris) > MaxSubscribed {
		oldest = s.subscribed.uris[0]
		s.subscribed.uris = s.subscribed.uris[1:]
	}
	s.mu.Unlock()
	own, cancel := context.WithTimeout(ctx, subscribeTime)
	defer cancel()
	none := struct{}{}
	_, err := await(own, s.fuse, func() (struct{}, error) {
		if oldest != "" {
			_ = s.session.Unsubscribe(own, &mcp.UnsubscribeParams{URI: oldest}) // what it still tells is not listened to
		}
		return none, s.session.Subscribe(own, &mcp.SubscribeParams{URI: uri})
	})
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil { // the caller has gone; the next one tries again
		s.subscribed.uris = slices.DeleteFunc(s.subscribed.uris, func(u string) bool { return u == uri })
		return
	}
	s.subscribed.refused = true
}

// updated notes that a resource has changed, and tells it with all that change within 500 ms.
func (s *Server) updated(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
	if r.Params == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := &s.subscribed
	if s.closed.Load() || !slices.Contains(sub.uris, r.Params.URI) {
		return
	}
	if sub.changed == nil {
		sub.changed = map[string]bool{}
	}
	sub.changed[r.Params.URI] = true
	if sub.settle == nil {
		sub.settle = time.AfterFunc(settle, s.careful(s.tellUpdated))
	}
}

// tellUpdated tells what has changed.
func (s *Server) tellUpdated() {
	s.mu.Lock()
	var list []string
	for _, uri := range s.subscribed.uris {
		if s.subscribed.changed[uri] {
			list = append(list, uri)
		}
	}
	s.subscribed.changed, s.subscribed.settle = nil, nil
	s.mu.Unlock()
	for _, uri := range list {
		s.options.Updated(uri)
	}
}
