/** What a typed path names: the folder whose folders are listed, and the beginning of a name in it. */

export interface Typed {
  /** as list_directories takes it; a name with a dot asks for hidden ones */
  ask: string;
  /** the folder with / at its end, as typed */
  dir: string;
  part: string;
}

export function readPath(text: string): Typed {
  const path = text === "" || text === "~" ? "~/" : text;
  const at = path.lastIndexOf("/");
  const dir = path.slice(0, at + 1);
  const part = path.slice(at + 1);
  return { ask: part.startsWith(".") ? `${dir}.` : dir, dir, part };
}

/** The folder that a typed path names: without / at its end, except / itself. */
export function folderOf(text: string): string {
  return text.trim().replace(/(.)\/+$/, "$1");
}

/** The folder above, with / at its end; / is above all. */
export function above(dir: string): string {
  const path = folderOf(dir);
  return path.slice(0, path.lastIndexOf("/") + 1) || "/";
}

/** Names that begin with what was typed, then those that have it inside, in any case. */
export function matching<T extends { name: string }>(entries: readonly T[], part: string): T[] {
  const want = part.toLowerCase();
  if (want === "") return [...entries];
  const first = entries.filter((e) => e.name.toLowerCase().startsWith(want));
  return [...first, ...entries.filter((e) => !first.includes(e) && e.name.toLowerCase().includes(want))];
}
