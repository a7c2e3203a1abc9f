// fetch and what belongs to it.
(function (module, internal) {
  "use strict";
  const { n, define, bytesOf } = internal;
  const encoder = new TextEncoder();
  const concat = (parts) => {
    let size = 0;
    for (const p of parts) size += p.length;
    const all = new Uint8Array(size);
    let at = 0;
    for (const p of parts) { all.set(p, at); at += p.length; }
    return all;
  };

  // each is for await, which the interpreter does not know.
  const each = async (items, f) => {
    const it = items[Symbol.asyncIterator]();
    for (let step = await it.next(); !step.done; step = await it.next()) await f(step.value);
  };

  // --- streams: what readers of bodies need ---
  class Reader {
    constructor(stream) { this.stream = stream; this.closed = stream.finished.promise; this.closed.catch(() => {}); }
    read() { return this.stream.pull(); }
    cancel(reason) { return this.stream.cancel(reason, true); }
    releaseLock() { if (this.stream) this.stream.reader = null; this.stream = null; }
  }
  class ReadableStream {
    constructor(source = {}, { highWaterMark = 1 } = {}) {
      const s = this;
      for (const [k, v] of Object.entries({ source, queue: [], waiting: [], state: "open", error: undefined, reader: null, pulling: false, high: highWaterMark, finished: Promise.withResolvers() })) define(s, k, v);
      s.finished.promise.catch(() => {});
      define(s, "controller", {
        get desiredSize() { return s.state === "open" ? s.high - s.queue.length : 0; },
        enqueue(v) {
          if (s.state !== "open") throw new TypeError("The stream is closed");
          const w = s.waiting.shift();
          if (w) w.resolve({ done: false, value: v }); else s.queue.push(v);
        },
        close() { if (s.state === "open") { s.state = "closing"; s.settle(); } },
        error(e) { if (s.state === "open") { s.state = "errored"; s.error = e; s.queue.length = 0; for (const w of s.waiting.splice(0)) w.reject(e); s.finished.reject(e); } },
      });
      const started = source.start ? source.start(s.controller) : undefined;
      define(s, "started", Promise.resolve(started));
      s.started.catch((e) => s.controller.error(e));
    }
    get locked() { return this.reader !== null; }
    settle() {
      if (this.state === "closing" && !this.queue.length) { this.state = "closed"; for (const w of this.waiting.splice(0)) w.resolve({ done: true, value: undefined }); this.finished.resolve(); }
    }
    pull() {
      if (this.queue.length) { const value = this.queue.shift(); this.settle(); return Promise.resolve({ done: false, value }); }
      if (this.state === "errored") return Promise.reject(this.error);
      if (this.state !== "open") return Promise.resolve({ done: true, value: undefined });
      const w = Promise.withResolvers();
      this.waiting.push(w);
      if (!this.pulling && this.source.pull) {
        this.pulling = true;
        this.started.then(() => this.source.pull(this.controller)).then(() => { this.pulling = false; if (this.waiting.length && this.state === "open") { const again = this.waiting; if (again.length) this.kick(); } }, (e) => this.controller.error(e));
      }
      return w.promise;
    }
    kick() { if (!this.pulling && this.source.pull) { this.pulling = true; Promise.resolve(this.source.pull(this.controller)).then(() => { this.pulling = false; if (this.waiting.length && this.state === "open") this.kick(); }, (e) => this.controller.error(e)); } }
    getReader() { if (this.reader) throw new TypeError("The stream is locked"); return (this.reader = new Reader(this)); }
    async cancel(reason, byReader) {
      if (this.locked && !byReader) throw new TypeError("The stream is locked");
      if (this.state === "closed" || this.state === "errored") return;
      this.state = "closed";
      this.queue.length = 0;
      for (const w of this.waiting.splice(0)) w.resolve({ done: true, value: undefined });
      this.finished.resolve();
      if (this.source.cancel) await this.source.cancel(reason);
    }
    values() { return this[Symbol.asyncIterator](); }
    [Symbol.asyncIterator]() {
      const r = this.getReader();
      return {
        next: () => r.read(),
        return: async (v) => { await r.cancel(); r.releaseLock(); return { done: true, value: v }; },
        [Symbol.asyncIterator]() { return this; },
      };
    }
    async pipeTo(dest) { const w = dest.getWriter(); await each(this, (v) => w.write(v)); await w.close(); }
    pipeThrough(t) { this.pipeTo(t.writable).catch((e) => t.abort && t.abort(e)); return t.readable; }
    tee() {
      const r = this.getReader(), both = [];
      const pull = async () => {
        try { const { done, value } = await r.read(); for (const b of both) done ? b.close() : b.enqueue(value); } catch (e) { for (const b of both) b.error(e); }
      };
      return [0, 1].map(() => new ReadableStream({ start(c) { both.push(c); }, pull }));
    }
    static from(items) {
      const it = items[Symbol.asyncIterator] ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
      return new ReadableStream({ async pull(c) { const { done, value } = await it.next(); done ? c.close() : c.enqueue(value); } });
    }
  }
  class WritableStream {
    constructor(sink = {}) { define(this, "sink", sink); if (sink.start) sink.start({ error() {} }); }
    getWriter() {
      const sink = this.sink;
      let last = Promise.resolve();
      return {
        ready: Promise.resolve(), closed: Promise.resolve(),
        write: (v) => (last = last.then(() => sink.write && sink.write(v, { error() {} }))),
        close: () => (last = last.then(() => sink.close && sink.close())),
        abort: (r) => Promise.resolve(sink.abort && sink.abort(r)),
        releaseLock() {},
      };
    }
  }
  class TransformStream {
    constructor(t = {}) {
      let out;
      this.readable = new ReadableStream({ start(c) { out = c; } }, { highWaterMark: 0 });
      const control = { enqueue: (v) => out.enqueue(v), terminate: () => out.close(), error: (e) => out.error(e) };
      this.abort = (e) => out.error(e);
      this.writable = new WritableStream({ write: (v) => (t.transform ? t.transform(v, control) : control.enqueue(v)), close: async () => { if (t.flush) await t.flush(control); out.close(); } });
      if (t.start) t.start(control);
    }
  }

  // --- headers ---
  const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
  class Headers {
    constructor(init) {
      define(this, "map", new Map());
      if (init == null) return;
      const pairs = init instanceof Headers ? init.entries() : typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
      for (const [k, v] of pairs) this.append(k, v);
    }
    static name(k) { k = String(k); if (!token.test(k)) throw new TypeError("Invalid header name: " + k); return k.toLowerCase(); }
    static value(v) { v = String(v).trim(); if (/[\0\r\n]/.test(v)) throw new TypeError("Invalid header value"); return v; }
    append(k, v) { k = Headers.name(k); const l = this.map.get(k); if (l) l.push(Headers.value(v)); else this.map.set(k, [Headers.value(v)]); }
    set(k, v) { this.map.set(Headers.name(k), [Headers.value(v)]); }
    get(k) { const l = this.map.get(Headers.name(k)); return l ? l.join(", ") : null; }
    getSetCookie() { return [...(this.map.get("set-cookie") || [])]; }
    has(k) { return this.map.has(Headers.name(k)); }
    delete(k) { this.map.delete(Headers.name(k)); }
    *entries() { for (const k of [...this.map.keys()].sort()) yield [k, this.get(k)]; }
    *keys() { for (const [k] of this.entries()) yield k; }
    *values() { for (const [, v] of this.entries()) yield v; }
    forEach(f, self) { for (const [k, v] of this.entries()) f.call(self, v, k, this); }
    [Symbol.iterator]() { return this.entries(); }
  }

  // --- blobs and forms ---
  class Blob {
    constructor(parts = [], options = {}) {
      define(this, "bytesOf", concat([...parts].map((p) => (p instanceof Blob ? p.bytesOf : typeof p === "string" ? encoder.encode(p) : p instanceof ArrayBuffer || ArrayBuffer.isView(p) ? bytesOf(p).slice() : encoder.encode(String(p))))));
      this.size = this.bytesOf.length;
      this.type = String(options.type || "").toLowerCase();
    }
    async arrayBuffer() { return this.bytesOf.slice().buffer; }
    async bytes() { return this.bytesOf.slice(); }
    async text() { return new TextDecoder().decode(this.bytesOf); }
    slice(a, b, type) { return new Blob([this.bytesOf.slice(a, b)], { type }); }
    stream() { const b = this.bytesOf; return new ReadableStream({ start(c) { if (b.length) c.enqueue(b.slice()); c.close(); } }); }
  }
  class File extends Blob { constructor(parts, name, options = {}) { super(parts, options); this.name = String(name); this.lastModified = options.lastModified || Date.now(); } }
  class FormData {
    constructor() { define(this, "list", []); }
    append(k, v, name) { this.list.push([String(k), v instanceof Blob ? (v instanceof File && name === undefined ? v : new File([v], name || "blob", { type: v.type })) : String(v)]); }
    set(k, v, name) { this.delete(k); this.append(k, v, name); }
    get(k) { const e = this.list.find((x) => x[0] === k); return e ? e[1] : null; }
    getAll(k) { return this.list.filter((x) => x[0] === k).map((x) => x[1]); }
    has(k) { return this.list.some((x) => x[0] === k); }
    delete(k) { const rest = this.list.filter((x) => x[0] !== k); this.list.length = 0; this.list.push(...rest); }
    entries() { return this.list[Symbol.iterator](); }
    *keys() { for (const [k] of this.list) yield k; }
    *values() { for (const [, v] of this.list) yield v; }
    forEach(f) { for (const [k, v] of this.list) f(v, k, this); }
    [Symbol.iterator]() { return this.entries(); }
  }
  const formBytes = (form) => {
    const boundary = "----scorel" + n.hex(new Uint8Array(n.random(12)));
    const escape = (s) => s.replace(/\n/g, "%0A").replace(/\r/g, "%0D").replace(/"/g, "%22");
    const parts = [];
    for (const [k, v] of form) {
      parts.push(encoder.encode("--" + boundary + '\r\nContent-Disposition: form-data; name="' + escape(k) + '"' + (v instanceof File ? '; filename="' + escape(v.name) + '"\r\nContent-Type: ' + (v.type || "application/octet-stream") : "") + "\r\n\r\n"));
      parts.push(v instanceof File ? v.bytesOf : encoder.encode(v), encoder.encode("\r\n"));
    }
    parts.push(encoder.encode("--" + boundary + "--\r\n"));
    return [concat(parts), "multipart/form-data; boundary=" + boundary];
  };

  // --- bodies ---
  const extract = (body) => {
    if (body == null) return [null, null];
    if (typeof body === "string") return [encoder.encode(body), "text/plain;charset=UTF-8"];
    if (body instanceof URLSearchParams) return [encoder.encode(body.toString()), "application/x-www-form-urlencoded;charset=UTF-8"];
    if (body instanceof FormData) return formBytes(body);
    if (body instanceof Blob) return [body.bytesOf, body.type || null];
    if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return [bytesOf(body).slice(), null];
    if (body instanceof ReadableStream) return [body, null];
    if (typeof body[Symbol.asyncIterator] === "function") return [ReadableStream.from(body), null];
    return [encoder.encode(String(body)), "text/plain;charset=UTF-8"];
  };
  const toStream = (b) => (b === null || b instanceof ReadableStream ? b : new ReadableStream({ start(c) { if (b.length) c.enqueue(b); c.close(); } }));
  class Body {
    get body() { if (this.content instanceof Uint8Array) this.content = toStream(this.content); return this.content; }
    get bodyUsed() { return this.used || (this.content instanceof ReadableStream && this.content.locked); }
    async bytes() {
      if (this.bodyUsed) throw new TypeError("Body is unusable: it has been read already");
      this.used = true;
      const c = this.content;
      if (c === null) return new Uint8Array(0);
      if (c instanceof Uint8Array) return c;
      const parts = [];
      await each(c, (p) => { parts.push(typeof p === "string" ? encoder.encode(p) : bytesOf(p)); });
      return concat(parts);
    }
    async arrayBuffer() { const b = await this.bytes(); return b.byteOffset === 0 && b.byteLength === b.buffer.byteLength ? b.buffer : b.slice().buffer; }
    async text() { return new TextDecoder().decode(await this.bytes()); }
    async json() { return JSON.parse(await this.text()); }
    async blob() { return new Blob([await this.bytes()], { type: this.headers.get("content-type") || "" }); }
    async formData() {
      const type = this.headers.get("content-type") || "";
      if (!type.startsWith("application/x-www-form-urlencoded")) throw new TypeError("formData() reads application/x-www-form-urlencoded only");
      const f = new FormData();
      for (const [k, v] of new URLSearchParams(await this.text())) f.append(k, v);
      return f;
    }
  }
  const setBody = (o, body) => {
    const [content, type] = extract(body);
    define(o, "content", content);
    define(o, "used", false);
    if (type && !o.headers.has("content-type")) o.headers.set("content-type", type);
  };
  class Request extends Body {
    constructor(input, init = {}) {
      super();
      const from = input instanceof Request ? input : null;
      this.url = from ? from.url : new URL(String(input)).href;
      this.method = String(init.method || (from ? from.method : "GET"));
      if (/^(get|head|post|put|delete|options|patch)$/i.test(this.method)) this.method = this.method.toUpperCase();
      this.headers = new Headers(init.headers || (from ? from.headers : undefined));
      this.redirect = init.redirect || (from ? from.redirect : "follow");
      this.signal = init.signal !== undefined ? init.signal : from ? from.signal : null;
      const body = init.body !== undefined ? init.body : from ? from.content : null;
      if (body != null && (this.method === "GET" || this.method === "HEAD")) throw new TypeError("Request with GET/HEAD method cannot have body.");
      setBody(this, body);
    }
    clone() { return new Request(this); }
  }
  class Response extends Body {
    constructor(body = null, init = {}) {
      super();
      this.status = init.status === undefined ? 200 : init.status;
      if (!(this.status >= 200 && this.status <= 599) && !init.raw) throw new RangeError("init.status must be between 200 and 599");
      this.statusText = init.statusText || "";
      this.headers = new Headers(init.headers);
      this.url = init.url || "";
      this.redirected = !!init.redirected;
      this.type = init.type || "default";
      setBody(this, body);
    }
    get ok() { return this.status >= 200 && this.status < 300; }
    clone() {
      if (this.bodyUsed) throw new TypeError("Body is unusable: it has been read already");
      let content = this.content;
      if (content instanceof ReadableStream) { const [a, b] = content.tee(); this.content = a; content = b; }
      const r = new Response(null, { ...this, headers: this.headers, raw: true });
      r.content = content;
      return r;
    }
    static json(v, init = {}) { const r = new Response(JSON.stringify(v), init); if (!new Headers(init.headers).has("content-type")) r.headers.set("content-type", "application/json"); return r; }
    static error() { return new Response(null, { status: 0, type: "error", raw: true }); }
    static redirect(url, status = 302) { return new Response(null, { status, headers: { location: String(url) } }); }
  }

  async function fetch(input, init) {
    const req = new Request(input, init), signal = req.signal;
    if (signal) signal.throwIfAborted();
    const body = req.content === null ? null : await req.bytes();
    const call = n.fetch(req.method, req.url, [...req.headers.entries()], body, req.redirect);
    let stop = () => call.cancel();
    let fail = () => {};
    const aborted = new Promise((_, reject) => { fail = reject; });
    aborted.catch(() => {});
    const onAbort = () => { stop(); fail(signal.reason); };
    if (signal) signal.addEventListener("abort", onAbort, { once: true });
    const done = () => { if (signal) signal.removeEventListener("abort", onAbort); };
    let raw;
    try {
      raw = await Promise.race([call.response, aborted]);
    } catch (e) {
      done();
      if (signal && signal.aborted) throw signal.reason;
      const err = new TypeError(e.message);
      define(err, "cause", e);
      throw err;
    }
    const bare = req.method === "HEAD" || raw.status === 204 || raw.status === 304;
    const stream = bare ? null : new ReadableStream({
      start(c) { stop = () => { raw.cancel(); c.error(signal.reason); }; },
      async pull(c) {
        let piece;
        try { piece = await raw.read(); } catch (e) { done(); throw signal && signal.aborted ? signal.reason : new TypeError(e.message); }
        if (piece === null) { done(); c.close(); } else c.enqueue(new Uint8Array(piece));
      },
      cancel() { done(); raw.cancel(); },
    });
    if (bare) { done(); raw.cancel(); }
    return new Response(stream, { status: raw.status, statusText: raw.statusText, headers: raw.headers, url: raw.url, redirected: raw.redirected, type: "basic", raw: true });
  }
  module.exports = { fetch, Headers, Request, Response, FormData, Blob, File, ReadableStream, WritableStream, TransformStream };
})
