// What the extension offers, as the host is told.

const notSupported = []; // sentences
const flags = new Map(); // by name: {type, description, default}
let api = "";
let about = {}; // name and version
let scorelHooks = []; // hooks of Scorel's own shape
let loading = true;
let announced = false;

function unsupported(sentence) {
  if (!notSupported.includes(sentence)) notSupported.push(sentence);
  changed();
}

function addFlag(name, options = {}) {
  need("string", name, "The name of a flag");
  if (options.type !== "boolean" && options.type !== "string") {
    throw new TypeError(`The type of the flag ${name} must be "boolean" or "string".`);
  }
  flags.set(name, options);
  changed();
}

// getFlag gives the value that stands in the table [extensions.<id>] of config.toml.
function getFlag(name) {
  const flag = flags.get(name);
  if (!flag) return undefined;
  const value = (host.config || {})[name];
  return value === undefined ? flag.default : value;
}

// startsWithSession says whether the session waits for what the extension does at its
// start.
function startsWithSession() {
  return api === "scorel" ? Boolean(extension.onEvent) : handlers.has("session_start");
}

function registration() {
  const scorel = api === "scorel";
  return {
    ...about,
    api,
    tools: toolList(),
    commands: commandList(),
    shortcuts: shortcutList(),
    flags: Array.from(flags, ([name, f]) => ({ name, type: f.type, description: f.description, default: f.default })),
    hooks: (scorel ? scorelHooks : namesOf("hook")).concat(startsWithSession() ? ["session_start"] : []),
    events: scorel ? (extension.onEvent ? ["*"] : []) : eventNames(),
    renderers: Array.from(messageRenderers.keys()),
    entries: Array.from(entryRenderers.keys()),
    completes: completers.length > 0,
    providers: Array.from(providers.values()),
    unsupported: missing(),
  };
}

// changed tells the host anew, once for all changes that are made in one go.
function changed() {
  if (loading || announced) return;
  announced = true;
  Promise.resolve().then(() => {
    announced = false;
    tell("register", registration());
  });
}
