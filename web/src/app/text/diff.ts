/** A difference in unified form as rows: what Git and the host's tools write. */
export interface DiffRow {
  kind: "same" | "add" | "del" | "hunk";
  /** Line numbers before and after; 0 where there is none. */
  before: number;
  after: number;
  text: string;
  /** The part of a changed line that differs from its partner: from, to. */
  word?: [number, number];
}

/** The rows of a difference; headers of files are left out. */
export function parseDiff(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let before = 0;
  let after = 0;
  let inside = false;
  for (const line of diff.split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      inside = true;
      if (rows.length > 0 || hunk[3]) rows.push({ kind: "hunk", before: 0, after: 0, text: (hunk[3] ?? "").trim() });
    } else if (!inside || line.startsWith("\\") || line === "") {
    } else if (line[0] === "+") rows.push({ kind: "add", before: 0, after: after++, text: line.slice(1) });
    else if (line[0] === "-") rows.push({ kind: "del", before: before++, after: 0, text: line.slice(1) });
    else rows.push({ kind: "same", before: before++, after: after++, text: line.slice(1) });
  }
  markWords(rows);
  return rows;
}

/** Marks in lines that were replaced one by one what of them is other. */
function markWords(rows: DiffRow[]): void {
  for (let i = 0; i < rows.length; i++) {
    if (rows[i]?.kind !== "del") continue;
    let mid = i;
    while (rows[mid]?.kind === "del") mid++;
    let end = mid;
    while (rows[end]?.kind === "add") end++;
    if (end - mid === mid - i) {
      for (let k = 0; i + k < mid; k++) {
        const a = rows[i + k];
        const b = rows[mid + k];
        if (a && b) markPair(a, b);
      }
    }
    i = end - 1;
  }
}

function markPair(a: DiffRow, b: DiffRow): void {
  const most = Math.min(a.text.length, b.text.length);
  let head = 0;
  while (head < most && a.text[head] === b.text[head]) head++;
  let tail = 0;
  while (tail < most - head && a.text[a.text.length - 1 - tail] === b.text[b.text.length - 1 - tail]) tail++;
  if (head + tail < most / 3) return; // all but the same place is another line
  if (a.text.length - tail > head) a.word = [head, a.text.length - tail];
  if (b.text.length - tail > head) b.word = [head, b.text.length - tail];
}

/** How many lines a difference adds and removes. */
export function countDiff(diff: string): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const r of parseDiff(diff)) {
    if (r.kind === "add") added++;
    if (r.kind === "del") removed++;
  }
  return { added, removed };
}
