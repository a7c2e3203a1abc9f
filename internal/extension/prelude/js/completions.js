// What extensions offer while a message is typed. A terminal sends what of the line is before
// the cursor, when a word of it begins with a sign such as #.

const completers = []; // factories of providers; each gets the one before
let completer; // the provider that they make

const lastCompleter = {
  getSuggestions: async () => null,
  applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
    const line = lines[cursorLine];
    const start = line.slice(0, cursorCol - prefix.length) + item.value;
    return { lines: lines.map((l, i) => (i === cursorLine ? start + line.slice(cursorCol) : l)), cursorLine, cursorCol: start.length };
  },
  shouldTriggerFileCompletion: () => true,
};

function addAutocompleteProvider(factory) {
  completers.push(need("function", factory, "What ui.addAutocompleteProvider gets"));
  completer = completers.reduce((current, make) => make(current), lastCompleter);
  if (!completer || typeof completer.getSuggestions !== "function") {
    completers.pop();
    throw new TypeError("The factory of ui.addAutocompleteProvider gives an object with getSuggestions.");
  }
  showLines("scorel:completions", "completions", ["on"]);
  changed();
}

async function completeInput(before) {
  let found = null;
  try {
    if (completer) found = await completer.getSuggestions([before], 0, before.length, { signal: new AbortController().signal, force: false });
    if (found && !Array.isArray(found.items)) throw new TypeError("getSuggestions gives null, or an object with the list items.");
  } catch (err) {
    attemptOnce("an autocomplete provider", () => {
      throw err;
    });
    return { items: [] };
  }
  if (!found) return { items: [] };
  return {
    prefix: String(found.prefix || ""),
    items: found.items.slice(0, MAX_COMPLETIONS).map((item) => ({ value: String(item.value), label: item.label, description: item.description })),
  };
}
