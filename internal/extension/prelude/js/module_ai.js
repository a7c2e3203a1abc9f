// pi-ai: questions to models, and helpers for schemas.

const AI = "Of models it has complete, getModel, getModels and getProviders.";
const NO_STREAM = "Use complete, which gives the whole answer.";

define("@mariozechner/pi-ai", () => ({
  complete,
  completeSimple: complete,
  stream: refusal("stream", NO_STREAM),
  streamSimple: refusal("streamSimple", NO_STREAM),
  getModel(provider, id) {
    const model = findModel(provider, id);
    if (!model) throw new Error(`There is no model ${provider}/${id} with a key.`);
    return model;
  },
  getModels: (provider) => known.filter((m) => provider === undefined || m.provider === provider),
  getProviders: () => Array.from(new Set(known.map((m) => m.provider))),
  StringEnum,
  Type: types(),
}), AI);
