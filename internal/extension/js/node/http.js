(function (module, internal) {
  "use strict";
  const { n, absent, define } = internal;
  const { Buffer } = n.module("buffer"), { Readable, Writable } = n.module("stream");
  const STATUS_CODES = { 100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content", 206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Payload Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed", 418: "I'm a Teapot", 421: "Misdirected Request", 422: "Unprocessable Entity", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons", 500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported", 511: "Network Authentication Required" };
  const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
  const coded = (message, code) => Object.assign(new Error(message), { code });
  // What would change where a request goes or whom it trusts is refused, not left out.
  const REFUSED = ["socketPath", "createConnection", "lookup", "localAddress", "ca", "cert", "key", "pfx", "servername", "checkServerIdentity", "insecureHTTPParser"];
  const refuse = (o, of) => {
    for (const k of REFUSED) if (o[k] !== undefined) throw new Error(of + ": the option " + k + " is not provided by Scorel");
    if (o.rejectUnauthorized === false) throw new Error(of + ": certificates are always checked; the option rejectUnauthorized is not provided by Scorel");
  };

  // networkError gives an error of the network as Node names it.
  const networkError = (err) => {
    const text = String(err.message).replace(/^fetch failed: /, "");
    for (const [code, form] of [["ECONNREFUSED", /connection refused/], ["ENOTFOUND", /no such host/], ["ECONNRESET", /reset by peer|EOF/], ["ETIMEDOUT", /tim(ed|e)[ -]?out|no answer came/], ["EHOSTUNREACH", /no route to host/]])
      if (form.test(text)) return coded(text, code);
    return new Error(text);
  };

  const pairsOf = (headers) => {
    if (!headers) return [];
    if (typeof headers.entries === "function" && !Array.isArray(headers)) return [...headers.entries()];
    if (Array.isArray(headers)) return Array.isArray(headers[0]) ? headers : headers.flatMap((v, i) => (i % 2 ? [] : [[v, headers[i + 1]]]));
    return Object.entries(headers).filter(([, v]) => v !== undefined);
  };

  // addressOf reads the arguments of request: a URL, options, or both.
  const addressOf = (protocol, args) => {
    let o = {};
    if (typeof args[0] === "string" || args[0] instanceof URL) {
      const u = new URL(String(args.shift()));
      o = { protocol: u.protocol, hostname: u.hostname, port: u.port, path: u.pathname + u.search };
      if (u.username) o.auth = decodeURIComponent(u.username) + ":" + decodeURIComponent(u.password);
    }
    if (args[0] && typeof args[0] === "object") o = { ...o, ...args.shift() };
    o.protocol = o.protocol || protocol;
    if (o.protocol !== protocol) throw coded('Protocol "' + o.protocol + '" not supported. Expected "' + protocol + '"', "ERR_INVALID_PROTOCOL");
    const path = o.path === undefined ? "/" : String(o.path);
    if (/[\0-\x20]/.test(path)) throw Object.assign(new TypeError("Request path contains unescaped characters"), { code: "ERR_UNESCAPED_CHARACTERS" });
    let host = String(o.hostname || o.host || "localhost");
    if (host.includes(":") && !host.startsWith("[")) host = "[" + host + "]";
    if (/[\/\\?#@\s]/.test(host)) throw Object.assign(new TypeError("Invalid host: " + host), { code: "ERR_INVALID_URL" });
    const port = o.port || o.defaultPort;
    return { o, url: protocol + "//" + host + (port ? ":" + Number(port) : "") + (path.startsWith("/") ? path : "/" + path), callback: typeof args[0] === "function" ? args[0] : undefined };
  };

  class IncomingMessage extends Readable {
    constructor(req, raw) {
      super({
        read: () => raw.read().then((piece) => {
          req.active();
          if (piece === null) { this.complete = true; req.over(); this.push(null); } else this.push(Buffer.from(piece));
        }, (err) => this.destroy(networkError(err))),
        destroy: (err, cb) => { raw.cancel(); req.over(); cb(err); },
      });
      this.req = req;
      this.url = "";
      this.complete = this.aborted = false;
      this.httpVersion = "1.1"; this.httpVersionMajor = this.httpVersionMinor = 1;
      this.statusCode = raw.status;
      this.statusMessage = raw.statusText || STATUS_CODES[raw.status] || "";
      this.headers = {};
      this.rawHeaders = [];
      for (const [name, value] of raw.headers) {
        const k = name.toLowerCase();
        this.rawHeaders.push(name, value);
        if (k === "set-cookie") (this.headers[k] = this.headers[k] || []).push(value);
        else this.headers[k] = this.headers[k] === undefined ? value : this.headers[k] + (k === "cookie" ? "; " : ", ") + value;
      }
      this.trailers = {}; this.rawTrailers = [];
      this.socket = this.connection = req.socket;
    }
    setTimeout(ms, f) { this.req.setTimeout(ms, f); return this; }
  }

  // ClientRequest is sent when it is ended: the whole body goes at once.
  class ClientRequest extends Writable {
    constructor(secure, { o, url, callback }) {
      super({});
      this.readable = false; // a request that is finished stays open for its answer
      refuse(o, secure ? "https" : "http");
      this.method = String(o.method || "GET").toUpperCase();
      if (this.method === "CONNECT") throw new Error("http: CONNECT is not provided by Scorel");
      const at = new URL(url);
      this.protocol = at.protocol; this.host = at.hostname; this.path = at.pathname + at.search;
      this.reusedSocket = this.aborted = false;
      this.headersSent = false;
      this.socket = this.connection = { setTimeout: (ms, f) => this.setTimeout(ms, f), setKeepAlive() {}, setNoDelay() {}, ref() {}, unref() {}, encrypted: secure, destroy: (e) => this.destroy(e), on() { return this; }, once() { return this; } };
      define(this, "address", url);
      define(this, "list", new Map());
      define(this, "parts", []);
      define(this, "state", { call: undefined, timer: undefined, ms: 0, gone: false });
      for (const [k, v] of pairsOf(o.headers)) this.setHeader(k, v);
      if (o.auth && !this.hasHeader("authorization")) this.setHeader("Authorization", "Basic " + Buffer.from(String(o.auth)).toString("base64"));
      if (callback) this.once("response", callback);
      if (o.timeout) this.setTimeout(o.timeout);
      if (o.signal) {
        const stop = () => this.destroy(Object.assign(new Error("The operation was aborted"), { name: "AbortError", code: "ABORT_ERR", cause: o.signal.reason }));
        if (o.signal.aborted) process.nextTick(stop);
        else { o.signal.addEventListener("abort", stop, { once: true }); this.once("close", () => o.signal.removeEventListener("abort", stop)); }
      }
    }
    setHeader(k, v) {
      if (this.headersSent) throw coded("Cannot set headers after they are sent to the client", "ERR_HTTP_HEADERS_SENT");
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(String(k))) throw Object.assign(new TypeError('Header name must be a valid HTTP token ["' + k + '"]'), { code: "ERR_INVALID_HTTP_TOKEN" });
      const values = (Array.isArray(v) ? v : [v]).map(String);
      if (values.some((value) => /[\0\r\n]/.test(value))) throw Object.assign(new TypeError('Invalid character in header content ["' + k + '"]'), { code: "ERR_INVALID_CHAR" });
      this.list.set(String(k).toLowerCase(), [String(k), values]);
      return this;
    }
    getHeader(k) { const h = this.list.get(String(k).toLowerCase()); return h && (h[1].length > 1 ? h[1] : h[1][0]); }
    getHeaders() { return Object.fromEntries([...this.list.keys()].map((k) => [k, this.getHeader(k)])); }
    getHeaderNames() { return [...this.list.keys()]; }
    hasHeader(k) { return this.list.has(String(k).toLowerCase()); }
    removeHeader(k) { this.list.delete(String(k).toLowerCase()); }
    flushHeaders() {} setNoDelay() {} setSocketKeepAlive() {}
    active() {
      const s = this.state;
      clearTimeout(s.timer);
      s.timer = s.ms > 0 && !this.destroyed ? setTimeout(() => this.emit("timeout"), s.ms) : undefined;
    }
    setTimeout(ms, f) {
      this.state.ms = Math.max(0, Number(ms) || 0);
      if (f) this.once("timeout", f);
      this.active();
      return this;
    }
    over() { this.state.ms = 0; clearTimeout(this.state.timer); }
    _write(v, e, cb) { this.parts.push(typeof v === "string" ? Buffer.from(v, e) : v); cb(); }
    _final(cb) {
      const body = this.parts.length ? Buffer.concat(this.parts) : null;
      this.headersSent = true;
      this.active();
      const pairs = [...this.list.values()].flatMap(([k, values]) => (/^(content-length|transfer-encoding|connection)$/i.test(k) ? [] : values.map((v) => [k, v])));
      try { this.state.call = n.fetch(this.method, this.address, pairs, body, "manual"); } catch (err) { return cb(networkError(err)); }
      this.state.call.response.then((raw) => this.answered(raw), (err) => { this.over(); if (!this.destroyed) this.destroy(networkError(err)); });
      cb();
      return undefined;
    }
    answered(raw) {
      if (this.destroyed) return raw.cancel();
      this.active();
      const res = new IncomingMessage(this, raw);
      this.res = res;
      res.once("close", () => this.emit("close"));
      if (!this.emit("response", res)) res.resume();
      return undefined;
    }
    destroy(err) {
      const { state } = this;
      if (state.gone) return this;
      state.gone = this.destroyed = true;
      this.over();
      if (state.call) state.call.cancel();
      if (this.res) this.res.destroy(err);
      else process.nextTick(() => { this.emit("error", err || coded("socket hang up", "ECONNRESET")); this.emit("close"); });
      return this;
    }
    abort() { if (this.aborted) return; this.aborted = true; process.nextTick(() => this.emit("abort")); this.destroy(); }
  }

  class Agent {
    constructor(options = {}) { refuse(options, "Agent"); this.options = { ...options }; this.maxSockets = options.maxSockets || Infinity; this.requests = {}; this.sockets = {}; this.freeSockets = {}; }
    destroy() {}
  }

  const make = (protocol) => {
    const of = protocol.slice(0, -1);
    const request = (...args) => new ClientRequest(protocol === "https:", addressOf(protocol, args));
    const get = (...args) => { const req = request(...args); req.end(); return req; };
    const exports = { request, get, Agent, globalAgent: new Agent() };
    if (of === "http") Object.assign(exports, { ClientRequest, IncomingMessage, STATUS_CODES, METHODS, maxHeaderSize: 16384 });
    absent(exports, of, ["createServer", "Server", ...(of === "http" ? ["ServerResponse", "OutgoingMessage", "setMaxIdleHTTPParsers", "WebSocket"] : [])]);
    return exports;
  };
  module.exports = make("http:");
  define(module.exports, "secure", make("https:"));
})
