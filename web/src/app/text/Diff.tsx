import { memo, useState } from "react";
import { Button } from "../parts/controls";
import { count } from "../words/format";
import { useWords } from "../words/index";
import { type DiffRow, parseDiff } from "./diff";
import { textWords } from "./words";
import "./text.css";

/** Rows that are shown until somebody asks for all. */
const maxRows = 400;

/** A difference in unified form, as one column or before and after side by side. */
export const Diff = memo(function Diff({ diff, mode = "unified", path }: { diff: string; mode?: "unified" | "split"; path?: string }) {
  const w = useWords(textWords);
  const [all, setAll] = useState(false);
  const rows = parseDiff(diff);
  const shown = all ? rows : rows.slice(0, maxRows);
  return (
    <>
      {mode === "split" ? <Split rows={shown} label={path} /> : <Unified rows={shown} label={path} />}
      {rows.length > shown.length && (
        <Button look="plain" small onClick={() => setAll(true)}>
          {w.more(count(rows.length - shown.length))}
        </Button>
      )}
    </>
  );
});

const classes = { same: "dl", add: "dl a", del: "dl d", hunk: "dl h" };
const marks = { same: "", add: "+", del: "-", hunk: "" };

function Unified({ rows, label }: { rows: DiffRow[]; label: string | undefined }) {
  return (
    <section className="diff" aria-label={label}>
      {rows.map((r, i) => (
        <div key={i} className={classes[r.kind]}>
          <span>{r.before || ""}</span>
          <span>{r.after || ""}</span>
          <span>{marks[r.kind]}</span>
          <Line row={r} />
        </div>
      ))}
    </section>
  );
}

function Split({ rows, label }: { rows: DiffRow[]; label: string | undefined }) {
  const pairs: [DiffRow | undefined, DiffRow | undefined][] = [];
  for (let i = 0; i < rows.length; ) {
    const r = rows[i];
    if (!r) break;
    if (r.kind === "same" || r.kind === "hunk") {
      pairs.push([r, r]);
      i++;
      continue;
    }
    const dels: DiffRow[] = [];
    const adds: DiffRow[] = [];
    for (let x = rows[i]; x?.kind === "del"; x = rows[++i]) dels.push(x);
    for (let x = rows[i]; x?.kind === "add"; x = rows[++i]) adds.push(x);
    for (let k = 0; k < Math.max(dels.length, adds.length); k++) pairs.push([dels[k], adds[k]]);
  }
  return (
    <section className="split" aria-label={label}>
      {[0, 1].map((side) => (
        <div key={side} className="diff">
          {pairs.map((p, i) => {
            const r = p[side];
            return (
              <div key={i} className={r ? classes[r.kind] : "dl e"}>
                <span>{r ? (side === 0 ? r.before : r.after) || "" : ""}</span>
                <span>{r ? marks[r.kind] : ""}</span>
                {r ? <Line row={r} /> : <span />}
              </div>
            );
          })}
        </div>
      ))}
    </section>
  );
}

function Line({ row: { text, word } }: { row: DiffRow }) {
  if (!word) return <span>{text || " "}</span>;
  return (
    <span>
      {text.slice(0, word[0])}
      <span className="w">{text.slice(word[0], word[1])}</span>
      {text.slice(word[1])}
    </span>
  );
}
