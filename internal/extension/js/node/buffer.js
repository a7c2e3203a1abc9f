(function (module, internal) {
  "use strict";
  const { n, define, custom, absent } = internal;
  const norm = (e) => {
    switch (String(e === undefined || e === null ? "utf8" : e).toLowerCase()) {
      case "utf8": case "utf-8": return "utf8";
      case "hex": return "hex";
      case "base64": return "base64";
      case "base64url": return "base64url";
      case "latin1": case "binary": return "latin1";
      case "ascii": return "ascii";
      case "ucs2": case "ucs-2": case "utf16le": case "utf-16le": return "utf16le";
    }
    return undefined;
  };
  const encoding = (e) => { const r = norm(e); if (!r) throw Object.assign(new TypeError("Unknown encoding: " + e), { code: "ERR_UNKNOWN_ENCODING" }); return r; };
  const encode = (s, e) => {
    switch (encoding(e)) {
      case "hex": return n.unhex(s);
      case "base64": case "base64url": return n.unbase64(s, false);
      case "latin1": case "ascii": return n.latin1(s);
      case "utf16le": return n.utf16(s);
    }
    return n.utf8(s);
  };
  const wrap = (ab) => new Buffer(ab, 0, ab.byteLength);
  const range = (name) => { throw Object.assign(new RangeError('The value of "' + name + '" is out of range.'), { code: "ERR_OUT_OF_RANGE" }); };
  const kind = (v) => { throw Object.assign(new TypeError("The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received " + (v === null ? "null" : typeof v)), { code: "ERR_INVALID_ARG_TYPE" }); };
  const maxLength = 2 ** 30;
  const size = (v) => { if (typeof v !== "number" || !(v >= 0) || v > maxLength) range("size"); return v; };
  class Buffer extends Uint8Array {
    static from(v, a, b) {
      if (typeof v === "string") return wrap(encode(v, a));
      if (v instanceof ArrayBuffer) return new Buffer(v, a === undefined ? 0 : a, b === undefined ? v.byteLength - (a || 0) : b);
      if (ArrayBuffer.isView(v)) { const c = new Buffer(v.length === undefined ? v.byteLength : v.length); c.set(v.length === undefined ? new Uint8Array(v.buffer, v.byteOffset, v.byteLength) : v); return c; }
      if (v === null || typeof v !== "object") kind(v);
      if (v.type === "Buffer" && Array.isArray(v.data)) v = v.data;
      const own = v.valueOf && v.valueOf();
      if (own !== v && own != null && typeof own !== "object") return Buffer.from(own, a, b);
      const c = new Buffer(size(v.length || 0));
      for (let i = 0; i < c.length; i++) c[i] = v[i];
      return c;
    }
    static of(...v) { return Buffer.from(v); }
    static alloc(k, fill, enc) { const c = new Buffer(size(k)); return fill === undefined || fill === 0 ? c : c.fill(fill, enc); }
    static allocUnsafe(k) { return new Buffer(size(k)); }
    static allocUnsafeSlow(k) { return new Buffer(size(k)); }
    static isBuffer(v) { return v instanceof Buffer; }
    static isEncoding(e) { return typeof e === "string" && norm(e) !== undefined && e !== ""; }
    static byteLength(v, e) { return typeof v === "string" ? encode(v, e).byteLength : v.byteLength; }
    static concat(list, total) {
      if (!Array.isArray(list)) kind(list);
      if (total === undefined) { total = 0; for (const b of list) total += b.length; }
      const c = new Buffer(size(total));
      let at = 0;
      for (const b of list) { const part = at + b.length > total ? b.subarray(0, total - at) : b; c.set(part, at); at += part.length; if (at >= total) break; }
      return c;
    }
    static compare(a, b) {
      const k = Math.min(a.length, b.length);
      for (let i = 0; i < k; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
      return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
    }
    toString(e, from, to) {
      const b = from === undefined && to === undefined ? this : this.subarray(Math.max(0, from | 0), to === undefined ? this.length : to);
      switch (encoding(e)) {
        case "hex": return n.hex(b);
        case "base64": return n.base64(b, false);
        case "base64url": return n.base64(b, true);
        case "latin1": return n.decode(b, "latin1", false);
        case "ascii": return n.decode(Uint8Array.prototype.map.call(b, (x) => x & 0x7f), "latin1", false);
        case "utf16le": return n.decode(b, "utf-16le", false);
      }
      return n.decode(b, "utf-8", false);
    }
    toLocaleString(...a) { return this.toString(...a); }
    toJSON() { return { type: "Buffer", data: Array.from(this) }; }
    equals(o) { return this === o || Buffer.compare(this, o) === 0; }
    compare(o, a = 0, b = o.length, c = 0, d = this.length) { return Buffer.compare(this.subarray(c, d), o.subarray(a, b)); }
    slice(a, b) { return this.subarray(a, b); }
    copy(to, at = 0, from = 0, end = this.length) {
      const part = this.subarray(from, Math.min(end, from + Math.max(0, to.length - at)));
      to.set(part, at);
      return part.length;
    }
    write(s, at, len, e) {
      if (typeof at === "string") { e = at; at = 0; len = undefined; } else if (typeof len === "string") { e = len; len = undefined; }
      at = at || 0;
      if (at < 0 || at > this.length) range("offset");
      let b = new Uint8Array(encode(String(s), e));
      let room = Math.min(this.length - at, len === undefined ? Infinity : len);
      if (b.length > room) { if (encoding(e) === "utf8") while (room > 0 && (b[room] & 0xc0) === 0x80) room--; b = b.subarray(0, room); }
      this.set(b, at);
      return b.length;
    }
    fill(v, from, to, e) {
      if (typeof from === "string") { e = from; from = 0; to = undefined; }
      from = from || 0; to = to === undefined ? this.length : to;
      if (typeof v === "string") { v = new Uint8Array(encode(v, e)); if (v.length === 0) v = 0; else if (v.length === 1) v = v[0]; }
      if (typeof v === "number" || typeof v === "boolean") { Uint8Array.prototype.fill.call(this, v & 255, from, to); return this; }
      for (let i = from; i < to; i++) this[i] = v[(i - from) % v.length];
      return this;
    }
    indexOf(v, from, e) { return find(this, v, from, e, false); }
    lastIndexOf(v, from, e) { return find(this, v, from, e, true); }
    includes(v, from, e) { return this.indexOf(v, from, e) !== -1; }
    swap16() { return swap(this, 2); }
    swap32() { return swap(this, 4); }
    swap64() { return swap(this, 8); }
    [custom]() { let s = Array.from(this.subarray(0, 50), (x) => x.toString(16).padStart(2, "0")).join(" "); if (this.length > 50) s += " ... " + (this.length - 50) + " more bytes"; return "<Buffer" + (s ? " " + s : "") + ">"; }
    get parent() { return this.buffer; }
  }
  const swap = (b, k) => { if (b.length % k) range("length"); for (let i = 0; i < b.length; i += k) Uint8Array.prototype.reverse.call(b.subarray(i, i + k)); return b; };
  const find = (hay, v, from, e, last) => {
    if (typeof from === "string") { e = from; from = undefined; }
    if (typeof v === "number") v = Uint8Array.of(v & 255);
    else if (typeof v === "string") v = new Uint8Array(encode(v, e));
    let i = from === undefined || Number.isNaN(+from) ? (last ? hay.length : 0) : Math.trunc(+from);
    if (i < 0) i = last ? hay.length + i : Math.max(0, hay.length + i);
    return n.find(hay, v, i, last);
  };
  const view = (b) => new DataView(b.buffer, b.byteOffset, b.byteLength);
  const names = [["Int8", 1], ["Uint8", 1], ["Int16", 2], ["Uint16", 2], ["Int32", 4], ["Uint32", 4], ["Float32", 4, "Float"], ["Float64", 8, "Double"], ["BigInt64", 8], ["BigUint64", 8]];
  for (const [type, bytes, alias] of names) {
    for (const little of bytes === 1 ? [null] : [true, false]) {
      const name = (alias || type) + (little === null ? "" : little ? "LE" : "BE");
      const check = (b, at) => { if (typeof at !== "number") throw Object.assign(new TypeError('The "offset" argument must be of type number.'), { code: "ERR_INVALID_ARG_TYPE" }); if (at < 0 || at + bytes > b.length || at % 1) range("offset"); };
      const read = function (at = 0) { check(this, at); return view(this)["get" + type](at, !!little); };
      const write = function (v, at = 0) {
        check(this, at);
        if (/int/i.test(type) && !type.startsWith("Big")) { const [lo, hi] = type.startsWith("U") ? [0, 2 ** (8 * bytes) - 1] : [-(2 ** (8 * bytes - 1)), 2 ** (8 * bytes - 1) - 1]; if (+v < lo || +v > hi) range("value"); }
        view(this)["set" + type](at, v, !!little);
        return at + bytes;
      };
      for (const spelled of new Set([name, name.replace("Uint", "UInt")])) { define(Buffer.prototype, "read" + spelled, read); define(Buffer.prototype, "write" + spelled, write); }
    }
  }
  for (const little of [true, false])
    for (const signed of [true, false]) {
      const read = function (at, k) {
        if (!(k >= 1 && k <= 6)) range("byteLength");
        if (at < 0 || at + k > this.length) range("offset");
        let v = 0;
        for (let i = 0; i < k; i++) v = v * 256 + this[little ? at + k - 1 - i : at + i];
        return signed && v >= 2 ** (8 * k - 1) ? v - 2 ** (8 * k) : v;
      };
      const write = function (v, at, k) {
        if (!(k >= 1 && k <= 6)) range("byteLength");
        if (at < 0 || at + k > this.length) range("offset");
        const half = 2 ** (8 * k - 1);
        if (signed ? v < -half || v >= half : v < 0 || v >= 2 * half) range("value");
        if (v < 0) v += 2 * half;
        for (let i = 0; i < k; i++) { this[little ? at + i : at + k - 1 - i] = v % 256; v = Math.floor(v / 256); }
        return at + k;
      };
      for (const spelled of signed ? ["Int"] : ["UInt", "Uint"]) { define(Buffer.prototype, "read" + spelled + (little ? "LE" : "BE"), read); define(Buffer.prototype, "write" + spelled + (little ? "LE" : "BE"), write); }
    }
  Buffer.poolSize = 8192;
  module.exports = { Buffer, Blob: undefined, constants: { MAX_LENGTH: maxLength, MAX_STRING_LENGTH: 2 ** 29 }, kMaxLength: maxLength, INSPECT_MAX_BYTES: 50, atob, btoa, isUtf8: (b) => n.isUtf8(b), isAscii: (b) => !Uint8Array.prototype.some.call(b, (x) => x > 127) };
  for (const name of ["Blob", "File"]) Object.defineProperty(module.exports, name, { enumerable: true, get: () => globalThis[name] });
  absent(module.exports, "buffer", ["transcode", "resolveObjectURL", "SlowBuffer"]);
})
