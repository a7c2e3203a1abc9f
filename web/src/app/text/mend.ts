/**
 * Completes the end of Markdown that is still coming in, so that what is shown changes only at its
 * end: bold text is bold before its closing mark is there, and a rule below a paragraph that is
 * really the beginning of a list does not make a heading of it for a moment.
 */
export function mend(text: string): string {
  const from = Math.max(text.lastIndexOf("\n\n") + 2, 0);
  const begin = text.lastIndexOf("\n\n") < 0 ? 0 : from;
  const head = text.slice(0, begin);
  let last = text.slice(begin);
  if (inFence(text)) return text;
  // A mark of a list, or a rule that would make a heading: it is shown with what follows.
  last = last.replace(/(^|\n)[ \t]*(?:[-+*]|-{2,}|=+|\d{1,9}[.)]?|#{1,6}|>)[ \t]*$/, "$1");
  if (/^ {0,3}\|/.test(last)) return head + table(last);
  last = last.replace(/!?\[([^\]\n]*)\]\([^)\n]*$/, "$1").replace(/(^|\s)!?\[([^\]\n]*)$/, "$1$2");
  return head + marks(last);
}

function inFence(text: string): boolean {
  let open = "";
  for (const m of text.matchAll(/^[ \t]*(?:[-*+]|\d{1,9}[.)])?[ \t]*(`{3,}|~{3,})/gm)) {
    const run = m[1] ?? "";
    if (!open) open = run;
    else if (run[0] === open[0] && run.length >= open.length) open = "";
  }
  return open !== "";
}

/** A table whose head has come in, but not the rule below it. */
function table(text: string): string {
  const [first = "", second, ...more] = text.split("\n");
  if (more.length > 0 || (second !== undefined && !/^[\s|:-]*$/.test(second))) return text;
  const cells = first.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").length;
  return `${first}\n|${"-|".repeat(cells)}`;
}

/** Closes code spans and emphasis, or takes away a mark that nothing follows yet. */
function marks(text: string): string {
  const open: string[] = [];
  let end = text.length;
  for (let at = 0; at < text.length; ) {
    const c = text[at] ?? "";
    if (c === "\\") {
      at += 2;
      continue;
    }
    if (c !== "`" && c !== "*" && c !== "_" && c !== "~") {
      at++;
      continue;
    }
    let after = at;
    while (text[after] === c) after++;
    const run = text.slice(at, after);
    if (c === "`") {
      const close = closing(text, after, run.length);
      if (close < 0) return after === text.length ? closed(text.slice(0, at), open) : closed(`${text.replace(/`+$/, "")}${run}`, open);
      at = close;
      continue;
    }
    const before = /\S/.test(text[at - 1] ?? " ");
    const ahead = /\S/.test(text[after] ?? " ");
    const inWord = c === "_" && /\w/.test(text[at - 1] ?? " ") && /\w/.test(text[after] ?? " ");
    if (open.at(-1) === run && before) open.pop();
    else if (after === text.length) end = at;
    else if (ahead && !inWord && (c !== "~" || run.length === 2) && run.length <= 3) open.push(run);
    at = after;
  }
  return closed(text.slice(0, end), open);
}

function closed(text: string, open: readonly string[]): string {
  if (open.length === 0) return text;
  return text.trimEnd() + [...open].reverse().join("");
}

/** The end of the run of so many backticks at or after from, -1 for none. */
function closing(text: string, from: number, length: number): number {
  for (let at = text.indexOf("`", from); at >= 0; at = text.indexOf("`", at)) {
    const begin = at;
    while (text[at] === "`") at++;
    if (at - begin === length) return at;
  }
  return -1;
}
