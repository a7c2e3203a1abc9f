/**
 * Markdown that grows is parsed in pieces: what is before the newest place where a block has ended
 * for good is not parsed again. Such a place is an empty line outside of fenced code that is
 * followed by a line that continues nothing: no indentation, no list, no quote, no table, no note.
 */

/** Longer texts are shown as they are: nobody reads them as a page. */
export const maxMarkdown = 512 << 10;

/** Pieces of a text, all but the last of which stay as they are when the text grows. */
export function pieces(text: string): string[] {
  const out: string[] = [];
  let start = 0;
  let fence = "";
  let blank = false;
  let references = false; // they count for the whole text
  let at = 0;
  while (at < text.length) {
    let end = text.indexOf("\n", at);
    if (end < 0) end = text.length;
    const line = text.slice(at, end);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== "") {
      if (mark && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = "";
    } else if (mark) {
      if (blank && at > start) {
        out.push(text.slice(start, at));
        start = at;
      }
      fence = mark;
    } else if (/^ {0,3}\[[^\]]+\]:/.test(line)) {
      references = true;
    } else if (blank && at > start && /^[^\s>|\-*+\d:]/.test(line) && end < text.length) {
      out.push(text.slice(start, at));
      start = at;
    }
    blank = fence === "" && line.trim() === "";
    at = end + 1;
  }
  out.push(text.slice(start));
  return references ? [text] : out;
}
