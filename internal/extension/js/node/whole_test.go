package node

import (
	"strings"
	"testing"
)

// The tests of this file call what the others do not, so that no function of a module
// can be taken out or answer something else unseen.

func TestEveryOperationOfFsHasAllThreeStyles(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), fs = require("fs"), path = require("path"), p = require("fs/promises");
const callback = (name) => (...a) => new Promise((ok, no) => fs[name](...a, (e, v) => (e ? no(e) : ok(v))));
const styles = { sync: (n) => async (...a) => fs[n + "Sync"](...a), callback, promise: (n) => (...a) => p[n](...a) };
for (const [style, of] of Object.entries(styles)) {
  const d = style + "-d", f = d + "/f", call = (n, ...a) => of(n)(...a);
  assert.equal(await call("mkdir", d), undefined);
  assert.equal(path.resolve(await call("mkdir", d + "/x/y", { recursive: true })), path.resolve(d + "/x"));
  await assert.rejects(call("mkdir", d), { code: "EEXIST" });
  await call("writeFile", f, "one", { mode: 0o640 });
  assert.equal((await call("stat", f)).mode & 0o777, 0o640);
  await call("appendFile", f, "two");
  assert.equal(await call("readFile", f, "utf8"), "onetwo");
  await call("symlink", "f", d + "/l");
  assert.ok((await call("lstat", d + "/l")).isSymbolicLink() && (await call("stat", d + "/l")).isFile());
  assert.equal(await call("readlink", d + "/l"), "f");
  assert.equal(await call("realpath", d + "/l"), path.resolve(f));
  await call("link", f, d + "/hard");
  assert.equal((await call("stat", d + "/hard")).nlink, 2);
  await call("copyFile", f, d + "/copy");
  await call("rename", d + "/copy", d + "/moved");
  assert.ok(!fs.existsSync(d + "/copy"));
  await call("chmod", d + "/moved", "600");
  assert.equal((await call("stat", d + "/moved")).mode & 0o777, 0o600);
  await call("utimes", d + "/moved", new Date(5000), 7);
  assert.equal((await call("stat", d + "/moved")).mtimeMs, 7000);
  await call("truncate", d + "/moved", 2);
  assert.equal(await call("readFile", d + "/moved", "utf8"), "on");
  await call("truncate", d + "/moved");
  assert.equal((await call("stat", d + "/moved")).size, 0);
  assert.equal(await call("access", f), undefined);
  await assert.rejects(call("access", d + "/none"), { code: "ENOENT" });
  await call("cp", d, d + "2", { recursive: true });
  assert.deepEqual((await call("readdir", d + "2")).sort(), ["f", "hard", "l", "moved", "x"]);
  await assert.rejects(call("cp", d, d + "3"), /recursive|directory/);
  const t = await call("mkdtemp", d + "/t-");
  assert.ok(fs.statSync(t).isDirectory() && t.startsWith(d + "/t-") && t.length > d.length + 3);
  await call("rmdir", t);
  await assert.rejects(call("rmdir", d), (e) => e.code === "ENOTEMPTY" || e.code === "EEXIST");
  await call("unlink", d + "/l");
  await assert.rejects(call("rm", d), (e) => !!e.code);
  await call("rm", d, { recursive: true });
  assert.ok(!fs.existsSync(d));
}
assert.throws(() => fs.readFile("x"), { code: "ERR_INVALID_ARG_TYPE" });
assert.throws(() => fs.stat(5, () => {}), { code: "ERR_INVALID_ARG_TYPE" });
assert.equal(await new Promise((r) => fs.exists("none", r)), false);
assert.throws(() => fs.statSync(".", { bigint: true }), /bigint is not provided/);
const stopped = new AbortController(); stopped.abort();
await assert.rejects(p.readFile("sync-d2/f", { signal: stopped.signal }), { name: "AbortError" });`)
}

func TestFilesThatAreOpenAreReadWrittenAndAskedByTheirNumberAndHandle(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), fs = require("fs"), p = require("fs/promises");
const cb = (name, ...a) => new Promise((ok, no) => fs[name](...a, (e, v) => (e ? no(e) : ok(v))));
const fd = await cb("open", "a", "w+", 0o600);
assert.equal(await cb("write", fd, "abcdef"), 6);
assert.equal(await cb("write", fd, Buffer.from("XYZ"), 1, 2, 0), 2);
await cb("fsync", fd); fs.fsyncSync(fd);
const b = Buffer.alloc(4);
assert.equal(await cb("read", fd, b, 1, 3, 0), 3);
assert.equal(b.toString("latin1"), "\0YZc");
assert.equal(fs.readSync(fd, b, { position: 4, length: 2 }), 2);
assert.equal(b.toString("latin1"), "efZc");
await cb("ftruncate", fd, 3);
assert.equal(fs.fstatSync(fd).size, 3);
fs.ftruncateSync(fd, 1);
assert.equal((await cb("fstat", fd)).size, 1);
await cb("close", fd);
assert.throws(() => fs.fstatSync(fd), { code: "EBADF" });
const h = await p.open("b", "w+");
assert.deepEqual(await h.write("hello world"), { bytesWritten: 11, buffer: "hello world" });
const got = await h.read({ buffer: Buffer.alloc(5), position: 6 });
assert.deepEqual([got.bytesRead, got.buffer.toString()], [5, "world"]);
await h.sync(); await h.truncate(5);
assert.equal((await h.stat()).size, 5);
const out = h.createWriteStream({ start: 0 });
await new Promise((r) => out.end("J", r));
let text = ""; for (let it = h.createReadStream({ start: 0 })[Symbol.asyncIterator](), s = await it.next(); !s.done; s = await it.next()) text += s.value;
assert.equal(text, "Jello");
await h.close(); await h.close();
const lines = await (async () => { const h = await p.open("b"), it = h.readLines({ start: 0 })[Symbol.asyncIterator](), all = []; for (let s = await it.next(); !s.done; s = await it.next()) all.push(s.value); await h.close(); return all; })();
assert.deepEqual(lines, ["Jello"]);
const w = await p.open("c", "w"); await w.writeFile("1"); await w.appendFile("2"); await w.close();
assert.equal(fs.readFileSync("c", "utf8"), "12");
for (const kind of ["isFile", "isDirectory", "isSymbolicLink", "isFIFO", "isSocket", "isCharacterDevice", "isBlockDevice"]) {
  assert.equal(fs.statSync("/dev/null")[kind](), kind === "isCharacterDevice", kind);
  assert.equal(fs.readdirSync(".", { withFileTypes: true }).find((d) => d.name === "c")[kind](), kind === "isFile", kind);
}
require("child_process").execSync("mkfifo pipe");
assert.ok(fs.statSync("pipe").isFIFO());
const ws = fs.createWriteStream("d", { flags: "a" }); await new Promise((r) => ws.end("x", r));
const stopped = new AbortController(), rs = fs.createReadStream("d", { signal: stopped.signal }); stopped.abort();
assert.equal((await new Promise((r) => rs.on("error", r))).name, "AbortError");
assert.ok(fs.ReadStream && fs.WriteStream && fs.constants.O_CREAT > 0);`)
}

func TestProgramsAreRunByCallbacksWithLimits(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), cp = require("child_process");
const cb = (f, ...a) => new Promise((r) => { const c = f(...a, (err, stdout, stderr) => r({ err, stdout, stderr, c })); });
let x = await cb(cp.exec, "echo out; echo err >&2");
assert.deepEqual([x.err, x.stdout, x.stderr], [null, "out\n", "err\n"]);
x = await cb(cp.exec, "exit 3");
assert.deepEqual([x.err.code, x.err.killed, x.err.cmd], [3, false, "exit 3"]);
x = await cb(cp.execFile, "echo", ["a b", "c"], { encoding: "buffer" });
assert.equal(x.stdout.toString(), "a b c\n");
x = await cb(cp.execFile, "sleep", ["30"], { timeout: 30 });
assert.deepEqual([x.err.killed, x.err.signal], [true, "SIGTERM"]);
x = await cb(cp.execFile, "sh", ["-c", "yes"], { maxBuffer: 10 });
assert.equal(x.err.code, "ERR_CHILD_PROCESS_STDIO_MAXBUFFER"); assert.equal(x.stdout.length, 10);
x = await cb(cp.execFile, "no-such-program");
assert.equal(x.err.code, "ENOENT");
assert.equal(cp.spawnSync("echo a; echo b", { shell: true, encoding: "utf8" }).stdout, "a\nb\n");
const c = cp.spawn("sleep", ["30"]);
assert.ok(c instanceof cp.ChildProcess); c.ref(); c.unref();
assert.equal(c.kill("SIGKILL"), true);
assert.deepEqual(await new Promise((r) => c.on("exit", (...a) => r(a))), [null, "SIGKILL"]);
assert.equal(c.kill(), false);
assert.throws(() => cp.spawn(""), { code: "ERR_INVALID_ARG_TYPE" });
assert.throws(() => cp.spawn("x", [], { stdio: ["pipe", 7] }), /not provided/);
assert.throws(() => cp.execFileSync("sh", ["-c", "echo why >&2; exit 2"], { stdio: "pipe" }), (e) => e.status === 2 && e.stderr.toString() === "why\n");
assert.equal(cp.execFileSync("pwd", { cwd: "/", encoding: "utf8" }), "/\n");`)
}

func TestBuffersReadAndWriteEveryKindOfNumberInBothOrders(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), { Buffer: B, isAscii, isUtf8, atob, btoa, Blob } = require("buffer");
assert.equal(B, Buffer);
const kinds = { Int8: [1, -2], UInt8: [1, 254], Uint8: [1, 254], Int16: [2, -3], UInt16: [2, 65534], Uint16: [2, 65534], Int32: [4, -70000], UInt32: [4, 4000000000], Uint32: [4, 4000000000],
  Float: [4, 1.5], Double: [8, -2.25], BigInt64: [8, -9007199254740993n], BigUInt64: [8, 18446744073709551615n], BigUint64: [8, 2n ** 63n] };
for (const [kind, [size, v]] of Object.entries(kinds)) {
  const view = new DataView(new ArrayBuffer(8)), set = "set" + kind.replace("UInt", "Uint").replace("Float", "Float32").replace("Double", "Float64");
  for (const order of size === 1 ? [""] : ["LE", "BE"]) {
    const b = Buffer.alloc(10, 7);
    assert.equal(b["write" + kind + order](v, 1), 1 + size);
    view[set](0, v, order === "LE");
    assert.deepEqual([...b], [7, ...new Uint8Array(view.buffer, 0, size), ...new Array(9 - size).fill(7)], kind + order);
    assert.equal(b["read" + kind + order](1), v);
    assert.throws(() => b["read" + kind + order](11 - size), { code: "ERR_OUT_OF_RANGE" });
    assert.throws(() => b["write" + kind + order](v, -1), { code: "ERR_OUT_OF_RANGE" });
    assert.throws(() => b["read" + kind + order]("1"), { code: "ERR_INVALID_ARG_TYPE" });
    if (!/Big|Float|Double/.test(kind)) { assert.throws(() => b["write" + kind + order](2 ** (8 * size)), { code: "ERR_OUT_OF_RANGE" }); assert.throws(() => b["write" + kind + order](-(2 ** (8 * size - 1)) - 1), { code: "ERR_OUT_OF_RANGE" }); }
  }
}
for (const [kind, v, le] of [["UInt", 0x123456, [0x56, 0x34, 0x12]], ["Uint", 0x123456, [0x56, 0x34, 0x12]], ["Int", -2, [254, 255, 255]]])
  for (const order of ["LE", "BE"]) {
    const b = Buffer.alloc(3);
    assert.equal(b["write" + kind + order](v, 0, 3), 3);
    assert.deepEqual([...b], order === "LE" ? le : le.toReversed());
    assert.equal(b["read" + kind + order](0, 3), v);
    assert.throws(() => b["read" + kind + order](0, 7), { code: "ERR_OUT_OF_RANGE" });
    assert.throws(() => b["read" + kind + order](1, 3), { code: "ERR_OUT_OF_RANGE" });
    assert.throws(() => b["write" + kind + order](2 ** 24, 0, 3), { code: "ERR_OUT_OF_RANGE" });
    assert.throws(() => b["write" + kind + order](-(2 ** 23) - 1, 0, 3), { code: "ERR_OUT_OF_RANGE" });
  }
const s = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]);
assert.deepEqual([...Buffer.from(s).swap16()], [2, 1, 4, 3, 6, 5, 8, 7]);
assert.deepEqual([...Buffer.from(s).swap32()], [4, 3, 2, 1, 8, 7, 6, 5]);
assert.deepEqual([...Buffer.from(s).swap64()], [8, 7, 6, 5, 4, 3, 2, 1]);
assert.throws(() => Buffer.alloc(3).swap16(), RangeError);
assert.deepEqual([s.compare(Buffer.from([1, 2])), Buffer.from("a").compare(Buffer.from("b")), s.compare(s)], [1, -1, 0]);
assert.equal(s.compare(Buffer.from([9, 3, 4]), 1, 3, 2, 4), 0);
assert.equal(s.parent, s.buffer); assert.equal(Buffer.from("é").toLocaleString(), "é");
assert.deepEqual([...Buffer.of(1, 257)], [1, 1]); assert.equal(Buffer.allocUnsafe(3).length + Buffer.allocUnsafeSlow(2).length, 5);
assert.ok(Buffer.isEncoding("UTF-8") && !Buffer.isEncoding("x") && !Buffer.isEncoding(""));
assert.deepEqual([...Buffer.alloc(4).fill("ab", 1, 3)], [0, 97, 98, 0]);
assert.equal(Buffer.concat([Buffer.from("abc"), Buffer.from("de")], 4).toString(), "abcd");
assert.equal(atob(btoa("hi")), "hi"); assert.ok(isAscii(Buffer.from("a")) && !isAscii(Buffer.from("é")) && isUtf8(Buffer.from("é")) && !isUtf8(Buffer.from([255])));
assert.equal(Blob, globalThis.Blob); assert.equal(require("buffer").File, globalThis.File);
assert.throws(() => require("buffer").transcode(), /not provided/);`)
}

func TestEventsHaveTheirWholeInterface(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), EventEmitter = require("events"), { once, on } = EventEmitter;
const e = new EventEmitter(), got = [], f = (v) => got.push("f" + v);
e.on("newListener", (t) => got.push("+" + t)); e.on("removeListener", (t) => got.push("-" + t));
e.addListener("x", f); e.prependOnceListener("x", (v) => got.push("first" + v));
e.emit("x", 1); e.off("x", f); e.removeListener("x", f);
assert.deepEqual(got, ["+removeListener", "+x", "+x", "-x", "first1", "f1", "-x"]);
const g = () => {}; e.once("y", g);
assert.deepEqual(e.listeners("y"), [g]); assert.ok(e.rawListeners("y")[0] !== g && e.rawListeners("y")[0].listener === g);
assert.equal(e.listenerCount("y", g), 1); assert.equal(EventEmitter.listenerCount(e, "y"), 1); assert.deepEqual(EventEmitter.getEventListeners(e, "y"), [g]);
assert.equal(e.getMaxListeners(), EventEmitter.defaultMaxListeners); assert.equal(e.setMaxListeners(3).getMaxListeners(), 3);
EventEmitter.setMaxListeners(5, e); assert.equal(e.getMaxListeners(), 5);
const order = []; const h = () => { order.push("h"); e.off("z", k); }, k = () => order.push("k"); e.on("z", h).on("z", k); e.emit("z"); e.emit("z");
assert.deepEqual(order, ["h", "k", "h"]);
setTimeout(() => e.emit("error", new Error("bad")), 1);
await assert.rejects(once(e, "never"), /bad/);
const ac = new AbortController(); const w = once(e, "never", { signal: ac.signal }); ac.abort(); await assert.rejects(w, { name: "AbortError" });
const it = on(e, "q"); const next = it.next(); e.emit("error", new Error("worse")); await assert.rejects(next, /worse/); await it.return();
assert.throws(() => new EventEmitter().emit("error", 5), { code: "ERR_UNHANDLED_ERROR" });
assert.throws(() => new EventEmitter.EventEmitterAsyncResource(), /not provided/);`)
}

func TestAssertFindsWhatDiffersAndWhatDoesNot(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), strict = require("assert/strict");
const wrong = (f, m) => { let e; try { f(); } catch (x) { e = x; } if (!(e instanceof assert.AssertionError) || e.code !== "ERR_ASSERTION" || (m && e.message !== m)) throw new Error("it does not fail as it should: " + f + " gives " + e); };
const right = (f) => f();
right(() => assert.strictEqual(NaN, NaN)); wrong(() => assert.strictEqual(1, "1")); wrong(() => assert.strictEqual(1, 2, "mine"), "mine");
right(() => assert.notStrictEqual(1, "1")); wrong(() => assert.notStrictEqual(1, 1));
right(() => assert.deepStrictEqual({ a: [1] }, { a: [1] })); wrong(() => assert.deepStrictEqual([1], ["1"]));
right(() => assert.notDeepStrictEqual([1], ["1"])); wrong(() => assert.notDeepStrictEqual([1], [1]));
right(() => assert.notDeepEqual([1], [2])); wrong(() => assert.notDeepEqual([1], ["1"]));
right(() => assert.notEqual(1, 2)); wrong(() => assert.notEqual(1, "1"));
right(() => assert.doesNotMatch("a", /b/)); wrong(() => assert.doesNotMatch("b", /b/)); wrong(() => assert.match("a", /b/));
right(() => assert.ifError(null)); wrong(() => assert.ifError(5));
right(() => assert.doesNotThrow(() => 1)); wrong(() => assert.doesNotThrow(() => { throw new Error("x"); }));
wrong(() => assert.fail(), "Failed"); wrong(() => assert.fail("so"), "so"); wrong(() => assert(0)); wrong(() => assert.ok(""));
wrong(() => assert.throws(() => 1), "Missing expected exception."); wrong(() => assert.throws(() => { throw new Error("x"); }, /y/)); wrong(() => assert.throws(() => { throw new Error("x"); }, { message: "y" }));
right(() => assert.throws(() => { throw new TypeError("x"); }, TypeError));
let e; try { assert.throws(() => { throw new TypeError("through"); }, RangeError); } catch (x) { e = x; } if (e.message !== "through") throw e;
await assert.doesNotReject(Promise.resolve()); await assert.rejects(assert.doesNotReject(Promise.reject(new Error("x"))), assert.AssertionError); await assert.rejects(assert.rejects(Promise.resolve()), assert.AssertionError);
wrong(() => assert.equal(1, 2)); wrong(() => assert.deepEqual([1], [2])); wrong(() => strict.equal(1, "1")); wrong(() => strict.deepEqual([1], ["1"])); right(() => strict.notEqual(1, "1")); right(() => strict.notDeepEqual([1], ["1"])); assert.strict.strict(1);
assert.throws(() => assert.partialDeepStrictEqual(), /not provided/); assert.throws(() => new assert.CallTracker(), /not provided/);`)
}

func TestUtilKnowsTypesInheritsAndParses(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), util = require("util"), t = require("util/types");
assert.equal(util.types, t);
const of = { isPromise: Promise.resolve(), isDate: new Date(), isRegExp: /x/, isMap: new Map(), isSet: new Set(), isWeakMap: new WeakMap(), isWeakSet: new WeakSet(), isNativeError: new RangeError(), isArrayBuffer: new ArrayBuffer(1), isDataView: new DataView(new ArrayBuffer(1)), isAsyncFunction: async () => {}, isGeneratorFunction: function* () {}, isGeneratorObject: (function* () {})(), isSymbolObject: Object(Symbol()), isBoxedPrimitive: new Number(1), isTypedArray: new Float32Array(1), isUint8Array: new Uint8Array(1) };
for (const [name, v] of Object.entries(of)) { assert.equal(t[name](v), true, name); for (const other of [{}, null, undefined, 1, "x", () => {}]) assert.equal(t[name](other), false, name); }
assert.ok(t.isAnyArrayBuffer(new ArrayBuffer(1)) && t.isArrayBufferView(new DataView(new ArrayBuffer(1))) && !t.isTypedArray(new DataView(new ArrayBuffer(1))) && !t.isUint8Array(new Uint16Array(1)) && !t.isProxy({}) && !t.isSharedArrayBuffer(new ArrayBuffer(1)));
function A() {} function C() {} A.prototype.hi = () => "hi"; util.inherits(C, A); assert.equal(new C().hi(), "hi"); assert.equal(C.super_, A);
const old = util.deprecate((x) => x + 1, "use another"); assert.equal(old(1) + old(2), 5);
assert.equal(util.formatWithOptions({ colors: true }, "%s=%i", "a", 4.9), "a=4"); assert.equal(util.styleText("red", "x"), "\x1b[31mx\x1b[39m"); assert.equal(util.styleText(["bold", "red"], "x"), "\x1b[31m\x1b[1mx\x1b[22m\x1b[39m");
assert.equal(util.toUSVString("\ud800a"), "\ufffda"); assert.equal(util.debuglog("x").enabled, false); util.debug("x")("silent");
assert.ok(util.isArray([]) && util.isError(new Error()) && util.isString("") && util.isFunction(() => {}) && util.isRegExp(/x/) && util.isDate(new Date()) && !util.isArray({}) && !util.isError({}) && !util.isString(1) && !util.isFunction(1) && !util.isRegExp(1) && !util.isDate(1));
const ac = new AbortController(); let over = false; const w = util.aborted(ac.signal).then(() => (over = true)); assert.equal(over, false); ac.abort(); await w; assert.ok(over);
const enc = new util.TextEncoder(); assert.equal(enc.encoding, "utf-8"); assert.deepEqual([...enc.encode("é")], [195, 169]); assert.deepEqual({ ...enc.encodeInto("aé", new Uint8Array(2)) }, { read: 1, written: 1 });
assert.equal(new util.TextDecoder("utf-16le").decode(new Uint8Array([97, 0])), "a");
const p = (args, options, more) => util.parseArgs({ args, options, ...more });
assert.deepEqual({ ...p(["-ab", "--n", "1", "--n=2", "--", "-x"], { a: { type: "boolean", short: "a" }, b: { type: "boolean", short: "b" }, n: { type: "string", multiple: true } }, { allowPositionals: true }).values }, { a: true, b: true, n: ["1", "2"] });
assert.throws(() => p(["--no"], {}), { code: "ERR_PARSE_ARGS_UNKNOWN_OPTION" }); assert.throws(() => p(["x"], {}), { code: "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL" }); assert.deepEqual({ ...p([], { d: { type: "string", default: "z" } }).values }, { d: "z" });
const both = (a, b) => [util.isDeepStrictEqual(a, b), util.isDeepStrictEqual(b, a)].join();
assert.equal(both(new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]])), "true,true"); assert.equal(both(new Map([[1, 2]]), new Map([[1, 3]])), "false,false"); assert.equal(both(new Date(1), new Date(2)), "false,false"); assert.equal(both(/a/g, /a/), "false,false"); assert.equal(both(new Error("a"), new Error("b")), "false,false"); assert.equal(both({ a: undefined }, {}), "false,false"); assert.equal(both([], {}), "false,false"); assert.equal(both(new Set([1]), new Set([2])), "false,false");
assert.throws(() => util.promisify(1), { code: "ERR_INVALID_ARG_TYPE" }); assert.equal(util.promisify(Object.assign(() => {}, { [util.promisify.custom]: old })), old);`)
	if got := strings.Join(r.Lines(), "|"); got != "warning: DeprecationWarning: use another" {
		t.Errorf("logged %q", got)
	}
}

func TestUrlsAndQueriesHaveTheirWholeInterface(t *testing.T) {
	r, dir := world(t)
	r.Must(t, `
const assert = require("assert"), url = require("url"), qs = require("querystring");
assert.equal(url.URL, URL); assert.equal(url.URLSearchParams, URLSearchParams);
const u = new URL("http://h/p?a=1#f");
Object.assign(u, { protocol: "https", username: "u", password: "p", host: "x.org:81", pathname: "/q r", search: "b=2", hash: "g" });
assert.equal(u.href, "https://u:p@x.org:81/q%20r?b=2#g"); assert.equal(u.password, "p"); assert.equal(u.username, "u"); assert.equal(u.searchParams.get("b"), "2");
Object.assign(u, { hostname: "y.org", port: "82" }); assert.equal(u.host, "y.org:82"); u.href = "http://z/?c=3"; assert.equal(u.searchParams.get("c"), "3"); assert.throws(() => (u.href = "no"), TypeError);
assert.equal(u.toString(), "http://z/?c=3"); assert.equal(JSON.stringify(u), '"http://z/?c=3"'); assert.equal(URL.parse("no"), null); assert.equal(URL.parse("/a", "http://h").href, "http://h/a");
const p = new URLSearchParams([["b", "2"], ["a", "1"], ["b", "3"]]);
assert.equal(p.size, 3); assert.ok(p.has("b") && p.has("b", "3") && !p.has("b", "9") && !p.has("z")); assert.equal(p.get("z"), null);
p.sort(); assert.equal(p.toString(), "a=1&b=2&b=3"); p.set("b", "4"); assert.equal(String(p), "a=1&b=4"); p.set("n", "x y~"); p.delete("b", "9"); assert.equal(String(p), "a=1&b=4&n=x+y%7E");
assert.deepEqual([[...p.keys()], [...p.values()], [...p.entries()].length], [["a", "b", "n"], ["1", "4", "x y~"], 3]); const all = []; p.forEach((v, k, o) => all.push(k + v + (o === p))); assert.deepEqual(all, ["a1true", "b4true", "nx y~true"]);
assert.throws(() => new URLSearchParams([["a"]]), TypeError); assert.equal(new URLSearchParams("?a=%zz&b").get("b"), ""); assert.equal(new URLSearchParams("a=ü%zz%c3%bc+%ff%4").get("a"), "ü%zzü \ufffd%4");
assert.equal(url.format({ protocol: "http", hostname: "h", port: 8, pathname: "/p", query: { a: 1 }, hash: "#x" }), "http://h:8/p?a=1#x"); assert.equal(url.format(new URL("http://h")), "http://h/"); assert.equal(url.format("http://s"), "http://s");
assert.equal(url.resolve("/one/two/three", "four"), "/one/two/four"); assert.equal(url.resolve("http://example.com/one", "/two"), "http://example.com/two"); assert.equal(url.resolve("/a/b", "../c"), "/c");
assert.deepEqual(url.urlToHttpOptions(new URL("https://h:9/p?q#x")), { protocol: "https:", hostname: "h", path: "/p?q", port: 9, href: "https://h:9/p?q#x" });
assert.equal(url.domainToASCII("bücher.example"), "xn--bcher-kva.example"); assert.equal(url.domainToUnicode("xn--bcher-kva.example"), "bücher.example");
assert.throws(() => url.fileURLToPath("http://h"), { code: "ERR_INVALID_URL_SCHEME" }); assert.equal(url.pathToFileURL("x").pathname, "`+dir+`/x"); assert.throws(() => url.fileURLToPathBuffer(), /not provided/);
const rel = url.parse("/p?q=1#h"); assert.deepEqual([rel.pathname, rel.search, rel.query, rel.hash, rel.host], ["/p", "?q=1", "q=1", "#h", null]); assert.equal(url.parse("http://u:p@h/").auth, "u:p");
assert.equal(qs.stringify({ a: [1, "x y"], b: null, c: "ü" }), "a=1&a=x%20y&b=&c=%C3%BC"); assert.equal(qs.stringify({ a: 1, b: 2 }, ";", ":"), "a:1;b:2"); assert.equal(qs.encode, qs.stringify); assert.equal(qs.decode, qs.parse);
assert.equal(qs.escape("a b"), "a%20b"); assert.equal(qs.unescape("a%20b%zz"), "a%20b%zz"); assert.deepEqual({ ...qs.parse("a:1;b", ";", ":") }, { a: "1", b: "" });`)
}

func TestTheSystemAndTheProcessAreDescribed(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), os = require("os"), run = (c) => require("child_process").execSync(c, { encoding: "utf8" }).trim();
assert.equal(os.platform(), process.platform); assert.equal(os.arch(), process.arch); assert.equal(os.type(), run("uname -s")); assert.equal(os.machine(), run("uname -m")); assert.equal(os.release(), run("uname -r")); assert.ok(os.version().length > 0);
process.env.TMPDIR = "/t/"; assert.equal(os.tmpdir(), "/t"); delete process.env.TMPDIR; assert.equal(os.tmpdir(), "/tmp"); process.env.HOME = "/h"; assert.equal(os.homedir(), "/h");
assert.equal(os.availableParallelism(), os.cpus().length); assert.ok(os.freemem() > 0 && os.freemem() <= os.totalmem() && os.uptime() > 0 && os.loadavg().length === 3 && os.loadavg().every((x) => x >= 0)); assert.equal(os.endianness(), "LE");
for (const f of ["networkInterfaces", "getPriority", "setPriority"]) assert.throws(() => os[f](), /not provided/);
assert.equal(process.umask(), 0o022); const up = process.uptime(); assert.ok(up >= 0 && up < 1000); for (const id of ["uid", "gid"]) { assert.equal(process["get" + id](), os.userInfo()[id]); assert.equal(process["gete" + id](), os.userInfo()[id]); }
const t = process.hrtime(), d = process.hrtime(t); assert.ok(t.length === 2 && t[1] < 1e9 && d[0] >= 0 && d[0] < 60 && d[1] >= 0 && d[1] < 1e9); assert.deepEqual([typeof process.cpuUsage().user, typeof process.resourceUsage(), process.memoryUsage.rss() > 0], ["number", "object", true]);
assert.ok(!process.stdout.isTTY && !process.stderr.hasColors() && process.stdout.getColorDepth() === 1); process.stdout.cork(); process.stdout.uncork(); process.stderr.cork(); process.stderr.uncork();
await new Promise((r) => process.stdout.write(Buffer.from("no end"), r)); process.stdout.end("!"); process.stderr.end("over"); process.emitWarning("careful"); process.emitWarning(new TypeError("more"));
for (const f of ["abort", "reallyExit", "binding"]) assert.throws(() => process[f](), /refused/); for (const f of ["dlopen", "setuid", "setgid", "send", "disconnect", "loadEnvFile"]) assert.throws(() => process[f](), /not provided/);
assert.equal(process.getBuiltinModule("node:fs"), require("fs")); assert.equal(process.getBuiltinModule("nope"), undefined); assert.throws(() => process.nextTick(1), TypeError);
const c = require("child_process").spawn("sleep", ["30"]); assert.equal(process.kill(c.pid, 9), true); assert.deepEqual(await new Promise((r) => c.on("exit", (...a) => r(a))), [null, "SIGKILL"]);
const tty = require("tty"); assert.equal(tty.isatty(1), false); assert.throws(() => new tty.ReadStream(), /not provided/); assert.throws(() => new tty.WriteStream(), /not provided/);
const path = require("path"); assert.equal(path.posix, path); assert.equal(path.toNamespacedPath("/a"), "/a"); assert.throws(() => path.matchesGlob("a", "*"), /not provided/); assert.equal(require("path/posix"), path);`)
	if got := strings.Join(r.Lines(), "|"); got != "info: no end!|error: over|warning: Warning: careful|warning: TypeError: more" {
		t.Errorf("logged %q", got)
	}
}

func TestCryptoHasItsShortFormsAndSaysWhatIsMissing(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), crypto = require("crypto");
assert.equal(crypto.hash("sha1", "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d"); assert.equal(crypto.hash("sha1", "abc", "base64"), "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
for (const h of crypto.getHashes()) assert.equal(crypto.createHash(h).update("").digest().length, { md5: 16, sha1: 20, sha224: 28, sha256: 32, sha384: 48, sha512: 64 }[h]);
const b = crypto.randomFillSync(Buffer.alloc(40), 8); assert.deepEqual([...b.subarray(0, 8)], [0, 0, 0, 0, 0, 0, 0, 0]); assert.ok(b.subarray(8).some((x) => x > 0)); const one = crypto.randomFillSync(Buffer.alloc(40), 0, 4); assert.ok(one.subarray(4).every((x) => x === 0));
assert.equal((await new Promise((ok, no) => crypto.randomBytes(5, (e, v) => (e ? no(e) : ok(v))))).length, 5); const n = await new Promise((ok) => crypto.randomInt(5, 7, (e, v) => ok(v))); assert.ok(n === 5 || n === 6); assert.throws(() => crypto.randomInt(0), RangeError);
assert.match(crypto.webcrypto.randomUUID(), /^[0-9a-f-]{36}$/); for (const c of [crypto, crypto.webcrypto, globalThis.crypto]) { const v = new Uint8Array(32); assert.equal(c.getRandomValues(v), v); assert.ok(v.some((x) => x > 0)); }
assert.throws(() => crypto.subtle, /not provided/); assert.throws(() => crypto.webcrypto.subtle, /not provided/);
for (const f of ["createDecipheriv", "createSign", "createVerify", "sign", "verify", "generateKeyPair", "generateKeyPairSync", "createPublicKey", "createPrivateKey", "createSecretKey", "scrypt", "scryptSync", "pbkdf2", "hkdf", "hkdfSync", "createDiffieHellman", "createECDH", "publicEncrypt", "privateDecrypt"]) assert.throws(() => crypto[f](), new RegExp("crypto." + f + " is not provided"));`)
}

func TestStreamsAreReadAndWrittenInEveryWay(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), stream = require("stream"), { Readable, Writable, Duplex, Transform, PassThrough, finished } = stream, readline = require("readline"), { StringDecoder } = require("string_decoder"), sp = require("stream/promises");
assert.equal(stream.Stream, stream); assert.equal(stream.promises, sp);
const ended = (s) => new Promise((ok, no) => s.on("end", ok).on("error", no));
const r = new Readable(); r.push("abc"); r.push("def"); r.push(null);
assert.equal(r.read(2).toString(), "ab"); assert.equal(r.read().toString(), "cdef"); assert.equal(r.read(), null); await ended(r);
const u = new Readable({ encoding: "utf8" }); u.push(Buffer.from([0xc3])); u.push(Buffer.from([0xa9])); u.push(null); let t = ""; u.on("data", (d) => (t += d)); await ended(u); assert.equal(t, "é");
const e = new Readable(); e.setEncoding("hex"); e.push(Buffer.from("a")); e.push(null); t = ""; e.addListener("data", (d) => (t += d)); await ended(e); assert.equal(t, "61");
const p = new Readable({ objectMode: true }), seen = []; assert.equal(p.isPaused(), false); p.on("data", (v) => { seen.push(v); p.pause(); }); p.push(1); p.push(2); await new Promise((r) => setTimeout(r, 5));
assert.deepEqual([seen, p.isPaused()], [[1], true]); p.unshift(0); p.resume(); await new Promise((r) => setTimeout(r, 5)); assert.deepEqual(seen, [1, 0]); p.push(null); const done = ended(p); p.resume(); await new Promise((r) => setTimeout(r, 2)); p.resume(); await done; assert.deepEqual(seen, [1, 0, 2]);
const late = new Readable(); late.push(null); late.push("x"); assert.equal((await new Promise((r) => late.on("error", r))).code, "ERR_STREAM_PUSH_AFTER_EOF");
const readable = new Readable({ read() {} }), parts = []; readable.on("readable", () => { for (let v; (v = readable.read()) !== null; ) parts.push(v.toString()); }); readable.push("a"); await new Promise((r) => setTimeout(r, 2)); readable.push("b"); readable.push(null); await ended(readable); assert.equal(parts.join(), "a,b");
const out = []; const w = new Writable({ decodeStrings: true, write(v, enc, cb) { out.push(v.toString()); cb(); }, final(cb) { out.push("final"); cb(); } }); w.cork(); w.uncork(); w.setDefaultEncoding("utf8");
assert.equal(w.writableLength, 0); w.write("6869", "hex"); w.end(Buffer.from("!")); await new Promise((r) => w.on("finish", r)); assert.deepEqual(out, ["hi", "!", "final"]); assert.ok(w.writableFinished && w.writableEnded);
const failing = new Writable({ write(v, enc, cb) { cb(new Error("full")); } }); const failed = new Promise((r) => failing.on("error", r)); failing.write("x"); assert.equal((await failed).message, "full");
const d = new Duplex({ read() { this.push("in"); this.push(null); }, write(v, enc, cb) { out.push("duplex " + v); cb(); } }); d.end("out"); t = ""; d.on("data", (v) => (t += v)); await ended(d); assert.equal(t + out.at(-1), "induplex out");
const up = new Transform({ transform(v, enc, cb) { cb(null, v.toString().toUpperCase()); }, flush(cb) { cb(null, "."); } }); const through = Readable.from(["a", "b"]).pipe(up).pipe(new PassThrough()); t = ""; through.on("data", (v) => (t += v)); await ended(through); assert.equal(t, "AB.");
const src = new Readable({ read() {} }), sink = new Writable({ write(v, enc, cb) { out.push("piped " + v); cb(); } }); src.pipe(sink); src.push("1"); await new Promise((r) => setTimeout(r, 5)); src.unpipe(sink); assert.equal(out.at(-1), "piped 1"); assert.equal(src.listenerCount("data"), 0);
assert.equal(await new Promise((r) => finished(Readable.from([1]).resume(), r)), undefined); const gone = new Readable({ read() {} }), premature = new Promise((r) => finished(gone, r)); gone.destroy(); assert.equal((await premature).code, "ERR_STREAM_PREMATURE_CLOSE");
await sp.finished(Readable.from([1]).resume()); const bad = new Readable({ read() {} }), rejected = sp.finished(bad); bad.destroy(new Error("gone")); await assert.rejects(rejected, /gone/); assert.ok(bad.destroyed); assert.equal(bad.destroy(), bad);
assert.throws(() => stream.compose(), /not provided/); assert.throws(() => stream.addAbortSignal(), /not provided/); await assert.rejects(new Promise((ok, no) => { const x = new Transform(); x.on("error", no); x.write("x"); }), /_transform is not implemented/);
const web = new Response("from the web").body; t = ""; const fw = Readable.fromWeb(web); fw.on("data", (v) => (t += v)); await ended(fw); assert.equal(t, "from the web");
const input = new PassThrough(), rl = readline.createInterface({ input }), lines = []; rl.on("line", (l) => lines.push(l)); input.write("one\r\ntw"); input.write("o\nlast"); await new Promise((r) => setTimeout(r, 5)); assert.equal(rl.pause(), rl); assert.equal(input.isPaused(), true); rl.resume(); assert.equal(input.isPaused(), false); const closed = new Promise((r) => rl.on("close", r)); input.end(); await closed; rl.close(); assert.deepEqual(lines, ["one", "two", "last"]); assert.ok(rl instanceof readline.Interface);
for (const f of ["question", "clearLine", "cursorTo", "emitKeypressEvents", "moveCursor"]) assert.throws(() => readline[f](), /not provided/);
const sd = new StringDecoder("utf8"); assert.equal(sd.write(Buffer.from([0xe2, 0x82])) + "|" + sd.write(Buffer.from([0xac])) + "|" + sd.end(), "|€|"); assert.equal(new StringDecoder().end(Buffer.from([0xe2])), "\ufffd"); assert.equal(new StringDecoder("base64").write(Buffer.from("abc")), "YWJj"); assert.equal(new StringDecoder("utf16le").write(Buffer.from([97, 0, 98])), "a");`)
}

func TestTimersHaveTheirPromisesAndCanAllBeStopped(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), timers = require("timers"), p = require("timers/promises");
assert.equal(timers.promises, p);
let ran = "";
const a = timers.setTimeout((x) => (ran += x), 1, "a"), b = timers.setTimeout(() => (ran += "b"), 1), c = timers.setImmediate(() => (ran += "c")), d = timers.setInterval(() => (ran += "d"), 1);
timers.clearTimeout(b); timers.clearImmediate(c); timers.clearInterval(d);
assert.equal(await p.setImmediate("now"), "now"); await p.setTimeout(10); assert.equal(ran, "a");
const i = timers.setInterval(() => { if ((ran += "i").length === 3) { timers.clearInterval(i); } }, 1); await p.setTimeout(20); assert.equal(ran, "aii");
assert.equal(await p.scheduler.wait(1), undefined); assert.equal(await p.scheduler.yield(), undefined);
const gone = new AbortController(); gone.abort(); await assert.rejects(p.setTimeout(1, 0, { signal: gone.signal }), { name: "AbortError" });
const it = p.setInterval(1, "v"); assert.equal(it[Symbol.asyncIterator](), it); assert.deepEqual(await it.next(), { done: false, value: "v" }); assert.deepEqual(await it.return(), { done: true, value: undefined });`)
}
