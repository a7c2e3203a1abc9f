// The object that an extension of the form `export default function (pi)` is given. It
// serves hooks v2 (on, command) and the pi extension API (all others): they have no
// name in common but on, which means the same.

function customMessage(message) {
  need("object", message, "A message");
  return {
    customType: need("string", message.customType, "customType of a message"),
    content: blocksToLog(message.content, "pi"),
    display: message.display !== false,
    details: message.details,
  };
}

// bus carries data between the extensions of a session.
const busHandlers = new Map();

const events = {
  on(channel, handler) {
    need("function", handler, `The handler of the channel ${channel}`);
    if (!busHandlers.has(channel)) busHandlers.set(channel, new Set());
    busHandlers.get(channel).add(handler);
    return () => busHandlers.get(channel).delete(handler);
  },
  emit(channel, data) {
    alive();
    deliver(channel, data);
    host.notify("bus", { channel, data });
  },
};

function deliver(channel, data) {
  for (const handler of Array.from(busHandlers.get(channel) || [])) {
    Promise.resolve().then(() => handler(data)).catch((err) => handlerFailed(`events ${channel}`, err));
  }
}

const PROVIDER = "Give it api, baseUrl and models, or add the model to [models.<alias>] of config.toml.";
const NO_STREAMS = "An extension cannot answer for a model itself; Scorel talks to the server, as api says.";

const providers = new Map(); // by name, as the host is told

// registerProvider takes {baseUrl, api, apiKey, headers, models: [{id, …}]}. apiKey is the
// name of a variable of the environment, which only the host reads.
function registerProvider(name, config) {
  need("string", name, "The name of a provider");
  need("object", config, `The provider ${name}`);
  if (config.streamSimple) {
    unsupported(`The provider ${name} is not registered. ${NO_STREAMS}`);
    return;
  }
  if (!Array.isArray(config.models) || config.models.length === 0) {
    unsupported(`The provider ${name} is not registered. ${PROVIDER}`);
    return;
  }
  if (config.oauth) unsupported(`The login of the provider ${name} is not used. Enter a key with /login ${name}.`);
  const variable = /^\$?\{?([A-Z][A-Z0-9_]*)\}?$/.exec(config.apiKey === undefined ? "" : String(config.apiKey));
  if (config.apiKey !== undefined && !variable) {
    unsupported(`apiKey of the provider ${name} is not used. It must be the name of an environment variable such as MY_API_KEY; or enter the key with /login ${name}.`);
  }
  providers.set(name, {
    name,
    api: config.api,
    baseUrl: config.baseUrl,
    apiKeyEnv: variable ? variable[1] : undefined,
    headers: headersOf(config.headers),
    models: config.models.map((m) => ({
      id: String(m.id),
      api: m.api,
      baseUrl: m.baseUrl,
      reasoning: m.reasoning === true,
      images: Array.isArray(m.input) && m.input.includes("image"),
      contextWindow: m.contextWindow,
      maxTokens: m.maxTokens,
      price: m.cost && { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...m.cost },
    })),
  });
  changed();
}

function headersOf(headers) {
  return headers && Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

let unknown = ""; // what the extension asked pi for last that it does not have

// usesPi says that the extension used more than hooks v2 has.
let usesPi = false;

const pi = new Proxy({
  on,
  events,
  exec,

  // Hooks v2.
  command(name, options) {
    need("function", options && options.handler, `The handler of the command ${name}`);
    addCommand(name, options, (args, argsRaw, signal) => options.handler(commandContext(args, argsRaw, signal)), options.complete);
  },

  // The pi extension API.
  registerTool(def) {
    addTool(def, "pi", hookContext);
  },
  registerCommand(name, options) {
    need("function", options && options.handler, `The handler of the command ${name}`);
    addCommand(name, options,
      (args, argsRaw, signal) => options.handler(argsRaw, commandContext(args, argsRaw, signal)),
      options.getArgumentCompletions);
  },
  registerShortcut: addShortcut,
  registerFlag: addFlag,
  getFlag,
  registerMessageRenderer: addMessageRenderer,
  registerEntryRenderer: addEntryRenderer,
  registerProvider,
  registerVirtualModel: refusal("pi.registerVirtualModel", "A model is one of a server: register that with registerProvider, or change the model with setModel."),
  unregisterProvider(name) {
    if (providers.delete(name)) changed();
  },

  sendMessage(message, options = {}) {
    return inOrder("agent/sendMessage", { ...customMessage(message), deliverAs: options.deliverAs, triggerTurn: options.triggerTurn === true })
      .then(() => undefined);
  },
  sendUserMessage(content, options = {}) {
    return sendUser(content, options.deliverAs, "pi");
  },
  appendEntry(customType, data) {
    return appendEntry(customType, data).then(() => undefined);
  },
  setSessionName,
  getSessionName: () => host.state.name || undefined,
  setLabel,

  getActiveTools: () => activeTools().map(toolNameOut),
  getAllTools: allTools,
  setActiveTools,
  getCommands: allCommands,
  setModel,
  getThinkingLevel: () => host.state.thinkingLevel || "off",
  setThinkingLevel,
}, {
  get(target, name) {
    if (typeof name === "string") {
      alive();
      if (name !== "on" && name !== "command") usesPi = true;
      if (!(name in target)) unknown = name;
    }
    return target[name];
  },
});
