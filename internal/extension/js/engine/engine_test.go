package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"scorel/internal/extension/js/enginetest"
	"scorel/internal/extension/js/node"
)

func world(t *testing.T) *enginetest.Run { return enginetest.New(t, t.TempDir(), node.Builtin) }

func TestTheLanguageHasWhatCameSinceES2022(t *testing.T) {
	world(t).Must(t, `
const assert = require("assert");
assert.deepEqual(Object.entries(Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even"))), [["odd", [1, 3]], ["even", [2]]]);
assert.deepEqual([...Map.groupBy([1, 2, 3], (x) => x % 2)], [[1, [1, 3]], [0, [2]]]);
const r = Promise.withResolvers(); setTimeout(r.resolve, 1, "v"); assert.equal(await r.promise, "v");
assert.deepEqual(await Array.fromAsync([Promise.resolve(1), 2], (x) => x * 2), [2, 4]);
assert.deepEqual(await Array.fromAsync({ [Symbol.asyncIterator]() { let i = 0; return { next: async () => ({ done: i === 2, value: i++ }) } } }), [0, 1]);
assert.deepEqual([1, 2, 3, 4].values().filter((x) => x > 1).map((x) => x * 10).take(2).toArray(), [20, 30]);
assert.deepEqual([1, 2, 3].values().drop(1).flatMap((x) => [x, x]).toArray(), [2, 2, 3, 3]);
assert.equal([1, 2, 3].values().reduce((a, b) => a + b), 6);
assert.ok([1, 2].values().some((x) => x === 2) && ![1, 2].values().every((x) => x === 2));
assert.deepEqual([...new Set([1, 2]).union(new Set([2, 3]))], [1, 2, 3]);
assert.deepEqual([...new Set([1, 2]).intersection(new Set([2, 3]))], [2]);
assert.ok(new Set([1]).isSubsetOf(new Set([1, 2])) && new Set([1]).isDisjointFrom(new Set([2])));
assert.deepEqual([[3, 1].toSorted(), [1, 2].with(0, 9), [1, 2].toReversed(), [1, 2, 3].toSpliced(1, 1), [1, 2].at(-1), [1, 2].findLast((x) => x < 2)], [[1, 3], [9, 2], [2, 1], [1, 3], 2, 1]);
assert.equal("a-b-c".replaceAll("-", "$&$&"), "a--b--c");
assert.equal("aXbX".replaceAll(/X/g, "-"), "a-b-");
assert.equal("a\ud800b".toWellFormed(), "a\ufffdb");
assert.ok("x".isWellFormed() && !"\ud800".isWellFormed());
assert.equal(await Promise.try(() => 5), 5);
assert.deepEqual(await Promise.allSettled([Promise.reject(1), 2]), [{ status: "rejected", reason: 1 }, { status: "fulfilled", value: 2 }]);
assert.ok(Object.hasOwn({ a: 1 }, "a"));
assert.equal(new Error("a", { cause: "b" }).cause, "b");
assert.equal(typeof Symbol.asyncIterator, "symbol"); assert.equal(typeof Symbol.dispose, "symbol");
assert.equal(typeof Intl, "undefined"); assert.equal(typeof WeakRef, "undefined");`)
}

func TestPropertiesInExpressionsMatchLetters(t *testing.T) {
	world(t).Must(t, `
const assert = require("assert");
assert.ok(new RegExp("^\\p{L}+$", "u").test("é日a") && !new RegExp("\\p{L}", "u").test("1"));
assert.ok(RegExp("[\\p{Lu}\\d]", "u").test("É") && new RegExp("\\P{L}", "u").test("1"));
assert.ok(new RegExp("\\p{Script=Greek}", "u").test("α"));
assert.ok(/x/ instanceof RegExp && new RegExp("x") instanceof RegExp && new RegExp("a").constructor === RegExp);
const re = /a/g; assert.equal(RegExp(re), re); assert.notEqual(new RegExp(re), re); assert.equal(new RegExp(re, "i").flags, "i");
assert.equal(new RegExp("p{L}").source, "p{L}");
class R extends RegExp { get mine() { return 1 } } assert.equal(new R("x").mine, 1); assert.ok(new R("x") instanceof RegExp);`)
}

func TestAbortSignalsAbortOnceAndTogether(t *testing.T) {
	world(t).Must(t, `
const assert = require("assert");
const a = new AbortController(), b = new AbortController(), any = AbortSignal.any([a.signal, b.signal]);
let calls = 0;
any.addEventListener("abort", () => calls++); any.onabort = () => calls++;
b.abort("why"); a.abort("late"); b.abort("again");
assert.equal(calls, 2); assert.equal(any.reason, "why"); assert.throws(() => any.throwIfAborted(), (e) => e === "why");
const t = AbortSignal.timeout(1); await new Promise((r) => t.addEventListener("abort", r));
assert.equal(t.reason.name, "TimeoutError"); assert.ok(t.reason instanceof DOMException && t.reason instanceof Error);
assert.equal(AbortSignal.abort().reason.name, "AbortError");
assert.throws(() => new AbortSignal(), /Illegal constructor/);`)
}

func TestStructuredCloneCopiesOrRefuses(t *testing.T) {
	world(t).Must(t, `
const assert = require("assert");
const o = { d: new Date(1), m: new Map([[{ k: 1 }, new Set([1])]]), r: /x/gi, b: new Uint8Array([1, 2]), n: null, u: undefined, e: new RangeError("x", { cause: 1 }), big: 1n };
o.self = o;
const c = structuredClone(o);
assert.ok(c !== o && c.self === c && c.d.getTime() === 1 && c.r.flags === "gi" && c.b[1] === 2 && c.b.buffer !== o.b.buffer && c.e instanceof RangeError && c.e.cause === 1 && c.big === 1n && "u" in c);
assert.equal([...c.m.keys()][0].k, 1);
assert.throws(() => structuredClone({ f() {} }), { name: "DataCloneError" });
assert.throws(() => structuredClone(Symbol("s")), { name: "DataCloneError" });`)
}

func TestTextIsEncodedAndDecoded(t *testing.T) {
	world(t).Must(t, `
const assert = require("assert");
assert.deepEqual([...new TextEncoder().encode("é€😀")], [0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80]);
assert.equal(new TextDecoder().decode(new Uint8Array([0xf0, 0x9f, 0x98, 0x80])), "😀");
const d = new TextDecoder(); assert.equal(d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac])), "€");
assert.equal(new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 65])), "A");
assert.equal(new TextDecoder().decode(new Uint8Array([0xf0, 0x9f, 65])), "\ufffdA");
assert.throws(() => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff])), TypeError);
assert.equal(new TextDecoder("utf-16le").decode(new Uint8Array([65, 0, 0x3d, 0xd8, 0, 0xde])), "A😀");
assert.equal(btoa("hé"), "aOk="); assert.equal(atob("aOk="), "hé"); assert.throws(() => btoa("€"), { name: "InvalidCharacterError" }); assert.throws(() => atob("a"), { name: "InvalidCharacterError" });
assert.equal(new TextEncoder().encode("\ud800")[0], 0xef);`)
}

func TestWhatNobodyAwaitsIsReportedOnceAndWhatIsHandledIsNot(t *testing.T) {
	r := world(t)
	r.Must(t, `
Promise.reject(new Error("lost"));
const late = Promise.reject(new Error("late")); await 0; late.catch(() => {});
setTimeout(() => { throw new Error("timer") }, 1); queueMicrotask(() => { throw new Error("micro") });
const t = new EventTarget(); t.addEventListener("x", () => { throw new Error("listener") }); t.dispatchEvent(new Event("x"));
await new Promise((r) => setTimeout(r, 20));`)
	got := strings.Join(r.Failures(), "|")
	for _, want := range []string{"unhandledRejection: lost", "setTimeout: timer", "queueMicrotask: micro", "event listener: listener"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not once in %q", want, got)
		}
	}
	if strings.Contains(got, "late") {
		t.Errorf("what was handled is reported: %q", got)
	}
}

func TestTheConsoleWritesALineWithItsLevel(t *testing.T) {
	r := world(t)
	r.Must(t, `console.log("%s %d", "a", 1, { b: [1, 2] }); console.warn("w"); console.error("e"); console.debug("d"); console.assert(false, "no"); console.group("g"); console.log("in"); console.groupEnd(); console.count(); console.count()`)
	want := "info: a 1 { b: [ 1, 2 ] }|warning: w|error: e|debug: d|error: Assertion failed: no|info: g|info:   in|info: default: 1|info: default: 2"
	if got := strings.Join(r.Lines(), "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTimersAndOpenCallsAreBounded(t *testing.T) {
	r := world(t)
	r.Must(t, `
const assert = require("assert");
const all = [];
assert.throws(() => { for (let i = 0; i < 20000; i++) all.push(setTimeout(() => {}, 1e8)) }, /10000 timers wait already/);
for (const t of all) clearTimeout(t);
setTimeout(() => {}, 1);
const calls = []; for (let i = 0; i < 1100; i++) calls.push(require("fs").promises.stat("/"));
const results = await Promise.allSettled(calls);
assert.match(String(results.find((r) => r.status === "rejected").reason), /1024 calls are open already/);
await require("fs").promises.stat("/");`)
}

// server answers what the tests of fetch ask.
func server(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Two", "a")
		w.Header().Add("X-Two", "b")
		w.WriteHeader(201)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), body)
	})
	mux.HandleFunc("/json", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"a":[1,"é"]}`) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/json", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/hang", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "begun")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/pieces", func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		piece := make([]byte, 1<<20)
		for {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestFetchSendsReadsAndAborts(t *testing.T) {
	s := server(t)
	world(t).Must(t, `
const assert = require("assert"), base = "`+s.URL+`";
const r = await fetch(base + "/echo?x=1", { method: "post", body: JSON.stringify({ a: 1 }), headers: { "Content-Type": "application/json" } });
assert.deepEqual([r.status, r.ok, r.statusText, r.headers.get("x-two"), await r.text()], [201, true, "Created", "a, b", 'POST /echo?x=1 application/json {"a":1}']);
await assert.rejects(r.text(), /has been read already/);
assert.deepEqual(await (await fetch(new URL("/json", base))).json(), { a: [1, "é"] });
const moved = await fetch(base + "/moved"); assert.ok(moved.redirected && moved.url === base + "/json"); await moved.text();
assert.equal((await fetch(base + "/moved", { redirect: "manual" })).status, 302);
await assert.rejects(fetch(base + "/moved", { redirect: "error" }), TypeError);
await assert.rejects(fetch(base + "/loop"), /more than 20 redirects/);
assert.equal((await fetch(base + "/none")).status, 404);
const form = new URLSearchParams({ q: "a b" }); assert.equal(await (await fetch(base + "/echo", { method: "POST", body: form })).text(), "POST /echo application/x-www-form-urlencoded;charset=UTF-8 q=a+b");
const data = new FormData(); data.append("k", "v"); data.append("f", new Blob(["file"]), "n.txt");
assert.match(await (await fetch(base + "/echo", { method: "POST", body: data })).text(), /multipart\/form-data; boundary=[^]*name="f"; filename="n.txt"[^]*file/);
const ac = new AbortController(), hang = await fetch(base + "/hang", { signal: ac.signal }), reader = hang.body.getReader();
assert.equal(new TextDecoder().decode((await reader.read()).value), "begun");
setTimeout(() => ac.abort(), 1); await assert.rejects(reader.read(), { name: "AbortError" });
await assert.rejects(fetch(base + "/hang", { signal: AbortSignal.timeout(1) }).then((r) => r.text()), { name: "TimeoutError" });
await assert.rejects(fetch(base + "/json", { signal: AbortSignal.abort() }), { name: "AbortError" });
let text = ""; const it = (await fetch(base + "/pieces")).body[Symbol.asyncIterator](); for (let s = await it.next(); !s.done; s = await it.next()) text += new TextDecoder().decode(s.value);
assert.equal(text, "data: 0\n\ndata: 1\n\ndata: 2\n\n");
const [x, y] = [(await fetch(base + "/json")), null]; const c = x.clone(); assert.deepEqual([await x.text(), await c.text()], ['{"a":[1,"é"]}', '{"a":[1,"é"]}']);
await assert.rejects(fetch("http://127.0.0.1:1/?key=secret"), (e) => e instanceof TypeError && !e.message.includes("secret"));
await assert.rejects(fetch("ftp://x/"), /fetch knows http and https/);
await assert.rejects(fetch(base, { method: "GET", body: "x" }), /cannot have body/);
await assert.rejects(fetch(base + "/endless").then((r) => r.text()), /larger than 64 MiB/);
assert.deepEqual([...new Headers({ B: "1", a: "2" })], [["a", "2"], ["b", "1"]]); assert.throws(() => new Headers({ "a b": "1" }), TypeError);
assert.equal(await new Response("x").text(), "x"); assert.deepEqual(await Response.json({ a: 1 }).json(), { a: 1 });`)
}

func TestAnEngineThatIsClosedLeavesNothingRunning(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	s := server(t)
	r := enginetest.New(t, t.TempDir(), node.Builtin)
	r.Must(t, `
setInterval(() => {}, 1);
(await fetch("`+s.URL+`/hang")).body.getReader().read().catch(() => {});
require("child_process").spawn("sleep", ["1000"]).on("error", () => {});
require("child_process").spawn("cat");`)
	r.Engine.Close()
	<-r.Engine.Done()
	s.CloseClientConnections()
	s.Close()
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, ignore)
}

func TestDeepJSONIsRefusedInsteadOfEndingTheProcess(t *testing.T) {
	r := world(t)
	done := make(chan error, 1)
	r.Engine.Post(func() {
		_, err := r.Engine.Parse([]byte(strings.Repeat("[", 5_000_000)))
		done <- err
	})
	if err := <-done; err == nil || !strings.Contains(err.Error(), "nested more than 1000 levels") {
		t.Errorf("got %v", err)
	}
}
