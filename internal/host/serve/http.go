package serve

import (
	"encoding/json"
	"net/http"

	"scorel/protocol"
)

// WebSocketPath is where WebSocket connections begin.
const WebSocketPath = "/v1/ws"

// handler answers what comes over a listener.
func (s *Server) handler(l *listener) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		h.Set("Referrer-Policy", "no-referrer")
		if why := s.admitted(l, r); why != nil {
			s.turnAwayHTTP(w, r, l, why)
			return
		}
		switch r.URL.Path {
		case WebSocketPath:
			s.webSocket(l, w, r)
			return
		case "/healthz":
			h.Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = w.Write([]byte("ok\n"))
			return
		}
		writeError(w, http.StatusNotFound, protocol.Errorf(protocol.CodeInvalidRequest, "There is nothing at this path; docs/http.md lists what there is."))
	})
}

// turnAwayHTTP answers a request that was refused, and ends its connection.
func (s *Server) turnAwayHTTP(w http.ResponseWriter, r *http.Request, l *listener, why *refusal) {
	s.refused(why, peerName(l.kind, streamOf(r.Context()).Conn))
	w.Header().Set("Connection", "close")
	status := statusOf(why.err.Code)
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeError(w, status, why.err)
}

// writeError answers with an error as JSON.
func writeError(w http.ResponseWriter, status int, err *protocol.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(err) // the client has gone
}

// statusOf gives the HTTP status of an error.
func statusOf(c protocol.Code) int {
	switch c {
	case protocol.CodeAuthFailed:
		return http.StatusUnauthorized
	case protocol.CodeForbidden, protocol.CodePermissionDenied, protocol.CodeProjectUntrusted:
		return http.StatusForbidden
	case protocol.CodeSessionNotFound, protocol.CodeProjectNotFound, protocol.CodeInvalidEventID:
		return http.StatusNotFound
	case protocol.CodeConflict, protocol.CodeRuntimeBusy, protocol.CodeSessionLocked:
		return http.StatusConflict
	case protocol.CodePayloadTooLarge:
		return http.StatusRequestEntityTooLarge
	case protocol.CodeRateLimited:
		return http.StatusTooManyRequests
	case protocol.CodeInvalidRequest, protocol.CodeUnsupportedProtocol:
		return http.StatusBadRequest
	case protocol.CodeProviderError:
		return http.StatusBadGateway
	case protocol.CodeStorageError:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
