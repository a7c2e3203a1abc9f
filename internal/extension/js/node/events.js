(function (module, internal) {
  "use strict";
  const { absent } = internal;
  const listener = (f) => { if (typeof f !== "function") throw Object.assign(new TypeError('The "listener" argument must be of type function.'), { code: "ERR_INVALID_ARG_TYPE" }); return f; };
  function EventEmitter() { init(this); }
  const init = (e) => { if (!Object.prototype.hasOwnProperty.call(e, "_events")) Object.defineProperty(e, "_events", { value: new Map(), writable: true, configurable: true }); return e._events; };
  const add = (e, type, f, front) => {
    const m = init(e);
    if (m.has("newListener")) e.emit("newListener", type, f.listener || f);
    const list = m.get(type) || [];
    if (list.length >= 10000) throw new Error("there are 10,000 listeners of " + String(type) + " already");
    m.set(type, front ? [f, ...list] : [...list, f]);
    return e;
  };
  const once = (e, type, f) => { const w = function (...a) { e.removeListener(type, w); return f.apply(this, a); }; w.listener = f; return w; };
  EventEmitter.prototype = {
    constructor: EventEmitter,
    on(t, f) { return add(this, t, listener(f), false); },
    addListener(t, f) { return add(this, t, listener(f), false); },
    prependListener(t, f) { return add(this, t, listener(f), true); },
    once(t, f) { return add(this, t, once(this, t, listener(f)), false); },
    prependOnceListener(t, f) { return add(this, t, once(this, t, listener(f)), true); },
    removeListener(t, f) {
      const m = init(this), list = m.get(t);
      if (!list) return this;
      const i = list.map((x) => x === f || x.listener === f).lastIndexOf(true);
      if (i < 0) return this;
      const rest = list.filter((_, j) => j !== i);
      if (rest.length) m.set(t, rest); else m.delete(t);
      if (m.has("removeListener")) this.emit("removeListener", t, list[i].listener || list[i]);
      return this;
    },
    off(t, f) { return this.removeListener(t, f); },
    removeAllListeners(t) { const m = init(this); if (t === undefined) m.clear(); else m.delete(t); return this; },
    emit(t, ...a) {
      const list = init(this).get(t);
      if (!list) {
        if (t !== "error") return false;
        if (a[0] instanceof Error) throw a[0];
        throw Object.assign(new Error("Unhandled error. (" + internal.inspect(a[0]) + ")"), { code: "ERR_UNHANDLED_ERROR", context: a[0] });
      }
      for (const f of list) f.apply(this, a);
      return true;
    },
    listeners(t) { return (init(this).get(t) || []).map((f) => f.listener || f); },
    rawListeners(t) { return [...(init(this).get(t) || [])]; },
    listenerCount(t, f) { const l = init(this).get(t) || []; return f ? l.filter((x) => x === f || x.listener === f).length : l.length; },
    eventNames() { return [...init(this).keys()]; },
    setMaxListeners(k) { this._max = k; return this; },
    getMaxListeners() { return this._max === undefined ? EventEmitter.defaultMaxListeners : this._max; },
  };
  for (const k of Object.keys(EventEmitter.prototype)) Object.defineProperty(EventEmitter.prototype, k, { enumerable: false });
  EventEmitter.defaultMaxListeners = 10;
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.errorMonitor = Symbol("events.errorMonitor");
  EventEmitter.once = (e, type, { signal } = {}) => new Promise((resolve, reject) => {
    if (signal && signal.aborted) return reject(signal.reason);
    const clean = () => { if (e.removeListener) { e.removeListener(type, ok); e.removeListener("error", bad); } if (signal) signal.removeEventListener("abort", stop); };
    const ok = (...a) => { clean(); resolve(a); }, bad = (err) => { clean(); reject(err); }, stop = () => { clean(); reject(signal.reason); };
    if (typeof e.addEventListener === "function" && typeof e.on !== "function") e.addEventListener(type, (ev) => resolve([ev]), { once: true });
    else { e.once(type, ok); if (type !== "error") e.once("error", bad); }
    if (signal) signal.addEventListener("abort", stop, { once: true });
  });
  EventEmitter.on = (e, type, { signal } = {}) => {
    const queue = [], waiting = [];
    let error, done = false;
    const push = (...a) => { const w = waiting.shift(); if (w) w.resolve({ done: false, value: a }); else if (queue.length < 10000) queue.push(a); };
    const fail = (err) => { error = err; const w = waiting.shift(); if (w) { error = undefined; w.reject(err); } };
    const end = () => { done = true; e.removeListener(type, push); e.removeListener("error", fail); for (const w of waiting.splice(0)) w.resolve({ done: true, value: undefined }); return Promise.resolve({ done: true, value: undefined }); };
    e.on(type, push);
    e.on("error", fail);
    if (signal) signal.addEventListener("abort", () => { fail(signal.reason); end(); }, { once: true });
    return {
      next() {
        if (queue.length) return Promise.resolve({ done: false, value: queue.shift() });
        if (error) { const err = error; error = undefined; return Promise.reject(err); }
        if (done) return Promise.resolve({ done: true, value: undefined });
        const w = Promise.withResolvers();
        waiting.push(w);
        return w.promise;
      },
      return: end, throw: (err) => { fail(err); return end(); },
      [Symbol.asyncIterator]() { return this; },
    };
  };
  EventEmitter.listenerCount = (e, t) => e.listenerCount(t);
  EventEmitter.setMaxListeners = (k, ...es) => { for (const e of es) if (e.setMaxListeners) e.setMaxListeners(k); };
  EventEmitter.getEventListeners = (e, t) => e.listeners(t);
  absent(EventEmitter, "events", ["EventEmitterAsyncResource"]);
  module.exports = EventEmitter;
})
