/** Waits before a part of the page is asked for again that did not come, in milliseconds. */
const againAfterMs = [300, 1000, 3000];

/** What load brings, which is tried again when the line broke: a phone changes its network while a part is on its way. */
export async function loaded<T>(load: () => Promise<T>): Promise<T> {
  for (const wait of againAfterMs) {
    try {
      return await load();
    } catch {
      await new Promise((done) => setTimeout(done, wait));
    }
  }
  return load();
}
