/** Reads unified diffs: outside text, read within bounds and never trusted to be one. */

/** Lines of a diff that are read, and characters of one. What is beyond is counted. */
const maxLines = 5000;
const maxLine = 2 << 10;
/** Lines around a change that stay when unchanged ones are folded. */
const around = 3;
/** Changed lines next to each other that are compared each with each. */
const maxCompared = 24;
/** Words of a line that are compared, and comparisons of a whole diff. */
const maxWords = 240;
const maxComparisons = 4_000_000;

/** What became of a line; hunk: where the diff goes on after lines that it leaves out. */
export type Op = "same" | "add" | "del" | "hunk" | "note" | "file";

export interface Line {
  op: Op;
  /** Numbers of the line in the two files, counted from 1, 0 where it has none. */
  old: number;
  new: number;
  text: string;
  /** What changed within the line, from and to in characters. */
  words?: readonly (readonly [number, number])[];
  /** Of a hunk: lines that are left out before it. */
  skipped?: number;
}

export interface ParsedDiff {
  lines: Line[];
  added: number;
  removed: number;
  /** Lines that are not shown. */
  rest: number;
}

const header = /^@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@+ ?(.*)$/;

/** The lines of a diff, with what changed within them. */
export function parseDiff(text: string): ParsedDiff {
  const diff = read(text);
  markWords(diff.lines);
  return diff;
}

function read(text: string): ParsedDiff {
  const out: ParsedDiff = { lines: [], added: 0, removed: 0, rest: 0 };
  let [oldAt, newAt, oldLeft, newLeft] = [0, 0, 0, 0];
  let before = 1; // the line of the new file that would come next
  for (let at = 0; at < text.length; ) {
    let end = text.indexOf("\n", at);
    if (end < 0) end = text.length;
    if (out.lines.length >= maxLines) {
      out.rest++;
      at = end + 1;
      continue;
    }
    const raw = cut(text.slice(at, end).replace(/\r$/, ""));
    at = end + 1;
    const inside = oldLeft > 0 || newLeft > 0;
    const body = raw.slice(1);
    if (inside && raw.startsWith("+")) {
      out.added++;
      out.lines.push({ op: "add", old: 0, new: newAt++, text: body });
      newLeft--;
    } else if (inside && raw.startsWith("-")) {
      out.removed++;
      out.lines.push({ op: "del", old: oldAt++, new: 0, text: body });
      oldLeft--;
    } else if (raw.startsWith("\\")) {
      out.lines.push({ op: "note", old: 0, new: 0, text: body.trim() });
    } else if (inside && (raw === "" || raw.startsWith(" "))) {
      out.lines.push({ op: "same", old: oldAt++, new: newAt++, text: body });
      oldLeft--;
      newLeft--;
    } else {
      const m = header.exec(raw);
      if (m) {
        const count = (s: string | undefined) => (s === undefined ? 1 : Number(s));
        [oldAt, oldLeft, newAt, newLeft] = [Number(m[1]), count(m[2]), Number(m[3]), count(m[4])];
        const skipped = Math.max(0, newAt - before);
        if (skipped > 0 || m[5]) out.lines.push({ op: "hunk", old: 0, new: 0, text: m[5] ?? "", skipped });
        before = newAt + newLeft;
      } else if (/^(---|\+\+\+) /.test(raw)) {
        if (raw.startsWith("+++") && raw !== "+++ /dev/null") before = 1;
      } else if (raw.startsWith("diff ")) {
        out.lines.push({ op: "file", old: 0, new: 0, text: raw.replace(/^diff (--git )?/, "") });
        before = 1;
      } else if (raw !== "" && !/^(index |new file|deleted file|old mode|new mode|similarity |rename )/.test(raw)) {
        out.lines.push({ op: "note", old: 0, new: 0, text: raw });
      }
    }
  }
  return out;
}

/** How many lines a difference adds and removes. */
export function countDiff(text: string): { added: number; removed: number } {
  const { added, removed } = read(text);
  return { added, removed };
}

function cut(s: string): string {
  return s.length <= maxLine ? s : `${s.slice(0, maxLine)} …`;
}

/** Finds what changed within lines: lines that were taken away and added in one place are paired by what they share. */
function markWords(lines: Line[]): void {
  let left = maxComparisons;
  for (let i = 0; i < lines.length; i++) {
    if (lines[i]?.op !== "del") continue;
    let mid = i;
    while (lines[mid]?.op === "del") mid++;
    let end = mid;
    while (lines[end]?.op === "add") end++;
    for (const [a, b] of pairs(lines.slice(i, mid), lines.slice(mid, end))) {
      left -= Math.min(a.text.length, maxWords) * Math.min(b.text.length, maxWords);
      if (left < 0) return;
      const changed = changedWords(a.text, b.text);
      if (!changed) continue;
      a.words = changed.old;
      b.words = changed.new;
    }
    i = Math.max(i, end - 1);
  }
}

/** Pairs lines of two lists in order, so that the pairs share as much as they can. */
function pairs(old: readonly Line[], now: readonly Line[]): [Line, Line][] {
  if (old.length === 0 || now.length === 0) return [];
  if (old.length > maxCompared || now.length > maxCompared) {
    return old.flatMap((a, i) => (now[i] ? [[a, now[i]] as [Line, Line]] : []));
  }
  const bags = (list: readonly Line[]) => list.map((l) => new Set(wordsOf(l.text).filter((t) => /\S/.test(t))));
  const [oldBags, newBags] = [bags(old), bags(now)];
  const width = now.length + 1;
  const best = new Float64Array((old.length + 1) * width);
  const score = (i: number, j: number) => {
    const [a, b] = [oldBags[i] as Set<string>, newBags[j] as Set<string>];
    let shared = 0;
    for (const t of a) if (b.has(t)) shared++;
    const alike = (2 * shared) / Math.max(1, a.size + b.size);
    return alike >= 0.4 ? alike : 0;
  };
  const at = (i: number, j: number) => best[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) best[i * width + j] = Math.max(at(i + 1, j), at(i, j + 1), score(i, j) + at(i + 1, j + 1));
  const out: [Line, Line][] = [];
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    const s = score(i, j);
    if (s > 0 && at(i, j) === s + at(i + 1, j + 1)) out.push([old[i++] as Line, now[j++] as Line]);
    else if (at(i, j) === at(i + 1, j)) i++;
    else j++;
  }
  return out;
}

/** Words, runs of spaces, and single other characters. */
function wordsOf(s: string): string[] {
  return s.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

type Ranges = readonly (readonly [number, number])[];

/** What differs between two lines, undefined where they share too little to tell. */
export function changedWords(old: string, now: string): { old: Ranges; new: Ranges } | undefined {
  const [a, b] = [wordsOf(old), wordsOf(now)];
  if (a.length > maxWords || b.length > maxWords || old === now) return undefined;
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? (longest[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(longest[(i + 1) * width + j] ?? 0, longest[i * width + j + 1] ?? 0);
    }
  const [keptA, keptB] = [a.map(() => false), b.map(() => false)];
  let shared = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      if (/\S/.test(a[i] ?? "")) shared += a[i]?.length ?? 0;
      keptA[i++] = true;
      keptB[j++] = true;
    } else if ((longest[(i + 1) * width + j] ?? 0) >= (longest[i * width + j + 1] ?? 0)) i++;
    else j++;
  }
  const size = (s: string) => s.replace(/\s/g, "").length;
  if (shared < 0.3 * Math.max(size(old), size(now))) return undefined;
  return { old: ranges(a, keptA), new: ranges(b, keptB) };
}

/** The places of words that were not kept; what lies between two of them and is only space or a mark is taken along. */
function ranges(words: readonly string[], kept: readonly boolean[]): Ranges {
  const out: [number, number][] = [];
  let at = 0;
  for (const [i, word] of words.entries()) {
    const last = out.at(-1);
    const joins = last !== undefined && last[1] === at;
    const between = kept[i] && joins && kept[i + 1] === false && !/[\p{L}\p{N}_]/u.test(word);
    if (!kept[i] || between) {
      if (joins) last[1] = at + word.length;
      else out.push([at, at + word.length]);
    }
    at += word.length;
  }
  return out;
}

/** What is drawn: a line, or unchanged lines that are folded. */
export type Row = { line: Line; index: number } | { folded: readonly Line[]; from: number };

/** The rows of a diff. Long runs of unchanged lines are folded, except those that begin at an index in open. */
export function rowsOf(lines: readonly Line[], open: ReadonlySet<number>): Row[] {
  const rows: Row[] = [];
  for (let i = 0; i < lines.length; ) {
    const begin = i;
    let end = i;
    while (lines[end]?.op === "same") end++;
    const first = i === 0 || lines[i - 1]?.op === "hunk" ? i : i + around;
    const last = end === lines.length || lines[end]?.op === "hunk" ? end : end - around;
    const [from, to] = [i === 0 ? i : first, last];
    if (to - from > around && !open.has(from)) {
      for (; i < from; i++) rows.push({ line: lines[i] as Line, index: i });
      rows.push({ folded: lines.slice(from, to), from });
      i = to;
    }
    const until = end === begin ? begin + 1 : end;
    for (; i < until; i++) rows.push({ line: lines[i] as Line, index: i });
  }
  return rows;
}

/** Rows side by side: what was before, what is after, or one row over both. */
export type Pair = { row: Row } | { before: Line | undefined; after: Line | undefined; index: number };

export function pairsOf(rows: readonly Row[]): Pair[] {
  const out: Pair[] = [];
  for (let i = 0; i < rows.length; ) {
    const row = rows[i] as Row;
    if (!("line" in row) || (row.line.op !== "same" && row.line.op !== "del" && row.line.op !== "add")) {
      out.push({ row });
      i++;
      continue;
    }
    if (row.line.op === "same") {
      out.push({ before: row.line, after: row.line, index: row.index });
      i++;
      continue;
    }
    const old: Line[] = [];
    const now: Line[] = [];
    for (; i < rows.length; i++) {
      const r = rows[i] as Row;
      if (!("line" in r)) break;
      if (r.line.op === "del" && now.length === 0) old.push(r.line);
      else if (r.line.op === "add") now.push(r.line);
      else break;
    }
    for (let n = 0; n < Math.max(old.length, now.length); n++) out.push({ before: old[n], after: now[n], index: row.index + n });
  }
  return out;
}
