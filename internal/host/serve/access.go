package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"scorel/protocol/handshake"
)

// admitted checks what every request must fulfil before it may prove itself. The
// order is fixed: the peer and the kind of line were checked at accept, then come
// the name under which the host is called (a page on a foreign name may have been
// made to point here), the page that calls, and where the token was put.
func (s *Server) admitted(l *listener, r *http.Request) *refusal {
	if l.kind != Unix && !l.known(r) {
		return l.refuseName(r)
	}
	for _, origin := range r.Header.Values("Origin") {
		if !l.allows(r, origin) {
			return refuse(reasonOrigin, "Pages of %s may not connect to this host; add the origin to the configuration to allow them.", shown(origin))
		}
	}
	if s.tokenInURL(r.URL) {
		return refuse(reasonURL, "A token must not be in a URL, where it is logged; put it in the Authorization header, and generate a new one.")
	}
	return nil
}

// refuseName is the refusal of a Host header that does not name this host. A name that
// would be right with another port is told apart: a proxy or a tunnel often has another.
func (l *listener) refuseName(r *http.Request) *refusal {
	name, port, ok := splitHost(r.Host, l.defaultPort(r))
	if ok && port != l.port && l.isOwn(r, name, l.port) {
		return refuse(reasonHost, "The Host header %s has another port than this host, which listens on %s; call it with that port, or add %s to host.names of the configuration.",
			shown(r.Host), l.port, shown(net.JoinHostPort(name, port)))
	}
	return refuse(reasonHost, "The host is not known by the name %s; call it by its own, with the port that it listens on, or add the name to host.names of the configuration.", shown(r.Host))
}

// known reports whether the Host header names this host.
func (l *listener) known(r *http.Request) bool {
	name, port, ok := splitHost(r.Host, l.defaultPort(r))
	return ok && l.isOwn(r, name, port)
}

// isOwn reports whether a name and port are this host's.
func (l *listener) isOwn(r *http.Request, name, port string) bool {
	for _, n := range l.s.cfg.Names {
		if own, p, ok := splitHost(n, l.port); ok && own == name && p == port {
			return true
		}
	}
	if port != l.port {
		return false
	}
	if ip := net.ParseIP(name); ip != nil {
		// A number is the one that was dialled: who dialled another of this machine
		// reached a stranger, who passes on what is said to him.
		if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && local.IP.Equal(ip) {
			return true
		}
	} else if l.kind == Loopback && name == "localhost" || l.kind == TLS && name == l.hostname {
		return true
	}
	for _, leaf := range l.leaves {
		if leaf.VerifyHostname(bracketed(name)) == nil {
			return true
		}
	}
	return false
}

// allows reports whether a page of an origin may connect: one of the host itself, or a
// configured one.
func (l *listener) allows(r *http.Request, origin string) bool {
	o, ok := parseOrigin(origin)
	if !ok {
		return false
	}
	for _, allowed := range l.s.cfg.Origins {
		if a, ok := parseOrigin(allowed); ok && a == o {
			return true
		}
	}
	if l.kind == Unix {
		return false // no page is served there
	}
	return (o.scheme == "https") == l.secured(r) && l.isOwn(r, o.name, o.port)
}

// secured reports whether the client speaks TLS: with this host, or with a proxy of this
// machine, which says so. Whoever says it wrongly has another address than the client has
// in its proof, and gets nowhere.
func (l *listener) secured(r *http.Request) bool {
	return l.kind == TLS || l.kind == Loopback && r.Header.Get("X-Forwarded-Proto") == "https"
}

func (l *listener) defaultPort(r *http.Request) string {
	if l.secured(r) {
		return "443"
	}
	return "80"
}

// dialled returns the address of the transcript: what the client put into the Host
// header, in lower case, with its port, marked where it was dialled with TLS; or the
// path of the socket.
func (l *listener) dialled(r *http.Request) string {
	if l.kind == Unix {
		return l.address
	}
	name, port, _ := splitHost(r.Host, l.defaultPort(r))
	if l.secured(r) {
		return handshake.TLS(net.JoinHostPort(name, port))
	}
	return net.JoinHostPort(name, port)
}

// cameFrom returns where a client is, "" for this machine. A proxy of this machine brings
// clients of others, and is known by the name that they have dialled.
func (l *listener) cameFrom(r *http.Request) string {
	switch l.kind {
	case Unix:
		return ""
	case TLS:
		return addressOf(streamOf(r.Context()).RemoteAddr())
	}
	name, _, _ := splitHost(r.Host, l.defaultPort(r))
	if ip := net.ParseIP(name); name == "localhost" || ip.IsLoopback() {
		return ""
	}
	return name
}

// addressOf returns the number of a peer.
func addressOf(a net.Addr) string {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.IP.String()
	}
	return a.String()
}

// splitHost returns name (lower case, without brackets) and port of "name",
// "name:port", "[::1]" or "[::1]:port".
func splitHost(host, defaultPort string) (name, port string, ok bool) {
	host = strings.ToLower(host)
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		if port = defaultPort; strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
			name = host[1 : len(host)-1]
		} else if name = host; strings.Contains(host, ":") {
			return "", "", false
		}
	}
	if name == "" || port == "" || strings.ContainsAny(name, "/@ []%") {
		return "", "", false
	}
	return name, port, true
}

func bracketed(name string) string {
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}

type origin struct{ scheme, name, port string }

// parseOrigin reads an origin (RFC 6454, section 7): scheme, name and port, nothing
// else. "null" is none.
func parseOrigin(text string) (origin, bool) {
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Opaque != "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return origin{}, false
	}
	def := ""
	switch u.Scheme {
	case "http":
		def = "80"
	case "https":
		def = "443"
	default:
		return origin{}, false
	}
	name, port, ok := splitHost(u.Host, def)
	return origin{u.Scheme, name, port}, ok
}

// tokenInURL reports whether a URL holds the token, or a parameter that is called like
// one.
func (s *Server) tokenInURL(u *url.URL) bool {
	for name := range u.Query() {
		switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) {
		case "token", "accesstoken", "authtoken", "bearer", "authorization", "auth", "apikey":
			return true
		}
	}
	text := u.Path + "?" + u.RawQuery
	if plain, err := url.QueryUnescape(u.RawQuery); err == nil {
		text += " " + plain
	}
	want := sha256.Sum256([]byte(s.cfg.Token()))
	found := false
	for run := range tokenRuns(text) {
		if len(run) == tokenLength { // compared by hash: the time tells nothing of the token
			got := sha256.Sum256([]byte(run))
			found = subtle.ConstantTimeCompare(got[:], want[:]) == 1 || found
		}
	}
	return found
}

// bearer checks that a request carries the token as it should, and returns the token
// that it was compared with.
func (s *Server) bearer(r *http.Request) (token string, why *refusal) {
	want := s.cfg.Token()
	values := r.Header.Values("Authorization")
	if len(values) == 0 || want == "" {
		return "", refuse(reasonBearer, "The request has no token; send the header that is in ~/.scorel/host.header.")
	}
	scheme, said, _ := strings.Cut(values[0], " ")
	got, expected := sha256.Sum256([]byte(strings.TrimSpace(said))), sha256.Sum256([]byte(want))
	if len(values) != 1 || !strings.EqualFold(scheme, bearerScheme) || subtle.ConstantTimeCompare(got[:], expected[:]) != 1 {
		return "", refuse(reasonBearer, "The token is not the host's; send the header that is in ~/.scorel/host.header.")
	}
	return want, nil
}

// bearerScheme is the scheme of an Authorization header with a token (RFC 6750).
const bearerScheme = "Bearer"

// saysBearer reports whether a request has an Authorization header with a token, right
// or wrong. One of another scheme is for a proxy on the way.
func saysBearer(r *http.Request) bool {
	return slices.ContainsFunc(r.Header.Values("Authorization"), func(v string) bool {
		scheme, _, _ := strings.Cut(v, " ")
		return strings.EqualFold(scheme, bearerScheme)
	})
}
