/** The folders of a list of paths; nothing here draws. */

export interface Folder {
  name: string;
  /** from the folder of the project, "" for itself */
  path: string;
  folders: Folder[];
  /** whole paths */
  files: string[];
}

const compare = new Intl.Collator(undefined, { numeric: true }).compare;

/** Sorts paths into their folders, each by name, folders first. */
export function treeOf(paths: Iterable<string>): Folder {
  const root: Folder = { name: "", path: "", folders: [], files: [] };
  const known = new Map<string, Folder>([["", root]]);
  const folder = (path: string): Folder => {
    const found = known.get(path);
    if (found) return found;
    const at = path.lastIndexOf("/");
    const made: Folder = { name: path.slice(at + 1), path, folders: [], files: [] };
    known.set(path, made);
    folder(at < 0 ? "" : path.slice(0, at)).folders.push(made);
    return made;
  };
  for (const p of new Set(paths)) folder(p.includes("/") ? p.slice(0, p.lastIndexOf("/")) : "").files.push(p);
  for (const f of known.values()) {
    f.folders.sort((a, b) => compare(a.name, b.name));
    f.files.sort(compare);
  }
  return root;
}
