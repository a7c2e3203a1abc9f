(function (module, internal) {
  "use strict";
  const promises = {
    setTimeout: (ms, value, { signal } = {}) => new Promise((resolve, reject) => {
      if (signal && signal.aborted) return reject(signal.reason);
      const stop = () => { clearTimeout(t); reject(signal.reason); };
      const t = setTimeout(() => { if (signal) signal.removeEventListener("abort", stop); resolve(value); }, ms);
      if (signal) signal.addEventListener("abort", stop, { once: true });
    }),
    setImmediate: (value) => new Promise((resolve) => setImmediate(() => resolve(value))),
    setInterval: (ms, value) => ({
      next: async () => { await promises.setTimeout(ms); return { done: false, value }; },
      return: async () => ({ done: true, value: undefined }),
      [Symbol.asyncIterator]() { return this; },
    }),
    scheduler: { wait: (ms, o) => promises.setTimeout(ms, undefined, o), yield: () => promises.setImmediate() },
  };
  module.exports = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };
})
