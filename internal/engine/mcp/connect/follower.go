package connect

import (
	"context"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// follower is told of a call until that is over.
type follower struct {
	mu   sync.Mutex
	tell func(Progress) // nil when it is over
}

// follow has tell called with what comes of a call, and returns the token to ask with.
func (s *Server) follow(tell func(Progress)) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.made++
	token := "call-" + strconv.Itoa(s.calls.made)
	s.calls.progress[token] = &follower{tell: tell}
	return token
}

// forget ends follow: nobody is told any more when it has returned.
func (s *Server) forget(token string) {
	s.mu.Lock()
	f := s.calls.progress[token]
	delete(s.calls.progress, token)
	s.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tell = nil
}

func (s *Server) progressed(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	s.mu.Lock()
	f := s.calls.progress[token]
	s.mu.Unlock()
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tell != nil {
		f.tell(Progress{Done: r.Params.Progress, Total: r.Params.Total, Message: oneLine(r.Params.Message)})
	}
}
