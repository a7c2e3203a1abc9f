package node

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"scorel/internal/extension/js/bundle"
	"scorel/internal/extension/js/enginetest"
)

func world(t *testing.T) (*enginetest.Run, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.New(t, dir, Builtin), dir
}

func TestEveryModuleThatCanBeImportedLoads(t *testing.T) {
	r, _ := world(t)
	for _, name := range bundle.NodeModules() {
		if got, err := r.Do(t, `return typeof require("`+name+`")`); err != nil || got != `"object"` && got != `"function"` {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestPathAnswersAsNodeDoes(t *testing.T) {
	r, dir := world(t)
	r.Must(t, `
const assert = require("assert"), path = require("path");
assert.equal(path.join("/a", "..", "b", "./c/"), "/b/c/");
assert.equal(path.join("", ""), ".");
assert.equal(path.normalize("../a//b/../../.."), "../..");
assert.equal(path.resolve("x", "../y"), "`+dir+`/y");
assert.equal(path.resolve("/a", "/b", "c"), "/b/c");
assert.equal(path.relative("/a/b/c", "/a/d"), "../../d");
assert.deepEqual([path.dirname("/a/b/"), path.dirname("a"), path.dirname("/a"), path.dirname("/")], ["/a", ".", "/", "/"]);
assert.deepEqual([path.basename("/a/b.ts", ".ts"), path.basename("/a/b/"), path.basename(".ts", ".ts")], ["b", "b", ".ts"]);
assert.deepEqual(["a.b.c", ".a", "a", "..", "a.", ".a.b"].map(path.extname), [".c", "", "", "", ".", ".b"]);
assert.deepEqual(path.parse("/home/u/f.txt"), { root: "/", dir: "/home/u", base: "f.txt", ext: ".txt", name: "f" });
assert.equal(path.format({ dir: "/a", name: "b", ext: "c" }), "/a/b.c");
assert.ok(path.isAbsolute("/x") && !path.isAbsolute("x"));
assert.throws(() => path.join(1), /must be of type string/);
assert.throws(() => path.win32, /not provided/);`)
}

func TestFsReadsWritesAndChangesFilesInAllThreeStyles(t *testing.T) {
	r, dir := world(t)
	r.Must(t, `
const assert = require("assert"), fs = require("fs"), p = require("fs/promises"), path = require("path"), { promisify } = require("util");
fs.mkdirSync("a/b/c", { recursive: true });
fs.writeFileSync("a/f.txt", "héllo");
fs.appendFileSync("a/f.txt", "!");
assert.equal(fs.readFileSync("a/f.txt", "utf8"), "héllo!");
assert.equal(fs.readFileSync("a/f.txt").length, 7);
assert.equal(fs.readFileSync("a/f.txt", { encoding: "base64" }), Buffer.from("héllo!").toString("base64"));
await p.writeFile("a/g.bin", new Uint8Array([1, 2, 255]));
assert.deepEqual([...await p.readFile("a/g.bin")], [1, 2, 255]);
assert.equal(await promisify(fs.readFile)("a/f.txt", "utf8"), "héllo!");
const s = fs.statSync("a/f.txt");
assert.ok(s.isFile() && !s.isDirectory() && s.size === 7 && Math.abs(s.mtimeMs - Date.now()) < 60000 && s.mtime instanceof Date);
assert.deepEqual(fs.readdirSync("a").sort(), ["b", "f.txt", "g.bin"]);
const ents = fs.readdirSync("a", { withFileTypes: true });
assert.deepEqual(ents.filter((d) => d.isDirectory()).map((d) => d.name), ["b"]);
assert.deepEqual((await p.readdir("a", { recursive: true })).sort(), ["b", "b/c", "f.txt", "g.bin"]);
fs.symlinkSync("f.txt", "a/l");
assert.ok(fs.lstatSync("a/l").isSymbolicLink());
assert.equal(fs.readlinkSync("a/l"), "f.txt");
assert.equal(fs.realpathSync("a/l"), path.resolve("a/f.txt"));
await p.rename("a/g.bin", "a/h.bin");
await p.copyFile("a/h.bin", "a/i.bin");
await p.copyFile("a/i.bin", "a/i.bin");
assert.equal(fs.readFileSync("a/i.bin").length, 3);
await assert.rejects(p.copyFile("a/h.bin", "a/i.bin", fs.constants.COPYFILE_EXCL), { code: "EEXIST" });
fs.chmodSync("a/h.bin", 0o600);
assert.equal(fs.statSync("a/h.bin").mode & 0o777, 0o600);
fs.utimesSync("a/h.bin", 1000, 2000);
assert.equal(fs.statSync("a/h.bin").mtimeMs, 2000000);
fs.truncateSync("a/h.bin", 1);
assert.equal(fs.statSync("a/h.bin").size, 1);
assert.ok(fs.existsSync("a/f.txt") && !fs.existsSync("a/none"));
await p.access("a/f.txt", fs.constants.R_OK);
fs.cpSync("a", "z", { recursive: true });
assert.equal(fs.readFileSync("z/f.txt", "utf8"), "héllo!");
assert.throws(() => fs.cpSync("a", "a/b/sub", { recursive: true }), /into itself/);
const tmp = fs.mkdtempSync("tmp-");
assert.match(tmp, /tmp-.+/);
const fd = fs.openSync("a/k", "w+");
assert.equal(fs.writeSync(fd, "abcdef"), 6);
const buf = Buffer.alloc(3);
assert.equal(fs.readSync(fd, buf, 0, 3, 2), 3);
assert.equal(buf.toString(), "cde");
fs.closeSync(fd);
assert.throws(() => fs.readSync(fd, buf), { code: "EBADF" });
const h = await p.open("a/k", "r");
assert.equal((await h.readFile("utf8")), "abcdef");
await h.close();
fs.rmSync("a/b", { recursive: true });
fs.rmSync("nothing", { force: true });
assert.throws(() => fs.rmSync("nothing"), { code: "ENOENT" });
assert.throws(() => fs.unlinkSync("a"), (e) => e.code === "EISDIR" || e.code === "EPERM");
fs.unlinkSync("a/l");
const err = await new Promise((r) => fs.readFile("none", (e) => r(e)));
assert.equal(err.code, "ENOENT");
assert.equal(err.message, "ENOENT: no such file or directory, open 'none'");
assert.equal(err.syscall, "open");
assert.throws(() => fs.readFileSync("a"), { code: "EISDIR" });
assert.equal(fs.statSync("none", { throwIfNoEntry: false }), undefined);
assert.throws(() => fs.readFileSync(undefined), { code: "ERR_INVALID_ARG_TYPE" });
assert.throws(() => fs.readFileSync("a\0b"), /null byte/);
assert.throws(() => fs.watchFile("a"), /fs.watchFile is not provided by Scorel/);`)
	if b, err := os.ReadFile(filepath.Join(dir, "a/f.txt")); err != nil || string(b) != "héllo!" {
		t.Errorf("on disk: %q, %v", b, err)
	}
}

func TestFsStreamsReadAndWritePieces(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), fs = require("fs"), { pipeline } = require("stream/promises"), { Transform } = require("stream"), readline = require("readline");
const w = fs.createWriteStream("big");
for (let i = 0; i < 1000; i++) if (!w.write("line " + i + "\n")) await new Promise((r) => w.once("drain", r));
await new Promise((r) => w.end(r));
const data = [];
const s = fs.createReadStream("big", { highWaterMark: 1000, encoding: "utf8" });
await new Promise((ok, no) => s.on("data", (d) => data.push(d)).on("end", ok).on("error", no));
assert.equal(data.join(""), fs.readFileSync("big", "utf8"));
assert.ok(data.length > 5);
assert.equal((await new Promise((ok) => { let t = ""; fs.createReadStream("big", { start: 5, end: 9 }).on("data", (d) => (t += d)).on("end", () => ok(t)); })), "0\nlin");
const up = new Transform({ transform(v, e, cb) { cb(null, v.toString().toUpperCase()); } });
await pipeline(fs.createReadStream("big"), up, fs.createWriteStream("up"));
assert.ok(fs.readFileSync("up", "utf8").startsWith("LINE 0\nLINE 1\n"));
const it = readline.createInterface({ input: fs.createReadStream("big") })[Symbol.asyncIterator]();
let k = 0;
for (let x = await it.next(); !x.done; x = await it.next()) assert.equal(x.value, "line " + k++);
assert.equal(k, 1000);
await assert.rejects(pipeline(fs.createReadStream("none"), fs.createWriteStream("out")), { code: "ENOENT" });`)
}

func TestChildProcessesRunWithStreamsExitCodesAndLimits(t *testing.T) {
	r, dir := world(t)
	r.Must(t, `
const assert = require("assert"), cp = require("child_process"), { promisify } = require("util");
assert.equal(cp.execSync("echo hi; pwd", { encoding: "utf8" }), "hi\n`+dir+`\n");
assert.equal(cp.execFileSync("cat", [], { input: "abc" }).toString(), "abc");
const r = cp.spawnSync("sh", ["-c", "echo out; echo err >&2; exit 3"], { encoding: "utf8" });
assert.deepEqual([r.stdout, r.stderr, r.status, r.signal], ["out\n", "err\n", 3, null]);
assert.throws(() => cp.execSync("exit 4", { stdio: "pipe" }), (e) => e.status === 4);
assert.equal(cp.spawnSync("no-such-program").error.code, "ENOENT");
assert.equal(cp.spawnSync("sleep", ["30"], { timeout: 50 }).error.code, "ETIMEDOUT");
assert.equal(cp.spawnSync("sh", ["-c", "yes"], { maxBuffer: 1000 }).error.code, "ENOBUFS");
const { stdout } = await promisify(cp.exec)("echo $X", { env: { X: "42", PATH: process.env.PATH } });
assert.equal(stdout, "42\n");
await assert.rejects(promisify(cp.exec)("echo bad >&2; exit 7"), (e) => e.code === 7 && e.stderr === "bad\n" && e.message.includes("bad"));
const c = cp.spawn("sh", ["-c", "read x; echo got $x; exit 5"]);
let out = "";
c.stdout.on("data", (d) => (out += d));
c.stdin.write("one\n");
c.stdin.end();
const events = [];
c.on("spawn", () => events.push("spawn")).on("exit", (code) => events.push("exit " + code));
const code = await new Promise((r) => c.on("close", r));
assert.equal(code, 5);
assert.equal(out, "got one\n");
assert.deepEqual(events, ["spawn", "exit 5"]);
assert.ok(c.pid > 0 && c.exitCode === 5);
const s = cp.spawn("sleep", ["30"]);
s.kill();
assert.deepEqual(await new Promise((r) => s.on("close", (...a) => r(a))), [null, "SIGTERM"]);
const gone = cp.spawn("no-such-program");
assert.equal((await new Promise((r) => gone.on("error", r))).code, "ENOENT");
const big = await promisify(cp.execFile)("sh", ["-c", "head -c 300000 /dev/zero | tr '\\0' x"]);
assert.equal(big.stdout.length, 300000);
const ac = new AbortController();
const ab = cp.spawn("sleep", ["30"], { signal: ac.signal });
const failed = new Promise((r) => ab.on("error", r));
ac.abort();
assert.equal((await failed).name, "AbortError");
await new Promise((r) => ab.exitCode === null && ab.signalCode === null ? ab.on("close", r) : r());
assert.throws(() => cp.fork("x"), /child_process.fork is not provided/);`)
}

// TestNothingOfAChildIsOpenWhenItHasEnded: the collector of garbage, which closes what was
// forgotten, does not run.
func TestNothingOfAChildIsOpenWhenItHasEnded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r, _ := world(t)
	children := func() {
		r.Must(t, `
const cp = require("child_process");
for (let i = 0; i < 5; i++) {
  cp.spawnSync("sh", ["-c", "echo out; echo err >&2"]);
  for (const stdio of ["pipe", "ignore"]) {
    const c = cp.spawn("sh", ["-c", "echo out; echo err >&2"], { stdio });
    await new Promise((r) => c.on("close", r));
  }
}`)
	}
	children()
	before := descriptors()
	children()
	if after := descriptors(); after > before {
		t.Errorf("%d descriptors were open, and %d after 15 children more", before, after)
	}
}

// descriptors counts what this process has open; 0 where the system does not say.
func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

func TestAChildDoesNotSeeTheKeysOfTheHost(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	r, _ := world(t)
	// The engine is given what its caller scrubbed; children get process.env and no more.
	got := r.Must(t, `return require("child_process").execSync("env", { env: { A: "1" }, encoding: "utf8" })`)
	if strings.Contains(got, "sk-secret") || !strings.Contains(got, "A=1") {
		t.Errorf("the environment of a child is %s", got)
	}
}

func TestCryptoHashesAndRandomness(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), crypto = require("crypto");
assert.equal(crypto.createHash("sha256").update("abc").digest("hex"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
assert.equal(crypto.createHash("md5").update("a").update(Buffer.from("bc")).digest("hex"), "900150983cd24fb0d6963f7d28e17f72");
assert.equal(crypto.createHash("sha1").update("abc").digest("base64"), "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
const h = crypto.createHash("sha256").update("a"), c = h.copy();
assert.equal(c.update("bc").digest("hex"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
assert.equal(crypto.createHmac("sha256", "key").update("The quick brown fox jumps over the lazy dog").digest("hex"), "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8");
assert.throws(() => { h.digest(); h.digest(); }, { code: "ERR_CRYPTO_HASH_FINALIZED" });
assert.throws(() => crypto.createHash("nope"), /not supported/);
assert.equal(crypto.randomBytes(16).length, 16);
assert.notEqual(crypto.randomBytes(16).toString("hex"), crypto.randomBytes(16).toString("hex"));
assert.match(crypto.randomUUID(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
assert.ok(crypto.timingSafeEqual(Buffer.from("ab"), Buffer.from("ab")) && !crypto.timingSafeEqual(Buffer.from("ab"), Buffer.from("ac")));
assert.throws(() => crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("ab")), RangeError);
const seen = new Set(); for (let i = 0; i < 200; i++) { const v = crypto.randomInt(3); assert.ok(v >= 0 && v < 3); seen.add(v); } assert.equal(seen.size, 3);
assert.equal(crypto.pbkdf2Sync("password", "salt", 1, 20, "sha1").toString("hex"), "0c60c80f961f0e71f3a9b524af6012062fe037a6");
assert.throws(() => crypto.createCipheriv("aes-256-gcm"), /not provided/);`)
}

func TestUtilInspectsFormatsAndPromisifies(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), util = require("util");
assert.equal(util.format("%s is %d, %j %o %%", "a", 4.5, { b: 1 }, [1]), 'a is 4.5, {"b":1} [ 1 ] %');
assert.equal(util.inspect({ a: [1, "x", null], m: new Map([["k", 1n]]), f() {}, d: new Date(0) }), "{\n  a: [ 1, 'x', null ],\n  m: Map(1) { 'k' => 1n },\n  f: [Function: f],\n  d: 1970-01-01T00:00:00.000Z\n}");
const loop = { name: "l" }; loop.self = loop;
assert.equal(util.inspect(loop), "{ name: 'l', self: [Circular] }");
assert.equal(util.inspect(Buffer.from("hi")), "<Buffer 68 69>");
assert.equal(util.inspect({ a: { b: { c: { d: 1 } } } }), "{ a: { b: { c: [Object] } } }");
assert.equal(await util.promisify((a, cb) => cb(null, a + 1))(1), 2);
await assert.rejects(util.promisify((cb) => cb(new Error("x")))(), /x/);
assert.ok(util.isDeepStrictEqual({ a: [1, new Set([2])] }, { a: [1, new Set([2])] }) && !util.isDeepStrictEqual([1], ["1"]));
assert.ok(util.types.isRegExp(/x/) && util.types.isUint8Array(Buffer.alloc(1)));
assert.equal(util.stripVTControlCharacters("\x1b[31mred\x1b[0m"), "red");
const { values, positionals } = util.parseArgs({ args: ["-v", "--out=x", "file"], options: { verbose: { type: "boolean", short: "v" }, out: { type: "string" } }, allowPositionals: true });
assert.deepEqual({ ...values }, { verbose: true, out: "x" });
assert.deepEqual(positionals, ["file"]);
await new Promise((r) => util.callbackify(async () => 5)((e, v) => { assert.equal(v, 5); r(); }));`)
}

func TestEventsCallListenersInOrder(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), { EventEmitter, once, on } = require("events");
class E extends EventEmitter {}
const e = new E(), got = [];
e.on("x", (v) => got.push("a" + v)); e.once("x", (v) => got.push("b" + v)); e.prependListener("x", (v) => got.push("0" + v));
e.emit("x", 1); e.emit("x", 2);
assert.deepEqual(got, ["01", "a1", "b1", "02", "a2"]);
assert.equal(e.listenerCount("x"), 2);
assert.equal(e.emit("none"), false);
assert.throws(() => e.emit("error", new Error("boom")), /boom/);
setTimeout(() => e.emit("later", 7), 1);
assert.deepEqual(await once(e, "later"), [7]);
const it = on(e, "s"); e.emit("s", 1); e.emit("s", 2);
assert.deepEqual([(await it.next()).value, (await it.next()).value], [[1], [2]]);
await it.return();
assert.equal(e.listenerCount("s"), 0);
e.removeAllListeners();
assert.deepEqual(e.eventNames(), []);
assert.throws(() => e.on("x", 1), { code: "ERR_INVALID_ARG_TYPE" });`)
}

func TestUrlParsesAsBrowsersDo(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), url = require("url");
const u = new URL("../c?x=1&y=a%20b#h", "https://user:pw@example.com:8080/a/b/");
assert.equal(u.href, "https://user:pw@example.com:8080/a/c?x=1&y=a%20b#h");
assert.deepEqual([u.protocol, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.origin], ["https:", "example.com:8080", "example.com", "8080", "/a/c", "?x=1&y=a%20b", "#h", "https://example.com:8080"]);
assert.equal(u.searchParams.get("y"), "a b");
u.searchParams.append("z", "ü&"); assert.ok(u.href.includes("z=%C3%BC%26"));
assert.throws(() => new URL("no"), TypeError);
assert.ok(URL.canParse("http://x") && !URL.canParse("x"));
assert.equal(url.fileURLToPath("file:///a%20b/c"), "/a b/c");
assert.equal(url.pathToFileURL("/a b#c").href, "file:///a%20b%23c");
assert.deepEqual({ ...url.parse("http://h/p?q=1", true).query }, { q: "1" });
const p = new URLSearchParams({ a: "1", b: "2" }); p.delete("a"); assert.equal(p.toString(), "b=2");
assert.deepEqual([...new URLSearchParams("a=1&a=2").getAll("a")], ["1", "2"]);
assert.deepEqual({ ...require("querystring").parse("a=1&b=x+y&a=2") }, { a: ["1", "2"], b: "x y" });`)
}

func TestBufferConvertsSearchesAndReadsNumbers(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert");
const b = Buffer.from("héllo wörld");
assert.ok(Buffer.isBuffer(b) && b instanceof Uint8Array && Buffer.isBuffer(b.subarray(1)) && Buffer.isBuffer(b.slice(1)));
assert.equal(b.toString("hex"), "68c3a96c6c6f2077c3b6726c64");
for (const e of ["utf8", "hex", "base64", "base64url", "utf16le"]) assert.equal(Buffer.from(b.toString(e), e).toString(), e === "utf16le" ? Buffer.from(b.toString("utf16le"), "utf16le").toString() : "héllo wörld");
assert.equal(Buffer.from("/w==", "base64")[0], 255); assert.equal(Buffer.from("_w", "base64")[0], 255);
assert.equal(Buffer.from([255, 254]).toString("base64url"), "__4");
assert.equal(Buffer.from("ÿ", "latin1").length, 1);
assert.equal(Buffer.concat([Buffer.from("a"), Buffer.from("bc")]).toString(), "abc");
assert.equal(b.indexOf("wör"), 7); assert.equal(b.lastIndexOf("l"), 11); assert.equal(b.indexOf(0), -1); assert.ok(b.includes("llo"));
assert.equal(Buffer.byteLength("é"), 2);
const n = Buffer.alloc(16);
n.writeUInt32BE(0xdeadbeef, 0); assert.equal(n.readUInt32BE(0), 0xdeadbeef); assert.equal(n.readInt32LE(0), n.readInt32LE());
n.writeDoubleLE(1.5, 4); assert.equal(n.readDoubleLE(4), 1.5);
n.writeBigInt64BE(-5n, 8); assert.equal(n.readBigInt64BE(8), -5n);
n.writeUIntLE(0x123456, 0, 3); assert.equal(n.readUIntLE(0, 3), 0x123456);
assert.throws(() => n.readUInt32LE(13), { code: "ERR_OUT_OF_RANGE" }); assert.throws(() => n.writeUInt8(300), { code: "ERR_OUT_OF_RANGE" });
assert.deepEqual(JSON.parse(JSON.stringify(Buffer.from("a"))), { type: "Buffer", data: [97] });
assert.equal(Buffer.from(JSON.parse(JSON.stringify(b))).toString(), "héllo wörld");
assert.equal(Buffer.alloc(5, "ab").toString(), "ababa");
assert.ok(Buffer.from("a").equals(Buffer.from("a"))); assert.equal(Buffer.compare(Buffer.from("a"), Buffer.from("b")), -1);
const t = Buffer.alloc(3); assert.equal(Buffer.from("abcdef").copy(t, 1, 2), 2); assert.equal(t.toString("latin1"), "\0cd");
assert.equal(t.write("zé", 1), 1);
assert.equal(Buffer.from(new Uint8Array([1, 2, 3]).buffer, 1, 2).length, 2);
assert.equal(new TextDecoder().decode(new Uint8Array([0xe2, 0x82])), "\ufffd");
assert.throws(() => Buffer.from(5), TypeError); assert.throws(() => Buffer.alloc(-1), RangeError); assert.throws(() => Buffer.from("a", "nope"), /Unknown encoding/);`)
}

func TestStreamsBufferPushBackAndEnd(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), { Readable, Writable, PassThrough, Transform, finished, pipeline } = require("stream");
const it = Readable.from(["a", "b", "c"])[Symbol.asyncIterator](), got = [];
for (let s = await it.next(); !s.done; s = await it.next()) got.push(s.value);
assert.deepEqual(got, ["a", "b", "c"]);
const out = [], w = new Writable({ write(v, e, cb) { out.push(v.toString()); setTimeout(cb, 1); }, highWaterMark: 2 });
assert.equal(w.write("xyz"), false);
await new Promise((r) => w.once("drain", r));
await new Promise((r) => w.end("q", r));
assert.deepEqual(out, ["xyz", "q"]);
await new Promise((r) => { w.once("error", (e) => { assert.equal(e.code, "ERR_STREAM_WRITE_AFTER_END"); r(); }); w.destroyed = false; w.write("late"); });
const p = new PassThrough(); p.end("through");
assert.equal(await new Promise((r) => { let t = ""; p.on("data", (d) => (t += d)).on("end", () => r(t)); }), "through");
const bad = new Readable({ read() { this.destroy(new Error("broken")); } });
await assert.rejects(new Promise((r, no) => { bad.on("error", no); bad.resume(); }), /broken/);
await new Promise((r) => pipeline(Readable.from(["1", "2"]), new Transform({ objectMode: true, transform(v, e, cb) { cb(null, v + v); } }), new Writable({ objectMode: true, write(v, e, cb) { out.push(v); cb(); } }), (e) => { assert.ok(!e); r(); }));
assert.deepEqual(out.slice(2), ["11", "22"]);`)
}

func TestTimersWaitRepeatAndStop(t *testing.T) {
	r, _ := world(t)
	r.Must(t, `
const assert = require("assert"), timers = require("timers"), p = require("timers/promises");
assert.equal(await p.setTimeout(1, "v"), "v");
const ac = new AbortController(); const w = p.setTimeout(100000, 0, { signal: ac.signal }); ac.abort(); await assert.rejects(w, { name: "AbortError" });
let k = 0;
await new Promise((r) => { const i = setInterval((step) => { if ((k += step) === 6) { clearInterval(i); r(); } }, 1, 2); });
await p.setTimeout(10);
assert.equal(k, 6);
const order = [];
setTimeout(() => order.push("timeout"), 0); queueMicrotask(() => order.push("micro")); process.nextTick(() => order.push("tick")); order.push("sync");
await p.setTimeout(5);
assert.deepEqual(order, ["sync", "micro", "tick", "timeout"]);
const t = setTimeout(() => { throw new Error("must not run"); }, 1); clearTimeout(Number(t));
assert.equal(t.unref(), t);
const it = p.setInterval(1, "i")[Symbol.asyncIterator](); assert.equal((await it.next()).value, "i");
timers.setImmediate((v) => order.push(v), "immediate"); await p.setTimeout(5); assert.equal(order[4], "immediate");`)
	if f := r.Failures(); len(f) != 0 {
		t.Errorf("failed: %q", f)
	}
}

func TestProcessTellsAndRefuses(t *testing.T) {
	r, dir := world(t)
	r.Must(t, `
const assert = require("assert"), os = require("os");
assert.equal(process.cwd(), "`+dir+`");
assert.equal(require("process"), process);
process.env.NEW = "1"; assert.equal(require("child_process").execSync("echo $NEW", { encoding: "utf8" }), "1\n");
assert.ok(process.pid > 1 && process.platform && process.hrtime.bigint() > 0n && process.memoryUsage().heapUsed > 0);
assert.throws(() => process.exit(1), /process.exit is refused/);
assert.throws(() => process.chdir("/"), /refused/);
assert.throws(() => process.stdin, /not provided/);
assert.throws(() => process.kill(99999999, 0), { code: "ESRCH" });
process.stdout.write("half "); process.stdout.write("line\n"); process.stderr.write("bad\n");
assert.equal(os.EOL, "\n"); assert.ok(os.homedir() && os.hostname() && os.cpus().length > 0 && os.totalmem() > 0 && os.userInfo().uid >= 0);
assert.equal(os.constants.signals.SIGTERM, 15);`)
	if got := strings.Join(r.Lines(), "|"); got != "info: half line|error: bad" {
		t.Errorf("logged %q", got)
	}
}

func TestWatchersTellOfChanges(t *testing.T) {
	r := enginetest.New(t, t.TempDir(), Builtin)
	got := r.Must(t, `
const fs = require("fs"), dir = process.cwd();
fs.writeFileSync(dir + "/a", "1");
const told = [];
let more;
const w = fs.watch(dir + "/a", (type, name) => { told.push(type + " " + name); more(); });
const f = fs.watch(dir);
f.on("change", (type, name) => { if (name === "b") { told.push(type + " of " + name); more(); } });
const next = () => new Promise((done) => { more = done; });
let wait = next();
fs.writeFileSync(dir + "/a", "22");
await wait;
wait = next();
fs.writeFileSync(dir + "/b", "1");
await wait;
w.close(); f.close();
let missing = "";
try { fs.watch(dir + "/none", () => {}); } catch (err) { missing = err.code; }
return told.concat(missing);`)
	if got != `["change a","rename of b","ENOENT"]` {
		t.Errorf("told %s", got)
	}
}
