package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"scorel/protocol"
)

// reason names why somebody was not let in, in metrics and reports.
type reason string

// The reasons.
const (
	reasonPeer         reason = "peer_uid"
	reasonPlain        reason = "plain_tcp"
	reasonFull         reason = "connections"
	reasonDropped      reason = "unproven_dropped"
	reasonProofTimeout reason = "proof_timeout"
	reasonHost         reason = "host_header"
	reasonOrigin       reason = "origin"
	reasonURL          reason = "token_in_url"
	reasonBearer       reason = "bearer"
	reasonMessage      reason = "handshake_message"
	reasonUTF8         reason = "handshake_utf8"
	reasonVersion      reason = "protocol_version"
	reasonProof        reason = "proof"
	reasonEntry        reason = "entry"
	reasonList         reason = "entries"
	reasonPairing      reason = "pairing"
	reasonTooLarge     reason = "message_size"
)

// refusal says in one sentence why somebody was not let in. It holds no secret, and
// nothing of what the other side sent but what passed through [shown].
type refusal struct {
	reason reason
	err    *protocol.Error
}

func (r *refusal) Error() string { return r.err.Message }

// refuse makes a refusal.
func refuse(why reason, format string, args ...any) *refusal {
	code := protocol.CodeForbidden
	switch why {
	case reasonBearer, reasonProof, reasonEntry, reasonPairing, reasonProofTimeout:
		code = protocol.CodeAuthFailed
	case reasonURL, reasonMessage, reasonUTF8:
		code = protocol.CodeInvalidRequest
	case reasonList:
		code = protocol.CodeStorageError
	case reasonVersion:
		code = protocol.CodeUnsupportedProtocol
	case reasonFull, reasonDropped:
		code = protocol.CodeRateLimited
	case reasonTooLarge:
		code = protocol.CodePayloadTooLarge
	}
	return &refusal{why, protocol.Errorf(code, format, args...)}
}

// refused counts and reports a refusal.
func (s *Server) refused(r *refusal, peer string) {
	s.metrics.Refused(string(r.reason))
	s.reporter.report(r.reason, "refused "+peer+": "+r.err.Message)
}

// Bounds of those that are refused at accept and told why.
const (
	lingerTime  = 250 * time.Millisecond // that a request may take to come
	lingerBytes = 64 << 10               // that are read of it
	maxLinger   = 16                     // at once, a listener; beyond, the connection is just closed
)

// turnAwayRaw refuses a connection on which nothing was read: its request is read, so
// that the sender is there to read the answer.
func (l *listener) turnAwayRaw(c net.Conn, r *refusal) {
	l.s.refused(r, peerName(l.kind, c))
	body, err := json.Marshal(r.err)
	if err != nil || l.kind == TLS || !l.s.begin() {
		_ = c.Close()
		return
	}
	if l.refusing.Add(1) > maxLinger {
		l.refusing.Add(-1)
		l.s.end()
		_ = c.Close()
		return
	}
	go func() { // ends with lingerTime
		defer l.s.end()
		defer l.s.cfg.Host.Rescue("refusing a connection")
		defer l.refusing.Add(-1)
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(lingerTime))
		if _, err := http.ReadRequest(bufio.NewReader(io.LimitReader(c, lingerBytes))); err != nil {
			return // an answer to nothing would only confuse
		}
		status := statusOf(r.err.Code)
		_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
			status, http.StatusText(status), len(body), body)
	}()
}

// peerName names who is at the other end, for a report.
func peerName(kind Kind, c net.Conn) string {
	if kind == Unix {
		if uid, err := peerUID(c); err == nil {
			return "uid " + strconv.FormatUint(uint64(uid), 10)
		}
		return "a local process"
	}
	return c.RemoteAddr().String()
}

// shown makes a header safe to be shown: short, on one line, and without anything of
// a token's form, which might have been put there by mistake.
func shown(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return strconv.Quote(hideTokens(s))
}

// tokenLength is how many characters a token has: 32 bytes in base64url.
const tokenLength = 43

// hideTokens replaces what may be a token, or the beginning of one.
func hideTokens(s string) string {
	var b strings.Builder
	for run := range tokenRuns(s) {
		if len(run) >= 32 && isTokenByte(run[0]) {
			run = "…"
		}
		b.WriteString(run)
	}
	return b.String()
}

// tokenRuns cuts a text into runs of bytes that a token may have, and the rest.
func tokenRuns(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			n, in := 1, isTokenByte(s[0])
			for n < len(s) && isTokenByte(s[n]) == in {
				n++
			}
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
}

// reportEvery is how often one reason is reported: a flood fills no log.
const reportEvery = 10 * time.Second

// reporter passes on one report a reason and [reportEvery], and counts the others.
type reporter struct {
	to  func(string)
	now func() time.Time

	mu   sync.Mutex // guards what follows; held while to is called, so that it is called by one at a time
	seen map[reason]*reported
}

type reported struct {
	at   time.Time
	more int
	last string
}

func newReporter(to func(string)) *reporter {
	if to == nil {
		to = func(string) {}
	}
	return &reporter{to: to, now: time.Now, seen: map[reason]*reported{}}
}

// report passes text on, or counts it.
func (r *reporter) report(why reason, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, now := r.seen[why], r.now()
	if e == nil {
		e = &reported{} // the reasons are a closed set
		r.seen[why] = e
	} else if now.Sub(e.at) < reportEvery {
		e.more++
		e.last = text
		return
	}
	e.at = now
	r.pass(e, text)
}

// pass passes text on with the number of those that were only counted. mu is held.
func (r *reporter) pass(e *reported, text string) {
	if e.more > 0 {
		text += fmt.Sprintf(" (and %d more like this before)", e.more)
	}
	e.more = 0
	r.to(text)
}

// flush passes on what was only counted.
func (r *reporter) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.seen {
		if e.more > 0 {
			e.more--
			r.pass(e, e.last)
		}
	}
}

// httpLog takes what the HTTP server complains of: failed TLS handshakes, mostly.
type httpLog struct{ r *reporter }

const reasonHTTP reason = "http"

func (l httpLog) Write(p []byte) (int, error) {
	l.r.report(reasonHTTP, hideTokens(strings.TrimSpace(string(p))))
	return len(p), nil
}
