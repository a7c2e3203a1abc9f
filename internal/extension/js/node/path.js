(function (module) {
  "use strict";
  const check = (v, name) => { if (typeof v !== "string") throw Object.assign(new TypeError('The "' + name + '" argument must be of type string. Received ' + (v === null ? "null" : typeof v)), { code: "ERR_INVALID_ARG_TYPE" }); return v; };
  const parts = (p, absolute) => {
    const out = [];
    for (const s of p.split("/")) {
      if (s === "" || s === ".") continue;
      if (s === "..") { if (out.length && out[out.length - 1] !== "..") out.pop(); else if (!absolute) out.push(".."); } else out.push(s);
    }
    return out;
  };
  const path = {
    sep: "/", delimiter: ":",
    normalize(p) {
      check(p, "path");
      if (!p) return ".";
      const abs = p[0] === "/", tail = p.endsWith("/");
      let r = parts(p, abs).join("/");
      if (!r && !abs) r = tail ? "./" : ".";
      else if (r && tail) r += "/";
      return abs ? "/" + r : r;
    },
    join(...a) { const s = a.map((p) => check(p, "path")).filter((p) => p).join("/"); return s ? path.normalize(s) : "."; },
    resolve(...a) {
      let r = "";
      for (let i = a.length - 1; i >= 0 && r[0] !== "/"; i--) { check(a[i], "paths[" + i + "]"); if (a[i]) r = a[i] + (r ? "/" + r : ""); }
      if (r[0] !== "/") r = process.cwd() + (r ? "/" + r : "");
      return "/" + parts(r, true).join("/");
    },
    isAbsolute: (p) => check(p, "path")[0] === "/",
    relative(from, to) {
      const a = parts(path.resolve(from), true), b = parts(path.resolve(to), true);
      let i = 0;
      while (i < a.length && i < b.length && a[i] === b[i]) i++;
      return [...a.slice(i).map(() => ".."), ...b.slice(i)].join("/");
    },
    dirname(p) {
      check(p, "path");
      if (!p) return ".";
      const t = p.replace(/\/+$/, "") || "/";
      const i = t.lastIndexOf("/");
      return i < 0 ? "." : i === 0 ? "/" : t.slice(0, i).replace(/\/+$/, "") || "/";
    },
    basename(p, ext) {
      const t = check(p, "path").replace(/\/+$/, "");
      const b = t.slice(t.lastIndexOf("/") + 1);
      return ext !== undefined && b !== ext && b.endsWith(ext) ? b.slice(0, b.length - ext.length) : b;
    },
    extname(p) { const b = path.basename(p), i = b.lastIndexOf("."); return i <= 0 || /^\.+$/.test(b) && b.length === 2 ? "" : b.slice(i); },
    parse(p) {
      const root = check(p, "path")[0] === "/" ? "/" : "", base = path.basename(p), ext = path.extname(p);
      let dir = p.replace(/\/+$/, "");
      dir = dir.slice(0, dir.length - base.length).replace(/\/+$/, "") || root;
      return { root, dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
    },
    format(o) { const base = o.base || (o.name || "") + (o.ext ? (o.ext[0] === "." ? "" : ".") + o.ext : ""), dir = o.dir || o.root; return !dir ? base : dir === o.root ? dir + base : dir + "/" + base; },
    toNamespacedPath: (p) => p,
    matchesGlob() { throw new Error("path.matchesGlob is not provided by Scorel"); },
  };
  path.posix = path;
  Object.defineProperty(path, "win32", { get() { throw new Error("path.win32 is not provided by Scorel: its paths are POSIX paths"); } });
  module.exports = path;
})
