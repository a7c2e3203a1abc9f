// Components that show something: texts, and what holds other components.

class Component {
  render() {
    return [];
  }

  invalidate() {}
}

const isFocusable = (component) => component !== null && component !== undefined && "focused" in component;

class Container extends Component {
  constructor() {
    super();
    this.children = [];
  }

  addChild(component) {
    this.children.push(component);
  }

  removeChild(component) {
    this.children = this.children.filter((child) => child !== component);
  }

  clear() {
    this.children = [];
  }

  invalidate() {
    for (const child of this.children) if (child.invalidate) child.invalidate();
  }

  render(width) {
    const lines = [];
    for (const child of this.children) for (const line of child.render(width)) lines.push(line);
    return lines;
  }
}

// Box draws its children with blanks around them and a background behind all.
class Box extends Container {
  constructor(paddingX = 1, paddingY = 1, bgFn = undefined) {
    super();
    this.paddingX = count(paddingX, 1);
    this.paddingY = count(paddingY, 1);
    this.bgFn = bgFn;
  }

  setBgFn(bgFn) {
    this.bgFn = bgFn;
  }

  render(width) {
    if (this.children.length === 0) return [];
    return framed(super.render(inner(width, this.paddingX)), width, this.paddingX, this.paddingY, this.bgFn);
  }
}

// framed gives lines with blanks around them, each as wide as width.
function framed(lines, width, paddingX, paddingY, background) {
  const side = blank(Math.min(paddingX, width - 1));
  const empty = Array.from({ length: paddingY }, () => behind("", width, background));
  const middle = fit(lines.map((line) => side + line), width).map((line) => behind(line, width, background));
  return [...empty, ...middle, ...empty];
}

class Text extends Component {
  constructor(text = "", paddingX = 1, paddingY = 1, customBgFn = undefined) {
    super();
    this.text = lineOf(text);
    this.paddingX = count(paddingX, 1);
    this.paddingY = count(paddingY, 1);
    this.customBgFn = customBgFn;
  }

  setText(text) {
    this.text = lineOf(text);
    this.drawn = undefined;
  }

  setCustomBgFn(customBgFn) {
    this.customBgFn = customBgFn;
    this.drawn = undefined;
  }

  invalidate() {
    this.drawn = undefined;
  }

  // content gives the lines of the text within a width.
  content(width) {
    return this.text.trim() === "" ? [] : wrapTextWithAnsi(this.text, width);
  }

  render(width) {
    if (this.drawn && this.drawn.width === width) return this.drawn.lines;
    const content = this.content(inner(width, this.paddingX));
    const lines = content.length === 0 ? [] : framed(content, width, this.paddingX, this.paddingY, this.customBgFn);
    this.drawn = { width, lines };
    return lines;
  }
}

class TruncatedText extends Component {
  constructor(text, paddingX = 0, paddingY = 0) {
    super();
    this.text = lineOf(text);
    this.paddingX = count(paddingX, 0);
    this.paddingY = count(paddingY, 0);
  }

  setText(text) {
    this.text = lineOf(text);
  }

  render(width) {
    const [first] = this.text.split("\n", 1);
    return framed([truncateToWidth(first, inner(width, this.paddingX))], width, this.paddingX, this.paddingY);
  }
}

class Spacer extends Component {
  constructor(lines = 1) {
    super();
    this.lines = count(lines, 1);
  }

  setLines(lines) {
    this.lines = count(lines, 1);
  }

  render() {
    return Array.from({ length: this.lines }, () => "");
  }
}

// Markdown is drawn by the terminal's own functions, which take styles where pi's themes
// have functions, and with its colours of code.
class Markdown extends Text {
  constructor(text, paddingX = 1, paddingY = 1, markdownTheme = undefined, defaultTextStyle = {}) {
    super(text, paddingX, paddingY, (defaultTextStyle || {}).bgColor);
    this.theme = markdownTheme || getMarkdownTheme();
    this.defaultTextStyle = defaultTextStyle || {};
  }

  looks() {
    const looks = {};
    for (const name of ["heading", "link", "linkUrl", "code", "codeBlock", "codeBlockBorder", "quote", "hr", "listBullet", "bold", "italic", "strikethrough"]) {
      looks[name] = openingOf(painter(this.theme, name));
    }
    const base = this.defaultTextStyle;
    looks.text = openingOf((text) => {
      let out = typeof base.color === "function" ? base.color(text) : text;
      for (const name of ["bold", "italic", "underline", "strikethrough"]) if (base[name]) out = theme[name](out);
      return out;
    });
    for (const [name, role] of [["keyword", "syntaxKeyword"], ["string", "syntaxString"], ["number", "syntaxNumber"], ["comment", "syntaxComment"],
      ["function", "syntaxFunction"], ["type", "syntaxType"], ["operator", "syntaxOperator"]]) {
      looks[name] = theme.getFgAnsi(role);
    }
    return looks;
  }

  content(width) {
    return this.text.trim() === "" ? [] : cells.markdown(this.text, width, this.looks());
  }
}

// Image names the picture: frames hold text.
class Image extends Component {
  constructor(base64Data, mimeType, imageTheme = {}, options = {}, dimensions = undefined) {
    super();
    this.mimeType = lineOf(mimeType);
    this.bytes = Math.floor((lineOf(base64Data).length * 3) / 4);
    this.theme = imageTheme;
    this.options = options || {};
    this.dimensions = dimensions;
  }

  getImageId() {
    return this.options.imageId;
  }

  render(width) {
    const parts = [this.options.filename, this.mimeType, this.dimensions && `${this.dimensions.widthPx}x${this.dimensions.heightPx}`, `${Math.ceil(this.bytes / 1024)} KB`];
    const name = `[Image: ${parts.filter((part) => part !== undefined && part !== "").join(" ")}]`;
    return [truncateToWidth(painter(this.theme, "fallbackColor")(name), width)];
  }
}

class DynamicBorder extends Component {
  constructor(color = (text) => theme.fg("border", text)) {
    super();
    this.color = color;
  }

  render(width) {
    return [this.color("─".repeat(Math.max(1, width)))];
  }
}

const SPINNER = { frames: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"], intervalMs: 80 };
const MIN_INTERVAL = 34; // milliseconds: a frame is sent 30 times a second at most

// Loader turns from the start until stop, or until whoever shows it disposes of it.
class Loader extends Text {
  constructor(ui, spinnerColorFn = String, messageColorFn = String, message = "Loading...", indicator = undefined) {
    super("", 1, 0);
    this.ui = ui;
    this.spinnerColorFn = spinnerColorFn;
    this.messageColorFn = messageColorFn;
    this.message = lineOf(message);
    this.frame = 0;
    this.setIndicator(indicator);
    this.start();
  }

  redraw() {
    const spinner = this.frames.length > 0 ? `${this.spinnerColorFn(this.frames[this.frame % this.frames.length])} ` : "";
    this.setText(spinner + this.messageColorFn(this.message));
    if (this.ui && this.ui.requestRender) this.ui.requestRender();
  }

  setIndicator(indicator) {
    this.frames = indicator && Array.isArray(indicator.frames) ? indicator.frames.map(String) : SPINNER.frames;
    this.interval = Math.max(MIN_INTERVAL, (indicator && indicator.intervalMs) || SPINNER.intervalMs);
    if (this.timer !== undefined) {
      this.stop();
      this.start();
    } else {
      this.redraw();
    }
  }

  setMessage(message) {
    this.message = lineOf(message);
    this.redraw();
  }

  start() {
    if (this.timer !== undefined) return;
    this.redraw();
    if (this.frames.length < 2) return;
    this.timer = setInterval(() => {
      this.frame = (this.frame + 1) % this.frames.length;
      this.redraw();
    }, this.interval);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  dispose() {
    this.stop();
  }

  render(width) {
    return ["", ...super.render(width)];
  }
}

class CancellableLoader extends Loader {
  constructor(...args) {
    super(...args);
    this.controller = new AbortController();
  }

  get signal() {
    return this.controller.signal;
  }

  get aborted() {
    return this.controller.signal.aborted;
  }

  handleInput(data) {
    if (!does(data, "tui.select.cancel") || this.aborted) return;
    this.controller.abort();
    if (this.onAbort) this.onAbort();
  }
}

// BorderedLoader is a loader between two lines, with the key that cancels it.
class BorderedLoader extends Container {
  constructor(ui, ofTheme = theme, message = "Loading...", options = {}) {
    super();
    const border = (text) => painter(ofTheme, "fg")("border", text);
    this.cancellable = !options || options.cancellable !== false;
    this.controller = new AbortController();
    const Kind = this.cancellable ? CancellableLoader : Loader;
    this.loader = new Kind(ui, (text) => painter(ofTheme, "fg")("accent", text), (text) => painter(ofTheme, "fg")("muted", text), message);
    this.addChild(new DynamicBorder(border));
    this.addChild(this.loader);
    if (this.cancellable) {
      this.addChild(new Spacer(1));
      this.addChild(new Text(keyHint("tui.select.cancel", "cancel"), 1, 0));
    }
    this.addChild(new Spacer(1));
    this.addChild(new DynamicBorder(border));
  }

  get signal() {
    return this.cancellable ? this.loader.signal : this.controller.signal;
  }

  get onAbort() {
    return this.loader.onAbort;
  }

  set onAbort(fn) {
    this.loader.onAbort = fn;
  }

  handleInput(data) {
    if (this.cancellable) this.loader.handleInput(data);
  }

  dispose() {
    this.loader.dispose();
  }
}
