/** Makes text safe to show: the twin of protocol/display/clean.go. */

/**
 * Text that is safe to show: without terminal control sequences and control characters, with
 * \n as line ends; characters that reorder or hide text are shown as [U+202E].
 */
export function cleanText(s: string): string {
  let out = "";
  for (let i = 0; i < s.length; ) {
    const code = s.codePointAt(i) ?? 0;
    let size = code > 0xffff ? 2 : 1;
    if (code === 0x1b) {
      size = escapeSequence(s, i + 1) - i;
    } else if (code === 0x9b || code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) {
      size = controlSequence(s, i + 1, code === 0x9b) - i;
    } else if (code === 0x0a || code === 0x09) {
      out += String.fromCharCode(code);
    } else if (code === 0x0d) {
      if (s[i + 1] !== "\n") out += "\n";
    } else if (code === 0x2028 || code === 0x2029 || code === 0x85) {
      out += "\n";
    } else if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) {
      // left out
    } else if (hides(code)) {
      out += `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
    } else if (code >= 0xd800 && code <= 0xdfff) {
      out += "\ufffd"; // half of a character
    } else {
      out += s.slice(i, i + size);
    }
    i += size;
  }
  return out;
}

/** {@link cleanText} on one line. */
export function cleanLine(s: string): string {
  s = cleanText(s);
  return /[\n\t]/.test(s) ? s.split(/\p{White_Space}+/u).filter((word) => word !== "").join(" ") : s;
}

/** Whether a character changes the order of others, or is not seen. */
function hides(code: number): boolean {
  return (
    code === 0x200e || code === 0x200f || code === 0x061c || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
    code === 0x200b || code === 0x2060 || code === 0xfeff || code === 0x00ad || (code >= 0xe0000 && code <= 0xe007f)
  );
}

/** The end of the escape sequence whose introducer is before at. */
function escapeSequence(s: string, at: number): number {
  const c = s[at];
  if (c === undefined) return at;
  if ("[]PX^_".includes(c)) return controlSequence(s, at + 1, c === "[");
  if (c >= " " && c <= "/") {
    while (at < s.length && within(s, at, " ", "/")) at++;
    return within(s, at, "0", "~") ? at + 1 : at;
  }
  return within(s, at, "0", "~") ? at + 1 : at;
}

function within(s: string, at: number, from: string, to: string): boolean {
  const c = s[at];
  return c !== undefined && c >= from && c <= to;
}

/**
 * The end of a control sequence or string whose body begins at at. One that does not end in
 * the same line is taken for its introducer alone, so that it cannot hide what follows.
 */
function controlSequence(s: string, at: number, csi: boolean): number {
  if (csi) {
    let end = at;
    while (within(s, end, " ", "?")) end++;
    return within(s, end, "@", "~") ? end + 1 : at;
  }
  for (let end = at; end < s.length && s[end] !== "\n"; end++) {
    if (s[end] === "\x07" || s[end] === "\x9c") return end + 1;
    if (s[end] === "\x1b" && s[end + 1] === "\\") return end + 2;
  }
  return at;
}
