(function (module, internal, native) {
  "use strict";
  const { n, absent, define } = internal;
  const EventEmitter = n.module("events");
  const process = new EventEmitter();
  const stream = (level) => {
    let rest = "";
    const s = new EventEmitter();
    Object.assign(s, {
      isTTY: false, writable: true, columns: 80, fd: level === "info" ? 1 : 2,
      write(v, e, cb) {
        rest += typeof v === "string" ? v : n.module("buffer").Buffer.from(v).toString();
        const lines = rest.split("\n");
        rest = lines.pop();
        if (rest.length > 16000) { lines.push(rest); rest = ""; }
        for (const l of lines) n.log(level, l);
        if (typeof e === "function") cb = e;
        if (cb) process.nextTick(cb);
        return true;
      },
      end(v) { if (v) s.write(v); if (rest) { n.log(level, rest); rest = ""; } },
      cork() {}, uncork() {}, getColorDepth: () => 1, hasColors: () => false,
    });
    return s;
  };
  const refuse = (what) => () => { throw new Error("process." + what + " is refused: the process belongs to all extensions of the session; return, or throw an error"); };
  const began = n.now();
  const env = Object.assign({}, native.env());
  Object.assign(process, {
    title: "scorel", argv: ["scorel", native.entry], argv0: "scorel", execArgv: [], execPath: native.execPath, pid: native.pid, ppid: native.ppid,
    platform: native.platform, arch: native.arch, version: "v20.0.0", versions: { node: "20.0.0", scorel: native.version }, release: { name: "node" }, features: {}, config: {},
    env, exitCode: undefined,
    cwd: () => native.cwd, chdir: refuse("chdir"), exit: refuse("exit"), abort: refuse("abort"), reallyExit: refuse("reallyExit"),
    umask: () => 0o022, uptime: () => (n.now() - began) / 1000, getuid: () => native.uid, geteuid: () => native.uid, getgid: () => native.gid, getegid: () => native.gid,
    hrtime: Object.assign((since) => { const t = n.now(); let s = Math.floor(t / 1000), ns = Math.floor((t % 1000) * 1e6); if (since) { s -= since[0]; ns -= since[1]; if (ns < 0) { s--; ns += 1e9; } } return [s, ns]; }, { bigint: () => BigInt(Math.floor(n.now() * 1e6)) }),
    memoryUsage: Object.assign(() => native.memoryUsage(), { rss: () => native.memoryUsage().rss }),
    cpuUsage: () => ({ user: 0, system: 0 }), resourceUsage: () => ({}),
    nextTick: (f, ...a) => { internal.callable(f); queueMicrotask(() => f(...a)); },
    emitWarning: (w) => console.warn(w instanceof Error ? w.name + ": " + w.message : "Warning: " + w),
    kill: (pid, sig = "SIGTERM") => { native.kill(pid, typeof sig === "number" ? sig : native.signal(String(sig))); return true; },
    stdout: stream("info"), stderr: stream("error"),
    binding: refuse("binding"), getBuiltinModule: (name) => { try { return n.module(String(name).replace(/^node:/, "")); } catch { return undefined; } },
  });
  Object.defineProperty(process, "stdin", { enumerable: true, get() { throw new Error("process.stdin is not provided by Scorel: an extension has no input; ask by ctx.ui"); } });
  define(process, Symbol.toStringTag, "process");
  absent(process, "process", ["dlopen", "setuid", "setgid", "send", "disconnect", "loadEnvFile"]);
  module.exports = process;
})
