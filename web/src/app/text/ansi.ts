/**
 * What a terminal shows of output: colours, carriage returns, tabs and wide characters. Output is
 * read as it comes in, never twice, and only its newest lines are kept. Sequences that only move or
 * clear beyond the line are left out; what begins any other one is shown by its number, so that
 * nothing is hidden from a person.
 */
import { cleanText } from "../../display/index";

/** How characters look: the 16 colours by their number, others as "#rrggbb"; undefined is that of the terminal. */
export interface Look {
  readonly fg?: number | string | undefined;
  readonly bg?: number | string | undefined;
  readonly bold?: boolean | undefined;
  readonly dim?: boolean | undefined;
  readonly italic?: boolean | undefined;
  readonly underline?: boolean | undefined;
  readonly strike?: boolean | undefined;
  readonly inverse?: boolean | undefined;
}

/** Characters of a line that look alike; columns is set where they are wide. */
export interface Run {
  readonly text: string;
  readonly look: Look;
  readonly columns?: number;
}

/** A line of the screen; it is another object when it has changed. */
export interface ScreenLine {
  /** Counts from 0, also the lines that are no longer kept. */
  readonly number: number;
  readonly runs: readonly Run[];
}

/** Lines that are kept, columns of a line, and characters of a sequence. */
const maxLines = 2000;
const maxColumns = 2000;
const maxSequence = 64;

interface Cell {
  text: string;
  look: Look;
  width: number;
}

const plain: Look = {};

export class Screen {
  /** Lines that were left out at the beginning. */
  leftOut = 0;
  private read = "";
  private rest = "";
  private look = plain;
  private lines: ScreenLine[] = [];
  private cells: Cell[] = [];
  private column = 0;
  private shown: readonly ScreenLine[] = [];

  /** most: the most lines that are kept. */
  constructor(private readonly most = maxLines) {}

  /** The lines of the output so far. Only what was added since the last call is read, also when its beginning was cut off. */
  show(text: string): readonly ScreenLine[] {
    if (text === this.read) return this.shown;
    const added = addedTo(this.read, text);
    if (added === undefined) this.clear();
    this.read = text;
    this.feed(added ?? text);
    const last = this.line();
    this.shown = last.runs.length > 0 || this.lines.length === 0 ? [...this.lines, last] : this.lines.slice();
    return this.shown;
  }

  private clear(): void {
    Object.assign(this, { leftOut: 0, rest: "", look: plain, lines: [], cells: [], column: 0 });
  }

  private line(): ScreenLine {
    return { number: this.leftOut + this.lines.length, runs: runsOf(this.cells) };
  }

  private end(): void {
    this.lines.push(this.line());
    this.cells = [];
    this.column = 0;
    if (this.lines.length > this.most + 100) {
      this.lines = this.lines.slice(100);
      this.leftOut += 100;
    }
  }

  private feed(added: string): void {
    const s = this.rest + added;
    this.rest = "";
    for (let at = 0; at < s.length; ) {
      const code = s.codePointAt(at) ?? 0;
      const size = code > 0xffff ? 2 : 1;
      if (code === 0x1b || code === 0x9b) {
        const end = this.sequence(s, at);
        if (end < 0) {
          this.rest = s.slice(at);
          return;
        }
        at = end;
        continue;
      }
      if (code >= 0xd800 && code <= 0xdbff && at === s.length - 1) {
        this.rest = s.slice(at); // the other half of the character is still to come
        return;
      }
      if (code === 0x0a) this.end();
      else if (code === 0x0d) this.column = 0;
      else if (code === 0x08) this.column = Math.max(0, this.column - 1);
      else if (code === 0x09) this.tab();
      else if (code >= 0x20 && code < 0x7f) this.put(s[at] ?? "", 1);
      else this.other(s.slice(at, at + size), code);
      at += size;
    }
  }

  /** A character that is not of ASCII: as it is, or what cleaning makes of it. */
  private other(character: string, code: number): void {
    if (isMark(code)) {
      const before = this.cells[this.column - 1] ?? this.cells[this.column - 2];
      if (before && before.text.length < 16) before.text += character;
      return;
    }
    for (const c of cleanText(character)) if (c !== "\n") this.put(c, widthOf(c.codePointAt(0) ?? 0));
  }

  private put(text: string, width: number): void {
    if (this.column + width > maxColumns) {
      if (this.column < maxColumns) this.cells[maxColumns - 1] = { text: "…", look: this.look, width: 1 };
      this.column = maxColumns;
      return;
    }
    while (this.cells.length < this.column) this.cells.push({ text: " ", look: plain, width: 1 });
    this.clearWide(this.column);
    if (width === 2) this.clearWide(this.column + 1);
    this.cells[this.column] = { text, look: this.look, width };
    if (width === 2) this.cells[this.column + 1] = { text: "", look: this.look, width: 0 };
    this.column += width;
  }

  /** What is written over half of a wide character leaves a space of the other half. */
  private clearWide(column: number): void {
    const cell = this.cells[column];
    if (cell?.width === 0) this.cells[column - 1] = { text: " ", look: plain, width: 1 };
    if (cell?.width === 2 && this.cells[column + 1]) this.cells[column + 1] = { text: " ", look: plain, width: 1 };
  }

  private tab(): void {
    const to = Math.min(maxColumns - 1, (Math.floor(this.column / 8) + 1) * 8);
    while (this.column < to) {
      if (this.column < this.cells.length) this.column++;
      else this.put(" ", 1);
    }
  }

  /** Takes the sequence that begins at at; it returns where it ends, -1 if it is still coming in. */
  private sequence(s: string, at: number): number {
    const short = s.charCodeAt(at) === 0x9b;
    if (!short && s[at + 1] === undefined) return -1;
    if (!short && s[at + 1] !== "[") {
      if (s[at + 1] === "(" || s[at + 1] === ")") return s[at + 2] === undefined ? -1 : at + 3;
      this.name(s.charCodeAt(at));
      return at + 1;
    }
    const begin = at + (short ? 1 : 2);
    let end = begin;
    while (end - begin < maxSequence && /[\d;:?]/.test(s[end] ?? "x")) end++;
    const final = s[end];
    if (final === undefined) return -1;
    if (!/[A-Za-z]/.test(final)) {
      this.name(s.charCodeAt(at));
      return at + 1;
    }
    const parameters = s.slice(begin, end);
    if (final === "m" && !parameters.startsWith("?")) this.look = restyled(this.look, parameters);
    const n = Math.min(maxColumns, Number(/^\d+$/.test(parameters) ? parameters : "") || 0);
    if (final === "K") this.erase(n);
    else if (final === "C") this.column = Math.min(maxColumns, this.column + Math.max(1, n));
    else if (final === "D") this.column = Math.max(0, this.column - Math.max(1, n));
    else if (final === "G") this.column = Math.max(0, n - 1);
    return end + 1;
  }

  private name(code: number): void {
    for (const c of `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`) this.put(c, 1);
  }

  private erase(how: number): void {
    if (how === 2) this.cells = [];
    else if (how === 0) this.cells.length = Math.min(this.cells.length, this.column);
    else for (let i = 0; i < Math.min(this.column, this.cells.length); i++) this.cells[i] = { text: " ", look: plain, width: 1 };
  }
}

/** What text has more than before, whose beginning may have been cut off since; undefined if it is another text. */
export function addedTo(before: string, text: string): string | undefined {
  if (text.startsWith(before)) return text.slice(before.length);
  if (text.length < 64) return undefined;
  const at = before.indexOf(text.slice(0, 64));
  if (at < 0) return undefined;
  const kept = before.slice(at);
  return text.startsWith(kept) ? text.slice(kept.length) : undefined;
}

function runsOf(cells: readonly Cell[]): Run[] {
  const runs: { text: string; look: Look; columns?: number }[] = [];
  for (const cell of cells) {
    if (!cell || cell.width === 0) continue;
    const last = runs.at(-1);
    if (last && last.look === cell.look && (last.columns !== undefined) === (cell.width === 2)) {
      last.text += cell.text;
      if (last.columns !== undefined) last.columns += 2;
    } else runs.push({ text: cell.text, look: cell.look, ...(cell.width === 2 ? { columns: 2 } : {}) });
  }
  return runs;
}

/** A look after the parameters of SGR (ECMA-48 8.3.117, and the colours of xterm). */
export function restyled(look: Look, parameters: string): Look {
  let next: Record<string, unknown> = { ...look };
  const all = parameters.split(";").map((p) => p.split(":").map((n) => (n === "" ? 0 : Math.min(Number(n), 999))));
  for (let i = 0; i < all.length; i++) {
    const [n = 0, ...more] = all[i] as number[];
    if (n === 0) next = {};
    else if (n === 1) next.bold = true;
    else if (n === 2) next.dim = true;
    else if (n === 3) next.italic = true;
    else if (n === 4) next.underline = more[0] !== 0 || more.length === 0;
    else if (n === 7) next.inverse = true;
    else if (n === 9) next.strike = true;
    else if (n === 22) Object.assign(next, { bold: undefined, dim: undefined });
    else if (n === 23) next.italic = undefined;
    else if (n === 24) next.underline = undefined;
    else if (n === 27) next.inverse = undefined;
    else if (n === 29) next.strike = undefined;
    else if ((n >= 30 && n <= 37) || (n >= 90 && n <= 97)) next.fg = n >= 90 ? n - 82 : n - 30;
    else if ((n >= 40 && n <= 47) || (n >= 100 && n <= 107)) next.bg = n >= 100 ? n - 92 : n - 40;
    else if (n === 39) next.fg = undefined;
    else if (n === 49) next.bg = undefined;
    else if (n === 38 || n === 48) {
      const rest = more.length > 0 ? more : all.slice(i + 1).map((p) => p[0] ?? 0);
      const kind = rest[0];
      const skipped = kind === 2 ? 4 : kind === 5 ? 2 : 1;
      if (more.length === 0) i += skipped;
      const rgb = more.length > 4 ? rest.slice(2) : rest.slice(1); // 38:2::r:g:b has a colour space
      const colour = kind === 5 ? indexed(rest[1] ?? 0) : kind === 2 ? hex(rgb) : undefined;
      if (colour !== undefined) next[n === 38 ? "fg" : "bg"] = colour;
    }
  }
  for (const value of Object.values(next)) if (value !== undefined) return next;
  return plain;
}

/** A colour of the 256: the 16 by number, then a cube of 6 and 24 greys. */
function indexed(n: number): number | string {
  if (n < 16) return n;
  if (n > 255) return "#ffffff";
  if (n >= 232) return hex([8 + (n - 232) * 10, 8 + (n - 232) * 10, 8 + (n - 232) * 10]);
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const i = n - 16;
  return hex([level(Math.floor(i / 36)), level(Math.floor(i / 6) % 6), level(i % 6)]);
}

function hex(rgb: readonly number[]): string {
  return `#${[0, 1, 2]
    .map((i) =>
      Math.min(255, rgb[i] ?? 0)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** Whether a character stands on the one before it. */
function isMark(code: number): boolean {
  return (
    (code >= 0x300 && code <= 0x36f) ||
    code === 0x200d ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    (code >= 0x20d0 && code <= 0x20ff) ||
    (code >= 0x1f3fb && code <= 0x1f3ff)
  );
}

/** The columns of a character in a terminal: East Asian wide ones and pictures have two. */
function widthOf(code: number): number {
  const wide =
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0x303e) ||
    (code >= 0x3041 && code <= 0xa4cf && code !== 0x303f) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1f64f) ||
    (code >= 0x1f680 && code <= 0x1f6ff) ||
    (code >= 0x1f900 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}
