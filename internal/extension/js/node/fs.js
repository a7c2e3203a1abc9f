(function (module, internal, native) {
  "use strict";
  const { n, absent, define, bytesOf } = internal;
  const { Buffer } = n.module("buffer"), EventEmitter = n.module("events"), pathModule = n.module("path");
  const invalid = (name, want, v) => { throw Object.assign(new TypeError('The "' + name + '" argument must be ' + want + ". Received " + (v === null ? "null" : typeof v)), { code: "ERR_INVALID_ARG_TYPE" }); };
  const P = (p) => {
    if (typeof p === "string") { if (p.includes("\0")) throw Object.assign(new TypeError("The path contains a null byte"), { code: "ERR_INVALID_ARG_VALUE" }); return p; }
    if (Buffer.isBuffer(p)) return P(p.toString());
    if (p && typeof p === "object" && p.protocol === "file:") return P(decodeURIComponent(p.pathname));
    return invalid("path", "of type string or an instance of Buffer or URL", p);
  };
  const PF = (p) => (typeof p === "number" ? p : p && typeof p.fd === "number" ? p.fd : P(p));
  const enc = (o) => (typeof o === "string" ? o : o && o.encoding) || null;
  const data = (v, o) => (typeof v === "string" ? Buffer.from(v, enc(o) || "utf8") : v instanceof ArrayBuffer || ArrayBuffer.isView(v) ? bytesOf(v) : invalid("data", "of type string or an instance of Buffer, TypedArray, or DataView", v));
  const mode = (m, d) => { if (m === undefined || m === null) return d; if (typeof m === "string") return parseInt(m, 8); if (typeof m === "object") return mode(m.mode, d); return m; };
  const flag = (o, d) => (o && typeof o === "object" && o.flag) || d;
  const out = (ab, o) => { const b = Buffer.from(ab), e = enc(o); return e && e !== "buffer" ? b.toString(e) : b; };
  const kinds = { isFile: 0o100000, isDirectory: 0o040000, isSymbolicLink: 0o120000, isFIFO: 0o010000, isSocket: 0o140000, isCharacterDevice: 0o020000, isBlockDevice: 0o060000 };
  class Stats { constructor(s) { Object.assign(this, s); for (const k of ["atime", "mtime", "ctime", "birthtime"]) define(this, k, new Date(s[k + "Ms"])); } }
  class Dirent { constructor(d) { this.name = d.name; this.parentPath = d.parent; this.path = d.parent; define(this, "mode", d.mode); } }
  for (const [k, bits] of Object.entries(kinds)) for (const C of [Stats, Dirent]) define(C.prototype, k, function () { return (this.mode & 0o170000) === bits; });
  const stats = (s, o) => { if (o && o.bigint) throw new Error("fs.stat with bigint is not provided by Scorel"); return s === null ? undefined : new Stats(s); };
  const when = (t) => (t instanceof Date ? t.getTime() : typeof t === "string" ? Date.parse(t) : t * 1000);

  // Each operation: how its arguments become those of the native one, and its result.
  const ops = {
    readFile: [(p, o) => [PF(p), flag(o, "r")], (r, p, o) => out(r, o)],
    writeFile: [(p, v, o) => [PF(p), data(v, o), flag(o, "w"), mode(o && typeof o === "object" ? o.mode : undefined, 0o666)]],
    appendFile: [(p, v, o) => [PF(p), data(v, o), flag(o, "a"), mode(o && typeof o === "object" ? o.mode : undefined, 0o666)]],
    stat: [(p, o) => [P(p), !o || o.throwIfNoEntry !== false], (r, p, o) => stats(r, o)],
    lstat: [(p, o) => [P(p), !o || o.throwIfNoEntry !== false], (r, p, o) => stats(r, o)],
    fstat: [(fd) => [fd], (r) => stats(r)],
    readdir: [(p, o) => [P(p), !!(o && o.recursive)], (r, p, o) => (o && o.withFileTypes ? r.map((d) => new Dirent({ ...d, parent: d.parent === "" ? P(p) : pathModule.join(P(p), d.parent) })) : r.map((d) => (d.parent ? d.parent + "/" + d.name : d.name)))],
    mkdir: [(p, o) => [P(p), !!(o && o.recursive), mode(o, 0o777)], (r) => (r === "" ? undefined : r)],
    mkdtemp: [(p) => [P(p)], (r, p) => { const base = (s) => s.slice(s.lastIndexOf("/") + 1); return P(p) + base(r).slice(base(P(p)).length); }],
    rm: [(p, o) => [P(p), !!(o && o.recursive), !!(o && o.force)]],
    rmdir: [(p, o) => [P(p), !!(o && o.recursive)]],
    unlink: [(p) => [P(p)]], rename: [(a, b) => [P(a), P(b)]],
    copyFile: [(a, b, m) => [P(a), P(b), (m & 1) === 1]],
    cp: [(a, b, o = {}) => [P(a), P(b), !!o.recursive, o.force !== false, !!o.errorOnExist]],
    access: [(p, m) => [P(p), m === undefined ? 0 : m]],
    realpath: [(p) => [P(p)]], readlink: [(p) => [P(p)]], symlink: [(t, p) => [P(t), P(p)]], link: [(a, b) => [P(a), P(b)]],
    chmod: [(p, m) => [P(p), mode(m)]], utimes: [(p, a, m) => [P(p), when(a), when(m)]], truncate: [(p, k) => [PF(p), k || 0]], ftruncate: [(fd, k) => [fd, k || 0]],
    open: [(p, f, m) => [P(p), f === undefined ? "r" : f, mode(m, 0o666)]], close: [(fd) => [fd]], fsync: [(fd) => [fd]],
  };
  const same = (r) => r;
  const fs = {}, promises = {};
  for (const [name, [prepare, finish = same]] of Object.entries(ops)) {
    fs[name + "Sync"] = (...a) => finish(native.sync(name, prepare(...a)), ...a);
    const later = async (...a) => {
      const signal = a[a.length - 1] && a[a.length - 1].signal;
      if (signal && signal.aborted) throw signal.reason;
      return finish(await native.async(name, prepare(...a)), ...a);
    };
    promises[name] = later;
    const cbStyle = (...a) => {
      const cb = a.pop();
      if (typeof cb !== "function") throw Object.assign(new TypeError('The "cb" argument must be of type function. Received ' + typeof cb), { code: "ERR_INVALID_ARG_TYPE" });
      prepare(...a);
      later(...a).then((v) => internal.guarded("fs." + name, cb, v === undefined ? [null] : [null, v]), (e) => internal.guarded("fs." + name, cb, [e]));
    };
    fs[name] = cbStyle;
  }
  const readArgs = (fd, b, o, k, at) => { if (o !== null && typeof o === "object") ({ offset: o = 0, length: k = b.length - o, position: at = null } = o); o = o || 0; return [fd, b, o, k === undefined ? b.length - o : k, at === undefined || at === null ? -1 : Number(at)]; };
  const readInto = ([fd, b, o, k, at], r) => { const got = new Uint8Array(r); b.set(got, o); return got.length; };
  fs.readSync = (...a) => { const x = readArgs(...a); return readInto(x, native.sync("read", [x[0], x[3], x[4]])); };
  fs.read = (fd, b, ...a) => { const cb = a.pop(), x = readArgs(fd, b, ...a); native.async("read", [x[0], x[3], x[4]]).then((r) => cb(null, readInto(x, r), b), (e) => cb(e)); };
  const writeArgs = (fd, v, o, k, at) => { if (typeof v === "string") return [fd, Buffer.from(v, k), o === undefined || o === null ? -1 : Number(o)]; const b = bytesOf(v); o = o || 0; return [fd, b.subarray(o, k === undefined || k === null ? b.length : o + k), at === undefined || at === null ? -1 : Number(at)]; };
  fs.writeSync = (...a) => native.sync("write", writeArgs(...a));
  fs.write = (...a) => { const cb = a.pop(); native.async("write", writeArgs(...a)).then((k) => cb(null, k, a[1]), (e) => cb(e)); };
  fs.existsSync = (p) => { try { native.sync("access", [P(p), 0]); return true; } catch { return false; } };
  fs.exists = (p, cb) => cb(fs.existsSync(p));
  fs.realpath.native = fs.realpath; fs.realpathSync.native = fs.realpathSync;

  class FileHandle extends EventEmitter {
    constructor(fd) { super(); EventEmitter.call(this); this.fd = fd; }
    readFile(o) { return promises.readFile(this.fd, o); }
    writeFile(v, o) { return promises.writeFile(this.fd, v, o); }
    appendFile(v, o) { return promises.writeFile(this.fd, v, o); }
    async read(b, ...a) { if (b === undefined || !ArrayBuffer.isView(b)) { const o = b || {}; b = o.buffer || Buffer.alloc(16384); a = [o]; } const x = readArgs(this.fd, b, ...a); return { bytesRead: readInto(x, await native.async("read", [x[0], x[3], x[4]])), buffer: b }; }
    async write(v, ...a) { return { bytesWritten: await native.async("write", writeArgs(this.fd, v, ...a)), buffer: v }; }
    stat() { return promises.fstat(this.fd); }
    truncate(k) { return promises.ftruncate(this.fd, k); }
    sync() { return promises.fsync(this.fd); }
    async close() { if (this.fd < 0) return; const fd = this.fd; this.fd = -1; await promises.close(fd); }
    createReadStream(o) { return fs.createReadStream(null, { ...o, fd: this.fd }); }
    createWriteStream(o) { return fs.createWriteStream(null, { ...o, fd: this.fd }); }
    readLines(o) { return n.module("readline").createInterface({ input: this.createReadStream(o) }); }
    [Symbol.asyncDispose]() { return this.close(); }
  }
  const openFd = promises.open;
  promises.open = async (...a) => new FileHandle(await openFd(...a));
  for (const k of ["close", "fsync", "fstat", "ftruncate"]) define(promises, k, promises[k]);

  const constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL: 1, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: native.flags[0], O_EXCL: native.flags[1], O_TRUNC: native.flags[2], O_APPEND: native.flags[3], S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFLNK: 0o120000 };
  promises.constants = constants;
  Object.assign(fs, { promises, constants, Stats, Dirent, F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 });
  const options = (o) => (typeof o === "string" ? { encoding: o } : o || {});
  fs.createReadStream = (p, o) => {
    o = options(o);
    const { Readable } = n.module("stream");
    let fd = o.fd === undefined ? null : typeof o.fd === "number" ? o.fd : o.fd.fd, at = o.start === undefined ? -1 : o.start, left = o.end === undefined ? Infinity : o.end - (o.start || 0) + 1;
    if (fd === null) P(p);
    const s = new Readable({
      highWaterMark: o.highWaterMark || 65536, encoding: o.encoding, signal: o.signal,
      read(k) {
        (async () => {
          if (fd === null) { fd = await openFd(p, o.flags || "r"); s.fd = fd; s.emit("open", fd); s.emit("ready"); }
          const want = Math.min(k, left);
          const b = want > 0 ? Buffer.from(await native.async("read", [fd, want, at])) : Buffer.alloc(0);
          if (at >= 0) at += b.length;
          left -= b.length;
          s.bytesRead += b.length;
          s.push(b.length ? b : null);
        })().catch((e) => s.destroy(e));
      },
      destroy(e, cb) { if (fd === null || o.autoClose === false || o.fd !== undefined) return cb(e); const f = fd; fd = null; promises.close(f).then(() => cb(e), cb); },
    });
    s.path = p; s.bytesRead = 0;
    return s;
  };
  fs.createWriteStream = (p, o) => {
    o = options(o);
    const { Writable } = n.module("stream");
    let fd = o.fd === undefined ? null : typeof o.fd === "number" ? o.fd : o.fd.fd, at = o.start === undefined ? -1 : o.start;
    if (fd === null) P(p);
    const opened = fd === null ? openFd(p, o.flags || "w", o.mode) : Promise.resolve(fd);
    opened.then((f) => { fd = f; s.fd = f; s.emit("open", f); s.emit("ready"); }, (e) => s.destroy(e));
    const s = new Writable({
      highWaterMark: o.highWaterMark, signal: o.signal,
      write(v, e, cb) { opened.then((f) => native.async("write", [f, v, at])).then((k) => { if (at >= 0) at += k; s.bytesWritten += k; cb(); }, cb); },
      final(cb) { opened.then(() => cb(), cb); },
      destroy(e, cb) { opened.then((f) => (o.autoClose === false || o.fd !== undefined ? undefined : promises.close(f))).then(() => cb(e), () => cb(e)); },
    });
    s.path = p; s.bytesWritten = 0;
    return s;
  };
  fs.ReadStream = fs.createReadStream; fs.WriteStream = fs.createWriteStream;

  // Watching looks at a file, or at the names and files of a folder, again and again.
  const WATCH_MS = 500, MAX_WATCHERS = 64, MAX_WATCHED = 1000;
  let watching = 0;
  const looks = (p) => { try { const s = fs.statSync(p); return s.mtimeMs + " " + s.size + " " + s.ino; } catch { return null; } };
  const within = (p, folder) => {
    const found = new Map();
    if (folder) { try { for (const name of fs.readdirSync(p).slice(0, MAX_WATCHED)) found.set(name, looks(pathModule.join(p, name))); } catch { return found; } } else found.set(pathModule.basename(p), looks(p));
    return found;
  };
  class FSWatcher extends EventEmitter {
    constructor(p, o) {
      super(); EventEmitter.call(this);
      if (watching >= MAX_WATCHERS) throw new Error("fs.watch: " + MAX_WATCHERS + " files are watched already");
      const folder = fs.statSync(p).isDirectory();
      let before = within(p, folder);
      watching++;
      this.timer = setInterval(() => {
        const now = within(p, folder);
        for (const name of new Set([...before.keys(), ...now.keys()])) {
          const was = before.get(name), is = now.get(name);
          if (was !== is) this.emit("change", (was === null || was === undefined) !== (is === null || is === undefined) ? "rename" : "change", name);
        }
        before = now;
      }, WATCH_MS);
      if (o && o.signal) o.signal.addEventListener("abort", () => this.close(), { once: true });
    }
    close() { if (this.timer === null) return; clearInterval(this.timer); this.timer = null; watching--; this.emit("close"); }
    ref() { return this; }
    unref() { return this; }
  }
  fs.watch = (p, o, cb) => {
    if (typeof o === "function") [o, cb] = [undefined, o];
    if (o && o.recursive) throw new Error("fs.watch with recursive is not provided by Scorel");
    const w = new FSWatcher(P(p), o);
    if (cb) w.on("change", cb);
    return w;
  };
  fs.FSWatcher = FSWatcher;
  absent(fs, "fs", ["watchFile", "unwatchFile", "chown", "chownSync", "fchown", "fchownSync", "lchown", "lchownSync", "fchmod", "fchmodSync", "futimes", "futimesSync", "lutimes", "opendir", "opendirSync", "statfs", "statfsSync", "writev", "readv", "openAsBlob", "glob", "globSync"]);
  absent(promises, "fs.promises", ["watch", "chown", "lchown", "opendir", "statfs", "lutimes", "glob"]);
  module.exports = fs;
})
