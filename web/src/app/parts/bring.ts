/**
 * Stands for what Vite has before each import() of a part of the page (see vite.config.ts). A browser
 * may remember for as long as the page is open that a module did not come, and ask for it no more; so
 * the files of a part are fetched first, into the browser's cache, and what did not come is asked for
 * with the next try.
 */

/** The addresses that have come, or that the document itself has asked for. */
let here: Set<string> | undefined;

/** What load brings, once the files that it needs have come; from is the address of who asks. */
export async function bring<T>(load: () => Promise<T>, files: readonly string[] = [], from = document.baseURI): Promise<T> {
  here ??= new Set(Array.from(document.querySelectorAll<HTMLLinkElement>("link[href]"), (l) => l.href));
  await Promise.all(files.map((f) => come(new URL(f, from).href)));
  return load();
}

const coming = new Map<string, Promise<void>>();

function come(url: string): Promise<void> {
  if (here?.has(url)) return Promise.resolve();
  const before = coming.get(url);
  if (before) return before;
  const now = (new URL(url).pathname.endsWith(".css") ? style(url) : script(url)).then(
    () => {
      here?.add(url);
      coming.delete(url);
    },
    (e: unknown) => {
      coming.delete(url);
      throw e;
    },
  );
  coming.set(url, now);
  return now;
}

async function script(url: string): Promise<void> {
  const got = await fetch(url);
  if (!got.ok) throw new Error(`${url}: ${got.status}`);
  await got.arrayBuffer();
}

function style(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.crossOrigin = "";
    link.href = url;
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      link.remove();
      reject(new Error(url));
    });
    document.head.append(link);
  });
}
