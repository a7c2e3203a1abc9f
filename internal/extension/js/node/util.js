(function (module, internal) {
  "use strict";
  const { n, inspect, format, absent } = internal;
  const kCustom = Symbol.for("nodejs.util.promisify.custom");
  const promisify = (f) => {
    if (typeof f !== "function") throw Object.assign(new TypeError('The "original" argument must be of type function.'), { code: "ERR_INVALID_ARG_TYPE" });
    if (typeof f[kCustom] === "function") return f[kCustom];
    return Object.defineProperty(function (...a) { return new Promise((resolve, reject) => f.call(this, ...a, (e, v) => (e ? reject(e) : resolve(v)))); }, "name", { value: f.name });
  };
  promisify.custom = kCustom;
  const tag = (v) => Object.prototype.toString.call(v).slice(8, -1);
  const types = {
    isPromise: (v) => v instanceof Promise, isDate: (v) => v instanceof Date, isRegExp: (v) => v instanceof RegExp,
    isMap: (v) => v instanceof Map, isSet: (v) => v instanceof Set, isWeakMap: (v) => v instanceof WeakMap, isWeakSet: (v) => v instanceof WeakSet,
    isNativeError: (v) => v instanceof Error, isArrayBuffer: (v) => v instanceof ArrayBuffer, isAnyArrayBuffer: (v) => v instanceof ArrayBuffer,
    isTypedArray: (v) => ArrayBuffer.isView(v) && !(v instanceof DataView), isUint8Array: (v) => v instanceof Uint8Array, isDataView: (v) => v instanceof DataView, isArrayBufferView: (v) => ArrayBuffer.isView(v),
    isAsyncFunction: (v) => tag(v) === "AsyncFunction", isGeneratorFunction: (v) => tag(v) === "GeneratorFunction", isGeneratorObject: (v) => tag(v) === "Generator",
    isSymbolObject: (v) => typeof v === "object" && tag(v) === "Symbol", isBoxedPrimitive: (v) => v instanceof Number || v instanceof String || v instanceof Boolean,
    isProxy: () => false, isSharedArrayBuffer: () => false,
  };
  const same = (a, b, strict, seen) => {
    if (Object.is(a, b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return strict ? false : a == b || (a !== a && b !== b);
    if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    if (seen.some(([x, y]) => x === a && y === b)) return true;
    seen = [...seen, [a, b]];
    if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
    if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b);
    if (a instanceof Error && b instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
    if (a instanceof Map && b instanceof Map) { if (a.size !== b.size) return false; for (const [k, v] of a) if (!b.has(k) || !same(v, b.get(k), strict, seen)) return false; return true; }
    if (a instanceof Set && b instanceof Set) { if (a.size !== b.size) return false; for (const v of a) if (!b.has(v) && ![...b].some((w) => same(v, w, strict, seen))) return false; return true; }
    if ((a instanceof Number || a instanceof String || a instanceof Boolean) && !same(a.valueOf(), b.valueOf(), strict, seen)) return false;
    const ka = Object.keys(a), kb = Object.keys(b);
    if (ka.length !== kb.length) return false;
    return ka.every((k) => Object.prototype.hasOwnProperty.call(b, k) && same(a[k], b[k], strict, seen));
  };
  const colors = { reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], inverse: [7, 27], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39], gray: [90, 39] };
  const warned = new Set();
  const util = {
    inspect, format, promisify, types, TextEncoder, TextDecoder,
    callbackify: (f) => function (...a) { const cb = a.pop(); f.apply(this, a).then((v) => process.nextTick(cb, null, v), (e) => process.nextTick(cb, e)); },
    inherits: (c, p) => { Object.setPrototypeOf(c.prototype, p.prototype); c.super_ = p; },
    deprecate: (f, msg) => function (...a) { if (!warned.has(msg)) { warned.add(msg); console.warn("DeprecationWarning: " + msg); } return f.apply(this, a); },
    isDeepStrictEqual: (a, b) => same(a, b, true, []),
    formatWithOptions: (_, ...a) => format(...a),
    stripVTControlCharacters: (s) => String(s).replace(/\x1b\[[0-9;?]*[ -\/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, ""),
    styleText: (f, s) => [].concat(f).reduce((t, k) => (colors[k] ? "\x1b[" + colors[k][0] + "m" + t + "\x1b[" + colors[k][1] + "m" : t), s),
    toUSVString: (s) => String(s).toWellFormed(),
    debuglog: () => Object.assign(() => {}, { enabled: false }), debug: () => Object.assign(() => {}, { enabled: false }),
    isArray: Array.isArray, isError: (v) => v instanceof Error, isString: (v) => typeof v === "string", isFunction: (v) => typeof v === "function", isRegExp: types.isRegExp, isDate: types.isDate,
    aborted: (signal) => new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }))),
    parseArgs,
  };
  function parseArgs({ args = [], options = {}, strict = true, allowPositionals = !strict } = {}) {
    const values = Object.create(null), positionals = [];
    for (const [k, o] of Object.entries(options)) if (o.default !== undefined) values[k] = o.default;
    const set = (k, v, raw) => {
      const o = options[k];
      if (!o && strict) throw Object.assign(new TypeError("Unknown option '" + raw + "'"), { code: "ERR_PARSE_ARGS_UNKNOWN_OPTION" });
      if (o && o.multiple) (Array.isArray(values[k]) && values[k] !== o.default ? values[k] : (values[k] = [])).push(v); else values[k] = v;
    };
    for (let i = 0; i < args.length; i++) {
      const a = args[i];
      if (a === "--") { positionals.push(...args.slice(i + 1)); break; }
      if (a.startsWith("--")) {
        const eq = a.indexOf("="), k = eq < 0 ? a.slice(2) : a.slice(2, eq), o = options[k];
        if (o && o.type === "string") set(k, eq < 0 ? args[++i] : a.slice(eq + 1), a); else set(k, eq < 0 ? true : a.slice(eq + 1), a);
      } else if (a.startsWith("-") && a.length > 1) {
        for (let j = 1; j < a.length; j++) {
          const found = Object.entries(options).find(([, o]) => o.short === a[j]);
          if (found && found[1].type === "string") { set(found[0], j + 1 < a.length ? a.slice(j + 1) : args[++i], a); break; }
          set(found ? found[0] : a[j], true, a);
        }
      } else { if (strict && !allowPositionals) throw Object.assign(new TypeError("Unexpected argument '" + a + "'"), { code: "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL" }); positionals.push(a); }
    }
    return { values, positionals };
  }
  Object.defineProperty(util, "same", { value: same });
  absent(util, "util", ["MIMEType", "getSystemErrorName", "transferableAbortController", "parseEnv"]);
  module.exports = util;
})
