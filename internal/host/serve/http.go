package serve

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"

	"scorel/internal/host/serve/metrics"
	"scorel/protocol"
)

// WebSocketPath is where WebSocket connections begin.
const WebSocketPath = "/v1/ws"

// handler answers what comes over a listener.
func (s *Server) handler(l *listener) http.Handler {
	rows := table()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.begin() {
			w.Header().Set("Connection", "close")
			writeError(w, http.StatusServiceUnavailable, errStopping())
			return
		}
		defer s.end()
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
			defer l.unproven.serve(streamOf(r.Context()), s.times.proof)()
			h.Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = w.Write([]byte("ok\n"))
			return
		}
		if !saysBearer(r) && s.page(w, r, l) {
			return
		}
		st := streamOf(r.Context())
		defer s.byToken(func() { _ = st.Close() })()
		if _, why := s.bearer(r); why != nil {
			s.turnAwayHTTP(w, r, l, why)
			return
		}
		l.unproven.remove(st)
		s.route(w, r, rows)
	})
}

// route carries out a request of somebody who has the token.
func (s *Server) route(w http.ResponseWriter, r *http.Request, rows []row) {
	row, values, methods := find(rows, r.Method, r.URL.Path)
	x := &exchange{s: s, w: w, r: r, values: values}
	switch {
	case row == nil && len(methods) > 0:
		w.Header().Set("Allow", strings.Join(methods, ", "))
		writeError(w, http.StatusMethodNotAllowed, invalid("The method %s is not for this path; it takes %s.", shown(r.Method), strings.Join(methods, ", ")))
	case row == nil:
		writeError(w, http.StatusNotFound, invalid("There is nothing at this path; docs/http.md lists what there is."))
	case row.handle != nil:
		row.handle(s, x)
	default:
		s.request(x, row)
	}
}

// writeMetrics answers GET /metrics.
func (s *Server) writeMetrics(x *exchange) {
	var h metrics.Host
	if conn, err := s.scripts.get(x.r.Context()); err == nil {
		if reply, err := conn.Call(x.r.Context(), s.fresh("", &protocol.GetStatus{})); err == nil {
			if st, ok := reply.Data.(*protocol.Status); ok {
				h = metrics.Host{Known: true, Sessions: len(st.Sessions)}
				for _, o := range st.Sessions {
					if o.Running {
						h.Turns++
					}
				}
			}
		}
		s.scripts.put()
	}
	x.w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	out := bufio.NewWriter(x.w)
	if err := s.metrics.Write(out, h); err == nil {
		_ = out.Flush() // the client has gone
	}
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

// statusOf returns the HTTP status of an error.
func statusOf(c protocol.Code) int {
	switch c {
	case protocol.CodeAuthFailed:
		return http.StatusUnauthorized
	case protocol.CodeForbidden, protocol.CodePermissionDenied, protocol.CodeProjectUntrusted:
		return http.StatusForbidden
	case protocol.CodeSessionNotFound, protocol.CodeProjectNotFound, protocol.CodeNotFound, protocol.CodeInvalidEventID:
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
