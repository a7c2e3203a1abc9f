// pi-coding-agent: helpers for handlers and tools.

const DEFAULT_MAX_LINES = 2000;
const DEFAULT_MAX_BYTES = 50 * 1024;
const GREP_MAX_LINE_LENGTH = 500;

function byteLength(text) {
  return new TextEncoder().encode(text).length;
}

// cut takes whole lines from one end of a text while both limits hold.
function cut(text, options, fromEnd) {
  const maxLines = options.maxLines === undefined ? DEFAULT_MAX_LINES : options.maxLines;
  const maxBytes = options.maxBytes === undefined ? DEFAULT_MAX_BYTES : options.maxBytes;
  const lines = text.split("\n");
  const totalBytes = byteLength(text);
  const kept = [];
  let outputBytes = 0;
  let truncatedBy = null;
  for (let n = 0; n < lines.length; n++) {
    const line = lines[fromEnd ? lines.length - 1 - n : n];
    const bytes = byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (kept.length >= maxLines) truncatedBy = "lines";
    else if (outputBytes + bytes > maxBytes) truncatedBy = "bytes";
    if (truncatedBy) break;
    kept.push(line);
    outputBytes += bytes;
  }
  if (fromEnd) kept.reverse();
  return {
    content: kept.join("\n"),
    truncated: truncatedBy !== null,
    truncatedBy,
    totalLines: lines.length,
    totalBytes,
    outputLines: kept.length,
    outputBytes,
    lastLinePartial: false,
    firstLineExceedsLimit: truncatedBy === "bytes" && kept.length === 0,
    maxLines,
    maxBytes,
  };
}

function formatSize(bytes) {
  if (bytes < 1024) return `${bytes}B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}KB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)}MB`;
}

// serializeConversation gives messages as a text that a model can summarise.
function serializeConversation(messages) {
  const parts = [];
  for (const m of messages) {
    const calls = Array.isArray(m.content) ? m.content.filter((b) => b.type === "toolCall") : [];
    const text = textOf(m.content);
    if (m.role === "toolResult") parts.push(`[Tool result of ${m.toolName}]: ${text}`);
    else if (text) parts.push(`[${m.role === "assistant" ? "Assistant" : "User"}]: ${text}`);
    if (calls.length > 0) {
      parts.push(`[Assistant calls]: ${calls.map((c) => `${c.name}(${JSON.stringify(c.arguments)})`).join("; ")}`);
    }
  }
  return parts.join("\n\n");
}

// changing holds, for each file, the end of the last change that was asked for.
const changing = new Map();

// withFileMutationQueue runs changes of one file one after the other.
function withFileMutationQueue(path, fn) {
  const run = (changing.get(path) || Promise.resolve()).then(fn, fn);
  changing.set(path, run);
  const done = () => {
    if (changing.get(path) === run) changing.delete(path);
  };
  run.then(done, done);
  return run;
}

function isResultOf(name) {
  return (event) => event.toolName === name;
}

const refusedOptions = ["operations", "spawnHook"]; // of built-in tools

function refusedOption(option, name) {
  return `${option} of the built-in tool ${name} is not supported by Scorel, which runs it on this machine as it is. Change the input of its calls in a handler of tool_call.`;
}

// builtinTool gives a built-in tool for one of the extension that takes its place, and has
// the host run its calls: judged, confined and kept as ever.
function builtinTool(of, options) {
  const { name, description, parameters, kind } = (host.builtins || []).find((t) => t.name === of) ||
    { name: of, description: `The built-in tool ${of}.`, parameters: {} };
  const piName = toolNameOut(name);
  const lacking = refusedOptions.filter((o) => options && options[o] !== undefined).map((o) => refusedOption(o, piName))[0];
  if (lacking) unsupported(lacking);
  return {
    name: piName,
    label: piName,
    description,
    parameters,
    kind,
    async execute(toolCallId, input) {
      if (lacking) throw new Error(lacking);
      const result = await request("tools/builtin", { toolCallId, input });
      return { content: blocksFromLog(result.content, "pi"), details: result.details === null ? undefined : result.details, isError: result.isError === true };
    },
  };
}

const NO_LS = "createLsTool is not supported by Scorel. It has no tool of that name; createFindTool lists files.";

// parseFrontmatter parts a Markdown file: {frontmatter, body}.
function parseFrontmatter(content) {
  const text = String(content).replace(/\r\n?/g, "\n");
  const { frontmatter, body, has } = host.frontmatter(text);
  return { frontmatter, body: has ? body.trim() : body };
}

// formatReadLineRange gives the lines that a call of read names: ":5-14", "" for all.
function formatReadLineRange(offset, limit) {
  const given = (value) => value !== undefined && value !== null;
  if (!given(offset) && !given(limit)) return "";
  const start = given(offset) ? Number(offset) : 1;
  if (!Number.isInteger(start)) return "";
  if (!given(limit)) return `:${start}`;
  return Number.isInteger(Number(limit)) ? `:${start}-${start + Number(limit) - 1}` : "";
}

const AGENT = "See docs/extensions/api.md for what extensions can use.";
const codingAgent = once(() => {
  const maker = (of) => (_cwd, options) => builtinTool(of, options);
  const [createReadTool, createBashTool, createEditTool, createWriteTool, createGrepTool, createFindTool] =
    ["Read", "Bash", "Edit", "Write", "Grep", "Glob"].map(maker);
  const createLsTool = refuses(NO_LS, () => ({
    name: "ls",
    label: "ls",
    description: "Lists a folder.",
    parameters: { type: "object", properties: {} },
    execute: () => Promise.reject(new Error(NO_LS)),
  }));
  const codingTools = () => [createReadTool(), createBashTool(), createEditTool(), createWriteTool()];
  const readOnlyTools = () => [createReadTool(), createGrepTool(), createFindTool()];
  const codingAgent = {
    isToolCallEventType: (name, event) => event.toolName === name || event.toolName === toolNameOut(name),
    isBashToolResult: isResultOf("bash"),
    isReadToolResult: isResultOf("read"),
    isEditToolResult: isResultOf("edit"),
    isWriteToolResult: isResultOf("write"),
    isGrepToolResult: isResultOf("grep"),
    isFindToolResult: isResultOf("find"),
    isLsToolResult: isResultOf("ls"),
    defineTool: (def) => def,

    DEFAULT_MAX_LINES,
    DEFAULT_MAX_BYTES,
    GREP_MAX_LINE_LENGTH,
    truncateHead: (text, options = {}) => cut(text, options, false),
    truncateTail: (text, options = {}) => cut(text, options, true),
    truncateLine: (line, max = GREP_MAX_LINE_LENGTH) =>
      (line.length > max ? { text: `${line.slice(0, max)}... [truncated]`, wasTruncated: true } : { text: line, wasTruncated: false }),
    formatSize,
    formatReadLineRange,
    // The messages of a context have the form that models get already.
    convertToLlm: (messages) => Array.from(messages),
    serializeConversation,
    withFileMutationQueue,
    createReadTool,
    createBashTool,
    createEditTool,
    createWriteTool,
    createGrepTool,
    createFindTool,
    createLsTool,
    createReadToolDefinition: createReadTool,
    createBashToolDefinition: createBashTool,
    createEditToolDefinition: createEditTool,
    createWriteToolDefinition: createWriteTool,
    createGrepToolDefinition: createGrepTool,
    createFindToolDefinition: createFindTool,
    createLsToolDefinition: createLsTool,
    createCodingTools: codingTools,
    createReadOnlyTools: readOnlyTools,
    parseFrontmatter,
    stripFrontmatter: (content) => parseFrontmatter(content).body,
    CONFIG_DIR_NAME: ".scorel",
    getAgentDir: () => `${process.env.HOME}/.scorel`,
    VERSION: host.version,
  };
  // Components are made when they are first used.
  for (const name of ["DynamicBorder", "BorderedLoader", "CustomEditor", "getMarkdownTheme", "getSelectListTheme", "getSettingsListTheme", "keyHint", "keyText", "rawKeyHint", "truncateToVisualLines"]) {
    Object.defineProperty(codingAgent, name, { get: () => components().ofAgent[name], enumerable: true });
  }
  return codingAgent;
});
for (const name of ["pi-coding-agent", "pi-coding-agent/hooks", "pi-coding-agent/extensions"]) {
  define(`@mariozechner/${name}`, codingAgent, AGENT);
}
define("@mariozechner/pi-agent-core", () => ({}), "Its types are in scorel.d.ts.");
