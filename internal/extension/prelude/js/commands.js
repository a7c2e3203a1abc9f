// Slash commands, and shortcuts, which are commands that a key starts.

const commands = new Map(); // by name: {info, run(args, argsRaw, signal), complete(prefix)}
const shortcuts = new Map(); // by key: {description, handler}

const MAX_COMPLETIONS = 100;

function addCommand(name, options, run, complete) {
  name = need("string", name, "The name of a command").replace(/^\//, "");
  if (!/^[^\s/.:-][^\s/]*$/.test(name)) {
    throw new TypeError(`The command name ${JSON.stringify(name)} must be one word that begins with a letter or a digit.`);
  }
  commands.set(name, {
    info: {
      name,
      description: options.description,
      argumentHint: options.argumentHint,
      immediate: options.immediate === true,
      completes: typeof complete === "function",
    },
    run,
    complete,
  });
  changed();
}

function addShortcut(key, options) {
  need("string", key, "The key of a shortcut");
  need("function", options && options.handler, `The handler of the shortcut ${key}`);
  shortcuts.set(key, options);
  changed();
}

function commandList() {
  return Array.from(commands.values(), (c) => c.info);
}

function shortcutList() {
  return Array.from(shortcuts, ([key, s]) => ({ key, description: s.description }));
}

// allCommands gives the commands of extensions, templates (which pi calls prompts) and
// skills. The extension's own are among them as soon as it has registered them.
function allCommands() {
  const list = (host.state.allCommands || []).map(({ name, description, source, origin = "" }) =>
    ({ name, description, source: source === "template" ? "prompt" : source, sourceInfo: { path: origin } }));
  for (const { name, description } of commandList()) {
    if (!list.some((c) => c.name === name && c.source === "extension")) list.push({ name, description, source: "extension", sourceInfo: { path: host.path } });
  }
  return list;
}

// movedAll waits for what a command asked for and did not wait for on its way elsewhere.
async function movedAll() {
  await ends.get("session/move");
  await ends.get("session/carry");
}

async function runCommand({ command, args = [], argsRaw = "" }, signal) {
  const key = command.startsWith("shortcut:") ? command.slice("shortcut:".length) : "";
  if (shortcuts.has(key)) {
    await shortcuts.get(key).handler(commandContext(args, argsRaw, signal));
    await movedAll();
    return null;
  }
  const found = commands.get(command);
  if (!found) throw new Error(`The extension has no command /${command} any more.`);
  const done = await found.run(args, argsRaw, signal);
  await movedAll();
  await telling; // what it has shown stands before what it says
  if (typeof done === "string") return { status: done };
  return done && done.status !== undefined ? { status: String(done.status) } : null;
}

async function completeCommand({ command = "", prefix = "" }) {
  if (command === "") return completeInput(prefix);
  const found = commands.get(command);
  const items = found && found.complete ? await found.complete(prefix) : null;
  return {
    items: Array.from(items || []).slice(0, MAX_COMPLETIONS).map((item) =>
      typeof item === "string" ? { value: item } : { value: String(item.value), label: item.label, description: item.description }),
  };
}
