import { FoldVertical } from "lucide-react";
import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Button, Icon } from "../parts/controls";
import { useWords } from "../words/index";
import { type Line, type Op, pairsOf, parseDiff, type Row, rowsOf } from "./diff";
import type { Token } from "./highlight";
import { languageOfPath } from "./languages";
import { safeText } from "./safe";
import { Scroller } from "./Scroller";
import { useHighlight } from "./useHighlight";
import { textWords } from "./words";
import "./text.css";

/** How a diff is drawn: split is side by side where there is room for it. */
export type DiffMode = "unified" | "split";

/** The narrowest box in which two sides are drawn, in pixels, and the rows that are drawn at first. */
const widthOfTwo = 700;
const maxRows = 600;

type Words = (typeof textWords)["en"];
type Colours = { old: ReadonlyMap<Line, readonly Token[]>; new: ReadonlyMap<Line, readonly Token[]> };

/** A unified diff. path names its language. */
export const Diff = memo(function Diff({ diff, mode = "unified", path = "" }: { diff: string; mode?: DiffMode; path?: string }) {
  const w = useWords(textWords);
  const shown = useMemo(() => parseDiff(safeText(diff)), [diff]);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [most, setMost] = useState(maxRows);
  const box = useRef<HTMLDivElement>(null);
  const wide = useWide(box, mode === "split");
  const colours = useColours(shown.lines, path);
  const rows = useMemo(() => rowsOf(shown.lines, open), [shown, open]);
  const seen = rows.slice(0, most);
  const unfold = (from: number) => setOpen(new Set([...open, from]));
  const name = path ? w.diffOf(safeText(path)) : w.diff;
  if (shown.lines.length === 0) return <p className="t3">{w.noChange}</p>;
  return (
    <div className="diffbox" ref={box} role="group" aria-label={name}>
      <Scroller name={name} className="diffscroll">
        <div className={wide ? "diff split" : "diff"}>
          {wide
            ? pairsOf(seen).map((p) =>
                "row" in p ? (
                  <Across key={keyOf(p.row)} row={p.row} w={w} unfold={unfold} />
                ) : (
                  <div className="pair" key={p.index}>
                    <Side line={p.before} side="old" w={w} colours={colours} />
                    <Side line={p.after} side="new" w={w} colours={colours} />
                  </div>
                ),
              )
            : seen.map((r) =>
                "line" in r && isCode(r.line.op) ? (
                  <Unified key={r.index} line={r.line} w={w} colours={colours} />
                ) : (
                  <Across key={keyOf(r)} row={r} w={w} unfold={unfold} />
                ),
              )}
        </div>
      </Scroller>
      {rows.length > most && (
        <Button look="plain" small onClick={() => setMost(most + 2 * maxRows)}>
          {w.moreRows(rows.length - most)}
        </Button>
      )}
      {shown.rest > 0 && <p className="t3 rest">{w.leftOut(shown.rest)}</p>}
    </div>
  );
});

function isCode(op: Op): boolean {
  return op === "same" || op === "add" || op === "del";
}

function keyOf(row: Row): string {
  return "line" in row ? `l${row.index}` : `f${row.from}`;
}

const classOf: Record<Op, string> = { same: "dl", add: "dl a", del: "dl d", hunk: "dl h", note: "dl n", file: "dl f" };

function Sign({ op, w }: { op: Op; w: Words }) {
  if (op !== "add" && op !== "del") return <span />;
  return (
    <span>
      <span aria-hidden="true">{op === "add" ? "+" : "−"}</span>
      <span className="sr">{op === "add" ? w.added : w.removed} </span>
    </span>
  );
}

const Unified = memo(function Unified({ line, w, colours }: { line: Line; w: Words; colours: Colours }) {
  return (
    <div className={classOf[line.op]}>
      <span>{line.old || ""}</span>
      <span>{line.new || ""}</span>
      <Sign op={line.op} w={w} />
      <span className="tx">{words(line, colours[line.op === "del" ? "old" : "new"].get(line))}</span>
    </div>
  );
});

function Side({ line, side, w, colours }: { line: Line | undefined; side: "old" | "new"; w: Words; colours: Colours }) {
  if (!line) return <div className="dl e" />;
  return (
    <div className={classOf[line.op]}>
      <span>{(side === "old" ? line.old : line.new) || ""}</span>
      <Sign op={line.op} w={w} />
      <span className="tx">{words(line, colours[side].get(line))}</span>
    </div>
  );
}

/** A row over both sides: where lines are left out, and what is no line of a file. */
function Across({ row, w, unfold }: { row: Row; w: Words; unfold(from: number): void }) {
  if (!("line" in row)) {
    return (
      <button type="button" className="dl fold" aria-label={w.showFolded(row.folded.length)} onClick={() => unfold(row.from)}>
        <Icon of={FoldVertical} small />
        {w.folded(row.folded.length)}
      </button>
    );
  }
  const { line } = row;
  return (
    <div className={`${classOf[line.op]} across`}>
      {line.op === "hunk" && line.skipped ? <span className="gap">{w.folded(line.skipped)}</span> : null}
      {line.text && <span>{line.text}</span>}
    </div>
  );
}

/** The text of a line: its tokens, and what changed in it marked. */
function words(line: Line, tokens: readonly Token[] | undefined): ReactNode {
  const parts = tokens && tokens.reduce((n, [t]) => n + t.length, 0) === line.text.length ? tokens : ([[line.text, ""]] as const);
  const marks = line.words ?? [];
  const out: ReactNode[] = [];
  let at = 0;
  let m = 0;
  for (const [text, className] of parts) {
    let from = 0;
    while (from < text.length) {
      while ((marks[m]?.[1] ?? Number.POSITIVE_INFINITY) <= at + from) m++;
      const mark = marks[m];
      const inside = mark !== undefined && mark[0] <= at + from;
      const until = mark === undefined ? text.length : Math.min(text.length, (inside ? mark[1] : mark[0]) - at);
      const piece = text.slice(from, until);
      const name = [inside && "w", className].filter(Boolean).join(" ");
      out.push(
        name ? (
          <span key={at + from} className={name}>
            {piece}
          </span>
        ) : (
          piece
        ),
      );
      from = until;
    }
    at += text.length;
  }
  return out.length > 0 ? out : "\n";
}

/** The colours of both sides of a diff, line by line. */
function useColours(lines: readonly Line[], path: string): Colours {
  const language = languageOfPath(path) ?? "";
  const sides = useMemo(() => {
    const of = (op: Op) => lines.filter((l) => l.op === "same" || l.op === op);
    return { old: of("del"), new: of("add") };
  }, [lines]);
  const code = useMemo(() => ({ old: sides.old.map((l) => l.text).join("\n"), new: sides.new.map((l) => l.text).join("\n") }), [sides]);
  const old = useHighlight(code.old, language, true);
  const now = useHighlight(code.new, language, true);
  return useMemo(() => {
    const map = (list: readonly Line[], pieces: typeof old) => {
      const out = new Map<Line, readonly Token[]>();
      for (const [i, tokens] of pieces.flatMap((p) => p.lines).entries()) {
        const line = list[i];
        if (line) out.set(line, tokens);
      }
      return out;
    };
    return { old: map(sides.old, old), new: map(sides.new, now) };
  }, [sides, old, now]);
}

/** Whether an element has room for two sides. */
function useWide(box: { current: HTMLElement | null }, wanted: boolean): boolean {
  const [wide, setWide] = useState(wanted);
  useEffect(() => {
    const el = box.current;
    if (!el || !wanted) return setWide(false);
    const look = () => setWide(el.clientWidth >= widthOfTwo);
    const seen = new ResizeObserver(look);
    seen.observe(el);
    look();
    return () => seen.disconnect();
  }, [box, wanted]);
  return wide;
}
