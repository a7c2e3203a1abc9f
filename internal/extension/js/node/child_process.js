(function (module, internal, native) {
  "use strict";
  const { n, absent, define } = internal;
  const EventEmitter = n.module("events"), { Buffer } = n.module("buffer"), { Readable, Writable } = n.module("stream");
  const dir = (c) => (c === undefined || c === null ? "" : typeof c === "string" ? c : decodeURIComponent(c.pathname));
  const environment = (o) => Object.entries(o.env || process.env).filter(([, v]) => v !== undefined && v !== null).map(([k, v]) => k + "=" + v);
  const signalName = (s) => (typeof s === "number" ? s : native.signal(String(s)));
  const args = (v) => { if (v === undefined || v === null) return []; if (!Array.isArray(v)) throw Object.assign(new TypeError('The "args" argument must be an instance of Array'), { code: "ERR_INVALID_ARG_TYPE" }); return v.map(String); };
  const parse = (file, a, o) => {
    if (typeof file !== "string" || !file) throw Object.assign(new TypeError('The "file" argument must be of type string.'), { code: "ERR_INVALID_ARG_TYPE" });
    if (!Array.isArray(a) && a !== null && typeof a === "object") { o = a; a = []; }
    o = o || {}; a = args(a);
    if (o.shell) return [typeof o.shell === "string" ? o.shell : "/bin/sh", ["-c", [file, ...a].join(" ")], o, [file, ...a]];
    return [file, a, o, [file, ...a]];
  };
  const stdioOf = (o) => { const s = o.stdio === undefined ? "pipe" : o.stdio; const l = typeof s === "string" ? [s, s, s] : [...s]; while (l.length < 3) l.push("pipe"); return l.map((v) => (v === null || v === undefined || v === "overlapped" ? "pipe" : v === 0 || v === 1 || v === 2 ? "inherit" : v)); };
  class ChildProcess extends EventEmitter {
    constructor() { super(); EventEmitter.call(this); this.killed = false; this.exitCode = null; this.signalCode = null; this.connected = false; }
    kill(sig = "SIGTERM") { if (!this.handle || this.exitCode !== null || this.signalCode !== null) return false; const ok = this.handle.kill(signalName(sig)); if (ok) this.killed = true; return ok; }
    ref() {} unref() {}
    [Symbol.dispose]() { this.kill(); }
  }
  function spawn(file, a, o) {
    let shown;
    [file, a, o, shown] = parse(file, a, o);
    const child = new ChildProcess(), stdio = stdioOf(o);
    child.spawnfile = file; child.spawnargs = [file, ...a];
    for (const s of stdio) if (s !== "pipe" && s !== "ignore" && s !== "inherit") throw new Error("child_process: stdio knows pipe, ignore and inherit; " + internal.inspect(s) + " is not provided by Scorel");
    if (o.signal && o.signal.aborted) { process.nextTick(() => child.emit("error", Object.assign(new Error("The operation was aborted"), { name: "AbortError", code: "ABORT_ERR" }))); return child; }
    let handle;
    try { handle = native.start(file, a, environment(o), dir(o.cwd)); } catch (e) {
      const err = Object.assign(new Error("spawn " + file + " " + (e.code || e.message)), { code: e.code, errno: e.errno, syscall: "spawn " + file, path: file, spawnargs: a });
      if (!e.code) err.message = "spawn " + file + ": " + e.message;
      child.stdin = child.stdout = child.stderr = null;
      if (stdio[0] === "pipe") child.stdin = new Writable({ write(v, e2, cb) { cb(); } });
      for (const [i, k] of [[1, "stdout"], [2, "stderr"]]) if (stdio[i] === "pipe") { child[k] = new Readable(); child[k].push(null); }
      process.nextTick(() => { child.emit("error", err); child.emit("close", -2, null); });
      return child;
    }
    define(child, "handle", handle);
    child.pid = handle.pid;
    child.stdin = null;
    if (stdio[0] === "pipe") child.stdin = new Writable({ write(v, e, cb) { handle.write(v).then(() => cb(), cb); }, final(cb) { handle.closeStdin(); cb(); }, destroy(e, cb) { handle.closeStdin(); cb(e); } });
    else handle.closeStdin();
    let open = 1;
    const close = () => { if (--open === 0) process.nextTick(() => child.emit("close", child.exitCode, child.signalCode)); };
    for (const [i, k] of [[1, "stdout"], [2, "stderr"]]) {
      child[k] = null;
      open++;
      if (stdio[i] === "pipe") {
        const s = new Readable({ read() { handle["read" + i]().then((b) => s.push(b === null ? null : Buffer.from(b)), (e) => s.destroy(e)); } });
        child[k] = s;
        s.on("close", close);
        s.once("end", () => {});
      } else {
        const drain = () => handle["read" + i]().then((b) => { if (b === null) return close(); if (stdio[i] === "inherit") process[k].write(Buffer.from(b)); drain(); }, close);
        drain();
      }
    }
    child.stdio = [child.stdin, child.stdout, child.stderr];
    let timer = null;
    if (o.timeout) timer = setTimeout(() => child.kill(o.killSignal || "SIGTERM"), o.timeout);
    if (o.signal) o.signal.addEventListener("abort", () => { if (child.kill(o.killSignal || "SIGTERM")) child.emit("error", Object.assign(new Error("The operation was aborted"), { name: "AbortError", code: "ABORT_ERR", cause: o.signal.reason })); }, { once: true });
    handle.wait().then(([code, signal]) => {
      if (timer) clearTimeout(timer);
      child.exitCode = signal ? null : code; child.signalCode = signal || null;
      child.emit("exit", child.exitCode, child.signalCode);
      // What nobody reads must not hold the end back.
      for (const k of ["stdout", "stderr"]) { const s = child[k]; if (s && s.flowing === null && !s.listenerCount("readable")) s.resume(); }
      close();
    });
    process.nextTick(() => child.emit("spawn"));
    return child;
  }
  function execFile(file, a, o, cb) {
    if (typeof a === "function") { cb = a; a = []; o = {}; } else if (typeof o === "function") { cb = o; o = Array.isArray(a) ? {} : a; a = Array.isArray(a) ? a : []; } else if (!Array.isArray(a) && a) { o = a; a = []; }
    o = o || {};
    const child = spawn(file, a, { ...o, timeout: 0 });
    const max = o.maxBuffer === undefined ? 1024 * 1024 : o.maxBuffer, parts = { stdout: [], stderr: [] };
    let error = null, killed = false, timer = null;
    const kill = () => { killed = true; child.kill(o.killSignal || "SIGTERM"); };
    for (const k of ["stdout", "stderr"]) {
      let size = 0;
      if (child[k]) child[k].on("data", (b) => {
        if (size >= max) return;
        if (size + b.length > max) { b = b.subarray(0, max - size); error = Object.assign(new RangeError(k + " maxBuffer length exceeded"), { code: "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" }); kill(); size = max; } else size += b.length;
        parts[k].push(b);
      });
    }
    if (o.timeout) timer = setTimeout(kill, o.timeout);
    const text = (k) => { const b = Buffer.concat(parts[k]); return o.encoding === "buffer" || o.encoding === null ? b : b.toString(o.encoding || "utf8"); };
    let called = false;
    const done = (err) => {
      if (called) return;
      called = true;
      if (timer) clearTimeout(timer);
      const stdout = text("stdout"), stderr = text("stderr");
      const cmd = [file, ...args(a)].join(" ");
      if (!err && (child.exitCode !== 0 || child.signalCode)) err = Object.assign(new Error("Command failed: " + (o.shown || cmd) + "\n" + stderr), { code: child.exitCode === null ? null : child.exitCode, killed: killed || child.killed, signal: child.signalCode, cmd: o.shown || cmd });
      if (err) { err.stdout = stdout; err.stderr = stderr; }
      if (cb) cb(err || null, stdout, stderr);
    };
    child.on("error", (e) => { error = error || e; if (!child.pid) done(e); });
    child.on("close", () => done(error));
    return child;
  }
  const exec = (cmd, o, cb) => { if (typeof o === "function") { cb = o; o = {}; } return execFile(typeof (o && o.shell) === "string" ? o.shell : "/bin/sh", ["-c", cmd], { ...o, shell: false, shown: cmd }, cb); };
  const promised = (f) => (...a) => {
    let child;
    const p = new Promise((resolve, reject) => { child = f(...a, (e, stdout, stderr) => (e ? reject(Object.assign(e, { stdout, stderr })) : resolve({ stdout, stderr }))); });
    p.child = child;
    return p;
  };
  const kCustom = Symbol.for("nodejs.util.promisify.custom");
  define(exec, kCustom, promised(exec)); define(execFile, kCustom, promised(execFile));
  function spawnSync(file, a, o) {
    [file, a, o] = parse(file, a, o);
    const input = o.input === undefined || o.input === null ? null : typeof o.input === "string" ? Buffer.from(o.input, "utf8") : new Uint8Array(o.input.buffer, o.input.byteOffset, o.input.byteLength);
    const stdio = stdioOf(o), max = o.maxBuffer === undefined ? 1024 * 1024 : o.maxBuffer;
    let r;
    try { r = native.run(file, a, environment(o), dir(o.cwd), input, o.timeout || 0, Math.min(max, 2 ** 30), signalName(o.killSignal || "SIGTERM")); } catch (e) {
      const error = Object.assign(new Error("spawnSync " + file + " " + (e.code || e.message)), { code: e.code, errno: e.errno, syscall: "spawnSync " + file, path: file, spawnargs: a });
      return { pid: 0, output: null, stdout: null, stderr: null, status: null, signal: null, error };
    }
    const text = (ab, i) => { const b = Buffer.from(ab); if (stdio[i] === "inherit") { process[i === 1 ? "stdout" : "stderr"].write(b); return null; } return stdio[i] === "ignore" ? null : o.encoding && o.encoding !== "buffer" ? b.toString(o.encoding) : b; };
    const stdout = text(r.stdout, 1), stderr = text(r.stderr, 2);
    const result = { pid: r.pid, output: [null, stdout, stderr], stdout, stderr, status: r.signal ? null : r.code, signal: r.signal || null };
    if (r.reason) result.error = Object.assign(new Error("spawnSync " + file + " " + r.reason), { code: r.reason, syscall: "spawnSync " + file, path: file });
    return result;
  }
  const sync = (shown, r, o) => {
    if (r.stderr && r.stderr.length && (o.stdio === undefined)) process.stderr.write(r.stderr);
    if (r.error || r.status !== 0) throw Object.assign(r.error || new Error("Command failed: " + shown + (r.stderr ? "\n" + r.stderr : "")), r);
    return r.stdout;
  };
  const execFileSync = (file, a, o) => { if (!Array.isArray(a)) { o = a || o; a = []; } o = o || {}; return sync([file, ...a].join(" "), spawnSync(file, a, o), o); };
  const execSync = (cmd, o = {}) => sync(cmd, spawnSync(typeof o.shell === "string" ? o.shell : "/bin/sh", ["-c", cmd], { ...o, shell: false }), o);
  module.exports = { ChildProcess, spawn, exec, execFile, spawnSync, execSync, execFileSync };
  absent(module.exports, "child_process", ["fork"]);
})
