/** What fits a text that was typed, and when it is worth a search in contents. */

/** Words that search_sessions takes. */
const maxWords = 16;

export function asWords(text: string): string[] {
  return text.split(/\s+/).filter(Boolean).slice(0, maxWords);
}

/** Every word is in one of the texts, in any case; no words fit everything. */
export function fits(text: string, ...texts: string[]): boolean {
  const all = texts.join("\n").toLowerCase();
  return asWords(text.toLowerCase()).every((word) => all.includes(word));
}

/** Three letters are worth a search, and one character of a script that has a word in few of them. */
export function searchable(text: string): boolean {
  return text.length >= 3 || /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(text);
}
