package serve

import "github.com/coder/websocket"

// byToken notes a connection that came in with the token; forget takes it off again.
func (s *Server) byToken(c *socket) (forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokenClients == nil {
		s.tokenClients = map[*socket]struct{}{}
	}
	s.tokenClients[c] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.tokenClients, c)
	}
}

// DropTokenClients ends the connections that came in with the token, and says how
// many: another token counts now.
func (s *Server) DropTokenClients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.tokenClients {
		c.end(websocket.StatusPolicyViolation, "the token has changed")
	}
	return len(s.tokenClients)
}
