// Contents of messages. form is "pi" or "scorel": how the extension writes them. The
// host always gets blocks in the form of Scorel's log.

function blocksToLog(content, form) {
  if (content === undefined || content === null || content === "") return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) {
    throw new TypeError("A content must be a string or a list of blocks like {type: \"text\", text}.");
  }
  if (form === "scorel") return content;
  return asBlocks(host.message({ role: "user", content }, "pi").content);
}

function blocksFromLog(blocks, form) {
  const list = asBlocks(blocks || []);
  if (form === "scorel" || list.length === 0) return list;
  return asBlocks(host.toForm({ role: "user", content: list }, form).content);
}

function asBlocks(content) {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter((b) => b && b.type === "text").map((b) => b.text).join("\n");
}

// resultToLog gives what a tool returned: nothing, a text, {content, details, isError}
// or any other value, which the model reads as JSON.
function resultToLog(value, form) {
  if (value === undefined || value === null) return { content: [] };
  if (typeof value === "string") return { content: blocksToLog(value, form) };
  if (typeof value !== "object" || !("content" in value)) {
    return { content: [{ type: "text", text: JSON.stringify(value) }] };
  }
  return { content: blocksToLog(value.content, form), details: value.details, isError: value.isError === true, terminate: value.terminate === true ? true : undefined };
}
