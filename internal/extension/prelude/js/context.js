// The contexts that handlers get as their last argument. Hooks v2 and the pi extension
// API share one; Scorel's own shape has a smaller one.

const sessions = guard(sessionManager);
const models = guard(modelRegistry);

const asked = {
  // Every model call builds its context anew, so there is nothing to wait for.
  rebuildContext: async () => alive(),
  isIdle: () => host.state.idle === true,
  hasPendingMessages: () => host.state.pending === true,
  isProjectTrusted: () => host.state.trusted === true,
  abort() {
    request("agent/cancel").catch((err) => log("error", `abort: ${errorText(err)}`));
  },
  compact(options = {}) {
    request("agent/compact", { instructions: options.customInstructions, later: true })
      .then((result) => options.onComplete && options.onComplete(result || {}))
      .catch((err) => (options.onError ? options.onError(err) : log("error", `compact: ${errorText(err)}`)));
  },
  getContextUsage() {
    const model = currentModel();
    const tokens = host.state.contextTokens;
    if (!model || !tokens || !model.contextWindow) return undefined;
    return { tokens, contextWindow: model.contextWindow, percent: (tokens / model.contextWindow) * 100 };
  },
  getSystemPrompt: () => host.state.systemPrompt || "",
  shutdown: refusal("ctx.shutdown of a handler", "Call it in a command: it ends the terminal of whoever typed that."),
};

// hookContext is the context of a handler. signal is aborted when its answer is not
// wanted any more.
function hookContext(signal, systemPrompt) {
  common = common || hookFields();
  return new Proxy(common, new Differing(systemPrompt ? { signal, getSystemPrompt: systemPrompt } : { signal }));
}

// A context for each call would take a third of its time: common is in all of them, and own
// what differs in one, with what its handler puts there.
let common;

class Differing {
  constructor(own) {
    this.own = own;
  }
  get(target, name) {
    if (typeof name === "string") alive();
    return name in this.own ? this.own[name] : target[name];
  }
  set(target, name, value) {
    this.own[name] = value;
    return true;
  }
  has(target, name) {
    return name in this.own || name in target;
  }
}

function hookFields(signal) {
  return {
    ui,
    exec,
    signal,
    sessionManager: sessions,
    modelRegistry: models,
    get hasUI() { return host.state.hasUI === true; },
    get mode() { return host.session.mode; },
    get cwd() { return host.session.cwd; },
    get sessionFile() { return host.session.file || null; },
    get model() { return currentModel(); },
    get thinkingLevel() { return host.state.thinkingLevel || "off"; },
    get entries() { return host.entries("pi"); },

    findModel,
    availableModels: refreshModels,
    resolveApiKey,
    saveEntry,
    ...asked,
  };
}

// commandContext is the context of a command.
function commandContext(args, argsRaw, signal) {
  return guard(commandFields(args, argsRaw, signal));
}

function commandFields(args, argsRaw, signal) {
  return extend(hookFields(signal), {
    args,
    argsRaw,
    setModel,
    setThinkingLevel,
    // A command starts when no model call and no tool runs, and the next one waits for
    // its end: waiting here for the end of the turn would be for ever.
    async waitForIdle() {
      if (host.state.idle !== true) {
        throw new Error("waitForIdle is not supported by Scorel while a turn runs: the turn waits for this command. Send the command again when the turn has ended.");
      }
    },
    ...moving(),
    // The extension is unloaded with all others, behind the command.
    reload: () => request("agent/reload").then(() => undefined),
  });
}

// scorelFields is the context of Scorel's own shape.
function scorelFields(signal) {
  return {
    ui,
    exec,
    signal,
    config: host.config || {},
    logger,
    session: guard(scorelSession),
    agent: guard(scorelAgent),
  };
}

const logger = {
  debug: (...parts) => log("debug", ...parts),
  info: (...parts) => log("info", ...parts),
  warn: (...parts) => log("warning", ...parts),
  error: (...parts) => log("error", ...parts),
};

const scorelSession = {
  get id() { return host.session.id; },
  get cwd() { return host.session.cwd; },
  get projectRoot() { return host.session.projectRoot; },
  get path() { return host.session.file || null; },
  get name() { return host.state.name || ""; },
  get leafId() { return host.state.leafId || null; },
  get entries() { return host.entries("scorel"); },
  append,
  setName: setSessionName,
  setLabel,
};

function sendUser(content, deliverAs, form) {
  const blocks = blocksToLog(content, form);
  if (blocks.length === 0) return Promise.reject(new TypeError("A message needs a text."));
  return inOrder("agent/sendUser", { content: blocks, deliverAs }).then(() => undefined);
}

const scorelAgent = {
  get idle() { return host.state.idle === true; },
  get activeTools() { return activeTools(); },
  send: (content) => sendUser(content, undefined, "scorel"),
  steer: (content) => sendUser(content, "steer", "scorel"),
  followUp: (content) => sendUser(content, "followUp", "scorel"),
  cancel: () => request("agent/cancel").then(() => undefined),
  compact: (instructions) => request("agent/compact", { instructions }).then(() => undefined),
  setActiveTools,
  model: {
    get current() { return currentModel(); },
    get thinkingLevel() { return host.state.thinkingLevel || "off"; },
    list: refreshModels,
    set: setModel,
    setThinkingLevel,
    complete: (context, options = {}) => completeIn("scorel", options.model || null, context, options),
  },
};
