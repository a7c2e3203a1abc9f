/** Output of programs as lines of runs with the colours of a terminal. Everything else that a terminal can do is left out. */
export interface Run {
  text: string;
  /** 0 to 15; -1 is none. */
  color: number;
  bold: boolean;
}

/** The newest lines of an output that are shown, and characters. */
export const maxLines = 500;
const maxChars = 200_000;

/** The end of an output as lines, and how many lines are left out before it. */
export function lines(output: string): { lines: Run[][]; omitted: number } {
  const cut = output.length > maxChars ? output.slice(-maxChars) : output;
  const all = cut.split("\n");
  if (all.at(-1) === "") all.pop();
  let omitted = cut === output ? 0 : output.slice(0, -maxChars).split("\n").length;
  const kept = all.slice(-maxLines);
  omitted += all.length - kept.length;
  let state = { color: -1, bold: false };
  const out: Run[][] = [];
  for (const line of kept) {
    const runs: Run[] = [];
    // What a carriage return has written over is gone.
    const shown = line.replace(/\r+$/, "").split("\r").at(-1) ?? "";
    let at = 0;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    for (const m of shown.matchAll(/\x1b(?:\[([0-9;:?]*)([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g)) {
      push(runs, shown.slice(at, m.index), state);
      at = m.index + m[0].length;
      if (m[2] === "m") state = sgr(m[1] ?? "", state);
    }
    push(runs, shown.slice(at), state);
    out.push(runs);
  }
  return { lines: out, omitted };
}

function push(runs: Run[], text: string, state: { color: number; bold: boolean }): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are not shown
  const clean = text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, "");
  if (clean !== "") runs.push({ text: clean, ...state });
}

function sgr(params: string, before: { color: number; bold: boolean }): { color: number; bold: boolean } {
  let { color, bold } = before;
  const ns = params.split(/[;:]/).map(Number);
  for (let i = 0; i < ns.length; i++) {
    const n = ns[i] ?? 0;
    if (n === 0) [color, bold] = [-1, false];
    else if (n === 1) bold = true;
    else if (n === 22) bold = false;
    else if (n >= 30 && n <= 37) color = n - 30;
    else if (n >= 90 && n <= 97) color = n - 82;
    else if (n === 39) color = -1;
    else if (n === 38 || n === 48) {
      const skip = ns[i + 1] === 5 ? 2 : ns[i + 1] === 2 ? 4 : 0;
      const c = ns[i + 2] ?? -1;
      if (n === 38) color = skip === 2 && c < 16 ? c : -1; // others have no name in the theme
      i += skip;
    }
  }
  return { color, bold };
}
