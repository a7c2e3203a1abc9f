// pi-tui: components that draw lines, and what they are made with. They are a part of the
// prelude that runs when an extension first imports one of them.

let made;

function components() {
  if (!made) made = host.part("components")({ cells: host.cells, theme, log, portOf: (tui) => ports.get(tui) });
  return made;
}

define("@mariozechner/pi-tui", () => components().ofTui, "See docs/extensions/api.md for what extensions can use.");
