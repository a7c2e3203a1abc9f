/** What this browser keeps beside sessions: short words. Without storage it lasts as long as the page. */
const prefix = "scorel.";
const memory = new Map<string, string>();

export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(prefix + name) ?? memory.get(name);
  } catch {
    return memory.get(name); // a private window may have no storage
  }
}

/** Keeps a value; undefined forgets it. It reports whether it outlives the page. */
export function keep(name: string, value: string | undefined): boolean {
  if (value === undefined) memory.delete(name);
  else memory.set(name, value);
  try {
    if (value === undefined) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, value);
    return true;
  } catch {
    return false;
  }
}

/** The names that begin so under which something is kept. */
export function keptNames(start: string): string[] {
  const names = new Set([...memory.keys()].filter((n) => n.startsWith(start)));
  try {
    for (const n of Object.keys(localStorage)) if (n.startsWith(prefix + start)) names.add(n.slice(prefix.length));
  } catch {
    // a private window may have no storage
  }
  return [...names];
}
