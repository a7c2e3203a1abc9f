package node

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"scorel/internal/extension/js/bundle"
)

func TestHTTPRequestsAnswerAsNodeDoes(t *testing.T) {
	hang := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Set("X-Twice", "one")
		w.Header().Add("X-Twice", "two")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL, r.Header.Get("X-Mine"), r.Header.Get("Authorization"), body)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo", http.StatusFound) })
	mux.HandleFunc("/long", func(w http.ResponseWriter, r *http.Request) {
		for range 64 {
			_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
		}
	})
	mux.HandleFunc("/hang", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	defer close(hang)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), http = require("http"), https = require("https"), { once } = require("events"), { pipeline } = require("stream/promises"), { Writable } = require("stream");
const base = "`+s.URL+`";
const text = async (res) => { let all = ""; res.setEncoding("utf8"); for (let it = res[Symbol.asyncIterator](), s; !(s = await it.next()).done;) all += s.value; return all; };
const answer = async (req) => { const [res] = await once(req, "response"); return [res, await text(res)]; };

let [res, body] = await answer(http.get(base + "/echo?a=1", { headers: { "X-Mine": "yes" } }));
assert.deepEqual([res.statusCode, res.statusMessage, body, res.complete, res.httpVersion], [201, "Created", "GET /echo?a=1 yes  ", true, "1.1"]);
assert.deepEqual([res.headers["set-cookie"], res.headers["x-twice"], res.rawHeaders.includes("X-Twice")], [["a=1", "b=2"], "one, two", true]);

const req = http.request({ host: "127.0.0.1", port: `+port+`, path: "/echo", method: "post", auth: "u:p", headers: { "Content-Length": 5 } });
req.setHeader("x-mine", ["v"]);
assert.deepEqual([req.getHeader("X-Mine"), req.hasHeader("content-length"), req.getHeaderNames().includes("authorization"), req.method, req.path], ["v", true, true, "POST", "/echo"]);
req.write("he"); req.end("llo");
[res, body] = await answer(req);
assert.equal(body, "POST /echo v Basic dTpw hello");
assert.throws(() => req.setHeader("a", "b"), { code: "ERR_HTTP_HEADERS_SENT" });

[res] = await answer(http.get(new URL("/away", base)));
assert.deepEqual([res.statusCode, res.headers.location], [302, "/echo"]);

let size = 0;
const [long] = await once(http.get(base + "/long"), "response");
await pipeline(long, new Writable({ write(v, e, cb) { size += v.length; cb(); } }));
assert.equal(size, 640000);

// without a listener the answer is read away, and the request closes
await once(http.get(base + "/echo"), "close");

const [refused] = await once(http.get("http://`+closed.Addr().String()+`/"), "error");
assert.equal(refused.code, "ECONNREFUSED");
const hung = http.get(base + "/hang", { timeout: 5 });
await once(hung, "timeout");
hung.destroy();
assert.equal((await once(hung, "error"))[0].code, "ECONNRESET");
const stop = new AbortController(), aborted = http.get(base + "/hang", { signal: stop.signal });
stop.abort();
assert.equal((await once(aborted, "error"))[0].name, "AbortError");
const [broken] = await once(http.get(base + "/long"), "response");
broken.destroy(new Error("enough"));
assert.equal((await once(broken, "error"))[0].message, "enough");

assert.throws(() => http.get("https://127.0.0.1/"), { code: "ERR_INVALID_PROTOCOL" });
assert.throws(() => https.get("https://127.0.0.1/", { rejectUnauthorized: false }), /certificates are always checked/);
assert.throws(() => http.get({ socketPath: "/x" }), /socketPath is not provided/);
assert.throws(() => http.get({ host: "h/../x" }), /Invalid host/);
assert.throws(() => http.get({ path: "/a b" }), /unescaped/);
assert.throws(() => http.request(base, { headers: { "a b": "c" } }), /valid HTTP token/);
assert.throws(() => http.request(base, { headers: { a: "b\r\nc: d" } }), /Invalid character/);
assert.throws(() => http.createServer(), /http.createServer is not provided/);
assert.equal(http.STATUS_CODES[404], "Not Found");
assert.ok(https.globalAgent instanceof https.Agent && new http.Agent({ keepAlive: true }));`)
	if failed := r.Failures(); len(failed) > 0 {
		t.Errorf("nobody answers for %q", failed)
	}
}

func TestSocketsAreRefusedByName(t *testing.T) {
	for _, name := range []string{"net", "tls", "http2"} {
		if use := bundle.Instead("node:" + name); !strings.Contains(use, "https") {
			t.Errorf("%s: %q", name, use)
		}
	}
}
