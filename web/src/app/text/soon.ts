/** Calls work when the browser has nothing better to do, at the latest after a moment. The function that is returned calls it off. */
export function soon(work: () => void): () => void {
  if (typeof requestIdleCallback === "function") {
    const id = requestIdleCallback(work, { timeout: 500 });
    return () => cancelIdleCallback(id);
  }
  const id = setTimeout(work, 16); // Safari
  return () => clearTimeout(id);
}
