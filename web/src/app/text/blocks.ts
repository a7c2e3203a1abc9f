/**
 * Cuts Markdown into blocks that can be parsed one by one, while it comes in: a block that has
 * ended is never looked at again, and only the last one grows. The rules are those of CommonMark
 * where a reader could tell the difference. No block is longer than maxBlock, so what a change
 * costs has a bound whatever the text is.
 */

/** What a block is: to be parsed, code between fences, or text that is drawn as it is. */
export type BlockKind = "markdown" | "code" | "plain";

export interface Block {
  readonly kind: BlockKind;
  /** Where it begins in the text: its name, because a block never moves. */
  readonly start: number;
  /** What is parsed; of code, the code alone. */
  readonly text: string;
  /** It goes on with the list or table of the block before it. */
  readonly goesOn: "" | "list" | "table";
  /** The language of code, as it was written. */
  readonly language: string;
  /** It ends with an empty line; members of a list then have room between them. */
  readonly loose: boolean;
}

/** The longest block in characters. One line that is longer is not parsed at all. */
export const maxBlock = 8 << 10;
/** A list or a table is cut into blocks from this length on. */
const minPart = 1 << 10;
/** Quotes and lists in each other that are parsed; what is deeper is drawn as it is. */
const maxDepth = 24;
/** Characters of a text that are parsed, and blocks; the rest is drawn as it is. */
export const maxParsed = 256 << 10;
const maxBlocks = 1000;
/** A paragraph or heading begins a block of its own when the one before has this length. */
const minBlock = 256;

interface Fence {
  char: string;
  length: number;
  indent: number;
  /** It is in a list, whose end ends it. */
  inList: boolean;
}

/** Where a reading of lines is. */
interface Place {
  /** where the block begins */
  start: number;
  kind: BlockKind;
  goesOn: Block["goesOn"];
  /** of code: where the code begins, the language, and the fence that ends it */
  codeStart: number;
  language: string;
  fence: Fence | undefined;
  blank: boolean;
  /** the kind of mark of the list that the block is */
  list: string;
  lines: number;
  /** its lines are deeper than is parsed */
  deep: boolean;
  /** what ends the formula that it is in, "" outside of one */
  formula: string;
  /** the head and the rule of the table that the block is */
  head: string;
}

function beginAt(start: number): Place {
  return {
    start,
    kind: "markdown",
    goesOn: "",
    codeStart: 0,
    language: "",
    fence: undefined,
    blank: false,
    list: "",
    lines: 0,
    deep: false,
    formula: "",
    head: "",
  };
}

const item = /^([-*+]|(\d{1,9})([.)]))([ \t]+|$)/;
const rule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const heading = /^#{1,6}(?:[ \t]|$)/;
const opening = /^( {0,3})(`{3,}|~{3,})[ \t]*(.*)$/;
const tableRule = /^\|?:?-+:?(?:\|:?-+:?)*\|?$/;

/** The mark of a list that a line without indentation begins with: "-", "." and so on; "" of none. */
function markOf(line: string): string {
  const m = item.exec(line);
  if (!m || rule.test(line)) return "";
  return m[3] ?? m[1] ?? "";
}

/** How deep in quotes and lists a line begins. */
function depthOf(line: string): number {
  let at = 0;
  let depth = 0;
  for (; depth <= maxDepth; depth++) {
    const begin = at;
    while (line[at] === " " || line[at] === "\t") at++;
    if (depth === 0 && at > maxDepth * 3 && (line[at] === ">" || item.test(line.slice(at, at + 12)))) return maxDepth + 1;
    if (line[at] === ">") {
      at++;
      continue;
    }
    const m = item.exec(line.slice(at, at + 12));
    if (!m || at - begin > 5) break;
    at += m[0].length;
  }
  return depth;
}

/** A fence that a line opens, perhaps after marks of lists. */
function fenceOf(line: string, inList: boolean): { fence: Fence; language: string } | undefined {
  let rest = line;
  let marked = inList;
  if (inList) {
    rest = line.replace(/^[ \t]{4,}/, (s) => " ".repeat(s.length % 4));
    for (let m = item.exec(rest.trimStart()); m && m[4] !== ""; m = item.exec(rest.trimStart())) rest = rest.trimStart().slice(m[0].length);
    rest = rest.trimStart();
  } else if (item.test(line)) {
    for (let m = item.exec(rest); m && m[4] !== ""; m = item.exec(rest)) rest = rest.slice(m[0].length);
    marked = true;
  }
  const m = opening.exec(rest);
  const run = m?.[2];
  const info = m?.[3] ?? "";
  if (!run) return undefined;
  if (run.startsWith("`") && info.includes("`")) return undefined;
  const language = /^[^\s{]+/.exec(info)?.[0] ?? "";
  return { fence: { char: run[0] ?? "`", length: run.length, indent: m?.[1]?.length ?? 0, inList: marked }, language };
}

function closes(fence: Fence, line: string): boolean {
  const m = /^[ \t]*(`+|~+)[ \t]*$/.exec(line);
  const run = m?.[1] ?? "";
  return run.startsWith(fence.char) && run.length >= fence.length && (fence.inList || /^ {0,3}\S/.test(line));
}

/** What may still become the line that closes a fence. */
function mayClose(fence: Fence, line: string): boolean {
  return /^ {0,3}(`+|~+)[ \t]*$/.test(line) && line.trimStart().startsWith(fence.char);
}

/** A place to cut at or before at, after a space, never within a character. */
function cutAt(text: string, from: number, at: number): number {
  const space = text.lastIndexOf(" ", at - 1);
  if (space > from + (at - from) / 2) return space + 1;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** The blocks of a text that grows. Not a pure value: keep one for each text that is shown. */
export class Blocks {
  private text = "";
  private ended = false;
  private done: Block[] = [];
  private place = beginAt(0);
  /** up to where lines were read */
  private at = 0;
  private shown: readonly Block[] = [];

  /** The blocks of text. When it has only grown since the last call, the earlier ones are the same objects. */
  read(text: string, ended: boolean): readonly Block[] {
    if (text === this.text && ended === this.ended) return this.shown;
    if (!text.startsWith(this.text)) {
      this.done = [];
      this.place = beginAt(0);
      this.at = 0;
    }
    this.text = text;
    this.ended = ended;
    for (;;) {
      const end = text.indexOf("\n", this.at);
      const limit = this.at + maxBlock;
      if (end >= 0 && end < limit) {
        this.line(text.slice(this.at, end), end + 1);
      } else if (text.length > limit) {
        this.cutLine(cutAt(text, this.at, limit));
      } else break;
    }
    const last = this.last();
    this.shown = last ? [...this.done, last] : this.done.slice();
    return this.shown;
  }

  private end(at: number): void {
    const block = this.block(at, false);
    if (block) this.done.push(block);
  }

  private block(end: number, open: boolean): Block | undefined {
    const p = this.place;
    if (end <= p.start) return undefined;
    const kind = this.beyond() && p.kind === "markdown" ? "plain" : p.kind;
    let text = this.text.slice(kind === "code" ? p.codeStart : p.start, end);
    if (kind === "markdown" && text.trim() === "") return undefined;
    if (kind === "code") {
      const from = text.lastIndexOf("\n") + 1;
      if (open && p.fence && (this.ended ? closes : mayClose)(p.fence, text.slice(from))) text = text.slice(0, from);
      text = text.replace(/\n$/, "");
      if (p.fence && p.fence.indent > 0) text = text.replace(new RegExp(`^ {1,${p.fence.indent}}`, "gm"), "");
    } else if (p.goesOn === "table") text = p.head + text;
    return { kind, start: p.start, text, goesOn: p.goesOn, language: p.language, loose: p.blank };
  }

  /** The block that may still grow. */
  private last(): Block | undefined {
    return this.block(this.text.length, true);
  }

  /** Begins another block at a place. */
  private next(start: number): void {
    this.end(start);
    this.place = beginAt(start);
  }

  /** A piece of a line that is too long to be parsed. */
  private cutLine(end: number): void {
    const p = this.place;
    if (p.kind === "code") {
      this.at = end;
      p.lines++;
      return;
    }
    if (this.at > p.start) this.next(this.at);
    this.place.kind = "plain";
    this.at = end;
    this.next(end);
    this.place.kind = "plain"; // until the line ends
  }

  private line(line: string, after: number): void {
    const p = this.place;
    const begin = this.at;
    this.at = after;
    if (p.kind === "code") {
      p.lines++;
      if (p.fence && closes(p.fence, line)) {
        this.end(begin);
        this.place = beginAt(after);
      }
    } else if (this.beyond()) {
      p.kind = "plain";
      if (after - p.start >= maxBlock) this.next(after);
    } else if (p.kind === "plain" && !p.deep) {
      this.next(after); // the rest of a line that is too long
    } else if (depthOf(line) > maxDepth) {
      if (begin > p.start && (!p.deep || begin - p.start >= maxBlock)) this.next(begin);
      this.place.kind = "plain";
      this.place.deep = true;
    } else {
      if (p.deep) this.next(begin);
      else this.boundary(line, begin);
      this.inside(line, after);
    }
  }

  /** Whether there is more text before here than is parsed. */
  private beyond(): boolean {
    return this.place.start >= maxParsed || this.done.length >= maxBlocks;
  }

  /** Begins another block before the line, if one does. */
  private boundary(line: string, begin: number): void {
    const p = this.place;
    const length = begin - p.start;
    if (length === 0) return;
    const blank = line.trim() === "";
    const flush = !blank && line[0] !== " " && line[0] !== "\t";
    if (p.fence) {
      // In a list. What is not indented ends the list, and the code with it.
      if (!flush) {
        if (length >= maxBlock && !closes(p.fence, line)) this.longFence(begin);
        return;
      }
      p.fence = undefined;
    }
    if (blank || (p.formula !== "" && length < maxBlock)) return;
    const mark = flush ? markOf(line) : "";
    if (mark !== "" && mark === p.list) {
      if (length < minPart) return;
      this.next(begin);
      this.place.goesOn = "list";
      this.place.list = mark;
      return;
    }
    const fenced = fenceOf(line, p.list !== "" && !flush);
    const apart = p.list !== "" || mark !== "" || line.startsWith("|") || length >= minBlock;
    if (
      (fenced && !fenced.fence.inList) ||
      (flush && apart && (p.blank || heading.test(line))) ||
      this.interrupts(line, mark) ||
      length + line.length >= maxBlock
    ) {
      this.next(begin);
    } else if (p.head !== "" && length >= minPart) {
      const { head } = p;
      this.next(begin);
      Object.assign(this.place, { goesOn: "table", head, lines: 2 });
    }
  }

  /** Whether a line without indentation begins a list where a paragraph stands. */
  private interrupts(line: string, mark: string): boolean {
    if (mark === "" || /^\S+[ \t]*$/.test(line)) return false;
    if (this.place.list !== "") return true;
    return !/^\d/.test(line) || /^1[.)]/.test(line);
  }

  /** Code in a list that has grown too long goes on as a block of its own. */
  private longFence(begin: number): void {
    const { fence, language } = this.place;
    this.next(begin);
    Object.assign(this.place, { kind: "code", codeStart: begin, fence, language });
  }

  /** Takes a line into the block. */
  private inside(line: string, after: number): void {
    const p = this.place;
    const first = p.lines === 0;
    p.lines++;
    p.blank = line.trim() === "";
    if (p.blank) p.formula = "";
    if (p.blank) return;
    if (p.formula !== "") {
      if (line.trimEnd().endsWith(p.formula)) p.formula = "";
      return;
    }
    if (p.fence) {
      if (closes(p.fence, line)) p.fence = undefined;
      return;
    }
    const flush = line[0] !== " " && line[0] !== "\t";
    if (first && flush && p.list === "") p.list = markOf(line);
    const fenced = fenceOf(line, p.list !== "");
    if (fenced) {
      if (fenced.fence.inList) {
        p.fence = fenced.fence;
        p.language = fenced.language;
      } else {
        Object.assign(p, { kind: "code", codeStart: after, fence: fenced.fence, language: fenced.language });
      }
      return;
    }
    const formula = /^[ \t]*(?:>[ \t]*)*(\$\$|\\\[)/.exec(line);
    if (formula) {
      const end = formula[1] === "$$" ? "$$" : "\\]";
      if (!line.slice(formula[0].length).includes(end)) p.formula = end;
    }
    if (p.lines === 2 && p.goesOn === "" && line.includes("|") && tableRule.test(line.replace(/[ \t]/g, ""))) {
      const head = this.text.slice(p.start, after);
      if (head.slice(0, head.indexOf("\n")).includes("|")) p.head = head;
    }
  }
}
