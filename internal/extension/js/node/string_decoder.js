(function (module) {
  "use strict";
  class StringDecoder {
    constructor(e = "utf8") { this.encoding = String(e).toLowerCase(); const label = { utf8: "utf-8", "utf-8": "utf-8", utf16le: "utf-16le", ucs2: "utf-16le", latin1: "latin1", binary: "latin1", ascii: "latin1" }[this.encoding]; Object.defineProperty(this, "decoder", { value: label ? new TextDecoder(label, { ignoreBOM: true }) : null }); }
    write(b) { if (typeof b === "string") return b; return this.decoder ? this.decoder.decode(b, { stream: true }) : Buffer.from(b).toString(this.encoding); }
    end(b) { return (b ? this.write(b) : "") + (this.decoder ? this.decoder.decode() : ""); }
  }
  module.exports = { StringDecoder };
})
