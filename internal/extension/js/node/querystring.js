(function (module) {
  "use strict";
  const escape = (s) => encodeURIComponent(s), unescape = (s) => { try { return decodeURIComponent(s); } catch { return s; } };
  const parse = (s, sep = "&", eq = "=") => {
    const out = Object.create(null);
    for (const part of String(s || "").split(sep).slice(0, 1000)) {
      if (!part) continue;
      const i = part.indexOf(eq), k = unescape((i < 0 ? part : part.slice(0, i)).replace(/\+/g, " ")), v = i < 0 ? "" : unescape(part.slice(i + eq.length).replace(/\+/g, " "));
      out[k] = k in out ? [].concat(out[k], v) : v;
    }
    return out;
  };
  const stringify = (o, sep = "&", eq = "=") => Object.entries(o || {}).flatMap(([k, v]) => [].concat(v).map((x) => escape(k) + eq + escape(x === null || x === undefined || typeof x === "object" ? "" : x))).join(sep);
  module.exports = { parse, stringify, escape, unescape, decode: parse, encode: stringify };
})
