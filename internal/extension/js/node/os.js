(function (module, internal, native) {
  "use strict";
  const { absent } = internal;
  const signals = native.signals();
  module.exports = {
    EOL: "\n", devNull: "/dev/null",
    platform: () => native.platform, type: () => (native.platform === "darwin" ? "Darwin" : "Linux"), arch: () => native.arch, machine: () => native.machine, release: () => native.release(), version: () => native.release(),
    homedir: () => process.env.HOME || native.home(), tmpdir: () => (process.env.TMPDIR || "/tmp").replace(/(.)\/+$/, "$1"), hostname: () => native.hostname(),
    cpus: () => Array.from({ length: native.cpus }, () => ({ model: "", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } })), availableParallelism: () => native.cpus,
    totalmem: () => native.memory()[0], freemem: () => native.memory()[1], uptime: () => native.uptime(), loadavg: () => native.loadavg(), endianness: () => "LE",
    userInfo: () => native.user(),
    constants: { signals, errno: {}, priority: {} },
  };
  absent(module.exports, "os", ["networkInterfaces", "getPriority", "setPriority"]);
})
