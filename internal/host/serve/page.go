package serve

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// The page in the browser: files that need no token, because they hold nothing but code that
// everybody can read. What the page may then do, it proves over the WebSocket.

// document is the file of the page that names all others.
const document = "index.html"

// nonceSize is the size of the nonce of a document in bytes.
const nonceSize = 18

// pagePolicy is what the document may load and where it may connect: its own host alone, and
// no script but the host's files. Style elements need the nonce of the document; one of the
// libraries of the page makes one while a dialog is open. The policy "worker" of Trusted Types
// names the addresses of the service worker (web/src/app/notices/worker.ts).
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' blob: data:; " +
	"font-src 'self'; manifest-src 'self'; worker-src 'self'; connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; " +
	"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types worker"

// framePolicy is what the document may do that draws diagrams in a frame of the page
// (web/src/app/diagram): it runs the one script that stands in it, and loads nothing at all. It has
// an origin of its own, which is nobody's, however it is opened. Its styles are those of the
// drawings, which the library writes into elements and attributes; nothing but drawings is there,
// and the page only gets pictures of them.
const framePolicy = "default-src 'none'; script-src 'sha256-%s'; style-src 'unsafe-inline'; frame-ancestors 'self'; " +
	"base-uri 'none'; form-action 'none'; sandbox allow-scripts"

// scriptOfFrame returns the hash of the script of that document, which its name has, as a policy
// names it. It reports false for the names of other files.
func scriptOfFrame(name string) (string, bool) {
	name, begins := strings.CutPrefix(name, "assets/diagram-")
	name, ends := strings.CutSuffix(name, ".html")
	hash, err := base64.RawURLEncoding.DecodeString(name)
	if !begins || !ends || err != nil || len(hash) != sha256.Size {
		return "", false
	}
	return base64.StdEncoding.EncodeToString(hash), true
}

// types are the media types of the files of the page, by their ends: those of the system's
// list may differ from one device to the next.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".woff2": "font/woff2", ".webmanifest": "application/manifest+json", ".png": "image/png", ".txt": "text/plain; charset=utf-8",
}

// page answers a request for a file of the page, and reports whether there is one at its path.
func (s *Server) page(w http.ResponseWriter, r *http.Request, l *listener) bool {
	if s.cfg.Page == nil || l.kind == Unix || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = document
	}
	if !fs.ValidPath(name) {
		return false
	}
	f, packed, err := s.open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return false
	}
	defer l.unproven.serve(streamOf(r.Context()), s.times.proof)()
	h := w.Header()
	h.Set("Content-Type", typeOf(name))
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if name == document {
		s.document(w, r, f)
		return true
	}
	if script, ok := scriptOfFrame(name); ok {
		if !framedByPage(r) {
			writeError(w, http.StatusForbidden, invalid("This document draws diagrams in a frame of the page, and is opened by nothing else."))
			return true
		}
		h.Set("Content-Security-Policy", strings.Replace(framePolicy, "%s", script, 1))
		h.Set("X-Frame-Options", "SAMEORIGIN")
		h.Add("Vary", "Sec-Fetch-Dest, Sec-Fetch-Site")
	}
	if strings.HasPrefix(name, "assets/") { // their names change with their content
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	var body io.Reader = f
	if packed {
		h.Add("Vary", "Accept-Encoding")
		if takesGzip(r) {
			h.Set("Content-Encoding", "gzip")
			h.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
		} else if body, err = gzip.NewReader(f); err != nil {
			return false
		}
	} else {
		h.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	}
	if r.Method == http.MethodGet {
		_, _ = io.Copy(w, body)                   // the client has gone
		_ = http.NewResponseController(w).Flush() // what is buffered counts as being sent, too
	}
	return true
}

// framedByPage reports whether a document is asked for by a frame in a page of the same origin.
// Browsers say nothing of it where neither TLS nor this machine makes the origin one to trust;
// there the policy alone keeps the document in its frame.
func framedByPage(r *http.Request) bool {
	dest, site := r.Header.Get("Sec-Fetch-Dest"), r.Header.Get("Sec-Fetch-Site")
	return (dest == "" || dest == "iframe") && (site == "" || site == "same-origin")
}

// open returns a file of the page as it is, or packed.
func (s *Server) open(name string) (f fs.File, packed bool, err error) {
	if f, err = s.cfg.Page.Open(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return f, false, err
	}
	f, err = s.cfg.Page.Open(name + ".gz")
	return f, true, err
}

// document answers with the document: it has a nonce of its own each time, and says which
// version of the host it is from, so that a page that stayed open can tell that it is older.
func (s *Server) document(w http.ResponseWriter, r *http.Request, f io.Reader) {
	text, err := io.ReadAll(f)
	if err != nil {
		writeError(w, http.StatusInternalServerError, invalid("The page cannot be read."))
		return
	}
	random := make([]byte, nonceSize)
	if _, err := io.ReadFull(s.cfg.Rand, random); err != nil {
		writeError(w, http.StatusInternalServerError, invalid("There is no random number for the page."))
		return
	}
	nonce := base64.StdEncoding.EncodeToString(random)
	h := w.Header()
	h.Set("Content-Security-Policy", strings.Replace(pagePolicy, "%s", nonce, 1))
	h.Set("X-Frame-Options", "DENY")
	h.Set("Permissions-Policy", "camera=(self), microphone=(self), geolocation=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodGet {
		_, _ = strings.NewReplacer("{{nonce}}", nonce, "{{version}}", html.EscapeString(s.cfg.Version)).WriteString(w, string(text)) // the client has gone
	}
}

func typeOf(name string) string {
	if t, ok := types[path.Ext(name)]; ok {
		return t
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

// takesGzip reports whether the answer may be packed (RFC 9110, section 12.5.3): gzip or * is
// named, with a weight that is not 0.
func takesGzip(r *http.Request) bool {
	for _, value := range r.Header.Values("Accept-Encoding") {
		for _, part := range strings.Split(value, ",") {
			name, params, _ := strings.Cut(part, ";")
			if name = strings.ToLower(strings.TrimSpace(name)); name != "gzip" && name != "*" {
				continue
			}
			weight := strings.ReplaceAll(strings.ToLower(params), " ", "")
			if q, ok := strings.CutPrefix(weight, "q="); ok && strings.Trim(q, "0.") == "" {
				return false
			}
			return true
		}
	}
	return false
}
