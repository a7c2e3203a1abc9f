package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"io/fs"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"scorel/web"
)

// sampleFrame is a document that draws diagrams; its name has - and _ where base64 has + and /.
const sampleFrame = "assets/diagram-abc_efghijklmnopqrstuvwxyz0123456789ABCD-FE.html"

// samplePage is a page of few files.
func samplePage(t *testing.T) fs.FS {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, "let it = 1"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		"index.html":            {Data: []byte(`<meta content="{{nonce}}"><meta content="{{version}}">`)},
		"assets/a-1.js.gz":      {Data: packed.Bytes()},
		"assets/f-1.woff2":      {Data: []byte("font")},
		"manifest.webmanifest":  {Data: []byte("{}")},
		sampleFrame:             {Data: []byte("<script>draw()</script>")},
		"../outside":            {Data: []byte("secret")},
		"folder/inside/file.js": {Data: []byte("1")},
	}
}

// ask asks for a path of a host, without unpacking what comes, and returns the answer and its body.
func ask(t *testing.T, method, url string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestThePageIsServedToEverybodyWhoMayConnect(t *testing.T) {
	w := newWorld(t, setting{config: func(c *Config) { c.Page, c.Version = samplePage(t), `1.2"<3` }})
	addr := w.loopback()
	for path, want := range map[string]struct {
		status        int
		kind, caching string
		policy        string
	}{
		"/":                       {200, "text/html; charset=utf-8", "no-store", `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[A-Za-z0-9+/]{24}';.* frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types worker$`},
		"/index.html":             {200, "text/html; charset=utf-8", "no-store", "nonce"},
		"/assets/a-1.js":          {200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "^default-src 'none'; sandbox$"},
		"/assets/f-1.woff2":       {200, "font/woff2", "public, max-age=31536000, immutable", "^default-src 'none'; sandbox$"},
		"/manifest.webmanifest":   {200, "application/manifest+json", "no-cache", "^default-src 'none'; sandbox$"},
		"/assets":                 {401, "application/json", "no-store", "sandbox"},
		"/folder/inside":          {401, "application/json", "no-store", "sandbox"},
		"/nothing.js":             {401, "application/json", "no-store", "sandbox"},
		"/../outside":             {401, "application/json", "no-store", "sandbox"},
		"/assets/../../outside":   {401, "application/json", "no-store", "sandbox"},
		"/assets/%2e%2e/outside":  {401, "application/json", "no-store", "sandbox"},
		"//index.html":            {401, "application/json", "no-store", "sandbox"},
		"/v1/sessions":            {401, "application/json", "no-store", "sandbox"},
		"/assets/a-1.js%00.woff2": {401, "application/json", "no-store", "sandbox"},
	} {
		resp, body := ask(t, "GET", "http://"+addr+path)
		h := resp.Header
		if resp.StatusCode != want.status || h.Get("Content-Type") != want.kind || h.Get("Cache-Control") != want.caching {
			t.Errorf("%s: %s, %s, %s: %.100s", path, resp.Status, h.Get("Content-Type"), h.Get("Cache-Control"), body)
		}
		if policy := h.Get("Content-Security-Policy"); !regexp.MustCompile(want.policy).MatchString(policy) || len(h.Values("Content-Security-Policy")) != 1 {
			t.Errorf("%s: the policy is %q", path, h.Values("Content-Security-Policy"))
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, h)
		}
		if strings.Contains(body, "secret") {
			t.Errorf("%s leads out of the page", path)
		}
	}
}

func TestTheDocumentHasANonceOfItsOwnAndTheVersionAsText(t *testing.T) {
	w := newWorld(t, setting{config: func(c *Config) { c.Page, c.Version = samplePage(t), `1.2"<3` }})
	addr := w.loopback()
	seen := map[string]bool{}
	for range 3 {
		resp, body := ask(t, "GET", "http://"+addr+"/")
		nonce := regexp.MustCompile(`'nonce-([^']+)'`).FindStringSubmatch(resp.Header.Get("Content-Security-Policy"))
		if nonce == nil || seen[nonce[1]] || body != `<meta content="`+nonce[1]+`"><meta content="1.2&#34;&lt;3">` {
			t.Fatalf("%q with the nonce %v", body, nonce)
		}
		seen[nonce[1]] = true
		if resp.Header.Get("X-Frame-Options") != "DENY" || resp.Header.Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("%v", resp.Header)
		}
	}
}

func TestTheFrameThatDrawsRunsItsOneScriptAndNoOtherPageHasIt(t *testing.T) {
	w := newWorld(t, setting{config: func(c *Config) { c.Page = samplePage(t) }})
	url := "http://" + w.loopback() + "/" + sampleFrame
	const policy = "default-src 'none'; script-src 'sha256-abc/efghijklmnopqrstuvwxyz0123456789ABCD+FE='; style-src 'unsafe-inline'; frame-ancestors 'self'; " +
		"base-uri 'none'; form-action 'none'; sandbox allow-scripts"
	for _, header := range [][]string{nil, {"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "same-origin"}} {
		resp, body := ask(t, "GET", url, header...)
		h := resp.Header
		if resp.StatusCode != 200 || body != "<script>draw()</script>" || h.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%v: %s %q", header, resp.Status, body)
		}
		if got := h.Values("Content-Security-Policy"); len(got) != 1 || got[0] != policy {
			t.Errorf("%v: the policy is %q", header, got)
		}
		if h.Get("X-Frame-Options") != "SAMEORIGIN" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%v: %v", header, h)
		}
	}
	for _, header := range [][]string{
		{"Sec-Fetch-Dest", "document", "Sec-Fetch-Site", "none"},
		{"Sec-Fetch-Dest", "document", "Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Dest", "object", "Sec-Fetch-Site", "same-origin"},
		{"Origin", "null"},
	} {
		if resp, body := ask(t, "GET", url, header...); resp.StatusCode != 403 || strings.Contains(body, "<script>") {
			t.Errorf("%v: %s %q", header, resp.Status, body)
		}
	}
}

// TestTheFrameThatDrawsIsNamedAfterItsScript: the policy of the document allows what its name says.
func TestTheFrameThatDrawsIsNamedAfterItsScript(t *testing.T) {
	frames, err := fs.Glob(web.Page(), "assets/diagram-*.html.gz")
	if err != nil || len(frames) != 1 {
		t.Fatalf("%v, %v", frames, err)
	}
	f, err := web.Page().Open(frames[0])
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllSubmatch(text, -1)
	if len(scripts) != 1 {
		t.Fatalf("the document has %d scripts", len(scripts))
	}
	sum := sha256.Sum256(scripts[0][1])
	if want := "assets/diagram-" + base64.RawURLEncoding.EncodeToString(sum[:]) + ".html.gz"; frames[0] != want {
		t.Errorf("%s has the script of %s", frames[0], want)
	}
}

func TestThePageIsSentPackedToWhoTakesIt(t *testing.T) {
	w := newWorld(t, setting{config: func(c *Config) { c.Page = samplePage(t) }})
	url := "http://" + w.loopback() + "/assets/a-1.js"
	for accept, packed := range map[string]bool{
		"": false, "gzip": true, "br, GZIP;q=0.5": true, "*": true, "gzip;q=0": false, "gzip; q=0.0": false, "br": false, "identity": false,
	} {
		resp, body := ask(t, "GET", url, "Accept-Encoding", accept)
		if got := resp.Header.Get("Content-Encoding") == "gzip"; got != packed || resp.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: packed is %v", accept, got)
		}
		if !packed && body != "let it = 1" {
			t.Errorf("Accept-Encoding %q: %q", accept, body)
		}
	}
	resp, body := ask(t, "HEAD", url, "Accept-Encoding", "gzip")
	if resp.StatusCode != 200 || body != "" {
		t.Errorf("HEAD: %s %q", resp.Status, body)
	}
	if resp, _ := ask(t, "POST", url); resp.StatusCode != 401 {
		t.Errorf("POST: %s", resp.Status)
	}
}

func TestAFileThatComesSlowlyComesWhole(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // more than the system buffers
	page := samplePage(t).(fstest.MapFS)
	page["assets/large.js"] = &fstest.MapFile{Data: large}
	w := newWorld(t, setting{times: func(t *times) { t.proof = 300 * time.Millisecond }, config: func(c *Config) { c.Page = page }})
	addr := w.loopback()
	for try := range 20 { // a busy machine may be too slow to ask in time
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, "GET /assets/large.js HTTP/1.1\r\nHost: "+addr+"\r\n\r\n"); err != nil {
			continue
		}
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			continue
		}
		time.Sleep(time.Second) // a line on which nothing gets through for longer than a proof may take
		body, err := io.ReadAll(resp.Body)
		if err != nil || !bytes.Equal(body, large) {
			t.Fatalf("%d of %d bytes have come: %v", len(body), len(large), err)
		}
		// The connection has its time for the next file, and no more than that.
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("then came %v", err)
		}
		if lines := w.reported(); try == 0 && lines != "" {
			t.Errorf("the host reported %q", lines)
		}
		return
	}
	t.Error("nobody was answered")
}

func TestAForeignNameOrPageGetsNoPage(t *testing.T) {
	w := newWorld(t, setting{config: func(c *Config) { c.Page = samplePage(t) }})
	url := "http://" + w.loopback() + "/"
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "rebound.example"
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 403 {
		t.Errorf("by another name: %s", resp.Status)
	}
	for _, origin := range []string{"https://evil.example", "null"} {
		if resp, _ := ask(t, "GET", url, "Origin", origin); resp.StatusCode != 403 {
			t.Errorf("from %s: %s", origin, resp.Status)
		}
	}
	unix, err := w.unixHTTP().Get("http://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Body.Close()
	if unix.StatusCode != 401 {
		t.Errorf("over the socket: %s", unix.Status)
	}
}

// TestTheBinaryHasAWholePage: every file that the document and the parts of the page name is
// there, and nothing in it is from elsewhere.
func TestTheBinaryHasAWholePage(t *testing.T) {
	page := web.Page()
	document, err := fs.ReadFile(page, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?:src|href)="\./([^"]+)"`).FindAllStringSubmatch(string(document), -1)
	if len(names) < 3 {
		t.Fatalf("the document names %v", names)
	}
	for _, n := range names {
		_, plain := fs.Stat(page, n[1])
		if _, packed := fs.Stat(page, n[1]+".gz"); plain != nil && packed != nil {
			t.Errorf("%s is missing", n[1])
		}
	}
	if !strings.Contains(string(document), "{{nonce}}") || !strings.Contains(string(document), "{{version}}") {
		t.Error("the document has no place for the nonce and the version")
	}
	if from := regexp.MustCompile(`(?:src|href)="(?:https?:)?//[^"]*"`).FindString(string(document)); from != "" {
		t.Errorf("the document loads %s", from)
	}
}
