// Renderers: how the extension draws calls of its tools and its messages in a conversation.
// What one makes is a component, of which the lines at a width are taken, once.

const messageRenderers = new Map(); // by custom type
const MAX_RENDER_STATES = 200; // calls of which the state that renderers share is kept
const renderStates = new Map(); // by call

function renderState(id) {
  const state = renderStates.get(id) || {};
  renderStates.delete(id);
  renderStates.set(id, state);
  if (renderStates.size > MAX_RENDER_STATES) renderStates.delete(renderStates.keys().next().value);
  return state;
}

function addMessageRenderer(customType, renderer) {
  need("string", customType, "The customType of a message renderer");
  need("function", renderer, `The message renderer of ${customType}`);
  messageRenderers.set(customType, renderer);
  changed();
}

const entryRenderers = new Map();

function addEntryRenderer(customType, renderer) {
  need("string", customType, "The customType of an entry renderer");
  need("function", renderer, `The entry renderer of ${customType}`);
  entryRenderers.set(customType, renderer);
  changed();
}

function renderStored({ entry, width, expanded }) {
  const renderer = entryRenderers.get(entry.customType);
  if (!renderer) return null;
  const { data = {} } = entry;
  const shown = { ...entry, type: "custom", data: VALUE in data ? data[VALUE] : data };
  const keyHint = (action, text) => components().ofAgent.keyHint(action, text);
  return { body: drawn(`the entry renderer of ${entry.customType}`, width, () => renderer(shown, { expanded, keyHint }, theme)) };
}

const failedRenderers = new Set(); // names of those that were reported

// drawn gives the lines of the component that make gives; undefined where there is none, and
// where it fails, which is reported once.
function drawn(what, width, make) {
  try {
    const component = make();
    if (component === undefined || component === null) return undefined;
    const lines = component.render(width);
    if (!Array.isArray(lines)) throw new TypeError("render gives a list of lines.");
    return lines.slice(0, MAX_LINES + 1).map((line) => String(line).split(CURSOR_MARK).join(""));
  } catch (err) {
    if (!failedRenderers.has(what)) {
      failedRenderers.add(what);
      handlerFailed(what, err);
    }
    return undefined;
  }
}

function renderMessage({ message, width, expanded }) {
  const renderer = messageRenderers.get(message.customType);
  if (!renderer) return null;
  const shown = { role: "custom", customType: message.customType, content: blocksFromLog(message.content, "pi"), display: message.display, details: message.details };
  if (shown.content.length === 1 && shown.content[0].type === "text") shown.content = shown.content[0].text;
  return { body: drawn(`the message renderer of ${message.customType}`, width, () => renderer(shown, { expanded }, theme)) };
}

function renderCall({ tool, toolCallId, input, result, width, expanded }) {
  const found = tools.get(tool);
  if (!found) return null;
  const { def, form } = found;
  const context = {
    args: input,
    toolCallId,
    invalidate() {},
    lastComponent: undefined,
    state: renderState(toolCallId),
    cwd: host.session.cwd,
    executionStarted: true,
    argsComplete: true,
    isPartial: !result,
    expanded,
    showImages: false,
    isError: Boolean(result && result.isError),
  };
  const out = {};
  if (def.renderCall) out.call = drawn(`renderCall of the tool ${tool}`, width, () => def.renderCall(input, theme, context));
  if (def.renderResult && result) {
    const shown = { content: blocksFromLog(result.content, form), details: result.details, isError: result.isError === true };
    out.body = drawn(`renderResult of the tool ${tool}`, width, () => def.renderResult(shown, { expanded, isPartial: false }, theme, context));
  }
  return out;
}

function renderEntry(params) {
  if (params.place === "editorComponent") return renderEditor(params);
  if (params.place) return renderArea(params);
  if (params.entry) return renderStored(params);
  return params.message ? renderMessage(params) : renderCall(params);
}
