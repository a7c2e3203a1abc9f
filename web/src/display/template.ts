/** Fills the templates of {@link Display}: the twin of protocol/display/template.go. */

/** The value of a member of an event, undefined when it is not there. */
export type Value = string | number | boolean | readonly unknown[] | undefined;

/** The value of the member of an event at a path such as "changes.name". */
export function member(event: object, path: string): Value {
  let at: unknown = event;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  if (typeof at === "string" || typeof at === "number" || typeof at === "boolean" || Array.isArray(at)) return at;
  return undefined;
}

/** Whether a condition holds: ?path, !path, +path, ?path=word or !path=word. */
export function holds(event: object, condition: string): boolean {
  const [path, word] = cut(condition.slice(1), "=");
  const value = member(event, path);
  const is = word === undefined ? !empty(value) : value === word;
  switch (condition[0]) {
    case "+":
      return value !== undefined;
    case "!":
      return !is;
  }
  return is;
}

/** A template with its members filled in; safe makes a text safe to show. */
export function fill(event: object, template: string, safe: (s: string) => string): string {
  let out = "";
  for (;;) {
    const open = template.indexOf("{");
    if (open < 0) return out + template;
    const end = closing(template, open);
    out += template.slice(0, open);
    if (end < 0) return out;
    out += part(event, template.slice(open + 1, end), safe);
    template = template.slice(end + 1);
  }
}

function part(event: object, text: string, safe: (s: string) => string): string {
  if (/^[?!+]/.test(text)) {
    const [condition, then] = cut(text, ":");
    return then !== undefined && holds(event, condition) ? fill(event, then, safe) : "";
  }
  const [path, filter] = cut(text, "|");
  const value = member(event, path);
  const [name, word] = cut(filter ?? "", ":");
  switch (name) {
    case "count":
      return thousands(size(value));
    case "duration":
      return duration(size(value));
    case "plural":
      return `${thousands(size(value))} ${word ?? ""}${size(value) === 1 ? "" : "s"}`;
  }
  if (value === undefined) return "";
  if (Array.isArray(value)) return safe(value.filter((v) => typeof v === "string").join(", "));
  return typeof value === "string" ? safe(value) : String(value);
}

function empty(value: Value): boolean {
  return value === undefined || value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
}

/** A number, or how many entries a list has. */
function size(value: Value): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === "number" ? value : 0;
}

function cut(s: string, at: string): [string, string | undefined] {
  const i = s.indexOf(at);
  return i < 0 ? [s, undefined] : [s.slice(0, i), s.slice(i + at.length)];
}

/** The index of the brace that closes the one at open, -1 without one. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  return -1;
}

function thousands(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Milliseconds as 350ms, 1.2s, 2m0s or 1h0m0s; from a second on they are rounded to tenths. */
function duration(ms: number): string {
  if (ms === 0) return "0s";
  if (ms < 1000) return `${ms}ms`;
  const tenths = Math.round(ms / 100);
  const seconds = `${(tenths % 600) / 10}s`;
  const minutes = Math.floor(tenths / 600);
  if (minutes === 0) return seconds;
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}
