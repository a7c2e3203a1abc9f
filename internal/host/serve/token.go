package serve

// tokenClient is a connection, or a stream of events, that came in with the token.
type tokenClient struct{ end func() }

// byToken notes one, which end ends; forget takes it off again.
func (s *Server) byToken(end func()) (forget func()) {
	c := &tokenClient{end}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokenClients == nil {
		s.tokenClients = map[*tokenClient]struct{}{}
	}
	s.tokenClients[c] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.tokenClients, c)
	}
}

// DropTokenClients ends the connections and the streams of events that came in with
// the token, and says how many: another token counts now.
func (s *Server) DropTokenClients() int {
	s.mu.Lock()
	clients := make([]*tokenClient, 0, len(s.tokenClients))
	for c := range s.tokenClients {
		clients = append(clients, c)
	}
	s.mu.Unlock()
	for _, c := range clients {
		c.end()
	}
	return len(clients)
}
