/** Keys as a terminal sends them, for what an extension draws: as internal/ui/tui/keyboard writes them. */

/** What a KeyboardEvent says of a key. */
export interface Key {
  key: string;
  shiftKey?: boolean;
  altKey?: boolean;
  ctrlKey?: boolean;
  metaKey?: boolean;
}

/** Sent as CSI 1 and a letter, as xterm does. */
const functional: Record<string, string> = { ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D", Home: "H", End: "F" };
/** Sent as SS3 and a letter, with modifiers as CSI 1. */
const first: Record<string, string> = { F1: "P", F2: "Q", F3: "R", F4: "S" };
/** Sent as CSI, a number and a tilde. */
const numbered: Record<string, number> = {
  Insert: 2,
  Delete: 3,
  PageUp: 5,
  PageDown: 6,
  F5: 15,
  F6: 17,
  F7: 18,
  F8: 19,
  F9: 20,
  F10: 21,
  F11: 23,
  F12: 24,
};
/** Sent as one character. */
const single: Record<string, string> = { Enter: "\r", Tab: "\t", Backspace: "\x7f", Escape: "\x1b" };

/**
 * A key as a terminal sends it, "" for one that sends nothing by itself. Characters that are typed
 * are none: they come as text, also from keyboards on a screen and from input methods.
 */
export function sequence(k: Key): string {
  const mods = (k.shiftKey ? 1 : 0) + (k.altKey ? 2 : 0) + (k.ctrlKey ? 4 : 0);
  if (k.metaKey) return "";
  const csi = (body: string, letter: string) => (mods ? `\x1b[${body};${mods + 1}${letter}` : undefined);
  const letter = functional[k.key];
  if (letter) return csi("1", letter) ?? `\x1b[${letter}`;
  const f = first[k.key];
  if (f) return csi("1", f) ?? `\x1bO${f}`;
  const n = numbered[k.key];
  if (n) return csi(String(n), "~") ?? `\x1b[${n}~`;
  const alt = k.altKey ? "\x1b" : "";
  const one = single[k.key];
  if (one) {
    if (mods === 0 || mods === 2) return alt + one;
    if (k.key === "Tab" && !k.ctrlKey) return `${alt}\x1b[Z`;
    return `\x1b[${one.charCodeAt(0)};${mods + 1}u`;
  }
  if (!k.ctrlKey && !k.altKey) return "";
  if (!/^[ -~]$/.test(k.key)) return ""; // AltGr and dead keys make text
  if (!k.ctrlKey) return alt + k.key;
  const code = k.key.toLowerCase().charCodeAt(0);
  if (k.key === " ") return `${alt}\0`;
  if (/^[a-z[\\\]^_@]$/.test(k.key.toLowerCase()) && !k.shiftKey) return alt + String.fromCharCode(code & 0x1f);
  return `\x1b[${code};${mods + 1}u`;
}

/** Text as a terminal sends what is pasted: its line ends as it has them, without the sequences that would end it. */
export function pasted(text: string): string {
  return `\x1b[200~${text.replaceAll("\x1b[201~", "")}\x1b[201~`;
}
