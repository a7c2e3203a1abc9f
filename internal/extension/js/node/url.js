(function (module, internal, native) {
  "use strict";
  const { absent, define, custom } = internal;
  const encode = (s) => encodeURIComponent(s.toWellFormed()).replace(/%20/g, "+").replace(/[!'()~]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());
  const decode = (s) => { s = s.replace(/\+/g, " "); try { return decodeURIComponent(s); } catch { return new TextDecoder().decode(bytesOf(s)); } };
  const bytesOf = (s) => { // what is no escape stays
    const raw = new TextEncoder().encode(s), out = [];
    for (let i = 0; i < raw.length; i++) {
      const hex = raw[i] === 37 ? String.fromCharCode(raw[i + 1], raw[i + 2]) : "";
      if (/^[0-9a-f]{2}$/i.test(hex)) { out.push(parseInt(hex, 16)); i += 2; } else out.push(raw[i]);
    }
    return new Uint8Array(out);
  };
  const maxPairs = 100000;
  const pairsOf = (s) => (s[0] === "?" ? s.slice(1) : s).split("&").filter((p) => p).slice(0, maxPairs).map((p) => { const i = p.indexOf("="); return i < 0 ? [decode(p), ""] : [decode(p.slice(0, i)), decode(p.slice(i + 1))]; });
  class URLSearchParams {
    constructor(init = "") {
      define(this, "list", []); define(this, "changed", null);
      if (init === null || init === undefined) return;
      if (typeof init === "object" || typeof init === "function") {
        if (typeof init[Symbol.iterator] === "function") for (const p of init) { const [k, v, ...more] = p; if (v === undefined || more.length) throw new TypeError("Each query pair must be an iterable [name, value] tuple"); this.list.push([String(k), String(v)]); }
        else for (const k of Object.keys(init)) this.list.push([k, String(init[k])]);
      } else this.list = pairsOf(String(init));
    }
    touch() { if (this.changed) this.changed(this.toString()); }
    get size() { return this.list.length; }
    append(k, v) { this.list.push([String(k), String(v)]); this.touch(); }
    delete(k, v) { k = String(k); this.list = this.list.filter((p) => p[0] !== k || (v !== undefined && p[1] !== String(v))); this.touch(); }
    get(k) { const p = this.list.find((x) => x[0] === String(k)); return p ? p[1] : null; }
    getAll(k) { return this.list.filter((p) => p[0] === String(k)).map((p) => p[1]); }
    has(k, v) { return this.list.some((p) => p[0] === String(k) && (v === undefined || p[1] === String(v))); }
    set(k, v) { k = String(k); const i = this.list.findIndex((p) => p[0] === k); if (i < 0) this.list.push([k, String(v)]); else { this.list[i] = [k, String(v)]; this.list = this.list.filter((p, j) => j <= i || p[0] !== k); } this.touch(); }
    sort() { this.list.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.touch(); }
    forEach(f, self) { for (const [k, v] of this.list) f.call(self, v, k, this); }
    *entries() { for (const [k, v] of this.list) yield [k, v]; }
    *keys() { for (const [k] of this.list) yield k; }
    *values() { for (const [, v] of this.list) yield v; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.list.map(([k, v]) => encode(k) + "=" + encode(v)).join("&"); }
    [custom](d, o, inspect) { return "URLSearchParams { " + this.list.map(([k, v]) => inspect(k) + " => " + inspect(v)).join(", ") + " }"; }
  }
  const invalid = (input) => { throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: String(input) }); };
  class URL {
    constructor(url, base) {
      const parts = native.parse(String(url), base === undefined ? undefined : String(base));
      if (!parts) invalid(url);
      define(this, "parts", parts); define(this, "params", null);
    }
    get href() { return this.parts.href; }
    set href(v) { const p = native.parse(String(v)); if (!p) invalid(v); this.parts = p; this.sync(); }
    get origin() { return this.parts.origin; }
    get searchParams() {
      if (!this.params) { this.params = new URLSearchParams(this.parts.search); this.params.changed = (s) => { this.parts = native.set(this.parts.href, "search", s) || this.parts; }; }
      return this.params;
    }
    sync() { if (this.params) this.params.list = pairsOf(this.parts.search); }
    toString() { return this.parts.href; }
    toJSON() { return this.parts.href; }
    static canParse(u, b) { return native.parse(String(u), b === undefined ? undefined : String(b)) !== null; }
    static parse(u, b) { try { return new URL(u, b); } catch { return null; } }
    [custom](d, o, inspect) { return "URL " + inspect(Object.fromEntries(["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"].map((k) => [k, this.parts[k]]))); }
  }
  for (const k of ["protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"])
    Object.defineProperty(URL.prototype, k, { configurable: true, enumerable: true, get() { return this.parts[k]; }, set(v) { const p = native.set(this.parts.href, k, String(v)); if (p) { this.parts = p; if (k === "search") this.sync(); } } });
  for (const k of ["href", "origin", "searchParams", "toString", "toJSON"]) Object.defineProperty(URL.prototype, k, { enumerable: true });
  module.exports = {
    URL, URLSearchParams, domainToASCII: native.toASCII, domainToUnicode: native.toUnicode,
    fileURLToPath: (u) => { const url = typeof u === "string" ? new URL(u) : u; if (url.protocol !== "file:") throw Object.assign(new TypeError("The URL must be of scheme file"), { code: "ERR_INVALID_URL_SCHEME" }); return decodeURIComponent(url.pathname); },
    pathToFileURL: (p) => new URL("file://" + encodeURI(internal.n.module("path").resolve(p)).replace(/[?#]/g, encodeURIComponent)),
    format: (u) => (typeof u === "string" ? u : u.href !== undefined ? u.href : (u.protocol ? u.protocol.replace(/:?$/, ":") + (u.slashes === false ? "" : "//") : "") + (u.auth ? u.auth + "@" : "") + (u.host || (u.hostname || "") + (u.port ? ":" + u.port : "")) + (u.pathname || "") + (u.search || (u.query ? "?" + new URLSearchParams(u.query) : "")) + (u.hash || "")),
    parse: (s, query) => {
      let u; try { u = new URL(s); } catch { u = null; }
      if (!u) { const i = s.indexOf("?"), j = s.indexOf("#"); const end = j < 0 ? s.length : j; const search = i < 0 || i > end ? null : s.slice(i, end); return { protocol: null, host: null, hostname: null, port: null, pathname: s.slice(0, search === null ? end : i), search, query: query ? Object.fromEntries(new URLSearchParams(search || "")) : search && search.slice(1), hash: j < 0 ? null : s.slice(j), href: s }; }
      return { protocol: u.protocol, slashes: true, auth: u.username ? u.username + (u.password ? ":" + u.password : "") : null, host: u.host, hostname: u.hostname, port: u.port || null, pathname: u.pathname, search: u.search || null, query: query ? Object.fromEntries(u.searchParams) : u.search ? u.search.slice(1) : null, hash: u.hash || null, href: u.href };
    },
    resolve: (a, b) => new URL(b, new URL(a, "resolve://")).href.replace(/^resolve:\/\//, ""),
    urlToHttpOptions: (u) => ({ protocol: u.protocol, hostname: u.hostname, path: u.pathname + u.search, port: u.port ? Number(u.port) : undefined, href: u.href }),
  };
  absent(module.exports, "url", ["fileURLToPathBuffer"]);
})
