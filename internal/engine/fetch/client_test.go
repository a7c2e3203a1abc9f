package fetch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// What ProxyFromEnvironment reads, it reads once: for all tests there is a
	// proxy in the environment, and none may use it.
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		os.Setenv(name, "http://127.0.0.1:9")
	}
	goleak.VerifyTestMain(m)
}

// internet is a real server with TLS for example.com, reached through the real
// guard: only names and connections are redirected below it.
type internet struct {
	t      *testing.T
	mux    *http.ServeMux
	client *Client

	mu     sync.Mutex
	names  map[string][][]string // the answers to lookups, one after the other; the last stays
	dialed []string
}

func newInternet(t *testing.T) *internet {
	t.Helper()
	in := &internet{t: t, mux: http.NewServeMux(), names: map[string][][]string{"example.com": {{"93.184.216.34"}}}}
	secure := httptest.NewUnstartedServer(in.mux)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(in.mux)
	t.Cleanup(plain.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	client, err := New(Config{Version: "9.9", roots: roots, network: network{
		lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			in.mu.Lock()
			defer in.mu.Unlock()
			answers := in.names[name]
			if len(answers) == 0 {
				return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
			}
			var out []netip.Addr
			for _, s := range answers[0] {
				out = append(out, netip.MustParseAddr(s))
			}
			if len(answers) > 1 {
				in.names[name] = answers[1:]
			}
			return out, nil
		},
		connect: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			in.mu.Lock()
			in.dialed = append(in.dialed, to.String())
			in.mu.Unlock()
			server := plain
			if to.Port() == 443 || to.Port() == 8443 {
				server = secure
			}
			var d net.Dialer
			return d.DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	in.client = client
	return in
}

func (in *internet) fetch(raw string) (*Page, error) {
	in.t.Helper()
	target, err := ParseTarget(raw)
	if err != nil {
		in.t.Fatalf("%s: %v", raw, err)
	}
	return in.client.Fetch(in.t.Context(), target)
}

// text fetches and shows a page.
func (in *internet) text(raw string) string {
	in.t.Helper()
	p, err := in.fetch(raw)
	if err != nil {
		in.t.Fatalf("%s: %v", raw, err)
	}
	_, text := p.Show(in.t.Context(), Markdown)
	return text
}

func (in *internet) fails(raw, want string) {
	in.t.Helper()
	p, err := in.fetch(raw)
	if err == nil || !strings.Contains(err.Error(), want) {
		in.t.Fatalf("%s: %+v, %v; want an error with %q", raw, p, err, want)
	}
	for _, secret := range []string{"sesame", "/path", "127.0.0.1:", "10.0.0.", "dial tcp"} {
		if strings.Contains(err.Error(), secret) {
			in.t.Errorf("%s: the error tells more than host and reason: %v", raw, err)
		}
	}
}

func (in *internet) dials() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return strings.Join(in.dialed, " ")
}

func answer(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

func TestAPageIsFetchedWithoutCookiesRefererOrProxyOfTheEnvironment(t *testing.T) {
	in := newInternet(t)
	var headers []http.Header
	in.mux.HandleFunc("/start", func(w http.ResponseWriter, r *http.Request) {
		headers = append(headers, r.Header)
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
		w.Header().Set("Location", "http://example.com/page?sesame#x")
		w.WriteHeader(http.StatusMovedPermanently)
	})
	in.mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
		headers = append(headers, r.Header)
		answer("text/html", "<title>T</title><h1>Hello</h1><a href=next>next</a>")(w, r)
	})
	p, err := in.fetch("http://example.com/start")
	if err != nil {
		t.Fatal(err)
	}
	title, text := p.Show(t.Context(), Markdown)
	if title != "T" || text != "# Hello\n\n[next](https://example.com/next)" || p.URL != "https://example.com/page?sesame" || p.Status != 200 {
		t.Errorf("%q %q %+v", title, text, p)
	}
	if in.dials() != "93.184.216.34:443 93.184.216.34:443" {
		t.Errorf("dialled %s; plain http is to become https", in.dials())
	}
	for _, h := range headers {
		if len(h["Cookie"])+len(h["Referer"])+len(h["Authorization"]) > 0 || h.Get("User-Agent") != "scorel/9.9" {
			t.Errorf("sent %v", h)
		}
	}
}

func TestANameThatChangesItsAddressIsNotDialled(t *testing.T) {
	in := newInternet(t)
	in.names["example.com"] = [][]string{{"93.184.216.34"}, {"10.0.0.7"}}
	in.mux.HandleFunc("/a", redirect("/b"))
	in.mux.HandleFunc("/b", answer("text/plain", "inside"))
	in.fails("https://example.com/a", "example.com is not fetched: it is in a private network")
	if in.dials() != "93.184.216.34:443" {
		t.Errorf("dialled %s", in.dials())
	}
}

func TestEveryAddressOfANameIsJudged(t *testing.T) {
	for _, bad := range []string{"127.0.0.1", "::1", "10.1.2.3", "169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a00:1::", "100.64.0.1", "0.0.0.0", "fe80::1"} {
		in := newInternet(t)
		in.mux.HandleFunc("/", answer("text/plain", "hello"))
		in.names["example.com"] = [][]string{{bad}}
		in.fails("https://example.com/path", "example.com is not fetched: it is ")
		if in.dials() != "" {
			t.Errorf("%s: dialled %s", bad, in.dials())
		}
		in.names["example.com"] = [][]string{{bad, "93.184.216.34"}}
		if got := in.text("https://example.com/"); got != "hello" || in.dials() != "93.184.216.34:443" {
			t.Errorf("%s: %q, dialled %s", bad, got, in.dials())
		}
	}
}

func TestRedirectsAreJudgedAndLeadToNoOtherHost(t *testing.T) {
	in := newInternet(t)
	in.names["other.example.com"] = [][]string{{"93.184.216.35"}}
	for path, to := range map[string]string{
		"/private": "http://10.0.0.1/", "/metadata": "http://169.254.169.254/latest/meta-data/", "/local": "http://localhost:3000/", "/loop4": "http://127.0.0.1:3000/",
		"/loop6": "http://[::1]:3000/", "/mapped": "http://[::ffff:127.0.0.1]:3000/", "/octal": "http://0177.0.0.1/", "/user": "https://example.com@other.example.com/",
		"/file": "file:///etc/passwd", "/bad": "http://[", "/round": "/round", "/down": "http://example.com:8443/",
		"/other": "https://other.example.com/x?y=1", "/port": "https://example.com:8443/", "/rel": "//other.example.com/z", "/www": "https://www.example.com/",
	} {
		in.mux.HandleFunc(path, redirect(to))
	}
	for path, want := range map[string]string{
		"/private": "redirects to where nothing is fetched: 10.0.0.1 is not fetched", "/metadata": "it is a link-local address",
		"/local": "localhost:3000 is this machine, and a page from outside does not lead there", "/loop4": "127.0.0.1:3000 is this machine",
		"/loop6": "[::1]:3000 is this machine", "/mapped": "127.0.0.1:3000 is this machine", "/octal": "ordinary form", "/user": "user name or a password",
		"/file": "only http and https", "/bad": "not a valid URL", "/round": "redirects more than 5 times",
	} {
		p, err := in.fetch("https://example.com" + path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", path, p, err, want)
		}
	}
	for path, to := range map[string]string{"/other": "https://other.example.com/x?y=1", "/port": "https://example.com:8443/", "/rel": "https://other.example.com/z",
		"/www": "https://www.example.com/"} {
		_, err := in.fetch("https://example.com" + path)
		var moved *RedirectError
		if !errors.As(err, &moved) || moved.To.String() != to || moved.From.Host() != "example.com" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := in.fetch("https://example.com:8443/down"); err == nil || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("a redirect without TLS: %v", err)
	}
	for _, d := range strings.Fields(in.dials()) {
		if d != "93.184.216.34:443" && d != "93.184.216.34:8443" {
			t.Errorf("dialled %s", d)
		}
	}
	if n := strings.Count(in.dials(), "34:443"); n != 10+6+4 {
		t.Errorf("%d requests, want one for each redirect and %d for the one in a circle", n, maxRedirects+1)
	}
}

func TestThisMachineIsReachedOnlyByItsNameAndPort(t *testing.T) {
	server := httptest.NewServer(answer("text/plain", "the dev server"))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	client, err := New(Config{}) // nothing is replaced
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "app.localhost"} {
		target, err := ParseTarget(fmt.Sprintf("http://%s:%d/x", host, port))
		if err != nil || !target.Exact() || target.Host() != fmt.Sprintf("%s:%d", host, port) {
			t.Fatal(target, err)
		}
		p, err := client.Fetch(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if _, text := p.Show(t.Context(), Markdown); text != "the dev server" {
			t.Errorf("%s: %q", host, text)
		}
	}
	// A target of this machine leads nowhere else, whatever made it so.
	wrong := Target{name: "10.0.0.1", addr: netip.MustParseAddr("10.0.0.1"), port: 80, local: true}
	if _, err := (network{connect: func(context.Context, netip.AddrPort) (net.Conn, error) {
		t.Error("a private address is dialled")
		return nil, errors.New("no")
	}}).dial(t.Context(), wrong); err == nil {
		t.Error("a private address is connected to")
	}
	// The same address under any other name stays closed.
	guard := machine()
	guard.lookup = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	target, err := ParseTarget(fmt.Sprintf("http://dev.example.com:%d/", port))
	if err != nil {
		t.Fatal(err)
	}
	client, err = New(Config{network: guard})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Fetch(t.Context(), target); err == nil || !strings.HasSuffix(err.Error(), "is not fetched: it is this machine") {
		t.Errorf("a name for this machine: %v", err)
	}
}

func TestAConfiguredProxyIsUsedForNamesThatWereJudged(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		answer("text/plain", "through the proxy")(w, r)
	}))
	defer proxy.Close()
	client, err := New(Config{Proxy: proxy.URL})
	if err != nil {
		t.Fatal(err)
	}
	target, err := ParseTarget("http://example.com:8080/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Fetch(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	secure, _ := ParseTarget("https://example.com/")
	// This proxy makes no tunnel.
	if _, err := client.Fetch(t.Context(), secure); err == nil || err.Error() != "the connection to example.com through the proxy of web.proxy failed" {
		t.Error(err)
	}
	server := httptest.NewServer(answer("text/plain", "direct"))
	defer server.Close()
	local, err := ParseTarget(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	p, err := client.Fetch(t.Context(), local)
	if err != nil {
		t.Fatal(err)
	}
	if _, text := p.Show(t.Context(), Text); text != "direct" {
		t.Errorf("this machine is asked through the proxy: %q", text)
	}
	if got := strings.Join(asked, ", "); got != "GET http://example.com:8080/x, CONNECT example.com:443" {
		t.Errorf("the proxy was asked %s", got)
	}
	if _, err := New(Config{Proxy: "ftp://x"}); err == nil {
		t.Error("a proxy that is none is taken")
	}
}

func TestAnswersAreBoundedAfterDecompression(t *testing.T) {
	in := newInternet(t)
	zeros := bytes.Repeat([]byte("a"), 1<<20)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 11 {
		_, _ = z.Write(zeros)
	}
	_ = z.Close()
	in.mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	sized := func(media string, n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			_, _ = w.Write(bytes.Repeat([]byte("a"), n))
		}
	}
	in.mux.HandleFunc("/most", sized("text/plain", maxBody))
	in.mux.HandleFunc("/more", sized("text/plain", maxBody+1))
	in.mux.HandleFunc("/picture", sized("image/png", maxImage))
	in.mux.HandleFunc("/pictures", sized("image/png", maxImage+1))
	in.mux.HandleFunc("/pdf", sized("application/pdf", maxBody))
	in.mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("a", 2*maxHeader))
	})
	if bomb.Len() > 100_000 {
		t.Fatalf("the bomb has %d bytes", bomb.Len())
	}
	in.fails("https://example.com/bomb", "more than 10 MiB")
	in.fails("https://example.com/more", "more than 10 MiB")
	in.fails("https://example.com/pictures", "more than 5 MiB")
	in.fails("https://example.com/headers", "the connection to example.com failed")
	if got := in.text("https://example.com/most"); len(got) != maxBody {
		t.Errorf("%d bytes", len(got))
	}
	for path, n := range map[string]int{"/picture": maxImage, "/pdf": maxBody} {
		if p, err := in.fetch("https://example.com" + path); err != nil || len(p.Data) != n {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestOnlyTypesThatCanBeShownAreTaken(t *testing.T) {
	in := newInternet(t)
	for media, want := range map[string]string{
		"application/zip": "sent application/zip, which cannot be shown", "application/octet-stream": "sent application/octet-stream", "video/mp4": "sent video/mp4",
		"image/bmp": "sent image/bmp", "a\u00e4b": "a type without a valid name",
		"text/html; charset=utf-8": "", "TEXT/Plain": "", "application/problem+json": "", "application/rss+xml": "", "text/markdown": "", "text/x; =broken": "",
	} {
		path := fmt.Sprintf("/%x", media)
		in.mux.HandleFunc(path, answer(media, "body"))
		if want == "" {
			if got := in.text("https://example.com" + path); got != "body" {
				t.Errorf("%s: %q", media, got)
			}
			continue
		}
		in.fails("https://example.com"+path, want)
	}
	in.mux.HandleFunc("/nul", answer("text/plain", "a\x00b"))
	in.fails("https://example.com/nul", "that is not text")
	in.mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		_, _ = io.WriteString(w, "<!doctype html><h1>x</h1>")
	})
	if got := in.text("https://example.com/none"); got != "# x" {
		t.Errorf("without a type: %q", got)
	}
	in.mux.HandleFunc("/br", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		answer("text/plain", "x")(w, r)
	})
	in.fails("https://example.com/br", "encoding that was not asked for")
}

func TestTextsAreDecoded(t *testing.T) {
	in := newInternet(t)
	for i, c := range []struct{ media, body, want string }{
		{"text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		{"text/plain; charset=shift_jis", "\x93\xfa\x96\x7b", "日本"},
		{"text/html", "<meta charset=windows-1251><p>\xcf\xf0\xe8", "При"},
		{"text/html; charset=utf-8", "<p>日本", "日本"},
		{"text/plain", "日本", "日本"},
		{"text/plain", strings.Repeat("a", 2000) + "日本", strings.Repeat("a", 2000) + "日本"},
		{"text/plain", "\ufeffbom", "bom"},
		{"text/plain", "\xff\xfeh\x00i\x00", "hi"},
		{"text/plain", "caf\xe9", "café"},
		{"text/plain; charset=utf-8", "caf\xe9", "caf\ufffd"},
		{"text/plain; charset=no-such", "日本", "日本"},
		{"application/json", "{\"a\":\"日\"}", "{\"a\":\"日\"}"},
	} {
		path := fmt.Sprintf("/%d", i)
		in.mux.HandleFunc(path, answer(c.media, c.body))
		if got := in.text("https://example.com" + path); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.media, c.body, got, c.want)
		}
	}
}

func TestErrorsNameHostAndReasonOnly(t *testing.T) {
	in := newInternet(t)
	in.names["wrong.test"] = [][]string{{"93.184.216.34"}}
	in.mux.HandleFunc("/path/hang-up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	in.fails("https://nowhere.test/path?token=sesame", "there is no host named nowhere.test")
	in.fails("https://wrong.test/path?token=sesame", "the certificate of wrong.test is for another host")
	in.fails("https://example.com/path/hang-up?token=sesame", "the connection to example.com failed")
	in.fails("https://example.com:8080/path?token=sesame", "example.com:8080 does not speak https there")
	in.client.roots = x509.NewCertPool()
	in.fails("https://example.com/path?token=sesame", "signed by nobody who is trusted")
}

func TestAnErrorStatusIsAPage(t *testing.T) {
	in := newInternet(t)
	in.mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "slow down")
	})
	in.mux.HandleFunc("/zip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		w.WriteHeader(http.StatusNotFound)
	})
	if p, err := in.fetch("https://example.com/zip"); err != nil || p.Status != 404 {
		t.Errorf("an error of a type that is not shown: %+v, %v", p, err)
	}
	p, err := in.fetch("https://example.com/busy")
	if err != nil || p.Status != 429 || p.RetryAfter != 7*time.Second {
		t.Fatalf("%+v, %v", p, err)
	}
}

func TestACancelledFetchEndsInTheBody(t *testing.T) {
	in := newInternet(t)
	begun := make(chan struct{})
	in.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "begin")
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the test's server
		<-begun
		cancel()
	}()
	target, _ := ParseTarget("https://example.com/")
	if _, err := in.client.Fetch(ctx, target); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled fetch: %v", err)
	}
} // TestMain finds a goroutine that stays

// TestTimeIsBounded plays servers that never finish, on a clock that runs free.
func TestTimeIsBounded(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"no answer": func(net.Conn) {},
		"slow headers": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n")
			for i := 0; ; i++ {
				time.Sleep(time.Second)
				if _, err := fmt.Fprintf(c, "X-%d: y\r\n", i); err != nil {
					return
				}
			}
		},
		"endless body": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
			for {
				time.Sleep(time.Second)
				if _, err := io.WriteString(c, "x"); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var servers sync.WaitGroup
				client, err := New(Config{network: network{connect: func(context.Context, netip.AddrPort) (net.Conn, error) {
					ours, theirs := net.Pipe()
					servers.Go(func() { // both end when the client closes its end
						defer theirs.Close()
						in := bufio.NewReader(theirs)
						if _, err := http.ReadRequest(in); err != nil {
							return // an answer before the request would be one to nothing
						}
						servers.Go(func() { serve(theirs) })
						_, _ = io.Copy(io.Discard, in)
					})
					return ours, nil
				}}})
				if err != nil {
					t.Fatal(err)
				}
				target, _ := ParseTarget("http://localhost:3000/")
				begin := time.Now()
				_, err = client.Fetch(t.Context(), target)
				if took := time.Since(begin); err == nil || !strings.Contains(err.Error(), "did not answer") || took > fetchTime {
					t.Errorf("after %v: %v", took, err)
				}
				servers.Wait()
			})
		})
	}
}

func TestTheCacheKeepsAFewPagesForAWhile(t *testing.T) {
	now := time.Unix(0, 0)
	c := &Cache{Now: func() time.Time { return now }}
	target := func(i int) Target {
		u, err := ParseTarget(fmt.Sprintf("https://example.com/%d", i))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	has := func(i int) bool { _, ok := c.Get(target(i), Markdown); return ok }
	for i := range cachePages + 1 {
		c.Put(target(i), Markdown, Shown{Text: "x"})
	}
	if has(0) || !has(1) || !has(cachePages) {
		t.Error("not the oldest page went")
	}
	if _, ok := c.Get(target(1), Raw); ok {
		t.Error("a page is given in another format")
	}
	now = now.Add(cacheTime + 1)
	if has(1) {
		t.Error("a page stays too long")
	}
	c.Put(target(1), Markdown, Shown{Text: strings.Repeat("x", cacheBytes+1)})
	if has(1) {
		t.Error("a page that is too large is kept")
	}
	c.Put(target(1), Markdown, Shown{Text: strings.Repeat("x", cacheBytes/2+1)})
	c.Put(target(2), Markdown, Shown{Text: strings.Repeat("x", cacheBytes/2+1)})
	c.Put(target(2), Markdown, Shown{Text: strings.Repeat("x", cacheBytes/2+1)})
	if has(1) || !has(2) || c.bytes > cacheBytes {
		t.Errorf("%d bytes are kept", c.bytes)
	}
}

// silent is a network in which everybody listens and nobody answers.
func silent() network {
	return network{
		lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		connect: func(context.Context, netip.AddrPort) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { // ends when the client closes its end
				defer theirs.Close()
				_, _ = io.Copy(io.Discard, theirs)
			}()
			return ours, nil
		},
	}
}
