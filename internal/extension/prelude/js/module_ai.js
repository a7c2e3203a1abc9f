// pi-ai: questions to models, and helpers for schemas.

const AI = "Of models it has complete, stream, getModel, getModels and getProviders.";

// uuidv7 gives a UUID that begins with the time, so that later ones sort after.
function uuidv7() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  const time = Date.now().toString(16).padStart(12, "0");
  const variant = (8 | (bytes[8] & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

define("@mariozechner/pi-ai", () => ({
  complete,
  completeSimple: complete,
  stream: streamOf,
  streamSimple: streamOf,
  getModel(provider, id) {
    const model = findModel(provider, id);
    if (!model) throw new Error(`There is no model ${provider}/${id} with a key.`);
    return model;
  },
  getModels: (provider) => known.filter((m) => provider === undefined || m.provider === provider),
  getProviders: () => Array.from(new Set(known.map((m) => m.provider))),
  uuidv7,
  StringEnum,
  Type: types(),
}), AI);
