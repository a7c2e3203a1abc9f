// pi-tui: its components exist so that imports and classes built on them load. Using
// one is refused.

class Component {
  constructor() {
    return new Proxy(this, {
      get(target, name) {
        if (typeof name !== "string" || name === "then" || name in target) return target[name];
        return refusal(`A component's ${name}`, NO_COMPONENTS);
      },
    });
  }
}

const keyNames = {};
for (const name of ["escape", "enter", "return", "tab", "space", "backspace", "delete", "home", "end", "pageUp", "pageDown", "up", "down", "left", "right"]) {
  keyNames[name] = name;
}
for (const [name, prefix] of [
  ["ctrl", "ctrl"], ["shift", "shift"], ["alt", "alt"], ["ctrlShift", "ctrl+shift"],
  ["ctrlAlt", "ctrl+alt"], ["shiftAlt", "shift+alt"], ["ctrlShiftAlt", "ctrl+shift+alt"],
]) {
  keyNames[name] = (key) => `${prefix}+${key}`;
}

function withoutColours(text) {
  return String(text).replace(/\x1b\[[0-9;]*[A-Za-z]/g, "");
}

const tui = {
  Component,
  Key: keyNames,
  matchesKey: refusal("matchesKey", "Register a command or a shortcut instead."),
  visibleWidth: (text) => Array.from(withoutColours(text)).length,
  truncateToWidth(text, width, ellipsis = "...") {
    const all = Array.from(withoutColours(text));
    return all.length <= width ? String(text) : all.slice(0, Math.max(0, width - ellipsis.length)).join("") + ellipsis;
  },
};
for (const name of ["Text", "TruncatedText", "Container", "Box", "Spacer", "Markdown", "Image", "Input", "Editor", "SelectList", "SettingsList", "Loader", "CancellableLoader", "TUI"]) {
  tui[name] = class extends Component {};
}
define("@mariozechner/pi-tui", tui, NO_COMPONENTS);
