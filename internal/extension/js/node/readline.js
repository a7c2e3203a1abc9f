(function (module, internal) {
  "use strict";
  const { n, absent } = internal;
  const EventEmitter = n.module("events"), { StringDecoder } = n.module("string_decoder");
  class Interface extends EventEmitter {
    constructor({ input }) {
      super();
      EventEmitter.call(this);
      const decoder = new StringDecoder("utf8");
      let rest = "";
      Object.defineProperty(this, "input", { value: input });
      this.closed = false;
      input.on("data", (b) => {
        rest += typeof b === "string" ? b : decoder.write(b);
        const lines = rest.split(/\r\n|\n|\r(?!$)/);
        rest = lines.pop();
        for (const l of lines) this.emit("line", l);
      });
      input.on("end", () => { rest += decoder.end(); if (rest) this.emit("line", rest.replace(/\r$/, "")); this.close(); });
      input.on("error", (e) => { this.failed = e; this.emit("error", e); });
    }
    close() { if (!this.closed) { this.closed = true; this.emit("close"); } }
    pause() { this.input.pause(); return this; }
    resume() { this.input.resume(); return this; }
    [Symbol.asyncIterator]() {
      const queue = [], waiting = [];
      let error;
      const wake = () => { for (const w of waiting.splice(0)) w(); };
      this.on("line", (l) => { queue.push(l); if (queue.length > 1000) this.pause(); wake(); });
      this.on("close", wake);
      this.on("error", (e) => { error = e; wake(); });
      const next = async () => {
        for (;;) {
          if (queue.length) { const value = queue.shift(); if (queue.length < 100) this.resume(); return { done: false, value }; }
          if (error) throw error;
          if (this.closed) return { done: true, value: undefined };
          await new Promise((r) => waiting.push(r));
        }
      };
      return { next, return: async () => { this.close(); this.input.destroy && this.input.destroy(); return { done: true, value: undefined }; }, [Symbol.asyncIterator]() { return this; } };
    }
  }
  module.exports = { Interface, createInterface: (o) => new Interface(o && o.input ? o : { input: o }) };
  absent(module.exports, "readline", ["question", "clearLine", "cursorTo", "emitKeypressEvents", "moveCursor"]);
})
