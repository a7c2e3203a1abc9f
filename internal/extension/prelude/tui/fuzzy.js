// Finding by letters: all letters of a query in their order, those of a word together and
// at its beginning before others. A lower score is a better match.

function fuzzyMatch(query, text) {
  const wanted = Array.from(String(query).toLowerCase());
  const chars = Array.from(String(text).toLowerCase());
  let score = 0;
  let at = 0;
  let last = -1;
  for (const c of wanted) {
    while (at < chars.length && chars[at] !== c) at++;
    if (at === chars.length) return { matches: false, score: 0 };
    if (last >= 0 && at === last + 1) score -= 5; // together
    else if (last >= 0) score += 2 * (at - last - 1);
    if (at === 0 || /[\s\-_./:]/.test(chars[at - 1])) score -= 10; // at the beginning of a word
    score += at / 10;
    last = at++;
  }
  if (wanted.length > 0 && wanted.length === chars.length) score -= 100;
  return { matches: true, score };
}

function fuzzyFilter(items, query, getText = String) {
  const words = String(query).trim().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return Array.from(items);
  const found = [];
  for (const item of items) {
    const text = lineOf(getText(item));
    const matches = words.map((word) => fuzzyMatch(word, text));
    if (matches.every((m) => m.matches)) found.push({ item, score: matches.reduce((sum, m) => sum + m.score, 0) });
  }
  return found.sort((a, b) => a.score - b.score).map((f) => f.item);
}
