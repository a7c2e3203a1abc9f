/** Where a long message of a person is folded: pure, and tested without a page. */

/** How many lines of a message of a person are shown before it is unfolded: as in the terminal UI. */
const maxShown = 40;

/** Where the lines end that are shown, and how many follow; undefined if all are shown. One more line takes no more place than to say so. */
export function foldAt(text: string): { at: number; more: number } | undefined {
  let at = -1;
  for (let n = 0; n < maxShown; n++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) return undefined;
  }
  const more = text
    .slice(at + 1)
    .trimEnd()
    .split("\n").length;
  return more > 1 ? { at: at + 1, more } : undefined;
}
