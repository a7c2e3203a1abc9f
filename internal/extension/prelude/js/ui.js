// Dialogs, notices and what an extension shows. A dialog that nobody can answer, that
// runs out of time or that is cancelled gives its default: undefined, or false.

async function dialog(params, options = {}) {
  const { timeout, signal } = options;
  if (signal && signal.aborted) return undefined;
  try {
    const answer = await request("ui/dialog", { ...params, title: withoutStyles(params.title), timeoutMs: timeout }, signal);
    return answer === null || answer === undefined || answer.value === null ? undefined : answer.value;
  } catch (err) {
    if (signal && signal.aborted) return undefined;
    throw err;
  }
}

// showLines shows lines under a name until it shows others, or none. Statuses, widgets
// and the rest may have the same key, so the names of all but statuses have a prefix.
function showLines(key, place, lines, more) {
  tell("ui/state", { key, place, lines: lines === undefined || lines === null ? null : lines.map(withoutStyles), ...more });
}

// linesOf takes lines of text; components cannot be shown.
function linesOf(content, name) {
  if (content === undefined || content === null) return null;
  if (typeof content === "string") return content.split("\n");
  if (Array.isArray(content) && content.every((l) => typeof l === "string")) return content;
  throw new Error(`${name}: ${NO_COMPONENTS}`);
}

let editorText = "";
const statuses = new Map(); // what setStatus shows, by its key

// notificationIn gives the text of a notification that a program writes for its terminal
// (OSC 9, 99 or 777, or the bell alone), undefined for anything else. Of OSC 99 the title and the body come
// apart; the title waits for it.
let notificationTitle = "";

function notificationIn(chunk) {
  if (String(chunk) === "\x07") return `The extension ${host.ext} rings the bell.`;
  const match = /^\x1b\](9|99|777);([\s\S]*?)(?:\x07|\x1b\\)$/.exec(String(chunk));
  if (!match) return undefined;
  const [, kind, text] = match;
  if (kind === "9") return text;
  if (kind === "777") return text.startsWith("notify;") ? text.slice("notify;".length).split(";").filter((part) => part !== "").join(": ") : undefined;
  const cut = text.indexOf(";");
  const [about, words] = [text.slice(0, Math.max(cut, 0)), text.slice(cut + 1)];
  if (/(^|:)d=0/.test(about)) {
    notificationTitle = words;
    return "";
  }
  const whole = [notificationTitle, words].filter((part) => part !== "").join(": ");
  notificationTitle = "";
  return whole;
}

// An extension has no terminal: the notifications of one that writes some go to the clients.
if (host.writesToTerminal) {
  const writeOut = process.stdout.write;
  process.stdout.write = (chunk, ...rest) => {
    const text = notificationIn(chunk);
    if (text === undefined) return writeOut.call(process.stdout, chunk, ...rest);
    if (text !== "") ui.notify(text);
    return true;
  };
}

const ui = {
  async select(title, options, opts) {
    if (!Array.isArray(options) || options.length === 0) throw new TypeError("ui.select needs a list of options.");
    const list = options.map((o) => (typeof o === "string" ? { label: o } : { label: String(o.label), description: o.description }));
    return dialog({ kind: "select", title: String(title), options: list }, opts);
  },
  async confirm(title, message, opts) {
    return (await dialog({ kind: "confirm", title: String(title), message: message === undefined ? undefined : String(message) }, opts)) === true;
  },
  async input(title, placeholder, opts) {
    return dialog({ kind: "input", title: String(title), placeholder }, opts);
  },
  async editor(title, prefill, opts) {
    return dialog({ kind: "editor", title: String(title), text: prefill }, opts);
  },
  async form(title, schema, opts) {
    return dialog({ kind: "form", title: String(title), schema, message: opts && opts.message }, opts);
  },
  async url(title, url, opts) {
    return dialog({ kind: "url", title: String(title), url: String(url), message: opts && opts.message }, opts);
  },
  notify(message, level = "info") {
    tell("ui/notify", { message: withoutStyles(message), level: level === "warning" || level === "error" ? level : "info" });
  },
  setStatus(key, text) {
    if (text === undefined || text === null) statuses.delete(key);
    else statuses.set(key, String(text));
    showLines(need("string", key, "The key of a status"), "status", linesOf(text, "ui.setStatus"));
  },
  setWidget(key, content, opts = {}) {
    const place = opts && opts.placement === "belowEditor" ? "below" : "above";
    showLines(`widget:${need("string", key, "The key of a widget")}`, place, linesOf(content, "ui.setWidget"));
  },
  setTitle(title) {
    showLines("scorel:title", "title", title === undefined ? null : [String(title)]);
  },
  setEditorText(text) {
    editorText = String(text);
    showLines("scorel:editor", "editor", editorText.split("\n"));
  },
  pasteToEditor(text) {
    ui.setEditorText(text);
  },
  // getEditorText gives what the extension put there: each client has an editor of its own.
  getEditorText: () => editorText,
  setWorkingMessage(text) {
    showLines("scorel:working", "status", text === undefined ? null : [String(text)]);
  },
  custom: showComponent,
  setFooter(factory) {
    setArea("footer", "setFooter", factory);
  },
  setHeader(factory) {
    setArea("header", "setHeader", factory);
  },
  setEditorComponent,
  getEditorComponent: () => (replaced ? replaced.factory : undefined),
  onTerminalInput: refusal("ui.onTerminalInput", "Register a command or a shortcut instead."),
  // setWorkingIndicator takes the pictures of the indicator; none hides it.
  setWorkingIndicator(options) {
    if (options === undefined || options === null) return showLines("scorel:indicator", "indicator", null);
    const frames = options.frames === undefined ? null : options.frames.map(String);
    const intervalMs = Number.isFinite(options.intervalMs) ? Math.round(options.intervalMs) : undefined;
    showLines("scorel:indicator", "indicator", frames && frames.length === 0 ? [""] : frames, { intervalMs });
  },
  setWorkingVisible(visible) {
    showLines("scorel:working-visible", "working", visible === false ? ["hidden"] : null);
  },
  setHiddenThinkingLabel(label) {
    showLines("scorel:thinking", "thinking", label === undefined || label === null ? null : [String(label)]);
  },
  addAutocompleteProvider,
  theme,
  getTheme: () => theme,
  getAllThemes: () => [],
  // setTheme has the terminal UIs of the session take a theme of theirs, by its name.
  setTheme(theme) {
    const name = typeof theme === "string" ? theme : theme && theme.name;
    if (typeof name !== "string" || name === "") return { success: false, error: "Terminal UIs take a theme by its name, such as dark or light." };
    showLines("scorel:theme", "theme", [name]);
    return { success: true };
  },
};
