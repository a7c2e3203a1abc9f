/** Reads a unified diff of one file; nothing here draws. */

export interface PatchLine {
  kind: "same" | "add" | "del" | "hunk";
  /** Line numbers before and after, where there are some. */
  old?: number;
  now?: number;
  text: string;
}

/** The lines of a unified diff, without the names of the file at its head. */
export function patchLines(diff: string): PatchLine[] {
  const out: PatchLine[] = [];
  let [old, now, inside] = [0, 0, false];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk) {
      [old, now, inside] = [Number(hunk[1]), Number(hunk[2]), true];
      out.push({ kind: "hunk", text: line });
    } else if (!inside || line.startsWith("\\")) {
      // the head, or that there is no line feed at the end
    } else if (line.startsWith("+")) out.push({ kind: "add", now: now++, text: line.slice(1) });
    else if (line.startsWith("-")) out.push({ kind: "del", old: old++, text: line.slice(1) });
    else out.push({ kind: "same", old: old++, now: now++, text: line.slice(1) });
  }
  return out;
}
