// The globals of an extension. Runs once in every runtime; n are the native functions.
(function (n, global) {
  "use strict";
  const define = (o, name, value) => Object.defineProperty(o, name, { value, writable: true, configurable: true, enumerable: false });
  const missing = (o, name, value) => { if (!(name in o)) define(o, name, value); };
  const lazy = (name, make) => Object.defineProperty(global, name, {
    configurable: true, enumerable: false,
    get() { const v = make(); define(global, name, v); return v; },
    set(v) { define(global, name, v); },
  });

  define(global, "globalThis", global);
  define(global, "global", global);

  // --- language ---
  const asyncIterator = Symbol.for("Symbol.asyncIterator"); // what esbuild's helpers look for
  for (const [name, sym] of [["asyncIterator", asyncIterator], ["dispose", Symbol.for("Symbol.dispose")], ["asyncDispose", Symbol.for("Symbol.asyncDispose")]])
    if (!Symbol[name]) Object.defineProperty(Symbol, name, { value: sym });
  missing(Promise, "withResolvers", function () {
    const r = {};
    r.promise = new this((resolve, reject) => { r.resolve = resolve; r.reject = reject; });
    return r;
  });
  missing(Promise, "try", function (f, ...args) { return new this((resolve) => resolve(f(...args))); });
  missing(Object, "groupBy", function (items, key) {
    const out = Object.create(null);
    let i = 0;
    for (const item of items) { const k = key(item, i++); (k in out ? out[k] : (out[k] = [])).push(item); }
    return out;
  });
  missing(Map, "groupBy", function (items, key) {
    const out = new Map();
    let i = 0;
    for (const item of items) { const k = key(item, i++); const g = out.get(k); if (g) g.push(item); else out.set(k, [item]); }
    return out;
  });
  missing(Array, "fromAsync", async function (items, map, self) {
    const out = [];
    let i = 0;
    if (items == null) throw new TypeError(items + " is not iterable");
    const make = items[Symbol.asyncIterator] || items[Symbol.iterator];
    if (make) {
      const it = make.call(items);
      for (;;) {
        const step = await it.next();
        if (step.done) break;
        const v = await step.value;
        out.push(map ? await map.call(self, v, i) : v);
        i++;
      }
    } else for (; i < (items.length >>> 0); i++) { const v = await items[i]; out.push(map ? await map.call(self, v, i) : v); }
    return out;
  });
  const indexed = (p, name, f) => missing(p, name, f);
  indexed(Array.prototype, "with", function (i, v) { const c = Array.from(this); i = Math.trunc(i) || 0; if (i < 0) i += c.length; if (i < 0 || i >= c.length) throw new RangeError("Invalid index"); c[i] = v; return c; });
  indexed(Array.prototype, "toReversed", function () { return Array.from(this).reverse(); });
  indexed(Array.prototype, "toSpliced", function (...a) { const c = Array.from(this); c.splice(...a); return c; });
  indexed(Array.prototype, "findLast", function (f, t) { for (let i = this.length - 1; i >= 0; i--) if (f.call(t, this[i], i, this)) return this[i]; });
  missing(String.prototype, "isWellFormed", function () { return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?:^|[^\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(String(this)); });
  missing(String.prototype, "toWellFormed", function () {
    const s = String(this); let out = "";
    for (let i = 0; i < s.length; i++) {
      const c = s.charCodeAt(i);
      if (c >= 0xd800 && c < 0xdc00 && i + 1 < s.length && (s.charCodeAt(i + 1) & 0xfc00) === 0xdc00) { out += s[i] + s[i + 1]; i++; }
      else out += c >= 0xd800 && c < 0xe000 ? "\ufffd" : s[i];
    }
    return out;
  });
  missing(String.prototype, "replaceAll", function (p, r) {
    if (p instanceof RegExp) { if (!p.flags.includes("g")) throw new TypeError("replaceAll must be called with a global RegExp"); return this.replace(p, r); }
    p = String(p); const s = String(this);
    let out = "", at = 0;
    for (let i = s.indexOf(p); i !== -1; i = s.indexOf(p, i + (p.length || 1))) {
      if (i > s.length || (p === "" && i === s.length && at > s.length)) break;
      out += s.slice(at, i) + (typeof r === "function" ? String(r(p, i, s)) : String(r).replace(/\$([$&])/g, (_, c) => (c === "&" ? p : "$")));
      at = i + p.length;
      if (p === "" && i >= s.length) break;
    }
    return out + s.slice(at);
  });
  missing(Object, "hasOwn", (o, k) => Object.prototype.hasOwnProperty.call(o, k));
  missing(RegExp, "escape", (s) => String(s).replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&"));
  {
    const has = (s) => { if (!s || typeof s.has !== "function" || typeof s.keys !== "function") throw new TypeError("a set is needed"); return s; };
    const each = (s) => (typeof s[Symbol.iterator] === "function" ? [...s.keys()] : Array.from(s.keys()));
    missing(Set.prototype, "union", function (o) { return new Set([...this, ...each(has(o))]); });
    missing(Set.prototype, "intersection", function (o) { has(o); return new Set([...this].filter((v) => o.has(v))); });
    missing(Set.prototype, "difference", function (o) { has(o); return new Set([...this].filter((v) => !o.has(v))); });
    missing(Set.prototype, "symmetricDifference", function (o) { const r = new Set(this); for (const v of each(has(o))) if (this.has(v)) r.delete(v); else r.add(v); return r; });
    missing(Set.prototype, "isSubsetOf", function (o) { has(o); for (const v of this) if (!o.has(v)) return false; return true; });
    missing(Set.prototype, "isSupersetOf", function (o) { for (const v of each(has(o))) if (!this.has(v)) return false; return true; });
    missing(Set.prototype, "isDisjointFrom", function (o) { has(o); for (const v of this) if (o.has(v)) return false; return true; });
  }
  {
    const proto = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
    if (!global.Iterator) {
      const Iterator = function Iterator() {};
      Iterator.prototype = proto;
      Iterator.from = (o) => { const it = o[Symbol.iterator] ? o[Symbol.iterator]() : o; return it instanceof Iterator ? it : (function* () { for (;;) { const s = it.next(); if (s.done) return; yield s.value; } })(); };
      define(global, "Iterator", Iterator);
      define(proto, "constructor", Iterator);
    }
    const walk = (it) => ({ [Symbol.iterator]: () => it });
    const limit = (v) => { v = Number(v); if (!(v >= 0)) throw new RangeError(v + " must be positive"); return Math.trunc(v); };
    missing(proto, "map", function (f) { const it = this; return (function* () { let i = 0; for (const v of walk(it)) yield f(v, i++); })(); });
    missing(proto, "filter", function (f) { const it = this; return (function* () { let i = 0; for (const v of walk(it)) if (f(v, i++)) yield v; })(); });
    missing(proto, "take", function (k) { const it = this; k = limit(k); return (function* () { if (k === 0) return; let i = 0; for (const v of walk(it)) { yield v; if (++i >= k) return; } })(); });
    missing(proto, "drop", function (k) { const it = this; k = limit(k); return (function* () { let i = 0; for (const v of walk(it)) if (i++ >= k) yield v; })(); });
    missing(proto, "flatMap", function (f) { const it = this; return (function* () { let i = 0; for (const v of walk(it)) yield* f(v, i++); })(); });
    missing(proto, "forEach", function (f) { let i = 0; for (const v of walk(this)) f(v, i++); });
    missing(proto, "toArray", function () { return [...walk(this)]; });
    missing(proto, "some", function (f) { let i = 0; for (const v of walk(this)) if (f(v, i++)) return true; return false; });
    missing(proto, "every", function (f) { let i = 0; for (const v of walk(this)) if (!f(v, i++)) return false; return true; });
    missing(proto, "find", function (f) { let i = 0; for (const v of walk(this)) if (f(v, i++)) return v; });
    missing(proto, "reduce", function (f, ...init) {
      let acc = init[0], first = init.length === 0, i = 0;
      for (const v of walk(this)) { if (first) { acc = v; first = false; } else acc = f(acc, v, i); i++; }
      if (first) throw new TypeError("Reduce of empty iterator with no initial value");
      return acc;
    });
  }
  {
    // \p{…} works only in the backtracking engine, which an empty lookahead selects.
    const Native = RegExp;
    const mend = (p, f) => {
      if (f === undefined || !String(f).includes("u") || p instanceof Native) return p;
      return n.mendPattern(String(p));
    };
    const Shim = function RegExp(p, f) {
      if (new.target === undefined) { if (p instanceof Native && f === undefined) return p; return new Native(mend(p, f), f); }
      return Reflect.construct(Native, [mend(p, f), f], new.target);
    };
    Object.defineProperty(Shim, "length", { value: 2 });
    Shim.prototype = Native.prototype;
    for (const k of Reflect.ownKeys(Native)) if (!(k in Shim)) Object.defineProperty(Shim, k, Object.getOwnPropertyDescriptor(Native, k));
    define(Native.prototype, "constructor", Shim);
    define(global, "RegExp", Shim);
  }

  // --- errors and events ---
  const codes = { AbortError: 20, DataCloneError: 25, TimeoutError: 23, SyntaxError: 12, NotFoundError: 8, InvalidCharacterError: 5, InvalidStateError: 11, NotSupportedError: 9, QuotaExceededError: 22 };
  class DOMException extends Error {
    constructor(message = "", name = "Error") {
      super(message);
      const options = typeof name === "object" && name !== null ? name : { name };
      define(this, "name", options.name === undefined ? "Error" : String(options.name));
      if ("cause" in options) define(this, "cause", options.cause);
      define(this, "code", codes[this.name] || 0);
    }
  }
  define(global, "DOMException", DOMException);

  class Event {
    constructor(type, init = {}) {
      this.type = String(type); this.cancelable = !!init.cancelable; this.bubbles = !!init.bubbles;
      this.defaultPrevented = false; this.target = null; this.currentTarget = null; this.timeStamp = n.now();
      define(this, "stopped", false);
    }
    preventDefault() { if (this.cancelable) this.defaultPrevented = true; }
    stopPropagation() {}
    stopImmediatePropagation() { this.stopped = true; }
  }
  class CustomEvent extends Event { constructor(type, init = {}) { super(type, init); this.detail = init.detail === undefined ? null : init.detail; } }
  const listeners = new WeakMap();
  const listenersOf = (t) => { let m = listeners.get(t); if (!m) listeners.set(t, (m = new Map())); return m; };
  class EventTarget {
    addEventListener(type, fn, options) {
      if (fn == null) return;
      const once = !!(options && options.once);
      if (options && options.signal) { if (options.signal.aborted) return; options.signal.addEventListener("abort", () => this.removeEventListener(type, fn), { once: true }); }
      const m = listenersOf(this), list = m.get(type) || [];
      if (!list.some((l) => l.fn === fn)) list.push({ fn, once });
      m.set(type, list);
    }
    removeEventListener(type, fn) {
      const m = listenersOf(this), list = m.get(type);
      if (list) m.set(type, list.filter((l) => l.fn !== fn));
    }
    dispatchEvent(event) {
      event.target = event.currentTarget = this;
      const run = (fn) => { try { typeof fn === "function" ? fn.call(this, event) : fn.handleEvent(event); } catch (e) { n.failed("event listener", e); } };
      if (typeof this["on" + event.type] === "function") run(this["on" + event.type]);
      for (const l of [...(listenersOf(this).get(event.type) || [])]) {
        if (event.stopped) break;
        if (l.once) this.removeEventListener(event.type, l.fn);
        run(l.fn);
      }
      return !event.defaultPrevented;
    }
  }
  define(global, "Event", Event); define(global, "CustomEvent", CustomEvent); define(global, "EventTarget", EventTarget);

  const secret = {};
  class AbortSignal extends EventTarget {
    constructor(key) {
      super();
      if (key !== secret) throw new TypeError("Illegal constructor");
      define(this, "state", { aborted: false, reason: undefined });
      define(this, "onabort", null);
    }
    get aborted() { return this.state.aborted; }
    get reason() { return this.state.reason; }
    throwIfAborted() { if (this.state.aborted) throw this.state.reason; }
    static abort(reason) { const c = new AbortController(); c.abort(reason); return c.signal; }
    static timeout(ms) {
      const c = new AbortController();
      setTimeout(() => c.abort(new DOMException("The operation timed out", "TimeoutError")), ms);
      return c.signal;
    }
    static any(signals) {
      const c = new AbortController();
      for (const s of signals) {
        if (s.aborted) { c.abort(s.reason); break; }
        s.addEventListener("abort", () => c.abort(s.reason), { once: true });
      }
      return c.signal;
    }
  }
  class AbortController {
    constructor() { define(this, "signal", new AbortSignal(secret)); }
    abort(reason) {
      const state = this.signal.state;
      if (state.aborted) return;
      state.aborted = true;
      state.reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
      this.signal.dispatchEvent(new Event("abort"));
    }
  }
  define(global, "AbortSignal", AbortSignal); define(global, "AbortController", AbortController);

  // --- timers ---
  const callable = (fn) => { if (typeof fn !== "function") throw new TypeError('The "callback" argument must be a function'); return fn; };
  const guarded = (what, fn, args) => { try { fn(...args); } catch (e) { n.failed(what, e); } };
  class Timeout {
    constructor(what, fn, ms, args, repeat) {
      callable(fn);
      ms = Number(ms);
      if (!(ms >= 1)) ms = 1;
      if (ms > 2147483647) ms = 1;
      const arm = () => {
        this.id = n.setTimer(ms, () => {
          if (repeat) { const id = this.id; guarded(what, fn, args); if (this.id === id) arm(); }
          else { live.delete(this.number); this.id = 0; guarded(what, fn, args); }
        });
      };
      define(this, "id", 0); define(this, "number", 0); define(this, "arm", arm);
      arm();
      this.number = this.id;
      live.set(this.number, this);
    }
    ref() { return this; }
    unref() { return this; }
    hasRef() { return true; }
    refresh() { if (this.id) { n.clearTimer(this.id); this.arm(); } return this; }
    close() { clear(this); return this; }
    [Symbol.toPrimitive]() { return this.number; }
    [Symbol.dispose]() { clear(this); }
  }
  const live = new Map();
  const clear = (t) => {
    if (typeof t === "number" || typeof t === "string") t = live.get(Number(t));
    if (!(t instanceof Timeout)) return;
    if (t.id) n.clearTimer(t.id);
    t.id = 0;
    live.delete(t.number);
  };
  define(global, "setTimeout", function setTimeout(fn, ms, ...args) { return new Timeout("setTimeout", fn, ms, args, false); });
  define(global, "setInterval", function setInterval(fn, ms, ...args) { return new Timeout("setInterval", fn, ms, args, true); });
  define(global, "setImmediate", function setImmediate(fn, ...args) { return new Timeout("setImmediate", fn, 0, args, false); });
  for (const name of ["clearTimeout", "clearInterval", "clearImmediate"]) define(global, name, clear);
  const resolved = Promise.resolve(), then = Promise.prototype.then;
  define(global, "queueMicrotask", function queueMicrotask(fn) { callable(fn); then.call(resolved, () => guarded("queueMicrotask", fn, [])); });

  // --- inspect and console ---
  const maxDepth = 4, maxItems = 100, maxText = 16000;
  const ident = /^[A-Za-z_$][\w$]*$/;
  const custom = Symbol.for("nodejs.util.inspect.custom");
  const quote = (s) => (s.includes("'") && !s.includes('"') ? '"' + s + '"' : "'" + s.replace(/\\/g, "\\\\").replace(/'/g, "\\'").replace(/\n/g, "\\n") + "'");
  function inspect(value, options) {
    const o = typeof options === "object" && options !== null ? options : {};
    const depth = o.depth === null || o.depth === Infinity ? 50 : o.depth === undefined ? maxDepth - 2 : o.depth;
    const seen = [];
    let size = 0;
    const show = (v, d) => {
      if (size > maxText) return "…";
      switch (typeof v) {
        case "string": return quote(v.length > maxText ? v.slice(0, maxText) + "…" : v);
        case "number": return Object.is(v, -0) ? "-0" : String(v);
        case "bigint": return v + "n";
        case "symbol": return v.toString();
        case "undefined": case "boolean": return String(v);
        case "function": {
          const keys = Object.keys(v), kind = /^class\b/.test(Function.prototype.toString.call(v)) ? "class " + (v.name || "(anonymous)") : "Function" + (v.name ? ": " + v.name : " (anonymous)");
          if (!keys.length) return "[" + kind + "]";
          return "[" + kind + "] " + body(v, d, keys.map((k) => entry(v, k, d)), "{", "}");
        }
      }
      if (v === null) return "null";
      if (seen.includes(v)) return "[Circular]";
      if (typeof v[custom] === "function") {
        const r = v[custom](depth - d, o, inspect);
        return typeof r === "string" ? r : show(r, d);
      }
      if (v instanceof Date) return isNaN(v) ? "Invalid Date" : v.toISOString();
      if (v instanceof RegExp) return String(v);
      if (v instanceof Error) {
        const stack = typeof v.stack === "string" && v.stack ? v.stack : "";
        let head = (v.name || "Error") + (v.message ? ": " + v.message : "");
        const lines = stack.split("\n").filter((l) => /^\s+at /.test(l) && !l.includes("scorel:")).map((l) => l.replace(/\(\d+\)(\)?)$/, "$1"));
        if (lines.length) head += "\n" + lines.join("\n");
        const keys = Object.keys(v).filter((k) => k !== "stack" && k !== "message" && k !== "name");
        if ("cause" in v && v.cause !== undefined) keys.push("cause");
        if (d > depth || !keys.length) return head;
        return head + " " + body(v, d, [...new Set(keys)].map((k) => entry(v, k, d)), "{", "}");
      }
      if (v instanceof Promise) return "Promise {}";
      const proto = Object.getPrototypeOf(v), name = proto === null ? "[Object: null prototype]" : proto.constructor && proto.constructor.name;
      if (Array.isArray(v)) {
        if (d > depth) return "[Array]";
        seen.push(v);
        const items = [];
        for (let i = 0; i < v.length && i < maxItems; i++) items.push(i in v ? show(v[i], d + 1) : "<empty>");
        if (v.length > maxItems) items.push("... " + (v.length - maxItems) + " more items");
        for (const k of Object.keys(v).slice(v.length, v.length + maxItems)) if (!/^\d+$/.test(k)) items.push(entry(v, k, d));
        seen.pop();
        return wrap(items, "[", "]", d);
      }
      if (ArrayBuffer.isView(v) && !(v instanceof DataView)) {
        const items = [];
        for (let i = 0; i < v.length && i < maxItems; i++) items.push(String(v[i]));
        if (v.length > maxItems) items.push("... " + (v.length - maxItems) + " more items");
        return name + "(" + v.length + ") " + wrap(items, "[", "]", d);
      }
      if (v instanceof ArrayBuffer) return "ArrayBuffer { byteLength: " + v.byteLength + " }";
      if (d > depth) return "[" + (name || "Object") + "]";
      if (v instanceof Map) { seen.push(v); const items = []; for (const [k, x] of v) { if (items.length >= maxItems) { items.push("…"); break; } items.push(show(k, d + 1) + " => " + show(x, d + 1)); } seen.pop(); return "Map(" + v.size + ") " + wrap(items, "{", "}", d); }
      if (v instanceof Set) { seen.push(v); const items = []; for (const x of v) { if (items.length >= maxItems) { items.push("…"); break; } items.push(show(x, d + 1)); } seen.pop(); return "Set(" + v.size + ") " + wrap(items, "{", "}", d); }
      const keys = Object.keys(v).concat(Object.getOwnPropertySymbols(v).filter((s) => Object.prototype.propertyIsEnumerable.call(v, s)));
      const items = [];
      seen.push(v);
      for (const k of keys) { if (items.length >= maxItems) { items.push("... " + (keys.length - maxItems) + " more"); break; } items.push(entry(v, k, d)); }
      seen.pop();
      const prefix = name && name !== "Object" ? name + " " : "";
      return prefix + wrap(items, "{", "}", d);
    };
    const entry = (v, k, d) => {
      const desc = Object.getOwnPropertyDescriptor(v, k);
      const label = typeof k === "symbol" ? "[" + k.toString() + "]" : ident.test(k) ? k : quote(k);
      if (desc && desc.get) return label + ": [Getter" + (desc.set ? "/Setter" : "") + "]";
      return label + ": " + show(v[k], d + 1);
    };
    const body = (v, d, items, a, b) => wrap(items, a, b, d);
    const wrap = (items, a, b, d) => {
      for (const i of items) size += i.length;
      if (!items.length) return a + b;
      const one = items.join(", ");
      if (one.length <= 72 && !one.includes("\n")) return a === "[" ? "[ " + one + " ]" : a + " " + one + " " + b;
      const pad = "  ".repeat(d + 1);
      return a + "\n" + items.map((i) => pad + i).join(",\n") + "\n" + "  ".repeat(d) + b;
    };
    return show(value, 0);
  }
  inspect.custom = custom;
  inspect.defaultOptions = {};
  function format(...args) {
    let out = "", at = 0;
    if (typeof args[0] === "string") {
      at = 1;
      out = args[0].replace(/%[sdifjoOc%]/g, (m) => {
        if (m === "%%") return "%";
        if (at >= args.length) return m;
        const v = args[at++];
        switch (m) {
          case "%s": return typeof v === "object" && v !== null ? inspect(v, { depth: 0 }) : typeof v === "bigint" ? v + "n" : String(v);
          case "%d": return typeof v === "bigint" ? v + "n" : String(Number(v));
          case "%i": return String(parseInt(v, 10));
          case "%f": return String(parseFloat(v));
          case "%j": try { return JSON.stringify(v); } catch { return "[Circular]"; }
          case "%c": return "";
          default: return inspect(v);
        }
      });
      if (args.length === 1) return args[0].includes("%%") ? args[0] : out;
    }
    const rest = args.slice(at).map((v) => (typeof v === "string" ? v : inspect(v)));
    return (at ? [out, ...rest] : rest).join(" ");
  }
  const counts = new Map(), times = new Map();
  let indent = "";
  const say = (level, args) => { const text = format(...args); n.log(level, indent ? indent + text.replace(/\n/g, "\n" + indent) : text); };
  const console = {
    log: (...a) => say("info", a), info: (...a) => say("info", a), debug: (...a) => say("debug", a),
    warn: (...a) => say("warning", a), error: (...a) => say("error", a),
    trace: (...a) => say("debug", ["Trace: " + format(...a) + "\n" + (new Error().stack || "").split("\n").slice(1).filter((l) => !l.includes("scorel:")).join("\n")]),
    dir: (v, o) => say("info", [inspect(v, o)]), table: (v) => say("info", [inspect(v, { depth: 3 })]),
    assert: (ok, ...a) => { if (!ok) say("error", a.length ? ["Assertion failed: " + format(...a)] : ["Assertion failed"]); },
    count: (label = "default") => { const c = (counts.get(label) || 0) + 1; counts.set(label, c); say("info", [label + ": " + c]); },
    countReset: (label = "default") => { counts.delete(label); },
    time: (label = "default") => { times.set(label, n.now()); },
    timeLog: (label = "default", ...a) => { if (times.has(label)) say("info", [label + ": " + (n.now() - times.get(label)).toFixed(3) + "ms", ...a]); },
    timeEnd: (label = "default") => { console.timeLog(label); times.delete(label); },
    group: (...a) => { if (a.length) say("info", a); if (indent.length < 40) indent += "  "; },
    groupEnd: () => { indent = indent.slice(2); },
  };
  console.groupCollapsed = console.group; console.dirxml = console.log;
  define(global, "console", console);

  // --- text and bytes ---
  const bytesOf = (v) => {
    if (v instanceof ArrayBuffer) return new Uint8Array(v);
    if (ArrayBuffer.isView(v)) return new Uint8Array(v.buffer, v.byteOffset, v.byteLength);
    throw new TypeError("The argument must be an ArrayBuffer or a view of one");
  };
  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(s = "") { return new Uint8Array(n.utf8(String(s))); }
    encodeInto(s, into) {
      const all = this.encode(s);
      let k = Math.min(all.length, into.length);
      while (k > 0 && k < all.length && (all[k] & 0xc0) === 0x80) k--;
      into.set(all.subarray(0, k));
      return { read: n.decode(all.subarray(0, k), "utf-8", false).length, written: k };
    }
  }
  class TextDecoder {
    constructor(label = "utf-8", options = {}) {
      define(this, "encoding", n.encoding(String(label)));
      if (!this.encoding) throw new RangeError('The "' + label + '" encoding is not supported; utf-8, utf-16le and latin1 are');
      define(this, "fatal", !!options.fatal); define(this, "ignoreBOM", !!options.ignoreBOM); define(this, "rest", new Uint8Array(0));
    }
    decode(input, options = {}) {
      let b = input === undefined ? new Uint8Array(0) : bytesOf(input);
      if (this.rest.length) { const all = new Uint8Array(this.rest.length + b.length); all.set(this.rest); all.set(b, this.rest.length); b = all; this.rest = new Uint8Array(0); }
      if (options.stream) { const k = n.whole(b, this.encoding); this.rest = b.slice(k); b = b.subarray(0, k); }
      const s = n.decode(b, this.encoding, this.fatal);
      return !this.ignoreBOM && s.charCodeAt(0) === 0xfeff ? s.slice(1) : s;
    }
  }
  define(global, "TextEncoder", TextEncoder); define(global, "TextDecoder", TextDecoder);
  define(global, "btoa", function btoa(s) { s = String(s); if (/[^\x00-\xff]/.test(s)) throw new DOMException("Invalid character", "InvalidCharacterError"); return n.base64(n.latin1(s)); });
  define(global, "atob", function atob(s) { const b = n.unbase64(String(s), true); if (!b) throw new DOMException("The string to be decoded is not correctly encoded.", "InvalidCharacterError"); return n.decode(new Uint8Array(b), "latin1", false); });

  // --- structuredClone ---
  define(global, "structuredClone", function structuredClone(value, options) {
    const seen = new Map();
    const refuse = (v) => { throw new DOMException(format("%s could not be cloned.", typeof v === "symbol" ? v.toString() : v), "DataCloneError"); };
    const clone = (v) => {
      if (typeof v === "function" || typeof v === "symbol") refuse(v);
      if (typeof v !== "object" || v === null) return v;
      if (seen.has(v)) return seen.get(v);
      const keep = (c) => (seen.set(v, c), c);
      if (Array.isArray(v)) { const c = keep(new Array(v.length)); for (const k of Object.keys(v)) c[k] = clone(v[k]); return c; }
      if (v instanceof Date) return keep(new Date(v.getTime()));
      if (v instanceof RegExp) return keep(new RegExp(v.source, v.flags));
      if (v instanceof Map) { const c = keep(new Map()); for (const [k, x] of v) c.set(clone(k), clone(x)); return c; }
      if (v instanceof Set) { const c = keep(new Set()); for (const x of v) c.add(clone(x)); return c; }
      if (v instanceof ArrayBuffer) return keep(v.slice(0));
      if (v instanceof DataView) return keep(new DataView(clone(v.buffer), v.byteOffset, v.byteLength));
      if (ArrayBuffer.isView(v)) { const C = Object.getPrototypeOf(v) === Uint8Array.prototype || v instanceof Uint8Array ? Uint8Array : v.constructor; return keep(new C(clone(v.buffer), v.byteOffset, v.length)); }
      if (v instanceof Boolean || v instanceof Number || v instanceof String) return keep(Object(v.valueOf()));
      if (v instanceof Promise || v instanceof WeakMap || v instanceof WeakSet) refuse(v);
      if (v instanceof Error) {
        const C = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }[v.name] || Error;
        const c = keep(Object.create(C.prototype));
        for (const k of ["message", "stack"]) define(c, k, String(v[k] === undefined ? "" : v[k]));
        if ("cause" in v) define(c, "cause", clone(v.cause));
        return c;
      }
      const c = keep({});
      for (const k of Object.keys(v)) c[k] = clone(v[k]);
      return c;
    };
    return clone(value);
  });

  // --- performance, crypto ---
  define(global, "performance", { now: () => n.now(), timeOrigin: Date.now() - n.now(), mark() {}, measure() {}, toJSON() { return { timeOrigin: this.timeOrigin }; } });
  define(global, "crypto", {
    randomUUID: () => n.uuid(),
    getRandomValues: (view) => {
      const b = bytesOf(view);
      if (b.length > 65536) throw new DOMException("The requested length exceeds 65,536 bytes", "QuotaExceededError");
      b.set(new Uint8Array(n.random(b.length)));
      return view;
    },
    get subtle() { throw new Error("crypto.subtle is not provided; use createHash and createHmac of the module crypto"); },
  });
  define(global, "navigator", { userAgent: "Scorel", hardwareConcurrency: n.cpus, language: "en-US" });

  // absent makes functions of a module that say that they are not there.
  const absent = (o, of, names) => { for (const name of names) define(o, name, Object.assign(function () { throw new Error(of + "." + name + " is not provided by Scorel; docs/extensions/javascript.md lists what is there"); }, { absent: true })); };
  const internal = { n, absent, define, lazy, inspect, format, bytesOf, guarded, custom, callable };
  for (const name of ["fetch", "Headers", "Request", "Response", "FormData", "Blob", "File", "ReadableStream", "WritableStream", "TransformStream"]) lazy(name, () => n.library("fetch")[name]);
  for (const name of ["URL", "URLSearchParams"]) lazy(name, () => n.module("url")[name]);
  lazy("Buffer", () => n.module("buffer").Buffer);
  lazy("process", () => n.module("process"));
  return internal;
})
