/** Makes text safe to show: the twin of protocol/display/clean.go. */

/**
 * Text that is safe to show, with all that has been written: colours and other control
 * sequences of numbers are taken out; what begins any other one, and characters that reorder
 * or hide text, are shown as [U+001B], [U+202E]; other control characters are taken out, and
 * line ends are \n.
 */
export function cleanText(s: string): string {
  let out = "";
  for (let i = 0; i < s.length; ) {
    const code = s.codePointAt(i) ?? 0;
    let size = code > 0xffff ? 2 : 1;
    if (code === 0x1b || code === 0x9b) {
      const end = code === 0x1b ? escapeSequence(s, i + 1) : controlSequence(s, i + 1);
      if (end === 0) out += named(code);
      else size = end - i;
    } else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) {
      out += named(code);
    } else if (code === 0x0a || code === 0x09) {
      out += String.fromCharCode(code);
    } else if (code === 0x0d) {
      if (s[i + 1] !== "\n") out += "\n";
    } else if (code === 0x2028 || code === 0x2029 || code === 0x85) {
      out += "\n";
    } else if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) {
      // left out
    } else if (hides(code)) {
      out += named(code);
    } else if (code >= 0xd800 && code <= 0xdfff) {
      out += "\ufffd"; // half of a character
    } else {
      out += s.slice(i, i + size);
    }
    i += size;
  }
  return out;
}

/**
 * {@link cleanText} for who decides about it, such as a command: no control sequence is taken
 * out, because what hides in one would run too, and other control characters are shown.
 */
export function exactText(s: string): string {
  return cleanText(shownControls(s));
}

/**
 * {@link exactText} for what is run, opened or compared as it is: a command, a path, a rule.
 * Characters that prose needs and nobody sees are shown too, and so is a blank that a shell does
 * not take for one.
 */
export function literalText(s: string): string {
  return exactText(s.replace(unseen, (c) => named(c.codePointAt(0) ?? 0)));
}

// What Unicode lets a font leave out, the blank of Braille, and the spaces but for U+0020.
const unseen = new RegExp(
  "[\\u200c\\u200d\\ufe00-\\ufe0f\\u17b4\\u17b5\\u180b-\\u180f\\u2065\\ufff0-\\ufff8\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}" +
    "\\u2800\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]",
  "gu",
);

/** Text whose control characters are shown, but for tabs and line ends. */
export function shownControls(s: string): string {
  return s.replace(controls, (c) => named(c.charCodeAt(0)));
}

// Written as text, because these characters are not seen in a pattern. Line ends and tabs stay.
const controls = new RegExp("[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u0084\\u0086-\\u009f]", "g");

/** {@link cleanText} on one line. */
export function cleanLine(s: string): string {
  s = cleanText(s);
  return /[\n\t]/.test(s) ? s.split(/\p{White_Space}+/u).filter((word) => word !== "").join(" ") : s;
}

/** How a character is shown that is not: [U+202E]. */
function named(code: number): string {
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
}

/** Whether a character changes the order of others, or is not seen. */
function hides(code: number): boolean {
  return (
    code === 0x200e || code === 0x200f || code === 0x061c || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x206f) ||
    code === 0x200b || (code >= 0x2060 && code <= 0x2064) || code === 0xfeff || code === 0x00ad || code === 0x034f || code === 0x180e ||
    (code >= 0xfff9 && code <= 0xfffb) || code === 0x115f || code === 0x1160 || code === 0x3164 || code === 0xffa0 || (code >= 0xe0000 && code <= 0xe0fff)
  );
}

/**
 * The end of the escape sequence whose introducer is before at, 0 for one that is shown: only
 * what can say nothing to a person is taken out whole, which is a control sequence with
 * numbers, and the choice of a character set.
 */
function escapeSequence(s: string, at: number): number {
  if (s[at] === "[") return controlSequence(s, at + 1);
  return (s[at] === "(" || s[at] === ")") && (s[at + 1] === "B" || s[at + 1] === "0") ? at + 2 : 0;
}

/**
 * The end of a control sequence whose parameters begin at at, 0 for one that has more than
 * numbers, ends with no letter, or does not end. A semicolon is between digits: a shell takes
 * it for the end of a command.
 */
function controlSequence(s: string, at: number): number {
  for (let end = at; end < s.length && end - at < maxParameters; end++) {
    const c = s[end] as string;
    if (digit(c) || c === ":" || (c === "?" && end === at)) continue;
    if (c === ";" && digit(s[end - 1]) && digit(s[end + 1])) continue;
    return /[A-Za-z]/.test(c) ? end + 1 : 0;
  }
  return 0;
}

function digit(c: string | undefined): boolean {
  return c !== undefined && c >= "0" && c <= "9";
}

const maxParameters = 64;
