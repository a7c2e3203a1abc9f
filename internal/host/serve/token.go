package serve

import "scorel/protocol"

// tokenClient is a connection, or a request over HTTP, that comes in with the token.
type tokenClient struct{ end func() }

// byToken notes one, which end ends; forget takes it off again. It is called before
// the token is looked at for the last time: then a change is either seen there, or
// ends what was let in.
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

// DropTokenClients ends the connections and the requests over HTTP that came in with
// the token, and says how many: another token counts now. Nothing that comes on them
// is carried out any more.
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

// errToken tells a client why it is cut off.
func errToken() *protocol.Error {
	return protocol.Errorf(protocol.CodeAuthFailed, "The host's token has been changed; connect again with the new one.")
}
