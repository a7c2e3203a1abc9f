// Fields that a person types into. Texts hold no control characters; places in them are
// indexes as JavaScript counts, always between two characters of a person's.

const MAX_TEXT = 256 * 1024; // characters of a field
const MAX_UNDO = 100; // steps
const MAX_KILLED = 32; // pieces that were cut
const MAX_HISTORY = 100; // texts

const tidy = (text) => cells.clean(lineOf(text).replace(/\r\n?/g, "\n").replace(/\x1b\[[0-9;:]*m/g, "").split(CURSOR_MARKER).join(""));

// LONGEST is more than a character of a person's has, as JavaScript counts: what is one
// is found beside a place without reading the whole text.
const LONGEST = 128;

// before and after give the places beside a place.
function before(text, at) {
  const near = text.slice(Math.max(0, at - LONGEST), at);
  if (near === "" || ASCII.test(near)) return Math.max(0, at - 1);
  return at - cells.characters(near).pop().length;
}

function after(text, at) {
  const near = text.slice(at, at + LONGEST);
  if (near === "" || ASCII.test(near)) return Math.min(text.length, at + 1);
  return at + cells.characters(near)[0].length;
}

const kindOfCharacter = (c) => (/\s/.test(c) ? "blank" : /[\p{L}\p{N}_]/u.test(c) ? "word" : "mark");

function wordLeft(text, at) {
  while (at > 0 && kindOfCharacter(text.slice(before(text, at), at)) === "blank") at = before(text, at);
  const kind = at > 0 ? kindOfCharacter(text.slice(before(text, at), at)) : "";
  while (at > 0 && kindOfCharacter(text.slice(before(text, at), at)) === kind) at = before(text, at);
  return at;
}

function wordRight(text, at) {
  while (at < text.length && kindOfCharacter(text.slice(at, after(text, at))) === "blank") at = after(text, at);
  const kind = at < text.length ? kindOfCharacter(text.slice(at, after(text, at))) : "";
  while (at < text.length && kindOfCharacter(text.slice(at, after(text, at))) === kind) at = after(text, at);
  return at;
}

// withCursor draws a part of a text with the cursor at a place of it.
function withCursor(text, at, focused) {
  const next = at < text.length ? after(text, at) : at;
  return `${text.slice(0, at)}${focused ? CURSOR_MARKER : ""}\x1b[7m${at < text.length ? text.slice(at, next) : " "}\x1b[27m${text.slice(next)}`;
}

// rowsOf breaks a line into rows of at most width cells, between words where that can be:
// {from, to} are places in it.
function rowsOf(line, width) {
  const rows = [];
  const plain = ASCII.test(line);
  const steps = plain ? undefined : cells.steps(line);
  let from = 0;
  let used = 0;
  let space = -1; // the place after the last blank of the row
  let sinceSpace = 0;
  for (let start = 0, n = 0; start < line.length; n += 2) {
    const end = start + (plain ? 1 : steps[n]);
    const w = plain ? 1 : steps[n + 1];
    const isBlank = line[start] === " ";
    if (used + w > width && start > from) {
      const cutAt = space > from && !isBlank ? space : start;
      rows.push({ from, to: cutAt });
      used = cutAt === start ? 0 : sinceSpace;
      from = cutAt;
      space = -1;
    }
    used += w;
    sinceSpace = isBlank ? 0 : sinceSpace + w;
    if (isBlank) space = end;
    start = end;
  }
  rows.push({ from, to: line.length });
  return rows;
}

// killed has what was cut last, for all fields.
const killed = [];

function keepKilled(text) {
  if (text !== "") killed.push(text);
  if (killed.length > MAX_KILLED) killed.shift();
}

// Input is one line, which moves sideways under the cursor.
class Input extends Component {
  constructor() {
    super();
    this.value = "";
    this.cursor = 0;
    this.from = 0; // where what is shown begins
    this.focused = false;
    this.undone = [];
  }

  getValue() {
    return this.value;
  }

  setValue(value) {
    this.value = tidy(value).replace(/\n/g, " ").slice(0, MAX_TEXT);
    this.cursor = this.value.length;
  }

  replace(from, to, text) {
    if (this.value.length - (to - from) + text.length > MAX_TEXT) {
      shared.log("warning", `A field of an extension takes ${MAX_TEXT} characters; what is more was left out.`);
      text = text.slice(0, Math.max(0, MAX_TEXT - this.value.length + (to - from)));
    }
    this.undone.push([this.value, this.cursor]);
    if (this.undone.length > MAX_UNDO) this.undone.shift();
    this.value = this.value.slice(0, from) + text + this.value.slice(to);
    this.cursor = from + text.length;
  }

  cutOut(from, to) {
    keepKilled(this.value.slice(from, to));
    this.replace(from, to, "");
  }

  // moveTo gives where a key moves the cursor, undefined for one that does not.
  moveTo(data) {
    const { value, cursor } = this;
    if (does(data, "tui.editor.cursorLeft")) return before(value, cursor);
    if (does(data, "tui.editor.cursorRight")) return after(value, cursor);
    if (does(data, "tui.editor.cursorWordLeft")) return wordLeft(value, cursor);
    if (does(data, "tui.editor.cursorWordRight")) return wordRight(value, cursor);
    if (does(data, "tui.editor.cursorLineStart")) return 0;
    if (does(data, "tui.editor.cursorLineEnd")) return value.length;
    return undefined;
  }

  handleInput(data) {
    const { value, cursor } = this;
    if (isKeyRelease(data)) return;
    const to = isPaste(data) ? undefined : this.moveTo(data);
    if (to !== undefined) this.cursor = to;
    else if (isPaste(data)) this.replace(cursor, cursor, tidy(typed(data)).replace(/\n/g, ""));
    else if (does(data, "tui.select.cancel")) (this.onEscape || (() => {}))();
    else if (does(data, "tui.input.submit")) (this.onSubmit || (() => {}))(value);
    else if (does(data, "tui.editor.deleteCharBackward")) this.remove(before(value, cursor), cursor);
    else if (does(data, "tui.editor.deleteCharForward")) this.remove(cursor, after(value, cursor));
    else if (does(data, "tui.editor.deleteWordBackward")) this.cutOut(wordLeft(value, cursor), cursor);
    else if (does(data, "tui.editor.deleteWordForward")) this.cutOut(cursor, wordRight(value, cursor));
    else if (does(data, "tui.editor.deleteToLineStart")) this.cutOut(0, cursor);
    else if (does(data, "tui.editor.deleteToLineEnd")) this.cutOut(cursor, value.length);
    else if (does(data, "tui.editor.yank")) this.replace(cursor, cursor, (killed[killed.length - 1] || "").replace(/\n/g, " "));
    else if (does(data, "tui.editor.undo")) [this.value, this.cursor] = this.undone.pop() || [value, cursor];
    else this.type(typed(data));
  }

  remove(from, to) {
    if (from !== to) {
      this.replace(from, to, "");
      this.cursor = from;
    }
  }

  type(text) {
    if (text !== undefined) this.replace(this.cursor, this.cursor, tidy(text).replace(/\n/g, ""));
  }

  render(width) {
    const prompt = width > 4 ? "> " : "";
    const room = Math.max(1, width - prompt.length - 1); // the cursor has a cell at the end
    const { value, cursor } = this;
    let from = cursor;
    let used = 0;
    while (from > Math.min(this.from, cursor)) {
      const last = before(value, from);
      used += visibleWidth(value.slice(last, from));
      if (used > room) break;
      from = last;
    }
    used = Math.min(used, room);
    let to = cursor;
    while (to < value.length && to - cursor < 4 * room) {
      const next = after(value, to);
      used += visibleWidth(value.slice(to, next));
      if (used > room) break;
      to = next;
    }
    this.from = from;
    const shown = value.slice(from, to);
    return fit([padded(prompt + withCursor(shown, cursor - from, this.focused), width)], width);
  }
}

const EDITOR_SHARE = 0.3; // of the terminal's lines that an editor takes at most
const LEAST_ROWS = 5;

// Editor is a text of several lines between two borders. One that is made with the tui of
// ui.setEditorComponent stands for the editor of a terminal, its port: that has the text, and
// what is done here is tried on a copy of it.
class Editor extends Component {
  constructor(tui, editorTheme = undefined, options = {}) {
    super();
    this.tui = tui;
    this.theme = editorTheme || getEditorTheme();
    this.borderColor = painter(this.theme, "borderColor");
    this.options = options || {};
    this.paddingX = count(this.options.paddingX, 0);
    this.autocompleteMaxVisible = count(this.options.autocompleteMaxVisible, 5) || 5;
    this.focused = false;
    this.disableSubmit = false;
    this.lines = [""];
    this.line = 0;
    this.col = 0;
    this.top = 0; // the first row that is shown
    this.width = 80; // as drawn last
    this.undone = [];
    this.history = [];
    this.historyAt = -1;
    this.jump = "";
    this.port = tui && typeof tui === "object" ? shared.portOf(tui) : undefined;
    if (this.port) this.port.editors.push(this);
  }

  // take makes the copy of the terminal's text; at is how many of its characters are before the cursor.
  take(text, at) {
    const upTo = Array.from(text).slice(0, at).join("").split("\n");
    this.lines = text.split("\n");
    this.line = upTo.length - 1;
    this.col = upTo[this.line].length;
    this.undone = [];
  }

  // --- its text ---

  getText() {
    return this.lines.join("\n");
  }

  getExpandedText() {
    return this.getText();
  }

  getLines() {
    return Array.from(this.lines);
  }

  getCursor() {
    return { line: this.line, col: this.col };
  }

  setText(text) {
    if (this.port) this.port.edit({ text: tidy(text) }, tidy(text));
    this.keepUndo();
    this.put(tidy(text).slice(0, MAX_TEXT));
    this.historyAt = -1;
    this.closeSuggestions();
    this.changed();
  }

  put(text) {
    this.lines = text.split("\n");
    this.line = this.lines.length - 1;
    this.col = this.lines[this.line].length;
  }

  insertTextAtCursor(text) {
    this.keepUndo();
    this.insert(tidy(text));
    if (this.port) this.port.edit({ insert: tidy(text) }, this.getText());
    this.changed();
  }

  insert(text) {
    const room = MAX_TEXT - this.getText().length;
    if (text.length > room) {
      shared.log("warning", `An editor of an extension takes ${MAX_TEXT} characters; what is more was left out.`);
      text = text.slice(0, Math.max(0, room));
    }
    const current = this.lines[this.line];
    const parts = text.split("\n");
    const rest = current.slice(this.col);
    parts[0] = current.slice(0, this.col) + parts[0];
    const last = parts.length - 1;
    const col = parts[last].length;
    parts[last] += rest;
    this.lines.splice(this.line, 1, ...parts);
    this.line += last;
    this.col = col;
  }

  // remove takes out what is between two places, the first one before the second.
  remove(from, to, keep) {
    const gone = from.line === to.line ? this.lines[from.line].slice(from.col, to.col)
      : [this.lines[from.line].slice(from.col), ...this.lines.slice(from.line + 1, to.line), this.lines[to.line].slice(0, to.col)].join("\n");
    if (gone === "") return;
    this.keepUndo();
    if (keep) keepKilled(gone);
    const joined = this.lines[from.line].slice(0, from.col) + this.lines[to.line].slice(to.col);
    this.lines.splice(from.line, to.line - from.line + 1, joined);
    this.line = from.line;
    this.col = from.col;
    this.changed();
  }

  keepUndo() {
    this.undone.push({ lines: this.lines.slice(), line: this.line, col: this.col });
    if (this.undone.length > MAX_UNDO) this.undone.shift();
  }

  changed() {
    if (this.onChange) this.onChange(this.getText());
  }

  addToHistory(text) {
    const kept = lineOf(text).trim();
    if (kept === "" || this.history[0] === kept) return;
    this.history.unshift(kept);
    if (this.history.length > MAX_HISTORY) this.history.pop();
  }

  getPaddingX() {
    return this.paddingX;
  }

  setPaddingX(padding) {
    this.paddingX = count(padding, 0);
  }

  getAutocompleteMaxVisible() {
    return this.autocompleteMaxVisible;
  }

  setAutocompleteMaxVisible(maxVisible) {
    this.autocompleteMaxVisible = Math.max(3, Math.min(20, count(maxVisible, 5)));
  }

  // --- what it looks like ---

  // rows gives the rows of all lines at a width.
  rows(width) {
    const room = Math.max(1, inner(width, this.paddingX) - 1); // the cursor has a cell at the end
    const kept = this.broken && this.broken.room === room ? this.broken.rows : new Map();
    const rows = new Map(); // by line, those of the lines that there are
    const all = [];
    this.lines.forEach((text, line) => {
      const broken = rows.get(text) || kept.get(text) || rowsOf(text, room);
      rows.set(text, broken);
      broken.forEach(({ from, to }, i) => all.push({ from, to, line, last: i === broken.length - 1 }));
    });
    this.broken = { room, rows };
    return all;
  }

  rowOfCursor(rows) {
    return rows.findIndex((row) => row.line === this.line && this.col >= row.from && (this.col < row.to || row.last));
  }

  border(width, hidden, arrow) {
    if (hidden === 0) return this.borderColor("─".repeat(width));
    const words = `─── ${arrow} ${hidden} more `;
    return this.borderColor(truncateToWidth(words + "─".repeat(Math.max(0, width - words.length)), width, ""));
  }

  render(width) {
    this.width = width;
    if (this.port && width === this.port.width && this.port.lines.length > 0) return Array.from(this.port.lines);
    const rows = this.rows(width);
    const cursor = this.rowOfCursor(rows);
    const lines = this.tui && this.tui.terminal && this.tui.terminal.rows ? this.tui.terminal.rows : 24;
    const most = Math.max(LEAST_ROWS, Math.floor(lines * EDITOR_SHARE));
    this.top = Math.max(0, Math.min(this.top, rows.length - most, cursor));
    if (cursor >= this.top + most) this.top = cursor - most + 1;
    const bottom = Math.min(rows.length, this.top + most);
    const side = blank(Math.min(this.paddingX, width - 1));
    const out = [this.border(width, this.top, "↑")];
    for (let n = this.top; n < bottom; n++) {
      const text = this.lines[rows[n].line].slice(rows[n].from, rows[n].to);
      out.push(padded(side + (n === cursor ? withCursor(text, this.col - rows[n].from, this.focused) : text), width));
    }
    out.push(this.border(width, rows.length - bottom, "↓"));
    if (this.suggestions) for (const line of this.suggestions.list.render(inner(width, this.paddingX))) out.push(side + line);
    return fit(out, width);
  }

  // --- keys ---

  handleInput(data) {
    if (!this.port) return void this.typeKey(data);
    this.port.key(data);
    if (does(data, "tui.input.submit") || does(data, "tui.input.tab") || does(data, "tui.editor.yank")) return undefined; // only the terminal knows
    this.port.passing = true;
    try {
      this.typeKey(data);
    } finally {
      this.port.passing = false;
    }
    return undefined;
  }

  typeKey(data) {
    if (isKeyRelease(data)) return;
    if (isPaste(data)) return void this.insertTextAtCursor(typed(data));
    if (this.jump !== "" && this.jumpTo(typed(data))) return;
    if (this.suggestions && this.suggestionKey(data)) return;
    if (this.editKey(data) || this.moveKey(data)) return;
    const text = typed(data);
    if (text === undefined) return;
    this.keepUndo();
    this.insert(tidy(text));
    this.changed();
    this.suggest(false);
  }

  newLine() {
    this.keepUndo();
    this.insert("\n");
    this.closeSuggestions();
    this.changed();
  }

  submit() {
    const line = this.lines[this.line];
    if (this.col > 0 && line[this.col - 1] === "\\") { // for terminals that send the same for all kinds of Enter
      this.lines[this.line] = line.slice(0, this.col - 1) + line.slice(this.col);
      this.col--;
      return this.newLine();
    }
    if (this.disableSubmit) return undefined;
    const text = this.getExpandedText().trim();
    this.put("");
    this.undone = [];
    this.historyAt = -1;
    this.closeSuggestions();
    this.changed();
    if (this.onSubmit) this.onSubmit(text);
    return undefined;
  }

  editKey(data) {
    const here = this.getCursor();
    const line = this.lines[this.line];
    const back = () => (this.col > 0 ? { line: this.line, col: before(line, this.col) } : this.endOf(this.line - 1));
    const ahead = () => (this.col < line.length ? { line: this.line, col: after(line, this.col) } : this.startOf(this.line + 1));
    if (does(data, "tui.input.newLine")) this.newLine();
    else if (does(data, "tui.input.submit")) this.submit();
    else if (does(data, "tui.input.tab")) this.suggest(true);
    else if (does(data, "tui.editor.deleteCharBackward")) this.remove(back() || here, here, false);
    else if (does(data, "tui.editor.deleteCharForward")) this.remove(here, ahead() || here, false);
    else if (does(data, "tui.editor.deleteWordBackward")) this.remove(this.col > 0 ? { line: this.line, col: wordLeft(line, this.col) } : back() || here, here, true);
    else if (does(data, "tui.editor.deleteWordForward")) this.remove(here, this.col < line.length ? { line: this.line, col: wordRight(line, this.col) } : ahead() || here, true);
    else if (does(data, "tui.editor.deleteToLineStart")) this.remove(this.col > 0 ? this.startOf(this.line) : back() || here, here, true);
    else if (does(data, "tui.editor.deleteToLineEnd")) this.remove(here, this.col < line.length ? this.endOf(this.line) : ahead() || here, true);
    else if (does(data, "tui.editor.yank")) this.insertTextAtCursor(killed[killed.length - 1] || "");
    else if (does(data, "tui.editor.undo")) this.undo();
    else if (does(data, "tui.editor.jumpForward")) this.jump = "forward";
    else if (does(data, "tui.editor.jumpBackward")) this.jump = "backward";
    else return false;
    if (this.suggestions) this.suggest(false);
    return true;
  }

  undo() {
    const last = this.undone.pop();
    if (!last) return;
    Object.assign(this, last);
    this.changed();
  }

  startOf(line) {
    return line < this.lines.length ? { line, col: 0 } : undefined;
  }

  endOf(line) {
    return line >= 0 ? { line, col: this.lines[line].length } : undefined;
  }

  goTo(place) {
    if (place) {
      this.line = place.line;
      this.col = place.col;
    }
  }

  moveKey(data) {
    const line = this.lines[this.line];
    if (does(data, "tui.editor.cursorUp")) this.vertical(-1);
    else if (does(data, "tui.editor.cursorDown")) this.vertical(1);
    else if (does(data, "tui.editor.pageUp")) this.vertical(-LEAST_ROWS);
    else if (does(data, "tui.editor.pageDown")) this.vertical(LEAST_ROWS);
    else if (does(data, "tui.editor.cursorLeft")) this.goTo(this.col > 0 ? { line: this.line, col: before(line, this.col) } : this.endOf(this.line - 1));
    else if (does(data, "tui.editor.cursorRight")) this.goTo(this.col < line.length ? { line: this.line, col: after(line, this.col) } : this.startOf(this.line + 1));
    else if (does(data, "tui.editor.cursorWordLeft")) this.goTo(this.col > 0 ? { line: this.line, col: wordLeft(line, this.col) } : this.endOf(this.line - 1));
    else if (does(data, "tui.editor.cursorWordRight")) this.goTo(this.col < line.length ? { line: this.line, col: wordRight(line, this.col) } : this.startOf(this.line + 1));
    else if (does(data, "tui.editor.cursorLineStart")) this.col = 0;
    else if (does(data, "tui.editor.cursorLineEnd")) this.col = line.length;
    else return false;
    return true;
  }

  // vertical moves by rows; beyond the first and the last one are the texts of before.
  vertical(by) {
    const rows = this.rows(this.width);
    const at = this.rowOfCursor(rows);
    const to = at + by;
    if (to < 0 && at === 0 && (this.getText() === "" || this.historyAt >= 0)) return this.fromHistory(1);
    if (to >= rows.length && at === rows.length - 1 && this.historyAt >= 0) return this.fromHistory(-1);
    const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
    const wanted = visibleWidth(this.lines[this.line].slice(rows[at].from, this.col));
    const text = this.lines[row.line].slice(row.from, row.to);
    let col = 0;
    for (let end = after(text, 0), used = 0; col < text.length; end = after(text, col)) {
      used += visibleWidth(text.slice(col, end));
      if (used > wanted || (end === text.length && !row.last)) break;
      col = end;
    }
    if (to < 0) col = 0;
    else if (to >= rows.length) col = text.length;
    this.line = row.line;
    this.col = row.from + col;
    return undefined;
  }

  fromHistory(by) {
    const to = this.historyAt + by;
    if (to >= this.history.length || to < -1) return;
    this.put(to < 0 ? "" : this.history[to]);
    this.historyAt = to;
    this.changed();
  }

  // jumpTo moves to the next place of a character.
  jumpTo(character) {
    const forward = this.jump === "forward";
    this.jump = "";
    if (character === undefined) return false;
    const text = this.getText();
    const here = this.lines.slice(0, this.line).reduce((n, line) => n + line.length + 1, 0) + this.col;
    const found = forward ? text.indexOf(character, here + 1) : here > 0 ? text.lastIndexOf(character, here - 1) : -1;
    if (found >= 0) {
      const upTo = text.slice(0, found).split("\n");
      this.goTo({ line: upTo.length - 1, col: upTo[upTo.length - 1].length });
    }
    return true;
  }

  // --- suggestions of a provider ---

  setAutocompleteProvider(provider) {
    this.provider = provider;
    this.closeSuggestions();
  }

  isShowingAutocomplete() {
    return this.suggestions !== undefined;
  }

  closeSuggestions() {
    this.suggestions = undefined;
    if (this.asking) this.asking.abort();
    this.asking = undefined;
  }

  // suggest asks the provider: when Tab asks for it, when something is shown, and while a
  // word that begins with / at the start, with @ or with # is typed.
  async suggest(force) {
    if (!this.provider) return;
    const typedSoFar = this.lines[this.line].slice(0, this.col);
    if (!force && !this.suggestions && !/(^\/\S*|(^|\s)[@#]\S*)$/.test(typedSoFar)) return;
    if (this.asking) this.asking.abort();
    const asking = new AbortController();
    this.asking = asking;
    let found;
    try {
      found = await this.provider.getSuggestions(this.getLines(), this.line, this.col, { signal: asking.signal, force });
    } catch (err) {
      if (!asking.signal.aborted) shared.log("warning", "The suggestions of an editor failed:", err);
    }
    if (this.asking !== asking) return;
    this.asking = undefined;
    this.suggestions = undefined;
    if (found && Array.isArray(found.items) && found.items.length > 0) {
      this.suggestions = { prefix: lineOf(found.prefix), list: new SelectList(found.items, this.autocompleteMaxVisible, (this.theme || {}).selectList) };
    }
    if (this.tui && this.tui.requestRender) this.tui.requestRender();
  }

  // suggestionKey reports whether a key was for the list of suggestions.
  suggestionKey(data) {
    const { list, prefix } = this.suggestions;
    if (does(data, "tui.select.cancel")) this.closeSuggestions();
    else if (does(data, "tui.select.up") || does(data, "tui.select.down") || does(data, "tui.select.pageUp") || does(data, "tui.select.pageDown")) list.handleInput(data);
    else if (does(data, "tui.input.tab") || does(data, "tui.select.confirm")) {
      const item = list.getSelectedItem();
      const isCommand = prefix.startsWith("/") && does(data, "tui.select.confirm");
      this.closeSuggestions();
      if (item) {
        this.keepUndo();
        const next = this.provider.applyCompletion(this.getLines(), this.line, this.col, item, prefix);
        this.lines = next.lines.map(String);
        this.goTo({ line: next.cursorLine, col: next.cursorCol });
        this.changed();
      }
      return !isCommand;
    } else return false;
    return true;
  }
}

// CustomEditor is an editor whose keys for the program go to handlers.
class CustomEditor extends Editor {
  constructor(tui, editorTheme = undefined, manager = keybindings, options = {}) {
    super(tui, editorTheme, options);
    this.keybindings = manager && manager.matches ? manager : keybindings;
    this.actionHandlers = new Map();
  }

  onAction(action, handler) {
    this.actionHandlers.set(action, handler);
  }

  // programKey reports whether a key was for the program.
  programKey(data) {
    const is = (name) => this.keybindings.matches(data, name);
    if (this.onExtensionShortcut && this.onExtensionShortcut(data)) return true;
    if (is("app.clipboard.pasteImage") && this.onPasteImage) {
      this.onPasteImage();
      return true;
    }
    if (is("app.interrupt")) {
      if (this.isShowingAutocomplete()) return false;
      const handler = this.onEscape || this.actionHandlers.get("app.interrupt");
      if (handler) handler();
      return handler !== undefined;
    }
    if (is("app.exit")) {
      const handler = this.onCtrlD || this.actionHandlers.get("app.exit");
      if (this.getText() !== "" || !handler) return false;
      handler();
      return true;
    }
    for (const [action, handler] of this.actionHandlers) {
      if (action !== "app.interrupt" && action !== "app.exit" && is(action)) {
        handler();
        return true;
      }
    }
    return false;
  }

  handleInput(data) {
    if (!this.programKey(data)) super.handleInput(data);
  }
}
