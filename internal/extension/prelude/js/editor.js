// An editor of terminals that the extension draws. The text and its cursor stay the
// terminal's: it sends each key with its editor as it is, and what a component's super gets
// of that goes back as edits. Each terminal has a component of its own.

const MAX_EDITORS = 8; // terminals whose components are kept
const MAX_LATE = 256; // edits that wait for a terminal
const ports = new WeakMap(); // by the object `tui` of a factory
let replaced; // {factory, id, rev, timer, made: by client {component, port}, spare}

// EditorPort is the editor of one terminal, for the components that are made of it.
class EditorPort {
  constructor() {
    this.editors = []; // that stand for it
    this.edits = undefined; // what the terminal is to do; undefined between two calls
    this.late = []; // what came between two calls, as of a timer
    this.text = "";
    this.lines = [];
    this.width = 80;
    this.passing = false; // a key is tried on a copy of the text
  }

  begin({ text, before, lines, cursor }, width) {
    this.text = text;
    this.width = width;
    this.lines = (lines || []).map((line, row) => (cursor && cursor.row === row ? markedAt(line, cursor.column) : line));
    this.edits = this.late.splice(0);
    for (const editor of this.editors) editor.take(text, before);
  }

  end() {
    const edits = this.edits;
    this.edits = undefined;
    return edits;
  }

  // edit has the terminal do something.
  edit(what, text) {
    if (this.passing) return;
    if (this.edits) this.edits.push(what);
    else if (what.insert !== undefined) this.later(what);
    else ui.setEditorText(text);
  }

  // key has the terminal take a key.
  key(data) {
    if (this.edits) this.edits.push({ key: data });
    else this.later({ key: data });
  }

  // later has the terminal ask for what came when it had not asked.
  later(edit) {
    if (this.late.length === MAX_LATE) {
      attemptOnce("the editor", () => {
        throw new Error(`More than ${MAX_LATE} keys and texts wait for the terminal, so the others are left out.`);
      });
      return;
    }
    this.late.push(edit);
    editorChanged();
  }
}

// markedAt gives a line with the cursor at a cell.
function markedAt(line, column) {
  let at = 0;
  let used = 0;
  while (at < line.length && used < column) {
    const near = line.slice(at, at + 128);
    const sgr = /^\x1b\[[0-9;:]*m/.exec(near);
    if (sgr) {
      at += sgr[0].length;
      continue;
    }
    const [length, width] = /^[ -~]/.test(near) ? [1, 1] : host.cells.steps(near.split("\x1b")[0] || near[0]);
    at += length;
    used += width;
  }
  return `${line.slice(0, at)}${" ".repeat(Math.max(0, column - used))}${CURSOR_MARK}${line.slice(at)}`;
}

function makeEditor() {
  const here = "A component of Scorel has no terminal of its own.";
  const port = new EditorPort();
  const tui = {
    requestRender: editorChanged,
    terminal: { get columns() { return port.width; }, rows: 24, kittyProtocolActive: false, write: refusal("tui.terminal.write", here) },
    setFocus() {},
    start: refusal("tui.start", here),
    stop: refusal("tui.stop", here),
    addInputListener: refusal("tui.addInputListener", here),
    showOverlay: refusal("tui.showOverlay", "Call ui.custom for a component that takes keys."),
    hideOverlay() {},
  };
  ports.set(tui, port);
  const component = replaced.factory(tui, components().editorTheme(), components().keybindings);
  if (!component || typeof component.render !== "function" || typeof component.handleInput !== "function") {
    throw new TypeError("The factory of ui.setEditorComponent gives an object with render(width) and handleInput(data).");
  }
  if (port.editors.length === 0) {
    throw new TypeError("ui.setEditorComponent takes a CustomEditor, made with the tui that the factory gets: the text is the terminal's.");
  }
  if ("focused" in component) component.focused = true;
  return { component, port };
}

function editorOf(client) {
  const made = replaced.made.get(client) || replaced.spare || makeEditor();
  replaced.spare = undefined;
  replaced.made.delete(client);
  replaced.made.set(client, made); // the newest is the last
  if (replaced.made.size > MAX_EDITORS) {
    const [[oldest, { component }]] = replaced.made;
    replaced.made.delete(oldest);
    disposeOf(component);
  }
  return made;
}

function disposeOf(component) {
  if (typeof component.dispose === "function") component.dispose();
}

function setEditorComponent(factory) {
  const old = replaced;
  replaced = undefined;
  if (old) {
    clearTimeout(old.timer);
    for (const { component } of old.made.values()) disposeOf(component);
    if (old.spare) disposeOf(old.spare.component);
    showLines("scorel:editorComponent", "editorComponent", null);
  }
  if (factory === undefined || factory === null) return;
  replaced = { factory: need("function", factory, "What ui.setEditorComponent gets"), id: crypto.randomUUID(), rev: 0, ready: false, timer: undefined, made: new Map(), spare: undefined };
  try {
    replaced.spare = makeEditor();
    replaced.ready = true;
  } catch (err) {
    replaced = undefined;
    throw err;
  }
  editorChanged();
}

function editorChanged() {
  const now = replaced;
  if (!now || !now.ready || now.timer !== undefined) return;
  const show = () => showLines("scorel:editorComponent", "editorComponent", [`${now.id} ${++now.rev}`]);
  if (now.rev === 0) { // with what else the handler asks for
    show();
    return;
  }
  now.timer = setTimeout(() => {
    now.timer = undefined;
    if (replaced === now && !ended) show();
  }, AREA_EVERY);
}

// renderEditor brings keys to the component of a terminal. A key that it fails at is the
// terminal's.
function renderEditor({ width, editor }) {
  if (!replaced || !editor) return null;
  const { component, port } = editorOf(editor.client);
  port.begin(editor, width);
  for (const key of editor.data || []) {
    const before = port.edits.length;
    attemptOnce("handleInput of the editor", () => component.handleInput(key), () => {
      if (port.edits.length === before) port.key(key);
    });
  }
  let cursor;
  let body;
  if (port.edits.length === 0) { // else the terminal asks again, with what came of it
    attemptOnce("render of the editor", () => {
      const made = component.render(width);
      if (!Array.isArray(made)) throw new TypeError("render gives a list of lines.");
      body = made.slice(0, MAX_LINES + 1).map((line, row) => {
        const parts = String(line).split(CURSOR_MARK);
        if (parts.length > 1) cursor = { row, column: host.cells.column(parts[0]) };
        return parts.join("");
      });
    });
  }
  return { edits: port.end(), body, cursor };
}

// attemptOnce calls a part of a component; an error of one is reported once.
function attemptOnce(what, call, failed) {
  try {
    call();
  } catch (err) {
    if (!failedRenderers.has(what)) {
      failedRenderers.add(what);
      handlerFailed(what, err);
    }
    if (failed) failed();
  }
}
