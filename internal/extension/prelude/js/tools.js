// Tools of the extension.

const tools = new Map(); // by name: {def, form, context}

// addTool takes a definition {name, label?, description, parameters?, kind?, parallel?,
// execute(toolCallId, params, signal, onUpdate, ctx)}. context makes its ctx.
function addTool(def, form, context) {
  need("object", def, "A tool");
  const name = need("string", def.name, "The name of a tool");
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new TypeError(`The tool name ${JSON.stringify(name)} may hold letters, digits, _ and - only, at most 64.`);
  }
  need("function", def.execute, `execute of the tool ${name}`);
  need("string", def.description, `The description of the tool ${name}`);
  switch (def.kind) {
    case undefined: case "read": case "write": case "exec": case "net": break;
    default: throw new TypeError(`The kind of the tool ${name} must be read, write, exec or net.`);
  }
  tools.set(name, { def, form, context });
  changed();
}

function toolList() {
  return Array.from(tools.values(), ({ def }) => ({
    name: def.name,
    label: def.label,
    description: def.description,
    parameters: schemaOf(def.parameters),
    kind: def.kind,
    parallel: def.parallel === true || def.executionMode === "parallel",
    snippet: def.promptSnippet,
    guidelines: def.promptGuidelines,
    renders: Boolean(def.renderCall || def.renderResult) || undefined,
  }));
}

function schemaOf(parameters) {
  if (parameters === undefined || parameters === null) return { type: "object", properties: {} };
  return JSON.parse(JSON.stringify(parameters)); // without the marks that schema libraries leave
}

async function runTool({ tool, toolCallId, input }, signal) {
  const found = tools.get(tool);
  if (!found) throw new Error(`The extension has no tool ${tool} any more.`);
  const { def, form, context } = found;
  let running = true;
  let shown = "";
  // A string follows what was shown before; {content} is all that is to be seen, and
  // {process} tells people how the work goes on.
  const onUpdate = (update) => {
    if (!running || update === undefined || update === null) return;
    if (typeof update === "string") {
      shown += update;
      if (update !== "") host.notify("tool/update", { toolCallId, text: update });
      return;
    }
    if (update.process) host.notify("tool/process", { toolCallId, update: update.process });
    if (update.content === undefined) return;
    const text = textOf(update.content);
    const news = text.startsWith(shown) ? text.slice(shown.length) : `\n${text}`;
    shown = text;
    if (news !== "") host.notify("tool/update", { toolCallId, text: news });
  };
  try {
    const params = def.prepareArguments ? def.prepareArguments(input) : input;
    return resultToLog(await def.execute(toolCallId, params, signal, onUpdate, context(signal)), form);
  } finally {
    running = false;
  }
}

// allTools gives the tools that there are. The extension's own are among them as soon as it
// has registered them.
function allTools() {
  const list = (host.state.allTools || []).map((t) => ({ name: toolNameOut(t.name), description: t.description, parameters: t.parameters }));
  for (const { name, description, parameters } of toolList()) {
    const there = list.find((t) => t.name === name);
    if (there) there.parameters = parameters;
    else list.push({ name, description, parameters });
  }
  return list;
}

// active holds the names given to setActiveTools until the host says what counts.
let active = null;

function activeTools() {
  return (active || host.state.activeTools || []).slice();
}

function setActiveTools(names) {
  if (!Array.isArray(names)) throw new TypeError("setActiveTools needs a list of names.");
  const list = names.map((n) => toolNameIn(String(n)));
  active = list;
  return inOrder("tools/setActive", { names: list }).then(() => undefined).finally(() => {
    if (active === list) active = null;
  });
}
