// Models: the ones that have a key, and questions to them beside the conversation.

// known is what models/list gave last: findModel has to answer at once. It is fetched
// when the extension is loaded, and no handler runs before that has ended.
let known = [];
let fetched = Promise.resolve();

function refreshModels() {
  return request("models/list").then(learn);
}

function learn(answer) {
  known = (answer && answer.models) || [];
  return known.slice();
}

function currentModel() {
  return host.state.model || null;
}

function findModel(provider, id) {
  const same = (m) => m && m.provider === provider && m.id === id;
  const current = currentModel();
  return (same(current) ? current : known.find(same)) || null;
}

async function resolveApiKey(model) {
  if (!model) return undefined;
  const answer = await request("models/key", { provider: model.provider, id: model.id });
  return (answer && answer.apiKey) || undefined;
}

async function setModel(model) {
  need("object", model, "The model");
  const answer = await inOrder("agent/setModel", { provider: model.provider, id: model.id });
  return Boolean(answer && answer.ok);
}

function setThinkingLevel(level) {
  return inOrder("agent/setThinking", { level: need("string", level, "The thinking level") }).then(() => undefined);
}

// complete asks a model once and gives its whole answer. It throws when the model
// fails or options.signal is aborted, so that no half answer is taken for a whole one.
async function complete(model, context, options = {}) {
  return completeIn("pi", model, context, options);
}

async function completeIn(form, model, context, options) {
  if (!context || !Array.isArray(context.messages)) throw new TypeError("complete needs {messages: […]}.");
  if (context.tools && context.tools.length > 0) {
    throw new Error("complete cannot offer tools to a model in Scorel; leave tools out of the context.");
  }
  const { apiKey, maxTokens, signal } = options || {};
  const answer = await request("models/complete", {
    provider: model ? model.provider : undefined,
    model: model ? model.id : undefined,
    system: context.systemPrompt,
    messages: context.messages.map((m) => (form === "pi" ? host.message(m, "pi") : m)),
    maxTokens,
    apiKey,
  }, signal);
  return form === "pi" ? host.toForm(answer.message, "pi") : answer.message;
}

// streamOf gives what pi's stream functions give: events to iterate, and result(). The host
// answers when a model is done, so the events come all at once then; a failure is an event.
function streamOf(model, context, options = {}) {
  const whole = Promise.resolve().then(() => complete(model, context, options)).then((message) => ({ message }), (error) => ({ error }));
  const failure = (error) => ({
    role: "assistant", content: [], provider: model ? model.provider : "", model: model ? model.id : "", api: model ? model.api : "",
    stopReason: options && options.signal && options.signal.aborted ? "aborted" : "error", errorMessage: errorText(error), timestamp: Date.now(),
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  });
  const events = async () => {
    const { message, error } = await whole;
    if (error) {
      const failed = failure(error);
      return [{ type: "error", reason: failed.stopReason, error: failed }];
    }
    const list = [{ type: "start", partial: message }];
    message.content.forEach((block, contentIndex) => {
      if (block.type !== "text" && block.type !== "thinking") return;
      const said = block[block.type];
      list.push({ type: `${block.type}_start`, contentIndex, partial: message },
        { type: `${block.type}_delta`, contentIndex, delta: said, partial: message },
        { type: `${block.type}_end`, contentIndex, content: said, partial: message });
    });
    return list.concat({ type: "done", reason: message.stopReason, message });
  };
  return {
    [Symbol.asyncIterator]() {
      const all = events();
      let n = 0;
      return { next: async () => ((await all).length > n ? { done: false, value: (await all)[n++] } : { done: true, value: undefined }) };
    },
    async result() {
      const { message, error } = await whole;
      return error ? failure(error) : message;
    },
  };
}

const modelRegistry = {
  find: (provider, id) => findModel(provider, id) || undefined,
  getAvailable: () => known.slice(),
  getAll: () => known.slice(),
  hasConfiguredAuth: (model) => findModel(model.provider, model.id) !== null,
  isUsingOAuth: () => false,
  getApiKey: resolveApiKey,
  getApiKeyForProvider(provider) {
    return resolveApiKey(known.find((m) => m.provider === provider));
  },
  async getApiKeyAndHeaders(model) {
    const apiKey = await resolveApiKey(model);
    return apiKey ? { ok: true, apiKey, headers: {} } : { ok: false, error: `There is no key for ${model.provider}.` };
  },
  async refresh() {
    await refreshModels();
  },
  complete: (model, context, options) => complete(model, context, options),
  completeSimple: (model, context, options) => complete(model, context, options),
  stream: streamOf,
  streamSimple: streamOf,
  findOfType: refusal("ctx.modelRegistry.findOfType", "Choose a model with getAvailable or find."),
  classify: refusal("ctx.modelRegistry.classify", "Ask a model with complete."),
};
