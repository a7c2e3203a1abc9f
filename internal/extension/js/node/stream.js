(function (module, internal) {
  "use strict";
  const { n, absent } = internal;
  const EventEmitter = n.module("events"), { Buffer } = n.module("buffer"), { StringDecoder } = n.module("string_decoder");
  const abortError = () => Object.assign(new Error("The operation was aborted"), { name: "AbortError", code: "ABORT_ERR" });
  class Stream extends EventEmitter {
    constructor() { super(); EventEmitter.call(this); }
    pipe(dest, { end = true } = {}) {
      const wait = () => this.resume();
      this.on("data", (v) => { if (dest.write(v) === false && this.pause) { this.pause(); dest.once("drain", wait); } });
      if (end && dest !== process.stdout && dest !== process.stderr) this.once("end", () => dest.end());
      dest.emit("pipe", this);
      return dest;
    }
    unpipe() { this.removeAllListeners("data"); return this; }
  }
  const hidden = (o, values) => { for (const k of Object.keys(values)) Object.defineProperty(o, k, { value: values[k], writable: true, configurable: true, enumerable: false }); };
  const destroy = function (err) {
    if (this.destroyed) return this;
    this.destroyed = true;
    const done = (e) => process.nextTick(() => { if (e || err) this.emit("error", e || err); this.emit("close"); });
    if (this._destroy) this._destroy(err || null, done); else done();
    return this;
  };
  const readableInit = (s, o) => {
    hidden(s, { queue: [], flowing: null, ended: false, finishedReading: false, reading: false, decoder: null, object: !!(o.objectMode || o.readableObjectMode), mark: o.highWaterMark || (o.objectMode ? 16 : 65536) });
    s.readable = true; s.destroyed = false;
    if (o.read) s._read = o.read;
    if (o.destroy) s._destroy = o.destroy;
    if (o.encoding) s.setEncoding(o.encoding);
    if (o.signal) o.signal.addEventListener("abort", () => s.destroy(abortError()), { once: true });
  };
  const held = (s) => (s.object ? s.queue.length : s.queue.reduce((k, v) => k + v.length, 0));
  const readableMethods = {
    _read() {},
    setEncoding(e) { this.decoder = new StringDecoder(e); this.queue = this.queue.map((v) => (typeof v === "string" ? v : this.decoder.write(v))); return this; },
    push(v, e) {
      if (v === null) {
        if (this.decoder) { const rest = this.decoder.end(); if (rest) this.queue.push(rest); }
        this.ended = true;
        this.schedule();
        return false;
      }
      if (this.ended) { this.destroy(Object.assign(new Error("stream.push() after EOF"), { code: "ERR_STREAM_PUSH_AFTER_EOF" })); return false; }
      if (!this.object) {
        if (typeof v === "string" && !this.decoder) v = Buffer.from(v, e);
        else if (typeof v !== "string" && !Buffer.isBuffer(v)) v = Buffer.from(v.buffer, v.byteOffset, v.byteLength);
        if (this.decoder && typeof v !== "string") v = this.decoder.write(v);
        if (v.length === 0) { this.reading = false; return true; }
      }
      this.reading = false;
      this.queue.push(v);
      this.schedule();
      return held(this) < this.mark;
    },
    unshift(v) { this.queue.unshift(v); this.schedule(); },
    schedule() { if (this.scheduled) return; hidden(this, { scheduled: true }); process.nextTick(() => { this.scheduled = false; this.flow(); }); },
    want() { if (!this.ended && !this.reading && !this.destroyed && held(this) < this.mark) { this.reading = true; try { this._read(this.mark); } catch (e) { this.destroy(e); } } },
    flow() {
      if (this.destroyed) return;
      while (this.flowing && this.queue.length && !this.destroyed) this.emit("data", this.queue.shift());
      if (!this.flowing && (this.queue.length || this.ended) && this.listenerCount("readable")) this.emit("readable");
      if (this.ended && !this.queue.length && !this.finishedReading && this.flowing !== null) {
        this.finishedReading = true; this.readable = false;
        this.emit("end");
        if (this.autoClose !== false) process.nextTick(() => { if (!this.destroyed && (this.writable === undefined || this.writableFinished)) this.destroy(); });
        return;
      }
      if (this.flowing || this.listenerCount("readable")) this.want();
    },
    read(k) {
      if (this.flowing === null) this.flowing = false;
      let v = null;
      if (this.queue.length) {
        if (this.object || k === undefined) v = this.object ? this.queue.shift() : typeof this.queue[0] === "string" ? this.queue.splice(0).join("") : Buffer.concat(this.queue.splice(0));
        else {
          const all = typeof this.queue[0] === "string" ? this.queue.splice(0).join("") : Buffer.concat(this.queue.splice(0));
          if (all.length < k && !this.ended) this.queue.push(all); else { v = all.slice(0, k); if (all.length > k) this.queue.push(all.slice(k)); }
        }
      }
      if (!this.queue.length && this.ended) this.schedule(); else this.want();
      return v;
    },
    pause() { this.flowing = false; this.emit("pause"); return this; },
    resume() { this.flowing = true; this.schedule(); return this; },
    isPaused() { return this.flowing === false; },
    on(t, f) {
      EventEmitter.prototype.on.call(this, t, f);
      if (t === "data" && this.flowing !== false) this.resume();
      if (t === "readable") { if (this.flowing === null) this.flowing = false; this.schedule(); }
      return this;
    },
    addListener(t, f) { return this.on(t, f); },
    [Symbol.asyncIterator]() {
      const s = this, waiting = [];
      let error, over = false;
      const wake = () => { for (const w of waiting.splice(0)) w(); };
      s.on("readable", wake); s.once("end", () => { over = true; wake(); }); s.once("error", (e) => { error = e; wake(); }); s.once("close", () => { over = true; wake(); });
      const next = async () => {
        for (;;) {
          if (error) throw error;
          const v = s.object || s.queue.length ? (s.queue.length ? s.queue.shift() : null) : null;
          if (v !== null) return { done: false, value: v };
          if (over || (s.ended && !s.queue.length)) { if (!over) s.read(); return { done: true, value: undefined }; }
          s.want();
          if (s.queue.length || error || over) continue;
          await new Promise((r) => waiting.push(r));
        }
      };
      return { next, return: async (value) => { s.destroy(); return { done: true, value }; }, [Symbol.asyncIterator]() { return this; } };
    },
    destroy,
  };
  const writableInit = (s, o) => {
    hidden(s, { pending: [], wsize: 0, writing: false, ending: false, corked: 0, wobject: !!(o.objectMode || o.writableObjectMode), wmark: o.highWaterMark || 16384, needDrain: false });
    s.writable = true; s.destroyed = false; s.writableEnded = false; s.writableFinished = false;
    for (const k of ["write", "writev", "final", "destroy"]) if (o[k]) s["_" + k] = o[k];
    if (o.decodeStrings === false) hidden(s, { keepStrings: true });
    if (o.signal) o.signal.addEventListener("abort", () => s.destroy(abortError()), { once: true });
  };
  const writableMethods = {
    write(v, e, cb) {
      if (typeof e === "function") { cb = e; e = undefined; }
      if (this.writableEnded || this.destroyed) {
        const err = Object.assign(new Error(this.destroyed ? "Cannot call write after a stream was destroyed" : "write after end"), { code: this.destroyed ? "ERR_STREAM_DESTROYED" : "ERR_STREAM_WRITE_AFTER_END" });
        process.nextTick(() => { if (cb) cb(err); if (!this.destroyed) this.destroy(err); });
        return false;
      }
      if (v === null) throw Object.assign(new TypeError("May not write null values to stream"), { code: "ERR_STREAM_NULL_VALUES" });
      if (!this.wobject && !this.keepStrings && typeof v === "string") v = Buffer.from(v, e);
      this.pending.push({ v, e: e || (typeof v === "string" ? "utf8" : "buffer"), cb });
      this.wsize += this.wobject ? 1 : v.length;
      const room = this.wsize < this.wmark;
      if (!room) this.needDrain = true;
      this.drainQueue();
      return room;
    },
    get writableLength() { return this.wsize; },
    cork() { this.corked++; },
    uncork() { if (this.corked > 0) this.corked--; this.drainQueue(); },
    setDefaultEncoding() { return this; },
    drainQueue() {
      if (this.writing || this.corked || this.destroyed) return;
      const next = this.pending.shift();
      if (next) {
        this.writing = true;
        const done = (err) => {
          this.writing = false;
          this.wsize -= this.wobject ? 1 : next.v.length;
          if (next.cb) next.cb(err || null);
          if (err) { this.destroy(err); return; }
          if (!this.pending.length && this.needDrain) { this.needDrain = false; process.nextTick(() => this.emit("drain")); }
          this.drainQueue();
        };
        let sync = true;
        try { this._write(next.v, next.e, (err) => (sync ? process.nextTick(() => done(err)) : done(err))); } catch (err) { process.nextTick(() => done(err)); }
        sync = false;
        return;
      }
      if (this.ending && !this.writableFinished && !this.finalizing) {
        hidden(this, { finalizing: true });
        const done = (err) => {
          if (err) { this.destroy(err); return; }
          process.nextTick(() => { this.writableFinished = true; this.emit("finish"); if (this.readable === undefined || this.finishedReading) this.destroy(); });
        };
        try { if (this._final) this._final(done); else done(); } catch (err) { done(err); }
      }
    },
    end(v, e, cb) {
      if (typeof v === "function") { cb = v; v = undefined; } else if (typeof e === "function") { cb = e; e = undefined; }
      if (v !== undefined && v !== null) this.write(v, e);
      if (cb) { if (this.writableFinished) process.nextTick(cb); else this.once("finish", cb); }
      this.writableEnded = true; this.ending = true; this.writable = false;
      this.drainQueue();
      return this;
    },
    destroy,
  };
  const mix = (proto, methods) => Object.defineProperties(proto, Object.fromEntries(Reflect.ownKeys(methods).map((k) => [k, { ...Object.getOwnPropertyDescriptor(methods, k), enumerable: false }])));
  class Readable extends Stream { constructor(o = {}) { super(); readableInit(this, o || {}); } }
  class Writable extends Stream { constructor(o = {}) { super(); writableInit(this, o || {}); } }
  class Duplex extends Stream { constructor(o = {}) { super(); readableInit(this, o || {}); writableInit(this, o || {}); } }
  mix(Readable.prototype, readableMethods);
  mix(Writable.prototype, writableMethods);
  mix(Duplex.prototype, readableMethods);
  mix(Duplex.prototype, writableMethods);
  class Transform extends Duplex {
    constructor(o = {}) {
      super(o);
      if (o.transform) this._transform = o.transform;
      if (o.flush) this._flush = o.flush;
    }
    _read() { this.reading = false; }
    _write(v, e, cb) { this._transform(v, e, (err, out) => { if (err) return cb(err); if (out !== undefined && out !== null) this.push(out); cb(); }); }
    _final(cb) { if (!this._flush) { this.push(null); return cb(); } this._flush((err, out) => { if (err) return cb(err); if (out !== undefined && out !== null) this.push(out); this.push(null); cb(); }); }
    _transform(v, e, cb) { cb(new Error("_transform is not implemented")); }
  }
  class PassThrough extends Transform { _transform(v, e, cb) { cb(null, v); } }
  Readable.from = (items, o = {}) => {
    if (typeof items === "string" || Buffer.isBuffer(items)) items = [items];
    const it = items[Symbol.asyncIterator] ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
    return new Readable({ objectMode: true, ...o, read() { Promise.resolve(it.next()).then(async (s) => { if (s.done) this.push(null); else this.push(await s.value); }).catch((e) => this.destroy(e)); }, destroy(e, cb) { if (it.return) Promise.resolve(it.return()).then(() => cb(e), cb); else cb(e); } });
  };
  Readable.fromWeb = (web) => { const r = web.getReader(); return new Readable({ read() { r.read().then(({ done, value }) => this.push(done ? null : Buffer.from(value)), (e) => this.destroy(e)); } }); };
  const finished = (s, o, cb) => {
    if (typeof o === "function") cb = o;
    let called = false;
    const once = (e) => { if (!called) { called = true; cb(e); } };
    const over = () => { const r = s.readable === undefined || s.finishedReading, w = s.writableFinished === undefined || s.writableFinished; if (r && w) once(); };
    s.on("end", over); s.on("finish", over); s.on("error", once);
    s.on("close", () => { const r = s.readable === undefined || s.finishedReading, w = s.writableFinished === undefined || s.writableFinished; once(r && w ? undefined : Object.assign(new Error("Premature close"), { code: "ERR_STREAM_PREMATURE_CLOSE" })); });
    return () => {};
  };
  const pipeline = (...a) => {
    const cb = typeof a[a.length - 1] === "function" && !a[a.length - 1].prototype?.write && a.length > 2 ? a.pop() : () => {};
    const list = Array.isArray(a[0]) ? a[0] : a;
    const streams = list.map((s) => (s && typeof s.pipe !== "function" && typeof s.write !== "function" ? Readable.from(s) : s));
    let called = false;
    const done = (e) => { if (called) return; called = true; if (e) for (const s of streams) s.destroy && s.destroy(); cb(e); };
    streams.forEach((s, i) => s.on("error", done));
    for (let i = 0; i + 1 < streams.length; i++) streams[i].pipe(streams[i + 1]);
    finished(streams[streams.length - 1], done);
    return streams[streams.length - 1];
  };
  const promises = { pipeline: (...a) => new Promise((resolve, reject) => { if (a[a.length - 1] && Object.getPrototypeOf(a[a.length - 1]) === Object.prototype) a.pop(); pipeline(...a, (e) => (e ? reject(e) : resolve())); }), finished: (s) => new Promise((resolve, reject) => finished(s, (e) => (e ? reject(e) : resolve()))) };
  module.exports = Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough, finished, pipeline, promises });
  absent(module.exports, "stream", ["compose", "addAbortSignal"]);
})
