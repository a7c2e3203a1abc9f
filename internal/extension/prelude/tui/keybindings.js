// Key bindings: names of what keys do, and the keys that do it.

const TUI_KEYBINDINGS = {};
const appKeybindings = {};
for (const [table, prefix, list] of [
  [TUI_KEYBINDINGS, "tui.editor", {
    cursorUp: ["up"], cursorDown: ["down"], cursorLeft: ["left", "ctrl+b"], cursorRight: ["right", "ctrl+f"],
    cursorWordLeft: ["alt+left", "ctrl+left", "alt+b"], cursorWordRight: ["alt+right", "ctrl+right", "alt+f"],
    cursorLineStart: ["home", "ctrl+a"], cursorLineEnd: ["end", "ctrl+e"], jumpForward: ["ctrl+]"], jumpBackward: ["ctrl+alt+]"], pageUp: ["pageUp"], pageDown: ["pageDown"],
    deleteCharBackward: ["backspace", "shift+backspace"], deleteCharForward: ["delete", "ctrl+d", "shift+delete"], deleteWordBackward: ["ctrl+w", "alt+backspace"], deleteWordForward: ["alt+d", "alt+delete"],
    deleteToLineStart: ["ctrl+u"], deleteToLineEnd: ["ctrl+k"], yank: ["ctrl+y"], yankPop: ["alt+y"], undo: ["ctrl+-"],
  }],
  [TUI_KEYBINDINGS, "tui.input", { newLine: ["shift+enter", "alt+enter", "ctrl+enter"], submit: ["enter"], tab: ["tab"], copy: ["ctrl+c"] }],
  [TUI_KEYBINDINGS, "tui.select", { up: ["up"], down: ["down"], pageUp: ["pageUp"], pageDown: ["pageDown"], confirm: ["enter"], cancel: ["escape", "ctrl+c"] }],
  [appKeybindings, "app", {
    interrupt: ["escape"], clear: ["ctrl+c"], exit: ["ctrl+d"], suspend: ["ctrl+z"], "thinking.cycle": ["shift+tab"], "thinking.toggle": ["ctrl+t"],
    "model.cycleForward": ["ctrl+p"], "model.cycleBackward": ["shift+ctrl+p"], "model.select": ["ctrl+l"], "tools.expand": ["ctrl+o"], "editor.external": ["ctrl+g"],
    "message.followUp": ["alt+enter"], "message.dequeue": ["alt+up"], "clipboard.pasteImage": ["ctrl+v"], "session.new": [], "session.tree": [], "session.fork": [], "session.resume": [],
  }],
]) {
  for (const [name, keys] of Object.entries(list)) {
    const words = name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`).replace(".", " ");
    table[`${prefix}.${name}`] = { defaultKeys: keys, description: words[0].toUpperCase() + words.slice(1) };
  }
}

// Names that older extensions use for the same.
const olderName = (name) => {
  const [, what, rest] = /^(select)?(.+)$/.exec(name);
  if (what) return `tui.select.${rest[0].toLowerCase()}${rest.slice(1)}`;
  if (["newLine", "submit", "tab", "copy"].includes(name)) return `tui.input.${name}`;
  return Object.hasOwn(TUI_KEYBINDINGS, `tui.editor.${name}`) ? `tui.editor.${name}` : `app.${name}`;
};

const asList = (keys) => (keys === undefined || keys === null ? [] : Array.isArray(keys) ? keys : [keys]);

class KeybindingsManager {
  constructor(definitions = TUI_KEYBINDINGS, userBindings = {}) {
    this.definitions = definitions;
    this.user = { ...userBindings };
  }

  idOf(name) {
    return Object.hasOwn(this.definitions, name) || String(name).includes(".") ? name : olderName(String(name));
  }

  getKeys(name) {
    const id = this.idOf(name);
    if (Object.hasOwn(this.user, id) && this.user[id] !== undefined) return asList(this.user[id]);
    return Object.hasOwn(this.definitions, id) ? asList(this.definitions[id].defaultKeys) : [];
  }

  matches(data, name) {
    return this.getKeys(name).some((k) => matchesKey(data, k));
  }

  getDefinition(name) {
    return this.definitions[this.idOf(name)];
  }

  getConflicts() {
    const by = new Map();
    for (const [id, keys] of Object.entries(this.user)) {
      for (const k of asList(keys)) by.set(k, (by.get(k) || []).concat(id));
    }
    return Array.from(by).filter(([, ids]) => ids.length > 1).map(([k, keybindings]) => ({ key: k, keybindings }));
  }

  setUserBindings(bindings) {
    this.user = { ...bindings };
  }

  getUserBindings() {
    return { ...this.user };
  }

  getResolvedBindings() {
    return Object.fromEntries(Object.keys(this.definitions).map((id) => [id, this.getKeys(id)]));
  }
}

let keybindings = new KeybindingsManager({ ...TUI_KEYBINDINGS, ...appKeybindings });

const getKeybindings = () => keybindings;

function setKeybindings(manager) {
  keybindings = manager;
}

const does = (data, name) => keybindings.matches(data, name);

// How keys are shown to people.
const keyText = (name) => getKeybindings().getKeys(name).join("/");
const rawKeyHint = (keys, description) => `${theme.fg("dim", keys)}${theme.fg("muted", ` ${description}`)}`;
const keyHint = (name, description) => { // without a key there is nothing to press: only what it would do
  const keys = keyText(name);
  return keys ? rawKeyHint(keys, description) : theme.fg("muted", description);
};
