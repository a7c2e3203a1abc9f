// Keys: what a terminal sends for them, in the forms of old (ECMA-48, xterm, rxvt, the
// Linux console), of xterm's modifyOtherKeys and of the protocol of kitty.

const SHIFT = 1;
const ALT = 2;
const CTRL = 4;
const SUPER = 8;
const LOCKS = 64 | 128;
const modifierNames = [["shift", SHIFT], ["ctrl", CTRL], ["alt", ALT], ["super", SUPER]];

// Key has the names of keys, and functions that put modifiers before them.
const Key = {};
for (const name of ["escape", "esc", "enter", "return", "tab", "space", "backspace", "delete", "insert", "clear", "home", "end", "pageUp", "pageDown", "up", "down", "left", "right"]) {
  Key[name] = name;
}
for (let n = 1; n <= 12; n++) Key[`f${n}`] = `f${n}`;
Object.assign(Key, {
  backtick: "`", hyphen: "-", equals: "=", leftbracket: "[", rightbracket: "]", backslash: "\\", semicolon: ";", quote: "'", comma: ",", period: ".", slash: "/",
  exclamation: "!", at: "@", hash: "#", dollar: "$", percent: "%", caret: "^", ampersand: "&", asterisk: "*", leftparen: "(", rightparen: ")", underscore: "_",
  plus: "+", pipe: "|", tilde: "~", leftbrace: "{", rightbrace: "}", colon: ":", lessthan: "<", greaterthan: ">", question: "?",
});
for (const names of [["ctrl"], ["shift"], ["alt"], ["super"], ["ctrl", "shift"], ["shift", "ctrl"], ["ctrl", "alt"], ["alt", "ctrl"], ["shift", "alt"], ["alt", "shift"],
  ["ctrl", "super"], ["super", "ctrl"], ["shift", "super"], ["super", "shift"], ["alt", "super"], ["super", "alt"], ["ctrl", "shift", "alt"], ["ctrl", "shift", "super"]]) {
  const name = names.map((n, i) => (i ? n[0].toUpperCase() + n.slice(1) : n)).join("");
  Key[name] = (key) => `${names.join("+")}+${key}`;
}

const finals = { A: "up", B: "down", C: "right", D: "left", E: "clear", F: "end", H: "home", P: "f1", Q: "f2", R: "f3", S: "f4" };
const numbers = {
  1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageUp", 6: "pageDown", 7: "home", 8: "end",
  11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8", 20: "f9", 21: "f10", 23: "f11", 24: "f12",
};
const codes = {
  9: "tab", 13: "enter", 27: "escape", 32: "space", 127: "backspace", 57414: "enter", 57417: "left", 57418: "right", 57419: "up", 57420: "down",
  57421: "pageUp", 57422: "pageDown", 57423: "home", 57424: "end", 57425: "insert", 57426: "delete", 57427: "clear",
  57409: ".", 57410: "/", 57411: "*", 57412: "-", 57413: "+", 57415: "=",
};
for (let n = 0; n < 10; n++) codes[57399 + n] = String(n);

const key = (name, modifiers = 0, event = "press", text = undefined) => ({ name, modifiers, event, text });
const modifiersOf = (text) => Math.max(0, (parseInt(text || "1", 10) || 1) - 1) & ~LOCKS;
const eventOf = (text) => (text === "3" ? "release" : text === "2" ? "repeat" : "press");

// fromCode gives the key of a code point, with its shifted form and the one that it has on
// a Latin layout where those were sent.
function fromCode(code, shifted, base, modifiers, event) {
  if (Object.hasOwn(codes, code)) return key(codes[code], modifiers, event, code >= 57399 && code <= 57415 && codes[code].length === 1 ? codes[code] : undefined);
  if (!(code > 31 && code <= 0x10ffff) || (code >= 0xe000 && code <= 0xf8ff)) return undefined;
  let name = String.fromCodePoint(code);
  const typed = modifiers & SHIFT ? (shifted ? String.fromCodePoint(shifted) : name.toUpperCase()) : name;
  if (code > 127 && base > 31 && base < 127 && modifiers & (CTRL | ALT)) name = String.fromCodePoint(base);
  if (/^[A-Z]$/.test(name)) {
    name = name.toLowerCase();
    modifiers |= SHIFT;
  }
  return key(name, modifiers, event, typed);
}

// control gives the key of a control character.
function control(c) {
  switch (c) {
    case 0: return key("space", CTRL);
    case 8: return key("backspace");
    case 9: return key("tab");
    case 10: case 13: return key("enter");
    case 27: return key("escape");
    case 127: return key("backspace");
  }
  if (c < 27) return key(String.fromCharCode(c + 96), CTRL);
  return key("\\]^-"[c - 28], CTRL);
}

// decode gives the key that a terminal sent, undefined for anything else, such as a paste.
function decode(data) {
  if (data === "") return undefined;
  const chars = data.length > 1 && data[0] !== "\x1b" ? cells.characters(data) : undefined;
  if (data.length === 1 || (chars && chars.length === 1)) {
    const code = data.codePointAt(0);
    if (code < 32 || code === 127) return control(code);
    if (data === " ") return key("space", 0, "press", " ");
    return /^[A-Z]$/.test(data) ? key(data.toLowerCase(), SHIFT, "press", data) : key(data, 0, "press", data);
  }
  if (data[0] !== "\x1b") return undefined;
  let m = /^\x1b\[(\d+)(?::(\d*))?(?::(\d*))?(?:;(\d*)(?::(\d+))?)?(?:;[\d:]*)?u$/.exec(data);
  if (m) return fromCode(+m[1], +m[2] || 0, +m[3] || 0, modifiersOf(m[4]), eventOf(m[5]));
  m = /^\x1b\[27;(\d+);(\d+)~$/.exec(data);
  if (m) return fromCode(+m[2], 0, 0, modifiersOf(m[1]), "press");
  m = /^\x1b\[(\d+)(?:;(\d+)(?::(\d+))?)?([~$^@])$/.exec(data);
  if (m) {
    const rxvt = { "~": 0, $: SHIFT, "^": CTRL, "@": SHIFT | CTRL }[m[4]];
    return Object.hasOwn(numbers, m[1]) ? key(numbers[m[1]], modifiersOf(m[2]) | rxvt, eventOf(m[3])) : undefined;
  }
  m = /^\x1b(?:\[|O)(?:1;(\d+)(?::(\d+))?)?([A-FHPQRS])$/.exec(data);
  if (m) return key(finals[m[3]], modifiersOf(m[1]), eventOf(m[2]));
  if (data === "\x1b[Z") return key("tab", SHIFT);
  m = /^\x1b\[\[([A-E])$/.exec(data);
  if (m) return key(`f${"ABCDE".indexOf(m[1]) + 1}`);
  m = /^\x1b([O[])([abcd])$/.exec(data);
  if (m) return key(finals[m[2].toUpperCase()], m[1] === "O" ? CTRL : SHIFT);
  const rest = data.slice(1);
  if (rest.length === 1 || cells.characters(rest).length === 1) {
    const inner = decode(rest);
    return inner && key(inner.name, inner.modifiers | ALT, "press");
  }
  if (rest[0] === "\x1b") { // alt with a key that is a sequence
    const inner = decode(rest);
    return inner && key(inner.name, inner.modifiers | ALT, inner.event);
  }
  return undefined;
}

// A key is compared with many names, one after the other.
let decoded = { data: "", sent: undefined };

function sentBy(data) {
  if (decoded.data !== data) decoded = { data, sent: decode(data) };
  return decoded.sent;
}

const MAX_IDS = 500; // names of keys that are kept as they were read
const ids = new Map();

// idOf reads the name of a key with its modifiers, in any order.
function idOf(id) {
  let known = ids.get(id);
  if (!known) {
    if (ids.size >= MAX_IDS) ids.clear();
    known = parseId(id);
    ids.set(id, known);
  }
  return known;
}

function parseId(id) {
  let rest = String(id);
  let modifiers = 0;
  for (;;) {
    const found = modifierNames.find(([name]) => rest.length > name.length + 1 && rest.toLowerCase().startsWith(`${name}+`));
    if (!found) break;
    modifiers |= found[1];
    rest = rest.slice(found[0].length + 1);
  }
  switch (rest.toLowerCase()) {
    case "esc": return key("escape", modifiers);
    case "return": return key("enter", modifiers);
    case "pageup": return key("pageUp", modifiers);
    case "pagedown": return key("pageDown", modifiers);
  }
  return key(rest.length > 1 || modifiers ? rest.toLowerCase() : rest, modifiers);
}

// Some keys share what old terminals send.
const alsoSentFor = {
  "\x08": ["ctrl+h", "ctrl+backspace"], "\t": ["ctrl+i"], "\n": ["ctrl+j"], "\r": ["ctrl+m"], "\x1b": ["ctrl+["], "\x1f": ["ctrl+_", "ctrl+/"], "\x00": ["ctrl+@", "ctrl+2"],
  "\x1e": ["ctrl+6"], "\x1bb": ["alt+left"], "\x1bf": ["alt+right"], "\x1bp": ["alt+up"], "\x1bn": ["alt+down"],
};

const sameKey = (a, b) => a.name === b.name && a.modifiers === b.modifiers;

function matchesKey(data, keyId) {
  const wanted = idOf(keyId);
  const sent = sentBy(String(data));
  if (!sent) return false;
  if (sameKey(sent, wanted)) return true;
  if (Object.hasOwn(alsoSentFor, data) && alsoSentFor[data].some((id) => sameKey(idOf(id), wanted))) return true;
  // A capital letter, or a symbol that shift makes, is named as it is typed.
  return wanted.modifiers === 0 && sent.text !== undefined && sent.text === wanted.name && (sent.modifiers & ~SHIFT) === 0;
}

function parseKey(data) {
  const sent = sentBy(String(data));
  if (!sent) return undefined;
  if (sent.text !== undefined && (sent.modifiers & ~SHIFT) === 0 && sent.name !== "space" && String(data).length === 1) return sent.text;
  return modifierNames.filter(([, bit]) => sent.modifiers & bit).map(([name]) => `${name}+`).join("") + sent.name;
}

const isPaste = (data) => data.startsWith("\x1b[200~");
const isKeyRelease = (data) => !isPaste(String(data)) && (sentBy(String(data)) || {}).event === "release";
const isKeyRepeat = (data) => !isPaste(String(data)) && (sentBy(String(data)) || {}).event === "repeat";

// decodeKittyPrintable gives what a key of the protocol of kitty types.
function decodeKittyPrintable(data) {
  if (!/^\x1b\[.*u$/.test(String(data))) return undefined;
  const sent = decode(String(data));
  if (!sent || sent.event === "release" || sent.modifiers & ~SHIFT) return undefined;
  return sent.name === "space" ? " " : sent.text;
}

// typed gives the text that a key or a paste puts into a field, undefined for a key that
// types nothing.
function typed(data) {
  const text = String(data);
  if (isPaste(text)) return text.slice(6).replace(/\x1b\[201~[\s\S]*$/, "");
  if (text[0] === "\x1b") return decodeKittyPrintable(text);
  if (text === "" || text.charCodeAt(0) < 32 || text.charCodeAt(0) === 127) return undefined;
  return text;
}
