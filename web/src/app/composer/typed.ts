/**
 * What a text is for, and what is being typed at the cursor: the same as in the terminal UI
 * (docs/typing.md; internal/ui/tui/editor/mode.go and complete/token.go). Pure.
 */

/** What a text becomes when it is sent. */
export type Typed =
  | { kind: "message"; text: string }
  | { kind: "command"; name: string; args: string }
  /** inContext: the model is told of the command and what it printed. */
  | { kind: "shell"; command: string; inContext: boolean }
  | { kind: "note"; scope: "project" | "user"; text: string };

/** A note is one line with a blank after its mark. */
const note = /^(##?)(?: (.*))?$/;

/** Reads a text: its first characters say what it is for. */
export function typedOf(text: string): Typed {
  if (text.startsWith("!!")) return { kind: "shell", command: text.slice(2).trim(), inContext: false };
  if (text.startsWith("!")) return { kind: "shell", command: text.slice(1).trim(), inContext: true };
  // A letter after the slash, and no other slash in the name: else it is a path.
  const command = /^\/(?:([A-Za-z\u0080-\u{10ffff}][^\s/]*)(?:\s([\s\S]*))?)?$/u.exec(text);
  if (command) return { kind: "command", name: command[1] ?? "", args: (command[2] ?? "").trim() };
  const noted = note.exec(text.trimEnd());
  if (noted) return { kind: "note", scope: noted[1] === "##" ? "user" : "project", text: (noted[2] ?? "").trim() };
  // Two slashes, or a backslash, say that it is a message all the same.
  const marked = text.startsWith("//") || text.startsWith("\\!") || (text.startsWith("\\") && note.test(text.slice(1).trimEnd()));
  return { kind: "message", text: (marked ? text.slice(1) : text).trim() };
}

/** What is being typed before the cursor, if it can be completed; start is where it begins. */
export type Token =
  | { kind: "command"; start: number; query: string }
  | { kind: "argument"; start: number; query: string; name: string }
  | { kind: "file"; start: number; query: string };

/** Finds what is being typed at the end of what is before the cursor. */
export function tokenAt(before: string): Token | undefined {
  if (before.startsWith("!")) return undefined;
  const file = mention(before);
  if (file) return file;
  const command = /^\/(?!\/)([^\s/]*)(?: ([^\n]*))?$/.exec(before);
  if (!command) return undefined;
  const [, name = "", args] = command;
  if (args === undefined) return { kind: "command", start: 0, query: name };
  return { kind: "argument", start: before.length - args.length, query: args, name };
}

/** The @ that is being typed: one at the beginning of a word, without a blank after it unless a quotation mark is open. */
function mention(before: string): Token | undefined {
  const line = before.lastIndexOf("\n") + 1;
  const found = /(?:^|[ \t])@(?:"([^"]*)|([^\s"][^\s]*|))$/.exec(before.slice(line));
  if (!found) return undefined;
  const start = line + found.index + found[0].indexOf("@");
  return { kind: "file", start, query: found[1] ?? found[2] ?? "" };
}

/** A path after an @, so that it is read as that path again: one that a sentence would end is quoted. */
export function mentionOf(path: string): string {
  return /[ \t]|[.,;:!?)]$/.test(path) ? `@"${path}"` : `@${path}`;
}

/** How well the name of a command fits what is typed: 0 is best, undefined not at all. */
export function rank(name: string, query: string): number | undefined {
  const n = name.toLowerCase();
  const q = query.toLowerCase();
  if (n === q) return 0;
  if (n.startsWith(q)) return 1;
  if (n.split(/[-:_.]/).some((part) => part.startsWith(q))) return 2;
  return q.length > 1 && lettersIn(n, q) ? 3 : undefined;
}

/** The letters of a query stand in a text in their order, blanks aside. */
export function lettersIn(text: string, query: string): boolean {
  const t = text.toLowerCase();
  let at = -1;
  for (const letter of query.toLowerCase()) {
    if (/\s/.test(letter)) continue;
    at = t.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}
