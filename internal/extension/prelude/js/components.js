// Components: what an extension draws itself. A component is any object with
// render(width), which gives lines, and perhaps handleInput(data), invalidate() and
// dispose(). The client that has it sends keys; each is answered with a frame.

const FRAME_EVERY = 33; // milliseconds between two frames that nobody has pressed a key for
const MAX_LINES = 200; // of a frame; the host says what it leaves out
const CURSOR_MARK = "\x1b_pi:c\x07"; // where a component has its cursor

const panels = new Map(); // those that are open, by id
let panelCount = 0;

class Panel {
  constructor(done) {
    this.id = `c${++panelCount}`;
    this.rev = 0;
    this.width = 0; // of the screen; 0: nobody has it
    this.height = 0;
    this.component = undefined;
    this.focus = undefined; // what the keys go to
    this.drawnAt = 0;
    this.timer = undefined;
    this.failed = "";
    this.tui = this.screen(done);
  }

  // screen is the object `tui` of a factory.
  screen(done) {
    const panel = this;
    const here = "A component of Scorel has no terminal of its own.";
    return {
      requestRender: () => panel.drawLater(),
      setFocus(component) {
        for (const [c, has] of [[panel.focus || panel.component, false], [component || panel.component, true]]) {
          if (c && typeof c === "object" && "focused" in c) c.focused = has;
        }
        panel.focus = component || undefined;
        panel.drawLater();
      },
      terminal: {
        get columns() {
          return panel.width || 80;
        },
        get rows() {
          return panel.height || 24;
        },
        kittyProtocolActive: false,
        write: refusal("tui.terminal.write", here),
      },
      start: refusal("tui.start", here),
      stop: refusal("tui.stop", here),
      addInputListener: refusal("tui.addInputListener", here),
      showOverlay: refusal("tui.showOverlay", "Call ui.custom again for another component."),
      hideOverlay: () => done(undefined),
    };
  }

  input({ rev, width, height, data }) {
    const resized = width !== this.width || height !== this.height;
    [this.rev, this.width, this.height] = [rev, width, height];
    if (resized) this.attempt("invalidate", () => this.component.invalidate && this.component.invalidate());
    for (const key of data || []) {
      if (!panels.has(this.id)) return;
      const to = this.focus || this.component;
      if (!to.wantsKeyRelease && components().ofTui.isKeyRelease(key)) continue;
      this.attempt("handleInput", () => to.handleInput && to.handleInput(key));
    }
    this.draw();
  }

  // attempt calls a part of the component, and reports each error of one once.
  attempt(what, call) {
    try {
      const made = call();
      this.broken = undefined;
      return made;
    } catch (err) {
      this.broken = `${what} of the component failed: ${errorText(err)}`;
      if (this.failed !== this.broken) {
        this.failed = this.broken;
        handlerFailed(`ui.custom ${what}`, err);
      }
      return undefined;
    }
  }

  drawLater() {
    if (this.timer !== undefined || this.width === 0) return;
    this.timer = setTimeout(() => this.draw(), Math.max(0, this.drawnAt + FRAME_EVERY - Date.now()));
  }

  draw() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!panels.has(this.id) || this.width === 0 || ended) return;
    this.drawnAt = Date.now();
    const made = this.attempt("render", () => {
      const drawn = this.component.render(this.width);
      if (!Array.isArray(drawn)) throw new TypeError("render gives a list of lines.");
      return drawn.length > MAX_LINES ? drawn.slice(0, MAX_LINES + 1) : drawn;
    });
    let cursor;
    const lines = (made || [this.broken]).map((line, row) => {
      const parts = String(line).split(CURSOR_MARK);
      if (parts.length > 1) cursor = { row, column: host.cells.column(parts[0]) };
      return parts.join("");
    });
    host.notify("ui/frame", { id: this.id, rev: this.rev, width: this.width, lines, cursor });
  }
}

host.handle("ui/input", (params) => {
  const panel = panels.get(params.id);
  if (panel) panel.input(params);
});

// showComponent is ui.custom: it shows what factory makes until that calls done, and gives
// the value that is said then; undefined when a person closes it, and when nobody is there.
async function showComponent(factory, options = {}) {
  need("function", factory, "What ui.custom gets");
  if (!host.state.hasUI) {
    // The host says so to people, and refuses it at once; nothing is drawn for nobody.
    const refused = new AbortController();
    setTimeout(() => refused.abort(), 1000);
    await request("ui/dialog", { kind: "custom", id: `c${++panelCount}` }, refused.signal).catch(() => undefined);
    return undefined;
  }
  const closing = new AbortController();
  let over = false;
  let settle;
  const result = new Promise((resolve) => {
    settle = resolve;
  });
  const done = (value) => {
    if (over) return;
    over = true;
    closing.abort();
    settle(value);
  };
  const panel = new Panel(done);
  panels.set(panel.id, panel);
  try {
    panel.component = await factory(panel.tui, ui.theme, components().keybindings, done);
    if (over) return await result;
    if (!panel.component || typeof panel.component.render !== "function") {
      throw new TypeError("The factory of ui.custom gives an object with render(width).");
    }
    if (!panel.focus && "focused" in panel.component) panel.component.focused = true;
    if (options && typeof options.onHandle === "function") {
      options.onHandle({ hide: () => done(undefined), isHidden: () => over, isFocused: () => !over, focus() {} });
    }
    request("ui/dialog", { kind: "custom", id: panel.id, title: options && options.title ? String(options.title) : "" }, closing.signal)
      .then(() => done(undefined), (err) => {
        if (!over) settle(Promise.reject(err));
      });
    return await result;
  } finally {
    over = true;
    panels.delete(panel.id);
    clearTimeout(panel.timer);
    if (panel.component && typeof panel.component.dispose === "function") {
      panel.attempt("dispose", () => panel.component.dispose());
    }
  }
}
