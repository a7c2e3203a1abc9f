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

const PROVIDER = "Add the model to [models.<alias>] of config.toml, with api, baseUrl and apiKeyEnv.";

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
  registerMessageRenderer(customType) {
    unsupported(`The message renderer of ${customType} is not used. ${NO_COMPONENTS}`);
  },
  registerEntryRenderer(customType) {
    unsupported(`The entry renderer of ${customType} is not used. ${NO_COMPONENTS}`);
  },
  registerProvider(name) {
    unsupported(`The provider ${typeof name === "string" ? name : (name && name.id) || ""} is not registered. ${PROVIDER}`);
  },
  unregisterProvider() {},

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
  getAllTools: () => (host.state.allTools || []).map((t) => ({ name: toolNameOut(t.name), description: t.description, parameters: t.parameters })),
  setActiveTools,
  getCommands: () => (host.state.commands || []).map((name) => {
    const own = commands.get(name);
    return own ? { name, description: own.info.description, source: "extension" } : { name };
  }),
  setModel,
  getThinkingLevel: () => host.state.thinkingLevel || "off",
  setThinkingLevel,
}, {
  get(target, name) {
    if (typeof name === "string") {
      alive();
      if (name !== "on" && name !== "command") usesPi = true;
    }
    return target[name];
  },
});
