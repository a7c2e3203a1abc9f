// Scorel's own shape: export default { id, name, version, activate(ctx), deactivate(),
// tools(), commands(), onEvent(event, ctx), hooks() }. Messages have the form of the log.

let extension = {}; // what the extension exported
let nativeHooks = {}; // what its hooks() gave

function scorelContext(signal) {
  return guard(scorelFields(signal));
}

function scorelCommandContext(args, argsRaw, signal) {
  return guard(extend(scorelFields(signal), { args, argsRaw }));
}

// hookName gives the hook of the wire for a name that hooks() may use.
function hookName(name) {
  switch (name) {
    case "beforeToolCall": return "tool_call";
    case "afterToolCall": return "tool_result";
    case "context": case "transformContext": case "convertToLlm": return name;
    case "prompt": return "input";
    case "beforeAgent": return "before_agent_start";
    case "stop": return "stop";
    case "beforeCompact": return "session_before_compact";
    case "beforeMove": return "session_before_tree";
    case "beforeSwitch": return "session_before_switch";
    case "resources": return "resources_discover";
    case "beforeRequest": return "before_provider_request";
    case "userCommand": return "user_bash";
  }
  return "";
}

async function loadScorel(exported) {
  for (const part of ["activate", "deactivate", "tools", "commands", "onEvent", "hooks"]) {
    if (exported[part] !== undefined) need("function", exported[part], `${part} of the extension`);
  }
  extension = exported;
  api = "scorel";
  about = {
    name: typeof exported.name === "string" ? exported.name : exported.id,
    version: exported.version === undefined ? undefined : String(exported.version),
  };
  if (exported.activate) await exported.activate(scorelContext());
  for (const def of exported.tools ? await exported.tools() : []) {
    addTool(def, "scorel", scorelContext);
  }
  const offered = exported.commands ? await exported.commands() : {};
  for (const [name, command] of Object.entries(offered)) {
    need("function", command && command.run, `run of the command ${name}`);
    addCommand(name, command,
      (args, argsRaw, signal) => command.run(args, scorelCommandContext(args, argsRaw, signal)), command.complete);
  }
  for (const [name, handler] of Object.entries(exported.hooks ? await exported.hooks() : {})) {
    if (hookName(name) === "") {
      unsupported(`The hook ${name} is never called. Scorel has no hook of this name.`);
      continue;
    }
    need("function", handler, `The hook ${name}`);
    nativeHooks[hookName(name)] = handler;
    scorelHooks.push(hookName(name));
  }
}

// askScorel asks the one handler of a hook. What it answers is the wire's answer, but
// for lists of messages and contents, which may be shorter. An error is an error of the
// hook: of tool_call it blocks, of any other the host skips the extension.
async function askScorel({ hook, data }, signal) {
  const handler = nativeHooks[hook];
  if (!handler) return null;
  const ctx = scorelContext(signal);
  switch (hook) {
    case "context": case "transformContext": case "convertToLlm": {
      const list = host.list(data, "scorel");
      const answer = await handler(list, ctx);
      return host.unlist(answer === undefined || answer === null ? list : answer, "scorel") || null;
    }
    case "tool_call":
      return scorelToolCall(handler, data, ctx);
    case "tool_result": {
      const answer = await handler({ ...data, content: asBlocks(data.content || []) }, ctx);
      if (!answer) return null;
      return { ...answer, content: answer.content === undefined ? undefined : blocksToLog(answer.content, "scorel") };
    }
    case "before_agent_start": {
      const answer = await handler(data, ctx);
      if (!answer || !answer.message) return answer || null;
      return { ...answer, message: { display: true, ...answer.message, content: blocksToLog(answer.message.content, "scorel") } };
    }
    case "before_provider_request": {
      const payload = await handler(data.payload, ctx);
      return payload ? { payload } : null;
    }
    case "stop": {
      const answer = await handler(data, ctx);
      return typeof answer === "string" ? { text: answer } : answer || null;
    }
  }
  return (await handler(data, ctx)) || null;
}

async function scorelToolCall(handler, data, ctx) {
  const before = JSON.stringify(data.input);
  const answer = (await handler(data, ctx)) || {};
  const input = answer.input === undefined ? data.input : answer.input;
  return {
    block: answer.block === true,
    decision: answer.decision,
    reason: answer.reason,
    input: JSON.stringify(input) === before ? undefined : input,
    result: answer.result === undefined ? undefined : resultToLog(answer.result, "scorel"),
  };
}

async function toldScorel(event) {
  if (!extension.onEvent) return;
  try {
    await extension.onEvent(event, scorelContext());
  } catch (err) {
    handlerFailed(event.type, err);
  }
}
